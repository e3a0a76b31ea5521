//! Makes a failing program small, so that a person can see why it fails.
//!
//! Greedy: of all programs that are one edit smaller, take the first that still fails, until none does. Every edit
//! lowers [`Size`], so this ends; the result is not the smallest that fails, but none of its edits fails.

mod edits;
mod expressions;
mod size;

use weir_ir::{Body, Instruction, Program};

use size::Size;

/// The smallest failing program that single edits lead to from `program`. The edits keep a program valid.
pub fn shrink(program: &Program, still_fails: impl Fn(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    while let Some(smaller) = smaller_failing(&smallest, &still_fails) {
        smallest = smaller;
    }
    smallest
}

fn smaller_failing(program: &Program, still_fails: &impl Fn(&Program) -> bool) -> Option<Program> {
    let size = Size::of(program);
    let is_better = |edited: &Program| Size::of(edited) < size && is_valid(edited) && still_fails(edited);
    edits::all(program).find(is_better)
}

pub(crate) fn is_valid(program: &Program) -> bool {
    !program.threads.is_empty() && program.threads.iter().all(|thread| is_valid_body(&thread.body))
}

/// Whether a thread that ends stays where it is, and assertions have somewhere to go.
fn is_valid_body(body: &Body) -> bool {
    let has_edges = |loc| body.edges_from(loc).len() > 0;
    let failed_is_last = body.failed.is_none_or(|failed| !has_edges(failed));
    let edge_is_valid = |edge: &weir_ir::Edge| match edge.instruction {
        Instruction::Terminate | Instruction::Return(_) => !has_edges(edge.to),
        Instruction::Assert(_) => body.failed.is_some(),
        _ => true,
    };
    let only_assertions_fail = body.edges().iter().all(|edge| Some(edge.to) != body.failed);
    failed_is_last && only_assertions_fail && body.edges().iter().all(edge_is_valid)
}

#[cfg(test)]
mod tests;
