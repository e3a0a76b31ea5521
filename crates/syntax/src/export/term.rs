//! Expressions as text, built from the leaves up with the range of every part, so that a target can check that each
//! intermediate value fits, and can leave out what cannot happen.

use weir_ir::{BinaryOp, Expr, Range, UnaryOp, Value};

use super::refusal::Refusal;

/// A piece of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Term {
    /// As it is written. Unless it is simple, parentheses must go around it wherever it is an operand.
    pub(crate) text: String,
    /// Whether it is a name, a number, a call or has parentheses of its own.
    pub(crate) is_simple: bool,
    /// The values it can have.
    pub(crate) range: Range,
    pub(crate) kind: Kind,
}

/// What a term is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A number, as it is written.
    Constant(Value),
    /// The result of a comparison or a logical operator: 0 or 1.
    Truth,
    /// Anything else.
    Value,
}

impl Term {
    pub(crate) fn simple(text: impl Into<String>, range: Range) -> Self {
        Self { text: text.into(), is_simple: true, range, kind: Kind::Value }
    }

    pub(crate) fn compound(text: impl Into<String>, range: Range) -> Self {
        Self { text: text.into(), is_simple: false, range, kind: Kind::Value }
    }

    /// The same as a term of this kind.
    pub(crate) fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// As an operand.
    pub(crate) fn operand(&self) -> String {
        if self.is_simple { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// How a target writes operators.
pub(crate) trait Operators {
    fn constant(&mut self, value: Value) -> Result<Term, Refusal>;
    fn unary(&mut self, op: UnaryOp, operand: &Term, range: Range) -> Result<Term, Refusal>;
    fn binary(&mut self, op: BinaryOp, left: &Term, right: &Term, range: Range) -> Result<Term, Refusal>;
}

/// Writes an expression, with constant parts as numbers. Validation bounds its depth.
pub(crate) fn write<L>(
    operators: &mut impl Operators,
    expr: &Expr<L>,
    leaf: &mut impl FnMut(&L) -> Result<Term, Refusal>,
) -> Result<Term, Refusal> {
    match expr {
        Expr::Const(value) => operators.constant(*value),
        Expr::Leaf(place) => leaf(place),
        Expr::Unary(op, operand) => {
            let operand = write(operators, operand, leaf)?;
            if let Kind::Constant(value) = operand.kind {
                return operators.constant(op.apply(value));
            }
            let range = weir_ir::flow::values_of_unary(*op, operand.range);
            operators.unary(*op, &operand, range)
        }
        Expr::Binary(op, left, right) => {
            let left = write(operators, left, leaf)?;
            let right = write(operators, right, leaf)?;
            if let (Kind::Constant(left), Kind::Constant(right)) = (left.kind, right.kind) {
                return operators.constant(op.apply(left, right));
            }
            let range = weir_ir::flow::values_of_binary(*op, left.range, right.range);
            operators.binary(*op, &left, &right, range)
        }
    }
}
