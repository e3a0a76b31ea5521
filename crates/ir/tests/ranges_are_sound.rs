//! Random programs, run at random: no value may ever turn up outside the range computed for it.
//!
//! The runs are those of a plain interpreter with store buffers that drain late (TSO) or at once (SC), with
//! call stacks and spawned threads. Programs have computed addresses, loops, declared ranges, and arithmetic
//! near overflow.

use std::collections::BTreeMap;
use weir_ir::flow::Ranges;
use weir_ir::{
    BinaryOp, BinaryRmw, Body, Edge, EdgeId, Expr, Instruction, LocId, Location, Multiplicity, ProcId, Procedure,
    Program, Range, RegExpr, RegId, Register, Rmw, Shared, Span, Thread, ThreadId, UnaryOp, Value,
};

const PROGRAMS: u64 = 4000;
const RUNS: u64 = 6;
const STEPS: usize = 150;

#[test]
fn no_run_leaves_the_ranges() {
    let (mut steps, mut registers, mut bounded) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let program = Generator(Random(seed)).program();
        let ranges = Ranges::of(&program);
        let (all, some) = count_registers(&program, &ranges);
        (registers, bounded) = (registers + all, bounded + some);
        for run in 0..RUNS {
            steps += Machine::new(&program, &ranges, seed).run(&mut Random(seed << 8 | run), run % 2 == 0);
        }
    }
    assert!(steps > 500_000, "the programs hardly run: {steps} steps");
    assert!(bounded * 2 > registers, "the ranges hardly say anything: {bounded} of {registers}");
}

/// How many registers there are, and of how many the range is not everything.
fn count_registers(program: &Program, ranges: &Ranges) -> (usize, usize) {
    let registers = |thread| (0..program.body(thread).registers.len()).map(move |at| (thread, RegId::new(at)));
    let hulls = program.thread_ids().flat_map(registers).map(|(thread, register)| ranges.register(thread, register));
    hulls.fold((0, 0), |(all, bounded), hull| (all + 1, bounded + usize::from(hull != Range::FULL)))
}

/// SplitMix64: small, and good enough for tests.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

struct Generator(Random);

impl Generator {
    fn program(&mut self) -> Program {
        let mut program = Program { shared: self.shared(), ..Program::default() };
        let threads = 1 + self.0.below(3);
        let procedures = self.0.below(2);
        for at in 0..procedures {
            let body = self.body(threads, procedures, true);
            let parameters = vec![RegId(0)];
            program.procedures.push(Procedure { name: format!("f{at}"), parameters, body, span: Span::default() });
        }
        for at in 0..threads {
            let (name, body) = (format!("P{at}"), self.body(threads, procedures, false));
            let family = (name.clone(), None);
            let multiplicity = if at > 0 && self.0.chance(20) { Multiplicity::Spawned } else { Multiplicity::One };
            program.threads.push(Thread { name, family, multiplicity, weight: 1, body, span: Span::default() });
        }
        program
    }

    fn shared(&mut self) -> Vec<Shared> {
        let mut address = 1;
        let mut declare = |name: &str, cells: usize, random: &mut Random| {
            let range = random.chance(40).then(|| random.pick(&[(-1, 2), (0, 1), (0, 7), (-4, Value::MAX)]));
            let range = range.map(|(low, high)| Range { low, high });
            let initial = (0..cells).map(|_| random.pick(&[0, 0, 1])).collect();
            let start = address + Value::from(random.chance(20));
            address = start + cells as Value;
            Shared { name: name.into(), address: start, is_array: cells > 1, initial, range, span: Span::default() }
        };
        let random = &mut self.0;
        vec![declare("x", 1, random), declare("a", 3, random), declare("y", 1, random)]
    }

