//! Where the steps of a state with a buffer that forgets lead: the rules of TSO, but for what a buffer remembers.

use std::collections::BTreeMap;

use weir_ir::{Address, Edge, Instruction, LocId, Program, RegExpr, RegId, Rmw, ThreadId, Value};

use super::fault::Fault;
use super::{AbstractBuffer, AbstractState, AbstractThread, Buffering};
use crate::interpret::outcome;

/// One thread about to move.
pub(crate) struct Interpreter<'a> {
    pub(crate) program: &'a Program,
    pub(crate) buffering: Buffering,
    pub(crate) state: &'a AbstractState,
    /// The thread, and its place in the state.
    pub(crate) thread: ThreadId,
    pub(crate) place: usize,
}

impl Interpreter<'_> {
    fn own(&self) -> &AbstractThread {
        &self.state.threads[self.place]
    }

    /// The states after a flush.
    pub(crate) fn flushes(&self) -> Vec<AbstractState> {
        if self.is_locked_out() {
            return Vec::new();
        }
        let after = |((address, value), buffer): ((Address, Value), AbstractBuffer)| {
            let mut next = self.state.clone();
            next.threads[self.place].buffer = buffer;
            write(self.program, &mut next.memory, address, value);
            next
        };
        self.own().buffer.flushes().into_iter().map(after).collect()
    }

    /// The states after this edge, which leaves where the thread is. Of a choice of values, those that `choices` picks.
    pub(crate) fn execute(
        &self,
        edge: &Edge,
        choices: impl FnOnce(RegId, weir_ir::Range) -> Result<Vec<Value>, Fault>,
    ) -> Result<Vec<AbstractState>, Fault> {
        let only = |state: AbstractState| Ok(vec![state]);
        let blocked = Ok(Vec::new());
        let (to, own) = (edge.to, self.own());
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => only(self.go(to)),
            Instruction::Load { .. } if self.is_locked_out() => blocked,
            Instruction::Load { register, address } => {
                let address = self.eval(address)?;
                let value = own.buffer.newest(address).unwrap_or_else(|| self.read(address));
                only(self.go_with(to, *register, value))
            }
            Instruction::Snapshot(_) if self.is_locked_out() => blocked,
            Instruction::Snapshot(loads) => self.snapshot(to, loads).map(|next| vec![next]),
            Instruction::Await { .. } if self.is_locked_out() => blocked,
            Instruction::Await { loads, condition } => {
                let next = self.snapshot(to, loads)?;
                let holds = self.eval_in(&next.threads[self.place], condition)? != 0;
                Ok(if holds { vec![next] } else { Vec::new() })
            }
            Instruction::Store { address, value } => self.store(to, self.eval(address)?, self.eval(value)?),
            Instruction::Fence => Ok(if own.buffer.is_empty() { vec![self.go(to)] } else { Vec::new() }),
            Instruction::Membarrier => {
                let is_drained = self.state.threads.iter().all(|thread| thread.buffer.is_empty());
                Ok(if is_drained { vec![self.go(to)] } else { Vec::new() })
            }
            Instruction::Assign { register, value } => only(self.go_with(to, *register, self.eval(value)?)),
            Instruction::Assume(condition) => {
                Ok(if self.eval(condition)? != 0 { vec![self.go(to)] } else { Vec::new() })
            }
            Instruction::Assert(condition) => {
                let failed = self.program.body(self.thread).failed.ok_or(Fault::NoFailedLocation)?;
                only(self.go(if self.eval(condition)? != 0 { to } else { failed }))
            }
            Instruction::ReadModifyWrite { .. } if self.is_locked_out() || !own.buffer.is_empty() => blocked,
            Instruction::ReadModifyWrite { register, address, operation } => {
                self.read_modify_write(to, *register, self.eval(address)?, operation)
            }
            Instruction::Lock => Ok(self.pass_lock(to, None, Some(self.thread))),
            Instruction::Unlock => Ok(self.pass_lock(to, Some(self.thread), None)),
            Instruction::Havoc { register, range } => {
                let values = choices(*register, *range)?.into_iter();
                Ok(values.map(|value| self.go_with(to, *register, value)).collect())
            }
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => Err(Fault::Unsupported),
        }
    }

    /// All addresses are known before anything is loaded.
    fn snapshot(&self, to: LocId, loads: &[(RegId, RegExpr)]) -> Result<AbstractState, Fault> {
        let mut next = self.go(to);
        for (register, address) in loads {
            let address = self.eval(address)?;
            let value = self.own().buffer.newest(address).unwrap_or_else(|| self.read(address));
            next.threads[self.place].registers.insert(*register, value);
        }
        Ok(next)
    }

    fn store(&self, to: LocId, address: Address, value: Value) -> Result<Vec<AbstractState>, Fault> {
        if !self.program.admits(address, value) {
            return Ok(Vec::new());
        }
        let mut next = self.go(to);
        let value = self.program.stored(address, value);
        next.threads[self.place].buffer = self.own().buffer.with(self.buffering, address, value);
        Ok(vec![next])
    }

    fn read_modify_write(
        &self,
        to: LocId,
        register: Option<RegId>,
        address: Address,
        operation: &Rmw,
    ) -> Result<Vec<AbstractState>, Fault> {
        let old = self.read(address);
        let (written, result) = outcome(operation, old, |operand| self.eval(operand))?;
        if written.is_some_and(|value| !self.program.admits(address, value)) {
            return Ok(Vec::new());
        }
        let mut next = register.map_or_else(|| self.go(to), |register| self.go_with(to, register, result));
        if let Some(value) = written.map(|value| self.program.stored(address, value)) {
            write(self.program, &mut next.memory, address, value);
        }
        Ok(vec![next])
    }

    fn pass_lock(&self, to: LocId, before: Option<ThreadId>, after: Option<ThreadId>) -> Vec<AbstractState> {
        let possible = self.state.lock_holder == before && self.own().buffer.is_empty();
        if possible { vec![AbstractState { lock_holder: after, ..self.go(to) }] } else { Vec::new() }
    }

    fn is_locked_out(&self) -> bool {
        self.state.lock_holder.is_some_and(|holder| holder != self.thread)
    }

    pub(super) fn read(&self, address: Address) -> Value {
        self.state.memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }

    /// The value of an expression, if the registers that it reads are known.
    pub(super) fn eval(&self, expr: &RegExpr) -> Result<Value, Fault> {
        self.eval_in(self.own(), expr)
    }

    fn eval_in(&self, own: &AbstractThread, expr: &RegExpr) -> Result<Value, Fault> {
        let mut unknown = None;
        let value = expr.eval(&mut |register| {
            own.registers.get(register).copied().unwrap_or_else(|| {
                unknown = Some(*register);
                0
            })
        });
        unknown.map_or(Ok(value), |register| Err(Fault::UnknownRegister(self.thread, register)))
    }

    fn go(&self, to: LocId) -> AbstractState {
        let mut next = self.state.clone();
        next.threads[self.place].location = to;
        next
    }

    fn go_with(&self, to: LocId, register: RegId, value: Value) -> AbstractState {
        let mut next = self.go(to);
        next.threads[self.place].registers.insert(register, value);
        next
    }
}

/// Writes memory, of which only what differs from the start is kept.
fn write(program: &Program, memory: &mut BTreeMap<Address, Value>, address: Address, value: Value) {
    if value == program.initial_value(address) {
        memory.remove(&address);
    } else {
        memory.insert(address, value);
    }
}
