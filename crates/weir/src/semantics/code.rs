//! Expressions over states, ready to run: leaves are fields of bits.

use weir_ir::{BinaryOp, Expr, UnaryOp, Value};

use super::state::{Field, Packed};

/// An expression compiled. The common small shapes have a form of their own, which saves the walk
/// down a tree on nearly every step.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    Const(Value),
    Field(Field),
    /// Whether the field's bits lie in a set; for places.
    Member(Field, Box<[u64]>),
    FieldConst(BinaryOp, Field, Value),
    Fields(BinaryOp, Field, Field),
    Unary(UnaryOp, Box<Code>),
    Binary(BinaryOp, Box<(Code, Code)>),
}

impl Code {
    /// Compiles an expression; `leaf` compiles what it mentions.
    pub(crate) fn new<L>(expr: &Expr<L>, leaf: &mut impl FnMut(&L) -> Code) -> Self {
        match expr {
            Expr::Const(value) => Self::Const(*value),
            Expr::Leaf(place) => leaf(place),
            Expr::Unary(op, operand) => match Self::new(operand, leaf) {
                Self::Const(value) => Self::Const(op.apply(value)),
                operand => Self::Unary(*op, Box::new(operand)),
            },
            Expr::Binary(op, left, right) => {
                let left = Self::new(left, leaf);
                Self::binary(*op, left, Self::new(right, leaf))
            }
        }
    }

    fn binary(op: BinaryOp, left: Code, right: Code) -> Self {
        match (left, right) {
            (Self::Const(left), Self::Const(right)) => Self::Const(op.apply(left, right)),
            (Self::Field(left), Self::Const(right)) => Self::FieldConst(op, left, right),
            (Self::Field(left), Self::Field(right)) => Self::Fields(op, left, right),
            (left, right) => Self::Binary(op, Box::new((left, right))),
        }
    }

    /// A test whether the field's bits are one of `members`.
    pub(crate) fn member(field: Field, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Vec::new();
        for member in members {
            set.resize(set.len().max(member / 64 + 1), 0);
            set[member / 64] |= 1 << (member % 64);
        }
        Self::Member(field, set.into())
    }

    #[inline]
    pub(crate) fn eval<const N: usize>(&self, state: &Packed<N>) -> Value {
        match self {
            Self::Const(value) => *value,
            Self::Field(field) => state.get(*field),
            Self::Member(field, set) => {
                let raw = state.raw(*field) as usize;
                Value::from(set.get(raw / 64).is_some_and(|word| word >> (raw % 64) & 1 == 1))
            }
            Self::FieldConst(op, field, value) => op.apply(state.get(*field), *value),
            Self::Fields(op, left, right) => op.apply(state.get(*left), state.get(*right)),
            Self::Unary(..) | Self::Binary(..) => self.eval_tree(state),
        }
    }

    #[inline(never)]
    fn eval_tree<const N: usize>(&self, state: &Packed<N>) -> Value {
        match self {
            Self::Unary(op, operand) => op.apply(operand.eval(state)),
            Self::Binary(BinaryOp::And, operands) => {
                Value::from(operands.0.eval(state) != 0 && operands.1.eval(state) != 0)
            }
            Self::Binary(op, operands) => op.apply(operands.0.eval(state), operands.1.eval(state)),
            leaf => leaf.eval(state),
        }
    }
}

#[cfg(test)]
mod tests;
