//! Operators on ranges of values: the result holds every value the operator gives on values of the
//! operands, wrap-around included. Errs towards larger ranges.

use crate::expr::{BinaryOp, UnaryOp, Value};
use crate::program::Range;

/// The truth values.
const BOOLEAN: Range = Range { low: 0, high: 1 };

/// What `op` can give on operands in this range.
pub fn unary(op: UnaryOp, operand: Range) -> Range {
    match op {
        UnaryOp::Negate => wrapped(-i128::from(operand.high), -i128::from(operand.low)),
        UnaryOp::Complement => complement(operand),
        UnaryOp::Not => decided(truth(operand).map(|holds| !holds)),
    }
}

/// What `op` can give on operands in these ranges.
pub fn binary(op: BinaryOp, left: Range, right: Range) -> Range {
    if left.low == left.high && right.low == right.high {
        return Range::single(op.apply(left.low, right.low));
    }
    match op {
        BinaryOp::Add => wrapped(wide(left.low) + wide(right.low), wide(left.high) + wide(right.high)),
        BinaryOp::Subtract => wrapped(wide(left.low) - wide(right.high), wide(left.high) - wide(right.low)),
        BinaryOp::Multiply => corners(left, right, |a, b| a * b),
        BinaryOp::Divide => divide(left, right),
        BinaryOp::Remainder => remainder(left, right),
        BinaryOp::ShiftLeft => corners(left, shift_counts(right), |a, count| a << count),
        BinaryOp::ShiftRight => corners(left, shift_counts(right), |a, count| a >> count),
        BinaryOp::BitAnd => bit_and(left, right),
        // x | y = ~(~x & ~y), and the complement is exact.
        BinaryOp::BitOr => complement(bit_and(complement(left), complement(right))),
        BinaryOp::BitXor => bit_xor(left, right),
        BinaryOp::And | BinaryOp::Or => decided(connective(op, truth(left), truth(right))),
        _ => decided(compare(op, left, right)),
    }
}

/// Whether a value of the range counts as true, if all of them agree.
pub(crate) fn truth(range: Range) -> Option<bool> {
    match (range.low, range.high) {
        (0, 0) => Some(false),
        _ if range.contains(0) => None,
        _ => Some(true),
    }
}

/// The range less `value`, where that is at an end.
pub(crate) fn without(range: Range, value: Value) -> Option<Range> {
    match (range.low == value, range.high == value) {
        (true, true) => None,
        (true, false) => Some(Range { low: range.low + 1, ..range }),
        (false, true) => Some(Range { high: range.high - 1, ..range }),
        (false, false) => Some(range),
    }
}

/// Whether the exact result of an addition or subtraction of any two values fits 64 bits.
pub(crate) fn is_exact(op: BinaryOp, left: Range, right: Range) -> bool {
    let (low, high) = match op {
        BinaryOp::Add => (left.low.checked_add(right.low), left.high.checked_add(right.high)),
        BinaryOp::Subtract => (left.low.checked_sub(right.high), left.high.checked_sub(right.low)),
        _ => return false,
    };
    low.is_some() && high.is_some()
}

/// The difference of two ranges, cut to what 64 bits can hold instead of wrapped.
pub(crate) fn clamped_difference(left: Range, right: Range) -> Range {
    Range { low: left.low.saturating_sub(right.high), high: left.high.saturating_sub(right.low) }
}

/// The sum of two ranges, cut to what 64 bits can hold instead of wrapped.
pub(crate) fn clamped_sum(left: Range, right: Range) -> Range {
    Range { low: left.low.saturating_add(right.low), high: left.high.saturating_add(right.high) }
}

fn wide(value: Value) -> i128 {
    i128::from(value)
}

/// The values from `low` to `high`, taken modulo 2⁶⁴: a range again if all of them wrap equally often.
fn wrapped(low: i128, high: i128) -> Range {
    let turns = |value: i128| (value - wide(Value::MIN)) >> 64;
    if turns(low) == turns(high) { Range { low: low as Value, high: high as Value } } else { Range::FULL }
}

