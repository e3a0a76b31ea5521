//! How large a program is at least, in statements and steps, and how large it may be.

use weir_ir::{Diagnostic, Span};

use super::super::ast::{ExprKind, StatementKind};
use super::super::limits::{MAX_EDGES, MAX_WORK};

/// Sums that stop at the largest number. Lowering counts at least as many.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Size {
    statements: usize,
    steps: usize,
}

impl Size {
    /// Counts one statement, with the steps that it takes whatever its parts are.
    pub(super) fn count(&mut self, statement: &StatementKind) {
        self.statements += 1;
        self.steps += match statement {
            StatementKind::Assign { value, .. } => usize::from(!matches!(value.kind, ExprKind::Call(..))),
            StatementKind::If { arms, .. } => arms.len(),
            StatementKind::While(..)
            | StatementKind::ForEachOther(..)
            | StatementKind::Snapshot { .. }
            | StatementKind::Goto(_)
            | StatementKind::Assume(_)
            | StatementKind::Await { .. }
            | StatementKind::Assert(_)
            | StatementKind::Fence
            | StatementKind::Membarrier
            | StatementKind::Skip
            | StatementKind::Lock
            | StatementKind::Unlock
            | StatementKind::Spawn(_)
            | StatementKind::Atomic(_)
            | StatementKind::Terminate => 1,
            _ => 0,
        };
    }

    pub(super) fn add(&mut self, other: Size) {
        self.statements = self.statements.saturating_add(other.statements);
        self.steps = self.steps.saturating_add(other.steps);
    }

    pub(super) fn times(self, copies: usize) -> Size {
        Size { statements: self.statements.saturating_mul(copies), steps: self.steps.saturating_mul(copies) }
    }

    pub(super) fn is_too_large(self) -> bool {
        self.statements > MAX_WORK || self.steps > MAX_EDGES
    }
}

/// The error for a program that is larger than it may be.
pub(super) fn too_large(span: Span) -> Diagnostic {
    let message =
        format!("the program is too large: more than {MAX_EDGES} steps or {MAX_WORK} statements and operands");
    Diagnostic::error("program-too-large", message, span)
        .label("the limit was reached here")
        .help("every copy of a thread and every procedure call counts; use fewer or smaller ones")
}
