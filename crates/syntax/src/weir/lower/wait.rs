//! `await e`: the shared reads of the condition are loads that are made at once, in the step that tests it.

use weir_ir::{Diagnostic, Instruction, RegExpr, RegId, Span};

use super::super::ast::{Expr, ExprKind};
use super::builder::{Builder, Meaning, nothing};
use super::expressions::{binary, unary};

const HELP: &str =
    "the reads of an `await` are made at once; compute the rest into a register before it, or write a loop";

/// The loads found so far.
type Loads = Vec<(RegId, RegExpr)>;

impl<'a> Builder<'_, 'a> {
    pub(super) fn wait(&mut self, targets: &'a [Expr<'a>], cells: &'a [Expr<'a>], condition: &'a Expr<'a>, span: Span) {
        let Some(mut loads) = self.loads_at_once(targets, cells) else { return };
        let condition = self.waited_for(condition, &mut loads);
        // Without a shared read there is nothing to wait for but what an assumption says.
        let is_local = loads.is_empty();
        let instruction =
            if is_local { Instruction::Assume(condition) } else { Instruction::Await { loads, condition } };
        self.step(instruction, span);
    }

    /// The condition over registers, with a load for each cell it reads.
    fn waited_for(&mut self, expression: &'a Expr<'a>, loads: &mut Loads) -> RegExpr {
        let value = if self.enter(expression.span) { self.waited_value(expression, loads) } else { nothing() };
        self.leave();
        value
    }

    fn waited_value(&mut self, expression: &'a Expr<'a>, loads: &mut Loads) -> RegExpr {
        match &expression.kind {
            ExprKind::Unary(op, operand) => unary(*op, self.waited_for(operand, loads)),
            ExprKind::Binary(op, left, right) => {
                let left = self.waited_for(left, loads);
                binary(*op, left, self.waited_for(right, loads))
            }
            ExprKind::Name(name) if matches!(self.look_up(name.text), Some(Meaning::Shared(_))) => {
                self.waited_cell(expression, loads)
            }
            ExprKind::Index(_, inner) | ExprKind::Memory(inner) | ExprKind::AddressOf(_, Some(inner))
                if self.takes_steps(inner) =>
            {
                self.refuse_wait("the address of this cell depends on what another load finds", inner.span)
            }
            ExprKind::Index(..) | ExprKind::Memory(_) => self.waited_cell(expression, loads),
            ExprKind::Call(..) => self.refuse_wait("an `await` cannot call a procedure", expression.span),
            ExprKind::ReadModifyWrite(..) => {
                self.refuse_wait("an `await` cannot read and write a cell", expression.span)
            }
            ExprKind::Any(_) => self.refuse_wait("an `await` cannot choose a value", expression.span),
            _ => self.value(expression),
        }
    }

    /// The register that receives the cell; one for each cell, however often the condition reads it.
    fn waited_cell(&mut self, expression: &'a Expr<'a>, loads: &mut Loads) -> RegExpr {
        let Some(address) = self.cell(expression) else { return nothing() };
        if let Some((register, _)) = loads.iter().find(|(_, other)| *other == address) {
            return RegExpr::Leaf(*register);
        }
        let register = self.temporary(expression.span);
        loads.push((register, address));
        RegExpr::Leaf(register)
    }

    fn refuse_wait(&mut self, message: &str, span: Span) -> RegExpr {
        self.around.sink.error(Diagnostic::error("await", message, span).help(HELP));
        nothing()
    }
}
