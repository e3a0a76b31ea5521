//! Where stores of a process may still be in its buffer.

use std::collections::HashSet;

use weir_ir::{Body, Instruction, LocId};

/// The places at which the buffer may hold something.
pub(super) fn places(body: &Body) -> HashSet<LocId> {
    let stores = body.edges().iter().filter(|edge| matches!(edge.instruction, Instruction::Store { .. }));
    let mut open: Vec<LocId> = stores.map(|edge| edge.to).collect();
    let mut pending = HashSet::new();
    while let Some(loc) = open.pop() {
        if !pending.insert(loc) {
            continue;
        }
        for (_, edge) in body.edges_from(loc) {
            let flushes = matches!(
                edge.instruction,
                Instruction::Fence | Instruction::ReadModifyWrite { .. } | Instruction::Lock | Instruction::Unlock
            );
            if !flushes {
                open.push(edge.to);
            }
        }
    }
    pending
}
