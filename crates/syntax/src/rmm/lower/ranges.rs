//! Which values an expression can have, given the domains of registers; and conditions that say so.

use weir_ir::{BinaryOp, Expr, Range, RegExpr, RegId, UnaryOp, Value};

/// The values that an expression can have; nothing if that is not known.
pub(super) fn of(expr: &RegExpr, domain: &impl Fn(RegId) -> Option<Range>) -> Option<Range> {
    match expr {
        Expr::Const(value) => Some(Range::single(*value)),
        Expr::Leaf(register) => domain(*register),
        Expr::Unary(UnaryOp::Negate, operand) => {
            let range = of(operand, domain)?;
            Some(Range { low: range.high.checked_neg()?, high: range.low.checked_neg()? })
        }
        Expr::Binary(BinaryOp::Add, left, right) => {
            let (left, right) = (of(left, domain)?, of(right, domain)?);
            Some(Range { low: left.low.checked_add(right.low)?, high: left.high.checked_add(right.high)? })
        }
        Expr::Binary(BinaryOp::Subtract, left, right) => {
            let (left, right) = (of(left, domain)?, of(right, domain)?);
            Some(Range { low: left.low.checked_sub(right.high)?, high: left.high.checked_sub(right.low)? })
        }
        _ => None,
    }
}

/// The condition that an expression, which has one of the `known` values, has a value of `range`; nothing if that is
/// always so.
pub(super) fn within(expr: &RegExpr, known: Option<Range>, range: Range) -> Option<RegExpr> {
    if let Some(value) = expr.constant() {
        return (!range.contains(value)).then_some(Expr::Const(0));
    }
    let compare = |op, bound: Value| Expr::binary(op, expr.clone(), Expr::Const(bound));
    let is_low = known.is_none_or(|known| known.low < range.low);
    let is_high = known.is_none_or(|known| known.high > range.high);
    match (is_low, is_high) {
        (false, false) => None,
        (true, false) => Some(compare(BinaryOp::GreaterEqual, range.low)),
        (false, true) => Some(compare(BinaryOp::LessEqual, range.high)),
        (true, true) => Some(Expr::binary(
            BinaryOp::And,
            compare(BinaryOp::GreaterEqual, range.low),
            compare(BinaryOp::LessEqual, range.high),
        )),
    }
}
