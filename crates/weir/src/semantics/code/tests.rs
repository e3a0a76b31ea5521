//! Compiled expressions are worth what the expressions are.

use weir_ir::{BinaryOp, Expr, UnaryOp, Value};
use weir_testkit::Rng;

use super::*;

const FIELDS: [Field; 3] = [
    Field { word: 0, shift: 0, mask: 0xFF, low: -20 },
    Field { word: 0, shift: 9, mask: 0x3, low: 0 },
    Field { word: 1, shift: 0, mask: u64::MAX, low: 0 },
];

fn drawn(rng: &mut Rng, depth: usize) -> Expr<usize> {
    let unary = [UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement];
    match rng.below(if depth == 0 { 2 } else { 6 }) {
        0 => Expr::Const(*rng.pick(&[0, 1, -1, 2, 7, Value::MIN, Value::MAX])),
        1 => Expr::Leaf(rng.below(FIELDS.len())),
        2 => Expr::unary(*rng.pick(&unary), drawn(rng, depth - 1)),
        _ => Expr::binary(*rng.pick(&BinaryOp::ALL), drawn(rng, depth - 1), drawn(rng, depth - 1)),
    }
}

#[test]
fn code_is_worth_what_the_expression_is() {
    let mut rng = Rng::new(8);
    for _ in 0..3000 {
        let depth = rng.below(4);
        let expr = drawn(&mut rng, depth);
        let code = Code::new(&expr, &mut |&leaf| Code::Field(FIELDS[leaf]));
        for _ in 0..4 {
            let state = Packed([rng.bits(), if rng.chance(50) { rng.bits() } else { 0 }]);
            assert_eq!(code.eval(&state), expr.eval(&mut |&leaf| state.get(FIELDS[leaf])), "{expr:?} is {code:?}");
        }
    }
}

#[test]
fn small_shapes_have_a_form_of_their_own() {
    let leaf = |at: usize| Expr::Leaf(at);
    let code = |expr: Expr<usize>| Code::new(&expr, &mut |&leaf| Code::Field(FIELDS[leaf]));
    let add = |left, right| Expr::binary(BinaryOp::Add, left, right);
    assert!(matches!(code(add(Expr::Const(1), Expr::Const(2))), Code::Const(3)));
    assert!(matches!(code(Expr::unary(UnaryOp::Negate, Expr::Const(1))), Code::Const(-1)));
    assert!(matches!(code(add(leaf(0), Expr::Const(2))), Code::FieldConst(BinaryOp::Add, _, 2)));
    assert!(matches!(code(add(leaf(0), leaf(1))), Code::Fields(BinaryOp::Add, ..)));
}

#[test]
fn members_are_those_that_were_named() {
    let field = Field { word: 0, shift: 3, mask: 0xFF, low: 0 };
    let members = [0, 1, 63, 64, 130, 200];
    let code = Code::member(field, members);
    for raw in 0..256 {
        let mut state = Packed::<1>::ZERO;
        state.set_raw(field, raw);
        assert_eq!(code.eval(&state), Value::from(members.contains(&(raw as usize))), "{raw}");
    }
    assert_eq!(Code::member(field, []).eval(&Packed([u64::MAX])), 0);
}
