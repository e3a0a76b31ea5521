//! Programs of which it is plain that store buffers change nothing.
//!
//! TSO lets a store wait while its own thread loads something else, and nothing more. A thread that nobody runs beside
//! sees its own stores anyway. And if control flow allows no load behind a store, before a fence or another instruction
//! that waits for an empty buffer, then there is no attack, and the program is robust ("Checking and Enforcing
//! Robustness against TSO"): it reaches the same drained states as under SC. Here control flow follows calls into
//! procedures, and returns to every place from which the procedure is called, which may only add paths.
//!
//! A robust program can have deadlocks that it does not have under SC (a store may wait for a lock forever); so
//! these are only decided if there is one thread, or if there is no store at all.

use weir_ir::{Body, Edge, Instruction, LocId, Program, PropertyKind};
use weir_witness::{Action, Goal, Step};

/// Whether these goals are reached under TSO if and only if they are under SC.
pub(super) fn change_nothing(linked: &Program, goals: &[Goal]) -> bool {
    let bodies: Vec<&Body> = linked.running_threads().map(|thread| linked.body(thread)).collect();
    let stores = |body: &&Body| body.edges().iter().any(|edge| edge.instruction.is_store());
    if bodies.len() == 1 || !bodies.iter().any(stores) {
        return true;
    }
    let is_deadlock = |goal: &Goal| match goal {
        Goal::Property(property) => {
            linked.properties.get(property.index()).is_some_and(|one| one.kind == PropertyKind::ForbidDeadlock)
        }
        Goal::Assertion(_) | Goal::NotRobust => false,
    };
    !goals.iter().any(is_deadlock) && !bodies.iter().any(|body| loads_behind_store(body))
}

/// Whether control flow leads from a store to a load, past nothing that waits for an empty buffer.
fn loads_behind_store(body: &Body) -> bool {
    let mut seen = vec![false; body.locations.len()];
    let mut open: Vec<LocId> =
        body.edges().iter().filter(|edge| edge.instruction.is_store()).map(|edge| edge.to).collect();
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        for (_, edge) in body.edges_from(at) {
            if edge.instruction.is_load() {
                return true;
            }
            if !edge.instruction.drains() {
                open.extend(follow(body, edge));
            }
        }
    }
    false
}

/// Where control may be after a step.
fn follow(body: &Body, edge: &Edge) -> Vec<LocId> {
    match edge.instruction {
        Instruction::Call { procedure, .. } => {
            body.frames.get(procedure.index()).and_then(Option::as_ref).map(|frame| frame.entry).into_iter().collect()
        }
        Instruction::Return(_) => {
            let calls = body.edges().iter().filter(|call| matches!(call.instruction, Instruction::Call { .. }));
            calls.map(|call| call.to).collect()
        }
        _ => vec![edge.to],
    }
}

/// The steps under TSO: every store reaches memory at once.
pub(super) fn flushed(linked: &Program, steps: Vec<Step>) -> Vec<Step> {
    let mut flushed = Vec::with_capacity(steps.len());
    for step in steps {
        flushed.push(step);
        if let Action::Execute { edge, .. } = step.action
            && linked.body(step.thread).edge(edge).instruction.is_store()
        {
            flushed.push(Step { action: Action::Flush, ..step });
        }
    }
    flushed
}
