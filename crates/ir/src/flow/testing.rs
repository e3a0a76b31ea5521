//! Small programs for the tests of this crate. Each edge and register gets a span of its own.

use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::ids::{LocId, RegId};
use crate::program::{
    Body, Edge, Instruction, Location, Multiplicity, Program, Range, RegExpr, Register, Rmw, Shared, Thread,
};
use crate::span::{Source, Span};

/// A body under construction.
pub(crate) struct Automaton {
    registers: Vec<Register>,
    locations: Vec<Location>,
    failed: Option<LocId>,
    edges: Vec<Edge>,
}

impl Automaton {
    /// A body with this many locations, entered at the first.
    pub(crate) fn new(locations: usize) -> Self {
        Self { registers: Vec::new(), locations: vec![Location::default(); locations], failed: None, edges: Vec::new() }
    }

    pub(crate) fn register(&mut self, name: &str) -> RegId {
        self.add_register(name, false)
    }

    pub(crate) fn temporary(&mut self, name: &str) -> RegId {
        self.add_register(name, true)
    }

    fn add_register(&mut self, name: &str, is_temporary: bool) -> RegId {
        let id = RegId::new(self.registers.len());
        let span = register_span(id);
        self.registers.push(Register { name: name.into(), is_temporary, is_thread_local: false, span });
        id
    }

    pub(crate) fn label(&mut self, loc: usize, label: &str) {
        self.locations[loc].labels.push(label.into());
        self.locations[loc].span = Span::new(20_000 + loc * 10, 20_000 + loc * 10 + 5);
    }

    /// Adds the location of failed assertions.
    pub(crate) fn failed(&mut self) -> LocId {
        let failed = LocId::new(self.locations.len());
        self.locations.push(Location::default());
        self.failed = Some(failed);
        failed
    }

    /// Adds an edge; the `n`-th has the span of [`edge_span`].
    pub(crate) fn edge(&mut self, from: usize, to: usize, instruction: Instruction) {
        let span = edge_span(self.edges.len());
        self.edge_at(span, from, to, instruction);
    }

    /// Adds an edge that shares its span with others.
    pub(crate) fn edge_at(&mut self, span: Span, from: usize, to: usize, instruction: Instruction) {
        let (from, to) = (LocId::new(from), LocId::new(to));
        self.edges.push(Edge { from, to, instruction, span });
    }

    /// Adds edges `0 → 1 → 2 …`, one for each instruction.
    pub(crate) fn chain(&mut self, instructions: impl IntoIterator<Item = Instruction>) {
        for (from, instruction) in instructions.into_iter().enumerate() {
            self.edge(from, from + 1, instruction);
        }
    }

    pub(crate) fn body(self) -> Body {
        Body::new(self.registers, self.locations, LocId(0), self.failed, self.edges)
    }
}

/// The span of the `n`-th edge that [`Automaton::edge`] adds.
pub(crate) fn edge_span(n: usize) -> Span {
    Span::new(100 + n * 10, 105 + n * 10)
}

/// The span of a register.
pub(crate) fn register_span(register: RegId) -> Span {
    Span::new(10_000 + register.index() * 10, 10_005 + register.index() * 10)
}

/// A body whose locations follow each other, one instruction between each two.
pub(crate) fn straight(registers: &[&str], instructions: Vec<Instruction>) -> Body {
    let mut automaton = Automaton::new(instructions.len() + 1);
    for name in registers {
        automaton.register(name);
    }
    automaton.chain(instructions);
    automaton.body()
}

/// A thread that runs once from the start.
pub(crate) fn thread(name: &str, body: Body) -> Thread {
    let family = (name.to_owned(), None);
    let multiplicity = Multiplicity::One;
    Thread { name: name.into(), family, multiplicity, weight: 1, body, span: Span::new(1, 2) }
}

/// A declaration of cells from `address` on, all 0.
pub(crate) fn shared(name: &str, address: Value, cells: usize, range: Option<(Value, Value)>) -> Shared {
    let range = range.map(|(low, high)| Range { low, high });
    let span = Span::new(3, 4);
    Shared { name: name.into(), address, is_array: cells != 1, initial: vec![0; cells], range, width: None, span }
}

/// A program of threads `P0`, `P1`, … over these cells.
pub(crate) fn program(shared: Vec<Shared>, bodies: Vec<Body>) -> Program {
    let threads = bodies.into_iter().enumerate().map(|(at, body)| thread(&format!("P{at}"), body)).collect();
    Program { source: Source::default(), shared, threads, ..Program::default() }
}

pub(crate) fn constant(value: Value) -> RegExpr {
    Expr::Const(value)
}

pub(crate) fn reg(register: u32) -> RegExpr {
    Expr::Leaf(RegId(register))
}

pub(crate) fn binary(op: BinaryOp, left: RegExpr, right: RegExpr) -> RegExpr {
    Expr::binary(op, left, right)
}

pub(crate) fn not(operand: RegExpr) -> RegExpr {
    Expr::unary(UnaryOp::Not, operand)
}

pub(crate) fn assign(register: u32, value: RegExpr) -> Instruction {
    Instruction::Assign { register: RegId(register), value }
}

pub(crate) fn load(register: u32, address: RegExpr) -> Instruction {
    Instruction::Load { register: RegId(register), address }
}

pub(crate) fn store(address: RegExpr, value: RegExpr) -> Instruction {
    Instruction::Store { address, value }
}

pub(crate) fn rmw(register: Option<u32>, address: RegExpr, operation: Rmw) -> Instruction {
    Instruction::ReadModifyWrite { register: register.map(RegId), address, operation }
}

pub(crate) fn havoc(register: u32, low: Value, high: Value) -> Instruction {
    Instruction::Havoc { register: RegId(register), range: Range { low, high } }
}

/// A small generator of random numbers (Knuth's constants, the upper bits).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}
