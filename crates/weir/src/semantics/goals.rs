//! Which states show a goal.
//!
//! Properties are judged at drained states. A failed assertion is judged at once: nothing undoes it.
//! Deadlock is judged where nothing can move, so that a thread that waits forever inside the global
//! lock while others cannot flush counts too.

use weir_ir::{Multiplicity, Program, PropertyId, ThreadId, Value};
use weir_witness::Goal;

use super::code::Code;
use super::state::{Packed, ZeroTest};

/// All goals of a program, in order of preference.
pub fn all_goals(program: &Program) -> Vec<Goal> {
    let properties = (0..program.properties.len()).map(|property| Goal::Property(PropertyId::new(property)));
    let can_be_spawned = program.can_be_spawned();
    let runs = |thread: &ThreadId| {
        program.thread(*thread).multiplicity != Multiplicity::Spawned || can_be_spawned[thread.index()]
    };
    let asserting = program.thread_ids().filter(runs).filter(|&thread| program.body(thread).failed.is_some());
    properties.chain(asserting.map(Goal::Assertion)).collect()
}

/// The goals of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goals {
    /// Places of failed assertions.
    pub(crate) assertions: Vec<(Goal, Code)>,
    /// Conditions on drained states.
    pub(crate) drained: Vec<(Goal, Code)>,
    /// Conditions on drained states in which all threads are done.
    pub(crate) finals: Vec<(Goal, Code)>,
    /// `forbid deadlock`.
    pub(crate) deadlock: Option<Goal>,
    /// Conditions of `live`, which no single state decides.
    pub(crate) recurring: Vec<Recurring>,
    /// For each thread, whether it is done.
    pub(crate) done: Vec<Code>,
    /// Whether all buffers are empty.
    pub(crate) all_drained: ZeroTest,
}

/// A condition that must be able to hold again and again.
#[derive(Clone, Debug)]
pub(crate) struct Recurring {
    pub(crate) condition: Code,
    /// Whether it mentions cells, so that it is judged at drained states only.
    pub(crate) needs_drained: bool,
}

impl Goals {
    /// Whether the condition holds in this state.
    pub(crate) fn recurs<const N: usize>(&self, goal: &Recurring, state: &Packed<N>) -> bool {
        (!goal.needs_drained || self.all_drained.holds(state)) && goal.condition.eval(state) != 0
    }

    #[inline]
    pub(crate) fn met<const N: usize>(&self, state: &Packed<N>) -> Option<Goal> {
        if let Some(goal) = self.failed_assertion(state) {
            return Some(goal);
        }
        if !self.all_drained.holds(state) {
            return None;
        }
        first(&self.drained, state).or_else(|| {
            let is_final = !self.finals.is_empty() && self.all_done(state);
            is_final.then(|| first(&self.finals, state)).flatten()
        })
    }

    /// The condition on drained states that holds here, whether or not this is one.
    pub(crate) fn shown_when_drained<const N: usize>(&self, state: &Packed<N>) -> Option<Goal> {
        if self.drained.is_empty() { None } else { first(&self.drained, state) }
    }

    /// The assertion that has failed, if any.
    #[inline]
    pub(crate) fn failed_assertion<const N: usize>(&self, state: &Packed<N>) -> Option<Goal> {
        if self.assertions.is_empty() { None } else { first(&self.assertions, state) }
    }

    /// What the conditions on final states evaluate to, in order, if this is one.
    pub(crate) fn values_at_end<const N: usize>(&self, state: &Packed<N>) -> Option<Vec<Value>> {
        let is_final = self.all_drained.holds(state) && self.all_done(state);
        is_final.then(|| self.finals.iter().map(|(_, value)| value.eval(state)).collect())
    }

    pub(crate) fn deadlock_goal<const N: usize>(&self, state: &Packed<N>) -> Option<Goal> {
        self.deadlock.filter(|_| !self.all_done(state))
    }

    /// Whether all threads are done.
    pub(crate) fn all_done<const N: usize>(&self, state: &Packed<N>) -> bool {
        self.done.iter().all(|done| done.eval(state) != 0)
    }
}

#[inline]
fn first<const N: usize>(goals: &[(Goal, Code)], state: &Packed<N>) -> Option<Goal> {
    goals.iter().find(|(_, condition)| condition.eval(state) != 0).map(|&(goal, _)| goal)
}
