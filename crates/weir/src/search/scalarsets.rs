//! Symmetry reduction with data: a system up to the numbering of threads.
//!
//! Of the states that differ only in the numbering of threads ([`scalarsets`](crate::semantics::scalarsets)) one is
//! visited, if possible: threads are sorted by a key that does not depend on their numbers, and everything that holds
//! numbers is renamed. The key of a thread is a hash of its own state, in which a number counts as "mine", "of another
//! thread of the class" or "none", and of what cells say about it; for threads with equal keys, also of the threads
//! that it refers to and that refer to it. Threads whose keys are still equal keep their order, so that some orbits
//! have more than one representative. That costs states, never correctness: the representative of a state is always in
//! its orbit.
//!
//! A representative depends on the content of a state alone, not on numbers that interning assigns.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use weir_ir::{Address, Instruction, Program, RegId, Value};

use crate::semantics::StepCode;
use crate::semantics::compile::Compiled;
use crate::semantics::layout::{Storage, Target};
use crate::semantics::machine::Machine;
use crate::semantics::scalarsets::{Family, Kind, MOST_THREADS, Symmetry, live_kinds};
use crate::semantics::state::{Field, Packed};

/// How states change when threads of a family change their numbers.
pub(crate) struct Renaming {
    /// By number.
    members: Vec<Member>,
    /// For each number its class, if it can be exchanged with others.
    class_of: Vec<Option<u64>>,
    classes: Vec<Vec<usize>>,
    /// Each class as a set.
    sets: Vec<u64>,
    /// Threads outside the family that may hold numbers.
    outside: Vec<Outside>,
    regions: Vec<Region>,
    /// Cells outside the regions that hold numbers, and their shifts.
    cells: Vec<(Field, Value)>,
    /// Which cells of regions there are, by address: the region and the number.
    places: BTreeMap<Address, (usize, usize)>,
    /// What stores to a cell contain: first and last address, and the shift of the numbers there.
    contents: Vec<(Address, Address, Value)>,
    /// Edges that choose a number, and its shift.
    choices: BTreeMap<u32, Value>,
}

struct Member {
    position: usize,
    location: Field,
    slots: Vec<Field>,
    buffer: Option<Field>,
    /// For each location the live registers, what they hold, and where.
    live: Vec<Vec<Held>>,
}

struct Outside {
    location: Field,
    buffer: Option<Field>,
    /// For each location the live registers that hold numbers or sets.
    live: Vec<Vec<(Field, Kind)>>,
}

struct Held {
    register: RegId,
    field: Field,
    kind: Kind,
}

struct Region {
    /// The cell of each thread.
    cells: Vec<Target>,
    shift: Option<Value>,
}

/// The representative of a state up to the numbering of the threads of these families.
pub(crate) fn representative<const N: usize>(families: &[Renaming], machine: &Machine, state: &Packed<N>) -> Packed<N> {
    families.iter().fold(*state, |state, family| match family.numbers(machine, &state) {
        Some(numbers) => family.rename(machine, &state, &numbers),
        None => state,
    })
}

/// New numbers, by old number.
pub(crate) type Numbers = [u8; MOST_THREADS];

/// With more stores in a buffer, a state is its own representative: renaming takes time proportional to the length, and
/// buffers that grow without bound would be copied over and over.
const MOST_STORES: usize = 16;

/// What a number is to a thread.
const MINE: u64 = 1;
const OTHERS: u64 = 2;
const NONE: u64 = 3;

