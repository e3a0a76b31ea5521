//! Random programs with computed addresses, loops, declared ranges, procedures, and arithmetic near overflow.

use weir_ir::{
    BinaryOp, BinaryRmw, Body, Edge, Expr, Instruction, LocId, Location, Multiplicity, ProcId, Procedure, Program,
    Range, RegExpr, RegId, Register, Rmw, Shared, Span, Thread, ThreadId, UnaryOp, Value, Width,
};

/// Makes programs of one to three small threads.
pub(crate) struct Generator {
    random: Random,
    /// How many spans were given away.
    spans: usize,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random(seed), spans: 0 }
    }

    /// A span that nothing else has.
    fn span(&mut self) -> Span {
        self.spans += 1;
        Span::new(self.spans * 10, self.spans * 10 + 5)
    }

    pub(crate) fn program(&mut self) -> Program {
        let mut program = Program { shared: self.shared(), ..Program::default() };
        let threads = 1 + self.random.below(3);
        let procedures = self.random.below(2);
        for at in 0..procedures {
            let body = self.body(threads, procedures, true);
            let parameters = vec![RegId(0)];
            program.procedures.push(Procedure { name: format!("f{at}"), parameters, body, span: Span::default() });
        }
        for at in 0..threads {
            let (name, body) = (format!("P{at}"), self.body(threads, procedures, false));
            let family = (name.clone(), None);
            let multiplicity = if at > 0 && self.random.chance(20) { Multiplicity::Spawned } else { Multiplicity::One };
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
            let width = (range.is_none() && random.chance(40)).then(|| random.pick(&Width::ALL));
            let is_array = cells > 1;
            Shared { name: name.into(), address: start, is_array, initial, range, width, span: Span::default() }
        };
        let random = &mut self.random;
        let mut shared = vec![declare("x", 1, random), declare("a", 3, random), declare("y", 1, random)];
        // So many that accesses to unknown addresses are taken to touch all cells.
        let many = if random.chance(10) { 150 } else { 0 };
        shared.extend((0..many).map(|at| declare(&format!("z{at}"), 1, random)));
        shared
    }

    fn body(&mut self, threads: usize, procedures: usize, is_procedure: bool) -> Body {
        let registers = 1 + self.random.below(4);
        let locations = 2 + self.random.below(7);
        let named: Vec<Register> = (0..registers)
            .map(|at| Register {
                name: format!("r{at}"),
                is_temporary: false,
                is_thread_local: false,
                span: self.span(),
            })
            .collect();
        let failed = LocId::new(locations);
        let mut edges = Vec::new();
        for from in 0..locations - 1 {
            for _ in 0..self.random.pick(&[1, 1, 1, 2, 2, 3]) {
                let to = if self.random.chance(70) { from + 1 } else { self.random.below(locations) };
                let (span, instruction) = (self.span(), self.instruction(registers, threads, procedures));
                // Both ways of a test, as `while` and `if` have them.
                if let Instruction::Assume(condition) = &instruction {
                    let other = Instruction::Assume(condition.negated());
                    edges.push(edge(span, from, self.random.below(locations), other));
                }
                edges.push(edge(span, from, to, instruction));
            }
        }
        if is_procedure {
            let (from, value) = (self.random.below(locations - 1), self.expr(registers, 2));
            edges.push(edge(self.span(), from, locations - 1, Instruction::Return(value)));
        }
        let all = vec![Location::default(); locations + 1];
        Body::new(named, all, LocId(0), Some(failed), edges)
    }

    fn instruction(&mut self, registers: usize, threads: usize, procedures: usize) -> Instruction {
        let register = RegId::new(self.random.below(registers));
        let wanted = self.random.chance(70).then_some(register);
        match self.random.below(20) {
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
                let (low, extent) = (self.value(), self.random.pick(&[0, 1, 5]));
                Instruction::Havoc { register, range: Range { low, high: low.saturating_add(extent) } }
            }
            18 if procedures > 0 => Instruction::Call {
                procedure: ProcId::new(self.random.below(procedures)),
                arguments: vec![self.expr(registers, 1)],
                register: wanted,
            },
            18 if registers > 1 && self.random.chance(50) => {
                let other = RegId::new((register.index() + 1) % registers);
                Instruction::Snapshot(vec![(register, self.address(registers)), (other, self.address(registers))])
            }
            18 if self.random.chance(40) => {
                let loads = vec![(register, self.address(registers))];
                Instruction::Await { loads, condition: self.expr(registers, 2) }
            }
            18 => Instruction::Spawn(ThreadId::new(self.random.below(threads))),
            _ => self.random.pick(&[Instruction::Fence, Instruction::Membarrier, Instruction::Skip]),
        }
    }

    fn operation(&mut self, registers: usize) -> Rmw {
        let (first, second) = (self.expr(registers, 1), self.expr(registers, 1));
        let how = [BinaryRmw::Add, BinaryRmw::Subtract, BinaryRmw::And, BinaryRmw::Or, BinaryRmw::Xor];
        match self.random.below(4) {
            0 => Rmw::CompareAndSwap { expected: first, new: second },
            1 => Rmw::CompareExchange { expected: first, new: second },
            2 => Rmw::Exchange(first),
            _ => Rmw::Fetch(self.random.pick(&how), first),
        }
    }

    fn address(&mut self, registers: usize) -> RegExpr {
        let base = Expr::Const(1 + self.random.below(6) as Value);
        if self.random.chance(60) {
            return base;
        }
        Expr::binary(BinaryOp::Add, base, self.expr(registers, 1))
    }

    fn expr(&mut self, registers: usize, depth: usize) -> RegExpr {
        let leaf = if self.random.chance(65) {
            Expr::Leaf(RegId::new(self.random.below(registers)))
        } else {
            Expr::Const(self.value())
        };
        if depth == 0 || self.random.chance(25) {
            return leaf;
        }
        if self.random.chance(15) {
            let op = self.random.pick(&[UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement]);
            return Expr::unary(op, self.expr(registers, depth - 1));
        }
        let usual = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Less, BinaryOp::LessEqual, BinaryOp::Equal];
        let op = if self.random.chance(50) { self.random.pick(&usual) } else { self.random.pick(&BinaryOp::ALL) };
        Expr::binary(op, self.expr(registers, depth - 1), self.expr(registers, depth - 1))
    }

    fn value(&mut self) -> Value {
        const RARE: [Value; 8] = [Value::MAX, Value::MIN, Value::MAX - 1, Value::MIN + 2, 63, 1 << 62, -(1 << 62), 100];
        if self.random.chance(12) { self.random.pick(&RARE) } else { self.random.below(8) as Value - 2 }
    }
}

fn edge(span: Span, from: usize, to: usize, instruction: Instruction) -> Edge {
    Edge { from: LocId::new(from), to: LocId::new(to), instruction, span }
}

/// SplitMix64: small, and good enough for tests.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}
