//! The rules of SC and TSO: whether a step is possible in a state, and what it does.
//!
//! Under SC a store writes memory at once. Under TSO it goes to the thread's buffer, the oldest store of any buffer may
//! be flushed at any time, and a load prefers the newest store in its own buffer. Fence, lock, unlock and
//! read-modify-write need the own buffer empty; a membarrier needs all buffers empty. While another thread holds the
//! lock, a thread touches memory in no way: no load, flush or read-modify-write, and under SC no store. Neither more
//! nor less than these steps is allowed: the direction of error is none.

use std::convert::Infallible;

use weir_ir::{
    Address, Edge, EdgeId, Frame, Instruction, LocId, Multiplicity, ProcId, Program, Range, RegExpr, RegId, Rmw, Span,
    ThreadId, Value,
};

use crate::event::{Effect, Event, Loaded, ReadFrom};
use crate::run::{Action, Model, Step};
use crate::state::{Caller, State, ThreadState};

/// Something a replay does not handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What.
    pub feature: Feature,
    /// Where it is written.
    pub span: Span,
}

/// What a replay does not handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum Feature {
    /// The procedure is not [linked](Program::linked) into the thread.
    Call,
    /// Nothing was called.
    Return,
    /// More threads are started than the program has [instances](Program::instances) of.
    Spawn,
    ArbitrarilyManyThreads,
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Call => "calls of recursive procedures",
            Self::Return => "returns from recursive procedures",
            Self::Spawn => "more `spawn`s of a thread than there are instances of it",
            Self::ArbitrarilyManyThreads => "arbitrarily many threads (`[*]`)",
        })
    }
}

/// Why a step is not possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The program has no thread of this number.
    UnknownThread,
    /// Only `spawn` starts the thread, and none has.
    NotStarted,
    /// The thread has no edge of this number.
    UnknownEdge(EdgeId),
    /// The edge does not leave the place where the thread is, which is this one.
    Elsewhere(LocId),
    /// Only `any` takes a value, but one was given.
    StrayChoice(Value),
    /// The value that `any` should take is not one it can take.
    ChoiceOutsideRange(Value, Range),
    /// Under SC there are no buffers.
    FlushUnderSc,
    /// The buffer is empty.
    NothingToFlush,
    /// The buffer must be empty, but holds so many stores.
    BufferNotEmpty(usize),
    /// All buffers must be empty, but that of this other thread holds so many stores.
    OtherBufferNotEmpty(ThreadId, usize),
    /// Another thread holds the lock.
    LockedBy(ThreadId),
    /// The thread holds the lock already.
    LockedAlready,
    /// The thread does not hold the lock.
    NotLocked,
    /// The condition is 0.
    AssumptionFails,
    /// The cell may not hold this value.
    OutsideRange(Address, Value),
    /// The body has no location for failed assertions.
    NoFailedLocation,
    /// Not handled here.
    Unsupported(Unsupported),
}

/// What `step` does in `state`, if it is possible there.
pub(crate) fn interpret(program: &Program, model: Model, state: &State, step: Step) -> Result<Event, Refusal> {
    let thread = program.threads.get(step.thread.index()).ok_or(Refusal::UnknownThread)?;
    match thread.multiplicity {
        Multiplicity::One => {}
        Multiplicity::Spawned if state.thread(step.thread).is_present => {}
        Multiplicity::Spawned => return Err(Refusal::NotStarted),
        Multiplicity::Arbitrary => {
            let feature = Feature::ArbitrarilyManyThreads;
            return Err(Refusal::Unsupported(Unsupported { feature, span: thread.span }));
        }
    }
    let interpreter = Interpreter { program, model, state, thread: step.thread, own: state.thread(step.thread) };
    match step.action {
        Action::Flush => interpreter.flush(),
        Action::Execute { edge, choice } => interpreter.execute(edge, choice),
    }
}

/// A thread about to make a step.
struct Interpreter<'a> {
    program: &'a Program,
    model: Model,
    state: &'a State,
    thread: ThreadId,
    own: &'a ThreadState,
}

