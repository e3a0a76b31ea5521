//! Runs: what an engine claims, and what [`replay`](crate::replay) checks.

use weir_ir::{EdgeId, Program, PropertyId, ThreadId, Value};

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total Store Order.
    Tso,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Sc, Self::Tso];

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Sc => "Sequential consistency: every store is visible immediately",
            Self::Tso => "Total Store Order: stores wait in a buffer per thread",
        }
    }

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
        }
    }
}

/// One step of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// Whose instruction or buffer.
    pub thread: ThreadId,
    /// What happens.
    pub action: Action,
}

/// What one step does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// Follows an edge of the thread's body.
    Execute {
        /// Which.
        edge: EdgeId,
        /// The value taken by a `Havoc`; 0 for all other instructions.
        choice: Value,
    },
    /// The thread's oldest buffered store reaches memory (TSO only).
    Flush,
}

/// A run from the initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Under which memory model.
    pub model: Model,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// What the last state of a run is claimed to show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// `forbid P`: P holds in a drained state. `forbid deadlock`: nothing can move, and not all threads are
    /// done. `exists P`: a drained final state meets P. `always P`: a drained final state does not meet P.
    Property(PropertyId),
    /// An assertion of this thread failed. Judged at once, drained or not: nothing can undo it.
    Assertion(ThreadId),
    /// The run is drained at its end, and no SC run has its trace: happens-before has a cycle.
    NotRobust,
}

impl Goal {
    /// Whether it is about what can still happen (`forbid stuck`, `live`), which no single state shows.
    pub fn is_liveness(self, program: &Program) -> bool {
        match self {
            Self::Property(id) => program.properties.get(id.index()).is_some_and(|one| one.kind.is_liveness()),
            Self::Assertion(_) | Self::NotRobust => false,
        }
    }
}
