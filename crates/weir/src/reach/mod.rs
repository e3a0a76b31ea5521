//! Can a goal be reached? One file or folder per engine; this module has what they share.
//!
//! A violation is a run that `weir-witness` has replayed, whichever engine found it.

mod abstraction;
pub(crate) mod dual;
mod explicit;
mod lazy;
pub(crate) mod refuse;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

use weir_ir::{EdgeId, Program, PropertyId, ThreadId};
use weir_witness::{BackwardProof, Buffering, Certificate, Checked, Goal, Model};

pub use lazy::{Form, LazyOptions, Round};

use crate::semantics::compile::{Compiled, present};
use crate::{Failure, Limit, Session, Verdict};

/// Engines for reachability.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// Visits every reachable state.
    #[default]
    Explicit,
    /// Delays stores only where that can make a difference, found by checking robustness.
    Lazy,
    /// Backward coverability: exact for unbounded buffers, if there are finitely many values.
    Dual,
    /// Over-approximates buffers as sets: fast, but can be inconclusive.
    Set,
    /// Over-approximates buffers as multisets: like sets, but counts stores.
    Multiset,
    /// Keeps the oldest stores in order and the rest as a set; refines the bound automatically.
    Coherence,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Explicit, Self::Lazy, Self::Dual, Self::Set, Self::Multiset, Self::Coherence];

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Explicit => "Visits every reachable state",
            Self::Lazy => {
                "Delays stores only where that can make a difference, which it finds out by checking robustness"
            }
            Self::Dual => "Backward coverability: exact for unbounded buffers, if there are finitely many values",
            Self::Set => {
                "Over-approximates buffers as sets: fast proofs, even for unbounded buffers, but can be inconclusive"
            }
            Self::Multiset => "Over-approximates buffers as multisets: like `set`, but counts stores",
            Self::Coherence => {
                "Keeps the oldest stores in order and the others as a set. Without --bound, keeps more and more in order"
            }
        }
    }

    /// Whether it over-approximates buffers.
    pub fn approximates(self) -> bool {
        matches!(self, Self::Set | Self::Multiset | Self::Coherence)
    }

    /// Whether its proofs can be [written](certify) [out](certify_backward).
    pub fn certifies(self) -> bool {
        self.approximates() || self == Self::Dual
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Lazy => "lazy",
            Self::Dual => "dual",
            Self::Set => "set",
            Self::Multiset => "multiset",
            Self::Coherence => "coherence",
        }
    }
}

/// The order in which states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Search {
    /// Breadth-first: finds a shortest run; uses all workers.
    #[default]
    BreadthFirst,
    /// Depth-first: goes deep early; one worker, whatever the number of jobs.
    DepthFirst,
}

impl Search {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::BreadthFirst, Self::DepthFirst];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "bfs",
            Self::DepthFirst => "dfs",
        }
    }

    /// What it is good for, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::BreadthFirst => "Breadth-first: finds a shortest run",
            Self::DepthFirst => "Depth-first: goes deep early",
        }
    }
}

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The memory model.
    pub model: Model,
    /// The engine.
    pub engine: Engine,
    /// For [`Engine::Coherence`]: how many stores are kept in order; refined step by step if not given. For
    /// [`Engine::Multiset`]: the maximum of counters.
    pub bound: Option<u32>,
    /// The order of the search.
    pub search: Search,
    /// Number of workers, at most 256. The answer does not depend on it.
    pub jobs: NonZeroUsize,
    /// Whether states are distinguished by dead registers (more states, same answer).
    pub keep_dead_registers: bool,
    /// Which goals to look for: all of the program's if empty.
    pub goals: Vec<Goal>,
    /// Options of the lazy engine.
    pub lazy: LazyOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Tso,
            engine: Engine::default(),
            bound: None,
            search: Search::default(),
            jobs: NonZeroUsize::MIN,
            keep_dead_registers: false,
            goals: Vec::new(),
            lazy: LazyOptions::default(),
        }
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Number of distinct states found.
    pub states: u64,
    /// Number of transitions between them.
    pub transitions: u64,
    /// Breadth-first: the length of the longest shortest run. Depth-first: of the longest run tried.
    pub depth: u64,
    /// Bytes of one state in the store.
    pub state_bytes: u64,
    /// Bytes held by the state store at the end.
    pub stored_bytes: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Statistics {
    /// Adds another search: the sums of states, transitions and time, the maxima of depth and bytes.
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
    /// Edges that no explored run took, in order of threads and edges.
    pub unexecuted: Vec<(ThreadId, EdgeId)>,
    /// Threads that took no step at all, although they have instructions.
    pub immobile: Vec<ThreadId>,
    /// Stores that were blocked at least once because the value is outside the declared range of the cell.
    pub out_of_range: Vec<(ThreadId, EdgeId)>,
    /// Whether the search over-approximated: then a blocked store need not occur in any run.
    pub approximate: bool,
}

