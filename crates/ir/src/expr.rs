//! Expressions: one tree for instructions (over registers) and for properties (over states).
//!
//! Values are 64-bit integers. Arithmetic is total, so that no run can get stuck or fail inside an
//! expression: it wraps around, shift counts are taken modulo 64 as x86 does, and dividing by zero
//! gives zero (validation warns where a divisor can be zero).

/// A value: a 64-bit integer. Any value can be an address.
pub type Value = i64;

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOp {
    /// `-`, wrapping.
    Negate,
    /// `!`: 1 for zero, else 0.
    Not,
    /// `~`, bitwise.
    Complement,
}

/// Operators with two operands, as in C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    /// Arithmetic: the sign is kept.
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// Logical; both operands are already values, so there is nothing to cut short.
    And,
    Or,
}

impl UnaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Negate => "-",
            Self::Not => "!",
            Self::Complement => "~",
        }
    }

    /// The value of the operator applied to `operand`.
    pub fn apply(self, operand: Value) -> Value {
        match self {
            Self::Negate => operand.wrapping_neg(),
            Self::Not => Value::from(operand == 0),
            Self::Complement => !operand,
        }
    }
}

impl BinaryOp {
    /// All of them.
    pub const ALL: [BinaryOp; 18] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::And,
        Self::Or,
    ];

    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "&&",
            Self::Or => "||",
        }
    }

    /// How tightly the operator binds: higher is tighter, as in Rust (comparisons bind less
    /// tightly than bitwise operators, unlike in C).
    pub fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 3,
            Self::BitOr => 4,
            Self::BitXor => 5,
            Self::BitAnd => 6,
            Self::ShiftLeft | Self::ShiftRight => 7,
            Self::Add | Self::Subtract => 8,
            Self::Multiply | Self::Divide | Self::Remainder => 9,
        }
    }

    /// The value of the operator applied to both operands.
    pub fn apply(self, left: Value, right: Value) -> Value {
        let truth = Value::from;
        // x86 takes shift counts modulo the width.
        let count = (right & 63) as u32;
        match self {
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::Multiply => left.wrapping_mul(right),
            Self::Divide if right == 0 => 0,
            Self::Divide => left.wrapping_div(right),
            Self::Remainder if right == 0 => 0,
            Self::Remainder => left.wrapping_rem(right),
            Self::ShiftLeft => left.wrapping_shl(count),
            Self::ShiftRight => left.wrapping_shr(count),
            Self::BitAnd => left & right,
            Self::BitOr => left | right,
            Self::BitXor => left ^ right,
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::Less => truth(left < right),
            Self::LessEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterEqual => truth(left >= right),
            Self::And => truth(left != 0 && right != 0),
            Self::Or => truth(left != 0 || right != 0),
        }
    }

    /// The comparison that holds exactly when this one does not.
    pub fn negated(self) -> Option<BinaryOp> {
        Some(match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
            _ => return None,
        })
    }
}

/// An expression over leaves of type `L`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expr<L> {
    /// A constant.
    Const(Value),
    /// A register, or an observation of a state.
    Leaf(L),
    /// One operand.
    Unary(UnaryOp, Box<Expr<L>>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr<L>>, Box<Expr<L>>),
}

impl<L> Expr<L> {
    /// `op operand`.
    pub fn unary(op: UnaryOp, operand: Self) -> Self {
        Self::Unary(op, Box::new(operand))
    }

    /// `left op right`.
    pub fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// The value, given the values of the leaves.
    pub fn eval(&self, leaf: &mut impl FnMut(&L) -> Value) -> Value {
        match self {
            Self::Const(value) => *value,
            Self::Leaf(place) => leaf(place),
            Self::Unary(op, operand) => op.apply(operand.eval(leaf)),
            Self::Binary(op, left, right) => {
                let left = left.eval(leaf);
                op.apply(left, right.eval(leaf))
            }
        }
    }

    /// Calls `visit` on each leaf, left to right.
    pub fn for_each_leaf(&self, visit: &mut impl FnMut(&L)) {
        match self {
            Self::Const(_) => {}
            Self::Leaf(place) => visit(place),
            Self::Unary(_, operand) => operand.for_each_leaf(visit),
            Self::Binary(_, left, right) => {
                left.for_each_leaf(visit);
                right.for_each_leaf(visit);
            }
        }
    }

    /// The same expression over other leaves.
    pub fn map<M>(&self, leaf: &mut impl FnMut(&L) -> Expr<M>) -> Expr<M> {
        match self {
            Self::Const(value) => Expr::Const(*value),
            Self::Leaf(place) => leaf(place),
            Self::Unary(op, operand) => Expr::unary(*op, operand.map(leaf)),
            Self::Binary(op, left, right) => {
                let left = left.map(leaf);
                Expr::binary(*op, left, right.map(leaf))
            }
        }
    }

    /// The value, if it depends on no leaf.
    pub fn constant(&self) -> Option<Value> {
        let mut open = false;
        self.for_each_leaf(&mut |_| open = true);
        (!open).then(|| self.eval(&mut |_| 0))
    }

    /// The expression that holds exactly when this one does not.
    #[must_use]
    pub fn negated(&self) -> Self
    where
        L: Clone,
    {
        match self {
            Self::Unary(UnaryOp::Not, operand) => (**operand).clone(),
            Self::Binary(op, left, right) if op.negated().is_some() => {
                Self::Binary(op.negated().unwrap_or(*op), left.clone(), right.clone())
            }
            other => Self::unary(UnaryOp::Not, other.clone()),
        }
    }

