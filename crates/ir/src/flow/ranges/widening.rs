//! Thresholds: where a growing range stops first. A range that keeps growing jumps to the next value
//! that the program itself mentions (or its neighbours), and only after that to the end of all values.

use crate::expr::Value;
use crate::program::{Instruction, Program, Range, RegExpr};

/// How a range that has grown a number of times grows on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pace {
    /// By what is needed.
    Exactly,
    /// To the next threshold.
    ToThreshold,
    /// To the least or greatest value.
    ToTheEnd,
}

impl Pace {
    /// A few exact steps find small ranges; then thresholds; a chain of many thresholds is cut short.
    pub(super) fn after(growths: u32) -> Self {
        match growths {
            0..=2 => Self::Exactly,
            3..=40 => Self::ToThreshold,
            _ => Self::ToTheEnd,
        }
    }
}

/// The values a growing range may stop at.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    values: Vec<Value>,
}

impl Thresholds {
    /// Constants, initial values, ranges and addresses of a program, with their neighbours.
    pub(super) fn of(program: &Program) -> Self {
        let mut values = vec![0];
        for shared in &program.shared {
            values.extend(shared.range.into_iter().flat_map(ends));
            values.extend(shared.initial.iter().min().into_iter().chain(shared.initial.iter().max()));
            values.extend([shared.address, shared.address.saturating_add(shared.initial.len() as Value - 1)]);
        }
        let bodies = program.threads.iter().map(|thread| &thread.body);
        for body in bodies.chain(program.procedures.iter().map(|procedure| &procedure.body)) {
            for edge in body.edges() {
                constants_of(&edge.instruction, &mut values);
            }
        }
        let mut values: Vec<Value> =
            values.into_iter().flat_map(|value| [value.saturating_sub(1), value, value.saturating_add(1)]).collect();
        values.sort_unstable();
        values.dedup();
        Self { values }
    }

    /// A range that holds `old` and `new`, larger where `new` exceeds `old`.
    pub(super) fn widen(&self, old: Range, new: Range, pace: Pace) -> Range {
        let low = if new.low < old.low { self.below(new.low, pace) } else { old.low };
        let high = if new.high > old.high { self.above(new.high, pace) } else { old.high };
        Range { low, high }
    }

    fn below(&self, value: Value, pace: Pace) -> Value {
        match pace {
            Pace::Exactly => value,
            Pace::ToThreshold => {
                let after = self.values.partition_point(|&threshold| threshold <= value);
                after.checked_sub(1).map_or(Value::MIN, |at| self.values[at])
            }
            Pace::ToTheEnd => Value::MIN,
        }
    }

    fn above(&self, value: Value, pace: Pace) -> Value {
        match pace {
            Pace::Exactly => value,
            Pace::ToThreshold => {
                let at = self.values.partition_point(|&threshold| threshold < value);
                self.values.get(at).copied().unwrap_or(Value::MAX)
            }
            Pace::ToTheEnd => Value::MAX,
        }
    }
}

fn ends(range: Range) -> [Value; 2] {
    [range.low, range.high]
}

fn constants_of(instruction: &Instruction, values: &mut Vec<Value>) {
    if let Instruction::Havoc { range, .. } = instruction {
        values.extend(ends(*range));
    }
    instruction.for_each_operand(&mut |operand| constants_in(operand, values));
}

fn constants_in(expr: &RegExpr, values: &mut Vec<Value>) {
    match expr {
        RegExpr::Const(value) => values.push(*value),
        RegExpr::Leaf(_) => {}
        RegExpr::Unary(_, operand) => constants_in(operand, values),
        RegExpr::Binary(_, left, right) => {
            constants_in(left, values);
            constants_in(right, values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_stops_at_thresholds_then_at_the_end() {
        let thresholds = Thresholds { values: vec![-5, 0, 7, 8, 9] };
        let range = |low, high| Range { low, high };
        let widen = |new, pace| thresholds.widen(range(0, 3), new, pace);
        assert_eq!(widen(range(0, 4), Pace::Exactly), range(0, 4));
        assert_eq!(widen(range(0, 4), Pace::ToThreshold), range(0, 7));
        assert_eq!(widen(range(0, 10), Pace::ToThreshold), range(0, Value::MAX));
        assert_eq!(widen(range(-1, 2), Pace::ToThreshold), range(-5, 3));
        assert_eq!(widen(range(-9, 2), Pace::ToThreshold), range(Value::MIN, 3));
        assert_eq!(widen(range(-1, 4), Pace::ToTheEnd), Range::FULL);
    }
}
