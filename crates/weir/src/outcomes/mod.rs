//! Which final states can a program reach? Every state is visited, and for each final one (all threads done, all
//! buffers empty) the values of given expressions are kept.
//!
//! Direction of error: none. A complete answer is the exact set; if a limit was reached first, the states found are
//! reachable, and there may be more. Depth-first on one worker: the programs are small and come by the hundred, so
//! tests run in parallel instead.

use std::collections::BTreeSet;
use std::time::Duration;

use parking_lot::Mutex;
use weir_ir::{EdgeId, Program, Property, PropertyKind, Span, StateExpr, ThreadId, Value};
use weir_witness::{Action, Model};

use crate::search::{Found, Outcome, WithGoals, depth_first};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::goals::all_goals;
use crate::semantics::machine::{MemoryModel, System};
use crate::semantics::refuse;
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::session::Session;
use crate::verdict::{Failure, Limit};

/// How the search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All states were visited: there are no other outcomes.
    Complete,
    /// There may be more.
    Stopped(Limit),
    /// An assertion failed at this edge, so the program has no meaningful end.
    AssertionFailed(ThreadId, EdgeId),
}

/// The final states of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The values of the observed expressions in each final state; distinct, ascending.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// How the search ended.
    pub end: End,
    /// Distinct states visited.
    pub states: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}

/// Collects the values of `observed` in the final states of `program`. Its properties are ignored.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn outcomes(program: &Program, observed: &[StateExpr], model: Model, session: &Session) -> Result<Report, Failure> {
    let session = &session.doing("collecting final states");
    let program = observing(program, observed);
    refuse::unsupported(&program)?;
    let goals = all_goals(&program);
    let purpose = Purpose {
        keep_dead_registers: false,
        buffered: model == Model::Tso,
        monitored: false,
        goals: &goals,
        keeps_back: &[],
    };
    let compiled = match compile(&program, purpose, session) {
        Err(Failure::Stopped(limit)) => {
            let (outcomes, end) = (BTreeSet::new(), End::Stopped(limit));
            return Ok(Report { outcomes, end, states: 0, elapsed: session.elapsed() });
        }
        compiled => compiled?,
    };
    let (outcome, outcomes) = match model {
        Model::Sc => run::<Sc>(&compiled, session),
        Model::Tso => run::<Tso>(&compiled, session),
    };
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    let end = end(&compiled, &outcome)?;
    Ok(Report { outcomes, end, states: outcome.states, elapsed: outcome.elapsed })
}

/// The program with one property per expression, so that registers and cells in them are known to matter.
fn observing(program: &Program, observed: &[StateExpr]) -> Program {
    let property = |value: &StateExpr| Property { kind: PropertyKind::Exists(value.clone()), span: Span::default() };
    Program { properties: observed.iter().map(property).collect(), ..program.clone() }
}

fn run<M: MemoryModel>(compiled: &Compiled, session: &Session) -> (Outcome, BTreeSet<Vec<Value>>) {
    with_state_size!(compiled.machine.layout.words, from 16, N => run_sized::<M, N>(compiled, session))
}

fn run_sized<M: MemoryModel, const N: usize>(
    compiled: &Compiled,
    session: &Session,
) -> (Outcome, BTreeSet<Vec<Value>>) {
    let machine = &compiled.machine;
    let outcomes: Mutex<BTreeSet<Vec<Value>>> = Mutex::default();
    let collect = |state: &Packed<N>| {
        let assertion = machine.goals.failed_assertion(state);
        if assertion.is_none()
            && let Some(values) = machine.goals.values_at_end(state)
        {
            outcomes.lock().insert(values);
        }
        assertion
    };
    let collecting = WithGoals { system: System::<M, N>::new(machine), goal: collect, kept_bytes: &|| 0 };
    let outcome = depth_first(&collecting, session);
    (outcome, outcomes.into_inner())
}

fn end(compiled: &Compiled, outcome: &Outcome) -> Result<End, Failure> {
    match &outcome.found {
        Found::Nothing => Ok(End::Complete),
        Found::Stopped(limit) => Ok(End::Stopped(*limit)),
        Found::Goal(_, steps) => {
            let last = steps.last().map(|&step| compiled.step(step));
            match last.map(|step| (step.thread, step.action)) {
                Some((thread, Action::Execute { edge, .. })) => Ok(End::AssertionFailed(thread, edge)),
                _ => Err(Failure::Bug("an assertion failed without a step".to_owned())),
            }
        }
    }
}
