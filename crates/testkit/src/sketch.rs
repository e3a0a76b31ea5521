//! Programs written by hand, in a few words: for litmus tests, and for the generators.

use weir_ir::{
    Address, Body, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program, Property, PropertyKind, RegExpr,
    RegId, Register, Rmw, Shared, Source, Span, StateAtom, StateExpr, Thread, ThreadId, Value,
};

/// A program of these parts. Every thread, edge and property gets a span of its own.
pub fn program(shared: Vec<Shared>, threads: Vec<Thread>, properties: Vec<PropertyKind>) -> Program {
    let mut spans = 0..;
    let mut fresh = || spans.next().map_or(Span::default(), |at: usize| Span::new(2 * at, 2 * at + 1));
    let threads = threads.into_iter().map(|thread| Thread {
        span: fresh(),
        body: thread.body.map_edges(|edge| Edge { span: fresh(), ..edge.clone() }),
        ..thread
    });
    let threads = threads.collect();
    let properties = properties.into_iter().map(|kind| Property { kind, span: fresh() }).collect();
    let source = Source::new("sketch", "");
    Program { source, shared, threads, properties, ..Program::default() }
}

/// A cell that starts at 0.
pub fn cell(name: &str, address: Address) -> Shared {
    let name = name.to_owned();
    Shared { name, address, is_array: false, initial: vec![0], range: None, width: None, span: Span::default() }
}

/// A thread that executes the instructions one after the other. Its registers are `r0`, `r1`, … as many as it names.
pub fn straight(name: &str, instructions: impl IntoIterator<Item = Instruction>) -> Thread {
    let mut sketch = ThreadSketch::new(name);
    let mut at = sketch.entry();
    for instruction in instructions {
        let next = sketch.location();
        sketch.edge(at, next, instruction);
        at = next;
    }
    sketch.finish()
}

/// `register = mem[address]`.
pub fn load(register: u32, address: Address) -> Instruction {
    Instruction::Load { register: RegId(register), address: Expr::Const(address) }
}

/// Two cells in one step, each into the register beside it.
pub fn snapshot(loads: [(u32, Address); 2]) -> Instruction {
    Instruction::Snapshot(loads.map(|(register, address)| (RegId(register), Expr::Const(address))).to_vec())
}

/// `mem[address] = value`.
pub fn store(address: Address, value: Value) -> Instruction {
    Instruction::Store { address: Expr::Const(address), value: Expr::Const(value) }
}

/// An atomic read-modify-write of `mem[address]`.
pub fn rmw(register: u32, address: Address, operation: Rmw) -> Instruction {
    Instruction::ReadModifyWrite { register: Some(RegId(register)), address: Expr::Const(address), operation }
}

/// `register = xchg(mem[address], value)`.
pub fn exchange(register: u32, address: Address, value: Value) -> Instruction {
    rmw(register, address, Rmw::Exchange(Expr::Const(value)))
}

/// The value of a register of the own thread.
pub fn register(register: u32) -> RegExpr {
    Expr::Leaf(RegId(register))
}

/// What a property sees of a thread's register.
pub fn register_of(thread: u32, register: u32) -> StateExpr {
    Expr::Leaf(StateAtom::Register { thread: ThreadId(thread), register: RegId(register) })
}

/// What a property sees of a cell.
pub fn cell_value(address: Address) -> StateExpr {
    Expr::Leaf(StateAtom::Cell(address))
}

/// Whether a thread is at the location.
pub fn at(thread: u32, location: LocId) -> StateExpr {
    Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations: vec![location] })
}

/// `left == right`.
pub fn equal<L>(left: Expr<L>, right: Value) -> Expr<L> {
    Expr::binary(weir_ir::BinaryOp::Equal, left, Expr::Const(right))
}

/// All of the conditions; 1 if there are none.
pub fn all_of<L>(conditions: impl IntoIterator<Item = Expr<L>>) -> Expr<L> {
    let both = |left, right| Expr::binary(weir_ir::BinaryOp::And, left, right);
    conditions.into_iter().reduce(both).unwrap_or(Expr::Const(1))
}

