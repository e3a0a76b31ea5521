//! What each instruction does, whatever the memory model.
//!
//! From the definitions: a step needs its condition to hold, its buffer to be empty where the instruction
//! is fence-like, and memory to be free where it touches memory while another thread holds the global
//! lock. What a load sees and where a store goes is the memory model's ([`MemoryModel`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_ir::{Address, BinaryOp, Expr, Range, Value};
use weir_witness::Goal;

use super::abstraction::pool::Pool;
use super::buffers::Buffers;
use super::code::Code;
use super::goals::Goals;
use super::intern::Interner;
use super::layout::{Layout, Storage, Target};
use super::state::{Field, Packed, Patch};
use super::{StepCode, ThreadSteps, TransitionSystem};

/// What a load sees, where a store goes, and what happens by itself.
pub(crate) trait MemoryModel: Sync + Sized {
    /// Whether a store can be taken while another thread holds the lock.
    const STORES_PASS_THE_LOCK: bool;

    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize, target: Target) -> Value;

    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value);

    /// Whether the buffer of the thread is empty.
    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool;

    /// The steps that memory takes by itself.
    fn flushes<const N: usize>(machine: &Machine, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool);

    /// The content of a buffer, without numbers that depend on the order of interning.
    fn canonical_buffer(machine: &Machine, number: u64) -> Vec<Value> {
        machine.buffers.entries(number).flat_map(|(address, value)| [address, value]).collect()
    }

    /// An order of buffers that does not depend on the order of interning.
    fn compare_buffers(machine: &Machine, left: u64, right: u64) -> std::cmp::Ordering {
        Self::canonical_buffer(machine, left).cmp(&Self::canonical_buffer(machine, right))
    }
}

/// A program made ready to run.
pub(crate) struct Machine {
    pub(crate) layout: Layout,
    pub(crate) threads: Vec<ThreadCode>,
    pub(crate) goals: Goals,
    /// Number of edges of all threads: the numbers of flushes begin here.
    pub(crate) edge_count: u32,
    pub(crate) initial: Vec<(Field, u64)>,
    /// For threads that may keep stores back: the field of the location, and whether they do so at each.
    pub(crate) keeps_back: Vec<(Field, Vec<bool>)>,
    pub(crate) buffers: Buffers,
    /// Buffers where they are approximated.
    pub(crate) abstraction: Pool,
    pub(crate) heaps: Interner,
    /// What a monitor remembers, by number.
    pub(crate) monitor_rows: Interner,
    /// For each edge: whether a store was blocked there because of the range of its cell.
    pub(crate) blocked_by_range: Vec<AtomicBool>,
    /// The first broken invariant.
    pub(crate) fault: OnceLock<String>,
}

/// A thread made ready to run.
pub(crate) struct ThreadCode {
    /// The number of its first edge.
    pub(crate) first_number: u32,
    pub(crate) location: Field,
    /// `edges[first[l]..first[l + 1]]` leave location `l`.
    pub(crate) first: Vec<u32>,
    pub(crate) edges: Vec<EdgeCode>,
}

impl ThreadCode {
    /// The edges out of the location at which the thread is.
    #[inline]
    pub(crate) fn edges_at<const N: usize>(&self, state: &Packed<N>) -> &[EdgeCode] {
        let location = state.raw(self.location) as usize;
        &self.edges[self.first[location] as usize..self.first[location + 1] as usize]
    }
}

/// An edge made ready to run.
pub(crate) struct EdgeCode {
    pub(crate) number: u32,
    /// Moves to the target location and clears registers that are dead there.
    pub(crate) patch: Patch,
    pub(crate) operation: Operation,
}

/// An instruction made ready to run. A register that is dead afterwards is `None`.
pub(crate) enum Operation {
    Skip,
    Load(Option<Field>, Place),
    /// Several loads in one step.
    Snapshot(Vec<(Option<Field>, Place)>),
    /// Loads in one step, and what must hold then.
    Await(Vec<(Option<Field>, Place)>, Expr<Operand>),
    Store(Place, Code),
    Fence,
    Membarrier,
    Assign(Option<Field>, Code),
    Assume(Code),
    /// The condition, and the move to the failed location.
    Assert(Code, Patch),
    ReadModifyWrite(Option<Field>, Place, Rmw),
    Lock,
    Unlock,
    Havoc(Option<Field>, Range),
    /// The first of these threads that has not started does: the field of its location, where it is until then, and
    /// where it starts.
    Spawn(Vec<(Field, u64, u64)>),
}

