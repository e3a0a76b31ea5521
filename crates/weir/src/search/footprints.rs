//! Footprints: what the agents of a program access next in a state, and which of them have to move together.
//!
//! A thread's instructions and its flushes are agents of their own, as for [persistent sets](super::persistent). Here a
//! set of agents is closed with respect to a *summary*, which says for each agent what it may access before an agent in
//! the set moves. Whether the set is persistent depends on where the summary comes from: what the code may access
//! statically, or what was seen below the state ([`dynamic`](super::dynamic)).
//!
//! The accesses of a step in the set and those in a summary differ in three ways. What a read-modify-write does is known
//! in the state, but later it may write. A `membarrier` of another thread waits for a flush, and does not disturb it. And
//! a store must not be taken while others may take the global lock: goals are judged at drained states, and it could not
//! be flushed.

use weir_ir::Address;
use weir_witness::Model;

use super::persistent::{Agents, BARRIER, LOCK, PersistentSets, flushes, instructions};
use crate::semantics::layout::Target;
use crate::semantics::machine::{EdgeCode, Machine, Operation, Place};
use crate::semantics::state::Packed;

/// So many stores of each buffer are looked at to guess what its thread will access.
const MOST_ENTRIES: usize = 16;

/// For each agent a set of objects that it reads, then one that it writes.
pub(crate) type Row = [u64];

/// The footprints of a compiled program.
pub(crate) struct Footprints<'a> {
    sets: &'a PersistentSets,
    machine: &'a Machine,
    /// For each object its bit in the sets, if steps of different threads can be in conflict about it.
    bits: Vec<Option<u32>>,
    /// Words of a set.
    words: usize,
    /// No object, all, and that of a `membarrier` only.
    nothing: Box<[u64]>,
    everything: Box<[u64]>,
    barrier: Box<[u64]>,
    /// For each thread and location, what it may read from there on, then what it may write.
    ahead: Vec<Vec<Box<[u64]>>>,
}

/// The next steps in a state.
pub(crate) struct Next {
    /// The agents that have a next step, whether or not it can be taken now.
    pub(crate) agents: Agents,
    /// Those that can take it now.
    pub(crate) enabled: Agents,
    /// Those whose next step can make a goal false.
    hiding: Agents,
    /// The instructions that wait for the thread's own flushes.
    waiting: Agents,
    /// The thread that holds the global lock.
    holder: Option<usize>,
    /// What the steps access now.
    now: Vec<u64>,
    /// What they may access when others have moved.
    pub(crate) later: Vec<u64>,
    /// For each thread, what it reads from its own buffer.
    served: Vec<u64>,
}

impl<'a> Footprints<'a> {
    pub(crate) fn new(sets: &'a PersistentSets, machine: &'a Machine) -> Self {
        let (bits, count) = sets.conflicting();
        let words = count.div_ceil(64);
        let objects: Vec<(usize, u32)> = bits.iter().enumerate().filter_map(|(at, bit)| Some((at, (*bit)?))).collect();
        let mut ahead = Vec::new();
        for thread in 0..machine.threads.len() {
            let locations = 0..machine.threads[thread].first.len().saturating_sub(1);
            let set = |location| {
                let mut set = vec![0; 2 * words].into_boxed_slice();
                for &(object, bit) in &objects {
                    let (reads, writes) = sets.ahead(thread, location, object);
                    insert(&mut set[..words], bit, reads);
                    insert(&mut set[words..], bit, writes);
                }
                set
            };
            ahead.push(locations.map(set).collect());
        }
        let set = |word| vec![word; words].into_boxed_slice();
        let mut barrier = set(0);
        bits[BARRIER].iter().for_each(|&bit| insert(&mut barrier, bit, true));
        Self { sets, machine, words, nothing: set(0), everything: set(u64::MAX), barrier, bits, ahead }
    }

    fn threads(&self) -> usize {
        self.machine.threads.len()
    }

    /// Words of a row.
    pub(crate) fn row_words(&self) -> usize {
        4 * self.threads() * self.words
    }

