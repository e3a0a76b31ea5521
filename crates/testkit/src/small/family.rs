//! Every instruction in every situation that its rule mentions: after stores that wait, with the lock free, held or
//! held by another, within ranges and outside; beside another thread that reads, stores or locks.

use weir_ir::{
    BinaryOp, BinaryRmw, Expr, Instruction, LocId, Program, Property, PropertyKind, Range, RegId, Rmw, Shared, Span,
    StateAtom, StateExpr, ThreadId, Value,
};

use super::*;

/// The array `a` of two cells, 0 and 5.
pub const A: Address = 10;

/// All instructions to look at; `z` is 1 and may be 0 or 1.
pub fn letters() -> Vec<Instruction> {
    let element = || Expr::binary(BinaryOp::Add, number(A), reg(0));
    let exchange_if = |expected, new| Rmw::CompareExchange { expected: number(expected), new: number(new) };
    let flipped = Expr::binary(BinaryOp::Subtract, number(1), reg(0));
    vec![
        store(X, 2),
        store(Y, 1),
        store(Z, 2),
        store(Z, 0),
        Instruction::Store { address: element(), value: reg(0) },
        load(0, X),
        load(1, Y),
        Instruction::Load { register: RegId(1), address: element() },
        snapshot(X, Y),
        Instruction::Snapshot(vec![(RegId(0), number(Z)), (RegId(1), element())]),
        Instruction::Await { loads: vec![(RegId(1), number(Y))], condition: equal(reg(1), reg(0)) },
        Instruction::Await {
            loads: vec![(RegId(0), number(X)), (RegId(1), element())],
            condition: equal(reg(0), number(1)),
        },
        Instruction::Fence,
        Instruction::Membarrier,
        exchange(0, X, 2),
        compare_and_swap(1, X, 0, 1),
        compare_and_swap(1, X, 1, 2),
        rmw(1, X, exchange_if(0, 2)),
        rmw(0, Z, Rmw::Fetch(BinaryRmw::Add, number(1))),
        rmw(0, Z, Rmw::Fetch(BinaryRmw::Subtract, number(1))),
        Instruction::ReadModifyWrite { register: None, address: number(Y), operation: Rmw::Exchange(reg(0)) },
        Instruction::Lock,
        Instruction::Unlock,
        Instruction::Assume(equal(reg(0), number(1))),
        Instruction::Assert(equal(reg(0), number(0))),
        assign(0, flipped),
        havoc(0, 0, 1),
        havoc(1, -2, -1),
        Instruction::Skip,
        Instruction::Terminate,
    ]
}

/// What may come before the instruction.
fn situations() -> Vec<Vec<Instruction>> {
    vec![
        vec![],
        vec![store(X, 1)],
        vec![store(X, 1), store(X, 0)],
        vec![store(Z, 0), store(Y, 2)],
        vec![Instruction::Lock],
        vec![Instruction::Lock, store(X, 1)],
        vec![assign(0, number(1))],
    ]
}

/// What the other thread does.
fn partners() -> Vec<Vec<Instruction>> {
    vec![
        vec![],
        vec![Instruction::Lock, Instruction::Unlock],
        vec![store(X, 1), load(0, Y)],
        vec![load(0, X), store(Y, 1)],
        vec![exchange(0, X, 1)],
        vec![Instruction::Lock, store(X, 1), Instruction::Fence, store(X, 0), Instruction::Unlock],
    ]
}

/// Each letter in each situation, once as the last instruction and once with another one after it, beside each partner;
/// in half of the programs the partner comes first.
pub fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for (letter, instruction) in letters().into_iter().enumerate() {
        for (number, mut body) in situations().into_iter().enumerate() {
            body.push(instruction.clone());
            if (letter + number).is_multiple_of(2) {
                body.push(load(1, X));
            }
            for (index, partner) in partners().into_iter().enumerate() {
                let mut threads = vec![sequence(body.clone()), sequence(partner)];
                if (letter + number + index).is_multiple_of(3) {
                    threads.reverse();
                }
                programs.push(with_data(program(threads)));
            }
        }
    }
    programs.extend(negative());
    programs
}

/// Conditions and cells below 0: what is not 0 holds.
fn negative() -> Vec<Program> {
    let bodies = [
        vec![havoc(1, -2, 0), Instruction::Assume(reg(1)), Instruction::Assert(reg(1)), Instruction::Skip],
        vec![havoc(1, -1, 0), Instruction::Assert(reg(1))],
        vec![store(X, -1), load(1, X), Instruction::Assert(reg(1))],
    ];
    let partners = [vec![], vec![load(1, X), Instruction::Assume(reg(1))]];
    let pairs = bodies.into_iter().flat_map(|body| partners.clone().map(move |partner| [body.clone(), partner]));
    pairs.map(|threads| with_data(program(threads.map(sequence).to_vec()))).collect()
}

/// The same program with more to its cells, and with properties of each kind.
pub fn with_data(mut program: Program) -> Program {
    program.shared[2].initial = vec![1];
    program.shared[2].range = Some(Range { low: 0, high: 1 });
    let array = scalar("a", A, 0);
    program.shared.push(Shared { is_array: true, initial: vec![0, 5], ..array });
    for kind in kinds(&program) {
        program.properties.push(Property { kind, span: Span::default() });
    }
    program
}

fn kinds(program: &Program) -> Vec<PropertyKind> {
    let last = |thread: u32| LocId::new(program.body(ThreadId(thread)).locations.len() - 1);
    let place = |thread: u32, location| at(thread, vec![location]);
    let either = Expr::binary(BinaryOp::Or, place(0, last(0)), cell_is(X, 2));
    vec![
        PropertyKind::Forbid(both(place(0, last(0)), cell_is(X, 1))),
        PropertyKind::Forbid(both(place(0, LocId(1)), place(1, LocId(0)))),
        PropertyKind::Forbid(both(register_is(0, 0, 1), register_is(1, 0, 0))),
        PropertyKind::Forbid(cell_is(X, 1)),
        PropertyKind::Forbid(both(place(1, LocId(1)), cell_is(X, 2))),
        PropertyKind::Forbid(Expr::binary(BinaryOp::Equal, either, Expr::Const(1))),
        PropertyKind::Forbid(Expr::Leaf(StateAtom::Register { thread: ThreadId(0), register: RegId(1) })),
        PropertyKind::Exists(both(register_is(0, 1, 0), cell_is(Y, 1))),
        PropertyKind::Exists(cell_is(A, 1)),
        PropertyKind::Always(both(cell_is(X, 1), register_is(1, 0, 0))),
        PropertyKind::Always(cell_is(Z, 1)),
        PropertyKind::ForbidDeadlock,
    ]
}

/// Both conditions.
pub fn both(left: StateExpr, right: StateExpr) -> StateExpr {
    Expr::binary(BinaryOp::And, left, right)
}

/// The thread is at one of the locations.
pub fn at(thread: u32, locations: Vec<LocId>) -> StateExpr {
    Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations })
}

/// The register of the thread holds the value.
pub fn register_is(thread: u32, register: u32, value: Value) -> StateExpr {
    let register = StateAtom::Register { thread: ThreadId(thread), register: RegId(register) };
    Expr::binary(BinaryOp::Equal, Expr::Leaf(register), Expr::Const(value))
}