/// What the condition of an await mentions.
#[derive(Clone, Copy)]
pub(crate) enum Operand {
    Field(Field),
    /// What the load of this number has just found.
    Loaded(usize),
}

/// A cell, known beforehand or computed.
pub(crate) enum Place {
    Fixed(Target),
    Computed(Code),
}

/// A read-modify-write made ready to run.
pub(crate) enum Rmw {
    CompareAndSwap(Code, Code),
    CompareExchange(Code, Code),
    Exchange(Code),
    Fetch(BinaryOp, Code),
}

impl Rmw {
    /// What is written, if anything, and the result, given what the cell held.
    fn apply<const N: usize>(&self, state: &Packed<N>, old: Value) -> (Option<Value>, Value) {
        match self {
            Self::CompareAndSwap(expected, new) => {
                let equal = old == expected.eval(state);
                (equal.then(|| new.eval(state)), Value::from(equal))
            }
            Self::CompareExchange(expected, new) => {
                let equal = old == expected.eval(state);
                (equal.then(|| new.eval(state)), old)
            }
            Self::Exchange(new) => (Some(new.eval(state)), old),
            Self::Fetch(op, value) => (Some(op.apply(old, value.eval(state))), old),
        }
    }
}

impl Machine {
    pub(crate) fn initial_state<const N: usize>(&self) -> Packed<N> {
        let mut state = Packed::ZERO;
        for &(field, raw) in &self.initial {
            state.set_raw(field, raw);
        }
        state
    }

    #[inline]
    pub(crate) fn target<const N: usize>(&self, state: &Packed<N>, place: &Place) -> Target {
        match place {
            Place::Fixed(target) => *target,
            Place::Computed(address) => self.layout.cells.target(address.eval(state)),
        }
    }

    pub(crate) fn address(&self, target: Target) -> Address {
        match target {
            Target::Cell(number) => self.layout.cells.cell(number).address,
            Target::Heap(address) => address,
        }
    }

    /// What memory holds.
    #[inline]
    pub(crate) fn read<const N: usize>(&self, state: &Packed<N>, target: Target) -> Value {
        match target {
            Target::Cell(number) => {
                let cell = self.layout.cells.cell(number);
                match cell.storage {
                    Storage::Field(field) => state.get(field),
                    Storage::Constant => cell.initial,
                }
            }
            Target::Heap(address) => self.read_heap(state, address),
        }
    }

    /// Puts a value into memory.
    #[inline]
    pub(crate) fn write<const N: usize>(&self, state: &mut Packed<N>, target: Target, value: Value) {
        match target {
            Target::Cell(number) => match self.layout.cells.cell(number).storage {
                Storage::Field(field) => self.put(state, field, value),
                Storage::Constant => self.broken("a cell that nothing should write is written"),
            },
            Target::Heap(address) => self.write_heap(state, address, value),
        }
    }

    #[cold]
    fn read_heap<const N: usize>(&self, state: &Packed<N>, address: Address) -> Value {
        let Some(field) = self.layout.heap else {
            self.broken("an address that no instruction should touch is read");
            return 0;
        };
        let row = self.heaps.row(state.raw(field));
        row.chunks_exact(2).find(|pair| pair[0] == address).map_or(0, |pair| pair[1])
    }

    /// The map is kept as ascending pairs of address and value, without zeros, so that equal memories have
    /// equal rows.
    #[cold]
    fn write_heap<const N: usize>(&self, state: &mut Packed<N>, address: Address, value: Value) {
        let Some(field) = self.layout.heap else {
            self.broken("an address that no instruction should touch is written");
            return;
        };
        let row = self.heaps.row(state.raw(field));
        let mut pairs: Vec<(Address, Value)> = row.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.retain(|&(other, _)| other != address);
        if value != 0 {
            pairs.push((address, value));
            pairs.sort_unstable();
        }
        let row: Vec<Value> = pairs.into_iter().flat_map(|(address, value)| [address, value]).collect();
        self.put_number(state, field, self.heaps.number(&row));
    }

