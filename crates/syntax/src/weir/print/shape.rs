//! Where each location of a body goes in structured text, after Ramsey's "Beyond Relooper" (ICFP 2022):
//! by the dominator tree, with loops for the edges that go back to a dominator.
//!
//! A location with one edge from before goes where that edge is; one where several meet goes after the
//! code of its immediate dominator; one that leaves loops goes after the outermost loop it leaves. Edges
//! that fit no such place (also all that make a graph irreducible) become jumps, so any graph will do.
//!
//! Locations are in reverse postorder, as [`super::prune`] leaves them: a dominator has the lower number.

use weir_ir::{Body, LocId};

use super::prune::goes_on;

/// The places of all locations but two: the last, which is at the end of the text, and the one for
/// failed assertions, which is not in the text.
pub(super) struct Shape {
    /// Goes where its only edge from before is.
    is_inline: Vec<bool>,
    /// Goes after the code of this location, in this order.
    behind: Vec<Vec<LocId>>,
    /// Goes after the loop of this location, in this order.
    after_loop: Vec<Vec<LocId>>,
    loops: Loops,
}

impl Shape {
    /// The shape of a body whose text ends at `last`.
    pub(super) fn new(body: &Body, last: Option<LocId>) -> Self {
        let graph = Graph::new(body);
        let dominators = graph.dominators();
        let loops = Loops::new(&graph, &dominators);
        let count = body.locations.len();
        let mut shape =
            Self { is_inline: vec![false; count], behind: vec![vec![]; count], after_loop: vec![vec![]; count], loops };
        let has_place = |loc: usize| ![last, body.failed].contains(&Some(LocId::new(loc)));
        for loc in (1..count).filter(|&loc| has_place(loc)) {
            if let Some(dominator) = dominators[loc] {
                shape.place(loc, dominator, &graph.predecessors[loc]);
            }
        }
        shape
    }

    fn place(&mut self, loc: usize, dominator: usize, predecessors: &[usize]) {
        let mut before = predecessors.iter().filter(|&&from| from < loc);
        if let Some(head) = self.loops.outermost_left(dominator, loc) {
            self.after_loop[head].push(LocId::new(loc));
        } else if before.next() == Some(&dominator) && before.next().is_none() {
            self.is_inline[loc] = true;
        } else {
            self.behind[dominator].push(LocId::new(loc));
        }
    }

    /// Whether the code of `to` goes where the edge from `from` is.
    pub(super) fn is_inline(&self, from: LocId, to: LocId) -> bool {
        from < to && self.is_inline[to.index()]
    }

    /// What goes after the code of a location.
    pub(super) fn behind(&self, loc: LocId) -> &[LocId] {
        &self.behind[loc.index()]
    }

    /// What goes after the loop of a location.
    pub(super) fn after_loop(&self, head: LocId) -> &[LocId] {
        &self.after_loop[head.index()]
    }

    /// Whether a location is where a loop starts.
    pub(super) fn is_head(&self, loc: LocId) -> bool {
        self.loops.innermost[loc.index()] == Some(loc.index())
    }

    /// Whether a location lies within the loop that starts at `head`.
    pub(super) fn is_within(&self, head: LocId, loc: LocId) -> bool {
        self.loops.contains(head.index(), loc.index())
    }
}

/// The edges along which control goes on.
struct Graph {
    predecessors: Vec<Vec<usize>>,
}

impl Graph {
    fn new(body: &Body) -> Self {
        let mut predecessors = vec![Vec::new(); body.locations.len()];
        for edge in body.edges() {
            if let Some(to) = goes_on(edge) {
                predecessors[to.index()].push(edge.from.index());
            }
        }
        Self { predecessors }
    }

    /// The immediate dominator of each location (Cooper, Harvey and Kennedy's iteration); none for the
    /// entry and for locations that nothing leads to.
    fn dominators(&self) -> Vec<Option<usize>> {
        let mut found: Vec<Option<usize>> = vec![None; self.predecessors.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for loc in 1..found.len() {
                let known = self.predecessors[loc].iter().copied().filter(|&from| from == 0 || found[from].is_some());
                let common = known.reduce(|left, right| common_dominator(&found, left, right));
                changed |= common != found[loc];
                found[loc] = common;
            }
        }
        found
    }
}

