//! Where each step of a state with a buffer that forgets leads, written out once more from the definitions.

use std::collections::BTreeMap;

use weir_ir::{Address, Edge, EdgeId, Instruction, Program, RegExpr, RegId, Rmw, ThreadId, Value};

use super::super::*;

/// Values that a register may have if nobody says which.
pub(super) const ANY: [Value; 3] = [0, 1, -77];

/// A state together with the thread that is about to move.
#[derive(Clone, Copy)]
struct Interpreter<'a> {
    program: &'a Program,
    buffering: Buffering,
    state: &'a AbstractState,
    place: usize,
}

/// The state in which the program starts, with all registers listed.
pub(super) fn start(program: &Program) -> AbstractState {
    let thread = |thread: ThreadId| {
        let body = program.body(thread);
        let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
        AbstractThread { location: body.entry, registers, buffer: AbstractBuffer::default() }
    };
    AbstractState { threads: program.thread_ids().map(thread).collect(), memory: BTreeMap::new(), lock_holder: None }
}

/// Who moves, along which edge (none for a flush), and all states that this may lead to.
pub(super) type Step = (ThreadId, Option<EdgeId>, Vec<AbstractState>);

/// Every step from a state. `None` if it does not tell a register that decides.
pub(super) fn steps(program: &Program, buffering: Buffering, state: &AbstractState) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (place, thread) in program.thread_ids().enumerate() {
        let interpreter = Interpreter { program, buffering, state, place };
        steps.push((thread, None, interpreter.flush()));
        for (id, edge) in program.body(thread).edges_from(state.threads[place].location) {
            steps.push((thread, Some(id), interpreter.execute(edge)?));
        }
    }
    Some(steps)
}

/// What waits, after one more store.
fn with_store(buffering: Buffering, buffer: &AbstractBuffer, address: Address, value: Value) -> AbstractBuffer {
    let mut buffer = buffer.clone();
    let before = buffer.waiting.get(&address).cloned();
    let waiting = match buffering {
        Buffering::Coherence(most) => {
            if buffer.waiting.is_empty() && buffer.queue.len() < most as usize {
                buffer.queue.push((address, value));
                return buffer;
            }
            // A set: each of its values may reach memory again and again.
            let mut older = before.map_or_else(BTreeMap::new, |before| before.older);
            older.insert(value, None);
            Waiting { newest: value, older }
        }
        Buffering::Multiset(most) => match before {
            None => Waiting { newest: value, older: BTreeMap::new() },
            Some(mut before) => {
                let known = before.older.get(&before.newest).copied().unwrap_or(Some(0));
                let more = known.map(|count| count + 1).filter(|&count| count <= most);
                before.older.insert(before.newest, more);
                Waiting { newest: value, older: before.older }
            }
        },
    };
    buffer.waiting.insert(address, waiting);
    buffer
}

fn newest(buffer: &AbstractBuffer, address: Address) -> Option<Value> {
    let in_order = buffer.queue.iter().filter(|store| store.0 == address).map(|store| store.1).next_back();
    buffer.waiting.get(&address).map_or(in_order, |waiting| Some(waiting.newest))
}

/// Each store that may reach memory next, and what is left.
fn flushes(buffer: &AbstractBuffer) -> Vec<(Address, Value, AbstractBuffer)> {
    if let Some(((address, value), rest)) = buffer.queue.split_first() {
        return vec![(*address, *value, AbstractBuffer { queue: rest.to_vec(), ..buffer.clone() })];
    }
    let mut found = Vec::new();
    for (&address, waiting) in &buffer.waiting {
        let mut last = buffer.clone();
        last.waiting.remove(&address);
        found.push((address, waiting.newest, last));
        for (&value, &count) in &waiting.older {
            let mut older = waiting.older.clone();
            match count {
                None => {}
                Some(0 | 1) => {
                    older.remove(&value);
                }
                Some(count) => {
                    older.insert(value, Some(count - 1));
                }
            }
            let mut rest = buffer.clone();
            rest.waiting.insert(address, Waiting { newest: waiting.newest, older });
            found.push((address, value, rest));
        }
    }
    found
}

pub(super) fn is_empty(buffer: &AbstractBuffer) -> bool {
    *buffer == AbstractBuffer::default()
}

