//! Small programs and runs for tests.

pub(crate) mod family;
pub(crate) mod walk;

use weir_ir::{
    Address, BinaryOp, Body, Edge, EdgeId, Expr, Instruction, LocId, Location, Multiplicity, Program, Property,
    PropertyKind, Range, RegExpr, RegId, Register, Rmw, Shared, Source, Span, StateExpr, Thread, ThreadId, Value,
};

use crate::event::StepId;
use crate::interpret::interpret;
use crate::state::State;
use crate::{Action, Goal, Model, Replay, Run, Step, enabled_steps, replay};

/// The cell `x`.
pub(crate) const X: Address = 1;
/// The cell `y`.
pub(crate) const Y: Address = 2;
/// The cell `z`.
pub(crate) const Z: Address = 3;

/// A constant.
pub(crate) fn number(value: Value) -> RegExpr {
    Expr::Const(value)
}

/// A register.
pub(crate) fn reg(index: u32) -> RegExpr {
    Expr::Leaf(RegId(index))
}

/// `left == right`.
pub(crate) fn equal(left: RegExpr, right: RegExpr) -> RegExpr {
    Expr::binary(BinaryOp::Equal, left, right)
}

pub(crate) fn store(address: Address, value: Value) -> Instruction {
    Instruction::Store { address: number(address), value: number(value) }
}

pub(crate) fn load(register: u32, address: Address) -> Instruction {
    Instruction::Load { register: RegId(register), address: number(address) }
}

/// Both cells in one step, into the first two registers.
pub(crate) fn snapshot(first: Address, second: Address) -> Instruction {
    Instruction::Snapshot(vec![(RegId(0), number(first)), (RegId(1), number(second))])
}

pub(crate) fn assign(register: u32, value: RegExpr) -> Instruction {
    Instruction::Assign { register: RegId(register), value }
}

pub(crate) fn havoc(register: u32, low: Value, high: Value) -> Instruction {
    Instruction::Havoc { register: RegId(register), range: Range { low, high } }
}

pub(crate) fn rmw(register: u32, address: Address, operation: Rmw) -> Instruction {
    Instruction::ReadModifyWrite { register: Some(RegId(register)), address: number(address), operation }
}

pub(crate) fn exchange(register: u32, address: Address, value: Value) -> Instruction {
    rmw(register, address, Rmw::Exchange(number(value)))
}

pub(crate) fn compare_and_swap(register: u32, address: Address, expected: Value, new: Value) -> Instruction {
    rmw(register, address, Rmw::CompareAndSwap { expected: number(expected), new: number(new) })
}

/// Instruction after instruction, then done. Registers are `r` and `s`; `_t` is made up.
pub(crate) fn sequence(instructions: Vec<Instruction>) -> Vec<(u32, u32, Instruction)> {
    (0u32..).zip(instructions).map(|(at, instruction)| (at, at + 1, instruction)).collect()
}

/// A program over cells `x`, `y` and `z`, all 0, with threads `P0`, `P1`, … given by their edges. Every edge has
/// a line of its own, counted over the whole program. Location 1 of each thread has the label `one`.
pub(crate) fn program(threads: Vec<Vec<(u32, u32, Instruction)>>) -> Program {
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

pub(crate) fn scalar(name: &str, address: Address, initial: Value) -> Shared {
    let name = name.to_string();
    Shared { name, address, is_array: false, initial: vec![initial], range: None, span: Span::default() }
}

fn line_span(line: usize) -> Span {
    Span::new(2 * (line - 1), 2 * (line - 1) + 1)
}

fn body(edges: Vec<(u32, u32, Instruction)>, line: &mut usize) -> Body {
    let register = |name: &str| Register { name: name.into(), is_temporary: name == "_t", span: Span::default() };
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

/// The program with one more property, and the goal that breaks it.
pub(crate) fn with_property(mut program: Program, kind: PropertyKind) -> (Program, Goal) {
    let goal = Goal::Property(weir_ir::PropertyId::new(program.properties.len()));
    program.properties.push(Property { kind, span: Span::default() });
    (program, goal)
}

/// `cell == value`.
pub(crate) fn cell_is(address: Address, value: Value) -> StateExpr {
    Expr::binary(BinaryOp::Equal, Expr::Leaf(weir_ir::StateAtom::Cell(address)), Expr::Const(value))
}

/// A run in shorthand: `0` is the first edge of thread 0 from where it is, `0.1` its second one, `0=5` the first
/// one with the choice 5, `0f` a flush. Steps after one that is not possible start from the same place.
pub(crate) fn run(program: &Program, model: Model, script: &str) -> Run {
    let mut state = State::initial(program);
    let mut steps = Vec::new();
    for word in script.split_whitespace() {
        let step = parse_step(program, &state, word);
        if let Ok(event) = interpret(program, model, &state, step) {
            state.apply(StepId::new(steps.len()), &event);
        }
        steps.push(step);
    }
    Run { model, steps }
}

fn parse_step(program: &Program, state: &State, word: &str) -> Step {
    let (thread, rest) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let thread = ThreadId(thread.parse().unwrap());
    if rest == "f" {
        return Step { thread, action: Action::Flush };
    }
    let nth = rest.strip_prefix('.').map_or(0, |nth| nth.parse().unwrap());
    let choice = rest.strip_prefix('=').map_or(0, |choice| choice.parse().unwrap());
    let mut edges = program.body(thread).edges_from(state.thread(thread).location);
    let edge = edges.nth(nth).map_or(EdgeId(999), |(edge, _)| edge);
    Step { thread, action: Action::Execute { edge, choice } }
}

/// Replays a run in shorthand that must be accepted.
pub(crate) fn accept(program: &Program, model: Model, script: &str) -> Replay {
    replay(program, &run(program, model, script)).unwrap_or_else(|error| panic!("{script}: {error}"))
}

/// The message for a run in shorthand that must not be accepted.
pub(crate) fn refuse(program: &Program, model: Model, script: &str) -> String {
    match replay(program, &run(program, model, script)) {
        Ok(_) => panic!("{script}: accepted"),
        Err(error) => error.to_string(),
    }
}

/// SplitMix64: enough to pick steps.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// A run of at most `length` steps, each picked at random among those that are possible.
pub(crate) fn random_run(program: &Program, model: Model, random: &mut Random, length: usize) -> Run {
    let mut state = State::initial(program);
    let mut steps = Vec::new();
    while steps.len() < length {
        let enabled = enabled_steps(program, model, &state).unwrap();
        if enabled.is_empty() {
            break;
        }
        let mut step = enabled[random.below(enabled.len())];
        for _ in 0..3 {
            // Stores that wait longer make more interesting runs.
            if step.action == Action::Flush {
                step = enabled[random.below(enabled.len())];
            }
        }
        let event = interpret(program, model, &state, step).unwrap();
        state.apply(StepId::new(steps.len()), &event);
        steps.push(step);
    }
    Run { model, steps }
}

/// A program of two to four threads, each a loop of up to six random instructions over three cells; with
/// locks around some of them, so that runs have sections.
pub(crate) fn random_program(random: &mut Random) -> Program {
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
        0 => Instruction::Fence,
        1 => exchange(0, address, value),
        2 => compare_and_swap(0, address, value, 1),
        3 => assign(1, number(value)),
        4..11 => store(address, value),
        11 => snapshot(address, [X, Y, Z][random.below(3)]),
        _ => load(random.below(2) as u32, address),
    }
}
