//! A transition system with other goals: a function decides which goal a state shows.
//!
//! A search asks for the goal of each state that it stores, and only then, so the function may also collect what it
//! sees: the states themselves, or values in final states.

use weir_ir::Value;
use weir_witness::Goal;

use crate::semantics::{StepCode, TransitionSystem};

/// Takes the same steps as `system`. Deadlocks are not goals.
pub(crate) struct WithGoals<'a, T, G> {
    pub(crate) system: T,
    /// The goal that a state shows, if any.
    pub(crate) goal: G,
    /// Bytes that `goal` holds on to; they count as memory of the search.
    pub(crate) kept_bytes: &'a (dyn Fn() -> u64 + Sync),
}

impl<T, G> TransitionSystem for WithGoals<'_, T, G>
where
    T: TransitionSystem,
    G: Fn(&T::State) -> Option<Goal> + Sync,
{
    type State = T::State;

    fn initial(&self) -> T::State {
        self.system.initial()
    }

    #[inline]
    fn successors(&self, from: &T::State, emit: &mut impl FnMut(StepCode, T::State) -> bool) {
        self.system.successors(from, emit);
    }

    fn goal(&self, state: &T::State) -> Option<Goal> {
        (self.goal)(state)
    }

    fn deadlock_goal(&self, _state: &T::State) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        self.system.words()
    }

    fn step_count(&self) -> usize {
        self.system.step_count()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.system.thread_of(step)
    }

    fn canonical_form(&self, state: &T::State) -> Vec<Value> {
        self.system.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.system.side_bytes() + (self.kept_bytes)()
    }
}
