//! Depth-first search with a stack of its own, so that no run is too deep for it.
//!
//! One worker: the order of a depth-first search is what it is for, and sharing the work would lose it.

use std::sync::atomic::Ordering;

use super::erased::{Erased, is_large};
use super::store::Store;
use super::{Found, Outcome, Shared, step_between};
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Progress, Session};
use crate::verdict::Limit;

/// States between two looks at clock and memory.
const A_CHECK: u64 = 1024;

/// Visits all states depth-first.
pub(crate) fn depth_first<T: TransitionSystem>(system: &T, session: &Session) -> Outcome {
    if const { is_large::<T::State>() } { visit_all(&Erased::new(system), session) } else { visit_all(system, session) }
}

fn visit_all<T: TransitionSystem>(system: &T, session: &Session) -> Outcome {
    let shared = Shared::new(session);
    let mut search = DepthFirst {
        system,
        shared: &shared,
        store: Store::new(system.words()),
        pending: vec![(system.initial(), 0)],
        path: Vec::new(),
        taken: vec![false; system.step_count()],
        transitions: 0,
        deepest: 0,
        cut: false,
    };
    let found = search.run();
    let states = u64::from(search.store.len());
    shared.session.spend(states);
    Outcome {
        found,
        states,
        transitions: search.transitions,
        depth: search.deepest,
        // Without the stacks: they may have reserved more than they ever used.
        stored_bytes: search.store.bytes() + system.side_bytes(),
        taken: search.taken,
        elapsed: shared.elapsed(),
    }
}

struct DepthFirst<'a, T: TransitionSystem> {
    system: &'a T,
    shared: &'a Shared<'a>,
    store: Store,
    /// States to visit, with the length of the run that leads there; the next one last.
    pending: Vec<(T::State, u32)>,
    /// The run to the state now visited, as states.
    path: Vec<T::State>,
    taken: Vec<bool>,
    transitions: u64,
    deepest: u64,
    /// Whether the limit on states left some out.
    cut: bool,
}

impl<T: TransitionSystem> DepthFirst<'_, T> {
    fn run(&mut self) -> Found {
        let mut visits = 0;
        while let Some((state, depth)) = self.pending.pop() {
            visits += 1;
            if visits % A_CHECK == 0 {
                self.look_up();
            }
            if let Some(limit) = self.shared.stopped() {
                return Found::Stopped(limit);
            }
            if !self.make_room() {
                continue;
            }
            if !self.store.insert(&state) {
                continue;
            }
            self.path.truncate(depth as usize);
            if self.path.len() == self.path.capacity()
                && !self.has_room_for(self.path.capacity() * size_of::<T::State>())
            {
                continue;
            }
            self.path.push(state);
            self.deepest = self.deepest.max(u64::from(depth));
            if let Some(goal) = self.system.goal(&state).or_else(|| self.expand(&state, depth)) {
                return self.steps().map_or(Found::Stopped(Limit::Interrupted), |run| Found::Goal(goal, run));
            }
            // Judged before counted: the state that uses up the budget may still be the goal.
            if u64::from(self.store.len()) >= self.shared.most_states && !self.pending.is_empty() {
                return self.nothing_new_pending();
            }
        }
        let cut = self.cut.then_some(Limit::States);
        self.shared.stopped().or(cut).map_or(Found::Nothing, Found::Stopped)
    }

    /// Puts the successors on the stack, the first on top. The goal that the state shows if there are none.
    fn expand(&mut self, state: &T::State, depth: u32) -> Option<weir_witness::Goal> {
        let first = self.pending.len();
        let mut emitted = 0_u64;
        self.system.successors(state, &mut |StepCode { number, .. }, next| {
            let full = self.pending.len() == self.pending.capacity();
            if full && !self.has_room_for(self.pending.capacity() * size_of::<(T::State, u32)>()) {
                return false;
            }
            self.taken[number as usize] = true;
            self.pending.push((next, depth + 1));
            emitted += 1;
            // A choice among more values than there may be states is cut short: the budget cannot hold them anyway.
            self.cut |= emitted > self.shared.most_states;
            !self.cut && (!emitted.is_multiple_of(A_CHECK) || !self.shared.must_stop(0))
        });
        self.transitions += emitted;
        self.pending[first..].reverse();
        if emitted == 0 { self.system.deadlock_goal(state) } else { None }
    }

    /// The budget of states is used up: if all that is pending was visited before, the search was complete.
    fn nothing_new_pending(&mut self) -> Found {
        let known = |(state, _): &(T::State, u32)| self.store.contains(state);
        if !self.cut && self.pending.iter().all(known) { Found::Nothing } else { Found::Stopped(Limit::States) }
    }

    fn make_room(&mut self) -> bool {
        let growth = self.store.growth(1);
        if growth > 0 && self.shared.must_stop(growth) {
            return false;
        }
        let room = self.store.reserve(1).is_ok();
        if !room {
            self.shared.stop(Limit::Memory);
        }
        room
    }

    /// Whether the budget has room for a stack to grow by `bytes`: it doubles when it is full, and with large states
    /// that is more than all else between two looks at memory.
    fn has_room_for(&self, bytes: usize) -> bool {
        self.shared.stored_bytes.store(self.bytes(), Ordering::Relaxed);
        !self.shared.must_stop(bytes as u64)
    }

    fn steps(&self) -> Option<Vec<StepCode>> {
        self.path.windows(2).map(|pair| step_between(self.system, &pair[0], &pair[1])).collect()
    }

    fn bytes(&self) -> u64 {
        let entries =
            self.pending.capacity() * size_of::<(T::State, u32)>() + self.path.capacity() * size_of::<T::State>();
        self.store.bytes() + entries as u64 + self.system.side_bytes()
    }

    fn look_up(&mut self) {
        self.shared.stored_bytes.store(self.bytes(), Ordering::Relaxed);
        self.shared.must_stop(0);
        let (states, open, depth) = (self.store.len(), self.pending.len(), self.path.len());
        let progress =
            || Progress { states: states.into(), open: open as u64, depth: depth as u64, ..Progress::default() };
        self.shared.report(progress);
    }
}
