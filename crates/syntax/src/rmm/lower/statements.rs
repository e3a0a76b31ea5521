//! Statements to steps.

use weir_ir::{BinaryOp, Diagnostic, Expr, Instruction, LocId, RegExpr, RegId, Rmw, Span, UnaryOp};

use super::super::ast::{Cell, Labelled, Name, RegisterExpr, Statement, StatementKind};
use super::process::{Await, Builder};
use super::{pointers::Target, ranges};

/// Branches that share a read: the way back asks for none of their values, in one condition.
const MAX_EXPECTED: usize = 100;

impl<'s> Builder<'_, 's> {
    /// Lowers statements that lead from one place to another. `is_choice` says whether there are other ways out of
    /// the first place, so that it cannot get a label or be the head of a loop.
    pub(super) fn sequence(&mut self, statements: &[Labelled<'s>], from: LocId, to: LocId, is_choice: bool) {
        let mut here = from;
        for (nth, labelled) in statements.iter().enumerate().take_while(|_| !self.poll.is_over()) {
            let next = if nth + 1 == statements.len() { to } else { self.node() };
            self.labelled(labelled, here, next, is_choice && nth == 0);
            here = next;
        }
    }

    fn labelled(&mut self, labelled: &Labelled<'s>, mut from: LocId, to: LocId, mut is_choice: bool) {
        if let Some(label) = labelled.label {
            if is_choice {
                from = self.step(from, Instruction::Skip, label.span);
                is_choice = false;
            }
            self.label(label, from);
        }
        let Statement { kind, span } = &labelled.statement;
        self.statement(kind, *span, from, to, is_choice);
    }

    fn statement(&mut self, kind: &StatementKind<'s>, span: Span, from: LocId, to: LocId, is_choice: bool) {
        match kind {
            StatementKind::Nop => {
                self.edge(from, Instruction::Skip, to, span);
            }
            StatementKind::Fence => {
                self.edge(from, Instruction::Fence, to, span);
            }
            StatementKind::Assume(condition) => {
                let condition = self.expr(condition);
                self.edge(from, Instruction::Assume(condition), to, span);
            }
            StatementKind::Assign(register, value) => self.assign(*register, value, from, to, span),
            StatementKind::ReadInto(register, cell) => self.read_into(*register, cell, from, to, span),
            StatementKind::ReadEqual(cell, value) => self.read_equal(cell, value, from, to, span),
            StatementKind::Write(cell, value) => self.write(cell, value, from, to, span),
            StatementKind::CompareAndSwap(cell, expected, new) => {
                self.compare_and_swap(cell, expected, new, (from, to), span);
            }
            StatementKind::Goto(label) => {
                let edge = self.edge(from, Instruction::Skip, from, span);
                self.gotos.push((edge, *label));
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.expr(condition);
                let chosen = self.step(from, Instruction::Assume(condition.clone()), span);
                self.labelled(then, chosen, to, false);
                let failed = if otherwise.is_some() { self.node() } else { to };
                self.edge(from, Instruction::Assume(condition.negated()), failed, span);
                if let Some(otherwise) = otherwise {
                    self.labelled(otherwise, failed, to, false);
                }
            }
            StatementKind::While(condition, body) => {
                let head = if is_choice { self.step(from, Instruction::Skip, span) } else { from };
                let condition = self.expr(condition);
                let inside = self.step(head, Instruction::Assume(condition.clone()), span);
                self.labelled(body, inside, head, false);
                self.edge(head, Instruction::Assume(condition.negated()), to, span);
            }
            StatementKind::Sequence(statements) => self.sequence(statements, from, to, is_choice),
            StatementKind::Either(branches) => {
                for branch in branches {
                    self.sequence(branch, from, to, true);
                }
            }
            StatementKind::Locked(alternatives) => self.locked(alternatives, from, to, span),
            StatementKind::Weaker(keyword, inner) => {
                self.note(keyword, span);
                self.statement(inner, span, from, to, is_choice);
            }
        }
    }

    /// Warns that a keyword has no effect under TSO, once per keyword.
    pub(super) fn note(&mut self, keyword: &'static str, span: Span) {
        if !self.noted.insert(keyword) {
            return;
        }
        let in_order = "stores always reach memory in order";
        let (message, help) = match keyword {
            "ssfence" => (format!("`ssfence` does nothing under TSO: {in_order}"), false),
            "llfence" => ("`llfence` does nothing under TSO: loads always execute in order".to_string(), false),
            "syncrd" => ("`syncrd` is a plain `read` under TSO".to_string(), false),
            "syncwr" => ("`syncwr` is a plain `write` under TSO: it waits in the buffer".to_string(), true),
            _ => (format!("`{keyword} write` is a plain `write` under TSO: {in_order}"), true),
        };
        let mut warning = Diagnostic::warning("no-meaning", message, span).label("the first one");
        if help {
            warning = warning.help("for a store that reaches memory immediately, use `locked write`");
        }
        self.sink.warning(warning);
    }

    fn assign(&mut self, register: Name<'s>, value: &RegisterExpr<'s>, from: LocId, to: LocId, span: Span) {
        let value = self.expr(value);
        let Some(register) = self.known_register(register) else { return };
        let from = match self.outside(&value, register) {
            Some(condition) => self.step(from, Instruction::Assume(condition), span),
            None => from,
        };
        self.edge(from, Instruction::Assign { register, value }, to, span);
    }

    /// The condition under which a register can take a value; nothing if it always can.
    pub(super) fn outside(&self, value: &RegExpr, register: RegId) -> Option<RegExpr> {
        ranges::within(value, self.range(value), self.domain(register)?)
    }

    fn read_into(&mut self, register: Name<'s>, cell: &Cell<'s>, from: LocId, to: LocId, span: Span) {
        let target = self.target(cell, from, span);
        let (Some(register), Some(Target { from, address, domain })) = (self.known_register(register), target) else {
            return;
        };
        let seen = Expr::Leaf(self.temporary(0));
        let check = self.domain(register).and_then(|wanted| ranges::within(&seen, domain, wanted));
        let Some(fits) = check else {
            self.edge(from, Instruction::Load { register, address }, to, span);
            return;
        };
        // A value that does not fit must not be in the register while the process waits for another.
        let seen = self.temporary(0);
        let read = self.step(from, Instruction::Load { register: seen, address }, span);
        let fitting = self.step(read, Instruction::Assume(fits.clone()), span);
        self.edge(read, Instruction::Assume(fits.negated()), from, span);
        self.edge(fitting, Instruction::Assign { register, value: Expr::Leaf(seen) }, to, span);
    }

    /// Reads again and again until the value is the one waited for. Branches of one choice that wait for different
    /// values of one location share the read.
    fn read_equal(&mut self, cell: &Cell<'s>, value: &RegisterExpr<'s>, from: LocId, to: LocId, span: Span) {
        let target = self.target(cell, from, span);
        let value = self.expr(value);
        let Some(Target { from, address, domain }) = target else { return };
        let seen = self.temporary(0);
        let equal = Expr::binary(BinaryOp::Equal, Expr::Leaf(seen), value.clone());
        let key = (from, address.clone());
        let shared = self.awaits.remove(&key).filter(|waiting| waiting.expected.len() < MAX_EXPECTED);
        if let Some(mut waiting) = shared {
            self.edge(waiting.read, Instruction::Assume(equal.clone()), to, span);
            if !waiting.expected.contains(&value) {
                waiting.expected.push(value);
                let retry = self.edge_mut(waiting.retry);
                if let Instruction::Assume(condition) = &mut retry.instruction {
                    *condition = Expr::binary(BinaryOp::And, condition.clone(), equal.negated());
                }
            }
            self.awaits.insert(key, waiting);
            return;
        }
        let read = self.step(from, Instruction::Load { register: seen, address }, span);
        self.edge(read, Instruction::Assume(equal.clone()), to, span);
        let retry = self.edge(read, Instruction::Assume(equal.negated()), from, span);
        self.awaits.insert(key, Await { read, retry, expected: vec![value], domain });
    }

    fn write(&mut self, cell: &Cell<'s>, value: &RegisterExpr<'s>, from: LocId, to: LocId, span: Span) {
        let target = self.target(cell, from, span);
        let value = self.expr(value);
        let Some(Target { from, address, .. }) = target else { return };
        self.edge(from, Instruction::Store { address, value }, to, span);
    }

    /// A `locked write`: an exchange whose result nobody wants.
    pub(super) fn locked_write(
        &mut self,
        cell: &Cell<'s>,
        value: &RegisterExpr<'s>,
        from: LocId,
        to: LocId,
        span: Span,
    ) {
        let target = self.target(cell, from, span);
        let value = self.expr(value);
        let Some(Target { from, address, .. }) = target else { return };
        let operation = Rmw::Exchange(value);
        self.edge(from, Instruction::ReadModifyWrite { register: None, address, operation }, to, span);
    }

    /// Waits until the location holds what is expected; an attempt that fails changes nothing.
    pub(super) fn compare_and_swap(
        &mut self,
        cell: &Cell<'s>,
        expected: &RegisterExpr<'s>,
        new: &RegisterExpr<'s>,
        (from, to): (LocId, LocId),
        span: Span,
    ) {
        let target = self.target(cell, from, span);
        let (expected, new) = (self.expr(expected), self.expr(new));
        let Some(Target { from, address, .. }) = target else { return };
        let register = self.temporary(0);
        let operation = Rmw::CompareAndSwap { expected, new };
        let tried =
            self.step(from, Instruction::ReadModifyWrite { register: Some(register), address, operation }, span);
        let succeeded = RegExpr::Leaf(register);
        self.edge(tried, Instruction::Assume(succeeded.clone()), to, span);
        self.edge(tried, Instruction::Assume(Expr::unary(UnaryOp::Not, succeeded)), from, span);
    }
}
