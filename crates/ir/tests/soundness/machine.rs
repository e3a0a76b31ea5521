//! A plain interpreter with store buffers, call stacks and spawned threads, which checks each step against
//! what was claimed about all runs.

use crate::Claims;
use crate::generator::Random;
use std::collections::BTreeMap;
use weir_ir::{
    Body, Edge, EdgeId, Instruction, LocId, Multiplicity, Program, RegExpr, RegId, Rmw, Span, ThreadId, Value,
};

const STEPS: usize = 150;

/// One call that has not returned.
struct Frame<'p> {
    body: &'p Body,
    loc: LocId,
    registers: Vec<Value>,
    /// Which registers were set, or hold arguments.
    is_set: Vec<bool>,
    /// Where the caller wants the result.
    result: Option<RegId>,
}

impl<'p> Frame<'p> {
    fn new(body: &'p Body, result: Option<RegId>) -> Self {
        let count = body.registers.len();
        Self { body, loc: body.entry, registers: vec![0; count], is_set: vec![false; count], result }
    }

    fn eval(&self, expr: &RegExpr) -> Value {
        expr.eval(&mut |register| self.registers[register.index()])
    }
}

struct Running<'p> {
    thread: ThreadId,
    /// Empty once the thread is done.
    stack: Vec<Frame<'p>>,
    buffer: Vec<(Value, Value)>,
}

/// A state of a program, and what was claimed about its runs.
pub(crate) struct Machine<'p> {
    program: &'p Program,
    claims: &'p Claims,
    memory: BTreeMap<Value, Value>,
    threads: Vec<Running<'p>>,
    seed: u64,
}

impl<'p> Machine<'p> {
    pub(crate) fn new(program: &'p Program, claims: &'p Claims, seed: u64) -> Self {
        let mut machine = Self { program, claims, memory: BTreeMap::new(), threads: Vec::new(), seed };
        for thread in program.thread_ids() {
            if program.thread(thread).multiplicity == Multiplicity::One {
                machine.start(thread);
            }
        }
        machine
    }

    fn start(&mut self, thread: ThreadId) {
        let stack = vec![Frame::new(self.program.body(thread), None)];
        self.threads.push(Running { thread, stack, buffer: Vec::new() });
        self.check_registers(self.threads.len() - 1);
    }

    /// Takes random steps, with late flushes if `is_tso`; how many.
    pub(crate) fn run(mut self, random: &mut Random, is_tso: bool) -> u64 {
        let mut taken = 0;
        for _ in 0..STEPS {
            let at = random.below(self.threads.len());
            if !is_tso || random.chance(15) {
                self.flush(at);
            }
            taken += u64::from(self.step(at, random));
            self.return_if_done(at);
        }
        taken
    }

    fn flush(&mut self, at: usize) {
        if !self.threads[at].buffer.is_empty() {
            let (address, value) = self.threads[at].buffer.remove(0);
            self.memory.insert(address, value);
        }
    }

    fn read(&self, at: usize, address: Value) -> Value {
        let buffered = self.threads[at].buffer.iter().rev().find(|(to, _)| *to == address);
        let value = buffered.map_or_else(|| self.in_memory(address), |(_, value)| *value);
        assert!(self.claims.ranges.cell(address).contains(value), "seed {}: cell {address} holds {value}", self.seed);
        value
    }

    fn in_memory(&self, address: Value) -> Value {
        self.memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }

    fn step(&mut self, at: usize, random: &mut Random) -> bool {
        let Some(frame) = self.threads[at].stack.last() else { return false };
        let edges: Vec<(EdgeId, &Edge)> = frame.body.edges_from(frame.loc).collect();
        if edges.is_empty() {
            return false;
        }
        let (id, edge) = edges[random.below(edges.len())];
        let outermost = self.threads[at].stack.len() == 1;
        let unset = unset_reads(frame, edge);
        let Some(to) = self.execute(at, id, edge, random) else { return false };
        let depth = self.threads[at].stack.len();
        let called = matches!(edge.instruction, Instruction::Call { .. });
        if let Some(frame) = self.threads[at].stack.get_mut(depth - 1 - usize::from(called)) {
            frame.loc = to;
        }
        let known = !outermost || self.claims.ranges.can_take(self.threads[at].thread, id);
        assert!(known, "seed {}: {edge:?}", self.seed);
        self.check_lint(edge, &unset);
        self.check_registers(at);
        true
    }

