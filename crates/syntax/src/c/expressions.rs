//! Expressions over `int64_t`.
//!
//! C leaves overflow, shifts by too much and division by zero undefined. Where the analysis of value ranges rules these
//! out, operators are written plainly; else functions give what Weir gives.

use weir_ir::{BinaryOp, Range, UnaryOp, Value};

use crate::export::refusal::Refusal;
use crate::export::term::{Kind, Operators, Term};

/// Operators on 64-bit values.
#[derive(Debug, Default)]
pub(super) struct Longs {
    /// Which functions are used, in the order of [`FUNCTIONS`].
    used: [bool; FUNCTIONS.len()],
}

/// Functions with their names: what Weir's operators give on all values.
const FUNCTIONS: [(&str, &str); 8] = [
    ("weir_add", "int64_t a, int64_t b)\n{\n    return (int64_t)((uint64_t)a + (uint64_t)b);\n}\n"),
    ("weir_subtract", "int64_t a, int64_t b)\n{\n    return (int64_t)((uint64_t)a - (uint64_t)b);\n}\n"),
    ("weir_multiply", "int64_t a, int64_t b)\n{\n    return (int64_t)((uint64_t)a * (uint64_t)b);\n}\n"),
    ("weir_negate", "int64_t a)\n{\n    return (int64_t)(0 - (uint64_t)a);\n}\n"),
    (
        "weir_divide",
        "int64_t a, int64_t b)\n{\n    if (b == 0)\n        return 0;\n    if (b == -1)\n        return \
         (int64_t)(0 - (uint64_t)a);\n    return a / b;\n}\n",
    ),
    ("weir_remainder", "int64_t a, int64_t b)\n{\n    return b == 0 || b == -1 ? 0 : a % b;\n}\n"),
    ("weir_shift_left", "int64_t a, int64_t b)\n{\n    return (int64_t)((uint64_t)a << (b & 63));\n}\n"),
    (
        "weir_shift_right",
        "int64_t a, int64_t b)\n{\n    return a >> (b & 63); /* keeps the sign, with every compiler in use */\n}\n",
    ),
];

impl Longs {
    /// The functions that were used.
    pub(super) fn functions(&self) -> String {
        let mut text = String::new();
        for ((name, rest), _) in FUNCTIONS.iter().zip(self.used).filter(|(_, is_used)| *is_used) {
            text.push_str(&format!("static inline int64_t {name}({rest}\n"));
        }
        if text.is_empty() { text } else { format!("/* Arithmetic that wraps, as Weir's does. */\n{text}") }
    }

    fn call(&mut self, which: usize, arguments: &[&Term], range: Range) -> Term {
        self.used[which] = true;
        let arguments: Vec<&str> = arguments.iter().map(|term| term.text.as_str()).collect();
        Term::simple(format!("{}({})", FUNCTIONS[which].0, arguments.join(", ")), range)
    }
}

/// A number in C.
pub(super) fn number(value: Value) -> String {
    match value {
        Value::MIN => "INT64_MIN".to_owned(),
        value if i32::try_from(value).is_ok() => value.to_string(),
        value => format!("INT64_C({value})"),
    }
}

/// A term as a condition.
pub(super) fn truth(term: &Term) -> Term {
    let range = Range { low: 0, high: 1 };
    match term.kind {
        Kind::Truth => term.clone(),
        Kind::Constant(value) => Term::simple(if value == 0 { "0" } else { "1" }, range),
        Kind::Value => Term::compound(format!("{} != 0", term.operand()), range).of_kind(Kind::Truth),
    }
}

/// A term as an operand of arithmetic: in C, comparisons give an `int`.
fn wide(term: &Term) -> Term {
    match term.kind {
        Kind::Truth => Term::simple(format!("(int64_t)({})", term.text), term.range),
        _ => term.clone(),
    }
}

/// Whether the exact result of an operator is a 64-bit value for all operands.
fn is_exact(op: BinaryOp, left: Range, right: Range) -> bool {
    let corners = |apply: fn(i128, i128) -> i128| {
        [left.low, left.high].into_iter().all(|a| {
            [right.low, right.high].into_iter().all(|b| Value::try_from(apply(i128::from(a), i128::from(b))).is_ok())
        })
    };
    match op {
        BinaryOp::Add => corners(|a, b| a + b),
        BinaryOp::Subtract => corners(|a, b| a - b),
        BinaryOp::Multiply => corners(|a, b| a * b),
        BinaryOp::Divide | BinaryOp::Remainder => !right.contains(0) && !right.contains(-1),
        BinaryOp::ShiftLeft => {
            left.low >= 0
                && right.low >= 0
                && right.high < 63
                && Value::try_from(i128::from(left.high) << right.high).is_ok()
        }
        BinaryOp::ShiftRight => right.low >= 0 && right.high < 64,
        _ => true,
    }
}

impl Operators for Longs {
    fn constant(&mut self, value: Value) -> Result<Term, Refusal> {
        let (text, range) = (number(value), Range::single(value));
        let is_simple = value >= 0 || value == Value::MIN || i32::try_from(value).is_err();
        let term = if is_simple { Term::simple(text, range) } else { Term::compound(text, range) };
        Ok(term.of_kind(Kind::Constant(value)))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Term, range: Range) -> Result<Term, Refusal> {
        Ok(match op {
            UnaryOp::Not => Term::compound(format!("!{}", truth(operand).operand()), range).of_kind(Kind::Truth),
            UnaryOp::Negate if operand.range.low == Value::MIN => self.call(3, &[operand], range),
            UnaryOp::Negate | UnaryOp::Complement => {
                Term::compound(format!("{}{}", op.symbol(), wide(operand).operand()), range)
            }
        })
    }

    fn binary(&mut self, op: BinaryOp, left: &Term, right: &Term, range: Range) -> Result<Term, Refusal> {
        let function = match op {
            BinaryOp::Add => Some(0),
            BinaryOp::Subtract => Some(1),
            BinaryOp::Multiply => Some(2),
            BinaryOp::Divide => Some(4),
            BinaryOp::Remainder => Some(5),
            BinaryOp::ShiftLeft => Some(6),
            BinaryOp::ShiftRight => Some(7),
            _ => None,
        };
        if let Some(function) = function.filter(|_| !is_exact(op, left.range, right.range)) {
            return Ok(self.call(function, &[left, right], range));
        }
        let is_logical = matches!(op, BinaryOp::And | BinaryOp::Or);
        let (left, right) = if is_logical { (truth(left), truth(right)) } else { (wide(left), wide(right)) };
        let term = Term::compound(format!("{} {} {}", left.operand(), op.symbol(), right.operand()), range);
        let is_truth = is_logical || op.negated().is_some();
        Ok(term.of_kind(if is_truth { Kind::Truth } else { Kind::Value }))
    }
}
