//! Random conditions to look for.

use weir_ir::{Address, BinaryOp, Expr, Program, Shared, StateAtom, StateExpr, ThreadId};

use crate::rng::Rng;
use crate::sketch::{all_of, at, equal, register_of};

/// A random condition over places and registers, now and then over cells, now and then with alternatives.
pub fn condition(program: &Program, rng: &mut Rng) -> StateExpr {
    let one = conjunction(program, rng);
    if rng.chance(25) { Expr::binary(BinaryOp::Or, one, conjunction(program, rng)) } else { one }
}

fn conjunction(program: &Program, rng: &mut Rng) -> StateExpr {
    let mut parts: Vec<StateExpr> = (0..rng.between(1, 2)).map(|_| atom(program, rng)).collect();
    if rng.chance(25) {
        parts.push(cell(program, rng));
    }
    all_of(parts)
}

/// A cell of the program, or one that nobody knows, holds 0 or 1.
fn cell(program: &Program, rng: &mut Rng) -> StateExpr {
    let known: Vec<Address> = program.shared.iter().flat_map(Shared::addresses).collect();
    let address = known.get(rng.below(known.len() + 1)).copied().unwrap_or(1_000);
    equal(Expr::Leaf(StateAtom::Cell(address)), i64::from(rng.below(2) as u32))
}

fn atom(program: &Program, rng: &mut Rng) -> StateExpr {
    let thread = rng.below(program.threads.len()) as u32;
    let body = program.body(ThreadId(thread));
    if !body.registers.is_empty() && rng.chance(50) {
        let register = rng.below(body.registers.len()) as u32;
        let value = equal(register_of(thread, register), i64::from(rng.below(2) as u32));
        // A register starts at 0: where it is looked at late, the answer is less obvious.
        let ends = body.location_ids().filter(|&loc| body.is_done(loc));
        let done = StateAtom::At { thread: ThreadId(thread), locations: ends.collect() };
        return if rng.chance(60) { all_of([value, Expr::Leaf(done)]) } else { value };
    }
    let place = at(thread, weir_ir::LocId(rng.below(body.locations.len()) as u32));
    if rng.chance(20) { Expr::binary(BinaryOp::Equal, place, Expr::Const(0)) } else { place }
}
