//! What goals claim, in a normal form in which equal claims look the same.

use std::collections::BTreeSet;

use weir_ir::{BinaryOp, Expr, Gather, Program, PropertyKind, Span, StateAtom, StateExpr, UnaryOp, Value};
use weir_witness::Goal;

/// What the goals of a search say.
pub(super) struct Claims(BTreeSet<Claim>);

/// What a goal says: its kind, and its condition.
pub(super) type Claim = (u8, Option<Normal>);

/// A condition in which the order of operands that can be exchanged does not count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Normal {
    Const(Value),
    Leaf(StateAtom),
    Unary(UnaryOp, Box<Normal>),
    /// In order.
    Ordered(BinaryOp, Box<[Normal; 2]>),
    /// Sorted.
    Free(BinaryOp, Vec<Normal>),
}

impl Claims {
    pub(super) fn new(program: &Program, goals: &[Goal]) -> Self {
        Self(goals.iter().filter_map(|goal| image(program, *goal, &mut |condition| Some(condition.clone()))).gather())
    }

    pub(super) fn contains(&self, claim: &Claim) -> bool {
        self.0.contains(claim)
    }
}

/// What a goal says after its condition was changed; nothing if that fails.
pub(super) fn image(
    program: &Program,
    goal: Goal,
    change: &mut dyn FnMut(&StateExpr) -> Option<StateExpr>,
) -> Option<Claim> {
    let mut claim = |kind: u8, condition: &StateExpr| Some((kind, Some(normal(&change(condition)?))));
    match goal {
        Goal::Assertion(thread) => {
            let locations = program.body(thread).failed.into_iter().collect();
            claim(0, &Expr::Leaf(StateAtom::At { thread, locations }))
        }
        Goal::Property(property) => match &program.properties[property.index()].kind {
            PropertyKind::Forbid(condition) => claim(1, condition),
            PropertyKind::Exists(condition) => claim(2, condition),
            PropertyKind::Always(condition) => claim(3, condition),
            PropertyKind::ForbidDeadlock => Some((4, None)),
            // These are not about single states; searches with such goals are not reduced.
            PropertyKind::ForbidStuck | PropertyKind::Live(_) => None,
        },
        Goal::NotRobust => None,
    }
}

/// Where a goal was written.
pub(super) fn span(program: &Program, goal: Goal) -> Span {
    match goal {
        Goal::Assertion(thread) => program.thread(thread).span,
        Goal::Property(property) => program.properties[property.index()].span,
        Goal::NotRobust => Span::default(),
    }
}

fn normal(expr: &StateExpr) -> Normal {
    match expr {
        Expr::Const(value) => Normal::Const(*value),
        Expr::Leaf(atom) => Normal::Leaf(atom.clone()),
        Expr::Unary(op, operand) => Normal::Unary(*op, Box::new(normal(operand))),
        Expr::Binary(op, left, right) => match op {
            BinaryOp::Add
            | BinaryOp::Multiply
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::And
            | BinaryOp::Or => {
                let mut operands: Vec<Normal> = flattened(*op, expr).into_iter().map(normal).collect();
                operands.sort_unstable();
                Normal::Free(*op, operands)
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let mut operands = vec![normal(left), normal(right)];
                operands.sort_unstable();
                Normal::Free(*op, operands)
            }
            _ => Normal::Ordered(*op, Box::new([normal(left), normal(right)])),
        },
    }
}

/// The operands of a chain of the same operator.
fn flattened(op: BinaryOp, expr: &StateExpr) -> Vec<&StateExpr> {
    let (mut open, mut operands) = (vec![expr], Vec::new());
    while let Some(next) = open.pop() {
        match next {
            Expr::Binary(other, left, right) if *other == op => open.extend([&**left, &**right]),
            operand => operands.push(operand),
        }
    }
    operands
}
