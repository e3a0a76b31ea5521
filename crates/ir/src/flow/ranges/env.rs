//! The ranges of a thread's registers at one moment, and what a condition that holds tells about them.
//!
//! Refinement works backwards through an expression: from what it must give to what its parts must be.
//! It errs towards learning too little, never towards too much.

use super::interval::{binary, clamped_difference, clamped_sum, is_exact, truth, unary, without};
use crate::expr::{BinaryOp, UnaryOp, Value};
use crate::ids::RegId;
use crate::program::{Range, RegExpr};

/// How many operators deep a wanted value is pushed into an expression. Each level evaluates what is
/// below it, so this keeps the cost of a condition linear in its size.
const NARROWING_DEPTH: u32 = 8;

/// Ranges of registers, with a log of changes so that they can be taken back.
#[derive(Clone, Default, Debug)]
pub(crate) struct Env {
    values: Vec<Range>,
    log: Vec<(RegId, Range)>,
}

impl Env {
    /// Starts over with these ranges.
    pub(crate) fn load(&mut self, row: &[Range]) {
        self.values.clear();
        self.values.extend_from_slice(row);
        self.log.clear();
    }

    /// The ranges as they are now.
    pub(crate) fn row(&self) -> &[Range] {
        &self.values
    }

    /// Takes back every change since [`Env::load`].
    pub(crate) fn reset(&mut self) {
        self.undo(0);
    }

    /// Gives a register a new range.
    pub(crate) fn set(&mut self, register: RegId, range: Range) {
        let old = std::mem::replace(&mut self.values[register.index()], range);
        self.log.push((register, old));
    }

    /// What an expression can give.
    pub(crate) fn eval(&self, expr: &RegExpr) -> Range {
        eval(&self.values, expr)
    }

    /// Learns that a condition holds, or that it does not; false if that cannot be.
    #[must_use]
    pub(crate) fn assume(&mut self, condition: &RegExpr, holds: bool) -> bool {
        match condition {
            RegExpr::Unary(UnaryOp::Not, operand) => self.assume(operand, !holds),
            RegExpr::Binary(BinaryOp::And, left, right) if holds => self.assume(left, true) && self.assume(right, true),
            RegExpr::Binary(BinaryOp::Or, left, right) if !holds => {
                self.assume(left, false) && self.assume(right, false)
            }
            RegExpr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => self.assume_either(left, right, holds),
            RegExpr::Binary(op, left, right) if op.negated().is_some() => {
                let op = if holds { Some(*op) } else { op.negated() };
                op.is_none_or(|op| self.compare(op, left, right, NARROWING_DEPTH))
            }
            other => self.wants(other, holds, NARROWING_DEPTH),
        }
    }

    /// Learns what both ways of meeting a disjunction have in common.
    fn assume_either(&mut self, left: &RegExpr, right: &RegExpr, holds: bool) -> bool {
        let mark = self.log.len();
        let first = self.assume(left, holds).then(|| self.changes_since(mark));
        self.undo(mark);
        let second = self.assume(right, holds).then(|| self.changes_since(mark));
        self.undo(mark);
        let learnt = match (first, second) {
            (None, None) => return false,
            (Some(only), None) | (None, Some(only)) => only,
            (Some(first), Some(second)) => common(&first, &second),
        };
        for (register, range) in learnt {
            self.set(register, range);
        }
        true
    }

    /// The registers changed since a mark, ascending, with their ranges now.
    fn changes_since(&self, mark: usize) -> Vec<(RegId, Range)> {
        let mut registers: Vec<RegId> = self.log[mark..].iter().map(|&(register, _)| register).collect();
        registers.sort_unstable();
        registers.dedup();
        registers.into_iter().map(|register| (register, self.values[register.index()])).collect()
    }

    fn undo(&mut self, mark: usize) {
        for (register, old) in self.log.drain(mark..).rev() {
            self.values[register.index()] = old;
        }
    }

    /// Learns that `left op right` holds.
    fn compare(&mut self, op: BinaryOp, left: &RegExpr, right: &RegExpr, depth: u32) -> bool {
        let (a, b) = (self.eval(left), self.eval(right));
        let Some((a, b)) = compared(op, a, b) else { return false };
        // The second may say more once the first is known, but not less.
        self.narrow(left, a, depth) && self.narrow(right, b, depth)
    }

    /// Learns that an expression is true (or false).
    fn wants(&mut self, expr: &RegExpr, holds: bool, depth: u32) -> bool {
        let now = self.eval(expr);
        match (truth(now), holds) {
            (Some(known), _) => known == holds,
            (None, true) => without(now, 0).is_some_and(|range| self.narrow(expr, range, depth)),
            (None, false) => self.narrow(expr, Range::single(0), depth),
        }
    }

