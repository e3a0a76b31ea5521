//! What instructions do to the flags, after the processor's manual, as what tests of the flags tell afterwards.

use weir_ir::{BinaryOp, Expr, UnaryOp};

use crate::ops::{E, Op, Test, below, binary, constant, cut, not, sign_bit, signed, test};

/// What set the flags. Values are those before the instruction, of its size.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    Add(E, E),
    /// With a carry.
    AddCarry(E, E),
    Subtract(E, E),
    /// With a borrow.
    SubtractBorrow(E, E),
    /// A bitwise operation with this result.
    Logic(E),
    Increment(E),
    Decrement(E),
    /// The value, and by how many bits: at least one.
    ShiftLeft(E, u32),
    ShiftRight(E, u32),
    ArithmeticRight(E, u32),
    /// The carry and nothing else that is defined.
    Carry(E),
    /// A multiplication that overflowed, or not.
    Multiply(E),
    /// Nothing is defined.
    Undefined,
}

impl Cause {
    /// The operations that set the flags.
    pub(super) fn ops(&self, size: u32) -> Vec<Op> {
        // Tests that read other tests come first: those must still be the old ones.
        let order = [
            Test::BelowOrEqual,
            Test::LessOrEqual,
            Test::Less,
            Test::Overflow,
            Test::Sign,
            Test::Equal,
            Test::Parity,
            Test::Below,
        ];
        let kept = |which| matches!((self, which), (Self::Increment(_) | Self::Decrement(_), Test::Below));
        order.into_iter().filter(|&which| !kept(which)).map(|which| Op::Flag(which, self.test(which, size))).collect()
    }

    /// The result, of `size` bytes.
    pub(super) fn result(&self, size: u32) -> E {
        let with_carry = |op, left: &E, right: &E| {
            let carried = binary(BinaryOp::Add, right.clone(), test(Test::Below));
            cut(binary(op, left.clone(), carried), size)
        };
        match self {
            Self::Add(left, right) => cut(binary(BinaryOp::Add, left.clone(), right.clone()), size),
            Self::Subtract(left, right) => cut(binary(BinaryOp::Subtract, left.clone(), right.clone()), size),
            Self::AddCarry(left, right) => with_carry(BinaryOp::Add, left, right),
            Self::SubtractBorrow(left, right) => with_carry(BinaryOp::Subtract, left, right),
            Self::Logic(result) => result.clone(),
            Self::Increment(value) => cut(binary(BinaryOp::Add, value.clone(), constant(1)), size),
            Self::Decrement(value) => cut(binary(BinaryOp::Subtract, value.clone(), constant(1)), size),
            Self::ShiftLeft(value, count) => {
                cut(binary(BinaryOp::ShiftLeft, value.clone(), constant((*count).into())), size)
            }
            Self::ShiftRight(value, count) => crate::ops::shift_right(value.clone(), *count),
            Self::ArithmeticRight(value, count) => {
                let whole = signed(value.clone(), size);
                cut(binary(BinaryOp::ShiftRight, whole, constant((*count).into())), size)
            }
            Self::Carry(_) | Self::Multiply(_) | Self::Undefined => constant(0),
        }
    }

    fn test(&self, which: Test, size: u32) -> Option<E> {
        match self {
            Self::Undefined => return None,
            Self::Carry(carry) => return (which == Test::Below).then(|| carry.clone()),
            Self::Multiply(overflow) => {
                return matches!(which, Test::Below | Test::Overflow).then(|| overflow.clone());
            }
            _ => {}
        }
        match which {
            Test::Equal => Some(self.is_zero(size)),
            Test::Sign => Some(is_negative(self.result(size), size)),
            Test::Below => self.carry(size),
            Test::BelowOrEqual => match self {
                Self::Subtract(left, right) => Some(not(below(right.clone(), left.clone(), size))),
                Self::Increment(_) | Self::Decrement(_) => Some(either(test(Test::Below), self.is_zero(size))),
                _ => Some(either(self.carry(size)?, self.is_zero(size))),
            },
            Test::Overflow => self.overflow(size),
            Test::Less => match self {
                Self::Subtract(left, right) => {
                    Some(binary(BinaryOp::Less, signed(left.clone(), size), signed(right.clone(), size)))
                }
                Self::Logic(result) => Some(is_negative(result.clone(), size)),
                _ => {
                    let sign = is_negative(self.result(size), size);
                    Some(binary(BinaryOp::NotEqual, sign, self.overflow(size)?))
                }
            },
            Test::LessOrEqual => match self {
                Self::Subtract(left, right) => {
                    Some(binary(BinaryOp::LessEqual, signed(left.clone(), size), signed(right.clone(), size)))
                }
                Self::Logic(result) => Some(binary(BinaryOp::LessEqual, signed(result.clone(), size), constant(0))),
                _ => Some(either(self.test(Test::Less, size)?, self.is_zero(size))),
            },
            Test::Parity => None,
        }
    }

