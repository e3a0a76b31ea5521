//! The explicit engine: every state is visited one by one.
//!
//! Direction of error: none. `Holds` means that the reachable states were finitely many and all of them
//! were visited; a violation is a run that `weir-witness` has replayed. Under TSO buffers are
//! unbounded, so the search may not end by itself: then it ends at the budget, with `Unknown`.

use weir_ir::Program;
use weir_witness::{Checked, Model, Run};

use super::refuse::{self, MOST_WORDS};
use super::{MOST_WORKERS, Options, Report, Search, Statistics, coverage, goals};
use crate::search::{Found, Outcome, breadth_first, depth_first};
use crate::semantics::TransitionSystem;
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::machine::{Machine, System};
use crate::semantics::sc::Sc;
use crate::semantics::tso::Tso;
use crate::{Failure, Session, Verdict};

/// Looks for a run of `program` that reaches a goal. Without any goal, just visits all states.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    // Whatever comes before the search counts towards its time.
    let began = session.elapsed();
    refuse::unsupported(program)?;
    let goals = goals(program, options);
    let purpose = Purpose {
        keep_dead_registers: options.keep_dead_registers,
        buffered: options.model == Model::Tso,
        monitored: false,
        goals: &goals,
    };
    // Compiling a program near the limits of size takes seconds.
    if let Some(limit) = session.exceeded() {
        return Ok(Report::unknown(limit));
    }
    let compiled = compile(program, purpose, MOST_WORDS).map_err(|words| refuse::too_large(program, words))?;
    let outcome = run(&compiled.machine, options, session);
    let outcome = Outcome { elapsed: session.since(began), ..outcome };
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    report(program, options, &compiled, outcome)
}

/// Runs the search with the smallest fixed size of states that is large enough.
fn run(machine: &Machine, options: &Options, session: &Session) -> Outcome {
    match machine.layout.words {
        0..=1 => run_sized::<1>(machine, options, session),
        2 => run_sized::<2>(machine, options, session),
        3..=8 => run_sized::<8>(machine, options, session),
        _ => run_sized::<MOST_WORDS>(machine, options, session),
    }
}

fn run_sized<const N: usize>(machine: &Machine, options: &Options, session: &Session) -> Outcome {
    match options.model {
        Model::Sc => run_model(&System::<Sc, N>::new(machine), options, session),
        Model::Tso => run_model(&System::<Tso, N>::new(machine), options, session),
    }
}

pub(super) fn run_model<T: TransitionSystem>(system: &T, options: &Options, session: &Session) -> Outcome {
    match options.search {
        Search::BreadthFirst => breadth_first(system, session, options.jobs.get().min(MOST_WORKERS)),
        Search::DepthFirst => depth_first(system, session),
    }
}

fn report(program: &Program, options: &Options, compiled: &Compiled, outcome: Outcome) -> Result<Report, Failure> {
    let statistics = Statistics {
        states: outcome.states,
        transitions: outcome.transitions,
        depth: outcome.depth,
        state_bytes: (compiled.machine.layout.words * size_of::<u64>()) as u64,
        stored_bytes: outcome.stored_bytes,
        elapsed: outcome.elapsed,
    };
    let coverage = coverage(program, compiled, &outcome.taken);
    let verdict = match outcome.found {
        Found::Nothing => Verdict::Holds,
        Found::Stopped(limit) => Verdict::Unknown(limit),
        Found::Goal(goal, steps) => {
            let run = Run { model: options.model, steps: steps.into_iter().map(|step| compiled.step(step)).collect() };
            let checked = Checked::new(program, run, goal)
                .map_err(|error| Failure::Bug(format!("a run that was found cannot be replayed: {error}")))?;
            Verdict::Violated(Box::new(checked))
        }
    };
    Ok(Report { verdict, statistics, coverage, buffering: None, rounds: Vec::new() })
}