    fn body(&mut self, threads: usize, procedures: usize, is_procedure: bool) -> Body {
        let registers = 1 + self.0.below(4);
        let locations = 2 + self.0.below(7);
        let named = |at| Register { name: format!("r{at}"), is_temporary: false, span: Span::default() };
        let failed = LocId::new(locations);
        let mut edges = Vec::new();
        for from in 0..locations - 1 {
            for _ in 0..self.0.pick(&[1, 1, 1, 2, 2, 3]) {
                let to = if self.0.chance(70) { from + 1 } else { self.0.below(locations) };
                let instruction = self.instruction(registers, threads, procedures);
                // Both ways of a test, as `while` and `if` have them.
                if let Instruction::Assume(condition) = &instruction {
                    let other = Instruction::Assume(condition.negated());
                    edges.push(edge(from, self.0.below(locations), other));
                }
                edges.push(edge(from, to, instruction));
            }
        }
        if is_procedure {
            edges.push(edge(self.0.below(locations - 1), locations - 1, Instruction::Return(self.expr(registers, 2))));
        }
        let all = vec![Location::default(); locations + 1];
        Body::new((0..registers).map(named).collect(), all, LocId(0), Some(failed), edges)
    }

    fn instruction(&mut self, registers: usize, threads: usize, procedures: usize) -> Instruction {
        let register = RegId::new(self.0.below(registers));
        let wanted = self.0.chance(70).then_some(register);
        match self.0.below(20) {
            0..=2 => Instruction::Load { register, address: self.address(registers) },
            3..=6 => Instruction::Store { address: self.address(registers), value: self.expr(registers, 2) },
            7..=10 => Instruction::Assign { register, value: self.expr(registers, 2) },
            11..=13 => Instruction::Assume(self.expr(registers, 3)),
            14 => Instruction::Assert(self.expr(registers, 2)),
            15 | 16 => Instruction::ReadModifyWrite {
                register: wanted,
                address: self.address(registers),
                operation: self.operation(registers),
            },
            17 => {
                let (low, extent) = (self.value(), self.0.pick(&[0, 1, 5]));
                Instruction::Havoc { register, range: Range { low, high: low.saturating_add(extent) } }
            }
            18 if procedures > 0 => Instruction::Call {
                procedure: ProcId::new(self.0.below(procedures)),
                arguments: vec![self.expr(registers, 1)],
                register: wanted,
            },
            18 => Instruction::Spawn(ThreadId::new(self.0.below(threads))),
            _ => self.0.pick(&[Instruction::Fence, Instruction::Skip]),
        }
    }

    fn operation(&mut self, registers: usize) -> Rmw {
        let (first, second) = (self.expr(registers, 1), self.expr(registers, 1));
        let how = [BinaryRmw::Add, BinaryRmw::Subtract, BinaryRmw::And, BinaryRmw::Or, BinaryRmw::Xor];
        match self.0.below(4) {
            0 => Rmw::CompareAndSwap { expected: first, new: second },
            1 => Rmw::CompareExchange { expected: first, new: second },
            2 => Rmw::Exchange(first),
            _ => Rmw::Fetch(self.0.pick(&how), first),
        }
    }

    fn address(&mut self, registers: usize) -> RegExpr {
        let base = Expr::Const(1 + self.0.below(6) as Value);
        if self.0.chance(60) {
            return base;
        }
        Expr::binary(BinaryOp::Add, base, self.expr(registers, 1))
    }

    fn expr(&mut self, registers: usize, depth: usize) -> RegExpr {
        let leaf =
            if self.0.chance(65) { Expr::Leaf(RegId::new(self.0.below(registers))) } else { Expr::Const(self.value()) };
        if depth == 0 || self.0.chance(25) {
            return leaf;
        }
        if self.0.chance(15) {
            let op = self.0.pick(&[UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement]);
            return Expr::unary(op, self.expr(registers, depth - 1));
        }
        let usual = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Less, BinaryOp::LessEqual, BinaryOp::Equal];
        let op = if self.0.chance(50) { self.0.pick(&usual) } else { self.0.pick(&BinaryOp::ALL) };
        Expr::binary(op, self.expr(registers, depth - 1), self.expr(registers, depth - 1))
    }

    fn value(&mut self) -> Value {
        const RARE: [Value; 8] = [Value::MAX, Value::MIN, Value::MAX - 1, Value::MIN + 2, 63, 1 << 62, -(1 << 62), 100];
        if self.0.chance(12) { self.0.pick(&RARE) } else { self.0.below(8) as Value - 2 }
    }
}