/// A hash that is the same on every machine and in every run.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    #[inline]
    fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Renaming {
    /// How many threads the family has.
    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// The renamings of all families of a program.
    pub(crate) fn all(program: &Program, compiled: &Compiled, symmetry: &Symmetry) -> Vec<Self> {
        symmetry.families.iter().map(|family| Self::new(program, compiled, family)).collect()
    }

    fn new(program: &Program, compiled: &Compiled, family: &Family) -> Self {
        let (layout, kinds) = (&compiled.machine.layout, &family.kinds);
        let live = |position: usize| live_kinds(compiled, program, kinds, position);
        let member = |&position: &usize| {
            let held = |(register, field, kind)| Held { register, field, kind };
            Member {
                position,
                location: layout.threads[position].0,
                slots: layout.threads[position].1.clone(),
                buffer: layout.buffers[position],
                live: live(position).into_iter().map(|at| at.into_iter().map(held).collect()).collect(),
            }
        };
        let outside = |position: usize| {
            let numbers = |(_, field, kind): (RegId, Field, Kind)| (kind != Kind::Plain).then_some((field, kind));
            Outside {
                location: layout.threads[position].0,
                buffer: layout.buffers[position],
                live: live(position).into_iter().map(|at| at.into_iter().filter_map(numbers).collect()).collect(),
            }
        };
        let count = family.threads.len();
        let mut class_of = vec![None; count];
        for (class, numbers) in family.classes.iter().enumerate() {
            numbers.iter().for_each(|&number| class_of[number] = Some(class as u64));
        }
        let others = (0..compiled.threads.len()).filter(|position| !family.threads.contains(position));
        let mut renaming = Self {
            members: family.threads.iter().map(member).collect(),
            class_of,
            classes: family.classes.clone(),
            sets: family.classes.iter().map(|class| class.iter().fold(0, |set, number| set | 1 << number)).collect(),
            outside: others.map(outside).collect(),
            regions: Vec::new(),
            cells: Vec::new(),
            places: BTreeMap::new(),
            contents: Vec::new(),
            choices: choices(program, compiled, family),
        };
        renaming.memory(program, compiled, family);
        renaming
    }

    fn memory(&mut self, program: &Program, compiled: &Compiled, family: &Family) {
        let (cells, kinds) = (&compiled.machine.layout.cells, &family.kinds);
        for (shared, &kind) in program.shared.iter().zip(&kinds.contents) {
            let last = shared.addresses().last().unwrap_or(shared.address);
            if let Kind::Number(shift) = kind {
                self.contents.push((shared.address, last, shift));
            }
        }
        for (at, &base) in kinds.regions.iter().enumerate() {
            let addresses = (0..family.threads.len()).map(|number| base.wrapping_add(number as Address));
            self.places.extend(addresses.clone().enumerate().map(|(number, address)| (address, (at, number))));
            let shift = self.content(base);
            self.regions.push(Region { cells: addresses.map(|address| cells.target(address)).collect(), shift });
        }
        for cell in cells.iter().filter(|cell| !self.places.contains_key(&cell.address)) {
            if let (Some(shift), Storage::Field(field)) = (self.content(cell.address), cell.storage) {
                self.cells.push((field, shift));
            }
        }
    }

    /// The shift of the numbers in a cell, if it holds numbers.
    fn content(&self, address: Address) -> Option<Value> {
        let covers = |&&(first, last, _): &&(Address, Address, Value)| first <= address && address <= last;
        self.contents.iter().find(covers).map(|&(_, _, shift)| shift)
    }

    /// Whether stores in buffers look different to other threads.
    fn renames_stores(&self) -> bool {
        !self.places.is_empty() || !self.contents.is_empty()
    }

    /// What a value is to the thread `me`, whatever the numbering.
    #[inline]
    fn relative(&self, value: Value, shift: Value, me: usize) -> u64 {
        let number = value.wrapping_sub(shift) as u64;
        if number == me as u64 {
            return MINE;
        }
        match self.class_of.get(number as usize) {
            Some(Some(class)) => OTHERS + (class << 2),
            _ => NONE + (number << 2),
        }
    }

    /// What a value of this kind is to the thread `me`, whatever the numbering.
    #[inline]
    fn seen(&self, value: Value, kind: Kind, me: usize) -> u64 {
        match kind {
            Kind::Plain => value as u64,
            Kind::Number(shift) => self.relative(value, shift, me),
            Kind::Set => {
                let set = value as u64;
                let fixed = self.sets.iter().fold(set, |fixed, class| fixed & !class);
                let mut seen = Hash(fixed);
                seen.add(set >> me & 1);
                self.sets.iter().for_each(|class| seen.add((set & class).count_ones().into()));
                seen.0
            }
        }
    }

    /// The threads that a value of this kind stands for, of those that can be exchanged with others.
    #[inline]
    fn each_referred(&self, value: Value, kind: Kind, visit: &mut impl FnMut(usize)) {
        match kind {
            Kind::Plain => {}
            Kind::Number(shift) => {
                if let Some(number) = self.referred(value, shift) {
                    visit(number);
                }
            }
            Kind::Set => {
                let mut left = self.sets.iter().fold(0, |all, class| all | class) & value as u64;
                while left != 0 {
                    visit(left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        }
    }

    /// The thread that a value stands for, if it can be exchanged with others.
    #[inline]
    fn referred(&self, value: Value, shift: Value) -> Option<usize> {
        let number = value.wrapping_sub(shift) as u64 as usize;
        self.class_of.get(number).copied().flatten().map(|_| number)
    }

    /// The first key of a thread.
    fn key<const N: usize>(&self, machine: &Machine, state: &Packed<N>, me: usize) -> u64 {
        let member = &self.members[me];
        let location = state.raw(member.location);
        let mut key = Hash(location);
        for held in &member.live[location as usize] {
            key.add(self.seen(state.get(held.field), held.kind, me));
        }
        for region in &self.regions {
            let value = machine.read(state, region.cells[me]);
            key.add(region.shift.map_or(value as u64, |shift| self.relative(value, shift, me)));
        }
        for &(field, shift) in &self.cells {
            key.add(u64::from(state.get(field).wrapping_sub(shift) == me as Value));
        }
        for (number, thread) in self.outside.iter().enumerate() {
            for (register, &(field, kind)) in thread.live[state.raw(thread.location) as usize].iter().enumerate() {
                self.each_referred(state.get(field), kind, &mut |referred| {
                    if referred == me {
                        key.add((number as u64) << 32 | register as u64);
                    }
                });
            }
        }
        if let Some(lock) = machine.layout.lock {
            key.add(u64::from(state.raw(lock) == member.position as u64 + 1));
        }
        if let Some(buffer) = member.buffer {
            self.add_buffer(machine, state.raw(buffer), me, &mut key);
        }
        key.0
    }

    fn add_buffer(&self, machine: &Machine, buffer: u64, me: usize, key: &mut Hash) {
        for (address, value) in machine.buffers.entries(buffer).take(MOST_STORES) {
            match self.places.get(&address) {
                Some(&(region, number)) => {
                    key.add(region as u64);
                    key.add(self.relative(number as Value, 0, me));
                }
                None => key.add(address as u64),
            }
            key.add(self.content(address).map_or(value as u64, |shift| self.relative(value, shift, me)));
        }
    }

    /// Adds to the key of each thread those of the threads that it refers to and that refer to it.
    fn refine<const N: usize>(&self, machine: &Machine, state: &Packed<N>, keys: &[u64], refined: &mut [u64]) {
        refined.copy_from_slice(keys);
        let mut refer = |from: usize, to: Option<usize>, by: u64| {
            let Some(to) = to.filter(|&to| to != from) else { return };
            let mut out = Hash(keys[to]);
            out.add(by << 1);
            let mut back = Hash(keys[from]);
            back.add(by << 1 | 1);
            refined[from] = refined[from].wrapping_add(out.0);
            refined[to] = refined[to].wrapping_add(back.0);
        };
        for (me, member) in self.members.iter().enumerate() {
            for held in &member.live[state.raw(member.location) as usize] {
                let by = u64::from(held.register.0) << 8;
                self.each_referred(state.get(held.field), held.kind, &mut |to| refer(me, Some(to), by));
            }
            for (number, region) in self.regions.iter().enumerate() {
                let to = region.shift.and_then(|shift| self.referred(machine.read(state, region.cells[me]), shift));
                refer(me, to, (number as u64) << 8 | 1);
            }
            let Some(buffer) = member.buffer.filter(|_| self.renames_stores()) else { continue };
            for (at, (address, value)) in machine.buffers.entries(state.raw(buffer)).enumerate() {
                let place = self.places.get(&address).map(|&(_, number)| number);
                refer(me, place.and_then(|number| self.referred(number as Value, 0)), (at as u64) << 8 | 2);
                let to = self.content(address).and_then(|shift| self.referred(value, shift));
                refer(me, to, (at as u64) << 8 | 3);
            }
        }
    }

    /// The numbers that threads get in the representative of this state; nothing if they keep their own.
    pub(crate) fn numbers<const N: usize>(&self, machine: &Machine, state: &Packed<N>) -> Option<Numbers> {
        let buffers = self.members.iter().filter_map(|member| member.buffer);
        let outside = self.outside.iter().filter_map(|thread| thread.buffer);
        let is_long = |buffer: Field| machine.buffers.entries(state.raw(buffer)).nth(MOST_STORES).is_some();
        if self.renames_stores() && buffers.chain(outside).any(is_long) {
            return None;
        }
        let count = self.members.len();
        let (mut keys, mut refined) = ([0; MOST_THREADS], [0; MOST_THREADS]);
        for number in (0..count).filter(|&number| self.class_of[number].is_some()) {
            keys[number] = self.key(machine, state, number);
        }
        if self.has_ties(&keys) && self.has_references() {
            self.refine(machine, state, &keys[..count], &mut refined[..count]);
        }
        let compare =
            |one: usize, other: usize| keys[one].cmp(&keys[other]).then_with(|| refined[one].cmp(&refined[other]));
        let is_sorted =
            |class: &Vec<usize>| class.windows(2).all(|pair| compare(pair[0], pair[1]) != Ordering::Greater);
        if self.classes.iter().all(is_sorted) {
            return None;
        }
        let mut numbers: Numbers = std::array::from_fn(|number| number as u8);
        for class in &self.classes {
            let mut sorted = [0; MOST_THREADS];
            sorted[..class.len()].copy_from_slice(class);
            sort(&mut sorted[..class.len()], &compare);
            for (&new, &old) in class.iter().zip(&sorted) {
                numbers[old] = new as u8;
            }
        }
        Some(numbers)
    }

    fn has_ties(&self, keys: &[u64]) -> bool {
        let tied = |class: &Vec<usize>| {
            class.iter().enumerate().any(|(at, &one)| class[..at].iter().any(|&other| keys[one] == keys[other]))
        };
        self.classes.iter().any(tied)
    }

    /// Whether threads can refer to each other.
    fn has_references(&self) -> bool {
        self.renames_stores() || self.members[0].live.iter().flatten().any(|held| held.kind != Kind::Plain)
    }

    #[inline]
    fn renamed(&self, value: Value, shift: Value, numbers: &Numbers) -> Value {
        let number = value.wrapping_sub(shift) as u64;
        if number < self.members.len() as u64 { shift.wrapping_add(numbers[number as usize].into()) } else { value }
    }

    /// A value of this kind with threads renumbered.
    #[inline]
    fn renumbered(&self, value: Value, kind: Kind, numbers: &Numbers) -> Value {
        match kind {
            Kind::Plain => value,
            Kind::Number(shift) => self.renamed(value, shift, numbers),
            Kind::Set => {
                let members = (0..self.members.len()).filter(|number| value >> number & 1 == 1);
                let all = u64::MAX >> (MOST_THREADS - self.members.len());
                members.fold(value & !all as Value, |set, number| set | 1 << numbers[number])
            }
        }
    }

    /// The state with threads renumbered.
    pub(crate) fn rename<const N: usize>(&self, machine: &Machine, state: &Packed<N>, numbers: &Numbers) -> Packed<N> {
        let mut next = *state;
        for (old, from) in self.members.iter().enumerate() {
            let to = &self.members[numbers[old] as usize];
            let location = state.raw(from.location);
            next.set_raw(to.location, location);
            to.slots.iter().for_each(|slot| next.set_raw(*slot, 0));
            let registers = from.live[location as usize].iter().zip(&to.live[location as usize]);
            for (source, target) in registers {
                let value = self.renumbered(state.get(source.field), source.kind, numbers);
                put(machine, &mut next, target.field, value, source.register == target.register);
            }
            if let (Some(source), Some(target)) = (from.buffer, to.buffer) {
                machine.put_number(&mut next, target, self.rename_buffer(machine, state.raw(source), numbers));
            }
        }
        for thread in &self.outside {
            for &(field, kind) in &thread.live[state.raw(thread.location) as usize] {
                put(machine, &mut next, field, self.renumbered(state.get(field), kind, numbers), true);
            }
            if let Some(buffer) = thread.buffer {
                machine.put_number(&mut next, buffer, self.rename_buffer(machine, state.raw(buffer), numbers));
            }
        }
        for region in &self.regions {
            for (old, &source) in region.cells.iter().enumerate() {
                let value = machine.read(state, source);
                let value = region.shift.map_or(value, |shift| self.renamed(value, shift, numbers));
                let target = region.cells[numbers[old] as usize];
                if machine.read(&next, target) != value {
                    machine.write(&mut next, target, value);
                }
            }
        }
        for &(field, shift) in &self.cells {
            put(machine, &mut next, field, self.renamed(state.get(field), shift, numbers), true);
        }
        if let Some(lock) = machine.layout.lock {
            let holder = state.raw(lock);
            let number = self.members.iter().position(|member| member.position as u64 + 1 == holder);
            if let Some(number) = number {
                next.set_raw(lock, self.members[numbers[number] as usize].position as u64 + 1);
            }
        }
        next
    }

    fn rename_buffer(&self, machine: &Machine, buffer: u64, numbers: &Numbers) -> Option<u64> {
        if buffer == 0 || !self.renames_stores() {
            return Some(buffer);
        }
        let mut entries: Vec<(Address, Value)> = machine.buffers.entries(buffer).collect();
        entries.reverse();
        entries
            .into_iter()
            .try_fold(0, |buffer, store| machine.buffers.push(buffer, self.renamed_store(store, numbers)))
    }

    /// An address and what is stored there, with threads renumbered.
    pub(crate) fn renamed_store(&self, (address, value): (Address, Value), numbers: &Numbers) -> (Address, Value) {
        let value = self.content(address).map_or(value, |shift| self.renamed(value, shift, numbers));
        let address = self.places.get(&address).map_or(address, |&(_, number)| {
            let base = address.wrapping_sub(number as Address);
            base.wrapping_add(numbers[number].into())
        });
        (address, value)
    }

    /// The position of the thread that takes the place of the one at this position.
    pub(crate) fn renumbered_position(&self, position: usize, numbers: &Numbers) -> usize {
        let number = self.members.iter().position(|member| member.position == position);
        number.map_or(position, |number| self.members[numbers[number] as usize].position)
    }

    /// The step that takes the place of this one when threads are renumbered.
    pub(crate) fn step(&self, machine: &Machine, step: StepCode, numbers: &Numbers) -> StepCode {
        let renumbered = |position: usize| self.renumbered_position(position, numbers);
        let choice =
            self.choices.get(&step.number).map_or(step.choice, |&shift| self.renamed(step.choice, shift, numbers));
        if let Some(position) = step.number.checked_sub(machine.edge_count) {
            return StepCode { number: machine.edge_count + renumbered(position as usize) as u32, choice };
        }
        let position = machine.threads.partition_point(|thread| thread.first_number <= step.number).saturating_sub(1);
        let edge = step.number - machine.threads[position].first_number;
        StepCode { number: machine.threads[renumbered(position)].first_number + edge, choice }
    }

    /// What one thread of a class does, the others do in other runs: marks an edge that one of them took, or was
    /// blocked at, for all of them.
    pub(crate) fn spread(&self, machine: &Machine, taken: &mut [bool]) {
        for class in &self.classes {
            let first = |&number: &usize| machine.threads[self.members[number].position].first_number as usize;
            let firsts: Vec<usize> = class.iter().map(first).collect();
            for edge in 0..machine.threads[self.members[class[0]].position].edges.len() {
                let was_taken = firsts.iter().any(|first| taken[first + edge]);
                firsts.iter().for_each(|first| taken[first + edge] = was_taken);
                let blocked = |first: &usize| &machine.blocked_by_range[first + edge];
                let was_blocked = firsts.iter().any(|first| blocked(first).load(Relaxed));
                firsts.iter().for_each(|first| blocked(first).store(was_blocked, Relaxed));
            }
        }
    }
}

/// Not part of a function that is compiled for each size of states: sorting is much code.
fn sort(numbers: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    numbers.sort_by(|&one, &other| compare(one, other));
}

/// Sets a field to a value, which fits, since every value of a reachable state does.
fn put<const N: usize>(machine: &Machine, state: &mut Packed<N>, field: Field, value: Value, is_same_register: bool) {
    if !state.set(field, value) || !is_same_register {
        machine.broken("a renumbered state does not fit");
    }
}

/// Edges that choose a number, and its shift.
fn choices(program: &Program, compiled: &Compiled, family: &Family) -> BTreeMap<u32, Value> {
    let mut choices = BTreeMap::new();
    for (position, &thread) in compiled.threads.iter().enumerate() {
        let body = program.body(thread);
        let webs = compiled.webs(body, position);
        for (number, edge) in (compiled.machine.threads[position].first_number..).zip(body.edges()) {
            if let Instruction::Havoc { register, .. } = edge.instruction
                && let Some(web) = webs.at(edge.to, register)
                && let Kind::Number(shift) = family.kinds.webs[position][web as usize]
            {
                choices.insert(number, shift);
            }
        }
    }
    choices
}
