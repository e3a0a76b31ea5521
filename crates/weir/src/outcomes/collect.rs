//! A transition system that notes what it sees in final states.

use std::collections::BTreeSet;
use std::sync::Mutex;

use weir_ir::Value;
use weir_witness::Goal;

use crate::semantics::machine::{MemoryModel, System};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};

/// Walks as the system within does. A search asks of each new state which goal it shows; that is when a final state is
/// noted. Only failed assertions are goals.
pub(super) struct Collecting<'a, M, const N: usize> {
    system: System<'a, M, N>,
    outcomes: Mutex<BTreeSet<Vec<Value>>>,
}

impl<'a, M: MemoryModel, const N: usize> Collecting<'a, M, N> {
    pub(super) fn new(system: System<'a, M, N>) -> Self {
        Self { system, outcomes: Mutex::default() }
    }

    pub(super) fn into_outcomes(self) -> BTreeSet<Vec<Value>> {
        self.outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<M: MemoryModel, const N: usize> TransitionSystem for Collecting<'_, M, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.system.initial()
    }

    #[inline]
    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        self.system.successors(from, emit);
    }

    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        let goals = &self.system.machine.goals;
        if let Some(goal) = goals.failed_assertion(state) {
            return Some(goal);
        }
        if let Some(values) = goals.values_at_end(state) {
            let mut outcomes = self.outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            outcomes.insert(values);
        }
        None
    }

    fn deadlock_goal(&self, _state: &Packed<N>) -> Option<Goal> {
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

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        self.system.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.system.side_bytes()
    }
}
