//! The graph of all states, for questions that take more than visiting each of them once.

use rustc_hash::FxHashMap;
use weir_ir::flow::{Graph, for_each_component};

use crate::search::step_between;
use crate::semantics::machine::{MemoryModel, System};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Progress, Session};
use crate::verdict::Limit;

/// All states and steps, as far as they are known.
pub(super) struct StateGraph<const N: usize> {
    /// In breadth-first order; the first so many of them were expanded.
    pub(super) states: Vec<Packed<N>>,
    index: FxHashMap<Packed<N>, u32>,
    /// Who first led to each state.
    parents: Vec<u32>,
    /// `successors[first[s]..first[s + 1]]` follow the expanded state `s`.
    first: Vec<usize>,
    pub(super) successors: Vec<u32>,
    /// Which steps were taken.
    pub(super) taken: Vec<bool>,
}

/// How often limits are checked.
const PERIOD: usize = 1024;

impl<const N: usize> Graph for StateGraph<N> {
    fn size(&self) -> usize {
        self.states.len()
    }

    fn successor(&self, state: usize, number: usize) -> Option<usize> {
        self.of(state as u32).get(number).map(|&next| next as usize)
    }
}

impl<const N: usize> StateGraph<N> {
    pub(super) fn new<M: MemoryModel>(system: &System<'_, M, N>) -> Self {
        let initial = system.initial();
        Self {
            states: vec![initial],
            index: FxHashMap::from_iter([(initial, 0)]),
            parents: vec![0],
            first: vec![0],
            successors: Vec::new(),
            taken: vec![false; system.step_count()],
        }
    }

    /// Expands all states; the limit that ended this, if one did.
    pub(super) fn explore<M: MemoryModel>(&mut self, system: &System<'_, M, N>, session: &Session) -> Option<Limit> {
        self.explore_until(usize::MAX, system, session)
    }

    /// Expands states until there is none left, or this many are expanded; the limit that ended this, if one did.
    pub(super) fn explore_until<M: MemoryModel>(
        &mut self,
        expanded: usize,
        system: &System<'_, M, N>,
        session: &Session,
    ) -> Option<Limit> {
        let most = session.states_left();
        while self.expanded() < self.states.len().min(expanded) {
            let number = self.expanded();
            if number.is_multiple_of(PERIOD) {
                let limit = session.exceeded_with(self.bytes() + system.side_bytes(), 0);
                if limit.is_some() {
                    return limit;
                }
                let (states, open) = (self.states.len() as u64, (self.states.len() - number) as u64);
                session.report(Progress { states, open, ..Progress::default() });
            }
            if !self.expand(system, number as u32, most) {
                return Some(Limit::States);
            }
        }
        None
    }

    pub(super) fn expanded(&self) -> usize {
        self.first.len() - 1
    }

    /// Notes what follows a state; false if there is no room for it.
    fn expand<M: MemoryModel>(&mut self, system: &System<'_, M, N>, number: u32, most: u64) -> bool {
        let from = self.states[number as usize];
        let before = self.successors.len();
        let mut has_room = true;
        system.each_successor(&from, &mut |step, next| {
            let fresh = self.states.len() as u32;
            let known = *self.index.entry(next).or_insert(fresh);
            if known == fresh {
                self.states.push(next);
                self.parents.push(number);
            }
            has_room = self.states.len() as u64 <= most && fresh < u32::MAX - 1;
            self.taken[step.number as usize] = true;
            self.successors.push(known);
            has_room
        });
        if has_room {
            self.first.push(self.successors.len());
        } else {
            self.successors.truncate(before);
        }
        has_room
    }

    pub(super) fn of(&self, state: u32) -> &[u32] {
        match self.first.get(state as usize + 1) {
            Some(&end) => &self.successors[self.first[state as usize]..end],
            None => &[],
        }
    }

    /// Who leads to each state.
    pub(super) fn predecessors(&self) -> Vec<Vec<u32>> {
        let mut backward = vec![Vec::new(); self.states.len()];
        for from in 0..self.expanded() as u32 {
            self.of(from).iter().for_each(|&to| backward[to as usize].push(from));
        }
        backward
    }

    /// Calls `visit` with each bottom component all states of which were expanded.
    pub(super) fn for_each_bottom_component(&self, mut visit: impl FnMut(&[usize])) {
        for_each_component(self, |component| {
            let stays = |&next: &u32| component.binary_search(&(next as usize)).is_ok();
            let is_closed = |&state: &usize| state < self.expanded() && self.of(state as u32).iter().all(stays);
            if component.iter().all(is_closed) {
                visit(component);
            }
        });
    }

    /// The steps of a shortest run to a state.
    pub(super) fn run_to<M: MemoryModel>(&self, system: &System<'_, M, N>, state: u32) -> Option<Vec<StepCode>> {
        let mut run = Vec::new();
        let mut at = state;
        while at != 0 {
            let before = self.parents[at as usize];
            run.push(step_between(system, &self.states[before as usize], &self.states[at as usize])?);
            at = before;
        }
        run.reverse();
        Some(run)
    }

    /// Bytes held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let state = size_of::<Packed<N>>();
        (self.states.capacity() * (state + size_of::<u32>() + size_of::<usize>())
            + self.index.capacity() * (state + size_of::<u32>() + 1)
            + self.successors.capacity() * size_of::<u32>()) as u64
    }
}
