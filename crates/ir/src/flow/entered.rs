//! Locations that control can enter: a fence there comes after whatever leads there.

use crate::ids::{EdgeId, LocId, ThreadId};
use crate::program::{Instruction, Program};

/// A location of a thread that runs from the start, and the edges that lead there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnteredLocation {
    /// Whose.
    pub thread: ThreadId,
    /// Where.
    pub location: LocId,
    /// What leads there; not empty.
    pub by: Vec<EdgeId>,
}

/// Every location that some edge leads to and where something other than a fence follows, by threads and locations.
pub fn entered_locations(program: &Program) -> Vec<EnteredLocation> {
    let mut found = Vec::new();
    for thread in program.initial_threads() {
        let body = program.body(thread);
        let mut entering: Vec<Vec<EdgeId>> = vec![Vec::new(); body.locations.len()];
        for (index, edge) in body.edges().iter().enumerate() {
            entering[edge.to.index()].push(EdgeId::new(index));
        }
        for location in body.location_ids() {
            let is_useful = body.edges_from(location).any(|(_, edge)| edge.instruction != Instruction::Fence);
            let by = std::mem::take(&mut entering[location.index()]);
            if is_useful && !by.is_empty() {
                found.push(EnteredLocation { thread, location, by });
            }
        }
    }
    found
}
