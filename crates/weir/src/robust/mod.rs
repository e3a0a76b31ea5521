//! Does the program behave under TSO only as it can under SC?
//!
//! By attacks ("Checking and Enforcing Robustness against TSO"): a program is not robust exactly if some thread can
//! delay one of its stores past one of its loads while the others build up happens-before from that load to that store. Whether this can
//! be is a question about runs under SC, which [`monitor`] asks for all attacks in one search: they share the runs before the attack, those
//! of one store share what is delayed, and once the attacker has halted all that matters is two addresses.
//!
//! Direction of error: none. `Holds` means that all states of the monitored program were visited; a violation is a run that
//! `weir-witness` has replayed, with a cycle of happens-before.

mod attacks;
mod instrumented;
mod local;
mod memory;
mod monitor;
mod overlay;
mod race;
mod races;
mod run;

use std::num::NonZeroUsize;

use weir_ir::Program;
use weir_witness::{Checked, Goal};

pub(crate) use attacks::drains;
pub use attacks::{Attack, Attacks};
pub(crate) use monitor::Kind;
pub use race::Race;
pub use races::{RaceReport, triangular_races};

use crate::explore::{Found, Outcome, breadth_first};
use crate::reach::{Statistics, refuse};
use crate::semantics::compile::{Compiled, Purpose, compile, present};
use crate::semantics::machine::Machine;
use crate::{Control, Failure, Verdict};
use monitor::{Monitor, Plans};

/// How to find out. All methods give the same answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Method {
    /// One search for all attacks, with a monitor beside the program.
    #[default]
    Attacks,
    /// One search under SC for each attack, in the [instrumented](crate::transform::instrument) program of the paper.
    Instrumented,
    /// One search under SC in one instrumented program for all attacks.
    Single,
}

/// How to check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How to find out.
    pub method: Method,
    /// Number of workers. The answer does not depend on it.
    pub jobs: NonZeroUsize,
}

impl Default for Options {
    fn default() -> Self {
        Self { method: Method::default(), jobs: NonZeroUsize::MIN }
    }
}

/// The answer, and how it came about.
#[derive(Clone, Debug)]
pub struct Report {
    /// `Holds`: every run under TSO has the trace of a run under SC. `Violated`: this one has not.
    pub verdict: Verdict<Box<Checked>>,
    /// The attacks that were considered.
    pub attacks: Attacks,
    /// What it took.
    pub statistics: Statistics,
}

/// The attacks of a program.
pub fn attacks(program: &Program) -> Attacks {
    attacks::enumerate(program, &present(program).collect::<Vec<_>>())
}

/// Checks whether `program` is robust.
///
/// # Errors
/// If the program has something the engine cannot handle, or if an invariant of Weir breaks.
pub fn robust(program: &Program, options: &Options, control: &Control) -> Result<Report, Failure> {
    refuse::unsupported(program)?;
    // What properties observe need not be kept.
    let bare = Program { properties: Vec::new(), ..program.clone() };
    let attacks = attacks(&bare);
    if attacks.open.is_empty() {
        return Ok(Report { verdict: Verdict::Holds, attacks, statistics: Statistics::default() });
    }
    match options.method {
        Method::Attacks => {}
        Method::Instrumented => return instrumented::one_by_one(&bare, attacks, options, control),
        Method::Single => return instrumented::all_at_once(&bare, attacks, options, control),
    }
    let purpose = Purpose { keep_dead_registers: false, buffered: false, monitored: true, goals: &[Goal::NotRobust] };
    let compiled = compile(&bare, purpose, refuse::MOST_WORDS).map_err(|words| refuse::too_large(program, words))?;
    let outcome = search(&bare, &compiled, options, control);
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    let statistics = statistics(&compiled, &outcome);
    Ok(Report { verdict: verdict(program, &compiled, outcome)?, attacks, statistics })
}

fn statistics(compiled: &Compiled, outcome: &Outcome) -> Statistics {
    Statistics {
        states: outcome.states,
        transitions: outcome.transitions,
        depth: outcome.depth,
        state_bytes: (compiled.machine.layout.words * size_of::<u64>()) as u64,
        stored_bytes: outcome.stored_bytes,
        elapsed: outcome.elapsed,
    }
}

fn search(program: &Program, compiled: &Compiled, options: &Options, control: &Control) -> Outcome {
    let plans = Plans::new(program, compiled);
    let (machine, jobs) = (&compiled.machine, options.jobs.get().min(crate::reach::MOST_WORKERS));
    match machine.layout.words {
        0..=1 => breadth_first(&Monitor::<1>::new(machine, &plans), control, jobs),
        2 => breadth_first(&Monitor::<2>::new(machine, &plans), control, jobs),
        3..=8 => breadth_first(&Monitor::<8>::new(machine, &plans), control, jobs),
        _ => breadth_first(&Monitor::<{ refuse::MOST_WORDS }>::new(machine, &plans), control, jobs),
    }
}

fn verdict(program: &Program, compiled: &Compiled, outcome: Outcome) -> Result<Verdict<Box<Checked>>, Failure> {
    match outcome.found {
        Found::Nothing => Ok(Verdict::Holds),
        Found::Stopped(limit) => Ok(Verdict::Unknown(limit)),
        Found::Goal(_, steps) => {
            let decode = |code| decode(&compiled.machine, compiled, code);
            let steps: Vec<_> = steps.into_iter().map(decode).collect();
            let checked = run::checked(program, run::under_tso(program, &steps))?;
            Ok(Verdict::Violated(Box::new(checked)))
        }
    }
}

fn decode(
    machine: &Machine,
    compiled: &Compiled,
    code: crate::semantics::StepCode,
) -> (weir_witness::Step, monitor::Kind) {
    let (plain, kind) = Monitor::<1>::decode(machine, code);
    (compiled.step(plain), kind)
}
