//! Exchanges in place of fences in compiled code: a store that is an `xchg` empties the buffer, so that no fence has to
//! follow it.

use std::collections::BTreeSet;

use weir_ir::{Body, EdgeId, Gather, Instruction, LocId, Program, ThreadId};

use super::repairs::FencePlace;

/// The stores that make a fence unnecessary if they are exchanges: the last ones before it, on every way to it. One per
/// thread and store; none if the program is not compiled code.
pub(crate) fn exchanges(program: &Program, place: &FencePlace) -> Vec<(ThreadId, EdgeId)> {
    let mut found = Vec::new();
    for &thread in place.threads.keys() {
        let body = program.body(thread);
        let places: BTreeSet<LocId> =
            body.edges().iter().filter(|edge| edge.span.start == place.offset).map(|edge| edge.from).gather();
        // The instruction can be several steps; the fence comes before the first.
        let Some(&first) = places.first() else { return Vec::new() };
        let stores = last_stores(body, first);
        let is_compiled = |edge: &EdgeId| {
            let (origin, _) = program.source.origin(body.edge(*edge).span);
            !std::ptr::eq(origin, &program.source)
        };
        if stores.is_empty() || !stores.iter().all(is_compiled) {
            return Vec::new();
        }
        found.extend(stores.into_iter().map(|store| (thread, store)));
    }
    found
}

/// The last stores before a location. Behind everything else that empties the buffer, there are none.
fn last_stores(body: &Body, place: LocId) -> BTreeSet<EdgeId> {
    let mut stores = BTreeSet::new();
    let mut seen: BTreeSet<LocId> = [place].into();
    let mut work = vec![place];
    while let Some(at) = work.pop() {
        for (id, edge) in (0..).map(EdgeId).zip(body.edges()).filter(|(_, edge)| edge.to == at) {
            if matches!(edge.instruction, Instruction::Store { .. }) {
                stores.insert(id);
            } else if !edge.instruction.drains() && seen.insert(edge.from) {
                work.push(edge.from);
            }
        }
    }
    stores
}
