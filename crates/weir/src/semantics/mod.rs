//! Memory models as transition systems over flat states.
//!
//! [`TransitionSystem`] is all that a search knows about a program. [`machine`] gives the instructions their
//! meaning, once; [`sc`], [`tso`] and [`abstraction`] say what becomes of loads and stores. A state is a row of bits
//! ([`layout`]); what has no fixed size is interned and the state holds its number: store buffers
//! ([`buffers`]), cells that no declaration names ([`intern`]). Call stacks, spawned threads and other kinds of
//! buffers can join in the same way.

pub(crate) mod abstraction;
pub(crate) mod buffers;
pub(crate) mod code;
pub(crate) mod compile;
pub(crate) mod coverage;
pub(crate) mod goals;
pub(crate) mod intern;
pub(crate) mod layout;
pub(crate) mod locks;
pub(crate) mod machine;
pub(crate) mod refuse;
pub(crate) mod sc;
pub(crate) mod scalarsets;
pub(crate) mod size;
pub(crate) mod slots;
pub(crate) mod state;
pub(crate) mod symmetry;
pub(crate) mod tso;

use weir_ir::Value;
use weir_witness::Goal;

/// A step, by its number: edges of all threads counted through, then one flush for each thread. With the
/// value taken, for a choice of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct StepCode {
    pub(crate) number: u32,
    pub(crate) choice: Value,
}

/// What a search walks. Knows nothing of the search. Reductions are wrappers: a system that contains another one and
/// takes fewer steps, or visits fewer states (`search::partial_order`, `search::symmetry`).
pub(crate) trait TransitionSystem: Sync {
    /// States are compared, hashed and stored as rows of words.
    type State: state::FlatState;

    fn initial(&self) -> Self::State;

    /// Calls `emit` for each step that `from` can take, always in the same order. Where there may be very many
    /// (a choice of values), it stops when `emit` says that it wants no more.
    fn successors(&self, from: &Self::State, emit: &mut impl FnMut(StepCode, Self::State) -> bool);

    /// As [`successors`](TransitionSystem::successors), compiled only once per system. Searches that visit millions of
    /// states per second want their own copy, in which `emit` is inlined; everybody else should call this one.
    fn each_successor(&self, from: &Self::State, mut emit: &mut dyn FnMut(StepCode, Self::State) -> bool) {
        self.successors(from, &mut emit);
    }

    /// The goal that this state shows, if any.
    fn goal(&self, state: &Self::State) -> Option<Goal>;

    /// The goal that this state shows given that it is deadlocked, if any.
    fn deadlock_goal(&self, state: &Self::State) -> Option<Goal>;

    /// How many words of a state are in use.
    fn words(&self) -> usize;

    /// How many different step numbers there are.
    fn step_count(&self) -> usize;

    /// The thread that takes the step: the same for all its instructions and flushes.
    fn thread_of(&self, step: StepCode) -> usize;

    /// The canonical form of a state: without numbers that depend on the order of interning. Equal states, and only
    /// they, have equal canonical forms, in every run of the search.
    fn canonical_form(&self, state: &Self::State) -> Vec<Value>;

    /// Bytes held beside the stored states.
    fn side_bytes(&self) -> u64;
}

/// A transition system in which each thread is at a location and takes its own steps: what a partial order reduction
/// needs.
pub(crate) trait ThreadSteps: TransitionSystem {
    /// The location of a thread, by number.
    fn location(&self, state: &Self::State, thread: usize) -> usize;

    /// Calls `emit` for each instruction that the thread can execute now. Flushes are not among them.
    fn successors_of(&self, from: &Self::State, thread: usize, emit: &mut impl FnMut(StepCode, Self::State) -> bool);
}
