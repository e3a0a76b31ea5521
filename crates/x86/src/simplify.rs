//! Expressions as a person would write them: without masks that change nothing.

use weir_ir::{BinaryOp, Expr, RegExpr, RegId, UnaryOp, Value};

/// The same value by a simpler expression. `bits` tells how many bits a register has at most, without sign.
pub(crate) fn simplify(expr: &RegExpr, bits: &impl Fn(RegId) -> u8) -> RegExpr {
    simplified(expr, bits).0
}

/// How many bits the value of an expression has at most, without sign.
pub(crate) fn bits(expr: &RegExpr, bits: &impl Fn(RegId) -> u8) -> u8 {
    simplified(expr, bits).1
}

/// The expression, and how many bits it has at most.
fn simplified(expr: &RegExpr, bits: &impl Fn(RegId) -> u8) -> (RegExpr, u8) {
    match expr {
        Expr::Const(value) => (expr.clone(), width(*value)),
        Expr::Leaf(reg) => (expr.clone(), bits(*reg)),
        Expr::Unary(op, operand) => unary(*op, simplified(operand, bits)),
        Expr::Binary(op, left, right) => binary(*op, simplified(left, bits), simplified(right, bits)),
    }
}

fn width(value: Value) -> u8 {
    (64 - value.leading_zeros()) as u8
}

fn unary(op: UnaryOp, (operand, _): (RegExpr, u8)) -> (RegExpr, u8) {
    match (op, operand) {
        (op, Expr::Const(value)) => constant(op.apply(value)),
        (UnaryOp::Not, operand) => (operand.negated(), 1),
        (op, operand) => (Expr::unary(op, operand), 64),
    }
}

fn constant(value: Value) -> (RegExpr, u8) {
    (Expr::Const(value), width(value))
}

fn binary(op: BinaryOp, (left, l): (RegExpr, u8), (right, r): (RegExpr, u8)) -> (RegExpr, u8) {
    if let (Expr::Const(left), Expr::Const(right)) = (&left, &right) {
        return constant(op.apply(*left, *right));
    }
    if let Some(simple) = special(op, (&left, l), (&right, r)) {
        return simple;
    }
    let count = match right {
        Expr::Const(count) => Some((count & 63) as u8),
        _ => None,
    };
    let bits = match op {
        BinaryOp::Add => (l.max(r) + 1).min(64),
        BinaryOp::Multiply => (l + r).min(64),
        BinaryOp::BitAnd => l.min(r),
        BinaryOp::BitOr | BinaryOp::BitXor => l.max(r),
        BinaryOp::ShiftLeft => count.map_or(64, |count| (l + count).min(64)),
        BinaryOp::ShiftRight if l < 64 => l.saturating_sub(count.unwrap_or(0)),
        BinaryOp::Divide if l < 64 && r < 64 => l,
        BinaryOp::Remainder if l < 64 && r < 64 => l.min(r),
        BinaryOp::Subtract | BinaryOp::ShiftRight | BinaryOp::Divide | BinaryOp::Remainder => 64,
        _ => 1,
    };
    (Expr::binary(op, left, right), bits)
}

