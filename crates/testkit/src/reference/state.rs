//! States, as plain maps. What a step leaves as it is, the states before and after share: copying is most of the work.

use std::collections::BTreeMap;
use std::rc::Rc;

use weir_ir::{Address, Body, LocId, Multiplicity, ProcId, Program, RegExpr, RegId, ThreadId, Value};

use super::unordered::UnorderedBuffer;
use super::{Drained, FinalState, Model};

/// A state of the whole program. Equal states are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    /// The threads that exist. Those that were spawned have numbers after all others, in the order of their start.
    pub(super) threads: BTreeMap<ThreadId, Rc<ThreadState>>,
    /// The cells that differ from their initial value, and only those: so there is one map for each memory.
    pub(super) memory: Rc<BTreeMap<Address, Value>>,
    /// Who holds the global lock.
    pub(super) holder: Option<ThreadId>,
}

/// What belongs to one thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ThreadState {
    /// The thread of the program whose body it runs.
    pub(super) template: ThreadId,
    /// The procedure it is in, if it is in one: location and registers are those of the procedure then.
    pub(super) procedure: Option<ProcId>,
    /// What the calls that have not returned left behind, the latest last.
    pub(super) callers: Vec<Caller>,
    /// Whether it ended in a procedure.
    pub(super) terminated: bool,
    pub(super) location: LocId,
    /// All of them, also those that hold 0.
    pub(super) registers: BTreeMap<RegId, Value>,
    /// The thread-local variables that the body it is in does not mention, by name; without those that hold 0.
    pub(super) elsewhere: BTreeMap<String, Value>,
    /// Oldest first. Always empty under SC. With approximated buffers, the part that is in order.
    pub(super) buffer: Vec<(Address, Value)>,
    /// The part of an approximated buffer that is not in order; younger than the other.
    pub(super) loose: UnorderedBuffer,
}

/// What a call leaves behind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Caller {
    pub(super) procedure: Option<ProcId>,
    pub(super) registers: BTreeMap<RegId, Value>,
    /// Where it continues.
    pub(super) back: LocId,
    pub(super) result: Option<RegId>,
}

impl State {
    pub(super) fn initial(program: &Program) -> Self {
        let runs = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
        let start = |thread: ThreadId| (thread, Rc::new(ThreadState::initial(program, thread)));
        let threads = program.thread_ids().filter(runs).map(start).collect();
        Self { threads, memory: Rc::default(), holder: None }
    }

    pub(super) fn read_memory(&self, program: &Program, address: Address) -> Value {
        self.memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
    }

    pub(super) fn write_memory(&mut self, program: &Program, address: Address, value: Value) {
        let memory = Rc::make_mut(&mut self.memory);
        if value == program.initial_value(address) {
            memory.remove(&address);
        } else {
            memory.insert(address, value);
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.threads.values().all(|thread| thread.is_drained())
    }

    pub(super) fn all_done(&self, program: &Program) -> bool {
        self.threads.values().all(|thread| thread.is_done(program))
    }

    pub(super) fn is_final(&self, program: &Program) -> bool {
        self.is_drained() && self.all_done(program)
    }

    pub(super) fn to_final(&self) -> FinalState {
        let registers = self.threads.iter().map(|(&id, thread)| (id, thread.registers.clone())).collect();
        FinalState { memory: BTreeMap::clone(&self.memory), registers }
    }

    pub(super) fn to_drained(&self) -> Drained {
        let locations = self.threads.iter().map(|(&id, thread)| (id, thread.location)).collect();
        Drained { locations, values: self.to_final(), holder: self.holder }
    }
}

impl ThreadState {
    pub(super) fn initial(program: &Program, thread: ThreadId) -> Self {
        let body = program.body(thread);
        let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
        Self {
            template: thread,
            procedure: None,
            callers: Vec::new(),
            terminated: false,
            location: body.entry,
            registers,
            elsewhere: BTreeMap::new(),
            buffer: Vec::new(),
            loose: UnorderedBuffer::default(),
        }
    }

    /// The body it is in.
    pub(super) fn body<'p>(&self, program: &'p Program) -> &'p Body {
        match self.procedure {
            Some(procedure) => &program.procedures[procedure.index()].body,
            None => program.body(self.template),
        }
    }

    pub(super) fn is_done(&self, program: &Program) -> bool {
        self.terminated || self.procedure.is_none() && self.body(program).is_done(self.location)
    }

    /// The value of a register of the thread itself, also while it is in a procedure.
    pub(super) fn own_register(&self, program: &Program, register: RegId) -> Value {
        let own = &program.body(self.template).registers[register.index()];
        if self.procedure.is_some() && own.is_thread_local {
            return self.thread_locals(program).get(&own.name).copied().unwrap_or(0);
        }
        self.callers.first().map_or(&self.registers, |caller| &caller.registers)[&register]
    }

    /// The thread-local variables by name; without those that hold 0.
    fn thread_locals(&self, program: &Program) -> BTreeMap<String, Value> {
        let mut all = self.elsewhere.clone();
        let body = self.body(program);
        for register in body.thread_locals() {
            if self.registers[&register] != 0 {
                all.insert(body.registers[register.index()].name.clone(), self.registers[&register]);
            }
        }
        all
    }

    /// Goes on in another body, with its registers but for the thread-local variables.
    pub(super) fn enter(
        &mut self,
        program: &Program,
        (procedure, location): (Option<ProcId>, LocId),
        registers: BTreeMap<RegId, Value>,
    ) {
        self.elsewhere = self.thread_locals(program);
        (self.procedure, self.location, self.registers) = (procedure, location, registers);
        let body = self.body(program);
        for register in body.thread_locals() {
            let value = self.elsewhere.remove(&body.registers[register.index()].name);
            self.registers.insert(register, value.unwrap_or(0));
        }
    }

    pub(super) fn eval(&self, expr: &RegExpr) -> Value {
        expr.eval(&mut |register| self.registers[register])
    }

    /// One more store.
    pub(super) fn buffer(&mut self, model: Model, address: Address, value: Value) {
        match model {
            Model::Sc | Model::Tso => self.buffer.push((address, value)),
            Model::Set => self.loose.add_to_set(address, value),
            Model::Multiset => self.loose.add_to_multiset(address, value),
            Model::Coherence(most) if self.loose.is_empty() && self.buffer.len() < most => {
                self.buffer.push((address, value));
            }
            Model::Coherence(_) => self.loose.add_to_set(address, value),
        }
    }

    pub(super) fn newest_buffered(&self, address: Address) -> Option<Value> {
        let in_order = || self.buffer.iter().rev().find(|store| store.0 == address).map(|store| store.1);
        self.loose.last(address).or_else(in_order)
    }

    pub(super) fn is_drained(&self) -> bool {
        self.buffer.is_empty() && self.loose.is_empty()
    }
}
