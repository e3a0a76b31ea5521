//! What an export cannot express.

use weir_ir::{Diagnostic, Instruction, Multiplicity, Program, Span};

/// Something that the target cannot express, and a way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    message: String,
    help: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// As an error about this place.
    pub(crate) fn at(self, span: Span) -> Diagnostic {
        Diagnostic::error("not-exported", self.message, span).help(self.help)
    }
}

/// A warning that the export does not contain a part of the program.
pub(crate) fn left_out(message: impl Into<String>, help: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::warning("not-exported", message, span).help(help)
}

/// What to do about recursive procedures.
pub(crate) const UNROLL: &str = "replace the recursion by a loop, or unroll it for stacks of at most N calls, as `weir translate --pass unroll=N` does";

/// What to do about `spawn`.
pub(crate) const START: &str = "declare the thread so that it runs from the start, or fix how many there can be, as \
                                `weir translate --pass spawn=N` does";

/// Refuses threads and instructions that no export has: calls of recursive procedures, spawned threads, and arbitrarily
/// many threads.
pub(crate) fn unsupported_parts(program: &Program, target: &str) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    for thread in &program.threads {
        match thread.multiplicity {
            Multiplicity::Spawned => continue,
            Multiplicity::Arbitrary => {
                let message = format!("`thread {}[*]` cannot be exported to {target}", thread.name);
                refused.push(Refusal::new(message, "give a number of instances, such as `[2]`").at(thread.span));
            }
            Multiplicity::One => {}
        }
        for edge in thread.body.edges() {
            let (what, help) = match edge.instruction {
                Instruction::Call { .. } | Instruction::Return(_) => ("the call of a recursive procedure", UNROLL),
                Instruction::Spawn(_) => ("`spawn`", START),
                _ => continue,
            };
            refused.push(Refusal::new(format!("{what} cannot be exported to {target}"), help).at(edge.span));
        }
    }
    refused
}