/// For operators that are monotone in each operand: the extremes lie at the corners.
fn corners(left: Range, right: Range, apply: impl Fn(i128, i128) -> i128) -> Range {
    let at = |a: Value, b: Value| apply(wide(a), wide(b));
    let all = [at(left.low, right.low), at(left.low, right.high), at(left.high, right.low), at(left.high, right.high)];
    let low = all.into_iter().fold(all[0], i128::min);
    let high = all.into_iter().fold(all[0], i128::max);
    wrapped(low, high)
}

/// Division is monotone in each operand as long as the divisor keeps its sign; by zero it gives zero.
fn divide(left: Range, right: Range) -> Range {
    let part = |low, high| right.meet(Range { low, high }).map(|divisor| corners(left, divisor, |a, b| a / b));
    let zero = right.contains(0).then_some(Range::single(0));
    let parts = [part(Value::MIN, -1), zero, part(1, Value::MAX)];
    parts.into_iter().flatten().reduce(Range::hull).unwrap_or(Range::FULL)
}

/// The remainder has the sign of the dividend, and is nearer to zero than dividend and divisor.
fn remainder(left: Range, right: Range) -> Range {
    let greatest = right.low.unsigned_abs().max(right.high.unsigned_abs());
    let least = if right.contains(0) { 0 } else { right.low.unsigned_abs().min(right.high.unsigned_abs()) };
    if left.low.unsigned_abs().max(left.high.unsigned_abs()) < least {
        return left;
    }
    // Always fits: a magnitude is at most 2⁶³.
    let bound = Value::try_from(greatest.saturating_sub(1)).unwrap_or(Value::MAX);
    Range { low: left.low.max(-bound).min(0), high: left.high.min(bound).max(0) }
}

/// Shift counts are taken modulo 64.
fn shift_counts(counts: Range) -> Range {
    let (low, high) = (counts.low & 63, counts.high & 63);
    if counts.extent() < 64 && low <= high { Range { low, high } } else { Range { low: 0, high: 63 } }
}

fn complement(range: Range) -> Range {
    Range { low: !range.high, high: !range.low }
}

fn bit_and(left: Range, right: Range) -> Range {
    match (left.low >= 0, right.low >= 0) {
        (true, true) => Range { low: 0, high: left.high.min(right.high) },
        (true, false) => Range { low: 0, high: left.high },
        (false, true) => Range { low: 0, high: right.high },
        (false, false) => Range { low: power_below(left.low.min(right.low)), high: left.high.max(right.high) },
    }
}

fn bit_xor(left: Range, right: Range) -> Range {
    // All operands lie in -2ᵏ..2ᵏ-1, and so does the result.
    let magnitude = |range: Range| power_below(range.low.min(-1)).min(power_below(!range.high.max(0)));
    let low = magnitude(left).min(magnitude(right));
    let sign = |range: Range| (range.high < 0 || range.low >= 0).then_some(range.high < 0);
    match (sign(left), sign(right)) {
        (Some(a), Some(b)) if a == b => Range { low: 0, high: !low },
        (Some(_), Some(_)) => Range { low, high: -1 },
        _ => Range { low, high: !low },
    }
}

/// The greatest -2ᵏ that is at most the negative `value`.
fn power_below(value: Value) -> Value {
    let bits = Value::BITS - (!value).leading_zeros();
    if bits >= 63 { Value::MIN } else { -(1 << bits) }
}

fn compare(op: BinaryOp, left: Range, right: Range) -> Option<bool> {
    let decide = |always: bool, never: bool| if always { Some(true) } else { never.then_some(false) };
    match op {
        BinaryOp::Less => decide(left.high < right.low, left.low >= right.high),
        BinaryOp::LessEqual => decide(left.high <= right.low, left.low > right.high),
        BinaryOp::Greater => decide(left.low > right.high, left.high <= right.low),
        BinaryOp::GreaterEqual => decide(left.low >= right.high, left.high < right.low),
        // Two single equal values were dealt with before.
        BinaryOp::Equal => decide(false, left.meet(right).is_none()),
        BinaryOp::NotEqual => decide(left.meet(right).is_none(), false),
        _ => None,
    }
}

