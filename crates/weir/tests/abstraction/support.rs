//! What the tests share.

use std::collections::BTreeSet;

use weir::reach::{Engine, Options, Report, certify, reach};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Multiplicity, Program, ThreadId};
use weir_testkit::{Drained, FinalState};
use weir_witness::{AbstractState, Buffering, Goal};

/// The number of random programs of a long run, or as many as given.
pub(crate) fn seeds(count: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count)
}

pub(crate) fn session(states: u64) -> Session {
    let limits = Limits { states: Some(states), memory: Some(2 << 30), ..Limits::default() };
    Session::new(limits)
}

pub(crate) fn options(engine: Engine, bound: Option<u32>, goals: &[Goal]) -> Options {
    Options { engine, bound, goals: goals.to_vec(), ..Options::default() }
}

/// The answer of an engine.
pub(crate) fn ask(program: &Program, options: &Options, states: u64) -> Report {
    reach(program, options, &session(states)).unwrap_or_else(|failure| panic!("{}: {failure}", program.source.name()))
}

/// The answer in a word.
pub(crate) fn word(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Holds => "unreachable",
        Verdict::Violated(_) => "reachable",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The goal, as the reference interpreter calls it.
pub(crate) fn to_testkit(goal: Goal) -> weir_testkit::Goal {
    match goal {
        Goal::Property(property) => weir_testkit::Goal::Property(property),
        Goal::Assertion(thread) => weir_testkit::Goal::Assertion(thread),
        Goal::NotRobust => unreachable!("`reach` does not look for it"),
    }
}

/// The drained states that the engine visits.
pub(crate) fn drained(program: &Program, buffering: Buffering, states: u64) -> Option<BTreeSet<Drained>> {
    let options = Options { engine: Engine::Coherence, keep_dead_registers: true, ..Options::default() };
    let certificate = match certify(program, &options, buffering, &session(states)) {
        Err(Failure::Stopped(_)) => return None,
        certificate => certificate.expect("supported"),
    };
    let is_drained = |state: &&AbstractState| {
        state.threads.iter().all(|own| own.buffer.queue.is_empty() && own.buffer.waiting.is_empty())
    };
    Some(certificate.states.iter().filter(is_drained).map(|state| converted(program, state)).collect())
}

fn converted(program: &Program, state: &AbstractState) -> Drained {
    let runs = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
    let threads = || program.thread_ids().filter(runs).zip(&state.threads);
    Drained {
        locations: threads().map(|(thread, own)| (thread, own.location)).collect(),
        values: FinalState {
            memory: state.memory.clone(),
            registers: threads().map(|(thread, own)| (thread, own.registers.clone())).collect(),
        },
        holder: state.lock_holder,
    }
}
