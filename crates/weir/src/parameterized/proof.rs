//! A proof for every number of copies that `weir-witness` can check: what can occur, by the checker's rules, and the
//! minimal basis of what cannot.
//!
//! The engine's own abstraction takes local steps, and all that an attacker does between two loads, at once; the checker
//! knows no reduction. So the search is repeated with the checker's rules. What it yields is checked like any proof.

use weir_ir::Program;
use weir_witness::{
    CertificateError, CopiesProof, CopiesSystem, Goal, ListedRegisters, Minimal, Model, copies_closure,
};

use super::cover::{Backward, START};
use super::system::{LocalSet, Move, Table};
use crate::session::Session;
use crate::verdict::Limit;
use crate::wsts::{BackwardSearch, Outcome};

/// Why there is no proof.
#[derive(Debug)]
pub(crate) enum NoProof {
    /// This limit was reached first.
    Stopped(Limit),
    /// The checker's rules do not support the program or a goal.
    Refused(CertificateError),
    /// A goal can be reached by the checker's rules.
    Reachable,
}

impl From<CertificateError> for NoProof {
    fn from(error: CertificateError) -> Self {
        Self::Refused(error)
    }
}

/// Proves that no instance reaches a goal: under SC, or under TSO by way of robustness. States record these registers.
pub(crate) fn prove(
    program: &Program,
    (model, goals): (Model, &[Goal]),
    listed: &ListedRegisters,
    most: u64,
    session: &Session,
) -> Result<CopiesProof, NoProof> {
    let system = copies_closure(program, model, listed, most, session)?.ok_or(NoProof::Stopped(Limit::States))?;
    let table = table(&system);
    let backward = Backward { table: &table };
    let mut search = BackwardSearch::new(&backward, Some(&[START]));
    for Minimal { shared, copies } in system.targets(program, (model, goals), listed)? {
        let copies = copies.iter().map(|&copy| copy as u32);
        search.add([shared as u32].into_iter().chain(copies).collect(), None);
    }
    match search.run(session, most) {
        Outcome::Saturated => {
            let minimal = search.basis.minimal().map(|row| Minimal {
                shared: row[0] as usize,
                copies: row[1..].iter().map(|&copy| copy as usize).collect(),
            });
            Ok(system.proof(model, goals, listed, &minimal.collect::<Vec<_>>()))
        }
        Outcome::Stopped(limit) => Err(NoProof::Stopped(limit)),
        Outcome::Covered(_) => Err(NoProof::Reachable),
    }
}

/// The checker's moves as the search sees them.
fn table(system: &CopiesSystem) -> Table {
    let number = |number: Option<usize>| number.map(|number| number as u32);
    let moves = |moves: &Vec<weir_witness::Move>| {
        let one = |step: &weir_witness::Move| Move {
            from: step.from as u32,
            before: number(step.before),
            after: number(step.after),
        };
        moves.iter().map(one).collect()
    };
    let present = |beside: &std::collections::BTreeSet<usize>| {
        let mut present = LocalSet::default();
        beside.iter().for_each(|&copy| {
            present.insert(copy as u32);
        });
        present
    };
    Table {
        initial_locals: system.fresh.iter().map(|&copy| copy as u32).collect(),
        initial_controls: vec![system.start as u32],
        moves_into: system.moves_into.iter().map(moves).collect(),
        present: system.beside.iter().map(present).collect(),
    }
}