    /// The number of a thread's buffer; 0 is an empty one.
    #[inline]
    pub(crate) fn buffer<const N: usize>(&self, state: &Packed<N>, thread: usize) -> u64 {
        self.layout.buffers[thread].map_or(0, |field| state.raw(field))
    }

    /// Gives a thread that stores the buffer that `longer` makes of its own.
    #[inline]
    pub(crate) fn put_longer_buffer<const N: usize>(
        &self,
        next: &mut Packed<N>,
        thread: usize,
        longer: impl FnOnce(u64) -> Option<u64>,
    ) {
        match self.layout.buffers[thread] {
            Some(field) => self.put_number(next, field, longer(next.raw(field))),
            None => self.broken("a thread without a buffer stores"),
        }
    }

    /// Gives a field the number of something interned, unless there was none left.
    #[inline]
    pub(crate) fn put_number<const N: usize>(&self, state: &mut Packed<N>, field: Field, number: Option<u64>) {
        match number {
            Some(number) => state.set_raw(field, number),
            None => self.broken("more than 2^32 different buffers or memories"),
        }
    }

    #[inline]
    fn put<const N: usize>(&self, state: &mut Packed<N>, field: Field, value: Value) {
        if !state.set(field, value) {
            self.broken("a value lies outside the range that the analysis found");
        }
    }

    /// What a store of the value puts there.
    #[inline]
    pub(crate) fn stored(&self, target: Target, value: Value) -> Value {
        let Target::Cell(number) = target else { return value };
        self.layout.cells.cell(number).width.map_or(value, |width| width.wrap(value))
    }

    /// Whether the value may be stored there. If not, the store is blocked, which is reported.
    #[inline]
    pub(crate) fn admits(&self, target: Target, value: Value, edge: u32) -> bool {
        let Target::Cell(number) = target else { return true };
        let admitted = self.layout.cells.cell(number).range.is_none_or(|range| range.contains(value));
        if !admitted {
            self.blocked_by_range[edge as usize].store(true, Ordering::Relaxed);
        }
        admitted
    }

    /// The cell that the instruction would touch now, and whether it would write there. A snapshot or an await, which
    /// may touch several, is none: see [`Machine::snapshot`].
    #[inline]
    pub(crate) fn access<const N: usize>(&self, state: &Packed<N>, operation: &Operation) -> Option<(Target, bool)> {
        match operation {
            Operation::Load(_, place) => Some((self.target(state, place), false)),
            Operation::Store(place, _) => Some((self.target(state, place), true)),
            Operation::ReadModifyWrite(_, place, rmw) => {
                let target = self.target(state, place);
                Some((target, rmw.apply(state, self.read(state, target)).0.is_some()))
            }
            _ => None,
        }
    }

    /// The addresses that a snapshot or an await would load from now; none for any other instruction.
    pub(crate) fn snapshot<const N: usize>(&self, state: &Packed<N>, operation: &Operation) -> Vec<Address> {
        let (Operation::Snapshot(loads) | Operation::Await(loads, _)) = operation else { return Vec::new() };
        loads.iter().map(|(_, place)| self.address(self.target(state, place))).collect()
    }

    /// Whether another thread holds the global lock.
    #[inline]
    pub(crate) fn locked_out<const N: usize>(&self, state: &Packed<N>, thread: usize) -> bool {
        self.layout.lock.is_some_and(|lock| {
            let holder = state.raw(lock);
            holder != 0 && holder != thread as u64 + 1
        })
    }

    /// Remembers a broken invariant; the analysis then ends as a bug, never with an answer.
    #[cold]
    pub(crate) fn broken(&self, what: &str) {
        let _ = self.fault.set(what.to_owned());
    }
}

/// States of more words than these are passed on by a call that is not inlined.
const MOST_INLINED_WORDS: usize = 8;

/// A machine under a memory model, with states of at most `N` words.
pub(crate) struct System<'a, M, const N: usize> {
    pub(crate) machine: &'a Machine,
    model: std::marker::PhantomData<M>,
}