    /// Executes an instruction of the topmost frame; where it leads, or nothing if it cannot be taken.
    fn execute(&mut self, at: usize, id: EdgeId, edge: &'p Edge, random: &mut Random) -> Option<LocId> {
        let frame = self.threads[at].stack.last()?;
        match &edge.instruction {
            Instruction::Load { register, address } => {
                let address = frame.eval(address);
                self.check_address(at, id, address);
                let value = self.read(at, address);
                self.set(at, Some(*register), value);
            }
            Instruction::Snapshot(loads) => {
                let addresses: Vec<Value> = loads.iter().map(|(_, address)| frame.eval(address)).collect();
                for ((register, _), address) in loads.iter().zip(addresses) {
                    self.check_address(at, id, address);
                    let value = self.read(at, address);
                    self.set(at, Some(*register), value);
                }
            }
            Instruction::Store { address, value } => {
                let (address, value) = (frame.eval(address), frame.eval(value));
                let value = self.check_write(at, id, address, value)?;
                self.threads[at].buffer.push((address, value));
            }
            Instruction::Assign { register, value } => self.set(at, Some(*register), frame.eval(value)),
            Instruction::Assume(condition) => return (frame.eval(condition) != 0).then_some(edge.to),
            Instruction::Assert(condition) if frame.eval(condition) == 0 => return frame.body.failed,
            Instruction::ReadModifyWrite { register, address, operation } => {
                let address = frame.eval(address);
                let operands = operands(frame, operation);
                let held = self.threads[at].buffer.is_empty().then(|| self.read(at, address))?;
                let (result, new) = modify(operation, &operands, held);
                if let Some(new) = new {
                    let new = self.check_write(at, id, address, new)?;
                    self.memory.insert(address, new);
                }
                self.check_address(at, id, address);
                self.set(at, *register, result);
            }
            Instruction::Fence => self.threads[at].buffer.is_empty().then_some(())?,
            Instruction::Await { loads, condition } => {
                let addresses: Vec<Value> = loads.iter().map(|(_, address)| frame.eval(address)).collect();
                let mut after = frame.registers.clone();
                let found: Vec<Value> = addresses.iter().map(|&address| self.read(at, address)).collect();
                for ((register, _), &value) in loads.iter().zip(&found) {
                    after[register.index()] = value;
                }
                if condition.eval(&mut |register| after[register.index()]) == 0 {
                    return None;
                }
                for ((register, _), (address, value)) in loads.iter().zip(addresses.into_iter().zip(found)) {
                    self.check_address(at, id, address);
                    self.set(at, Some(*register), value);
                }
            }
            Instruction::Membarrier => self.threads.iter().all(|thread| thread.buffer.is_empty()).then_some(())?,
            Instruction::Havoc { register, range } => {
                let value = range.low + random.below(range.extent() as usize + 1) as Value;
                self.set(at, Some(*register), value);
            }
            Instruction::Call { procedure, arguments, register } => {
                let procedure = &self.program.procedures[procedure.index()];
                let arguments: Vec<Value> = arguments.iter().map(|argument| frame.eval(argument)).collect();
                let mut callee = Frame::new(&procedure.body, *register);
                for (parameter, argument) in procedure.parameters.iter().zip(arguments) {
                    callee.registers[parameter.index()] = argument;
                    callee.is_set[parameter.index()] = true;
                }
                (self.threads[at].stack.len() < 5).then(|| self.threads[at].stack.push(callee))?;
            }
            Instruction::Return(value) => {
                let value = frame.eval(value);
                self.return_value(at, value);
                return self.threads[at].stack.last().map(|frame| frame.loc);
            }
            Instruction::Spawn(thread) => (self.threads.len() < 6).then(|| self.start(*thread))?,
            _ => {}
        }
        Some(edge.to)
    }

