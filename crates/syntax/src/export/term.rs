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
}

impl Term {
    pub(crate) fn simple(text: impl Into<String>, range: Range) -> Self {
        Self { text: text.into(), is_simple: true, range }
    }

    pub(crate) fn compound(text: impl Into<String>, range: Range) -> Self {
        Self { text: text.into(), is_simple: false, range }
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

/// Writes an expression. Validation bounds its depth.
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
            let range = weir_ir::flow::values_of_unary(*op, operand.range);
            operators.unary(*op, &operand, range)
        }
        Expr::Binary(op, left, right) => {
            let left = write(operators, left, leaf)?;
            let right = write(operators, right, leaf)?;
            let range = weir_ir::flow::values_of_binary(*op, left.range, right.range);
            operators.binary(*op, &left, &right, range)
        }
    }
}
