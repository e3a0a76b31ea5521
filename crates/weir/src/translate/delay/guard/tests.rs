//! A guard keeps nobody from a path that can be followed, and says all that is known where it is short.

use weir_ir::{Edge, LocId, Range, Span, UnaryOp, Value};
use weir_testkit::Rng;

use super::*;

fn edge(instruction: Instruction) -> Edge {
    Edge { from: LocId(0), to: LocId(0), instruction, span: Span::default() }
}

fn operand(rng: &mut Rng) -> RegExpr {
    let leaf = |rng: &mut Rng| Expr::Leaf(RegId(rng.below(3) as u32));
    match rng.below(4) {
        0 => Expr::Const(rng.below(3) as Value),
        1 => leaf(rng),
        2 => Expr::binary(BinaryOp::Add, leaf(rng), Expr::Const(rng.below(3) as Value)),
        _ => Expr::unary(UnaryOp::Not, leaf(rng)),
    }
}

fn drawn(rng: &mut Rng) -> Edge {
    let register = RegId(rng.below(3) as u32);
    let comparison = *rng.pick(&[BinaryOp::Equal, BinaryOp::Less, BinaryOp::NotEqual]);
    edge(match rng.below(8) {
        0 => Instruction::Store { address: Expr::Const(1), value: operand(rng) },
        1 => Instruction::Load { register, address: Expr::Const(1) },
        2 => Instruction::Havoc { register, range: Range { low: 0, high: 2 } },
        3 | 4 => Instruction::Assign { register, value: operand(rng) },
        5 => Instruction::Assert(Expr::binary(comparison, operand(rng), operand(rng))),
        _ => Instruction::Assume(Expr::binary(comparison, operand(rng), operand(rng))),
    })
}

/// Whether the path can be followed from these values, with whatever loads and choices give from 0 to 2.
fn can_follow(path: &[Edge], registers: [Value; 3]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let eval = |expr: &RegExpr| expr.eval(&mut |register| registers[register.index()]);
    let with = |register: RegId, value| {
        let mut next = registers;
        next[register.index()] = value;
        can_follow(rest, next)
    };
    match &first.instruction {
        Instruction::Assume(condition) | Instruction::Assert(condition) => {
            eval(condition) != 0 && can_follow(rest, registers)
        }
        Instruction::Assign { register, value } => with(*register, eval(value)),
        Instruction::Load { register, .. } | Instruction::Havoc { register, .. } => {
            (0..3).any(|value| with(*register, value))
        }
        _ => can_follow(rest, registers),
    }
}

#[test]
fn a_thread_that_can_follow_the_path_may_enter_it() {
    let mut rng = Rng::new(6);
    let (mut kept_out, mut precise) = (0, 0);
    for _ in 0..1500 {
        let path: Vec<Edge> = (0..rng.between(1, 6)).map(|_| drawn(&mut rng)).collect();
        let guards = guards(&path);
        assert_eq!(guards.len(), path.len());
        let is_decided = |from: usize| {
            !path[from..]
                .iter()
                .any(|edge| matches!(edge.instruction, Instruction::Load { .. } | Instruction::Havoc { .. }))
        };
        for (from, guard) in guards.iter().enumerate() {
            for registers in (0..27).map(|code| [code % 3, code / 3 % 3, code / 9]) {
                let admits = guard.as_ref().is_none_or(|guard| guard.eval(&mut |reg| registers[reg.index()]) != 0);
                let can = can_follow(&path[from..], registers);
                assert!(admits || !can, "{guard:?} at {from} of {path:?}");
                kept_out += u64::from(!admits);
                let tests = path[from..]
                    .iter()
                    .filter(|edge| matches!(edge.instruction, Instruction::Assume(_) | Instruction::Assert(_)));
                if is_decided(from) && tests.count() <= 2 {
                    assert_eq!(admits, can, "{guard:?} at {from} of {path:?}");
                    precise += 1;
                }
            }
        }
    }
    assert!(kept_out > 1000 && precise > 10_000, "{kept_out} kept out, {precise} precise");
}

#[test]
fn guards_are_cut_off_where_they_get_long() {
    let long = (0..40).fold(Expr::Leaf(RegId(0)), |expr, _| Expr::binary(BinaryOp::BitAnd, expr, Expr::Leaf(RegId(1))));
    let short = Expr::binary(BinaryOp::Equal, Expr::Leaf(RegId(2)), Expr::Const(1));
    let path = [long, short.clone()].map(|condition| edge(Instruction::Assume(condition)));
    assert_eq!(guards(&path), [Some(short.clone()), Some(short)]);
    let always = edge(Instruction::Assume(Expr::Const(1)));
    assert_eq!(guards(&[always]), [None]);
}

#[test]
fn sums_of_constants_are_taken_together() {
    let add = |left, right| Expr::binary(BinaryOp::Add, left, right);
    let leaf = || Expr::Leaf(RegId(0));
    let nested = add(add(add(leaf(), Expr::Const(1)), Expr::Const(2)), Expr::Const(3));
    assert_eq!(simplified(&nested), add(leaf(), Expr::Const(6)));
    let other = add(add(leaf(), leaf()), Expr::Const(3));
    assert_eq!(simplified(&other), other);
    assert_eq!(simplified(&add(Expr::Const(2), Expr::Const(3))), Expr::Const(5));
}
