//! Where fences could stand.

use weir_ir::{EdgeId, Instruction, LocId, Program, ThreadId};

use super::Place;
use crate::semantics::compile::present;

/// A place before the instructions at one location of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtLocation {
    /// Whose.
    pub thread: ThreadId,
    /// Where.
    pub location: LocId,
    /// The place, with a cost of 1.
    pub place: Place,
}

/// Every location of every thread that control can enter, by threads and locations. A fence there comes after whatever leads there.
pub fn at_locations(program: &Program) -> Vec<AtLocation> {
    present(program)
        .flat_map(|thread| {
            let body = program.body(thread);
            let mut entering: Vec<Vec<EdgeId>> = vec![Vec::new(); body.locations.len()];
            for (index, edge) in body.edges().iter().enumerate() {
                entering[edge.to.index()].push(EdgeId::new(index));
            }
            let useful = |loc: &LocId| body.edges_from(*loc).any(|(_, edge)| edge.instruction != Instruction::Fence);
            let locations = body.location_ids().filter(useful).collect::<Vec<_>>().into_iter();
            locations
                .map(move |location| {
                    let after = entering[location.index()].iter().map(|&edge| (thread, edge)).collect();
                    AtLocation { thread, location, place: Place { after, cost: 1 } }
                })
                .filter(|at| !at.place.after.is_empty())
                .collect::<Vec<_>>()
        })
        .collect()
}
