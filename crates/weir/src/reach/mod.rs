//! Can a goal be reached? The explicit engine: every state is visited one by one.
//!
//! Direction of error: none. `Holds` means that the reachable states were finitely many and all of them
//! were visited; a violation is a run that `weir-witness` has replayed. Under TSO buffers are
//! unbounded, so the search may not end by itself: then it ends at the budget, with `Unknown`.

pub(crate) mod refuse;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use weir_ir::{EdgeId, Program, PropertyId, ThreadId};
use weir_witness::{Checked, Goal, Model, Run};

use crate::control::Watch;
use crate::explore::{Found, Outcome, breadth_first, depth_first};
use refuse::MOST_WORDS;

use crate::semantics::TransitionSystem;
use crate::semantics::compile::{Compiled, Purpose, compile, present};
use crate::semantics::machine::{Machine, System};
use crate::semantics::sc::Sc;
use crate::semantics::tso::Tso;
use crate::{Control, Failure, Verdict};

/// In which order states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Search {
    /// Breadth-first: finds a shortest run; uses all workers.
    #[default]
    BreadthFirst,
    /// Depth-first: goes deep early; one worker, whatever the number of jobs.
    DepthFirst,
}

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The memory model.
    pub model: Model,
    /// The order of the search.
    pub search: Search,
    /// Number of workers, at most 256. The answer does not depend on it.
    pub jobs: NonZeroUsize,
    /// Whether registers that are not read any more are kept apart in the state (more states, same answer).
    pub keep_dead_registers: bool,
    /// Which goals to look for: all of the program's if empty.
    pub goals: Vec<Goal>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Tso,
            search: Search::default(),
            jobs: NonZeroUsize::MIN,
            keep_dead_registers: false,
            goals: Vec::new(),
        }
    }
}

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Distinct states found.
    pub states: u64,
    /// Steps taken between them.
    pub transitions: u64,
    /// Breadth-first: the length of the longest shortest run. Depth-first: of the longest run tried.
    pub depth: u64,
    /// Bytes of one state in the store.
    pub state_bytes: u64,
    /// Bytes held by the stores of states at the end.
    pub stored_bytes: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Statistics {
    /// Adds another search: sums of states, transitions and time, the most of depth and bytes.
    pub(crate) fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.depth = self.depth.max(other.depth);
        self.state_bytes = self.state_bytes.max(other.state_bytes);
        self.stored_bytes = self.stored_bytes.max(other.stored_bytes);
        self.elapsed += other.elapsed;
    }
}

/// What a search saw of the program's instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Edges that no run explored took, in order of threads and edges.
    pub unexecuted: Vec<(ThreadId, EdgeId)>,
    /// Threads that took no step at all, although they have instructions.
    pub immobile: Vec<ThreadId>,
    /// Stores that were blocked at least once because the value lies outside the declared range of the cell.
    pub out_of_range: Vec<(ThreadId, EdgeId)>,
}

/// The answer, and how it came about.
#[derive(Clone, Debug)]
pub struct Report {
    /// `Holds`: no goal can be reached. `Violated`: this run reaches one.
    pub verdict: Verdict<Box<Checked>>,
    /// What it took.
    pub statistics: Statistics,
    /// What was executed. Complete only if the verdict is `Holds`.
    pub coverage: Coverage,
}

/// Looks for a run of `program` that reaches a goal. Without any goal, just visits all states.
///
/// # Errors
/// If the program has something the engine cannot handle, or if an invariant of Weir breaks.
pub fn reach(program: &Program, options: &Options, control: &Control) -> Result<Report, Failure> {
    // Whatever comes before the search counts towards its time.
    let started = Instant::now();
    refuse::unsupported(program)?;
    let goals = if options.goals.is_empty() { all_goals(program) } else { options.goals.clone() };
    let purpose = Purpose {
        keep_dead_registers: options.keep_dead_registers,
        buffered: options.model == Model::Tso,
        monitored: false,
        goals: &goals,
    };
    // Compiling a program near the limits of size takes seconds.
    if let Some(limit) = Watch::start(control).exceeded(0, 0) {
        let statistics = Statistics::default();
        return Ok(Report { verdict: Verdict::Unknown(limit), statistics, coverage: Coverage::default() });
    }
    let compiled = compile(program, purpose, MOST_WORDS).map_err(|words| refuse::too_large(program, words))?;
    let outcome = run(&compiled.machine, options, &control.after(started.elapsed()));
    let outcome = Outcome { elapsed: started.elapsed(), ..outcome };
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    report(program, options, &compiled, outcome)
}

/// Everything that `reach` can look for in a program, in the order in which it is preferred.
pub fn all_goals(program: &Program) -> Vec<Goal> {
    let properties = (0..program.properties.len()).map(|property| Goal::Property(PropertyId::new(property)));
    let asserting = present(program).filter(|&thread| program.body(thread).failed.is_some());
    properties.chain(asserting.map(Goal::Assertion)).collect()
}

/// Runs the search with the smallest fixed size of states that is large enough.
fn run(machine: &Machine, options: &Options, control: &Control) -> Outcome {
    match machine.layout.words {
        0..=1 => run_sized::<1>(machine, options, control),
        2 => run_sized::<2>(machine, options, control),
        3..=8 => run_sized::<8>(machine, options, control),
        _ => run_sized::<MOST_WORDS>(machine, options, control),
    }
}

/// The most workers: each keeps batches for every other one.
pub(crate) const MOST_WORKERS: usize = 256;

fn run_sized<const N: usize>(machine: &Machine, options: &Options, control: &Control) -> Outcome {
    match options.model {
        Model::Sc => run_model(&System::<Sc, N>::new(machine), options, control),
        Model::Tso => run_model(&System::<Tso, N>::new(machine), options, control),
    }
}

fn run_model<T: TransitionSystem>(system: &T, options: &Options, control: &Control) -> Outcome {
    match options.search {
        Search::BreadthFirst => breadth_first(system, control, options.jobs.get().min(MOST_WORKERS)),
        Search::DepthFirst => depth_first(system, control),
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
                .map_err(|error| Failure::Bug(format!("a run that was found does not replay: {error}")))?;
            Verdict::Violated(Box::new(checked))
        }
    };
    Ok(Report { verdict, statistics, coverage })
}

pub(crate) fn coverage(program: &Program, compiled: &Compiled, taken: &[bool]) -> Coverage {
    let edge_count = compiled.machine.edge_count;
    let was_taken = |number: u32| taken.get(number as usize).copied().unwrap_or(false);
    let unexecuted: Vec<_> =
        (0..edge_count).filter(|&number| !was_taken(number)).map(|number| compiled.edge(number)).collect();
    let moved: BTreeSet<ThreadId> =
        (0..edge_count).filter(|&number| was_taken(number)).map(|number| compiled.edge(number).0).collect();
    let has_edges = |thread: &ThreadId| !program.body(*thread).edges().is_empty();
    let immobile = compiled.threads.iter().copied().filter(has_edges).filter(|thread| !moved.contains(thread));
    let blocked = |number: &u32| compiled.machine.blocked_by_range[*number as usize].load(Ordering::Relaxed);
    let out_of_range = (0..edge_count).filter(blocked).map(|number| compiled.edge(number)).collect();
    Coverage { unexecuted, immobile: immobile.collect(), out_of_range }
}
