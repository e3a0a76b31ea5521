//! A queue of locations for analyses that run until nothing changes.

use crate::ids::LocId;

/// Locations to look at again, each at most once, those of lowest rank first.
#[derive(Clone, Debug)]
pub(crate) struct Worklist {
    /// One bit for each rank: whether the location of that rank is queued.
    queued: Vec<u64>,
    /// One bit for each word of these: whether it has a bit. So a queue with little in it is not read as a whole.
    occupied: Vec<u64>,
    rank: Vec<u32>,
    /// The location of each rank.
    order: Vec<LocId>,
}

impl Worklist {
    /// An empty queue. Locations come in the order given; any that it leaves out come last.
    pub(crate) fn new(count: usize, order: impl IntoIterator<Item = LocId>) -> Self {
        let mut order: Vec<LocId> = order.into_iter().collect();
        let mut is_listed = vec![false; count];
        order.iter().for_each(|loc| is_listed[loc.index()] = true);
        order.extend((0..count).map(LocId::new).filter(|loc| !is_listed[loc.index()]));
        let mut rank = vec![0; count];
        (0..).zip(&order).for_each(|(at, loc)| rank[loc.index()] = at);
        let words = count.div_ceil(64);
        Self { queued: vec![0; words], occupied: vec![0; words.div_ceil(64)], rank, order }
    }

    /// The place of a location in the order.
    pub(crate) fn rank(&self, loc: LocId) -> u32 {
        self.rank[loc.index()]
    }

    /// Asks for a location to be looked at.
    pub(crate) fn push(&mut self, loc: LocId) {
        let rank = self.rank(loc) as usize;
        self.queued[rank / 64] |= 1 << (rank % 64);
        self.occupied[rank / 4096] |= 1 << (rank / 64 % 64);
    }

    /// The next location to look at.
    pub(crate) fn pop(&mut self) -> Option<LocId> {
        let at = self.occupied.iter().position(|&word| word != 0)?;
        let word = at * 64 + self.occupied[at].trailing_zeros() as usize;
        let rank = word * 64 + self.queued[word].trailing_zeros() as usize;
        self.queued[word] &= self.queued[word] - 1;
        if self.queued[word] == 0 {
            self.occupied[at] &= self.occupied[at] - 1;
        }
        Some(self.order[rank])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::Random;

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

    /// Against a sorted set, with ranks far apart.
    #[test]
    fn it_behaves_like_a_set_that_is_sorted_by_rank() {
        let count = 20_000;
        let order = (0..count).map(|at| LocId::new(at * 7_919 % count));
        let mut worklist = Worklist::new(count, order);
        let mut expected = std::collections::BTreeMap::new();
        let mut random = Random(1);
        for _ in 0..10_000 {
            if random.below(3) > 0 {
                let loc = LocId::new(random.below(count));
                worklist.push(loc);
                expected.insert(worklist.rank(loc), loc);
            } else {
                assert_eq!(worklist.pop(), expected.pop_first().map(|(_, loc)| loc));
            }
        }
        let rest: Vec<LocId> = std::iter::from_fn(|| worklist.pop()).collect();
        assert_eq!(rest, expected.into_values().collect::<Vec<_>>());
    }
}
