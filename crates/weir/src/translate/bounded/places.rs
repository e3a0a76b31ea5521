//! Where a round may end.
//!
//! Ending a round after a local step that no property can notice makes no difference: the thread can take that step in
//! its next round as well, or leave it out if it has none. So a round may end at the start, where a step leads that
//! others or a property can notice, and where the thread has nothing more to do.

use weir_ir::flow::{observed_registers, targets};
use weir_ir::{Body, Edge, Instruction, LocId, Program, PropertyKind, StateAtom, ThreadId};

use super::Owner;

/// For each location of a body, whether a round may end there.
pub(super) fn pausing_places(program: &Program, owner: Owner, body: &Body) -> Vec<bool> {
    // In a procedure a thread is at no place that a property can ask about.
    let (observed, sets) = match owner {
        Owner::Thread(thread) => (observed_registers(program, thread), observed_places(program, thread)),
        Owner::Procedure(_) => (body.thread_locals().collect(), Vec::new()),
    };
    let is_seen = |edge: &Edge, to: LocId| {
        !edge.instruction.is_local()
            || matches!(edge.instruction, Instruction::Assert(_) | Instruction::Call { .. })
            || edge.instruction.defines().any(|register| observed.contains(register))
            || sets.iter().any(|set| set.contains(&edge.from) != set.contains(&to))
    };
    let mut pauses: Vec<bool> = body.location_ids().map(|loc| body.edges_from(loc).len() == 0).collect();
    pauses[body.entry.index()] = true;
    for edge in body.edges() {
        for to in targets(body, edge) {
            pauses[to.index()] |= is_seen(edge, to);
        }
    }
    pauses
}

/// The sets of locations that properties ask about.
fn observed_places(program: &Program, thread: ThreadId) -> Vec<Vec<LocId>> {
    let mut sets = Vec::new();
    let conditions = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Forbid(condition) | PropertyKind::Exists(condition) | PropertyKind::Always(condition) => {
            Some(condition)
        }
        PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => None,
    });
    for condition in conditions {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread: other, locations } if *other == thread => sets.push(locations.clone()),
            StateAtom::At { .. } | StateAtom::Register { .. } | StateAtom::Cell(_) => {}
        });
    }
    sets
}