/// The answer, and how it was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// `Holds`: no goal can be reached. `Violated`: this run reaches one.
    pub verdict: Verdict<Box<Checked>>,
    /// Statistics of the search.
    pub statistics: Statistics,
    /// What was executed. Complete only if the verdict is `Holds`.
    pub coverage: Coverage,
    /// How the lazy engine extended the program, round by round; empty for other engines.
    pub rounds: Vec<Round>,
    /// How buffers were over-approximated, if they were.
    pub buffering: Option<Buffering>,
}

impl Report {
    /// An inconclusive answer.
    pub(crate) fn unknown(limit: Limit) -> Self {
        let (statistics, coverage) = (Statistics::default(), Coverage::default());
        Self { verdict: Verdict::Unknown(limit), statistics, coverage, buffering: None, rounds: Vec::new() }
    }
}

/// Looks for a run of `program` that reaches a goal. Without any goal, just visits all states.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    match options.engine {
        Engine::Explicit => explicit::reach(program, options, session),
        Engine::Lazy => lazy::reach(program, options, session),
        Engine::Dual => dual::reach(program, options, session),
        Engine::Set | Engine::Multiset | Engine::Coherence => abstraction::reach(program, options, session),
    }
}

/// A backward proof that no goal can be reached. The outer result fails as [`reach`] does; the inner error is the limit
/// that was reached, or `None` if a goal can be reached.
///
/// # Errors
/// As [`reach`].
pub fn certify_backward(
    program: &Program,
    options: &Options,
    session: &Session,
) -> Result<Result<BackwardProof, Option<Limit>>, Failure> {
    dual::certify(program, options, session)
}

/// All states with buffers over-approximated like this. If the answer with them was `Holds`, this is a certificate of
/// it. The outer result fails as [`reach`] does; the inner error is the limit that was reached.
///
/// # Errors
/// As [`reach`].
pub fn certify(
    program: &Program,
    options: &Options,
    buffering: Buffering,
    session: &Session,
) -> Result<Result<Certificate, Limit>, Failure> {
    abstraction::certify(program, options, buffering, session)
}

/// What an engine looks for.
pub(crate) fn goals(program: &Program, options: &Options) -> Vec<Goal> {
    if options.goals.is_empty() { all_goals(program) } else { options.goals.clone() }
}

/// The maximum number of workers: each keeps batches for every other one.
pub(crate) const MOST_WORKERS: usize = 256;

/// All goals of a program, in order of preference.
pub fn all_goals(program: &Program) -> Vec<Goal> {
    let properties = (0..program.properties.len()).map(|property| Goal::Property(PropertyId::new(property)));
    let asserting = present(program).filter(|&thread| program.body(thread).failed.is_some());
    properties.chain(asserting.map(Goal::Assertion)).collect()
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
    Coverage { unexecuted, immobile: immobile.collect(), out_of_range, approximate: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_add_up() {
        let statistics = |states, transitions, depth, state_bytes, stored_bytes, seconds| Statistics {
            states,
            transitions,
            depth,
            state_bytes,
            stored_bytes,
            elapsed: Duration::from_secs(seconds),
        };
        let mut sum = statistics(1, 20, 300, 8, 5000, 6);
        sum.add(&statistics(2, 30, 100, 16, 4000, 1));
        assert_eq!(sum, statistics(3, 50, 300, 16, 5000, 7));
        sum.add(&statistics(1, 1, 400, 8, 6000, 1));
        assert_eq!(sum, statistics(4, 51, 400, 16, 6000, 8));
    }
}
