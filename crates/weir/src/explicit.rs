//! Explicit-state search of a program: every reachable state is visited one by one.
//!
//! Direction of error: none. `Holds` means that the reachable states were finitely many and all of them
//! were visited; a violation is a run that `weir-witness` has replayed. Under TSO buffers are
//! unbounded, so the search may not end by itself: then it ends at the budget, with `Unknown`.

use std::num::NonZeroUsize;

use weir_ir::Program;
use weir_witness::{Checked, Goal, Model, Run};

use crate::search::{self, Found, Outcome, Search};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::machine::{Machine, System};
use crate::semantics::refuse;
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::tso::Tso;
use crate::session::Session;
use crate::verdict::{Coverage, Failure, Limit, Statistics, Verdict};

/// What to search for, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exploration<'a> {
    pub(crate) model: Model,
    /// Without any goal, all states are visited.
    pub(crate) goals: &'a [Goal],
    pub(crate) search: Search,
    pub(crate) jobs: NonZeroUsize,
    /// Whether states are distinguished by dead registers.
    pub(crate) keep_dead_registers: bool,
    /// See [`Purpose::keeps_back`].
    pub(crate) keeps_back: &'a [Vec<bool>],
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) verdict: Verdict<Box<Checked>>,
    pub(crate) statistics: Statistics,
    pub(crate) coverage: Coverage,
}

impl Explored {
    fn unknown(limit: Limit) -> Self {
        let (statistics, coverage) = (Statistics::default(), Coverage::default());
        Self { verdict: Verdict::Unknown(limit), statistics, coverage }
    }
}

/// Looks for a run of `program` that reaches a goal.
pub(crate) fn explore(program: &Program, exploration: Exploration<'_>, session: &Session) -> Result<Explored, Failure> {
    // Whatever comes before the search counts towards its time.
    let began = session.elapsed();
    refuse::unsupported(program)?;
    let purpose = Purpose {
        keep_dead_registers: exploration.keep_dead_registers,
        buffered: exploration.model == Model::Tso,
        monitored: false,
        goals: exploration.goals,
        keeps_back: exploration.keeps_back,
    };
    if let Some(limit) = session.exceeded() {
        return Ok(Explored::unknown(limit));
    }
    let compiled = match compile(program, purpose, session) {
        Err(Failure::Stopped(limit)) => return Ok(Explored::unknown(limit)),
        result => result?,
    };
    let outcome = run(&compiled.machine, exploration, session);
    let outcome = Outcome { elapsed: session.since(began), ..outcome };
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    explored(program, exploration.model, &compiled, outcome)
}

fn run(machine: &Machine, exploration: Exploration<'_>, session: &Session) -> Outcome {
    let Exploration { model, search, jobs, .. } = exploration;
    with_state_size!(machine.layout.words, N => match model {
        Model::Sc => search::run(&System::<Sc, N>::new(machine), search, jobs, session),
        Model::Tso => search::run(&System::<Tso, N>::new(machine), search, jobs, session),
    })
}

fn explored(program: &Program, model: Model, compiled: &Compiled, outcome: Outcome) -> Result<Explored, Failure> {
    let statistics = outcome.statistics(compiled.machine.layout.words);
    let coverage = coverage(program, compiled, &outcome.taken);
    let verdict = match outcome.found {
        Found::Nothing => Verdict::Holds,
        Found::Stopped(limit) => Verdict::Unknown(limit),
        Found::Goal(goal, steps) => {
            let run = Run { model, steps: steps.into_iter().map(|step| compiled.step(step)).collect() };
            let checked = Checked::new(program, run, goal)
                .map_err(|error| Failure::Bug(format!("a run that was found cannot be replayed: {error}")))?;
            Verdict::Violated(Box::new(checked))
        }
    };
    Ok(Explored { verdict, statistics, coverage })
}