    /// Learns that the value of an expression lies in `wanted`; false if that cannot be.
    #[must_use]
    pub(crate) fn narrow(&mut self, expr: &RegExpr, wanted: Range, depth: u32) -> bool {
        let now = self.eval(expr);
        let Some(target) = now.meet(wanted) else { return false };
        let Some(depth) = depth.checked_sub(1).filter(|_| target != now) else { return true };
        match expr {
            RegExpr::Const(_) => true,
            RegExpr::Leaf(register) => {
                self.set(*register, target);
                true
            }
            RegExpr::Unary(UnaryOp::Complement, operand) => {
                self.narrow(operand, unary(UnaryOp::Complement, target), depth)
            }
            RegExpr::Unary(UnaryOp::Negate, operand) if self.eval(operand).low > Value::MIN => {
                self.narrow(operand, negated(target), depth)
            }
            RegExpr::Unary(UnaryOp::Negate, _) => true,
            RegExpr::Unary(UnaryOp::Not, operand) => self.wants(operand, target.low == 0, depth),
            RegExpr::Binary(op, left, right) => self.narrow_binary(*op, left, right, target, depth),
        }
    }

    fn narrow_binary(&mut self, op: BinaryOp, left: &RegExpr, right: &RegExpr, target: Range, depth: u32) -> bool {
        let (a, b) = (self.eval(left), self.eval(right));
        match op {
            BinaryOp::Add if is_exact(op, a, b) => {
                self.narrow(left, clamped_difference(target, b), depth)
                    && self.narrow(right, clamped_difference(target, a), depth)
            }
            BinaryOp::Subtract if is_exact(op, a, b) => {
                self.narrow(left, clamped_sum(target, b), depth)
                    && self.narrow(right, clamped_difference(a, target), depth)
            }
            // A comparison that was not decided, and now is.
            _ if op.negated().is_some() => {
                let op = if target.low == 1 { Some(op) } else { op.negated() };
                op.is_none_or(|op| self.compare(op, left, right, depth))
            }
            _ => true,
        }
    }
}

/// What an expression can give, with registers in these ranges.
pub(crate) fn eval(row: &[Range], expr: &RegExpr) -> Range {
    eval_with(&|register: RegId| row[register.index()], expr)
}

/// The possible values of an expression, whatever its registers hold: `r & 3` is 0 to 3.
pub fn possible_values(expr: &RegExpr) -> Range {
    eval_with(&|_| Range::FULL, expr)
}

fn eval_with(values: &impl Fn(RegId) -> Range, expr: &RegExpr) -> Range {
    match expr {
        RegExpr::Const(value) => Range::single(*value),
        RegExpr::Leaf(register) => values(*register),
        RegExpr::Unary(op, operand) => unary(*op, eval_with(values, operand)),
        RegExpr::Binary(op, left, right) => binary(*op, eval_with(values, left), eval_with(values, right)),
    }
}

/// The values of both sides for which a comparison can hold.
fn compared(op: BinaryOp, left: Range, right: Range) -> Option<(Range, Range)> {
    let at_most = |range: Range, high: Value| range.meet(Range { low: Value::MIN, high });
    let at_least = |range: Range, low: Value| range.meet(Range { low, high: Value::MAX });
    match op {
        BinaryOp::Equal => left.meet(right).map(|both| (both, both)),
        BinaryOp::NotEqual => {
            let less = |range: Range, other: Range| {
                if other.low == other.high { without(range, other.low) } else { Some(range) }
            };
            Some((less(left, right)?, less(right, left)?))
        }
        BinaryOp::LessEqual => Some((at_most(left, right.high)?, at_least(right, left.low)?)),
        BinaryOp::Less => {
            Some((at_most(left, right.high.checked_sub(1)?)?, at_least(right, left.low.checked_add(1)?)?))
        }
        BinaryOp::Greater => compared(BinaryOp::Less, right, left).map(|(right, left)| (left, right)),
        BinaryOp::GreaterEqual => compared(BinaryOp::LessEqual, right, left).map(|(right, left)| (left, right)),
        _ => Some((left, right)),
    }
}

/// The negative of a range that does not hold the least value.
fn negated(range: Range) -> Range {
    Range { low: range.high.saturating_neg(), high: range.low.saturating_neg() }
}

