//! Persistent sets: in a state, only the steps of some threads are taken, if whatever the others do first leaves these
//! steps as they are.
//!
//! A thread's instructions and its flushes are agents of their own. A set of agents is closed if no agent outside can
//! ever access, before an agent inside moves, what an agent inside accesses next, unless both only read. What a thread
//! may still access from a location onwards is known statically, from the ranges of its addresses; what its buffer
//! holds is known exactly. The global lock is one more object, which every access of memory reads and which taking and
//! releasing it write; so is what a `membarrier` of another thread waits for, which stores and flushes read. An agent
//! that waits for another (a fence for the flush of a store) brings that one into the set.
//!
//! Two conditions keep the goals. No step of the set may make a goal false ([`observed`](super::observed)), so that a
//! goal that is reached without these steps is also reached after them. And the cycle proviso: a set is used only if
//! each instruction in it moves its thread forwards, in one fixed order of the locations of its body. On every cycle of
//! states some thread moves backwards, so some state on it is expanded in full, and no thread is ignored for ever.
//! Both depend on the state alone, so the states that are visited do not depend on the order of the search.
//!
//! Direction of error: none, for goals in single states, deadlocks and final states.

mod view;

use std::collections::BTreeSet;

use weir_ir::flow::{Cfg, observed_registers};
use weir_ir::{Address, EdgeId, Gather, Instruction, LocId, Program, PropertyKind, Range, StateAtom, ThreadId};
use weir_witness::{Goal, Model};

use super::observed::ObservedPlaces;
use crate::semantics::compile::Compiled;
use crate::semantics::machine::Machine;
use crate::semantics::state::Packed;
use view::View;

/// The most threads for which sets of agents fit a word.
const MOST_THREADS: usize = 64;

/// The most bits of what threads may still access.
const MOST_BITS: usize = 1 << 26;

/// The object that stands for the global lock.
pub(super) const LOCK: usize = 0;
/// The object that stands for what a `membarrier` waits for.
pub(super) const BARRIER: usize = 1;
/// The first object that stands for cells.
const CELLS: usize = 2;

/// A set of agents: bit `2 t` for the instructions of thread `t`, bit `2 t + 1` for its flushes.
pub(super) type Agents = u128;

pub(super) fn instructions(thread: usize) -> Agents {
    1 << (2 * thread)
}

pub(super) fn flushes(thread: usize) -> Agents {
    2 << (2 * thread)
}

/// What is needed to find persistent sets.
pub(crate) struct PersistentSets {
    model: Model,
    /// The addresses that accesses tell apart: each object contains those from one of these up to the next.
    starts: Vec<Address>,
    threads: Vec<ThreadFacts>,
    /// For each object, whether a goal observes a cell of it.
    is_observed: Vec<bool>,
    /// For each object, whether some thread may write it.
    is_written: Vec<bool>,
}

struct ThreadFacts {
    /// For each location, what the thread may read from there on.
    reads: ObjectSets,
    /// The same for what it may write.
    writes: ObjectSets,
    /// For each edge, whether it can make no goal false.
    keeps_goals: Vec<bool>,
    /// For each location, its position in an order in which every cycle goes backwards.
    order: Vec<u32>,
}

/// A set of objects for each location.
struct ObjectSets {
    words: usize,
    bits: Vec<u64>,
}

impl ObjectSets {
    fn new(locations: usize, objects: usize) -> Self {
        let words = objects.div_ceil(64);
        Self { words, bits: vec![0; words * locations] }
    }

    fn contains(&self, location: usize, object: usize) -> bool {
        self.bits[location * self.words + object / 64] >> (object % 64) & 1 != 0
    }

    /// Whether the object is in the set of some location.
    fn has(&self, object: usize) -> bool {
        self.bits.chunks(self.words.max(1)).any(|set| set[object / 64] >> (object % 64) & 1 != 0)
    }

    fn insert(&mut self, location: usize, object: usize) {
        self.bits[location * self.words + object / 64] |= 1 << (object % 64);
    }

    /// Adds what is in the set of another location; whether that changed anything.
    fn include(&mut self, location: usize, other: usize) -> bool {
        let mut changed = false;
        for word in 0..self.words {
            let added = self.bits[other * self.words + word];
            let bits = &mut self.bits[location * self.words + word];
            changed |= added & !*bits != 0;
            *bits |= added;
        }
        changed
    }
}

