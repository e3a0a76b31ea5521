//! Where fences could stand.

use weir_ir::flow::{EnteredLocation, entered_locations};
use weir_ir::{LocId, Program, ThreadId};

use super::Place;

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

/// Every location of every thread that control can enter, by threads and locations. A fence there comes after whatever
/// leads there.
pub fn at_locations(program: &Program) -> Vec<AtLocation> {
    let place = |EnteredLocation { thread, location, by }| {
        let after = by.into_iter().map(|edge| (thread, edge)).collect();
        AtLocation { thread, location, place: Place { after, cost: 1 } }
    };
    entered_locations(program).into_iter().map(place).collect()
}
