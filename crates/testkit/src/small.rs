//! Small programs over three cells, given by their instructions; every edge has a line of its own. The tests of
//! the checker and of the renderers share them.

pub mod family;

use weir_ir::{
    Address, BinaryOp, Body, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program, Range, RegExpr, RegId,
    Register, Rmw, Shared, Source, Span, StateExpr, Thread, Value,
};

/// The cell `x`.
pub const X: Address = 1;
/// The cell `y`.
pub const Y: Address = 2;
/// The cell `z`.
pub const Z: Address = 3;

/// A constant.
pub fn number(value: Value) -> RegExpr {
    Expr::Const(value)
}

/// A register.
pub fn reg(index: u32) -> RegExpr {
    Expr::Leaf(RegId(index))
}

/// `left == right`.
pub fn equal(left: RegExpr, right: RegExpr) -> RegExpr {
    Expr::binary(BinaryOp::Equal, left, right)
}

/// `[address] = value`.
pub fn store(address: Address, value: Value) -> Instruction {
    Instruction::Store { address: number(address), value: number(value) }
}

/// `register = [address]`.
pub fn load(register: u32, address: Address) -> Instruction {
    Instruction::Load { register: RegId(register), address: number(address) }
}

/// Both cells in one step, into the first two registers.
pub fn snapshot(first: Address, second: Address) -> Instruction {
    Instruction::Snapshot(vec![(RegId(0), number(first)), (RegId(1), number(second))])
}

/// `register = value`.
pub fn assign(register: u32, value: RegExpr) -> Instruction {
    Instruction::Assign { register: RegId(register), value }
}

/// `register = any low..high`.
pub fn havoc(register: u32, low: Value, high: Value) -> Instruction {
    Instruction::Havoc { register: RegId(register), range: Range { low, high } }
}

/// A read-modify-write.
pub fn rmw(register: u32, address: Address, operation: Rmw) -> Instruction {
    Instruction::ReadModifyWrite { register: Some(RegId(register)), address: number(address), operation }
}

/// Writes the value, whatever was there.
pub fn exchange(register: u32, address: Address, value: Value) -> Instruction {
    rmw(register, address, Rmw::Exchange(number(value)))
}

/// Writes `new` if `expected` is there.
pub fn compare_and_swap(register: u32, address: Address, expected: Value, new: Value) -> Instruction {
    rmw(register, address, Rmw::CompareAndSwap { expected: number(expected), new: number(new) })
}

/// Instruction after instruction, then done. Registers are `r` and `s`; `_t` is made up.
pub fn sequence(instructions: Vec<Instruction>) -> Vec<(u32, u32, Instruction)> {
    (0u32..).zip(instructions).map(|(at, instruction)| (at, at + 1, instruction)).collect()
}

/// A program over cells `x`, `y` and `z`, all 0, with threads `P0`, `P1`, … given by their edges. Every edge has
/// a line of its own, counted over the whole program. Location 1 of each thread has the label `one`.
pub fn program(threads: Vec<Vec<(u32, u32, Instruction)>>) -> Program {
    let mut line = 0;
    let thread = |(index, edges)| Thread {
        name: format!("P{index}"),
        family: (format!("P{index}"), None),
        multiplicity: Multiplicity::One,
        weight: 1,
        body: body(edges, &mut line),
        span: line_span(1),
    };
    let threads = threads.into_iter().enumerate().map(thread).collect();
    let shared = [("x", X), ("y", Y), ("z", Z)].map(|(name, address)| scalar(name, address, 0)).to_vec();
    Program { source: Source::new("test.weir", "#\n".repeat(1000)), shared, threads, ..Program::default() }
}

/// A cell that is no part of an array.
pub fn scalar(name: &str, address: Address, initial: Value) -> Shared {
    let name = name.to_string();
    Shared { name, address, is_array: false, initial: vec![initial], range: None, width: None, span: Span::default() }
}

fn line_span(line: usize) -> Span {
    Span::new(2 * (line - 1), 2 * (line - 1) + 1)
}

fn body(edges: Vec<(u32, u32, Instruction)>, line: &mut usize) -> Body {
    let register = |name: &str| Register {
        name: name.into(),
        is_temporary: name == "_t",
        is_thread_local: false,
        span: Span::default(),
    };
    let count = edges.iter().map(|&(from, to, _)| from.max(to) + 1).max().unwrap_or(1);
    let mut edges: Vec<Edge> = edges
        .into_iter()
        .map(|(from, to, instruction)| Edge { from: LocId(from), to: LocId(to), instruction, span: Span::default() })
        .collect();
    for edge in &mut edges {
        *line += 1;
        edge.span = line_span(*line);
    }
    let asserts = edges.iter().any(|edge| matches!(edge.instruction, Instruction::Assert(_)));
    let location = |at: u32| Location {
        labels: if at == 1 { vec!["one".into()] } else { Vec::new() },
        span: edges.iter().find(|edge| edge.from == LocId(at)).map_or(Span::default(), |edge| edge.span),
    };
    let locations = (0..count + u32::from(asserts)).map(location).collect();
    Body::new(["r", "s", "_t"].map(register).to_vec(), locations, LocId(0), asserts.then_some(LocId(count)), edges)
}

/// `cell == value`.
pub fn cell_is(address: Address, value: Value) -> StateExpr {
    Expr::binary(BinaryOp::Equal, Expr::Leaf(weir_ir::StateAtom::Cell(address)), Expr::Const(value))
}

/// SplitMix64: enough to pick steps.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// A program of two to four threads, each a loop of up to six random instructions over three cells; with
/// locks around some of them, so that runs have sections.
pub fn random_program(random: &mut Random) -> Program {
    let threads = 2 + random.below(5) / 2;
    program((0..threads).map(|_| random_edges(random)).collect())
}

fn random_edges(random: &mut Random) -> Vec<(u32, u32, Instruction)> {
    let mut instructions = Vec::new();
    while instructions.len() < 2 + random.below(5) {
        if random.below(6) == 0 {
            instructions.push(Instruction::Lock);
            (0..1 + random.below(3)).for_each(|_| instructions.push(random_instruction(random)));
            instructions.push(Instruction::Unlock);
        } else {
            instructions.push(random_instruction(random));
        }
    }
    let last = instructions.len() as u32 - 1;
    let edges = sequence(instructions).into_iter();
    edges.map(|(from, to, instruction)| (from, if from == last { 0 } else { to }, instruction)).collect()
}

fn random_instruction(random: &mut Random) -> Instruction {
    let address = [X, X, Y, Y, Z][random.below(5)];
    let value = random.below(3) as Value;
    match random.below(19) {
        0 if random.below(3) == 0 => Instruction::Membarrier,
        0 => Instruction::Fence,
        1 => exchange(0, address, value),
        2 => compare_and_swap(0, address, value, 1),
        3 => assign(1, number(value)),
        4..11 => store(address, value),
        11 if random.below(2) == 0 => {
            let condition = equal(reg(1), number(value));
            Instruction::Await { loads: vec![(RegId(1), number(address))], condition }
        }
        11 => snapshot(address, [X, Y, Z][random.below(3)]),
        _ => load(random.below(2) as u32, address),
    }
}