/// What an instruction may access, before it is known in which state.
struct Accesses {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl PersistentSets {
    /// Those of a compiled program; `None` if it has something in it that this cannot tell about.
    pub(crate) fn new(program: &Program, compiled: &Compiled, model: Model, goals: &[Goal]) -> Option<Self> {
        let machine = &compiled.machine;
        let spawns = |thread: &ThreadId| {
            program.body(*thread).edges().iter().any(|edge| matches!(edge.instruction, Instruction::Spawn { .. }))
        };
        if compiled.threads.len() > MOST_THREADS
            || !machine.keeps_back.is_empty()
            || compiled.threads.iter().any(spawns)
        {
            return None;
        }
        let observed = observed_cells(program, goals);
        let starts = starts(program, compiled, &observed);
        let objects = CELLS + starts.len();
        let locations: usize = compiled.threads.iter().map(|&thread| program.body(thread).locations.len()).sum();
        if locations.saturating_mul(objects) > MOST_BITS {
            return None;
        }
        let mut sets =
            Self { model, starts, threads: Vec::new(), is_observed: vec![false; objects], is_written: Vec::new() };
        for address in observed {
            let object = sets.object(address);
            sets.is_observed[object] = true;
        }
        for &thread in &compiled.threads {
            let facts = sets.facts(program, compiled, thread, goals);
            sets.threads.push(facts);
        }
        let is_written = |object| sets.threads.iter().any(|facts| facts.writes.has(object));
        sets.is_written = (0..objects).map(is_written).collect();
        Some(sets)
    }

    /// The object that a cell belongs to.
    pub(super) fn object(&self, address: Address) -> usize {
        CELLS + self.starts.partition_point(|&start| start <= address).saturating_sub(1)
    }

    fn objects(&self, addresses: Range) -> impl Iterator<Item = usize> {
        self.object(addresses.low)..=self.object(addresses.high)
    }

    fn facts(&self, program: &Program, compiled: &Compiled, thread: ThreadId, goals: &[Goal]) -> ThreadFacts {
        let body = program.body(thread);
        let (cfg, objects) = (Cfg::of(body), self.is_observed.len());
        let (mut reads, mut writes) =
            (ObjectSets::new(body.locations.len(), objects), ObjectSets::new(body.locations.len(), objects));
        let mut keeps_goals = Vec::new();
        let places = ObservedPlaces::new(program, thread, goals);
        let registers = observed_registers(program, thread);
        for (number, edge) in body.edges().iter().enumerate() {
            let accesses = self.accesses(compiled, thread, EdgeId::new(number), &edge.instruction);
            accesses.reads.iter().for_each(|&object| reads.insert(edge.from.index(), object));
            accesses.writes.iter().for_each(|&object| writes.insert(edge.from.index(), object));
            let targets_pass = weir_ir::flow::targets(body, edge).all(|to| places.let_pass(edge.from, to));
            let hides_cell = accesses.writes.iter().any(|&object| self.is_observed[object]);
            let hides_register = edge.instruction.defines().any(|register| registers.contains(register));
            keeps_goals.push(targets_pass && !hides_cell && !hides_register);
        }
        let mut open: BTreeSet<LocId> = body.location_ids().gather();
        while let Some(location) = open.pop_last() {
            for &before in cfg.predecessors(location) {
                let more = reads.include(before.index(), location.index());
                if writes.include(before.index(), location.index()) || more {
                    open.insert(before);
                }
            }
        }
        let order = body.location_ids().map(|location| cfg.position(location).unwrap_or(u32::MAX)).collect();
        ThreadFacts { reads, writes, keeps_goals, order }
    }

    /// What an edge may access, in memory or by way of the buffer.
    fn accesses(&self, compiled: &Compiled, thread: ThreadId, edge: EdgeId, instruction: &Instruction) -> Accesses {
        let cells = compiled.ranges.addresses_of(thread, edge).iter().flat_map(|&range| self.objects(range));
        let mut accesses = Accesses { reads: Vec::new(), writes: Vec::new() };
        match instruction {
            Instruction::Store { .. } => {
                accesses.writes.extend(cells);
                accesses.reads.extend([LOCK, BARRIER]);
            }
            Instruction::ReadModifyWrite { .. } => {
                accesses.writes.extend(cells);
                accesses.reads.push(LOCK);
            }
            Instruction::Lock | Instruction::Unlock => accesses.writes.push(LOCK),
            Instruction::Membarrier if self.model == Model::Tso => accesses.writes.push(BARRIER),
            _ => {
                accesses.reads.extend(cells);
                if !accesses.reads.is_empty() {
                    accesses.reads.push(LOCK);
                }
            }
        }
        accesses
    }

