//! A queue of locations for analyses that run until nothing changes.

use crate::ids::LocId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Locations to look at again, each at most once, those of lowest rank first.
#[derive(Clone, Debug)]
pub(crate) struct Worklist {
    heap: BinaryHeap<(Reverse<u32>, LocId)>,
    queued: Vec<bool>,
    rank: Vec<u32>,
}

impl Worklist {
    /// An empty queue. Locations come in the order given; any that it leaves out come last.
    pub(crate) fn new(count: usize, order: impl IntoIterator<Item = LocId>) -> Self {
        let mut rank = vec![u32::MAX; count];
        for (at, loc) in (0..).zip(order) {
            rank[loc.index()] = at;
        }
        Self { heap: BinaryHeap::new(), queued: vec![false; count], rank }
    }

    /// The place of a location in the order.
    pub(crate) fn rank(&self, loc: LocId) -> u32 {
        self.rank[loc.index()]
    }

    /// Asks for a location to be looked at.
    pub(crate) fn push(&mut self, loc: LocId) {
        if !std::mem::replace(&mut self.queued[loc.index()], true) {
            self.heap.push((Reverse(self.rank(loc)), loc));
        }
    }

    /// The next location to look at.
    pub(crate) fn pop(&mut self) -> Option<LocId> {
        let (_, loc) = self.heap.pop()?;
        self.queued[loc.index()] = false;
        Some(loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_rank_comes_first_and_only_once() {
        let mut worklist = Worklist::new(3, [LocId(2), LocId(0)]);
        for loc in [0, 1, 2, 0] {
            worklist.push(LocId(loc));
        }
        let popped: Vec<u32> = std::iter::from_fn(|| worklist.pop()).map(|loc| loc.0).collect();
        assert_eq!(popped, [2, 0, 1]);
        worklist.push(LocId(0));
        assert_eq!(worklist.pop(), Some(LocId(0)));
    }
}
