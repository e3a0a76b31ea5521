//! A transition system behind a pointer, so that a search is compiled once for all systems with states of one size.
//!
//! Each step then costs two calls that are not inlined. That is hardly noticed where states are large, or where judging
//! a state takes longer than finding it; and a search with its rebuilding of runs is much code.

use weir_ir::Value;
use weir_witness::Goal;

use crate::semantics::state::FlatState;
use crate::semantics::{StepCode, TransitionSystem};

/// Whether states are so large that a search of them costs no more through a pointer.
pub(crate) const fn is_large<S>() -> bool {
    size_of::<S>() > 2 * size_of::<u64>()
}

/// Any system with these states.
pub(crate) struct Erased<'a, S>(&'a dyn Steps<S>);

impl<'a, S: FlatState> Erased<'a, S> {
    pub(crate) fn new<T: TransitionSystem<State = S>>(system: &'a T) -> Self {
        Self(system)
    }
}

/// [`TransitionSystem`], without functions that are generic.
trait Steps<S>: Sync {
    fn initial(&self) -> S;
    fn each_successor(&self, from: &S, emit: &mut dyn FnMut(StepCode, S) -> bool);
    fn goal(&self, state: &S) -> Option<Goal>;
    fn deadlock_goal(&self, state: &S) -> Option<Goal>;
    fn words(&self) -> usize;
    fn step_count(&self) -> usize;
    fn thread_of(&self, step: StepCode) -> usize;
    fn canonical_form(&self, state: &S) -> Vec<Value>;
    fn side_bytes(&self) -> u64;
}

impl<T: TransitionSystem> Steps<T::State> for T {
    fn initial(&self) -> T::State {
        TransitionSystem::initial(self)
    }

    fn each_successor(&self, from: &T::State, emit: &mut dyn FnMut(StepCode, T::State) -> bool) {
        TransitionSystem::each_successor(self, from, emit);
    }

    fn goal(&self, state: &T::State) -> Option<Goal> {
        TransitionSystem::goal(self, state)
    }

    fn deadlock_goal(&self, state: &T::State) -> Option<Goal> {
        TransitionSystem::deadlock_goal(self, state)
    }

    fn words(&self) -> usize {
        TransitionSystem::words(self)
    }

    fn step_count(&self) -> usize {
        TransitionSystem::step_count(self)
    }

    fn thread_of(&self, step: StepCode) -> usize {
        TransitionSystem::thread_of(self, step)
    }

    fn canonical_form(&self, state: &T::State) -> Vec<Value> {
        TransitionSystem::canonical_form(self, state)
    }

    fn side_bytes(&self) -> u64 {
        TransitionSystem::side_bytes(self)
    }
}

impl<S: FlatState> TransitionSystem for Erased<'_, S> {
    type State = S;

    fn initial(&self) -> S {
        self.0.initial()
    }

    fn successors(&self, from: &S, emit: &mut impl FnMut(StepCode, S) -> bool) {
        self.0.each_successor(from, emit);
    }

    fn each_successor(&self, from: &S, emit: &mut dyn FnMut(StepCode, S) -> bool) {
        self.0.each_successor(from, emit);
    }

    fn goal(&self, state: &S) -> Option<Goal> {
        self.0.goal(state)
    }

    fn deadlock_goal(&self, state: &S) -> Option<Goal> {
        self.0.deadlock_goal(state)
    }

    fn words(&self) -> usize {
        self.0.words()
    }

    fn step_count(&self) -> usize {
        self.0.step_count()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.0.thread_of(step)
    }

    fn canonical_form(&self, state: &S) -> Vec<Value> {
        self.0.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.0.side_bytes()
    }
}