    /// Tries the persistent sets of this state, the smallest first, until `takes` says that it has used one. It is
    /// called with the set, as a function that tells whether it has the instructions and the flushes of a thread.
    pub(crate) fn find<const N: usize>(
        &self,
        machine: &Machine,
        state: &Packed<N>,
        mut takes: impl FnMut(&dyn Fn(usize) -> (bool, bool)) -> bool,
    ) -> bool {
        let mut found = View::new(self, machine, state).closed_sets();
        smallest_first(&mut found);
        found.iter().any(|set| takes(&|thread| (set & instructions(thread) != 0, set & flushes(thread) != 0)))
    }

    pub(super) fn model(&self) -> Model {
        self.model
    }

    /// Whether a goal observes a cell of the object.
    pub(super) fn is_observed(&self, object: usize) -> bool {
        self.is_observed[object]
    }

    /// Whether the edge of this number can make no goal false.
    pub(super) fn keeps_goals(&self, thread: usize, edge: usize) -> bool {
        self.threads[thread].keeps_goals[edge]
    }

    /// Whether the thread may read or write the object from the location on.
    pub(super) fn ahead(&self, thread: usize, location: usize, object: usize) -> (bool, bool) {
        let facts = &self.threads[thread];
        (facts.reads.contains(location, object), facts.writes.contains(location, object))
    }

    /// Numbers the objects that one thread writes and another one accesses; with their number.
    pub(super) fn conflicting(&self) -> (Vec<Option<u32>>, usize) {
        let mut count = 0;
        let numbers = (0..self.is_observed.len()).map(|object| {
            let writers = self.threads.iter().filter(|facts| facts.writes.has(object)).count();
            let users = self.threads.iter().filter(|facts| facts.writes.has(object) || facts.reads.has(object)).count();
            (writers > 0 && users > 1).then(|| {
                count += 1;
                count - 1
            })
        });
        let numbers: Vec<Option<u32>> = numbers.collect();
        (numbers, count as usize)
    }

    /// Whether a thread that moves between these locations moves forwards.
    pub(crate) fn is_forwards(&self, thread: usize, from: usize, to: usize) -> bool {
        let order = &self.threads[thread].order;
        order[from] < order[to]
    }
}

/// Not part of a function that is compiled for each size of states: sorting is much code.
fn smallest_first(sets: &mut [Agents]) {
    sets.sort_by_key(|set| set.count_ones());
}

/// The cells that goals observe.
fn observed_cells(program: &Program, goals: &[Goal]) -> BTreeSet<Address> {
    let mut observed = BTreeSet::new();
    for goal in goals {
        let Goal::Property(property) = goal else { continue };
        let PropertyKind::Forbid(condition) = &program.properties[property.index()].kind else { continue };
        condition.for_each_leaf(&mut |atom| {
            if let StateAtom::Cell(address) = atom {
                observed.insert(*address);
            }
        });
    }
    observed
}

/// The ends of all ranges of addresses, between which no access tells cells apart.
fn starts(program: &Program, compiled: &Compiled, observed: &BTreeSet<Address>) -> Vec<Address> {
    let mut starts = BTreeSet::from([Address::MIN]);
    let mut add = |range: Range| {
        starts.insert(range.low);
        starts.extend(range.high.checked_add(1));
    };
    observed.iter().for_each(|&address| add(Range::single(address)));
    // Computed addresses are known when the step is taken, so cells that have names are told apart.
    let declared = program.shared.iter().flat_map(|shared| shared.addresses());
    declared.for_each(|address| add(Range::single(address)));
    for &thread in &compiled.threads {
        for number in 0..program.body(thread).edges().len() {
            compiled.ranges.addresses_of(thread, EdgeId::new(number)).iter().for_each(|&range| add(range));
        }
    }
    starts.into_iter().collect()
}

#[cfg(test)]
mod tests;