    /// Whether one of the two holds exactly when the other does not, judging by their form.
    pub fn is_opposite_of(&self, other: &Self) -> bool
    where
        L: Clone + PartialEq,
    {
        self.negated() == *other || other.negated() == *self
    }

    /// Nesting depth: 1 for a leaf. Frontends bound it, so that recursion over trees is safe.
    pub fn depth(&self) -> usize {
        match self {
            Self::Const(_) | Self::Leaf(_) => 1,
            Self::Unary(_, operand) => 1 + operand.depth(),
            Self::Binary(_, left, right) => 1 + left.depth().max(right.depth()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_total() {
        for op in BinaryOp::ALL {
            for left in [Value::MIN, -1, 0, 1, Value::MAX] {
                for right in [Value::MIN, -1, 0, 1, 63, 64, Value::MAX] {
                    op.apply(left, right);
                }
            }
        }
        assert_eq!(BinaryOp::Divide.apply(7, 0), 0);
        assert_eq!(BinaryOp::Divide.apply(Value::MIN, -1), Value::MIN);
        assert_eq!(BinaryOp::ShiftLeft.apply(1, 65), 2);
        assert_eq!(BinaryOp::ShiftRight.apply(-8, 1), -4);
    }

    /// What the operator gives, worked out in 128 bits and cut to 64.
    fn by_definition(op: BinaryOp, left: Value, right: Value) -> Value {
        let (a, b) = (i128::from(left), i128::from(right));
        let cut = |value: i128| {
            let low = value.rem_euclid(1 << 64);
            (if low >= 1 << 63 { low - (1 << 64) } else { low }) as Value
        };
        let count = right.rem_euclid(64) as u32;
        match op {
            BinaryOp::Add => cut(a + b),
            BinaryOp::Subtract => cut(a - b),
            BinaryOp::Multiply => cut(a * b),
            BinaryOp::Divide => cut(if b == 0 { 0 } else { a / b }),
            BinaryOp::Remainder => cut(if b == 0 { 0 } else { a % b }),
            BinaryOp::ShiftLeft => cut(a.wrapping_mul(1 << count)),
            BinaryOp::ShiftRight => cut(a.div_euclid(1 << count)),
            BinaryOp::BitAnd => cut(a & b),
            BinaryOp::BitOr => cut(a | b),
            BinaryOp::BitXor => cut(a ^ b),
            BinaryOp::Equal => (a == b).into(),
            BinaryOp::NotEqual => (a != b).into(),
            BinaryOp::Less => (a < b).into(),
            BinaryOp::LessEqual => (a <= b).into(),
            BinaryOp::Greater => (a > b).into(),
            BinaryOp::GreaterEqual => (a >= b).into(),
            BinaryOp::And => (a != 0 && b != 0).into(),
            BinaryOp::Or => (a != 0 || b != 0).into(),
        }
    }

    #[test]
    fn operators_give_what_arithmetic_without_limits_gives_cut_to_64_bits() {
        let half = 1 << 32;
        let values = [
            Value::MIN,
            Value::MIN + 1,
            -half,
            -65,
            -64,
            -3,
            -2,
            -1,
            0,
            1,
            2,
            3,
            5,
            62,
            63,
            64,
            half,
            Value::MAX - 1,
            Value::MAX,
        ];
        for (left, right) in values.into_iter().flat_map(|left| values.map(|right| (left, right))) {
            for op in BinaryOp::ALL {
                assert_eq!(op.apply(left, right), by_definition(op, left, right), "{left} {} {right}", op.symbol());
                // The tree knows its operands apart.
                let expr = Expr::binary(op, Expr::Leaf(0), Expr::Leaf(1));
                assert_eq!(expr.eval(&mut |&leaf| [left, right][leaf]), op.apply(left, right));
                assert_eq!(
                    expr.map(&mut |&leaf| Expr::<()>::Const([left, right][leaf])).constant(),
                    Some(op.apply(left, right))
                );
            }
            assert_eq!(UnaryOp::Negate.apply(left), by_definition(BinaryOp::Subtract, 0, left));
            assert_eq!(UnaryOp::Complement.apply(left), by_definition(BinaryOp::Subtract, -1, left));
            assert_eq!(UnaryOp::Not.apply(left), Value::from(left == 0));
        }
    }

    #[test]
    fn trees_know_their_leaves_and_depth() {
        let sum = Expr::binary(BinaryOp::Add, Expr::Leaf('a'), Expr::unary(UnaryOp::Not, Expr::Leaf('b')));
        let mut leaves = String::new();
        sum.for_each_leaf(&mut |leaf| leaves.push(*leaf));
        assert_eq!((leaves.as_str(), sum.depth(), sum.constant()), ("ab", 3, None));
        let deep = Expr::binary(BinaryOp::Add, sum, Expr::Const(1));
        assert_eq!(deep.depth(), 4);
        assert_eq!(Expr::<()>::binary(BinaryOp::Multiply, Expr::Const(6), Expr::Const(7)).constant(), Some(42));
    }

    #[test]
    fn negation_is_exact() {
        let values = [-2, 0, 1, 5];
        for op in BinaryOp::ALL {
            for left in values {
                for right in values {
                    let expr: Expr<()> = Expr::binary(op, Expr::Const(left), Expr::Const(right));
                    let holds = expr.constant() != Some(0);
                    let fails = expr.negated().constant() != Some(0);
                    assert_ne!(holds, fails, "{expr:?}");
                }
            }
        }
    }
}
