//! Expressions as operators on bit vectors. Every part is as wide as its range needs; where arithmetic may wrap, that
//! is 64 bits, and it wraps as Weir's does.

use weir_ir::flow::{values_of_binary, values_of_unary};
use weir_ir::{BinaryOp, Expr, Range, UnaryOp};

use super::nodes::{Node, Nodes, width_of};

/// A node, and the values it can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Valued {
    pub(super) node: Node,
    pub(super) range: Range,
}

/// Writes an expression. Validation bounds its depth.
pub(super) fn write<L>(nodes: &mut Nodes, expr: &Expr<L>, leaf: &mut impl FnMut(&mut Nodes, &L) -> Valued) -> Valued {
    match expr {
        Expr::Const(value) => Valued { node: nodes.number(*value), range: Range::single(*value) },
        Expr::Leaf(place) => leaf(nodes, place),
        Expr::Unary(op, operand) => {
            let operand = write(nodes, operand, leaf);
            unary(nodes, *op, operand)
        }
        Expr::Binary(op, left, right) => {
            let left = write(nodes, left, leaf);
            let right = write(nodes, right, leaf);
            binary(nodes, *op, left, right)
        }
    }
}

fn unary(nodes: &mut Nodes, op: UnaryOp, operand: Valued) -> Valued {
    let range = values_of_unary(op, operand.range);
    let node = match op {
        UnaryOp::Not => {
            let truth = nodes.truth(operand.node);
            nodes.not(truth)
        }
        UnaryOp::Negate | UnaryOp::Complement => {
            let value = nodes.value(operand.node);
            let width = width_of(range).max(value.width);
            let value = nodes.sized(value, width);
            nodes.op(if op == UnaryOp::Negate { "neg" } else { "not" }, width, &[value])
        }
    };
    Valued { node, range }
}

/// One operator.
pub(super) fn binary(nodes: &mut Nodes, op: BinaryOp, left: Valued, right: Valued) -> Valued {
    let range = values_of_binary(op, left.range, right.range);
    let node = match op {
        BinaryOp::And | BinaryOp::Or => {
            let (left, right) = (nodes.truth(left.node), nodes.truth(right.node));
            nodes.test(if op == BinaryOp::And { "and" } else { "or" }, &[left, right])
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            let (left, right) = (nodes.sized(left.node, 64), nodes.sized(right.node, 64));
            let mask = nodes.constant(63, 64);
            let count = nodes.op("and", 64, &[right, mask]);
            nodes.op(if op == BinaryOp::ShiftLeft { "sll" } else { "sra" }, 64, &[left, count])
        }
        _ => {
            let (left, right) = (nodes.value(left.node), nodes.value(right.node));
            let result = if op.negated().is_some() { 1 } else { width_of(range) };
            let width = left.width.max(right.width).max(result);
            let (left, right) = (nodes.sized(left, width), nodes.sized(right, width));
            arithmetic(nodes, op, left, right)
        }
    };
    Valued { node, range }
}

/// An operator on two values of one width, in which the result fits.
fn arithmetic(nodes: &mut Nodes, op: BinaryOp, left: Node, right: Node) -> Node {
    let name = match op {
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "sub",
        BinaryOp::Multiply => "mul",
        BinaryOp::Divide => "sdiv",
        BinaryOp::Remainder => "srem",
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "xor",
        BinaryOp::Equal => "eq",
        BinaryOp::NotEqual => "neq",
        BinaryOp::Less => "slt",
        BinaryOp::LessEqual => "slte",
        BinaryOp::Greater => "sgt",
        BinaryOp::GreaterEqual => "sgte",
        BinaryOp::And | BinaryOp::Or | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => "xor",
    };
    if op.negated().is_some() {
        return nodes.test(name, &[left, right]);
    }
    let result = nodes.op(name, left.width, &[left, right]);
    if !matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
        return result;
    }
    // Dividing by 0 gives 0 in Weir.
    let (zero, is_zero) = (nodes.constant(0, left.width), nodes.equals(right, 0));
    nodes.choice(is_zero, zero, result)
}
