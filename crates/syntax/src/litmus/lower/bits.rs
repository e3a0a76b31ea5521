//! Values of fewer than 64 bits, as expressions over values of 64.
//!
//! Everywhere a value of n bytes is kept as the 64-bit value with the same sign: two values of one size are equal if
//! and only if their expressions are, and bitwise operations need no care.

use weir_ir::{BinaryOp, Expr, UnaryOp, Value};

/// An operation, worked out at once where both sides are known.
pub(super) fn binary<L>(op: BinaryOp, left: Expr<L>, right: Expr<L>) -> Expr<L> {
    match (left, right) {
        (Expr::Const(left), Expr::Const(right)) => Expr::Const(op.apply(left, right)),
        (left, right) => Expr::binary(op, left, right),
    }
}

/// `!operand`.
pub(super) fn not<L>(operand: Expr<L>) -> Expr<L> {
    match operand {
        Expr::Const(value) => Expr::Const(UnaryOp::Not.apply(value)),
        operand => Expr::unary(UnaryOp::Not, operand),
    }
}

/// All of them; a tree as flat as can be, since depth is limited.
pub(super) fn all<L>(parts: Vec<Expr<L>>) -> Expr<L> {
    balanced(BinaryOp::And, parts).unwrap_or(Expr::Const(1))
}

/// Any of them.
pub(super) fn any<L>(parts: Vec<Expr<L>>) -> Expr<L> {
    balanced(BinaryOp::Or, parts).unwrap_or(Expr::Const(0))
}

fn balanced<L>(op: BinaryOp, mut parts: Vec<Expr<L>>) -> Option<Expr<L>> {
    while parts.len() > 1 {
        let mut rest = parts.into_iter();
        let mut halved = Vec::new();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => binary(op, left, right),
                None => left,
            });
        }
        parts = halved;
    }
    parts.pop()
}

/// The low `size` bytes, with their sign.
pub(super) fn signed<L>(value: Expr<L>, size: u32) -> Expr<L> {
    if size >= 8 {
        return value;
    }
    let count = Value::from(64 - 8 * size);
    let shifted = binary(BinaryOp::ShiftLeft, value, Expr::Const(count));
    binary(BinaryOp::ShiftRight, shifted, Expr::Const(count))
}

/// The low `size` bytes, as a number that is not negative (but for 8 bytes, which fill a value).
pub(super) fn unsigned<L>(value: Expr<L>, size: u32) -> Expr<L> {
    if size >= 8 { value } else { binary(BinaryOp::BitAnd, value, Expr::Const(mask(size))) }
}

/// Ones in the low `size` bytes.
pub(super) fn mask(size: u32) -> Value {
    if size >= 8 { -1 } else { (1 << (8 * size)) - 1 }
}

/// The least value of `size` bytes.
pub(super) fn least(size: u32) -> Value {
    -1 << (8 * size.min(8) - 1)
}

/// The greatest value of `size` bytes.
pub(super) fn greatest(size: u32) -> Value {
    !least(size)
}

/// `left < right`, both without sign.
pub(super) fn below<L>(left: Expr<L>, right: Expr<L>) -> Expr<L> {
    let flip = |value| binary(BinaryOp::BitXor, value, Expr::Const(Value::MIN));
    binary(BinaryOp::Less, flip(left), flip(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(expr: &Expr<()>) -> Option<Value> {
        match expr {
            Expr::Const(value) => Some(*value),
            _ => None,
        }
    }

    #[test]
    fn small_values_keep_their_sign() {
        assert_eq!(constant(&signed(Expr::Const(0xFFFF_FFFF), 4)), Some(-1));
        assert_eq!(constant(&signed(Expr::Const(0x1_0000_0080), 1)), Some(-128));
        assert_eq!(constant(&unsigned(Expr::Const(-1), 2)), Some(0xFFFF));
        assert_eq!((least(4), greatest(4)), (i64::from(i32::MIN), i64::from(i32::MAX)));
        assert_eq!((least(8), greatest(8)), (i64::MIN, i64::MAX));
        assert_eq!((mask(1), mask(8)), (0xFF, -1));
    }

    #[test]
    fn comparison_without_sign() {
        for (left, right, expected) in [(0, 1, 1), (1, 0, 0), (0, -1, 1), (-1, 0, 0), (-2, -1, 1), (5, 5, 0)] {
            assert_eq!(constant(&below(Expr::Const(left), Expr::Const(right))), Some(expected), "{left} {right}");
        }
    }
}
