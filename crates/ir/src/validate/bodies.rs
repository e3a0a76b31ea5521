//! Bodies of threads and procedures: what their instructions name must exist, and what instructions
//! promise about control flow must hold.

use std::collections::BTreeSet;

use super::{check_range, is_too_deep, too_deep, unique};
use crate::diagnostic::Diagnostic;
use crate::gather::Gather;
use crate::ids::{LocId, RegId};
use crate::program::{Body, Edge, Instruction, Program};
use crate::span::Span;

/// Checks every body. Bodies with edges to nowhere are not looked at further.
pub(super) fn check_bodies(program: &Program, errors: &mut Vec<Diagnostic>) {
    for thread in &program.threads {
        let owner = Owner { program, name: format!("thread `{}`", thread.name), is_procedure: false };
        owner.check(&thread.body, thread.span, errors);
    }
    for procedure in &program.procedures {
        let owner = Owner { program, name: format!("procedure `{}`", procedure.name), is_procedure: true };
        owner.check(&procedure.body, procedure.span, errors);
        check_parameters(&procedure.parameters, &procedure.body, &owner.name, procedure.span, errors);
    }
}

fn check_parameters(parameters: &[RegId], body: &Body, name: &str, span: Span, errors: &mut Vec<Diagnostic>) {
    if parameters.iter().any(|parameter| parameter.index() >= body.registers.len()) {
        let message = format!("{name} has a parameter that is not one of its registers");
        errors.push(Diagnostic::error("unknown-register", message, span));
    }
    if body.thread_locals().any(|register| parameters.contains(&register)) {
        let message = format!("{name} has a parameter that is a thread-local variable");
        errors.push(Diagnostic::error("thread-local-parameter", message, span));
    }
    let mut sorted = parameters.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        let message = format!("{name} has the same parameter twice");
        errors.push(Diagnostic::error("duplicate-name", message, span));
    }
}

/// Whose body it is.
struct Owner<'p> {
    program: &'p Program,
    name: String,
    is_procedure: bool,
}

impl Owner<'_> {
    fn check(&self, body: &Body, span: Span, errors: &mut Vec<Diagnostic>) {
        let exists = |loc: LocId| loc.index() < body.locations.len();
        let joined = body.edges().iter().all(|edge| exists(edge.from) && exists(edge.to));
        if !(joined && exists(body.entry) && body.failed.is_none_or(exists)) {
            let message = format!("the control flow of {} leads to a location that does not exist", self.name);
            return errors.push(Diagnostic::error("unknown-location", message, span));
        }
        unique(
            &format!("registers of {}", self.name),
            body.registers.iter().map(|register| (register.name.as_str(), register.span)),
            errors,
        );
        self.check_failed(body, span, errors);
        for edge in body.edges() {
            self.check_registers(body, edge, errors);
            self.check_instruction(body, edge, errors);
        }
    }

    fn check_failed(&self, body: &Body, span: Span, errors: &mut Vec<Diagnostic>) {
        let Some(failed) = body.failed else { return };
        if body.edges_from(failed).len() > 0 || failed == body.entry {
            let what = if failed == body.entry { "starts at" } else { "continues from" };
            let message = format!("{} {what} the location of failed assertions", self.name);
            errors.push(Diagnostic::error("failed-location", message, span));
        }
    }

    /// Registers and expressions of any instruction.
    fn check_registers(&self, body: &Body, edge: &Edge, errors: &mut Vec<Diagnostic>) {
        let mut deep = false;
        edge.instruction.for_each_operand(&mut |operand| deep |= is_too_deep(operand));
        if deep {
            return errors.push(too_deep(edge.span));
        }
        let exists = |register: RegId| register.index() < body.registers.len();
        let mut known = edge.instruction.defines().all(exists);
        edge.instruction.uses(&mut |register| known &= exists(register));
        if !known {
            let message = format!("{} uses a register that does not exist", self.name);
            errors.push(Diagnostic::error("unknown-register", message, edge.span));
        }
    }

    fn check_instruction(&self, body: &Body, edge: &Edge, errors: &mut Vec<Diagnostic>) {
        let error = |code, message: String| Diagnostic::error(code, message, edge.span);
        match &edge.instruction {
            Instruction::Assert(_) if body.failed.is_none() => {
                let message = format!("{} asserts, but has no location for failed assertions", self.name);
                errors.push(error("failed-location", message));
            }
            Instruction::Snapshot(loads) => {
                let registers: BTreeSet<RegId> = loads.iter().map(|(register, _)| *register).gather();
                if loads.len() < 2 || registers.len() < loads.len() {
                    let message = format!(
                        "{} has a snapshot that does not load several cells into distinct registers",
                        self.name
                    );
                    errors.push(error("snapshot", message));
                }
            }
            Instruction::Await { loads, .. } => {
                let registers: BTreeSet<RegId> = loads.iter().map(|(register, _)| *register).gather();
                if loads.is_empty() || registers.len() < loads.len() {
                    let message = format!("{} has an await that does not load into distinct registers", self.name);
                    errors.push(error("await", message));
                }
            }
            Instruction::Havoc { range, .. } => check_range(*range, edge.span, errors),
            Instruction::Call { procedure, arguments, .. } => {
                errors
                    .extend(self.wrong_call(procedure.index(), arguments.len()).map(|(code, text)| error(code, text)));
            }
            Instruction::Return(_) if !self.is_procedure => {
                let message = format!("{} returns, but is not a procedure", self.name);
                errors.push(error("return-outside", message).help("`terminate` ends a thread"));
            }
            Instruction::Return(_) | Instruction::Terminate if !body.is_done(edge.to) => {
                let message = format!("{} continues after an instruction that ends it", self.name);
                errors.push(error("end-goes-on", message));
            }
            Instruction::Spawn(thread) if thread.index() >= self.program.threads.len() => {
                let message = format!("{} spawns thread number {}, which does not exist", self.name, thread.0);
                errors.push(error("unknown-thread", message));
            }
            _ => {}
        }
    }

    /// What is wrong with a call of this procedure with so many arguments.
    fn wrong_call(&self, procedure: usize, arguments: usize) -> Option<(&'static str, String)> {
        let Some(procedure) = self.program.procedures.get(procedure) else {
            let message = format!("{} calls procedure number {procedure}, which does not exist", self.name);
            return Some(("unknown-procedure", message));
        };
        let (name, wanted) = (&procedure.name, procedure.parameters.len());
        let message = || format!("`{name}` takes {}, but is called with {arguments}", counted(wanted));
        (wanted != arguments).then(|| ("argument-count", message()))
    }
}

fn counted(arguments: usize) -> String {
    if arguments == 1 { "1 argument".into() } else { format!("{arguments} arguments") }
}
