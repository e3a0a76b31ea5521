//! Explicit-state search of a program: every reachable state is visited one by one.
//!
//! Direction of error: none. `Holds` means that the reachable states were finitely many and all of them
//! were visited; a violation is a run that `weir-witness` has replayed. Under TSO buffers are
//! unbounded, so the search may not end by itself: then it ends at the budget, with `Unknown`.

use std::num::NonZeroUsize;

use weir_ir::Program;
use weir_witness::{Checked, Goal, Model, Run};

use crate::search::by_agent::ByAgent;
use crate::search::cartesian::Cartesian;
use crate::search::fusing::Fusing;
use crate::search::persistent::PersistentSets;
use crate::search::reduced::{Reduced, Reductions};
use crate::search::scalarsets::Renaming;
use crate::search::{self, Found, Outcome, Search};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::machine::{Machine, MemoryModel};
use crate::semantics::refuse;
use crate::semantics::sc::Sc;
use crate::semantics::scalarsets::{self, Symmetry};
use crate::semantics::size::with_state_size;
use crate::semantics::tso::Tso;
use crate::session::Session;
use crate::verdict::{Coverage, Failure, Interchangeable, Limit, Reduction, Statistics, Verdict};

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
    /// Whether states that differ only in the numbering of threads count as one.
    pub(crate) symmetry: bool,
    pub(crate) reduction: Reduction,
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) verdict: Verdict<Box<Checked>>,
    pub(crate) statistics: Statistics,
    pub(crate) coverage: Coverage,
    pub(crate) symmetry: Interchangeable,
}

impl Explored {
    fn unknown(limit: Limit) -> Self {
        let (statistics, coverage) = (Statistics::default(), Coverage::default());
        Self { verdict: Verdict::Unknown(limit), statistics, coverage, symmetry: Interchangeable::default() }
    }
}

/// Looks for a run of `program` that reaches a goal.
pub(crate) fn explore(program: &Program, exploration: Exploration<'_>, session: &Session) -> Result<Explored, Failure> {
    // Whatever comes before the search counts towards its time.
    let began = session.elapsed();
    refuse::unsupported_but_spawn(program, "explicit")?;
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
    let reduction = exploration.reduction.chosen();
    let sets = match reduction {
        Reduction::None | Reduction::Local => None,
        _ => PersistentSets::new(program, &compiled, exploration.model, exploration.goals),
    };
    // The summaries of a dynamic reduction are about threads by their numbers.
    let is_dynamic = reduction == Reduction::Dynamic && sets.is_some();
    let symmetry = match exploration.symmetry && !is_dynamic {
        true => scalarsets::symmetry(program, &compiled, exploration.goals),
        false => Symmetry::default(),
    };
    let families = Renaming::all(program, &compiled, &symmetry);
    // Where stores are kept back on code that a translation added, a membarrier waits for local steps.
    let fuses = reduction != Reduction::None && exploration.keeps_back.is_empty();
    let fusing = fuses.then(|| Fusing::new(program, &compiled, exploration.goals));
    let used = match (&fusing, &sets) {
        (_, Some(_)) => reduction,
        (Some(_), None) => Reduction::Local,
        (None, None) => Reduction::None,
    };
    let persistent = sets.as_ref().filter(|_| !is_dynamic);
    let is_cartesian = |_: &&PersistentSets| reduction == Reduction::Cartesian;
    let cartesian = sets.as_ref().filter(is_cartesian).map(|sets| Cartesian::new(sets, &compiled.machine));
    let reductions = Reductions { fusing: fusing.as_ref(), persistent, cartesian: cartesian.as_ref() };
    let outcome = match sets.as_ref().filter(|_| is_dynamic) {
        Some(sets) => run_dynamically(&compiled.machine, sets, reductions, exploration.model, session),
        None => run(&compiled.machine, (&families, reductions), exploration, session),
    };
    let mut outcome = Outcome { elapsed: session.since(began), ..outcome };
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    fusing.iter().for_each(|fusing| fusing.mark_taken(&mut outcome.taken));
    cartesian.iter().for_each(|cartesian| cartesian.mark_taken(&mut outcome.taken));
    families.iter().for_each(|family| family.spread(&compiled.machine, &mut outcome.taken));
    let classes = symmetry.classes(&compiled.threads);
    let symmetry = Interchangeable { threads: classes, obstacles: symmetry.obstacles };
    let mut explored = explored(program, exploration.model, &compiled, outcome)?;
    explored.statistics.up_to_symmetry = !symmetry.threads.is_empty();
    explored.statistics.reduction = used;
    Ok(Explored { symmetry, ..explored })
}

fn run(
    machine: &Machine,
    (families, reductions): (&[Renaming], Reductions<'_>),
    exploration: Exploration<'_>,
    session: &Session,
) -> Outcome {
    with_state_size!(machine.layout.words, N => match exploration.model {
        Model::Sc => search_up_to(&Reduced::<Sc, N>::new(machine, families, reductions), exploration, session),
        Model::Tso => search_up_to(&Reduced::<Tso, N>::new(machine, families, reductions), exploration, session),
    })
}

/// The same with dynamic partial order reduction.
fn run_dynamically(
    machine: &Machine,
    sets: &PersistentSets,
    reductions: Reductions<'_>,
    model: Model,
    session: &Session,
) -> Outcome {
    with_state_size!(machine.layout.words, from 16, N => match model {
        Model::Sc => ByAgent::<Sc, N>::new(machine, sets, reductions).search(session),
        Model::Tso => ByAgent::<Tso, N>::new(machine, sets, reductions).search(session),
    })
}

/// Searches a system up to the numbering of threads; a run that is found is one of the program itself.
fn search_up_to<M: MemoryModel, const N: usize>(
    system: &Reduced<'_, M, N>,
    exploration: Exploration<'_>,
    session: &Session,
) -> Outcome {
    let Exploration { search, jobs, .. } = exploration;
    system.with_own_run(search::run(system, search, jobs, session))
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
    Ok(Explored { verdict, statistics, coverage, symmetry: Interchangeable::default() })
}