impl Interpreter<'_> {
    fn flush(&self) -> Result<Event, Refusal> {
        if self.model == Model::Sc {
            return Err(Refusal::FlushUnderSc);
        }
        let oldest = self.own.buffer.front().ok_or(Refusal::NothingToFlush)?;
        self.needs_memory()?;
        let effect = Effect::Flush { address: oldest.address, value: oldest.value, store: oldest.step };
        let here = self.own.location;
        Ok(Event { thread: self.thread, edge: None, from: here, to: here, effect, span: oldest.span })
    }

    fn execute(&self, id: EdgeId, choice: Value) -> Result<Event, Refusal> {
        let body = self.program.body(self.thread);
        let edge = body.edges().get(id.index()).ok_or(Refusal::UnknownEdge(id))?;
        if edge.from != self.own.location {
            return Err(Refusal::Elsewhere(self.own.location));
        }
        if choice != 0 && !matches!(edge.instruction, Instruction::Havoc { .. }) {
            return Err(Refusal::StrayChoice(choice));
        }
        let effect = self.effect(edge, choice)?;
        let to = match effect {
            Effect::Assert { holds: false } => body.failed.ok_or(Refusal::NoFailedLocation)?,
            Effect::Call { procedure, .. } => self.frame(procedure, edge)?.entry,
            Effect::Return { .. } => self.caller(edge)?.back,
            _ => edge.to,
        };
        Ok(Event { thread: self.thread, edge: Some(id), from: edge.from, to, effect, span: edge.span })
    }

    fn effect(&self, edge: &Edge, choice: Value) -> Result<Effect, Refusal> {
        match &edge.instruction {
            Instruction::Skip => Ok(Effect::Skip),
            Instruction::Load { register, address } => self.load(*register, address).map(Effect::Load),
            Instruction::Snapshot(loads) => self.loads(loads).map(Effect::Snapshot),
            Instruction::Await { loads, condition } => self.wait(loads, condition),
            Instruction::Store { address, value } => self.store(self.own.eval(address), self.own.eval(value)),
            Instruction::Fence => self.needs_empty_buffer().map(|()| Effect::Fence),
            Instruction::Membarrier => self.needs_all_buffers_empty().map(|()| Effect::Membarrier),
            Instruction::Assign { register, value } => {
                Ok(Effect::Assign { register: *register, value: self.own.eval(value) })
            }
            Instruction::Assume(condition) => self.assume(condition),
            Instruction::Assert(condition) => Ok(Effect::Assert { holds: self.own.eval(condition) != 0 }),
            Instruction::ReadModifyWrite { register, address, operation } => {
                self.read_modify_write(*register, self.own.eval(address), operation)
            }
            Instruction::Lock => self.lock(),
            Instruction::Unlock => self.unlock(),
            Instruction::Havoc { register, range } if range.contains(choice) => {
                Ok(Effect::Havoc { register: *register, value: choice })
            }
            Instruction::Havoc { range, .. } => Err(Refusal::ChoiceOutsideRange(choice, *range)),
            Instruction::Terminate => Ok(Effect::Terminate),
            Instruction::Call { procedure, arguments, register } => self.call(edge, *procedure, arguments, *register),
            Instruction::Return(value) => {
                Ok(Effect::Return { register: self.caller(edge)?.result, value: self.own.eval(value) })
            }
            Instruction::Spawn(thread) => self.spawn(edge, *thread),
        }
    }

    /// The caller of the procedure that the thread is in.
    fn caller(&self, edge: &Edge) -> Result<&Caller, Refusal> {
        let none = Refusal::Unsupported(Unsupported { feature: Feature::Return, span: edge.span });
        self.own.callers.last().ok_or(none)
    }

    fn frame(&self, procedure: ProcId, edge: &Edge) -> Result<&Frame, Refusal> {
        let linked = self.program.body(self.thread).frames.get(procedure.index());
        let unlinked = Refusal::Unsupported(Unsupported { feature: Feature::Call, span: edge.span });
        linked.and_then(Option::as_ref).ok_or(unlinked)
    }

    /// All registers of the procedure are new: the parameters have the arguments, all others 0.
    fn call(
        &self,
        edge: &Edge,
        procedure: ProcId,
        arguments: &[RegExpr],
        result: Option<RegId>,
    ) -> Result<Effect, Refusal> {
        let frame = self.frame(procedure, edge)?;
        let argument = |register: &RegId| {
            let position = frame.parameters.iter().position(|parameter| parameter == register)?;
            arguments.get(position).map(|argument| self.own.eval(argument))
        };
        let registers = frame.registers.iter().map(|register| (*register, argument(register).unwrap_or(0))).collect();
        Ok(Effect::Call { procedure, registers, back: edge.to, result })
    }

    /// The first instance that has not started; the buffers of both threads stay as they are.
    fn spawn(&self, edge: &Edge, thread: ThreadId) -> Result<Effect, Refusal> {
        let known = thread.index() < self.program.threads.len();
        let mut instances = known.then(|| self.program.instances(thread)).into_iter().flatten();
        let none_left = Refusal::Unsupported(Unsupported { feature: Feature::Spawn, span: edge.span });
        instances.find(|&instance| !self.state.thread(instance).is_present).map(Effect::Spawn).ok_or(none_left)
    }

    fn load(&self, register: RegId, address: &RegExpr) -> Result<Loaded, Refusal> {
        self.needs_memory()?;
        let address = self.own.eval(address);
        let (value, from) = match self.own.newest_buffered(address) {
            Some(store) => (store.value, ReadFrom::Buffer(store.step)),
            None => (self.state.cell(self.program, address), ReadFrom::Memory),
        };
        Ok(Loaded { register, address, value, from })
    }

    /// Several loads from one and the same state.
    fn loads(&self, loads: &[(RegId, RegExpr)]) -> Result<Vec<Loaded>, Refusal> {
        loads.iter().map(|(register, address)| self.load(*register, address)).collect()
    }

    /// Several loads from one and the same state, and then a test of what they found.
    fn wait(&self, loads: &[(RegId, RegExpr)], condition: &RegExpr) -> Result<Effect, Refusal> {
        let loads = self.loads(loads)?;
        let found =
            |register: RegId| loads.iter().find(|loaded| loaded.register == register).map(|loaded| loaded.value);
        let holds =
            condition.eval(&mut |&register| found(register).unwrap_or_else(|| self.own.registers[register.index()]));
        if holds == 0 { Err(Refusal::AssumptionFails) } else { Ok(Effect::Await(loads)) }
    }

    fn store(&self, address: Address, value: Value) -> Result<Effect, Refusal> {
        let buffered = self.model == Model::Tso;
        if !buffered {
            self.needs_memory()?;
        }
        self.needs_room(address, value)?;
        let value = self.program.stored(address, value);
        Ok(Effect::Store { address, value, buffered })
    }

    fn assume(&self, condition: &RegExpr) -> Result<Effect, Refusal> {
        if self.own.eval(condition) == 0 { Err(Refusal::AssumptionFails) } else { Ok(Effect::Assume) }
    }

    fn read_modify_write(&self, register: Option<RegId>, address: Address, rmw: &Rmw) -> Result<Effect, Refusal> {
        self.needs_memory()?;
        self.needs_empty_buffer()?;
        let read = self.state.cell(self.program, address);
        let evaluated = outcome(rmw, read, |operand| Ok::<_, Infallible>(self.own.eval(operand)));
        let Ok((written, result)) = evaluated;
        if let Some(value) = written {
            self.needs_room(address, value)?;
        }
        let written = written.map(|value| self.program.stored(address, value));
        Ok(Effect::ReadModifyWrite { register: register.map(|register| (register, result)), address, read, written })
    }

    fn lock(&self) -> Result<Effect, Refusal> {
        match self.state.lock_holder() {
            Some(holder) if holder == self.thread => Err(Refusal::LockedAlready),
            Some(holder) => Err(Refusal::LockedBy(holder)),
            None => self.needs_empty_buffer().map(|()| Effect::Lock),
        }
    }

    fn unlock(&self) -> Result<Effect, Refusal> {
        if self.state.lock_holder() != Some(self.thread) {
            return Err(Refusal::NotLocked);
        }
        self.needs_empty_buffer().map(|()| Effect::Unlock)
    }

    fn needs_memory(&self) -> Result<(), Refusal> {
        match self.state.lock_holder() {
            Some(holder) if holder != self.thread => Err(Refusal::LockedBy(holder)),
            _ => Ok(()),
        }
    }

    fn needs_empty_buffer(&self) -> Result<(), Refusal> {
        match self.own.buffer.len() {
            0 => Ok(()),
            waiting => Err(Refusal::BufferNotEmpty(waiting)),
        }
    }

    fn needs_all_buffers_empty(&self) -> Result<(), Refusal> {
        self.needs_empty_buffer()?;
        let waiting = self.state.present_threads().find(|(_, other)| !other.buffer.is_empty());
        match waiting {
            None => Ok(()),
            Some((thread, other)) => Err(Refusal::OtherBufferNotEmpty(thread, other.buffer.len())),
        }
    }

    fn needs_room(&self, address: Address, value: Value) -> Result<(), Refusal> {
        if self.program.admits(address, value) { Ok(()) } else { Err(Refusal::OutsideRange(address, value)) }
    }
}

/// What a read-modify-write writes, if anything, and its result, when the cell holds `read`.
pub(crate) fn outcome<E>(
    rmw: &Rmw,
    read: Value,
    eval: impl Fn(&RegExpr) -> Result<Value, E>,
) -> Result<(Option<Value>, Value), E> {
    let compare = |expected, new| Ok(if eval(expected)? == read { Some(eval(new)?) } else { None });
    Ok(match rmw {
        Rmw::CompareAndSwap { expected, new } => {
            let written = compare(expected, new)?;
            (written, Value::from(written.is_some()))
        }
        Rmw::CompareExchange { expected, new } => (compare(expected, new)?, read),
        Rmw::Exchange(value) => (Some(eval(value)?), read),
        Rmw::Fetch(how, value) => (Some(how.operator().apply(read, eval(value)?)), read),
    })
}