fn connective(op: BinaryOp, left: Option<bool>, right: Option<bool>) -> Option<bool> {
    let absorbing = op == BinaryOp::Or;
    if left == Some(absorbing) || right == Some(absorbing) {
        return Some(absorbing);
    }
    (left == Some(!absorbing) && right == Some(!absorbing)).then_some(!absorbing)
}

fn decided(holds: Option<bool>) -> Range {
    holds.map_or(BOOLEAN, |holds| Range::single(Value::from(holds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [Value; 23] = [
        Value::MIN,
        Value::MIN + 1,
        Value::MIN / 2,
        -(1 << 32),
        -65,
        -64,
        -9,
        -8,
        -3,
        -2,
        -1,
        0,
        1,
        2,
        3,
        7,
        8,
        63,
        64,
        1 << 32,
        Value::MAX / 2,
        Value::MAX - 1,
        Value::MAX,
    ];

    fn ranges() -> impl Iterator<Item = Range> {
        SAMPLES
            .into_iter()
            .flat_map(|low| SAMPLES.into_iter().filter(move |&high| low <= high).map(move |high| Range { low, high }))
    }

    fn members(range: Range) -> impl Iterator<Item = Value> {
        SAMPLES.into_iter().filter(move |&value| range.contains(value))
    }

    #[test]
    fn every_result_lies_in_the_range() {
        for op in BinaryOp::ALL {
            for (left, right) in ranges().flat_map(|left| ranges().map(move |right| (left, right))) {
                let range = binary(op, left, right);
                assert!(range.low <= range.high);
                for (a, b) in members(left).flat_map(|a| members(right).map(move |b| (a, b))) {
                    assert!(range.contains(op.apply(a, b)), "{a} {} {b} in {left:?}, {right:?}", op.symbol());
                }
            }
        }
        for op in [UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement] {
            for operand in ranges() {
                assert!(
                    members(operand).all(|value| unary(op, operand).contains(op.apply(value))),
                    "{op:?} {operand:?}"
                );
            }
        }
    }

    /// Every pair of ranges within -9..9, with every pair of values in them.
    #[test]
    fn small_ranges_are_covered_and_exact_where_that_is_claimed() {
        let small = || (-9..=9).flat_map(|low| (low..=9).map(move |high| Range { low, high }));
        let exact = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Less];
        for op in BinaryOp::ALL {
            for (left, right) in small().flat_map(|left| small().map(move |right| (left, right))) {
                let range = binary(op, left, right);
                let pairs = (left.low..=left.high).flat_map(|a| (right.low..=right.high).map(move |b| (a, b)));
                let results = pairs.map(|(a, b)| Range::single(op.apply(a, b)));
                let Some(hull) = results.reduce(Range::hull) else { continue };
                assert_eq!(range.hull(hull), range, "{left:?} {} {right:?}", op.symbol());
                assert!(!exact.contains(&op) || range == hull, "{left:?} {} {right:?}", op.symbol());
            }
        }
    }

    #[test]
    fn precision_where_programs_need_it() {
        let range = |low, high| Range { low, high };
        assert_eq!(binary(BinaryOp::Remainder, range(0, 1000), range(128, 128)), range(0, 127));
        assert_eq!(binary(BinaryOp::Remainder, range(2, 5), range(8, 9)), range(2, 5));
        assert_eq!(binary(BinaryOp::BitAnd, Range::FULL, range(0, 7)), range(0, 7));
        assert_eq!(binary(BinaryOp::BitOr, range(0, 4), range(0, 3)), range(0, 7));
        assert_eq!(binary(BinaryOp::BitXor, range(0, 4), range(0, 3)), range(0, 7));
        assert_eq!(binary(BinaryOp::ShiftLeft, range(1, 1), range(0, 4)), range(1, 16));
        assert_eq!(binary(BinaryOp::ShiftRight, range(-8, 16), range(65, 66)), range(-4, 8));
        assert_eq!(
            binary(BinaryOp::Add, range(Value::MAX, Value::MAX), range(1, 2)),
            range(Value::MIN, Value::MIN + 1)
        );
        assert_eq!(binary(BinaryOp::Add, range(0, Value::MAX), range(1, 1)), Range::FULL);
    }
}
