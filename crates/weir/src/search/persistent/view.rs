//! The closed sets of agents in one state.

use super::{Agents, BARRIER, CELLS, LOCK, MOST_THREADS, PersistentSets, flushes, instructions};
use crate::semantics::machine::{EdgeCode, Machine, Operation, Place};
use crate::semantics::state::Packed;
use weir_witness::Model;

/// A state, and what is known beforehand. What is asked about each thread again and again is worked out once.
pub(super) struct View<'a, const N: usize> {
    sets: &'a PersistentSets,
    machine: &'a Machine,
    state: &'a Packed<N>,
    /// Where each thread is.
    locations: [u32; MOST_THREADS],
    /// The agents of each thread that may ever move.
    agents: [Agents; MOST_THREADS],
    /// The flushes of the threads whose buffers hold stores.
    waiting: Agents,
    /// The thread that holds the lock.
    holder: Option<usize>,
}

impl<'a, const N: usize> View<'a, N> {
    pub(super) fn new(sets: &'a PersistentSets, machine: &'a Machine, state: &'a Packed<N>) -> Self {
        let holder = machine.layout.lock.and_then(|lock| (state.raw(lock) as usize).checked_sub(1));
        let (locations, agents) = ([0; MOST_THREADS], [0; MOST_THREADS]);
        let mut view = Self { sets, machine, state, locations, agents, waiting: 0, holder };
        for thread in 0..sets.threads.len() {
            view.locations[thread] = state.raw(machine.threads[thread].location) as u32;
            let moves = if view.edges(thread).next().is_some() { instructions(thread) } else { 0 };
            let mut waits = 0;
            if sets.model == Model::Tso && machine.layout.buffers[thread].is_some() {
                let is_drained = machine.buffer(state, thread) == 0;
                view.waiting |= if is_drained { 0 } else { flushes(thread) };
                waits = if moves != 0 || !is_drained { flushes(thread) } else { 0 };
            }
            view.agents[thread] = moves | waits;
        }
        view
    }

    /// The smallest closed set around each agent that may move, if its steps keep all goals; each set once, and not the
    /// one of all agents.
    pub(super) fn closed_sets(&self) -> Vec<Agents> {
        let everything = self.agents.iter().fold(0, |all, agents| all | agents);
        let mut needs = [0; 2 * MOST_THREADS];
        let mut hopeless: Agents = 0;
        for agent in members(everything) {
            match self.needed_by(agent) {
                Some(needed) => needs[agent] = needed,
                None => hopeless |= 1 << agent,
            }
        }
        let mut found: Vec<Agents> = Vec::new();
        for seed in members(everything & !hopeless) {
            let set = closure(1 << seed, &needs, hopeless);
            if let Some(set) = set.filter(|set| *set != everything && !found.contains(set)) {
                found.push(set);
            }
        }
        found
    }

    /// The agents without which this one cannot be in a set; `None` if no set with it keeps all goals.
    fn needed_by(&self, agent: usize) -> Option<Agents> {
        if agent.is_multiple_of(2) { self.next_to(agent / 2) } else { self.flushed_with(agent / 2) }
    }