    fn set(&mut self, at: usize, register: Option<RegId>, value: Value) {
        if let (Some(register), Some(frame)) = (register, self.threads[at].stack.last_mut()) {
            frame.registers[register.index()] = value;
            frame.is_set[register.index()] = true;
        }
    }

    fn return_value(&mut self, at: usize, value: Value) {
        let result = self.threads[at].stack.pop().and_then(|frame| frame.result);
        self.set(at, result, value);
    }

    fn return_if_done(&mut self, at: usize) {
        let stack = &self.threads[at].stack;
        if stack.len() > 1 && stack.last().is_some_and(|frame| frame.body.is_done(frame.loc)) {
            self.return_value(at, 0);
            self.check_registers(at);
        }
    }

    fn check_registers(&self, at: usize) {
        let Running { thread, stack, .. } = &self.threads[at];
        // A caller waits within its step; only without callees is it where its location says.
        let [frame] = &stack[..] else { return };
        for (register, &value) in frame.registers.iter().enumerate() {
            let register = RegId::new(register);
            let range = self.claims.ranges.register_at(*thread, frame.loc, register);
            let within = range.is_some_and(|range| range.contains(value));
            assert!(within, "seed {}: {thread:?} {register:?} = {value} at {:?}: {range:?}", self.seed, frame.loc);
            assert!(self.claims.ranges.register(*thread, register).contains(value));
        }
    }

    /// What was called impossible has not happened, and reading what was not set was foreseen.
    fn check_lint(&self, edge: &Edge, unset: &[Span]) {
        assert!(!self.claims.impossible.contains(&edge.span), "seed {}: {edge:?}", self.seed);
        let foreseen = unset.iter().all(|register| self.claims.unset.contains(register));
        assert!(foreseen, "seed {}: reads an unset register: {edge:?}", self.seed);
    }

    fn check_address(&self, at: usize, edge: EdgeId, address: Value) {
        if self.threads[at].stack.len() == 1 {
            let ranges = self.claims.ranges.addresses_of(self.threads[at].thread, edge);
            assert!(ranges.iter().any(|range| range.contains(address)), "seed {}: {address}, {ranges:?}", self.seed);
        }
    }

    /// Nothing if the write is blocked.
    fn check_write(&self, at: usize, edge: EdgeId, address: Value, value: Value) -> Option<Value> {
        self.program.admits(address, value).then_some(())?;
        let bits = self.program.shared_at(address).and_then(|(shared, _)| shared.width).map(weir_ir::Width::bits);
        let value = bits.map_or(value, |bits| value.rem_euclid(1 << bits));
        self.check_address(at, edge, address);
        let range = self.claims.ranges.cell(address);
        assert!(range.contains(value), "seed {}: {value} to cell {address}: {range:?}", self.seed);
        assert!(self.claims.ranges.may_be_written(address), "seed {}: cell {address} is written", self.seed);
        let declared = self.program.shared_at(address).is_some();
        assert!(declared || self.claims.ranges.undeclared().contains(value), "seed {}: {address}", self.seed);
        Some(value)
    }
}

/// The registers that an edge reads although they were never set.
fn unset_reads(frame: &Frame, edge: &Edge) -> Vec<Span> {
    let mut unset = Vec::new();
    edge.instruction.uses(&mut |register| {
        if !frame.is_set[register.index()] {
            unset.push(frame.body.registers[register.index()].span);
        }
    });
    unset
}

fn operands(frame: &Frame, operation: &Rmw) -> Vec<Value> {
    let mut values = Vec::new();
    operation.for_each_operand(&mut |operand| values.push(frame.eval(operand)));
    values
}

/// The result of a read-modify-write, and what it writes.
fn modify(operation: &Rmw, operands: &[Value], held: Value) -> (Value, Option<Value>) {
    match (operation, operands) {
        (Rmw::CompareAndSwap { .. }, &[expected, new]) => {
            (Value::from(held == expected), (held == expected).then_some(new))
        }
        (Rmw::CompareExchange { .. }, &[expected, new]) => (held, (held == expected).then_some(new)),
        (Rmw::Fetch(how, _), &[operand]) => (held, Some(how.operator().apply(held, operand))),
        _ => (held, operands.first().copied()),
    }
}
