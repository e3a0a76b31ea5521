//! Conditions to look for.

use weir_ir::{BinaryOp, Expr, Program, RegId, StateAtom, StateExpr, ThreadId};
use weir_syntax::weir::{Options, parse};
use weir_testkit::Rng;
use weir_testkit::sketch::{all_of, at, equal, register_of};

/// A program and the condition of its first property, which is a `forbid`.
pub(crate) fn read(text: &str) -> (Program, StateExpr) {
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = parse(&source, &Options::default()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let weir_ir::PropertyKind::Forbid(target) = parsed.program.properties[0].kind.clone() else {
        panic!("the first property is no `forbid`")
    };
    (parsed.program, target)
}

/// A random condition over places and registers.
pub(crate) fn random(program: &Program, rng: &mut Rng) -> StateExpr {
    let parts: Vec<StateExpr> = (0..rng.between(1, 2)).map(|_| atom(program, rng)).collect();
    all_of(parts)
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

/// What a condition sees of a register.
pub(crate) fn register(program: &Program, thread: u32, name: &str) -> StateExpr {
    let found: RegId = program.body(ThreadId(thread)).register(name).expect("the register exists");
    Expr::Leaf(StateAtom::Register { thread: ThreadId(thread), register: found })
}
