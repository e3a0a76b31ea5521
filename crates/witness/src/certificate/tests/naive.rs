//! Certificates by the definition: where each step leads, written out once more, and what makes a set a certificate.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{
    Address, Edge, EdgeId, Instruction, Program, PropertyKind, RegExpr, RegId, Rmw, StateAtom, ThreadId, Value,
};

use super::super::*;
use crate::Goal;

/// Values that a register may have if nobody says which.
const ANY: [Value; 3] = [0, 1, -77];

/// A state together with the thread that is about to move.
#[derive(Clone, Copy)]
struct Mover<'a> {
    program: &'a Program,
    buffering: Buffering,
    state: &'a AbstractState,
    place: usize,
}

/// The state in which the program starts, with all registers told.
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
        let mover = Mover { program, buffering, state, place };
        steps.push((thread, None, mover.flush()));
        for (id, edge) in program.body(thread).edges_from(state.threads[place].location) {
            steps.push((thread, Some(id), mover.execute(edge)?));
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

fn is_empty(buffer: &AbstractBuffer) -> bool {
    *buffer == AbstractBuffer::default()
}

impl Mover<'_> {
    fn own(&self) -> &AbstractThread {
        &self.state.threads[self.place]
    }

    fn is_locked_out(&self) -> bool {
        self.state.lock_holder.is_some() && self.state.lock_holder != Some(ThreadId::new(self.place))
    }

    fn eval(&self, expr: &RegExpr) -> Option<Value> {
        let with =
            |other: Value| expr.eval(&mut |register| self.own().registers.get(register).copied().unwrap_or(other));
        let found = with(ANY[0]);
        ANY.iter().all(|&other| with(other) == found).then_some(found)
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
            Instruction::Store { address, value } => {
                let (address, value) = (self.eval(address)?, self.eval(value)?);
                own.buffer = with_store(self.buffering, &self.own().buffer, address, value);
                self.program.admits(address, value)
            }
            Instruction::Fence => is_drained,
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

/// Whether the state shows the goal; `None` if that depends on a register that it does not tell.
pub(super) fn shows(program: &Program, state: &AbstractState, goal: Goal) -> Option<bool> {
    let is_drained = state.threads.iter().all(|own| is_empty(&own.buffer));
    let is_done = |thread: ThreadId| program.body(thread).is_done(state.threads[thread.index()].location);
    let is_final = is_drained && program.thread_ids().all(is_done);
    let with = |condition: &weir_ir::StateExpr, other: Value| {
        condition.eval(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                Value::from(locations.contains(&state.threads[thread.index()].location))
            }
            StateAtom::Register { thread, register } => {
                state.threads[thread.index()].registers.get(register).copied().unwrap_or(other)
            }
            StateAtom::Cell(address) => {
                state.memory.get(address).copied().unwrap_or_else(|| program.initial_value(*address))
            }
        }) != 0
    };
    let holds = |condition| {
        let found = with(condition, ANY[0]);
        ANY.iter().all(|&other| with(condition, other) == found).then_some(found)
    };
    match goal {
        Goal::Assertion(thread) => Some(program.body(thread).failed == Some(state.threads[thread.index()].location)),
        Goal::NotRobust => None,
        Goal::Property(id) => match &program.properties[id.index()].kind {
            PropertyKind::Forbid(condition) if is_drained => holds(condition),
            PropertyKind::Exists(condition) if is_final => holds(condition),
            PropertyKind::Always(condition) if is_final => holds(condition).map(|holds| !holds),
            PropertyKind::ForbidDeadlock => None,
            _ => Some(false),
        },
    }
}

/// All states that steps lead to, the first one first; none if there are more than `limit`.
pub(super) fn closure(program: &Program, buffering: Buffering, limit: usize) -> Option<Vec<AbstractState>> {
    let first = start(program);
    let (mut states, mut seen, mut at) = (vec![first.clone()], BTreeSet::from([first]), 0);
    while let Some(state) = states.get(at).cloned() {
        at += 1;
        for next in steps(program, buffering, &state)?.into_iter().flat_map(|(_, _, next)| next) {
            if seen.insert(next.clone()) {
                states.push(next);
            }
        }
        if states.len() > limit {
            return None;
        }
    }
    Some(states)
}

/// Whether it is a certificate, by the definition.
pub(super) fn is_certificate(program: &Program, certificate: &Certificate) -> bool {
    let mut told: BTreeMap<(usize, weir_ir::LocId), BTreeSet<RegId>> = BTreeMap::new();
    for state in &certificate.states {
        if state.threads.len() != program.threads.len() {
            return false;
        }
        for (place, own) in state.threads.iter().enumerate() {
            let body = &program.threads[place].body;
            let registers: BTreeSet<RegId> = own.registers.keys().copied().collect();
            let fits = own.location.index() < body.locations.len()
                && registers.iter().all(|register| register.index() < body.registers.len());
            if !fits || *told.entry((place, own.location)).or_insert_with(|| registers.clone()) != registers {
                return false;
            }
        }
    }
    let is_told = |place: usize, own: &AbstractThread, register: &RegId| {
        told.get(&(place, own.location)).is_some_and(|told| told.contains(register))
    };
    let covers = |mut state: AbstractState| {
        for (place, own) in state.threads.iter_mut().enumerate() {
            let before = own.clone();
            own.registers.retain(|register, _| is_told(place, &before, register));
        }
        certificate.states.contains(&state)
    };
    let is_closed = |state: &AbstractState| {
        let steps = steps(program, certificate.buffering, state);
        steps.is_some_and(|steps| steps.into_iter().flat_map(|(_, _, next)| next).all(covers))
    };
    let shows_none =
        |state: &AbstractState| certificate.goals.iter().all(|&goal| shows(program, state, goal) == Some(false));
    covers(start(program)) && certificate.states.iter().all(|state| is_closed(state) && shows_none(state))
}
