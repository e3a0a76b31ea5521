//! Statements to steps. What is one step is part of the language's contract: see `docs/language.md`.

use weir_ir::{BinaryOp, Diagnostic, Instruction, RegExpr, RegId, Span};

use super::super::ast::{Block, Declarator, Expr, ExprKind, Name, Statement, StatementKind};
use super::builder::{Builder, Meaning, Returns};
use super::expressions::binary;
use super::graph::Node;
use super::name_errors::report_unknown;
use super::names::{Copies, Global};

/// What an assignment writes.
enum Target {
    Register(RegId),
    Cell(RegExpr),
    /// Reported already.
    Nothing,
}

impl<'a> Builder<'_, 'a> {
    pub(super) fn block(&mut self, block: &'a Block<'a>) {
        let scope = self.open_scope();
        for statement in &block.statements {
            self.statement(statement);
        }
        self.mark_fence_place(block.close().start);
        self.close_scope(scope);
    }

    fn statement(&mut self, statement: &'a Statement<'a>) {
        let live = self.registers.live_temporaries;
        if self.enter(statement.span) {
            if may_follow_a_fence(&statement.kind) {
                self.mark_fence_place(statement.span.start);
            }
            self.note_beginning(statement);
            self.lower_statement(statement);
        }
        self.leave();
        self.registers.live_temporaries = live;
    }

    /// Marks a place where a fence could be written with a step, if such steps are wanted and control gets here.
    fn mark_fence_place(&mut self, offset: u32) {
        if self.around.globals.marks_fence_places && self.here.is_some() && self.ruled_out == 0 {
            self.step(Instruction::Skip, Span { start: offset, end: offset });
        }
    }

    /// Names the place where control is by the statement that begins there.
    fn note_beginning(&mut self, statement: &Statement) {
        let whole = statement.span;
        let span = match &statement.kind {
            StatementKind::If { arms, .. } => {
                arms.first().map_or(whole, |(test, _)| Span { end: test.span.end, ..whole })
            }
            StatementKind::ForEachOther(name, _) => Span { end: name.span.end, ..whole },
            StatementKind::Choose(_) => keyword(whole, "choose"),
            StatementKind::Atomic(_) => keyword(whole, "atomic"),
            StatementKind::Let(_)
            | StatementKind::Assign { .. }
            | StatementKind::Snapshot { .. }
            | StatementKind::Evaluate(_)
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
            | StatementKind::Return(_)
            | StatementKind::Terminate
            | StatementKind::End => whole,
            // These begin with another statement, or pass control on.
            _ => return,
        };
        if let Some(here) = self.here {
            self.graph.begin(here, span);
        }
    }

    fn lower_statement(&mut self, statement: &'a Statement<'a>) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Let(declarators) => self.let_statement(declarators, span),
            StatementKind::Assign { target, operator, value } => self.assign(target, *operator, value, span),
            StatementKind::Snapshot { targets, cells } => self.snapshot(targets, cells, span),
            StatementKind::Evaluate(expression) => self.evaluate(expression),
            StatementKind::If { arms, otherwise } => self.if_statement(arms, otherwise.as_ref(), span),
            StatementKind::While(condition, body) => self.while_statement(condition, body, span),
            StatementKind::Loop(body) => self.loop_statement(body, span),
            StatementKind::ForEachOther(name, body) => self.for_each_other(*name, body, span),
            StatementKind::Break => self.leave_loop(span, |(_, exit)| exit),
            StatementKind::Continue => self.leave_loop(span, |(head, _)| head),
            StatementKind::Label(name) => self.label(*name),
            StatementKind::Goto(name) => {
                if let Some(target) = self.label_node(*name) {
                    self.step_to(Instruction::Skip, target, span);
                }
            }
            StatementKind::Jump(name) => {
                if let (Some(target), Some(here)) = (self.label_node(*name), self.here.take()) {
                    self.graph.jump(here, target, span);
                }
            }
            StatementKind::Choose(branches) => self.choose(branches, span),
            StatementKind::Assume(condition) => {
                let value = self.value(condition);
                self.step(Instruction::Assume(value), span);
            }
            StatementKind::Await { targets, cells, condition } => self.wait(targets, cells, condition, span),
            StatementKind::Assert(condition) => {
                let value = self.value(condition);
                self.step(Instruction::Assert(value), span);
            }
            StatementKind::Fence => self.step(Instruction::Fence, span),
            StatementKind::Membarrier => self.step(Instruction::Membarrier, span),
            StatementKind::Skip => self.step(Instruction::Skip, span),
            StatementKind::Lock => self.step(Instruction::Lock, span),
            StatementKind::Unlock => self.step(Instruction::Unlock, span),
            StatementKind::Atomic(body) => {
                self.step(Instruction::Lock, keyword(span, "atomic"));
                self.block(body);
                if self.here.is_some() {
                    self.step(Instruction::Unlock, body.close());
                }
            }
            StatementKind::Spawn(name) => self.spawn(*name, span),
            StatementKind::Return(value) => self.return_statement(value.as_ref(), span),
            StatementKind::Terminate => self.step_to(Instruction::Terminate, self.end, span),
            StatementKind::End => {
                // Nothing leads on from here, so a thread that gets here is done.
                self.here();
                self.here = None;
            }
            StatementKind::Block(block) => self.block(block),
        }
    }

    fn let_statement(&mut self, declarators: &'a [Declarator<'a>], span: Span) {
        let single = declarators.len() == 1;
        for declarator in declarators {
            match &declarator.value {
                None => {
                    self.declare(declarator.name);
                }
                Some(value) => self.initialise(declarator.name, value, if single { span } else { declarator.span }),
            }
        }
    }

    /// The value goes straight to the register, which is therefore declared first.
    fn initialise(&mut self, name: Name<'a>, value: &'a Expr<'a>, span: Span) {
        self.refuse_own_name(name, value);
        match self.declare(name) {
            Some(register) => self.into(register, value, span),
            None => {
                self.value(value);
            }
        }
    }

    /// `let r = r + 1;` reads a register that is not there yet.
    fn refuse_own_name(&mut self, name: Name<'a>, value: &Expr<'a>) {
        if self.look_up(name.text).is_some() {
            return;
        }
        if let Some(span) = mention(value, name.text) {
            let message = format!("`{}` is used in its own initializer before it is declared", name.text);
            let error = Diagnostic::error("unknown-name", message, span).also(name.span, "declared here");
            self.around.sink.error(error.help(format!("declare it first: `let {};`", name.text)));
        }
    }

    fn assign(&mut self, target: &'a Expr<'a>, operator: Option<BinaryOp>, value: &'a Expr<'a>, span: Span) {
        match (self.target(target), operator) {
            (Target::Register(register), None) => self.into(register, value, span),
            (Target::Register(register), Some(operator)) => {
                let value = binary(operator, RegExpr::Leaf(register), self.value(value));
                self.step(Instruction::Assign { register, value }, span);
            }
            (Target::Cell(address), None) => {
                let value = self.value(value);
                self.step(Instruction::Store { address, value }, span);
            }
            (Target::Cell(address), Some(operator)) => {
                let old = self.load(address.clone(), target.span);
                let value = binary(operator, old, self.value(value));
                self.step(Instruction::Store { address, value }, span);
            }
            (Target::Nothing, _) => {
                self.value(value);
            }
        }
    }

    fn target(&mut self, target: &'a Expr<'a>) -> Target {
        if let ExprKind::Name(name) = &target.kind {
            match self.look_up(name.text) {
                Some(Meaning::Register(_)) if self.refuses_other(*name) => return Target::Nothing,
                Some(Meaning::Register(register)) => return Target::Register(register),
                Some(Meaning::Constant(_) | Meaning::Nothing) => {
                    self.refuse_assignment(*name);
                    return Target::Nothing;
                }
                Some(Meaning::Shared(_)) | None => {}
            }
        }
        self.cell(target).map_or(Target::Nothing, Target::Cell)
    }

    fn refuse_assignment(&mut self, name: Name<'a>) {
        let parameter = self.frame().parameter.filter(|(parameter, _)| parameter.text == name.text);
        let declared = self.around.globals.declared(name.text);
        let (what, span) = match (parameter, declared) {
            (Some((parameter, _)), _) => ("the thread's number", parameter.span),
            (None, Some((global, span))) => (global.describe(), span),
            (None, None) => return,
        };
        let message = format!("`{}` is {what} and cannot be assigned to", name.text);
        let error = Diagnostic::error("bad-assignment", message, name.span).also(span, "declared here");
        self.around.sink.error(error.help("use a register: `let r = …;`"));
    }

    fn evaluate(&mut self, expression: &'a Expr<'a>) {
        match &expression.kind {
            ExprKind::Call(name, arguments) => self.call(*name, arguments, None, expression.span),
            ExprKind::ReadModifyWrite(form, cell, operands) => {
                self.read_modify_write(*form, cell, operands, None, expression.span);
            }
            _ => {
                self.value(expression);
            }
        }
    }

    fn if_statement(&mut self, arms: &'a [(Expr<'a>, Block<'a>)], otherwise: Option<&'a Block<'a>>, span: Span) {
        let join = self.graph.node();
        let mut ruled_out = 0;
        for (condition, block) in arms {
            let (yes, no) = (self.graph.node(), self.graph.node());
            self.branch(condition, yes, no);
            self.guarded_block(block, yes, join, span);
            self.here = self.graph.reached(no);
            if self.here.is_none() {
                ruled_out += 1;
                self.ruled_out += 1;
            }
        }
        if let Some(block) = otherwise {
            self.block(block);
        }
        self.ruled_out -= ruled_out;
        self.pass_to(join, span);
        self.here = self.graph.reached(join);
    }

    /// Lowers a block that begins at `start`, which a constant condition may have ruled out.
    pub(super) fn guarded_block(&mut self, block: &'a Block<'a>, start: Node, then: Node, span: Span) {
        self.here = self.graph.reached(start);
        let ruled_out = usize::from(self.here.is_none());
        self.ruled_out += ruled_out;
        self.block(block);
        self.ruled_out -= ruled_out;
        self.pass_to(then, span);
    }

    fn while_statement(&mut self, condition: &'a Expr<'a>, body: &'a Block<'a>, span: Span) {
        let (head, start, exit) = (self.graph.node(), self.graph.node(), self.graph.node());
        self.here();
        self.pass_to(head, span);
        self.here = Some(head);
        self.graph.begin(head, Span { end: condition.span.end, ..span });
        self.branch(condition, start, exit);
        self.frame().loops.push((head, exit));
        self.guarded_block(body, start, head, span);
        self.frame().loops.pop();
        self.here = self.graph.reached(exit);
    }

    fn loop_statement(&mut self, body: &'a Block<'a>, span: Span) {
        let (head, exit) = (self.graph.node(), self.graph.node());
        self.here();
        self.pass_to(head, span);
        self.graph.data(head).loop_head = Some(span);
        self.here = Some(head);
        self.frame().loops.push((head, exit));
        self.block(body);
        self.pass_to(head, span);
        self.frame().loops.pop();
        self.here = self.graph.reached(exit);
    }

    fn leave_loop(&mut self, span: Span, target: impl FnOnce((Node, Node)) -> Node) {
        // Outside of a loop it is an error that the checks reported.
        if let Some(&open) = self.frame().loops.last() {
            self.pass_to(target(open), span);
        }
    }

    fn label(&mut self, name: Name<'a>) {
        let frame = self.frame();
        let Some(&node) = frame.facts.label(name.text).and_then(|at| frame.label_nodes.get(at)) else { return };
        self.pass_to(node, name.span);
        self.here = Some(node);
    }

    /// The node that a jump leads to; without one, which the checks reported, control ends.
    fn label_node(&mut self, name: Name<'a>) -> Option<Node> {
        let frame = self.frame();
        let at = frame.facts.label(name.text)?;
        let node = frame.label_nodes.get(at).copied();
        let declared = frame.facts.labels[at].span;
        self.around.used.labels.insert(declared);
        node
    }

    fn choose(&mut self, branches: &'a [Block<'a>], span: Span) {
        let (choice, join) = (self.here(), self.graph.node());
        for branch in branches {
            let start = self.graph.node();
            self.graph.silent(choice, start, branch.span);
            self.here = Some(start);
            self.block(branch);
            self.pass_to(join, span);
        }
        self.here = self.graph.reached(join);
    }

    fn spawn(&mut self, name: Name<'a>, span: Span) {
        let globals = self.around.globals;
        let Some(Global::Thread(at)) = globals.get(name.text) else {
            let known = || globals.names(|global| matches!(global, Global::Thread(_)));
            let declare = format!("declare it: `thread {}[0] {{ … }}`", name.text);
            report_unknown(self.around.sink, "thread", name, known, &declare);
            return;
        };
        // The list is shorter than the names only when headers were in error.
        let Some(family) = globals.families.get(at) else { return };
        if let Copies::Instances(_) = family.copies {
            let message = format!("`{}` is several threads, so it is ambiguous which one to start", name.text);
            let error = Diagnostic::error("spawn-replicated", message, name.span)
                .also(family.declaration.span, "declared here");
            self.around.sink.error(error.help("declare a thread with `[0]` and the same body, and spawn that"));
            return;
        }
        self.step(Instruction::Spawn(family.first), span);
    }

    fn return_statement(&mut self, value: Option<&'a Expr<'a>>, span: Span) {
        match (self.frame().returns, value) {
            (Returns::Nowhere, _) => {}
            (Returns::Inline { exit, result: Some(result) }, Some(value)) => {
                self.into(result, value, span);
                self.pass_to(exit, span);
            }
            (Returns::Inline { exit, result: Some(result) }, None) => {
                self.step_to(Instruction::Assign { register: result, value: RegExpr::Const(0) }, exit, span);
            }
            (Returns::Inline { exit, result: None }, value) => {
                // Nobody wants the value, but its loads and calls happen.
                if let Some(value) = value {
                    self.value(value);
                }
                self.pass_to(exit, span);
            }
            (Returns::Instruction, value) => {
                let value = value.map_or(RegExpr::Const(0), |value| self.value(value));
                self.step_to(Instruction::Return(value), self.end, span);
            }
        }
    }
}

