//! What arithmetic does to the flags, after the processor's manual.
//!
//! Values come with their sign, as [`super::bits`] says; a carry compares them without it.

use weir_ir::{BinaryOp, Diagnostic, Expr, RegExpr, Span, Value};

use super::super::Refused;
use super::super::mnemonic::{Binary, Condition, Shift, Test, Unary};
use super::super::register::{Base, Flag, Part};
use super::bits::{any, below, binary, greatest, least, not, signed};
use super::registers::Registers;

/// What set the flags.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    Binary(Binary, RegExpr, RegExpr),
    Unary(Unary, RegExpr),
    /// The value, and by how many bits; at least one.
    Shift(Shift, RegExpr, u32),
}

impl Cause {
    /// The result, of `size` bytes.
    pub(super) fn result(&self, size: u32) -> RegExpr {
        match self {
            Self::Binary(operation, left, right) => combined(*operation, left.clone(), right.clone(), size),
            Self::Unary(Unary::Increment, value) => combined(Binary::Add, value.clone(), Expr::Const(1), size),
            Self::Unary(Unary::Decrement, value) => combined(Binary::Subtract, value.clone(), Expr::Const(1), size),
            Self::Unary(Unary::Negate, value) => combined(Binary::Subtract, Expr::Const(0), value.clone(), size),
            Self::Unary(Unary::Not, value) => combined(Binary::Xor, value.clone(), Expr::Const(-1), size),
            Self::Shift(shift, value, count) => shifted(*shift, value.clone(), *count, size),
        }
    }

    /// The flag afterwards, if this changes it.
    pub(super) fn flag(&self, flag: Flag, size: u32, span: Span) -> Result<Option<RegExpr>, Refused> {
        let result = self.result(size);
        Ok(match flag {
            Flag::Zero => Some(match self {
                // The difference is zero if and only if both are equal.
                Self::Binary(Binary::Subtract, left, right) => binary(BinaryOp::Equal, left.clone(), right.clone()),
                _ => binary(BinaryOp::Equal, result, Expr::Const(0)),
            }),
            Flag::Sign => Some(binary(BinaryOp::Less, result, Expr::Const(0))),
            Flag::Carry => self.carry(result, size),
            Flag::Overflow => Some(self.overflow(result, size, span)?),
        })
    }

    fn carry(&self, result: RegExpr, size: u32) -> Option<RegExpr> {
        Some(match self {
            Self::Binary(Binary::Add, left, _) => below(result, left.clone()),
            Self::Binary(Binary::Subtract, left, right) => below(left.clone(), right.clone()),
            Self::Binary(Binary::And | Binary::Or | Binary::Xor, ..) => Expr::Const(0),
            Self::Unary(Unary::Negate, value) => binary(BinaryOp::NotEqual, value.clone(), Expr::Const(0)),
            Self::Unary(..) => return None,
            Self::Shift(shift, value, count) => last_bit_out(*shift, value.clone(), *count, size),
        })
    }

    fn overflow(&self, result: RegExpr, size: u32, span: Span) -> Result<RegExpr, Refused> {
        let is = |value: &RegExpr, limit| binary(BinaryOp::Equal, value.clone(), Expr::Const(limit));
        Ok(match self {
            Self::Binary(Binary::Add, left, right) => {
                let differs = |side: &RegExpr| binary(BinaryOp::BitXor, side.clone(), result.clone());
                let both = binary(BinaryOp::BitAnd, differs(left), differs(right));
                binary(BinaryOp::Less, both, Expr::Const(0))
            }
            // Less is what the sign says, unless there was an overflow.
            Self::Binary(Binary::Subtract, left, right) => {
                let less = binary(BinaryOp::Less, left.clone(), right.clone());
                binary(BinaryOp::NotEqual, less, binary(BinaryOp::Less, result, Expr::Const(0)))
            }
            Self::Binary(Binary::And | Binary::Or | Binary::Xor, ..) => Expr::Const(0),
            Self::Unary(Unary::Increment, value) => is(value, greatest(size)),
            Self::Unary(_, value) => is(value, least(size)),
            Self::Shift(Shift::ArithmeticRight, _, 1) => Expr::Const(0),
            Self::Shift(Shift::Right, value, 1) => binary(BinaryOp::Less, value.clone(), Expr::Const(0)),
            Self::Shift(Shift::Left, value, 1) => {
                let sign = |value: RegExpr| binary(BinaryOp::Less, value, Expr::Const(0));
                binary(BinaryOp::NotEqual, sign(value.clone()), sign(result))
            }
            Self::Shift(..) => {
                let message = "the overflow flag is undefined after a shift by more than one bit";
                return Err(Diagnostic::error("undefined-flag", message, span)
                    .help("signed comparisons read this flag; compare again before the jump")
                    .into());
            }
        })
    }
}

fn combined(operation: Binary, left: RegExpr, right: RegExpr, size: u32) -> RegExpr {
    match operation {
        Binary::Add => signed(binary(BinaryOp::Add, left, right), size),
        Binary::Subtract => signed(binary(BinaryOp::Subtract, left, right), size),
        Binary::And => binary(BinaryOp::BitAnd, left, right),
        Binary::Or => binary(BinaryOp::BitOr, left, right),
        Binary::Xor => binary(BinaryOp::BitXor, left, right),
    }
}

/// Shifts to the right need zeros or signs above the value: fewer than 8 bytes have room for them.
fn shifted(shift: Shift, value: RegExpr, count: u32, size: u32) -> RegExpr {
    let by = Expr::Const(count.into());
    match shift {
        Shift::Left => signed(binary(BinaryOp::ShiftLeft, value, by), size),
        Shift::ArithmeticRight => binary(BinaryOp::ShiftRight, value, by),
        Shift::Right => {
            let kept = 8 * size - count;
            let bits = binary(BinaryOp::ShiftRight, value, by);
            let ones = (u64::MAX >> (64 - kept)) as Value;
            signed(binary(BinaryOp::BitAnd, bits, Expr::Const(ones)), size)
        }
    }
}

fn last_bit_out(shift: Shift, value: RegExpr, count: u32, size: u32) -> RegExpr {
    let at = match shift {
        Shift::Left => 8 * size - count,
        Shift::Right | Shift::ArithmeticRight => count - 1,
    };
    let moved = binary(BinaryOp::ShiftRight, value, Expr::Const(at.into()));
    binary(BinaryOp::BitAnd, moved, Expr::Const(1))
}

/// A condition code as an expression.
pub(super) fn condition(condition: Condition, registers: &Registers) -> RegExpr {
    let flag = |flag| registers.read(&Base::Flag(flag), Part::Quad);
    let less = || binary(BinaryOp::NotEqual, flag(Flag::Sign), flag(Flag::Overflow));
    let holds = match condition.test {
        Test::Flag(which) => flag(which),
        Test::BelowOrEqual => any(vec![flag(Flag::Carry), flag(Flag::Zero)]),
        Test::Less => less(),
        Test::LessOrEqual => any(vec![flag(Flag::Zero), less()]),
    };
    if condition.is_negated { not(holds) } else { holds }
}
