//! The operators of the language on 64-bit values, worked out in 128 bits.

use super::tree::Value;

/// All operators with two operands, with how tightly they bind.
pub(super) const BINARY: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("==", 3),
    ("!=", 3),
    ("<", 3),
    ("<=", 3),
    (">", 3),
    (">=", 3),
    ("|", 4),
    ("^", 5),
    ("&", 6),
    ("<<", 7),
    (">>", 7),
    ("+", 8),
    ("-", 8),
    ("*", 9),
    ("/", 9),
    ("%", 9),
];

pub(super) const UNARY: [&str; 3] = ["-", "!", "~"];

pub(super) fn precedence(op: &str) -> u8 {
    BINARY.iter().find(|(known, _)| *known == op).map_or(0, |(_, precedence)| *precedence)
}

/// The low 64 bits, with sign.
fn wrapped(value: i128) -> Value {
    let low = value.rem_euclid(1 << 64);
    (if low >= 1 << 63 { low - (1 << 64) } else { low }) as Value
}

pub(super) fn unary(op: &str, operand: Value) -> Value {
    match op {
        "-" => wrapped(-i128::from(operand)),
        "!" => Value::from(operand == 0),
        "~" => wrapped(-i128::from(operand) - 1),
        _ => panic!("no operator {op}"),
    }
}

pub(super) fn binary(op: &str, left: Value, right: Value) -> Value {
    let (a, b) = (i128::from(left), i128::from(right));
    let count = right.rem_euclid(64) as u32;
    match op {
        "||" => Value::from(left != 0 || right != 0),
        "&&" => Value::from(left != 0 && right != 0),
        "==" => Value::from(a == b),
        "!=" => Value::from(a != b),
        "<" => Value::from(a < b),
        "<=" => Value::from(a <= b),
        ">" => Value::from(a > b),
        ">=" => Value::from(a >= b),
        "|" => wrapped(a | b),
        "^" => wrapped(a ^ b),
        "&" => wrapped(a & b),
        "<<" => wrapped(a.wrapping_mul(1 << count)),
        // Division that rounds down is what keeping the sign comes to.
        ">>" => wrapped(a.div_euclid(1 << count)),
        "+" => wrapped(a + b),
        "-" => wrapped(a - b),
        "*" => wrapped(a.wrapping_mul(b)),
        "/" if b == 0 => 0,
        "/" => wrapped(a / b),
        "%" if b == 0 => 0,
        "%" => wrapped(a % b),
        _ => panic!("no operator {op}"),
    }
}