impl<'a, M: MemoryModel, const N: usize> System<'a, M, N> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        Self { machine, model: std::marker::PhantomData }
    }

    /// Takes one edge, if it is enabled.
    #[inline]
    pub(crate) fn take(
        &self,
        from: &Packed<N>,
        thread: usize,
        edge: &EdgeCode,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let machine = self.machine;
        let step = StepCode { number: edge.number, choice: 0 };
        match &edge.operation {
            Operation::Assume(condition) => {
                if condition.eval(from) != 0 {
                    emit(step, edge.patch.apply(from));
                }
            }
            Operation::Load(register, place) => {
                if !machine.locked_out(from, thread) {
                    let value = M::load(machine, from, thread, machine.target(from, place));
                    emit(step, self.moved(from, edge, *register, value));
                }
            }
            Operation::Store(place, value) => {
                if M::STORES_PASS_THE_LOCK || !machine.locked_out(from, thread) {
                    let (target, value) = (machine.target(from, place), value.eval(from));
                    if machine.admits(target, value, edge.number) {
                        let mut next = edge.patch.apply(from);
                        M::store(machine, &mut next, thread, target, machine.stored(target, value));
                        emit(step, next);
                    }
                }
            }
            Operation::Assign(register, value) => {
                emit(step, self.moved(from, edge, *register, value.eval(from)));
            }
            Operation::Skip => {
                emit(step, edge.patch.apply(from));
            }
            other => self.take_rare(from, thread, edge, other, emit),
        }
    }

    /// The instructions that are rare enough to keep out of the inner loop. One copy serves all callers: each of its
    /// own would make the library a fifth larger.
    #[inline(never)]
    fn take_rare(
        &self,
        from: &Packed<N>,
        thread: usize,
        edge: &EdgeCode,
        operation: &Operation,
        emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let machine = self.machine;
        let step = StepCode { number: edge.number, choice: 0 };
        let drained = M::is_drained(machine, from, thread);
        match operation {
            Operation::Fence if drained => {
                emit(step, edge.patch.apply(from));
            }
            Operation::Membarrier if self.all_drained(from) => {
                emit(step, edge.patch.apply(from));
            }
            Operation::Snapshot(loads) if !machine.locked_out(from, thread) => {
                let mut next = edge.patch.apply(from);
                for (register, place) in loads {
                    if let Some(field) = register {
                        machine.put(&mut next, *field, M::load(machine, from, thread, machine.target(from, place)));
                    }
                }
                emit(step, next);
            }
            Operation::Await(loads, condition) if !machine.locked_out(from, thread) => {
                let load =
                    |(_, place): &(Option<Field>, Place)| M::load(machine, from, thread, machine.target(from, place));
                let found: Vec<Value> = loads.iter().map(load).collect();
                let value = |operand: &Operand| match operand {
                    Operand::Field(field) => from.get(*field),
                    Operand::Loaded(number) => found[*number],
                };
                if condition.eval(&mut |operand| value(operand)) != 0 {
                    let mut next = edge.patch.apply(from);
                    for ((register, _), value) in loads.iter().zip(found) {
                        if let Some(field) = register {
                            machine.put(&mut next, *field, value);
                        }
                    }
                    emit(step, next);
                }
            }
            Operation::Assert(condition, failed) => {
                let patch = if condition.eval(from) != 0 { &edge.patch } else { failed };
                emit(step, patch.apply(from));
            }
            Operation::ReadModifyWrite(register, place, rmw) if drained && !machine.locked_out(from, thread) => {
                let target = machine.target(from, place);
                let (written, result) = rmw.apply(from, machine.read(from, target));
                if written.is_none_or(|value| machine.admits(target, value, edge.number)) {
                    let mut next = self.moved(from, edge, *register, result);
                    if let Some(value) = written {
                        machine.write(&mut next, target, machine.stored(target, value));
                    }
                    emit(step, next);
                }
            }
            Operation::Lock if drained => self.pass_lock(from, edge, 0, thread as u64 + 1, emit),
            Operation::Unlock if drained => self.pass_lock(from, edge, thread as u64 + 1, 0, emit),
            Operation::Spawn(instances) => {
                let mut waiting = instances.iter().filter(|(location, absent, _)| from.raw(*location) == *absent);
                if let Some(&(location, _, entry)) = waiting.next() {
                    let mut next = edge.patch.apply(from);
                    next.set_raw(location, entry);
                    emit(step, next);
                }
            }
            Operation::Havoc(None, range) => {
                // Nobody reads the value, so one choice stands for all.
                emit(StepCode { choice: range.low, ..step }, edge.patch.apply(from));
            }
            Operation::Havoc(register, range) => {
                for choice in range.low..=range.high {
                    if !emit(StepCode { choice, ..step }, self.moved(from, edge, *register, choice)) {
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the buffers of all threads are empty, and no thread keeps stores back on code that a translation added.
    fn all_drained(&self, from: &Packed<N>) -> bool {
        (0..self.machine.threads.len()).all(|thread| M::is_drained(self.machine, from, thread))
            && self.machine.keeps_back.iter().all(|(location, keeps)| !keeps[from.raw(*location) as usize])
    }

    fn pass_lock(
        &self,
        from: &Packed<N>,
        edge: &EdgeCode,
        before: u64,
        after: u64,
        emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool,
    ) {
        if let Some(lock) = self.machine.layout.lock
            && from.raw(lock) == before
        {
            let mut next = edge.patch.apply(from);
            next.set_raw(lock, after);
            emit(StepCode { number: edge.number, choice: 0 }, next);
        }
    }

    /// Takes all enabled edges of all threads, and all flushes.
    #[inline]
    fn all_steps(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        for (number, thread) in self.machine.threads.iter().enumerate() {
            for edge in thread.edges_at(from) {
                self.take(from, number, edge, emit);
            }
        }
        M::flushes(self.machine, from, emit);
    }

    #[inline]
    fn moved(&self, from: &Packed<N>, edge: &EdgeCode, register: Option<Field>, value: Value) -> Packed<N> {
        let mut next = edge.patch.apply(from);
        if let Some(field) = register {
            self.machine.put(&mut next, field, value);
        }
        next
    }
}

impl<M: MemoryModel, const N: usize> TransitionSystem for System<'_, M, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.machine.initial_state()
    }

    #[inline]
    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        // Copying a large state takes longer than a call, so one copy of this code serves all callers.
        if const { N > MOST_INLINED_WORDS } {
            let mut emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool = emit;
            self.all_steps(from, &mut emit);
        } else {
            self.all_steps(from, emit);
        }
    }

    #[inline]
    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.machine.goals.met(state)
    }

    fn deadlock_goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.machine.goals.deadlock_goal(state)
    }

    fn words(&self) -> usize {
        self.machine.layout.words
    }

    fn step_count(&self) -> usize {
        self.machine.edge_count as usize + self.machine.threads.len()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        let flusher = step.number.checked_sub(self.machine.edge_count);
        flusher.map_or_else(
            || self.machine.threads.partition_point(|thread| thread.first_number <= step.number).saturating_sub(1),
            |thread| thread as usize,
        )
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        let layout = &self.machine.layout;
        // Interned rows are written out and their numbers left out; everything else is as the words have it.
        let mut rest = *state;
        let mut rows = Vec::new();
        for &field in layout.buffers.iter().flatten() {
            let row = M::canonical_buffer(self.machine, state.raw(field));
            rows.push(row.len() as Value);
            rows.extend(row);
            rest.set_raw(field, 0);
        }
        if let Some(field) = layout.heap {
            rows.extend_from_slice(self.machine.heaps.row(state.raw(field)));
            rest.set_raw(field, 0);
        }
        if let Some(field) = layout.monitor {
            rows.extend_from_slice(self.machine.monitor_rows.row(state.raw(field)));
            rest.set_raw(field, 0);
        }
        rest.0[..layout.words].iter().map(|&word| word as Value).chain(rows).collect()
    }

    fn side_bytes(&self) -> u64 {
        self.machine.buffers.bytes()
            + self.machine.abstraction.bytes()
            + self.machine.heaps.bytes()
            + self.machine.monitor_rows.bytes()
    }
}

impl<M: MemoryModel, const N: usize> ThreadSteps for System<'_, M, N> {
    #[inline]
    fn location(&self, state: &Packed<N>, thread: usize) -> usize {
        state.raw(self.machine.threads[thread].location) as usize
    }

    #[inline]
    fn successors_of(&self, from: &Packed<N>, thread: usize, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        for edge in self.machine.threads[thread].edges_at(from) {
            self.take(from, thread, edge, emit);
        }
    }
}
