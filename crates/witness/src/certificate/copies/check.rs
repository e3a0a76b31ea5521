//! Whether a proof is one.

use std::collections::{BTreeSet, HashMap};

use weir_ir::{Gather, Interrupt, Poll, Program};

use super::super::check::PERIOD;
use super::super::{AbstractState, CertificateError, Fault};
use super::goals::targets;
use super::rules::{Next, Rules, checker};
use super::system::{CopiesSystem, Move};
use super::{CopiesProof, CopyState, Minimal};

/// Checks that the goals of the proof cannot be reached with any number of copies.
///
/// # Errors
/// If it does not show that; the error says where it fails.
pub fn check_copies_proof(
    program: &Program,
    proof: &CopiesProof,
    interrupt: &dyn Interrupt,
) -> Result<(), CertificateError> {
    let fault = |(state, fault)| CertificateError::new(program, state, fault);
    let most = proof.shared.len().max(proof.copies.len()) as u64 + 1;
    let checker = checker(program, proof.shared.listed(), most).map_err(|wrong| fault((None, wrong)))?;
    let rules = Rules::new(&checker, proof.model);
    check(&rules, proof, &Poll::every(PERIOD, interrupt)).map_err(fault)
}

/// What is wrong, and of which shared state if it is about one.
type Wrong = (Option<usize>, Fault);

fn check(rules: &Rules<'_, '_>, proof: &CopiesProof, poll: &Poll<'_>) -> Result<(), Wrong> {
    let system = Listed::of(rules, proof)?.closed(rules, poll)?;
    let bad = |fault| (None, fault);
    let set = Set::new(rules, proof, &system).map_err(bad)?;
    let targets = targets(rules, (proof.model, &proof.goals), &system).map_err(bad)?;
    if targets.iter().any(|target| !set.has(target.shared, &target.copies)) {
        let goal = proof.goals[0];
        return Err(bad(Fault::Misses(goal)));
    }
    if set.has(system.start, &[]) {
        return Err(bad(Fault::HoldsTheStart));
    }
    for minimal in &proof.minimal {
        if poll.is_over() {
            return Err(bad(Fault::Interrupted));
        }
        if !system.moves_into[minimal.shared].iter().all(|step| set.has_all_before(step, minimal)) {
            return Err((Some(minimal.shared), Fault::Enters));
        }
    }
    Ok(())
}

/// What the proof lists as what can occur.
struct Listed {
    system: CopiesSystem,
    shared: HashMap<AbstractState, usize>,
    copies: HashMap<CopyState, usize>,
}

impl Listed {
    fn of(rules: &Rules<'_, '_>, proof: &CopiesProof) -> Result<Self, Wrong> {
        let states: Vec<AbstractState> = proof.shared.iter().collect();
        let shared: HashMap<AbstractState, usize> = states.iter().cloned().zip(0..).collect();
        let copies: HashMap<CopyState, usize> = proof.copies.iter().cloned().zip(0..).collect();
        let malformed = (None, Fault::Malformed);
        let is_whole = shared.len() == proof.beside.len() && copies.len() == proof.copies.len();
        let mut rows = proof.beside.iter();
        let exists = |&copy: &usize| copy < proof.copies.len();
        if !is_whole || !rows.all(|row| row.is_sorted_by(|one, next| one < next) && row.iter().all(exists)) {
            return Err(malformed);
        }
        let (start, fresh) = rules.start().zip(rules.fresh()).ok_or(malformed)?;
        let start = *shared.get(&start).ok_or((None, Fault::NoStart))?;
        let fresh = fresh.iter().map(|copy| copies.get(copy).copied()).collect::<Option<Vec<usize>>>();
        let fresh = fresh.ok_or((None, Fault::NoStart))?;
        let beside: Vec<BTreeSet<usize>> = proof.beside.iter().map(|row| row.iter().copied().gather()).collect();
        if !fresh.iter().all(|copy| beside[start].contains(copy)) {
            return Err((None, Fault::NoStart));
        }
        let moves_into = vec![Vec::new(); states.len()];
        let system = CopiesSystem { shared: states, copies: proof.copies.clone(), beside, moves_into, start, fresh };
        Ok(Self { system, shared, copies })
    }

