//! Expressions in prefix form.
//!
//! Operators that programs in Trencher's language are known to use: `+ - * & == != < <= > >= && ||`, on
//! registers and constants that are not negative. No other is assumed; `-e`, `!e`, `~e`, `|`, `^`, shifts to the
//! left by a constant and remainders by a power of two are written with these. Constants are C's `int`.

use weir_ir::{BinaryOp, Body, RegExpr, UnaryOp, Value};

use super::Refusal;
use crate::limits::MAX_TRENCHER_BYTES;

/// An expression in prefix form.
pub(super) fn prefix(body: &Body, expr: &RegExpr) -> Result<String, Refusal> {
    if let Some(value) = expr.constant() {
        return constant(value);
    }
    let text = match expr {
        RegExpr::Const(value) => constant(*value)?,
        RegExpr::Leaf(register) => body.registers[register.index()].name.clone(),
        RegExpr::Unary(op, operand) => unary(*op, &prefix(body, operand)?),
        RegExpr::Binary(op, left, right) => binary(*op, &prefix(body, left)?, &prefix(body, right)?, right.constant())?,
    };
    if text.len() > MAX_TRENCHER_BYTES {
        let message = "this expression becomes too long in Trencher's language";
        return Err(Refusal::new(message, "compute it in several steps, using registers"));
    }
    Ok(text)
}

fn constant(value: Value) -> Result<String, Refusal> {
    match i32::try_from(value) {
        Ok(value) if value >= 0 => Ok(value.to_string()),
        Ok(i32::MIN) => Ok(format!("- - 0 {} 1", i32::MAX)),
        Ok(value) => Ok(format!("- 0 {}", value.unsigned_abs())),
        Err(_) => {
            let message = format!("{value} does not fit in Trencher's 32-bit values");
            Err(Refusal::new(message, "use smaller values"))
        }
    }
}

fn unary(op: UnaryOp, operand: &str) -> String {
    match op {
        UnaryOp::Negate => format!("- 0 {operand}"),
        UnaryOp::Not => format!("== {operand} 0"),
        UnaryOp::Complement => format!("- - 0 1 {operand}"),
    }
}

/// `right_value` is what the right operand is, if that is known.
pub(super) fn binary(op: BinaryOp, left: &str, right: &str, right_value: Option<Value>) -> Result<String, Refusal> {
    Ok(match op {
        // Each bit is in the sum of both once too often if both have it; for `^` twice.
        BinaryOp::BitOr => format!("- + {left} {right} & {left} {right}"),
        BinaryOp::BitXor => format!("- + {left} {right} * 2 & {left} {right}"),
        BinaryOp::ShiftLeft => match right_value.map(|count| count & 63) {
            Some(count @ 0..=30) => format!("* {left} {}", 1i64 << count),
            _ => return Err(no_operator(op)),
        },
        BinaryOp::Remainder => match right_value.map(Value::unsigned_abs) {
            Some(0) => "0".to_string(),
            Some(divisor) if divisor.is_power_of_two() && divisor <= 1 << 30 => remainder(left, divisor),
            _ => return Err(no_operator(op)),
        },
        BinaryOp::Divide | BinaryOp::ShiftRight => return Err(no_operator(op)),
        _ => format!("{} {left} {right}", op.symbol()),
    })
}

/// The remainder by a power of two: the lowest bits, less the divisor if what is divided is negative and they
/// are not all 0, since a remainder has the sign of what is divided.
fn remainder(left: &str, divisor: u64) -> String {
    let bits = format!("& {left} {}", divisor - 1);
    format!("- {bits} * {divisor} && < {left} 0 != {bits} 0")
}

fn no_operator(op: BinaryOp) -> Refusal {
    let message = format!("Trencher's language has no `{}`", op.symbol());
    let help = match op {
        BinaryOp::ShiftLeft => "shift by a constant of at most 30",
        BinaryOp::Remainder => "use a power of two as the divisor, or use `&`",
        _ => {
            "it has `+ - * &`, comparisons, `&&` and `||`; you can enumerate the cases instead: `if r == 5 { q = 2; }`"
        }
    };
    Refusal::new(message, help)
}