    /// The edges that the thread may take next, with their numbers within its body.
    fn edges(&self, thread: usize) -> impl Iterator<Item = (usize, &'a EdgeCode)> + use<'a, N> {
        let code = &self.machine.threads[thread];
        code.edges_at(self.state).iter().map(|edge| ((edge.number - code.first_number) as usize, edge))
    }

    /// The agents without which the instructions of a thread cannot be in the set.
    fn next_to(&self, thread: usize) -> Option<Agents> {
        let mut needed = 0;
        for (number, edge) in self.edges(thread) {
            if !self.sets.threads[thread].keeps_goals[number] {
                return None;
            }
            needed |= match &edge.operation {
                Operation::Skip
                | Operation::Assign(..)
                | Operation::Assume(_)
                | Operation::Assert(..)
                | Operation::Havoc(..) => 0,
                Operation::Store(place, _) if self.sets.model == Model::Sc => {
                    self.beside(thread, self.cell(place), true) | self.beside(thread, LOCK, false)
                }
                // Goals are judged once stores are in memory, where this one cannot get before the lock is released.
                Operation::Store(..) if self.machine.locked_out(self.state, thread) => return None,
                // Nor can it once another thread has taken the lock.
                Operation::Store(..) => self.beside(thread, BARRIER, false) | self.beside(thread, LOCK, false),
                Operation::Load(_, place) => self.loading(thread, place),
                Operation::Snapshot(loads) | Operation::Await(loads, _) => {
                    loads.iter().fold(0, |needed, (_, place)| needed | self.loading(thread, place))
                }
                Operation::Fence => self.own_flushes(thread),
                Operation::ReadModifyWrite(_, place, _) => {
                    self.own_flushes(thread)
                        | self.beside(thread, self.cell(place), true)
                        | self.beside(thread, LOCK, false)
                }
                Operation::Lock | Operation::Unlock => self.own_flushes(thread) | self.beside(thread, LOCK, true),
                Operation::Membarrier if self.sets.model == Model::Sc => 0,
                Operation::Membarrier | Operation::Spawn(_) => return None,
            };
        }
        Some(needed)
    }

    fn cell(&self, place: &Place) -> usize {
        self.sets.object(self.machine.address(self.machine.target(self.state, place)))
    }

    fn loading(&self, thread: usize, place: &Place) -> Agents {
        let object = self.cell(place);
        let others = self.beside(thread, object, false) | self.beside(thread, LOCK, false);
        // What is read from the own buffer is in memory later, where others may replace it.
        if others != 0 && self.waits(thread, object) { others | flushes(thread) } else { others }
    }

    /// The flushes of a thread that waits for an empty buffer.
    fn own_flushes(&self, thread: usize) -> Agents {
        self.waiting & flushes(thread)
    }

    /// The agents without which the flushes of a thread cannot be in the set.
    fn flushed_with(&self, thread: usize) -> Option<Agents> {
        let Some((address, _)) = self.machine.buffers.oldest(self.machine.buffer(self.state, thread)) else {
            // Its next store is what the flush waits for.
            return Some(self.agents[thread] & instructions(thread));
        };
        let object = self.sets.object(address);
        let others = [(object, true), (LOCK, false), (BARRIER, false)];
        (!self.sets.is_observed[object])
            .then(|| others.iter().fold(0, |all, &(object, writes)| all | self.beside(thread, object, writes)))
    }

    /// The agents of other threads that may come to access the object in a way that conflicts.
    fn beside(&self, thread: usize, object: usize, writes: bool) -> Agents {
        // While a thread holds the lock, no other one accesses memory.
        let holds_lock = self.holder == Some(thread);
        if holds_lock && object != BARRIER || !writes && !self.sets.is_written[object] {
            return 0;
        }
        let mut agents = 0;
        for (other, facts) in self.sets.threads.iter().enumerate().filter(|(other, _)| *other != thread) {
            let location = self.locations[other] as usize;
            if facts.writes.contains(location, object) || writes && facts.reads.contains(location, object) {
                agents |= self.agents[other];
            } else if self.waits_in_conflict(other, object, writes) {
                agents |= flushes(other);
            }
        }
        agents
    }

    /// Whether a store waits in the buffer whose flush would conflict.
    fn waits_in_conflict(&self, thread: usize, object: usize, writes: bool) -> bool {
        if object >= CELLS {
            return self.waits(thread, object);
        }
        writes && self.waiting & flushes(thread) != 0
    }

    /// Whether a store to the object waits in the buffer of the thread.
    fn waits(&self, thread: usize, object: usize) -> bool {
        if self.waiting & flushes(thread) == 0 {
            return false;
        }
        let mut entries = self.machine.buffers.entries(self.machine.buffer(self.state, thread));
        entries.any(|(address, _)| self.sets.object(address) == object)
    }
}

/// The numbers of the agents in a set, ascending.
fn members(mut set: Agents) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(member)
    })
}

/// The smallest set around this one that has what its members need; `None` if it has one that is hopeless.
fn closure(seed: Agents, needs: &[Agents], hopeless: Agents) -> Option<Agents> {
    let (mut set, mut open) = (seed, seed);
    while open != 0 {
        if set & hopeless != 0 {
            return None;
        }
        let agent = open.trailing_zeros() as usize;
        open &= open - 1;
        let added = needs[agent] & !set;
        open |= added;
        set |= added;
    }
    (set & hopeless == 0).then_some(set)
}