    fn is_zero(&self, size: u32) -> E {
        match self {
            // The difference is zero if and only if both are equal.
            Self::Subtract(left, right) => binary(BinaryOp::Equal, left.clone(), right.clone()),
            _ => binary(BinaryOp::Equal, self.result(size), constant(0)),
        }
    }

    fn carry(&self, size: u32) -> Option<E> {
        Some(match self {
            Self::Add(left, _) => below(self.result(size), left.clone(), size),
            Self::Subtract(left, right) => below(left.clone(), right.clone(), size),
            // The sum wrapped around, or came back to where it began with a carry.
            Self::AddCarry(left, _) => {
                let result = self.result(size);
                let same = binary(BinaryOp::Equal, result.clone(), left.clone());
                either(below(result, left.clone(), size), both(test(Test::Below), same))
            }
            Self::SubtractBorrow(left, right) => {
                let same = binary(BinaryOp::Equal, left.clone(), right.clone());
                either(below(left.clone(), right.clone(), size), both(test(Test::Below), same))
            }
            Self::Logic(_) => constant(0),
            Self::Increment(_) | Self::Decrement(_) => test(Test::Below),
            Self::ShiftLeft(value, count) => bit(value.clone(), 8 * size - count),
            Self::ShiftRight(value, count) | Self::ArithmeticRight(value, count) => bit(value.clone(), count - 1),
            Self::Carry(_) | Self::Multiply(_) | Self::Undefined => return None,
        })
    }

    fn overflow(&self, size: u32) -> Option<E> {
        let result = || self.result(size);
        let differ = |a: &E, b: &E| binary(BinaryOp::BitXor, a.clone(), b.clone());
        let is = |value: &E, limit: i64| binary(BinaryOp::Equal, value.clone(), constant(limit));
        Some(match self {
            Self::Add(left, right) | Self::AddCarry(left, right) => {
                let both = binary(BinaryOp::BitAnd, differ(left, &result()), differ(right, &result()));
                is_negative(both, size)
            }
            Self::Subtract(left, right) | Self::SubtractBorrow(left, right) => {
                let both = binary(BinaryOp::BitAnd, differ(left, right), differ(left, &result()));
                is_negative(both, size)
            }
            Self::Logic(_) => constant(0),
            Self::Increment(value) => is(value, sign_bit(size).wrapping_sub(1)),
            Self::Decrement(value) => is(value, sign_bit(size)),
            Self::ArithmeticRight(_, 1) => constant(0),
            Self::ShiftRight(value, 1) => is_negative(value.clone(), size),
            Self::ShiftLeft(value, 1) => is_negative(differ(value, &result()), size),
            _ => return None,
        })
    }
}

/// Whether the highest bit of `size` bytes is set.
fn is_negative(value: E, size: u32) -> E {
    if size >= 8 {
        return binary(BinaryOp::Less, value, constant(0));
    }
    let top = binary(BinaryOp::BitAnd, value, constant(sign_bit(size)));
    binary(BinaryOp::NotEqual, top, constant(0))
}

/// One bit.
pub(super) fn bit(value: E, at: u32) -> E {
    let moved = binary(BinaryOp::ShiftRight, value, constant(at.into()));
    binary(BinaryOp::BitAnd, moved, constant(1))
}

fn either(left: E, right: E) -> E {
    binary(BinaryOp::Or, left, right)
}

fn both(left: E, right: E) -> E {
    binary(BinaryOp::And, left, right)
}

/// `~value`, of `size` bytes.
pub(super) fn complement(value: E, size: u32) -> E {
    cut(Expr::unary(UnaryOp::Complement, value), size)
}
