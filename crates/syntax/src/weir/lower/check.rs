//! What can be checked of a body by looking at its text alone, once, however often it is replicated or
//! inlined: labels, jumps, `break`, `return`, and what may stand inside `atomic`.

use std::collections::HashMap;

use weir_ir::{Diagnostic, Span};

use super::super::ast::{Block, Expr, ExprKind, Name, RangeExpr, Statement, StatementKind};
use super::super::sink::Sink;
use super::name_errors::{duplicate, listed, near};
use super::size::Size;

/// What is known about a body.
#[derive(Default, Debug)]
pub(super) struct Facts<'a> {
    /// Labels in order of the source.
    pub(super) labels: Vec<Name<'a>>,
    label_index: HashMap<&'a str, usize>,
    /// Names that are called, and whether that is inside `atomic`.
    pub(super) calls: Vec<(Name<'a>, bool)>,
    /// The first statement that takes or releases the lock, or ends the thread.
    pub(super) locking: Option<Span>,
    /// The first `return e`.
    pub(super) returns_value: Option<Span>,
    returns_nothing: Option<Span>,
    /// Whether there is an `end`: a body that takes no step is then meant to.
    pub(super) has_end: bool,
    /// A lower bound on its statements and steps, without what it calls.
    pub(super) size: Size,
}

impl Facts<'_> {
    /// The place of a label in [`Facts::labels`].
    pub(super) fn label(&self, name: &str) -> Option<usize> {
        self.label_index.get(name).copied()
    }
}

/// Checks the body of a thread.
pub(super) fn thread_body<'a>(body: &'a Block<'a>, sink: &mut Sink) -> Facts<'a> {
    check(body, false, sink)
}

/// Checks the body of a procedure.
pub(super) fn procedure_body<'a>(body: &'a Block<'a>, sink: &mut Sink) -> Facts<'a> {
    check(body, true, sink)
}

fn check<'a>(body: &'a Block<'a>, is_procedure: bool, sink: &mut Sink) -> Facts<'a> {
    let mut checker = Checker {
        facts: Facts::default(),
        label_atomic: Vec::new(),
        jumps: Vec::new(),
        atomic: None,
        loops: Vec::new(),
        is_procedure,
        sink,
    };
    checker.block(body);
    checker.resolve_jumps();
    checker.facts
}

