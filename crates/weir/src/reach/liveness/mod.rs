//! What can still happen: `forbid stuck` and `live`, which are of the form AG EF ("from every reachable state a state
//! can be reached that …").
//!
//! With fair chance this is the same as *almost surely*, which is why the qualitative algorithms of probabilistic TSO
//! decide it for unbounded buffers. [`components`] decides it on the graph of all states, where that is finite;
//! [`drained`] uses backward coverability over drained states, for unbounded buffers.
//!
//! Direction of error: none. A violation is a run into a state after which `weir-witness` has followed every
//! continuation.

mod components;
mod drained;
mod graph;
mod regions;
mod stuck;

use weir_ir::{Diagnostic, Program, Property};
use weir_witness::{CheckError, Checked, Goal, Model, Run, Shortcoming, Step};

pub(crate) use stuck::stuck_states;

use super::{Coverage, Engine, Options, Report, Statistics, goals};
use crate::session::Session;
use crate::verdict::{Failure, Limit, Verdict};

/// The goals that are about what can still happen, and the others.
pub(super) fn split(program: &Program, options: &Options) -> (Vec<Goal>, Vec<Goal>) {
    goals(program, options).into_iter().partition(|goal| goal.is_liveness(program))
}

fn property(program: &Program, goal: Goal) -> Option<&Property> {
    match goal {
        Goal::Property(property) => program.properties.get(property.index()),
        Goal::Assertion(_) | Goal::NotRobust => None,
    }
}

/// Decides these goals, all of which are about what can still happen, by the engine of the options.
pub(super) fn decide(
    program: &Program,
    goals: &[Goal],
    options: &Options,
    session: &Session,
) -> Result<Report, Failure> {
    let began = session.elapsed();
    refuse(program, goals, options)?;
    let found = match options.engine {
        Engine::Explicit => components::decide(program, options.model, goals, session)?,
        _ => drained::decide(program, goals, session)?,
    };
    let (verdict, statistics, coverage) = found.settled(program, options.model, goals)?;
    let statistics = Statistics { elapsed: session.since(began), ..statistics };
    Ok(Report::new(verdict, statistics, coverage))
}

/// Refuses these goals, if there are any, where the engine of the options only looks for states that can be reached.
pub(super) fn refuse(program: &Program, goals: &[Goal], options: &Options) -> Result<(), Failure> {
    let name = options.engine.name();
    let Some(property) = goals.iter().find_map(|&goal| property(program, goal)) else { return Ok(()) };
    let refused = |what: String| {
        let help = "use `--engine explicit` for this property, and select the others with `--goal`";
        Err(Failure::Refused(Box::new(Diagnostic::error("liveness-not-supported", what, property.span).help(help))))
    };
    match (options.engine, options.model) {
        (Engine::Explicit, _) => Ok(()),
        (Engine::Dual, Model::Tso) => drained::refuse_locks(program, goals),
        (Engine::Dual, Model::Sc) => refused(format!("`{name}` works only under TSO")),
        _ => refused(format!(
            "`{name}` looks for states that can be reached; it cannot decide what can still happen after them"
        )),
    }
}

/// What an engine found.
struct Found {
    answer: Answer,
    statistics: Statistics,
    coverage: Coverage,
}

enum Answer {
    /// All goals are met from everywhere.
    Holds,
    /// This run leads to a state from which one of them cannot be met any more.
    Run(Vec<Step>),
    Stopped(Limit),
}

impl Found {
    /// The verdict, with the run replayed and all its continuations followed.
    fn settled(
        self,
        program: &Program,
        model: Model,
        goals: &[Goal],
    ) -> Result<(Verdict<Box<Checked>>, Statistics, Coverage), Failure> {
        let verdict = match self.answer {
            Answer::Holds => Verdict::Holds,
            Answer::Stopped(limit) => Verdict::Unknown(limit),
            Answer::Run(steps) => evidence(program, Run { model, steps }, goals)?,
        };
        Ok((verdict, self.statistics, self.coverage))
    }
}

/// The run as evidence for one of the goals.
fn evidence(program: &Program, run: Run, goals: &[Goal]) -> Result<Verdict<Box<Checked>>, Failure> {
    let mut last = None;
    for &goal in goals {
        match Checked::new(program, run.clone(), goal) {
            Ok(checked) => return Ok(Verdict::Violated(Box::new(checked))),
            // The checker does not look at as many states as a search does.
            Err(CheckError::Goal(error)) if error.shortcoming == Shortcoming::TooManyFollow => {
                return Ok(Verdict::Unknown(Limit::States));
            }
            Err(error) => last = Some(error),
        }
    }
    let why = last.map(|error| error.to_string()).unwrap_or_default();
    Err(Failure::Bug(format!("a run that was found cannot be replayed: {why}")))
}

/// What was searched before the goals were decided.
fn nothing(answer: Answer) -> Found {
    Found { answer, statistics: Statistics::default(), coverage: Coverage::default() }
}
