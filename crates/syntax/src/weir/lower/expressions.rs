//! Expressions to steps: each shared read is a load of its own, left to right, into a temporary register.

use weir_ir::{BinaryOp, Diagnostic, Expr as Tree, Instruction, RegExpr, RegId, Rmw, Span, UnaryOp, Value};

use super::super::ast::{Expr, ExprKind, Name, RangeExpr, RmwForm};
use super::builder::{Builder, Meaning, nothing};
use super::constants::warn_of_zero;
use super::elements::{element_address, not_an_array};
use super::name_errors::{UNKNOWN, report_unknown};
use super::names::Global;

impl<'a> Builder<'_, 'a> {
    /// Emits the steps that an expression takes; the rest is an expression over registers.
    pub(super) fn value(&mut self, expression: &'a Expr<'a>) -> RegExpr {
        let value = if self.enter(expression.span) { self.lower_value(expression) } else { nothing() };
        self.leave();
        value
    }

    fn lower_value(&mut self, expression: &'a Expr<'a>) -> RegExpr {
        match &expression.kind {
            ExprKind::Number(value) => RegExpr::Const(*value),
            ExprKind::Malformed => nothing(),
            ExprKind::Name(name) => self.named_value(*name),
            ExprKind::Index(..) | ExprKind::Memory(_) => match self.cell(expression) {
                Some(address) => self.load(address, expression.span),
                None => nothing(),
            },
            ExprKind::AddressOf(name, index) => self.address_of(*name, index.as_deref()).unwrap_or_else(nothing),
            ExprKind::Unary(op, operand) => unary(*op, self.value(operand)),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.logical_value(*op, left, right, expression)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                if let (RegExpr::Const(_), RegExpr::Const(divisor)) = (&left, &right) {
                    warn_of_zero(*op, *divisor, expression.span, self.around.sink);
                }
                binary(*op, left, right)
            }
            ExprKind::Call(..) | ExprKind::ReadModifyWrite(..) | ExprKind::Any(_) => self.in_temporary(expression),
            ExprKind::At(_) | ExprKind::Count(_) | ExprKind::Register(..) => {
                self.refuse_observation(expression.span);
                nothing()
            }
        }
    }

    fn logical_value(&mut self, op: BinaryOp, left: &'a Expr<'a>, right: &'a Expr<'a>, whole: &'a Expr<'a>) -> RegExpr {
        if self.takes_steps(right) {
            return self.in_temporary(whole);
        }
        let left = self.value(left);
        let decided = left.constant().is_some_and(|left| (left != 0) == (op == BinaryOp::Or));
        self.ruled_out += usize::from(decided);
        let right = self.value(right);
        self.ruled_out -= usize::from(decided);
        binary(op, left, right)
    }

    fn in_temporary(&mut self, expression: &'a Expr<'a>) -> RegExpr {
        let register = self.temporary(expression.span);
        self.into(register, expression, expression.span);
        RegExpr::Leaf(register)
    }

    /// Emits the steps of an expression, the last of which writes its value to `register`; `span` is the
    /// text of the whole assignment.
    pub(super) fn into(&mut self, register: RegId, expression: &'a Expr<'a>, span: Span) {
        if self.enter(expression.span) {
            self.lower_into(register, expression, span);
        }
        self.leave();
    }

    fn lower_into(&mut self, register: RegId, expression: &'a Expr<'a>, span: Span) {
        match &expression.kind {
            ExprKind::Call(name, arguments) => self.call(*name, arguments, Some(register), span),
            ExprKind::ReadModifyWrite(form, cell, operands) => {
                self.read_modify_write(*form, cell, operands, Some(register), span);
            }
            ExprKind::Any(range) => self.havoc(register, range, span),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if self.takes_steps(right) => {
                self.logical_into(register, *op, left, right, span);
            }
            _ if self.reads_cell(expression) => {
                if let Some(address) = self.cell(expression) {
                    self.step(Instruction::Load { register, address }, cell_span(expression));
                }
            }
            _ => {
                let value = self.value(expression);
                self.step(Instruction::Assign { register, value }, span);
            }
        }
    }

    fn havoc(&mut self, register: RegId, range: &RangeExpr<'a>, span: Span) {
        if let Some(range) = self.constants().range(range) {
            self.step(Instruction::Havoc { register, range }, span);
        }
    }

    fn named_value(&mut self, name: Name<'a>) -> RegExpr {
        match self.meaning(name) {
            Meaning::Register(register) => RegExpr::Leaf(register),
            Meaning::Constant(value) => RegExpr::Const(value),
            Meaning::Shared(at) => match self.scalar_address(name, at) {
                Some(address) => self.load(address, name.span),
                None => nothing(),
            },
            Meaning::Nothing => nothing(),
        }
    }

    /// Loads into a temporary register.
    pub(super) fn load(&mut self, address: RegExpr, span: Span) -> RegExpr {
        let register = self.temporary(span);
        self.step(Instruction::Load { register, address }, span);
        RegExpr::Leaf(register)
    }

    /// Whether an expression is just one read of shared memory.
    fn reads_cell(&mut self, expression: &Expr<'a>) -> bool {
        match &expression.kind {
            ExprKind::Index(..) | ExprKind::Memory(_) => true,
            ExprKind::Name(name) => matches!(self.look_up(name.text), Some(Meaning::Shared(_))),
            _ => false,
        }
    }

    /// The address of a cell; its own steps come first. `None` if it is in error.
    pub(super) fn cell(&mut self, expression: &'a Expr<'a>) -> Option<RegExpr> {
        match &expression.kind {
            ExprKind::Name(name) => match self.meaning(*name) {
                Meaning::Shared(at) => self.scalar_address(*name, at),
                Meaning::Nothing => None,
                Meaning::Register(_) | Meaning::Constant(_) => {
                    self.refuse_cell(*name);
                    None
                }
            },
            ExprKind::Index(name, index) => self.element(*name, index),
            ExprKind::Memory(address) => {
                self.around.used.memory = true;
                Some(self.value(address))
            }
            _ => None,
        }
    }

    fn refuse_cell(&mut self, name: Name<'a>) {
        let message = format!("`{}` is not a shared cell", name.text);
        let error = Diagnostic::error("not-a-cell", message, name.span);
        self.around.sink.error(error.help(format!("`*{}` is the cell whose address it holds", name.text)));
    }

    fn address_of(&mut self, name: Name<'a>, index: Option<&'a Expr<'a>>) -> Option<RegExpr> {
        if let Some(index) = index {
            return self.element(name, index);
        }
        match self.meaning(name) {
            Meaning::Shared(at) => Some(RegExpr::Const(self.around.globals.shared.get(at)?.address)),
            Meaning::Nothing => None,
            Meaning::Register(_) | Meaning::Constant(_) => {
                let message = format!("`{}` has no address", name.text);
                let error = Diagnostic::error("not-a-cell", message, name.span);
                self.around.sink.error(error.help("only shared cells have addresses"));
                None
            }
        }
    }

    fn scalar_address(&mut self, name: Name<'a>, at: usize) -> Option<RegExpr> {
        let shared = self.around.globals.shared.get(at)?;
        if shared.is_array {
            let message = format!("`{}` is an array, not a single cell", name.text);
            let error = Diagnostic::error("array-as-value", message, name.span).also(shared.span, "declared here");
            self.around.sink.error(
                error.help(format!("`{0}[0]` is its first cell, and `&{0}` is the address of that cell", name.text)),
            );
            return None;
        }
        Some(RegExpr::Const(shared.address))
    }

    /// The address of `name[index]`.
    fn element(&mut self, name: Name<'a>, index: &'a Expr<'a>) -> Option<RegExpr> {
        let Meaning::Shared(at) = self.meaning(name) else {
            self.refuse_index(name);
            return None;
        };
        let shared = self.around.globals.shared.get(at)?;
        if !shared.is_array {
            self.around.sink.error(not_an_array(shared, name));
            return None;
        }
        let value = self.value(index);
        match value.constant() {
            Some(constant) if self.ruled_out > 0 => Some(RegExpr::Const(shared.address.wrapping_add(constant))),
            Some(constant) => {
                let address = element_address(shared, name, constant, index.span, self.around.sink)?;
                Some(RegExpr::Const(address))
            }
            None => Some(binary(BinaryOp::Add, RegExpr::Const(shared.address), value)),
        }
    }

    fn refuse_index(&mut self, name: Name<'a>) {
        if let Some(Meaning::Register(_) | Meaning::Constant(_)) = self.look_up(name.text) {
            let message = format!("`{}` is not an array", name.text);
            let error = Diagnostic::error("not-an-array", message, name.span);
            self.around.sink.error(error.help(format!("`mem[{} + e]` is the cell at an address", name.text)));
        }
    }

    /// What a name means as a value; anything else is reported.
    pub(super) fn meaning(&mut self, name: Name<'a>) -> Meaning {
        if let Some(meaning) = self.look_up(name.text) {
            return meaning;
        }
        let globals = self.around.globals;
        if let Some((global, span)) = globals.declared(name.text) {
            let message = format!("`{}` is {}, not a value", name.text, global.describe());
            let error = Diagnostic::error("not-a-value", message, name.span).also(span, "declared here");
            self.around.sink.error(match global {
                Global::Procedure(_) => error.help(format!("call it: `{}(…)`", name.text)),
                _ => error,
            });
            return Meaning::Nothing;
        }
        let mut known = Vec::new();
        if self.around.sink.wants(UNKNOWN, name.span) {
            known = self.visible_registers();
            known.extend(globals.names(|global| matches!(global, Global::Constant(_) | Global::Shared(_))));
        }
        let declare = format!("declare a register with `let {0};`, or a shared cell with `shared {0};`", name.text);
        report_unknown(self.around.sink, "register, shared cell or constant", name, || known, &declare);
        Meaning::Nothing
    }

    fn refuse_observation(&mut self, span: Span) {
        let message = "places and registers of threads can only be observed in properties";
        let error = Diagnostic::error("observation-in-body", message, span);
        let help = "use this in `forbid`, `exists`, `always` or `live`; threads share cells, not registers";
        self.around.sink.error(error.help(help));
    }

    pub(super) fn read_modify_write(
        &mut self,
        form: RmwForm,
        cell: &'a Expr<'a>,
        operands: &'a [Expr<'a>],
        register: Option<RegId>,
        span: Span,
    ) {
        let address = self.cell(cell);
        let mut operands = operands.iter().map(|operand| self.value(operand)).collect::<Vec<_>>().into_iter();
        let mut next = || operands.next().unwrap_or_else(nothing);
        let operation = match form {
            RmwForm::CompareAndSwap => Rmw::CompareAndSwap { expected: next(), new: next() },
            RmwForm::CompareExchange => Rmw::CompareExchange { expected: next(), new: next() },
            RmwForm::Exchange => Rmw::Exchange(next()),
            RmwForm::Fetch(combine) => Rmw::Fetch(combine, next()),
        };
        if let Some(address) = address {
            self.step(Instruction::ReadModifyWrite { register, address, operation }, span);
        }
    }

    /// Whether evaluating an expression takes steps.
    pub(super) fn takes_steps(&mut self, expression: &Expr<'a>) -> bool {
        match &expression.kind {
            ExprKind::Index(..)
            | ExprKind::Memory(_)
            | ExprKind::Call(..)
            | ExprKind::ReadModifyWrite(..)
            | ExprKind::Any(_) => true,
            ExprKind::Name(name) => matches!(self.look_up(name.text), Some(Meaning::Shared(_))),
            ExprKind::Unary(_, operand) | ExprKind::AddressOf(_, Some(operand)) => self.takes_steps(operand),
            ExprKind::Binary(_, left, right) => self.takes_steps(left) || self.takes_steps(right),
            _ => false,
        }
    }
}

