//! Calls. A procedure that cannot reach a call of itself is inlined: lowered afresh at each call, with
//! registers of its own. Only recursive procedures, and those declared `noinline`, remain procedures.

use weir_ir::flow::strongly_connected_components;
use weir_ir::{Diagnostic, Instruction, ProcId, RegExpr, RegId, Span};

use super::super::ast::{Expr, Name, ProcDecl};
use super::super::sink::Sink;
use super::builder::{Builder, Returns};
use super::constants::mark;
use super::inlined_size;
use super::name_errors::report_unknown;
use super::names::{Global, Globals, ProcInfo};

/// Something that looks like a call but is not one.
const OPERATIONS: [&str; 8] =
    ["cas", "cmpxchg", "xchg", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];

impl<'c, 'a> Builder<'c, 'a> {
    /// Runs a procedure; what it returns goes to `result`, if that is wanted.
    pub(super) fn call(&mut self, name: Name<'a>, arguments: &'a [Expr<'a>], result: Option<RegId>, span: Span) {
        let globals = self.around.globals;
        let Some(Global::Procedure(at)) = globals.get(name.text) else {
            let known = || {
                let mut known = globals.names(|global| matches!(global, Global::Procedure(_)));
                known.extend(OPERATIONS);
                known
            };
            let declare = format!("declare it: `proc {}(…) {{ … }}`", name.text);
            report_unknown(self.around.sink, "procedure", name, known, &declare);
            return;
        };
        mark(&mut self.around.used.procedures, at);
        let Some(procedure) = globals.procedures.get(at) else { return };
        if !self.fits(procedure, name, arguments, result.is_some()) {
            arguments.iter().for_each(|argument| {
                self.value(argument);
            });
        } else if let Some(procedure) = procedure.kept {
            let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
            self.step(Instruction::Call { procedure, arguments, register: result }, span);
        } else if !procedure.stays {
            self.inline(procedure, arguments, result, span);
        }
    }

    /// Whether a call suits the procedure.
    fn fits(&mut self, procedure: &ProcInfo, name: Name, arguments: &[Expr], wanted: bool) -> bool {
        let declaration = procedure.declaration;
        let (takes, given) = (declaration.parameters.len(), arguments.len());
        if takes != given {
            let plural = if takes == 1 { "" } else { "s" };
            let message = format!("`{}` takes {takes} argument{plural}, not {given}", name.text);
            let error = Diagnostic::error("wrong-arity", message, name.span).also(declaration.span, "declared here");
            self.around.sink.error(error);
            return false;
        }
        if wanted && procedure.facts.returns_value.is_none() {
            let message = format!("`{}` returns no value", name.text);
            let error = Diagnostic::error("no-result", message, name.span).also(declaration.span, "declared here");
            self.around.sink.error(error.help("end it with `return e;`, or make the call a statement of its own"));
            return false;
        }
        true
    }

    /// Lowers a procedure's body in place of a call: one step for each argument, one for the result.
    fn inline(&mut self, procedure: &'c ProcInfo<'a>, arguments: &'a [Expr<'a>], result: Option<RegId>, span: Span) {
        if self.enter(span) {
            self.lower_inline(procedure, arguments, result);
        }
        self.leave();
    }

    fn lower_inline(&mut self, procedure: &'c ProcInfo<'a>, arguments: &'a [Expr<'a>], result: Option<RegId>) {
        let declaration = procedure.declaration;
        let exit = self.graph.node();
        self.open_frame(Some(declaration.name.text), &procedure.facts, Returns::Inline { exit, result });
        let parameters: Vec<_> = declaration.parameters.iter().map(|&parameter| self.declare(parameter)).collect();
        // Arguments are computed by the caller: its names count.
        let frame = self.frames.pop();
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            if let Some(register) = parameter {
                self.into(register, argument, argument.span);
            }
        }
        self.frames.extend(frame);
        self.block(&declaration.body);
        let close = declaration.body.close();
        if let (Some(_), Some(register)) = (self.here, result) {
            self.step(Instruction::Assign { register, value: RegExpr::Const(0) }, close);
            warn_of_missing_return(declaration, self.around.sink);
        }
        self.pass_to(exit, close);
        self.frames.pop();
        self.here = self.graph.reached(exit);
    }
}

/// Warns that the end of a procedure can be reached, though it is called for what it returns.
fn warn_of_missing_return(declaration: &ProcDecl, sink: &mut Sink) {
    let message = format!("`{}` can end without `return`, and then returns 0", declaration.name.text);
    let warning = Diagnostic::warning("missing-return", message, declaration.body.close());
    sink.warning(warning.also(declaration.span, "declared here").help("end it with `return 0;` if that is intended"));
}

/// Finds out which procedures are recursive, and what that and their locking forbid.
pub(super) fn classify(globals: &mut Globals, sink: &mut Sink) {
    let callees: Vec<Vec<usize>> =
        globals.procedures.iter().map(|procedure| called(globals, &procedure.facts.calls)).collect();
    let groups = strongly_connected_components(&callees);
    let mut locking: Vec<Option<Span>> = globals.procedures.iter().map(|procedure| procedure.facts.locking).collect();
    for group in &groups {
        let recursive = group.len() > 1 || callees[group[0]].contains(&group[0]);
        let everywhere = group.iter().chain(group.iter().flat_map(|&member| &callees[member]));
        let found = everywhere.filter_map(|&procedure| locking[procedure]).min();
        for &member in group {
            globals.procedures[member].stays = recursive || globals.procedures[member].declaration.noinline;
            locking[member] = locking[member].or(found);
        }
    }
    inlined_size::measure(globals, &groups);
    keep_procedures(globals, &callees);
    refuse_nested_locks(globals, &locking, sink);
}

/// The procedures behind calls.
fn called(globals: &Globals, calls: &[(Name, bool)]) -> Vec<usize> {
    let procedure = |name: &Name| match globals.get(name.text) {
        Some(Global::Procedure(at)) => Some(at),
        _ => None,
    };
    let mut all: Vec<usize> = calls.iter().filter_map(|(name, _)| procedure(name)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Gives the procedures that stay, and that threads can reach, a place in the program.
fn keep_procedures(globals: &mut Globals, callees: &[Vec<usize>]) {
    let mut open: Vec<usize> = globals.thread_facts.iter().flat_map(|facts| called(globals, &facts.calls)).collect();
    let mut reached = vec![false; callees.len()];
    while let Some(procedure) = open.pop() {
        if !std::mem::replace(&mut reached[procedure], true) {
            open.extend(&callees[procedure]);
        }
    }
    let mut kept = 0;
    for (procedure, reached) in globals.procedures.iter_mut().zip(reached) {
        if procedure.stays && reached {
            procedure.kept = Some(ProcId::new(kept));
            kept += 1;
        }
    }
}

/// Inside `atomic` the lock is held: nothing that is called there may lock, unlock or end the thread.
fn refuse_nested_locks(globals: &Globals, locking: &[Option<Span>], sink: &mut Sink) {
    let procedures = globals.procedures.iter().map(|procedure| &procedure.facts);
    for (name, inside) in procedures.chain(&globals.thread_facts).flat_map(|facts| &facts.calls) {
        let Some(Global::Procedure(at)) = globals.get(name.text) else { continue };
        if let (true, Some(span)) = (inside, locking[at]) {
            let message = format!("`{}` uses the lock, which the enclosing `atomic` block already holds", name.text);
            let error = Diagnostic::error("nested-lock", message, name.span).also(span, "here");
            sink.error(error.help("call it outside the block"));
        }
    }
}
