//! What can follow what.

/// A finite relation and its closure.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// For each element, whether each other can be reached from it. Every element reaches itself.
    reaches: Vec<Vec<bool>>,
}

impl Relation {
    /// From the direct successors of each element.
    pub(super) fn new(next: &[Vec<usize>]) -> Self {
        let from = |start: usize| {
            let mut reached = vec![false; next.len()];
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut reached[at], true) {
                    open.extend(next[at].iter().copied().filter(|&to| !reached[to]));
                }
            }
            reached
        };
        Self { reaches: (0..next.len()).map(from).collect() }
    }

    /// Everything that can follow an element, itself included.
    pub(super) fn from(&self, start: usize) -> impl Iterator<Item = usize> + '_ {
        self.reaches[start].iter().enumerate().filter(|(_, reached)| **reached).map(|(at, _)| at)
    }

    /// Whether an element is in a bottom strongly connected component: it can be reached from all that follow it.
    pub(super) fn is_at_the_bottom(&self, element: usize) -> bool {
        self.from(element).all(|after| self.reaches[after][element])
    }

    /// All elements, each after those that follow it and that it does not follow.
    pub(super) fn backward_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.reaches.len()).collect();
        // What follows an element without return can reach less than it.
        order.sort_by_key(|&element| self.from(element).count());
        order
    }
}