    fn reads<'r>(&self, row: &'r Row, agent: usize) -> &'r [u64] {
        &row[2 * agent * self.words..][..self.words]
    }

    fn writes<'r>(&self, row: &'r Row, agent: usize) -> &'r [u64] {
        &row[(2 * agent + 1) * self.words..][..self.words]
    }

    fn mark(&self, row: &mut Row, agent: usize, object: usize, writes: bool) {
        let start = (2 * agent + usize::from(writes)) * self.words;
        if let Some(bit) = self.bits[object] {
            insert(&mut row[start..][..self.words], bit, true);
        }
    }

    /// The next steps of a state in which these agents can move.
    pub(crate) fn next<const N: usize>(&self, state: &Packed<N>, enabled: Agents) -> Next {
        let mut next = self.no_step(state, enabled);
        for thread in 0..self.threads() {
            self.add_instructions(&mut next, state, thread);
            self.add_flush(&mut next, state, thread);
        }
        next.hiding &= enabled;
        next
    }

    /// What the next step of one agent may access (a set of objects that it reads, then one that it writes), and
    /// whether it can make a goal false.
    pub(super) fn next_of<const N: usize>(&self, state: &Packed<N>, agent: usize, enabled: Agents) -> (Vec<u64>, bool) {
        let mut next = self.no_step(state, enabled);
        if agent.is_multiple_of(2) {
            self.add_instructions(&mut next, state, agent / 2);
        } else {
            self.add_flush(&mut next, state, agent / 2);
        }
        let part = |row: &Row| row[2 * agent * self.words..][..2 * self.words].to_vec();
        let both = part(&next.now).iter().zip(part(&next.later)).map(|(now, later)| now | later).collect();
        (both, next.hiding & enabled != 0)
    }

    fn no_step<const N: usize>(&self, state: &Packed<N>, enabled: Agents) -> Next {
        Next {
            agents: enabled,
            enabled,
            hiding: 0,
            waiting: 0,
            holder: self.holder(state),
            now: vec![0; self.row_words()],
            later: vec![0; self.row_words()],
            served: vec![0; self.threads() * self.words],
        }
    }

    /// The thread that holds the global lock.
    pub(super) fn holder<const N: usize>(&self, state: &Packed<N>) -> Option<usize> {
        self.machine.layout.lock.and_then(|lock| (state.raw(lock) as usize).checked_sub(1))
    }

    fn add_instructions<const N: usize>(&self, next: &mut Next, state: &Packed<N>, thread: usize) {
        for edge in self.machine.threads[thread].edges_at(state) {
            self.add_instruction(next, state, thread, edge);
        }
    }

    fn add_instruction<const N: usize>(&self, next: &mut Next, state: &Packed<N>, thread: usize, edge: &EdgeCode) {
        if matches!(&edge.operation, Operation::Assume(condition) if condition.eval(state) == 0) {
            return;
        }
        next.agents |= instructions(thread);
        let number = (edge.number - self.machine.threads[thread].first_number) as usize;
        let mut hides = self.judges() && !self.sets.keeps_goals(thread, number);
        if drains(&edge.operation) {
            let waits = self.buffer(state, thread) != 0;
            self.add_draining(next, state, thread, &edge.operation);
            next.waiting |= if waits { instructions(thread) } else { 0 };
            let is_drained = (0..self.threads()).all(|other| self.buffer(state, other) == 0);
            hides |= self.judges() && matches!(edge.operation, Operation::Lock) && !is_drained;
        }
        let agent = 2 * thread;
        match &edge.operation {
            Operation::Store(place, _) if self.sets.model() == Model::Sc => {
                self.add(next, agent, self.object(state, place), true);
            }
            Operation::Store(..) => {
                self.mark(&mut next.now, agent, BARRIER, false);
                self.mark(&mut next.later, agent, BARRIER, false);
                if self.judges() {
                    self.mark(&mut next.now, agent, LOCK, false);
                    hides |= self.machine.locked_out(state, thread);
                }
            }
            Operation::Load(_, place) => self.add_load(next, state, thread, place),
            Operation::Snapshot(loads) | Operation::Await(loads, _) => {
                loads.iter().for_each(|(_, place)| self.add_load(next, state, thread, place));
            }
            // Those that drain were added above; the others access nothing.
            _ => {}
        }
        next.hiding |= if hides { instructions(thread) } else { 0 };
    }

    /// An instruction that needs an empty buffer. While it waits for its own flushes, only these matter now.
    fn add_draining<const N: usize>(&self, next: &mut Next, state: &Packed<N>, thread: usize, operation: &Operation) {
        let mut add = |object, (writes, may_write)| {
            self.mark(&mut next.later, 2 * thread, object, may_write);
            if self.buffer(state, thread) == 0 {
                self.mark(&mut next.now, 2 * thread, object, writes);
            }
        };
        match operation {
            Operation::ReadModifyWrite(_, place, _) => {
                let writes = self.machine.access(state, operation).is_none_or(|(_, writes)| writes);
                add(self.object(state, place), (writes, true));
                add(LOCK, (false, false));
            }
            Operation::Lock | Operation::Unlock => add(LOCK, (true, true)),
            Operation::Membarrier if self.sets.model() == Model::Tso => add(BARRIER, (true, true)),
            _ => {}
        }
    }

    fn add_flush<const N: usize>(&self, next: &mut Next, state: &Packed<N>, thread: usize) {
        let Some((address, _)) = self.machine.buffers.oldest(self.buffer(state, thread)) else { return };
        let (agent, object) = (2 * thread + 1, self.sets.object(address));
        self.add(next, agent, object, true);
        self.mark(&mut next.later, agent, BARRIER, false);
        next.agents |= flushes(thread);
    }

    fn add_load<const N: usize>(&self, next: &mut Next, state: &Packed<N>, thread: usize, place: &Place) {
        let target = self.machine.target(state, place);
        let object = self.object_of(target);
        let buffer = self.buffer(state, thread);
        let is_served = buffer != 0 && self.machine.buffers.newest(buffer, self.machine.address(target)).is_some();
        if is_served {
            if let Some(bit) = self.bits[object] {
                insert(&mut next.served[thread * self.words..][..self.words], bit, true);
            }
            self.add_locking(next, 2 * thread);
        } else {
            self.add(next, 2 * thread, object, false);
        }
    }

    /// An access of memory.
    fn add(&self, next: &mut Next, agent: usize, object: usize, writes: bool) {
        self.mark(&mut next.now, agent, object, writes);
        self.mark(&mut next.later, agent, object, writes);
        self.add_locking(next, agent);
    }

    fn add_locking(&self, next: &mut Next, agent: usize) {
        self.mark(&mut next.now, agent, LOCK, false);
        self.mark(&mut next.later, agent, LOCK, false);
    }

    /// Whether flushes alone lead to a drained state, and none of them changes a cell that a goal observes.
    pub(super) fn drains_invisibly<const N: usize>(&self, state: &Packed<N>) -> bool {
        (0..self.threads()).all(|thread| {
            let buffer = self.buffer(state, thread);
            let is_visible = |(address, _): (Address, _)| self.sets.is_observed(self.sets.object(address));
            buffer == 0
                || !self.machine.locked_out(state, thread) && !self.machine.buffers.entries(buffer).any(is_visible)
        })
    }

    /// Whether a thread that moves between these locations moves forwards.
    pub(super) fn is_forwards(&self, thread: usize, from: usize, to: usize) -> bool {
        self.sets.is_forwards(thread, from, to)
    }

    /// Whether goals are conditions on drained states, so that steps may make them false.
    fn judges(&self) -> bool {
        !self.machine.goals.drained.is_empty()
    }

    fn buffer<const N: usize>(&self, state: &Packed<N>, thread: usize) -> u64 {
        if self.sets.model() == Model::Sc { 0 } else { self.machine.buffer(state, thread) }
    }

    fn object<const N: usize>(&self, state: &Packed<N>, place: &Place) -> usize {
        self.object_of(self.machine.target(state, place))
    }

    fn object_of(&self, target: Target) -> usize {
        self.sets.object(self.machine.address(target))
    }

    /// A summary of what threads may access from this state on, whatever they do: good enough to choose by.
    pub(crate) fn ahead<const N: usize>(&self, state: &Packed<N>) -> Vec<u64> {
        let mut row = vec![0; self.row_words()];
        for thread in 0..self.threads() {
            let location = state.raw(self.machine.threads[thread].location) as usize;
            for agent in [2 * thread, 2 * thread + 1] {
                if let Some(set) = self.ahead[thread].get(location) {
                    row[2 * agent * self.words..][..2 * self.words].copy_from_slice(set);
                }
            }
            let buffer = self.buffer(state, thread);
            if buffer != 0 {
                self.mark(&mut row, 2 * thread + 1, LOCK, false);
                self.mark(&mut row, 2 * thread + 1, BARRIER, false);
            }
            for (address, _) in self.machine.buffers.entries(buffer).take(MOST_ENTRIES) {
                self.mark(&mut row, 2 * thread + 1, self.sets.object(address), true);
            }
        }
        row
    }

    /// The smallest set with these agents in it that is closed with respect to the summary; all agents if a step of
    /// the set can make a goal false.
    pub(crate) fn closed(&self, next: &Next, seed: Agents, summary: &Row) -> Agents {
        let (mut set, mut open) = (seed, seed);
        while open != 0 {
            let agent = open.trailing_zeros() as usize;
            open &= open - 1;
            let needed = self.needed(next, agent, set, summary);
            open |= needed & !set;
            set |= needed;
        }
        if set & next.hiding == 0 { set & next.agents } else { next.agents }
    }

    /// The agents without which this one cannot be in the set.
    fn needed(&self, next: &Next, agent: usize, set: Agents, summary: &Row) -> Agents {
        let thread = agent / 2;
        if next.agents >> agent & 1 == 0 {
            // Its next store is what the flush waits for.
            return if agent.is_multiple_of(2) { 0 } else { instructions(thread) };
        }
        let mut needed = if next.waiting >> agent & 1 == 0 { 0 } else { flushes(thread) };
        let (reads, writes) = (self.reads(&next.now, agent), self.writes(&next.now, agent));
        needed |= self.in_conflict(next, thread, (reads, writes), summary);
        // What is read from the own buffer is in memory later, where others may replace it.
        let served = &next.served[thread * self.words..][..self.words];
        if agent.is_multiple_of(2) && self.in_conflict(next, thread, (served, &self.nothing), summary) != 0 {
            needed |= flushes(thread);
        }
        needed & !set
    }

    /// Words of a set of objects that are read and one of objects that are written.
    pub(super) fn set_words(&self) -> usize {
        2 * self.words
    }

    /// Whether accesses of two threads are in conflict.
    pub(super) fn meet(&self, left: &[u64], right: &[u64]) -> bool {
        let ((reads, writes), (others_read, others_write)) = (left.split_at(self.words), right.split_at(self.words));
        (0..self.words).any(|at| writes[at] & (others_read[at] | others_write[at]) | reads[at] & others_write[at] != 0)
    }

    /// The agents that can ever move, by number.
    pub(super) fn agents(&self) -> impl Iterator<Item = usize> {
        let step = if self.sets.model() == Model::Sc { 2 } else { 1 };
        (0..2 * self.threads()).step_by(step)
    }

    /// The agents of other threads with an access in the summary that conflicts with one of these.
    fn in_conflict(&self, next: &Next, thread: usize, (reads, writes): (&[u64], &[u64]), summary: &Row) -> Agents {
        // While a thread holds the lock, no other one accesses memory.
        let counts = if next.holder == Some(thread) { &self.barrier } else { &self.everything };
        let others = (0..2 * self.threads()).filter(|agent| agent / 2 != thread);
        others.fold(0, |found, agent| {
            let (others_read, others_write) = (self.reads(summary, agent), self.writes(summary, agent));
            let conflicts = |at: usize| {
                let written = writes[at] & (others_read[at] | others_write[at]);
                counts[at] & (written | reads[at] & others_write[at]) != 0
            };
            found | if (0..self.words).any(conflicts) { 1 << agent } else { 0 }
        })
    }
}

/// Whether an instruction needs an empty buffer.
fn drains(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Fence | Operation::Membarrier | Operation::ReadModifyWrite(..) | Operation::Lock | Operation::Unlock
    )
}

fn insert(set: &mut [u64], bit: u32, present: bool) {
    if present {
        set[bit as usize / 64] |= 1 << (bit % 64);
    }
}