/// What can be said in a simpler way.
fn special(op: BinaryOp, (left, l): (&RegExpr, u8), (right, r): (&RegExpr, u8)) -> Option<(RegExpr, u8)> {
    match (op, left, right) {
        (BinaryOp::Add | BinaryOp::BitOr | BinaryOp::BitXor, Expr::Const(0), _) => Some((right.clone(), r)),
        (
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight,
            _,
            Expr::Const(0),
        ) => Some((left.clone(), l)),
        (BinaryOp::Multiply, _, Expr::Const(1)) => Some((left.clone(), l)),
        (BinaryOp::Multiply, Expr::Const(1), _) => Some((right.clone(), r)),
        (BinaryOp::Multiply | BinaryOp::BitAnd, Expr::Const(0), _)
        | (BinaryOp::Multiply | BinaryOp::BitAnd, _, Expr::Const(0)) => Some(constant(0)),
        (BinaryOp::BitAnd, _, Expr::Const(mask)) => masked(left, l, *mask),
        (BinaryOp::Add, Expr::Binary(BinaryOp::Add, inner, first), Expr::Const(second)) => match **first {
            Expr::Const(first) => {
                let sum = Expr::Const(first.wrapping_add(*second));
                Some(binary(BinaryOp::Add, ((**inner).clone(), 64), (sum, 64)))
            }
            _ => None,
        },
        // A sign that is not there need not be extended.
        (BinaryOp::ShiftRight, Expr::Binary(BinaryOp::ShiftLeft, inner, up), Expr::Const(down)) => {
            let bits = l.saturating_sub((*down & 63) as u8);
            let is_same = **up == Expr::Const(*down) && (0..64).contains(down) && l < 64;
            is_same.then(|| ((**inner).clone(), bits))
        }
        (BinaryOp::Less, _, _) => without_flip(left, right),
        (BinaryOp::GreaterEqual, _, _) => without_flip(left, right).map(|(less, _)| (less.negated(), 1)),
        // A test of a test.
        (BinaryOp::NotEqual, Expr::Binary(inner, ..), Expr::Const(0)) if inner.negated().is_some() => {
            Some((left.clone(), 1))
        }
        (BinaryOp::Equal, Expr::Binary(inner, ..), Expr::Const(0)) if inner.negated().is_some() => {
            Some((left.negated(), 1))
        }
        _ => None,
    }
}

fn masked(value: &RegExpr, bits: u8, mask: Value) -> Option<(RegExpr, u8)> {
    if bits < 64 && ((1_u64 << bits) - 1) & !(mask as u64) == 0 || mask == -1 {
        return Some((value.clone(), bits));
    }
    match value {
        Expr::Binary(BinaryOp::BitAnd, inner, first) => match **first {
            Expr::Const(first) => {
                let both = Expr::Const(first & mask);
                Some(binary(BinaryOp::BitAnd, ((**inner).clone(), 64), (both, width(first & mask))))
            }
            _ => None,
        },
        // Bits that are not kept need not be put in.
        Expr::Binary(BinaryOp::BitOr, left, right) => match (&**left, &**right) {
            (other, kept) | (kept, other) if is_disjoint(other, mask) => {
                Some(binary(BinaryOp::BitAnd, (kept.clone(), 64), (Expr::Const(mask), width(mask))))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether the form of an expression shows that none of these bits is 1.
fn is_disjoint(value: &RegExpr, mask: Value) -> bool {
    matches!(value, Expr::Binary(BinaryOp::BitAnd, _, own) if matches!(**own, Expr::Const(own) if own & mask == 0))
}

/// A comparison without sign, as one with sign if both sides have none.
fn without_flip(left: &RegExpr, right: &RegExpr) -> Option<(RegExpr, u8)> {
    let (left, right) = (flipped(left)?, flipped(right)?);
    Some((Expr::binary(BinaryOp::Less, left, right), 1))
}

/// What a value is of which the highest bit was flipped, if that bit is 0.
fn flipped(value: &RegExpr) -> Option<RegExpr> {
    match value {
        Expr::Const(value) if *value < 0 => Some(Expr::Const(value ^ Value::MIN)),
        Expr::Binary(BinaryOp::BitXor, inner, flip) if **flip == Expr::Const(Value::MIN) => {
            has_no_sign(inner).then(|| (**inner).clone())
        }
        _ => None,
    }
}

/// Whether the form of an expression shows that its highest bit is 0.
fn has_no_sign(value: &RegExpr) -> bool {
    match value {
        Expr::Const(value) => *value >= 0,
        Expr::Binary(BinaryOp::BitAnd, _, mask) => matches!(**mask, Expr::Const(mask) if mask >= 0),
        _ => false,
    }
}
