//! The robustness check agrees with the definition: a program is robust if every run under TSO that ends drained has the trace
//! of a run under SC.

mod definition;
mod fences;
mod litmus;
mod random;
mod shapes;
mod tiny;

use weir::robust::{Options, robust};
use weir::{Budget, Control, Verdict};
use weir_ir::Program;

/// What the engine says; `None` for "unknown".
fn verdict(program: &Program, jobs: usize) -> Option<bool> {
    let options = Options { jobs: jobs.try_into().expect("some workers") };
    let control = Control { budget: Budget { states: Some(200_000), ..Budget::default() }, ..Control::default() };
    let report = robust(program, &options, &control).unwrap_or_else(|failure| panic!("{failure}"));
    match report.verdict {
        Verdict::Holds => Some(true),
        // The run was replayed and its cycle found when it was made.
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}
