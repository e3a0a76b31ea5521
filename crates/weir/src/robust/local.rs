//! Steps that nobody else can notice, taken first.
//!
//! An assignment, a test of registers, a choice, under SC also a fence: such a step neither touches memory nor the lock, so it can be
//! moved before whatever the other threads do. Where a location has only such edges, the thread may as well go on at once, and
//! no other thread needs to be considered until it has.
//!
//! Two traps. Threads that wait for ever at a test must not hold the others up: a thread is favoured only while it can move. And
//! a cycle of local steps would starve the others: locations on such a cycle are not favoured.

use weir_ir::{Body, Instruction};

/// Whether the step is invisible to all other threads, also as to when it happens, under SC.
fn is_local(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Skip
        | Instruction::Assign { .. }
        | Instruction::Assume(_)
        | Instruction::Assert(_)
        | Instruction::Havoc { .. }
        | Instruction::Terminate
        | Instruction::Fence => true,
        Instruction::Load { .. }
        | Instruction::Snapshot(_)
        | Instruction::Store { .. }
        | Instruction::ReadModifyWrite { .. }
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::Call { .. }
        | Instruction::Return(_)
        | Instruction::Spawn(_) => false,
    }
}

/// For each location of the body, whether a thread there may go on before all others are considered.
pub(super) fn favoured(body: &Body) -> Vec<bool> {
    let mut favoured: Vec<bool> = body
        .location_ids()
        .map(|loc| {
            let mut edges = body.edges_from(loc);
            edges.len() > 0 && edges.all(|(_, edge)| is_local(&edge.instruction))
        })
        .collect();
    // What remains when locations from which the favoured ones are left are taken away one after another, lies on a cycle or
    // leads into one.
    let mut pending: Vec<usize> = vec![0; favoured.len()];
    let mut incoming = vec![Vec::new(); favoured.len()];
    for edge in body.edges().iter().filter(|edge| favoured[edge.from.index()]) {
        if favoured[edge.to.index()] {
            pending[edge.from.index()] += 1;
            incoming[edge.to.index()].push(edge.from.index());
        }
    }
    let mut free: Vec<usize> = (0..favoured.len()).filter(|&loc| favoured[loc] && pending[loc] == 0).collect();
    let mut acyclic = vec![false; favoured.len()];
    while let Some(loc) = free.pop() {
        acyclic[loc] = true;
        for &before in &incoming[loc] {
            pending[before] -= 1;
            if pending[before] == 0 {
                free.push(before);
            }
        }
    }
    favoured.iter_mut().zip(acyclic).for_each(|(favoured, acyclic)| *favoured &= acyclic);
    favoured
}
