//! The robustness check agrees with the definition: a program is robust if every run under TSO that ends drained has the trace
//! of a run under SC.

mod collected;
mod corpus;
mod definition;
mod fences;
mod litmus;
mod methods;
mod random;
mod shapes;
mod tiny;
mod triangles;

use std::num::NonZeroUsize;

use weir::robust::{Method, Options, robust, triangular_races};
use weir::{Budget, Control, Failure, Verdict};
use weir_ir::Program;

/// What the engine says; `None` for "unknown".
fn verdict(program: &Program, jobs: usize) -> Option<bool> {
    verdict_by(program, Method::Attacks, jobs)
}

/// Whether the program is free of triangular races; `None` for "unknown".
fn race_free(program: &Program) -> Option<bool> {
    let control = Control { budget: Budget { states: Some(200_000), ..Budget::default() }, ..Control::default() };
    match triangular_races(program, NonZeroUsize::MIN, &control) {
        Ok(report) => match report.verdict {
            Verdict::Holds => Some(true),
            // The run was replayed and checked for the race when it was made.
            Verdict::Violated(_) => Some(false),
            Verdict::Unknown(_) => None,
        },
        Err(Failure::Refused(diagnostic)) if diagnostic.code == "state-too-large" => None,
        Err(failure) => panic!("{failure}"),
    }
}

/// What a method says; `None` for "unknown".
fn verdict_by(program: &Program, method: Method, jobs: usize) -> Option<bool> {
    let options = Options { method, jobs: jobs.try_into().expect("some workers") };
    let control = Control { budget: Budget { states: Some(200_000), ..Budget::default() }, ..Control::default() };
    let report = match robust(program, &options, &control) {
        Ok(report) => report,
        // Addresses that can be anything leave no room for an instrumentation, or make states too large, and it says so.
        Err(Failure::Refused(diagnostic)) if ["no-room", "state-too-large"].contains(&diagnostic.code) => return None,
        Err(failure) => panic!("{failure}"),
    };
    match report.verdict {
        Verdict::Holds => Some(true),
        // The run was replayed and its cycle found when it was made.
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}
