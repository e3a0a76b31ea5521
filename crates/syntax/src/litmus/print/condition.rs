//! Conditions on final states, in the syntax of the herd tools.

use weir_ir::{BinaryOp, Expr, StateAtom, StateExpr, UnaryOp, Value};

use super::{Test, register};
use crate::export::observed::done_locations;
use crate::export::refusal::Refusal;

/// A condition, without the parentheses around it.
pub(super) fn text(test: &Test<'_>, condition: &StateExpr) -> Result<String, Refusal> {
    match condition {
        Expr::Const(value) => Ok(truth(*value != 0)),
        Expr::Unary(UnaryOp::Not, operand) => Ok(format!("~({})", text(test, operand)?)),
        Expr::Binary(BinaryOp::And, left, right) => Ok(format!("({}) /\\ ({})", text(test, left)?, text(test, right)?)),
        Expr::Binary(BinaryOp::Or, left, right) => Ok(format!("({}) \\/ ({})", text(test, left)?, text(test, right)?)),
        Expr::Binary(BinaryOp::Equal, left, right) => equation(test, left, right),
        Expr::Binary(BinaryOp::NotEqual, left, right) => Ok(format!("~({})", equation(test, left, right)?)),
        Expr::Leaf(_) => match value(test, condition)? {
            Side::Known(value) => Ok(truth(value != 0)),
            Side::Place(place) => Ok(format!("~({place}=0)")),
        },
        Expr::Unary(..) | Expr::Binary(..) => Err(unsupported()),
    }
}

/// Something that is compared.
enum Side {
    Known(Value),
    Place(String),
}

fn equation(test: &Test<'_>, left: &StateExpr, right: &StateExpr) -> Result<String, Refusal> {
    match (value(test, left)?, value(test, right)?) {
        (Side::Known(left), Side::Known(right)) => Ok(truth(left == right)),
        (Side::Place(place), Side::Known(value)) | (Side::Known(value), Side::Place(place)) => {
            Ok(format!("{place}={value}"))
        }
        (Side::Place(_), Side::Place(_)) => Err(unsupported()),
    }
}

fn value(test: &Test<'_>, expr: &StateExpr) -> Result<Side, Refusal> {
    if let Some(value) = expr.constant() {
        return Ok(Side::Known(value));
    }
    let Expr::Leaf(atom) = expr else { return Err(unsupported()) };
    Ok(match atom {
        StateAtom::Cell(address) => Side::Place(test.cell(*address).to_owned()),
        StateAtom::Register { thread, register: own } => match test.number(*thread) {
            Some(number) => Side::Place(format!("{number}:{}", register(*own))),
            None => Side::Known(0),
        },
        // A straight-line thread ends at one place, and only final states count.
        StateAtom::At { thread, locations } => {
            let runs = test.number(*thread).is_some();
            let ends = test.end(*thread).filter(|_| runs);
            let done = done_locations(test.program, *thread);
            Side::Known(Value::from(ends.is_some_and(|end| done.contains(&end) && locations.contains(&end))))
        }
    })
}

fn truth(holds: bool) -> String {
    if holds { "true".to_owned() } else { "false".to_owned() }
}

fn unsupported() -> Refusal {
    let message = "this condition cannot be exported to a litmus test";
    Refusal::new(message, "compare registers and cells with constants, by `==` and `!=`, with `&&`, `||` and `!`")
}