/// Changes found in both of two ascending lists, as far as both agree.
fn common(first: &[(RegId, Range)], second: &[(RegId, Range)]) -> Vec<(RegId, Range)> {
    let find = |register| second.binary_search_by_key(&register, |&(other, _)| other).ok();
    let both = |&(register, range): &(RegId, Range)| Some((register, range.hull(second[find(register)?].1)));
    first.iter().filter_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::flow::testing::{binary as op, constant, not, reg};

    fn range(low: Value, high: Value) -> Range {
        Range { low, high }
    }

    /// Two registers in these ranges, after learning `condition`.
    fn learn(rows: [Range; 2], condition: &RegExpr) -> Option<[Range; 2]> {
        let mut env = Env::default();
        env.load(&rows);
        env.assume(condition, true).then(|| [env.row()[0], env.row()[1]])
    }

    #[test]
    fn comparisons_bound_both_sides() {
        let rows = [range(0, 10), range(5, 20)];
        let less = op(BinaryOp::Less, reg(1), reg(0));
        assert_eq!(learn(rows, &less), Some([range(6, 10), range(5, 9)]));
        assert_eq!(learn(rows, &not(less.clone())), Some([range(0, 10), range(5, 20)]));
        let equal = op(BinaryOp::Equal, reg(0), reg(1));
        assert_eq!(learn(rows, &equal), Some([range(5, 10), range(5, 10)]));
        assert_eq!(learn(rows, &op(BinaryOp::GreaterEqual, reg(0), constant(11))), None);
        assert_eq!(learn([Range::FULL; 2], &op(BinaryOp::Less, reg(0), constant(Value::MIN))), None);
        let not_equal = op(BinaryOp::NotEqual, reg(0), constant(0));
        assert_eq!(learn(rows, &not_equal), Some([range(1, 10), range(5, 20)]));
    }

    #[test]
    fn arithmetic_is_undone_unless_it_may_wrap() {
        let rows = [range(0, 10), Range::FULL];
        let sum = op(BinaryOp::Less, op(BinaryOp::Add, reg(0), constant(1)), constant(4));
        assert_eq!(learn(rows, &sum), Some([range(0, 2), Range::FULL]));
        let wraps = op(BinaryOp::Less, op(BinaryOp::Add, reg(1), constant(1)), constant(4));
        assert_eq!(learn(rows, &wraps), Some([range(0, 10), Range::FULL]));
        let difference = op(BinaryOp::Equal, op(BinaryOp::Subtract, constant(7), reg(0)), constant(4));
        assert_eq!(learn(rows, &difference), Some([range(3, 3), Range::FULL]));
    }

    #[test]
    fn negation_is_undone_unless_the_least_value_is_its_own_negative() {
        let negative = op(BinaryOp::Less, Expr::unary(UnaryOp::Negate, reg(0)), constant(5));
        assert_eq!(learn([range(-9, 9), range(0, 0)], &negative), Some([range(-4, 9), range(0, 0)]));
        let least = [range(Value::MIN, 9), range(0, 0)];
        assert_eq!(learn(least, &negative), Some(least));
    }

    #[test]
    fn conjunctions_add_up_and_disjunctions_keep_what_they_share() {
        let rows = [range(0, 10), range(0, 10)];
        let low = op(BinaryOp::Less, reg(0), constant(3));
        let high = op(BinaryOp::Greater, reg(0), constant(1));
        let both = op(BinaryOp::And, low.clone(), high.clone());
        assert_eq!(learn(rows, &both), Some([range(2, 2), range(0, 10)]));
        assert_eq!(learn(rows, &not(both)), Some([range(0, 10), range(0, 10)]));
        let one = op(BinaryOp::Equal, reg(0), constant(4));
        let other = op(BinaryOp::Equal, reg(0), constant(6));
        let either = op(BinaryOp::Or, one, other);
        assert_eq!(learn(rows, &either), Some([range(4, 6), range(0, 10)]));
        let impossible = op(BinaryOp::Or, op(BinaryOp::Greater, reg(1), constant(10)), low);
        assert_eq!(learn(rows, &impossible), Some([range(0, 2), range(0, 10)]));
    }

    #[test]
    fn comparisons_of_truth_values_reach_inside() {
        let rows = [range(0, 10), range(0, 10)];
        let truth = op(BinaryOp::Equal, op(BinaryOp::Less, reg(0), constant(3)), constant(1));
        assert_eq!(learn(rows, &truth), Some([range(0, 2), range(0, 10)]));
        let falsehood = op(BinaryOp::Equal, not(reg(0)), constant(1));
        assert_eq!(learn(rows, &falsehood), Some([range(0, 0), range(0, 10)]));
    }

    /// Every condition of a shape, every pair of small ranges: no pair of values that meets the
    /// condition is lost.
    #[test]
    fn no_value_that_meets_the_condition_is_lost() {
        let small = || (-2..=2).flat_map(|low| (low..=2).map(move |high| range(low, high)));
        for outer in BinaryOp::ALL {
            for inner in BinaryOp::ALL {
                let condition = op(outer, op(inner, reg(0), reg(1)), op(BinaryOp::Add, reg(0), constant(1)));
                for rows in small().flat_map(|a| small().map(move |b| [a, b])) {
                    check_kept(rows, &condition);
                    check_kept(rows, &not(condition.clone()));
                }
            }
        }
    }

    fn check_kept(rows: [Range; 2], condition: &RegExpr) {
        let learnt = learn(rows, condition);
        for (a, b) in (rows[0].low..=rows[0].high).flat_map(|a| (rows[1].low..=rows[1].high).map(move |b| (a, b))) {
            if condition.eval(&mut |register| [a, b][register.index()]) != 0 {
                let kept = learnt.is_some_and(|[x, y]| x.contains(a) && y.contains(b));
                assert!(kept, "{condition:?} at {a}, {b} from {rows:?}: {learnt:?}");
            }
        }
    }
}