    /// Checks that no step leaves it, and notes all moves.
    fn closed(mut self, rules: &Rules<'_, '_>, poll: &Poll<'_>) -> Result<CopiesSystem, Wrong> {
        for from in 0..self.system.shared.len() {
            let here = |fault| (Some(from), fault);
            let movers = std::iter::once(None).chain(self.system.beside[from].clone().into_iter().map(Some));
            for before in movers {
                if poll.is_over() {
                    return Err((None, Fault::Interrupted));
                }
                let (shared, copies) = (&self.system.shared[from], &self.system.copies);
                let found = match before {
                    None => rules.of_shared(shared),
                    Some(before) => rules.of_copy(shared, &copies[before]),
                };
                for next in found.map_err(here)? {
                    let step = self.stays_inside(rules, (from, before), &next);
                    let (to, step) = step.ok_or(here(Fault::Leaves(next.by.0, Some(next.by.1))))?;
                    self.system.moves_into[to].push(step);
                }
            }
        }
        for moves in &mut self.system.moves_into {
            moves.sort_unstable();
            moves.dedup();
        }
        Ok(self.system)
    }

    /// The move, if what is there afterwards is listed: where it leads, the copy, and all copies that were there before.
    fn stays_inside(
        &self,
        rules: &Rules<'_, '_>,
        (from, before): (usize, Option<usize>),
        next: &Next,
    ) -> Option<(usize, Move)> {
        let copies = &self.system.copies;
        let to = *self.shared.get(&next.shared)?;
        let after = match &next.copy {
            Some(copy) => Some(*self.copies.get(copy)?),
            None => None,
        };
        let beside = &self.system.beside[to];
        let mover = before.map(|before| &copies[before]);
        let mut others = self.system.beside[from].iter();
        let all_stay = others.all(|other| beside.contains(other) || !rules.stays(&copies[*other], mover, next));
        let is_inside = all_stay && after.is_none_or(|after| beside.contains(&after));
        is_inside.then_some((to, Move { from, before, after }))
    }
}

/// The states above the minimal ones.
struct Set<'a, 'r, 'p> {
    rules: &'a Rules<'r, 'p>,
    system: &'a CopiesSystem,
    by_shared: Vec<Vec<&'a [usize]>>,
}

impl<'a, 'r, 'p> Set<'a, 'r, 'p> {
    fn new(rules: &'a Rules<'r, 'p>, proof: &'a CopiesProof, system: &'a CopiesSystem) -> Result<Self, Fault> {
        let mut by_shared = vec![Vec::new(); system.shared.len()];
        for Minimal { shared, copies } in &proof.minimal {
            let is_counted = |copy: &usize| *copy < system.copies.len() && !system.fresh.contains(copy);
            if *shared >= by_shared.len() || !copies.is_sorted() || !copies.iter().all(is_counted) {
                return Err(Fault::Malformed);
            }
            by_shared[*shared].push(&copies[..]);
        }
        Ok(Self { rules, system, by_shared })
    }

    /// Whether the shared state with these copies, ascending, is above a minimal one.
    fn has(&self, shared: usize, copies: &[usize]) -> bool {
        self.by_shared[shared].iter().any(|minimal| {
            let mut rest = copies.iter();
            minimal.iter().all(|copy| rest.any(|other| other == copy))
        })
    }

    /// Whether all states from which the move leads above the minimal state are above a minimal one themselves, as far as
    /// they can occur.
    fn has_all_before(&self, step: &Move, minimal: &Minimal) -> bool {
        let mut copies = minimal.copies.clone();
        if let Some(at) = step.after.and_then(|after| copies.iter().position(|&copy| copy == after)) {
            copies.remove(at);
        }
        copies.extend(step.before);
        copies.sort_unstable();
        let can_occur = copies.iter().all(|copy| self.system.beside[step.from].contains(copy)) && {
            let states = copies.iter().map(|&copy| &self.system.copies[copy]);
            self.rules.all_fit(&self.system.shared[step.from], states)
        };
        copies.retain(|copy| !self.system.fresh.contains(copy));
        !can_occur || self.has(step.from, &copies)
    }
}