/// The keyword at the start of a statement.
fn keyword(statement: Span, keyword: &str) -> Span {
    Span { start: statement.start, end: statement.start + keyword.len() as u32 }
}

/// Where an expression mentions a name.
fn mention(expression: &Expr, wanted: &str) -> Option<Span> {
    match &expression.kind {
        ExprKind::Name(name) => (name.text == wanted).then_some(name.span),
        ExprKind::Unary(_, inner)
        | ExprKind::Memory(inner)
        | ExprKind::Index(_, inner)
        | ExprKind::AddressOf(_, Some(inner)) => mention(inner, wanted),
        ExprKind::Binary(_, left, right) => mention(left, wanted).or_else(|| mention(right, wanted)),
        ExprKind::Call(_, inner) => inner.iter().find_map(|inner| mention(inner, wanted)),
        ExprKind::ReadModifyWrite(_, cell, inner) => {
            mention(cell, wanted).or_else(|| inner.iter().find_map(|inner| mention(inner, wanted)))
        }
        _ => None,
    }
}

/// Whether it makes sense to write a fence right before the statement: not if it neither takes a step nor jumps.
fn may_follow_a_fence(statement: &StatementKind<'_>) -> bool {
    !matches!(statement, StatementKind::Label(_) | StatementKind::Block(_) | StatementKind::End | StatementKind::Fence)
}
