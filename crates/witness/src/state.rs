//! States of a replayed run: plain maps and lists, nothing packed.

use std::collections::{BTreeMap, VecDeque};

use weir_ir::{Address, LocId, Multiplicity, Program, RegExpr, RegId, Span, StateAtom, StateExpr, ThreadId, Value};

use crate::event::{Effect, Event, StepId};

/// A store that waits in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Buffered {
    /// Where to.
    pub address: Address,
    /// What.
    pub value: Value,
    /// The step that put it there.
    pub step: StepId,
    /// The source of that step.
    pub span: Span,
}

/// What a procedure that was called returns to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Where the caller continues.
    pub back: LocId,
    /// Receives what is returned, if that is wanted.
    pub result: Option<RegId>,
    /// What the registers of the procedure held before the call.
    pub saved: Vec<(RegId, Value)>,
}

/// One thread in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadState {
    /// Whether it runs. A thread that only `spawn` starts does not until then.
    pub is_present: bool,
    /// Where it is.
    pub location: LocId,
    /// Its registers, in the order of the body.
    pub registers: Vec<Value>,
    /// The calls that have not returned yet, the latest last.
    pub callers: Vec<Caller>,
    /// Its buffer, the oldest store first. Always empty under SC.
    pub buffer: VecDeque<Buffered>,
    /// The newest store in the buffer to each address. Buffers are unbounded, so a load does not search them.
    newest: BTreeMap<Address, Buffered>,
}

impl ThreadState {
    /// The value of an expression over its registers.
    pub fn eval(&self, expr: &RegExpr) -> Value {
        expr.eval(&mut |register| self.registers[register.index()])
    }

    /// The newest store in its buffer to an address.
    pub fn newest_buffered(&self, address: Address) -> Option<&Buffered> {
        self.newest.get(&address)
    }

    fn push(&mut self, store: Buffered) {
        self.buffer.push_back(store);
        self.newest.insert(store.address, store);
    }

    fn pop(&mut self) {
        if let Some(oldest) = self.buffer.pop_front()
            && self.newest.get(&oldest.address) == Some(&oldest)
        {
            self.newest.remove(&oldest.address);
        }
    }
}

/// A state of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    threads: Vec<ThreadState>,
    /// Only the cells that were written; all others hold their initial value.
    memory: BTreeMap<Address, Value>,
    lock_holder: Option<ThreadId>,
}

impl State {
    /// The state in which every run begins.
    pub fn initial(program: &Program) -> Self {
        let start = |thread: &weir_ir::Thread| ThreadState {
            is_present: thread.multiplicity != Multiplicity::Spawned,
            location: thread.body.entry,
            registers: vec![0; thread.body.registers.len()],
            callers: Vec::new(),
            buffer: VecDeque::new(),
            newest: BTreeMap::new(),
        };
        Self { threads: program.threads.iter().map(start).collect(), memory: BTreeMap::new(), lock_holder: None }
    }

    /// One thread.
    pub fn thread(&self, thread: ThreadId) -> &ThreadState {
        &self.threads[thread.index()]
    }

    /// How many threads the program has, whether they run or not.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Every thread that runs.
    pub fn present_threads(&self) -> impl Iterator<Item = (ThreadId, &ThreadState)> {
        let numbered = self.threads.iter().enumerate().map(|(index, thread)| (ThreadId::new(index), thread));
        numbered.filter(|(_, thread)| thread.is_present)
    }

    /// What memory holds at an address.
    pub fn cell(&self, program: &Program, address: Address) -> Value {
        self.memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
    }

    /// The cells that were written, and what they hold.
    pub(crate) fn memory(&self) -> &BTreeMap<Address, Value> {
        &self.memory
    }

    /// Who holds the global lock.
    pub fn lock_holder(&self) -> Option<ThreadId> {
        self.lock_holder
    }

    /// Whether all buffers are empty.
    pub fn is_drained(&self) -> bool {
        self.threads.iter().all(|thread| thread.buffer.is_empty())
    }

    /// Whether a thread has nothing more to do.
    pub fn is_done(&self, program: &Program, thread: ThreadId) -> bool {
        program.body(thread).is_done(self.thread(thread).location)
    }

    /// The value of a condition in this state. A thread that does not run is nowhere, its registers are 0.
    pub fn eval(&self, program: &Program, condition: &StateExpr) -> Value {
        condition.eval(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                let thread = self.thread(*thread);
                Value::from(thread.is_present && locations.contains(&thread.location))
            }
            StateAtom::Register { thread, register } => self.thread(*thread).registers[register.index()],
            StateAtom::Cell(address) => self.cell(program, *address),
        })
    }

    /// Makes a step that was found to be possible here.
    pub(crate) fn apply(&mut self, step: StepId, event: &Event) {
        let thread = &mut self.threads[event.thread.index()];
        thread.location = event.to;
        match &event.effect {
            Effect::Call { registers, back, result, .. } => {
                let saved = registers.iter().map(|&(register, _)| (register, thread.registers[register.index()]));
                let saved = saved.collect();
                thread.callers.push(Caller { back: *back, result: *result, saved });
            }
            Effect::Return { .. } => {
                for (register, value) in thread.callers.pop().into_iter().flat_map(|caller| caller.saved) {
                    thread.registers[register.index()] = value;
                }
            }
            _ => {}
        }
        for (register, value) in event.effect.registers() {
            thread.registers[register.index()] = value;
        }
        match event.effect {
            Effect::Store { address, value, buffered: true } => {
                thread.push(Buffered { address, value, step, span: event.span });
            }
            Effect::Flush { .. } => thread.pop(),
            Effect::Lock => self.lock_holder = Some(event.thread),
            Effect::Unlock => self.lock_holder = None,
            Effect::Spawn(started) => self.threads[started.index()].is_present = true,
            _ => {}
        }
        if let Some((address, value)) = event.effect.memory_write() {
            self.memory.insert(address, value);
        }
    }
}