fn edge(from: usize, to: usize, instruction: Instruction) -> Edge {
    Edge { from: LocId::new(from), to: LocId::new(to), instruction, span: Span::default() }
}

/// One call that has not returned.
struct Frame<'p> {
    body: &'p Body,
    loc: LocId,
    registers: Vec<Value>,
    /// Where the caller wants the result.
    result: Option<RegId>,
}

impl<'p> Frame<'p> {
    fn new(body: &'p Body, result: Option<RegId>) -> Self {
        Self { body, loc: body.entry, registers: vec![0; body.registers.len()], result }
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

struct Machine<'p> {
    program: &'p Program,
    ranges: &'p Ranges,
    memory: BTreeMap<Value, Value>,
    threads: Vec<Running<'p>>,
    seed: u64,
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, ranges: &'p Ranges, seed: u64) -> Self {
        let mut machine = Self { program, ranges, memory: BTreeMap::new(), threads: Vec::new(), seed };
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

    /// Takes random steps; how many.
    fn run(mut self, random: &mut Random, is_tso: bool) -> u64 {
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
        assert!(self.ranges.cell(address).contains(value), "seed {}: cell {address} holds {value}", self.seed);
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
        let Some(to) = self.execute(at, id, edge, random) else { return false };
        let depth = self.threads[at].stack.len();
        let called = matches!(edge.instruction, Instruction::Call { .. });
        if let Some(frame) = self.threads[at].stack.get_mut(depth - 1 - usize::from(called)) {
            frame.loc = to;
        }
        let known = !outermost || self.ranges.can_take(self.threads[at].thread, id);
        assert!(known, "seed {}: {edge:?}", self.seed);
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
            Instruction::Store { address, value } => {
                let (address, value) = (frame.eval(address), frame.eval(value));
                self.check_write(at, id, address, value)?;
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
                    self.check_write(at, id, address, new)?;
                    self.memory.insert(address, new);
                }
                self.check_address(at, id, address);
                self.set(at, *register, result);
            }
            Instruction::Fence => self.threads[at].buffer.is_empty().then_some(())?,
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
            let range = self.ranges.register_at(*thread, frame.loc, register);
            let within = range.is_some_and(|range| range.contains(value));
            assert!(within, "seed {}: {thread:?} {register:?} = {value} at {:?}: {range:?}", self.seed, frame.loc);
            assert!(self.ranges.register(*thread, register).contains(value));
        }
    }

    fn check_address(&self, at: usize, edge: EdgeId, address: Value) {
        if self.threads[at].stack.len() == 1 {
            let range = self.ranges.address_of(self.threads[at].thread, edge);
            assert!(range.is_some_and(|range| range.contains(address)), "seed {}: {address}, {range:?}", self.seed);
        }
    }

    /// Nothing if the write is blocked.
    fn check_write(&self, at: usize, edge: EdgeId, address: Value, value: Value) -> Option<()> {
        self.program.admits(address, value).then_some(())?;
        self.check_address(at, edge, address);
        let range = self.ranges.cell(address);
        assert!(range.contains(value), "seed {}: {value} to cell {address}: {range:?}", self.seed);
        assert!(self.ranges.may_be_written(address), "seed {}: cell {address} is written", self.seed);
        let declared = self.program.shared_at(address).is_some();
        assert!(declared || self.ranges.undeclared().contains(value), "seed {}: {address}", self.seed);
        Some(())
    }
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