struct Checker<'a, 'c> {
    facts: Facts<'a>,
    /// The `atomic` that each label stands in.
    label_atomic: Vec<Option<Span>>,
    /// Jumps with the `atomic` they stand in.
    jumps: Vec<(Name<'a>, Option<Span>)>,
    /// The keyword of the `atomic` that is open.
    atomic: Option<Span>,
    /// For each open loop, the `atomic` it stands in.
    loops: Vec<Option<Span>>,
    is_procedure: bool,
    sink: &'c mut Sink,
}

impl<'a> Checker<'a, '_> {
    fn block(&mut self, block: &'a Block<'a>) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement<'a>) {
        let span = statement.span;
        self.facts.size.count(&statement.kind);
        match &statement.kind {
            StatementKind::Let(declarators) => {
                declarators.iter().filter_map(|one| one.value.as_ref()).for_each(|value| self.expression(value));
            }
            StatementKind::Assign { target, value, .. } => {
                self.expression(target);
                self.expression(value);
            }
            StatementKind::Snapshot { targets, cells } => {
                targets.iter().chain(cells).for_each(|expression| self.expression(expression));
            }
            StatementKind::Await { targets, cells, condition } => {
                targets.iter().chain(cells).chain([condition]).for_each(|expression| self.expression(expression));
            }
            StatementKind::Evaluate(value) | StatementKind::Assume(value) | StatementKind::Assert(value) => {
                self.expression(value);
            }
            StatementKind::If { arms, otherwise } => {
                for (condition, block) in arms {
                    self.expression(condition);
                    self.block(block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.expression(condition);
                self.loop_body(body);
            }
            StatementKind::Loop(body) => self.loop_body(body),
            StatementKind::ForEachOther(name, body) => self.for_each_other(Span { end: name.span.end, ..span }, body),
            StatementKind::Break => self.leaves_loop("break", span),
            StatementKind::Continue => self.leaves_loop("continue", span),
            StatementKind::Label(name) => self.label(*name),
            StatementKind::Goto(name) | StatementKind::Jump(name) => self.jumps.push((*name, self.atomic)),
            StatementKind::Choose(branches) => branches.iter().for_each(|branch| self.block(branch)),
            StatementKind::Lock => self.locking("lock", span),
            StatementKind::Unlock => self.locking("unlock", span),
            StatementKind::Terminate => self.locking("terminate", span),
            StatementKind::End => self.end(span),
            StatementKind::Atomic(body) => self.atomic(body, span),
            StatementKind::Return(value) => self.return_statement(value.as_ref(), span),
            StatementKind::Block(block) => self.block(block),
            StatementKind::Fence | StatementKind::Membarrier | StatementKind::Skip | StatementKind::Spawn(_) => {}
        }
    }

    /// Notes the calls of an expression.
    fn expression(&mut self, expression: &'a Expr<'a>) {
        match &expression.kind {
            ExprKind::Call(name, arguments) => {
                self.facts.calls.push((*name, self.atomic.is_some()));
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExprKind::ReadModifyWrite(_, cell, operands) => {
                self.expression(cell);
                operands.iter().for_each(|operand| self.expression(operand));
            }
            ExprKind::Index(_, inner)
            | ExprKind::Memory(inner)
            | ExprKind::Unary(_, inner)
            | ExprKind::AddressOf(_, Some(inner)) => self.expression(inner),
            ExprKind::Binary(_, left, right) | ExprKind::Any(RangeExpr { low: left, high: right, .. }) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Number(_)
            | ExprKind::Malformed
            | ExprKind::Name(_)
            | ExprKind::AddressOf(_, None)
            | ExprKind::At(_)
            | ExprKind::Count(_)
            | ExprKind::Register(..) => {}
        }
    }

    fn loop_body(&mut self, body: &'a Block<'a>) {
        self.loops.push(self.atomic);
        self.block(body);
        self.loops.pop();
    }

    fn for_each_other(&mut self, header: Span, body: &'a Block<'a>) {
        if self.is_procedure {
            let error = Diagnostic::error("no-others", "`for each other` inside a procedure", header);
            let help = "a procedure does not know which thread calls it: write the loop in the thread, and call a \
                        procedure in its body, as in `for each other j { f(j); }`";
            self.sink.error(error.help(help));
        }
        self.loop_body(body);
    }

    fn leaves_loop(&mut self, statement: &str, span: Span) {
        match self.loops.last() {
            None => {
                let message = format!("`{statement}` outside a loop");
                let error = Diagnostic::error("outside-loop", message, span);
                self.sink.error(error.help("use it inside `loop { … }`, `while e { … }` or `for each other j { … }`"));
            }
            Some(&atomic) if atomic != self.atomic => self.leaves_atomic(&format!("`{statement}`"), span),
            Some(_) => {}
        }
    }

    /// Reports that control would leave the open `atomic` with the lock still held.
    fn leaves_atomic(&mut self, statement: &str, span: Span) {
        let Some(atomic) = self.atomic else { return };
        let message = format!("{statement} would leave the `atomic` block while holding the lock");
        let error = Diagnostic::error("leaves-atomic", message, span).also(atomic, "the block starts here");
        self.sink.error(error.help("set a register inside the block and branch on it after the block"));
    }

    fn label(&mut self, name: Name<'a>) {
        if let Some(first) = self.facts.label(name.text) {
            let first = self.facts.labels[first];
            self.sink.error(duplicate(name, "a label", first.span));
            return;
        }
        self.facts.label_index.insert(name.text, self.facts.labels.len());
        self.facts.labels.push(name);
        self.label_atomic.push(self.atomic);
    }

    fn atomic(&mut self, body: &'a Block<'a>, span: Span) {
        let keyword = Span { start: span.start, end: span.start + "atomic".len() as u32 };
        self.locking("atomic", keyword);
        let outer = self.atomic.replace(keyword);
        self.block(body);
        self.atomic = outer;
    }

    fn locking(&mut self, statement: &str, span: Span) {
        if statement == "terminate" {
            self.leaves_atomic("`terminate`", span);
        } else if let Some(atomic) = self.atomic {
            let (why, help) = match statement {
                "unlock" => ("the block itself releases the lock", "end the block earlier"),
                _ => (
                    "the lock is already held",
                    "there is only one lock, and it cannot be taken twice; remove the inner one",
                ),
            };
            let message = format!("`{statement}` inside `atomic`: {why}");
            let error = Diagnostic::error("nested-lock", message, span).also(atomic, "taken here");
            self.sink.error(error.help(help));
        }
        self.facts.locking.get_or_insert(span);
    }

    fn end(&mut self, span: Span) {
        self.facts.has_end = true;
        if self.is_procedure {
            let error = Diagnostic::error("end-in-procedure", "`end` inside a procedure", span);
            self.sink.error(error.help("`return` returns to the caller, `terminate` ends the thread"));
        }
        self.leaves_atomic("`end`", span);
    }

    fn return_statement(&mut self, value: Option<&'a Expr<'a>>, span: Span) {
        value.into_iter().for_each(|value| self.expression(value));
        if !self.is_procedure {
            let error = Diagnostic::error("return-outside-procedure", "`return` outside a procedure", span);
            self.sink.error(error.help("to end a thread, use `terminate` (a step) or `end` (not a step)"));
            return;
        }
        self.leaves_atomic("`return`", span);
        let (own, other) = if value.is_some() {
            (&mut self.facts.returns_value, self.facts.returns_nothing)
        } else {
            (&mut self.facts.returns_nothing, self.facts.returns_value)
        };
        own.get_or_insert(span);
        if let Some(other) = other {
            let (here, there) = if value.is_some() { ("a", "no") } else { ("no", "a") };
            let message = format!("this `return` has {here} value, but an earlier one has {there} value");
            let error = Diagnostic::error("mixed-returns", message, span).also(other, "the earlier one");
            self.sink.error(error.help("either all `return`s of a procedure have a value, or none of them"));
        }
    }

    fn resolve_jumps(&mut self) {
        for (name, atomic) in std::mem::take(&mut self.jumps) {
            let Some(label) = self.facts.label(name.text) else {
                self.sink.error(self.unknown_label(name));
                continue;
            };
            match (atomic, self.label_atomic[label]) {
                (from, to) if from == to => {}
                (Some(_), _) => {
                    self.atomic = atomic;
                    self.leaves_atomic("this jump", name.span);
                    self.atomic = None;
                }
                (None, to) => {
                    let error = Diagnostic::error(
                        "enters-atomic",
                        format!("this jump would enter the `atomic` block of `{}` without the lock", name.text),
                        name.span,
                    );
                    let error = error.also(to.unwrap_or_default(), "the block starts here");
                    self.sink.error(error.help("jump to a label before the block"));
                }
            }
        }
    }

    fn unknown_label(&self, name: Name) -> Diagnostic {
        let labels: Vec<&str> = self.facts.labels.iter().map(|label| label.text).collect();
        let where_ = if self.is_procedure { "procedure" } else { "thread" };
        let message = format!("there is no label `{}` in this {where_}", name.text);
        let error = Diagnostic::error("unknown-label", message, name.span);
        match near(name.text, &labels) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if labels.is_empty() => error.help(format!("write `{}:` before a statement", name.text)),
            None => error.help(format!("its labels are: {}", listed(&labels))),
        }
    }
}