/// The text of a shared read, without parentheses around it.
fn cell_span(expression: &Expr) -> Span {
    if let ExprKind::Name(name) = &expression.kind { name.span } else { expression.span }
}

/// `op operand`, computed at once if it is constant.
pub(super) fn unary<L>(op: UnaryOp, operand: Tree<L>) -> Tree<L> {
    match operand {
        Tree::Const(value) => Tree::Const(op.apply(value)),
        operand => Tree::unary(op, operand),
    }
}

/// `left op right`, computed at once if both are constant.
pub(super) fn binary<L>(op: BinaryOp, left: Tree<L>, right: Tree<L>) -> Tree<L> {
    match (left, right) {
        (Tree::Const(left), Tree::Const(right)) => Tree::Const(op.apply(left, right)),
        (left, right) => Tree::binary(op, left, right),
    }
}

/// 1 if the expression is not 0, else 0.
pub(super) fn truth(expression: RegExpr) -> RegExpr {
    use BinaryOp::*;
    match expression {
        RegExpr::Const(value) => RegExpr::Const(Value::from(value != 0)),
        RegExpr::Unary(UnaryOp::Not, _)
        | RegExpr::Binary(Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | And | Or, ..) => expression,
        other => RegExpr::binary(NotEqual, other, RegExpr::Const(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_is_one_or_zero() {
        for (value, expected) in [(0, 0), (1, 1), (5, 1), (-3, 1)] {
            assert_eq!(truth(RegExpr::Const(value)), RegExpr::Const(expected));
        }
    }
}