fn common_dominator(dominators: &[Option<usize>], mut left: usize, mut right: usize) -> usize {
    while left != right {
        let later = if left > right { &mut left } else { &mut right };
        *later = dominators[*later].unwrap_or(0);
    }
    left
}

/// The natural loops: for each edge back to a dominator, all that reaches it without passing there.
/// Loops of different heads are disjoint or nested.
struct Loops {
    /// The head of the innermost loop around each location; a head is in its own loop.
    innermost: Vec<Option<usize>>,
    /// For a head: the head of the next loop around its own.
    around: Vec<Option<usize>>,
    /// For a head: how many loops are around its own.
    depth: Vec<usize>,
}

impl Loops {
    fn new(graph: &Graph, dominators: &[Option<usize>]) -> Self {
        let count = dominators.len();
        let mut loops = Self { innermost: vec![None; count], around: vec![None; count], depth: vec![0; count] };
        let order = DominatorOrder::new(dominators);
        // Inner loops come first and are then treated as one location.
        let mut merged = Merged((0..count).collect());
        for head in (0..count).rev() {
            let back = graph.predecessors[head].iter().copied().filter(|&from| order.dominates(head, from));
            loops.collect(head, back.collect(), graph, &mut merged);
        }
        for head in 0..count {
            loops.depth[head] = loops.around[head].map_or(0, |around| loops.depth[around] + 1);
        }
        loops
    }

    fn collect(&mut self, head: usize, mut open: Vec<usize>, graph: &Graph, merged: &mut Merged) {
        if open.is_empty() {
            return;
        }
        self.innermost[head] = Some(head);
        while let Some(loc) = open.pop() {
            let loc = merged.head(loc);
            if loc == head {
                continue;
            }
            match self.innermost[loc] {
                Some(_) => self.around[loc] = Some(head),
                None => self.innermost[loc] = Some(head),
            }
            merged.0[loc] = head;
            open.extend(&graph.predecessors[loc]);
        }
    }

    fn contains(&self, head: usize, loc: usize) -> bool {
        let mut at = self.innermost[loc];
        while let Some(inner) = at.filter(|&inner| self.depth[inner] > self.depth[head]) {
            at = self.around[inner];
        }
        at == Some(head)
    }

    /// The outermost loop that control leaves on the way from `from` to `to`.
    fn outermost_left(&self, from: usize, to: usize) -> Option<usize> {
        let mut left = None;
        let mut at = self.innermost[from];
        while let Some(head) = at.filter(|&head| !self.contains(head, to)) {
            left = Some(head);
            at = self.around[head];
        }
        left
    }
}

/// Each location leads to the head it was merged into, itself if none.
struct Merged(Vec<usize>);

impl Merged {
    fn head(&mut self, loc: usize) -> usize {
        let mut at = loc;
        while self.0[at] != at {
            // Halving the way keeps later look-ups short.
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
}

/// When a walk of the dominator tree enters and leaves each location.
struct DominatorOrder(Vec<(usize, usize)>);

impl DominatorOrder {
    fn new(dominators: &[Option<usize>]) -> Self {
        // A dominator has the lower number, so sizes of subtrees add up from the back, and positions
        // are handed out from the front.
        let count = dominators.len();
        let mut size = vec![1; count];
        for loc in (1..count).rev() {
            if let Some(dominator) = dominators[loc] {
                size[dominator] += size[loc];
            }
        }
        let mut span = vec![(0, 0); count];
        let mut free = vec![0; count];
        for loc in 0..count {
            let start = match dominators[loc] {
                Some(dominator) => {
                    free[dominator] += size[loc];
                    span[dominator].0 + free[dominator] - size[loc] + 1
                }
                None => 0,
            };
            span[loc] = (start, start + size[loc]);
        }
        Self(span)
    }

    fn dominates(&self, above: usize, below: usize) -> bool {
        let (start, end) = self.0[above];
        (start..end).contains(&self.0[below].0)
    }
}
