//! `a, b = x, y`: several cells loaded in one step.

use weir_ir::{Diagnostic, Instruction, RegExpr, RegId, Span};

use super::super::ast::{Expr, ExprKind};
use super::builder::{Builder, Meaning};

const HELP: &str = "`a, b = x, y` loads several shared cells into registers in one step";

impl<'a> Builder<'_, 'a> {
    pub(super) fn snapshot(&mut self, targets: &'a [Expr<'a>], cells: &'a [Expr<'a>], span: Span) {
        if let Some(loads) = self.loads_at_once(targets, cells) {
            self.step(Instruction::Snapshot(loads), span);
        }
    }

    /// The loads of `a, b = x, y`; none if something is wrong with them, which is reported.
    pub(super) fn loads_at_once(
        &mut self,
        targets: &'a [Expr<'a>],
        cells: &'a [Expr<'a>],
    ) -> Option<Vec<(RegId, RegExpr)>> {
        let mut loads: Vec<(RegId, RegExpr)> = Vec::new();
        let mut is_whole = true;
        for (target, cell) in targets.iter().zip(cells) {
            // What computing an address takes comes before the one step that loads.
            let address = self.loaded_cell(cell);
            let register = self.loaded_register(target);
            if register.is_some_and(|register| loads.iter().any(|(other, _)| *other == register)) {
                self.refuse("this register is loaded twice in one step", target.span);
                is_whole = false;
            }
            match (register, address) {
                (Some(register), Some(address)) => loads.push((register, address)),
                _ => is_whole = false,
            }
        }
        is_whole.then_some(loads)
    }

    fn loaded_register(&mut self, target: &'a Expr<'a>) -> Option<RegId> {
        if let ExprKind::Name(name) = &target.kind {
            match self.look_up(name.text) {
                Some(Meaning::Register(_)) if self.refuses_other(*name) => return None,
                Some(Meaning::Register(register)) => return Some(register),
                Some(Meaning::Shared(_) | Meaning::Constant(_)) => {}
                Some(Meaning::Nothing) | None => {
                    // Reports a name that is not known.
                    self.meaning(*name);
                    return None;
                }
            }
        }
        self.refuse("only registers can be the targets of a snapshot", target.span);
        None
    }

    fn loaded_cell(&mut self, cell: &'a Expr<'a>) -> Option<RegExpr> {
        let is_value = match &cell.kind {
            ExprKind::Name(name) => {
                matches!(self.look_up(name.text), Some(Meaning::Register(_) | Meaning::Constant(_)))
            }
            other => !matches!(other, ExprKind::Index(..) | ExprKind::Memory(_)),
        };
        if !is_value {
            return self.cell(cell);
        }
        self.refuse("only shared cells can be loaded in a snapshot", cell.span);
        None
    }

    fn refuse(&mut self, message: &str, span: Span) {
        self.around.sink.error(Diagnostic::error("snapshot", message, span).help(HELP));
    }
}
