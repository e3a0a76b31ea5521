//! Tests and short-circuit operators.
//!
//! `&&` and `||` whose right side takes steps branch there; otherwise they are plain operators, and the
//! whole condition is one test.

use weir_ir::{BinaryOp, Instruction, RegExpr, RegId, Span, UnaryOp};

use super::super::ast::{Expr, ExprKind};
use super::builder::Builder;
use super::expressions::truth;
use super::graph::Node;

impl<'a> Builder<'_, 'a> {
    /// Leads control to `yes` if the condition holds, else to `no`.
    pub(super) fn branch(&mut self, condition: &'a Expr<'a>, yes: Node, no: Node) {
        if self.enter(condition.span) {
            self.lower_branch(condition, yes, no);
        }
        self.leave();
        self.here = None;
    }

    fn lower_branch(&mut self, condition: &'a Expr<'a>, yes: Node, no: Node) {
        match &condition.kind {
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if self.takes_steps(right) => {
                let middle = self.graph.node();
                match op {
                    BinaryOp::And => self.branch(left, middle, no),
                    _ => self.branch(left, yes, middle),
                }
                let ruled_out = self.continue_at(middle);
                self.branch(right, yes, no);
                self.ruled_out -= ruled_out;
            }
            ExprKind::Unary(UnaryOp::Not, operand) if self.branches(operand) => self.branch(operand, no, yes),
            _ => {
                let live = self.registers.live_temporaries;
                let value = self.value(condition);
                self.test(&value, condition.span, yes, no);
                self.registers.live_temporaries = live;
            }
        }
    }

    /// Whether a condition is more than one test.
    fn branches(&mut self, condition: &Expr<'a>) -> bool {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) => self.takes_steps(right),
            ExprKind::Unary(UnaryOp::Not, operand) => self.branches(operand),
            _ => false,
        }
    }

    /// One test. Of a constant condition only the side that can be taken is there.
    pub(super) fn test(&mut self, value: &RegExpr, span: Span, yes: Node, no: Node) {
        let from = self.here();
        if let Some(constant) = value.constant() {
            let to = if constant != 0 { yes } else { no };
            self.step_to(Instruction::Assume(RegExpr::Const(1)), to, span);
            return;
        }
        self.step_to(Instruction::Assume(value.clone()), yes, span);
        self.here = Some(from);
        self.step_to(Instruction::Assume(value.negated()), no, span);
    }

    /// Puts control at a node, which a constant condition may have ruled out: then 1, to be taken from
    /// [`Builder::ruled_out`] afterwards.
    fn continue_at(&mut self, node: Node) -> usize {
        self.here = self.graph.reached(node);
        let ruled_out = usize::from(self.here.is_none());
        self.ruled_out += ruled_out;
        ruled_out
    }

    /// `register = left op right` for an `&&` or `||` whose right side takes steps.
    pub(super) fn logical_into(
        &mut self,
        register: RegId,
        op: BinaryOp,
        left: &'a Expr<'a>,
        right: &'a Expr<'a>,
        span: Span,
    ) {
        let (longer, shorter, join) = (self.graph.node(), self.graph.node(), self.graph.node());
        let shortcut = match op {
            BinaryOp::And => {
                self.branch(left, longer, shorter);
                0
            }
            _ => {
                self.branch(left, shorter, longer);
                1
            }
        };
        let ruled_out = self.continue_at(longer);
        let value = truth(self.value(right));
        self.step_to(Instruction::Assign { register, value }, join, span);
        self.ruled_out -= ruled_out;
        self.here = self.graph.reached(shorter);
        if self.here.is_some() {
            self.step_to(Instruction::Assign { register, value: RegExpr::Const(shortcut) }, join, span);
        }
        self.here = Some(join);
    }
}