/// A thread under construction.
#[derive(Clone, Debug)]
pub struct ThreadSketch {
    name: String,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    failed: Option<LocId>,
    registers: u32,
}

impl ThreadSketch {
    /// A thread with one location, the entry, and no edges.
    pub fn new(name: &str) -> Self {
        let mut sketch =
            Self { name: name.to_owned(), locations: Vec::new(), edges: Vec::new(), failed: None, registers: 0 };
        sketch.location();
        sketch
    }

    /// Where control starts.
    pub fn entry(&self) -> LocId {
        LocId(0)
    }

    /// One more location, labelled `l` with its number, so that a dump can name it.
    pub fn location(&mut self) -> LocId {
        let label = format!("l{}", self.locations.len());
        self.locations.push(Location { labels: vec![label], span: Span::default() });
        LocId::new(self.locations.len() - 1)
    }

    /// Makes sure that there are at least so many registers.
    pub fn reserve_registers(&mut self, count: u32) {
        self.registers = self.registers.max(count);
    }

    /// One more register.
    pub fn register(&mut self) -> RegId {
        self.registers += 1;
        RegId(self.registers - 1)
    }

    /// One more edge. The registers it names and the location for failed assertions come to exist.
    pub fn edge(&mut self, from: LocId, to: LocId, instruction: Instruction) {
        for_each_register(&instruction, &mut |register| self.registers = self.registers.max(register.0 + 1));
        if matches!(instruction, Instruction::Assert(_)) && self.failed.is_none() {
            self.failed = Some(self.location());
        }
        self.edges.push(Edge { from, to, instruction, span: Span::default() });
    }

    /// The thread.
    pub fn finish(self) -> Thread {
        let register = |index| Register {
            name: format!("r{index}"),
            is_temporary: false,
            is_thread_local: false,
            span: Span::default(),
        };
        let registers = (0..self.registers).map(register).collect();
        let body = Body::new(registers, self.locations, LocId(0), self.failed, self.edges);
        let family = (self.name.clone(), None);
        Thread { name: self.name, family, multiplicity: Multiplicity::One, weight: 1, body, span: Span::default() }
    }
}

/// Calls `visit` on each register that the instruction reads or writes.
pub(crate) fn for_each_register(instruction: &Instruction, visit: &mut impl FnMut(RegId)) {
    match instruction {
        Instruction::Load { register, .. }
        | Instruction::Assign { register, .. }
        | Instruction::Havoc { register, .. }
        | Instruction::ReadModifyWrite { register: Some(register), .. }
        | Instruction::Call { register: Some(register), .. } => visit(*register),
        Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
            loads.iter().for_each(|(register, _)| visit(*register));
        }
        _ => {}
    }
    for operand in operands(instruction) {
        operand.for_each_leaf(&mut |register| visit(*register));
    }
}

/// The expressions of an instruction.
pub(crate) fn operands(instruction: &Instruction) -> Vec<RegExpr> {
    operands_mut(&mut instruction.clone()).into_iter().map(|operand| operand.clone()).collect()
}

/// The expressions of an instruction, to change them.
pub(crate) fn operands_mut(instruction: &mut Instruction) -> Vec<&mut RegExpr> {
    match instruction {
        Instruction::Load { address, .. } => vec![address],
        Instruction::Snapshot(loads) => loads.iter_mut().map(|(_, address)| address).collect(),
        Instruction::Await { loads, condition } => {
            loads.iter_mut().map(|(_, address)| address).chain([condition]).collect()
        }
        Instruction::Store { address, value } => vec![address, value],
        Instruction::Assign { value, .. } => vec![value],
        Instruction::Assume(condition) | Instruction::Assert(condition) | Instruction::Return(condition) => {
            vec![condition]
        }
        Instruction::ReadModifyWrite { address, operation, .. } => match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                vec![address, expected, new]
            }
            Rmw::Exchange(value) | Rmw::Fetch(_, value) => vec![address, value],
        },
        Instruction::Call { arguments, .. } => arguments.iter_mut().collect(),
        Instruction::Skip
        | Instruction::Fence
        | Instruction::Membarrier
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::Havoc { .. }
        | Instruction::Spawn(_)
        | Instruction::Terminate => Vec::new(),
    }
}
