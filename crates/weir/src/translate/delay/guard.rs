//! What must hold at each store of a path for the tests behind it to succeed, as far as that is known already: up to
//! what a load or a choice decides. It only keeps threads from entering a path that they cannot follow, and is cut off
//! where it gets long.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, RegExpr, RegId};

/// The most operands and operators of one condition.
const LONGEST: usize = 24;

/// For each step, what must hold before it.
pub(super) fn guards(path: &[Edge]) -> Vec<Option<RegExpr>> {
    let mut guards = vec![None; path.len()];
    let mut wanted: Vec<RegExpr> = Vec::new();
    for (position, edge) in path.iter().enumerate().rev() {
        match &edge.instruction {
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                wanted.push(condition.clone());
            }
            Instruction::Assign { register, value } => {
                for condition in &mut wanted {
                    *condition =
                        condition.map(&mut |&leaf| if leaf == *register { value.clone() } else { Expr::Leaf(leaf) });
                }
            }
            other => {
                for register in other.defines() {
                    wanted.retain(|condition| !mentions(condition, register));
                }
            }
        }
        tidy(&mut wanted);
        let both = |left, right| Expr::binary(BinaryOp::And, left, right);
        guards[position] = wanted.iter().cloned().reduce(both);
    }
    guards
}

/// Drops what always holds, and what is too long; those that come last on the path are kept rather than others.
fn tidy(wanted: &mut Vec<RegExpr>) {
    let mut room = LONGEST;
    *wanted = std::mem::take(wanted)
        .into_iter()
        .map(|condition| simplified(&condition))
        .filter(|condition| condition.constant().is_none_or(|value| value == 0))
        .filter(|condition| match room.checked_sub(size(condition)) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        })
        .collect();
}

fn mentions(expr: &RegExpr, register: RegId) -> bool {
    let mut found = false;
    expr.for_each_leaf(&mut |&leaf| found |= leaf == register);
    found
}

fn size(expr: &RegExpr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => 1,
        Expr::Unary(_, operand) => 1 + size(operand),
        Expr::Binary(_, left, right) => 1 + size(left) + size(right),
    }
}

/// Constants taken together: `(r + 1) + 1` is `r + 2`.
fn simplified(expr: &RegExpr) -> RegExpr {
    if let Some(value) = expr.constant() {
        return Expr::Const(value);
    }
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => expr.clone(),
        Expr::Unary(op, operand) => Expr::unary(*op, simplified(operand)),
        Expr::Binary(BinaryOp::Add, left, right) => match (simplified(left), simplified(right)) {
            (Expr::Binary(BinaryOp::Add, inner, first), Expr::Const(second)) => match *first {
                Expr::Const(first) => Expr::binary(BinaryOp::Add, *inner, Expr::Const(first.wrapping_add(second))),
                first => Expr::binary(
                    BinaryOp::Add,
                    Expr::Binary(BinaryOp::Add, inner, Box::new(first)),
                    Expr::Const(second),
                ),
            },
            (left, right) => Expr::binary(BinaryOp::Add, left, right),
        },
        Expr::Binary(op, left, right) => Expr::binary(*op, simplified(left), simplified(right)),
    }
}

#[cfg(test)]
mod tests;