impl Interpreter<'_> {
    fn own(&self) -> &AbstractThread {
        &self.state.threads[self.place]
    }

    fn is_locked_out(&self) -> bool {
        self.state.lock_holder.is_some() && self.state.lock_holder != Some(ThreadId::new(self.place))
    }

    fn eval(&self, expr: &RegExpr) -> Option<Value> {
        eval(&self.own().registers, expr)
    }

    fn held(&self, address: Address) -> Value {
        self.state.memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }

    fn seen(&self, address: Address) -> Value {
        newest(&self.own().buffer, address).unwrap_or_else(|| self.held(address))
    }

    fn flush(&self) -> Vec<AbstractState> {
        let mut found = Vec::new();
        for (address, value, buffer) in flushes(&self.own().buffer) {
            let mut next = self.state.clone();
            next.threads[self.place].buffer = buffer;
            self.write(&mut next, address, value);
            found.push(next);
        }
        if self.is_locked_out() { Vec::new() } else { found }
    }

    fn write(&self, state: &mut AbstractState, address: Address, value: Value) {
        state.memory.insert(address, value);
        state.memory.retain(|&other, held| other != address || *held != self.program.initial_value(address));
    }

    fn execute(&self, edge: &Edge) -> Option<Vec<AbstractState>> {
        let mut next = self.state.clone();
        let own = &mut next.threads[self.place];
        own.location = edge.to;
        let me = Some(ThreadId::new(self.place));
        let is_drained = is_empty(&self.own().buffer);
        let is_possible = match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => true,
            Instruction::Load { register, address } => {
                own.registers.insert(*register, self.seen(self.eval(address)?));
                !self.is_locked_out()
            }
            Instruction::Snapshot(loads) => {
                for (register, address) in loads {
                    own.registers.insert(*register, self.seen(self.eval(address)?));
                }
                !self.is_locked_out()
            }
            Instruction::Await { loads, condition } => {
                for (register, address) in loads {
                    own.registers.insert(*register, self.seen(self.eval(address)?));
                }
                let registers = own.registers.clone();
                !self.is_locked_out() && eval(&registers, condition)? != 0
            }
            Instruction::Store { address, value } => {
                let (address, value) = (self.eval(address)?, self.eval(value)?);
                own.buffer = with_store(self.buffering, &self.own().buffer, address, value);
                self.program.admits(address, value)
            }
            Instruction::Fence => is_drained,
            Instruction::Membarrier => self.state.threads.iter().all(|thread| is_empty(&thread.buffer)),
            Instruction::Assign { register, value } => {
                own.registers.insert(*register, self.eval(value)?);
                true
            }
            Instruction::Assume(condition) => self.eval(condition)? != 0,
            Instruction::Assert(condition) => {
                if self.eval(condition)? == 0 {
                    own.location = self.program.threads[self.place].body.failed?;
                }
                true
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                if self.is_locked_out() || !is_drained {
                    return Some(Vec::new());
                }
                return self.read_modify_write(next, *register, self.eval(address)?, operation);
            }
            Instruction::Lock => {
                next.lock_holder = me;
                is_drained && self.state.lock_holder.is_none()
            }
            Instruction::Unlock => {
                next.lock_holder = None;
                is_drained && self.state.lock_holder == me
            }
            Instruction::Havoc { register, range } => {
                let with = |value| {
                    let mut next = next.clone();
                    next.threads[self.place].registers.insert(*register, value);
                    next
                };
                return Some((range.low..=range.high).map(with).collect());
            }
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => return None,
        };
        Some(if is_possible { vec![next] } else { Vec::new() })
    }

    fn read_modify_write(
        &self,
        mut next: AbstractState,
        register: Option<RegId>,
        address: Address,
        operation: &Rmw,
    ) -> Option<Vec<AbstractState>> {
        let held = self.held(address);
        let swapped = |expected, new| -> Option<Option<Value>> {
            if self.eval(expected)? == held { Some(Some(self.eval(new)?)) } else { Some(None) }
        };
        let (written, result) = match operation {
            Rmw::CompareAndSwap { expected, new } => {
                let written = swapped(expected, new)?;
                (written, Value::from(written.is_some()))
            }
            Rmw::CompareExchange { expected, new } => (swapped(expected, new)?, held),
            Rmw::Exchange(new) => (Some(self.eval(new)?), held),
            Rmw::Fetch(how, operand) => (Some(how.operator().apply(held, self.eval(operand)?)), held),
        };
        if let Some(register) = register {
            next.threads[self.place].registers.insert(register, result);
        }
        if let Some(value) = written {
            self.write(&mut next, address, value);
        }
        Some(if written.is_none_or(|value| self.program.admits(address, value)) { vec![next] } else { Vec::new() })
    }
}

/// The value, if it does not depend on registers that are not listed.
fn eval(registers: &BTreeMap<RegId, Value>, expr: &RegExpr) -> Option<Value> {
    let with = |other: Value| expr.eval(&mut |register| registers.get(register).copied().unwrap_or(other));
    let found = with(ANY[0]);
    ANY.iter().all(|&other| with(other) == found).then_some(found)
}
