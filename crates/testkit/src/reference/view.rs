//! One state at a time, for tests that walk along with another implementation and compare every step.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, EdgeId, LocId, Program, ThreadId, Value};

use super::goals::{deadlock_properties, goals_of, is_deadlock};
use super::liveness::lost_in;
use super::state::State;
use super::steps::{Action, successors};
use super::{Goal, Model, Unsupported, refuse_unsupported};

/// More values of a `Havoc` than this are not tried.
const MOST_CHOICES: usize = 1_000;

/// A state of the reference interpreter, to be looked at and to go on from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View(State);

impl View {
    /// The state in which every run begins.
    pub fn initial(program: &Program) -> Result<Self, Unsupported> {
        refuse_unsupported(program)?;
        Ok(Self(State::initial(program)))
    }

    /// Every step that is possible here: who, along which edge (none for a flush), and the state after it. A `Havoc`
    /// is there once for each value.
    pub fn steps(&self, program: &Program, model: Model) -> Vec<(ThreadId, Option<EdgeId>, Self)> {
        let edge = |action| if let Action::Execute(edge) = action { Some(edge) } else { None };
        let steps = successors(program, model, &self.0, MOST_CHOICES).into_iter();
        steps.map(|(thread, action, next)| (thread, edge(action), Self(next))).collect()
    }

    /// The liveness properties that are lost here: what they ask for can never be met again. `None` if more than
    /// `limit` states can follow.
    pub fn lost(&self, program: &Program, model: Model, limit: usize) -> Option<BTreeSet<Goal>> {
        lost_in(program, model, &self.0, limit)
    }

    /// The threads that exist.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.0.threads.keys().copied()
    }

    /// Where a thread is; none if it does not exist.
    pub fn location(&self, thread: ThreadId) -> Option<LocId> {
        self.0.threads.get(&thread).map(|own| own.location)
    }

    /// The registers of a thread, in the order of its body; empty if it does not exist.
    pub fn registers(&self, thread: ThreadId) -> Vec<Value> {
        self.0.threads.get(&thread).map_or(Vec::new(), |own| own.registers.values().copied().collect())
    }

    /// The stores of a thread that wait in order, the oldest first.
    pub fn buffer(&self, thread: ThreadId) -> &[(Address, Value)] {
        self.0.threads.get(&thread).map_or(&[], |own| &own.buffer)
    }

    /// The cells that differ from their initial value.
    pub fn memory(&self) -> &BTreeMap<Address, Value> {
        &self.0.memory
    }

    /// Who holds the global lock.
    pub fn holder(&self) -> Option<ThreadId> {
        self.0.holder
    }

    /// The same as a drained state, if it is one.
    pub fn to_drained(&self) -> Option<super::Drained> {
        self.0.is_drained().then(|| self.0.to_drained())
    }

    /// Whether all buffers are empty.
    pub fn is_drained(&self) -> bool {
        self.0.is_drained()
    }

    /// Every goal that the state shows; deadlock is one of them.
    pub fn goals(&self, program: &Program, model: Model) -> BTreeSet<Goal> {
        let mut goals: BTreeSet<Goal> = goals_of(program, &self.0).into_iter().collect();
        if is_deadlock(program, &self.0) && self.steps(program, model).is_empty() {
            goals.extend(deadlock_properties(program));
        }
        goals
    }
}
