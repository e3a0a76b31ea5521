//! The control-flow graph of a body: who follows whom, by control alone (no value is looked at).
//!
//! It over-approximates what runs can do: every step of a run follows an edge of the graph. An `assert`
//! has two ways out, the second one to the body's `failed` location.

use crate::ids::{EdgeId, LocId};
use crate::program::{Body, Edge, Instruction};

/// The control-flow graph of one body.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Lists<LocId>,
    edges_into: Lists<EdgeId>,
    predecessors: Lists<LocId>,
    order: Vec<LocId>,
    position: Vec<Option<u32>>,
}

impl Cfg {
    /// The graph of a body.
    pub fn of(body: &Body) -> Self {
        let count = body.locations.len();
        let edges = (0..).map(EdgeId).zip(body.edges());
        let arcs = edges.flat_map(|(id, edge)| targets(body, edge).map(move |to| (id, edge.from, to)));
        let arcs: Vec<(EdgeId, LocId, LocId)> = arcs.collect();
        let successors = Lists::new(count, &arcs, |&(_, from, to)| (from, to));
        let edges_into = Lists::new(count, &arcs, |&(edge, _, to)| (to, edge));
        let predecessors = Lists::new(count, &arcs, |&(_, from, to)| (to, from));
        let order = reverse_postorder(&successors, body.entry, count);
        let mut position = vec![None; count];
        for (at, loc) in (0..).zip(&order) {
            position[loc.index()] = Some(at);
        }
        Self { successors, edges_into, predecessors, order, position }
    }

    /// Where control can go from `loc` in one step; once for each way, so some may be listed twice.
    pub fn successors(&self, loc: LocId) -> &[LocId] {
        self.successors.of(loc)
    }

    /// Where control can come from; once for each way.
    pub fn predecessors(&self, loc: LocId) -> &[LocId] {
        self.predecessors.of(loc)
    }

    /// The edges that can lead to `loc`, with failing assertions among those into `failed`.
    pub fn edges_into(&self, loc: LocId) -> &[EdgeId] {
        self.edges_into.of(loc)
    }

    /// The reachable locations so that, but for loops, each comes after those that lead to it.
    pub fn reverse_postorder(&self) -> &[LocId] {
        &self.order
    }

    /// The place of `loc` in [`Cfg::reverse_postorder`], if control can get there.
    pub fn position(&self, loc: LocId) -> Option<u32> {
        self.position[loc.index()]
    }

    /// Whether control can get from the entry to `loc`.
    pub fn is_reachable(&self, loc: LocId) -> bool {
        self.position(loc).is_some()
    }
}

/// Where an edge can lead: its target, and for an `assert` also [`Body::failed`].
pub fn targets(body: &Body, edge: &Edge) -> impl Iterator<Item = LocId> + use<> {
    let fails = matches!(edge.instruction, Instruction::Assert(_));
    std::iter::once(edge.to).chain(body.failed.filter(|_| fails))
}

/// Depth-first with an explicit stack; successors are visited last to first, so that the result follows
/// the order of the source text where it can.
fn reverse_postorder(successors: &Lists<LocId>, entry: LocId, count: usize) -> Vec<LocId> {
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    let mut stack = vec![(entry, successors.of(entry).len())];
    seen[entry.index()] = true;
    while let Some((loc, unvisited)) = stack.last_mut() {
        let Some(next) = unvisited.checked_sub(1) else {
            order.push(*loc);
            stack.pop();
            continue;
        };
        *unvisited = next;
        let successor = successors.of(*loc)[next];
        if !std::mem::replace(&mut seen[successor.index()], true) {
            stack.push((successor, successors.of(successor).len()));
        }
    }
    order.reverse();
    order
}

/// One list for each location, all in one allocation.
#[derive(Clone, Debug)]
struct Lists<T> {
    items: Vec<T>,
    first: Vec<u32>,
}

impl<T: Copy> Lists<T> {
    /// Lists of what belongs to each location, in the order given.
    fn new<A>(count: usize, all: &[A], belongs: impl Fn(&A) -> (LocId, T)) -> Self {
        let mut first = vec![0; count + 1];
        all.iter().for_each(|one| first[belongs(one).0.index() + 1] += 1);
        (0..count).for_each(|loc| first[loc + 1] += first[loc]);
        let mut free = first.clone();
        let mut items: Vec<T> = all.iter().map(|one| belongs(one).1).collect();
        for (loc, item) in all.iter().map(belongs) {
            let place = &mut free[loc.index()];
            items[*place as usize] = item;
            *place += 1;
        }
        Self { items, first }
    }

    fn of(&self, loc: LocId) -> &[T] {
        &self.items[self.first[loc.index()] as usize..self.first[loc.index() + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{Automaton, constant};

    #[test]
    fn a_failing_assertion_leads_to_failed() {
        let mut automaton = Automaton::new(2);
        let failed = automaton.failed();
        automaton.edge(0, 1, Instruction::Assert(constant(1)));
        let body = automaton.body();
        let cfg = Cfg::of(&body);
        assert_eq!(cfg.successors(LocId(0)), [LocId(1), failed]);
        assert_eq!(cfg.predecessors(failed), [LocId(0)]);
        assert_eq!(cfg.edges_into(failed), [EdgeId(0)]);
        assert!(cfg.is_reachable(failed));
    }

    #[test]
    fn reverse_postorder_puts_predecessors_first_and_leaves_out_the_unreachable() {
        let mut automaton = Automaton::new(6);
        for (from, to) in [(0, 2), (0, 1), (1, 3), (2, 3), (3, 0), (5, 3)] {
            automaton.edge(from, to, Instruction::Skip);
        }
        let cfg = Cfg::of(&automaton.body());
        let order: Vec<u32> = cfg.reverse_postorder().iter().map(|loc| loc.0).collect();
        assert_eq!(order, [0, 2, 1, 3]);
        assert_eq!(cfg.position(LocId(3)), Some(3));
        assert!(!cfg.is_reachable(LocId(5)) && !cfg.is_reachable(LocId(4)));
        assert_eq!(cfg.predecessors(LocId(3)), [LocId(1), LocId(2), LocId(5)]);
    }

    /// Reverse postorder by its recursive definition, successors from last to first.
    fn postorder(arcs: &[(usize, usize)], at: usize, seen: &mut Vec<usize>, order: &mut Vec<u32>) {
        seen.push(at);
        for &(_, to) in arcs.iter().filter(|(from, _)| *from == at).rev() {
            if !seen.contains(&to) {
                postorder(arcs, to, seen, order);
            }
        }
        order.push(at as u32);
    }

    #[test]
    fn orders_and_neighbours_are_those_of_the_definition_on_random_graphs() {
        for seed in 0..300 {
            let mut random = crate::flow::testing::Random(seed);
            let count = 1 + random.below(6);
            let mut arcs: Vec<_> = (0..random.below(10)).map(|_| (random.below(count), random.below(count))).collect();
            let mut automaton = Automaton::new(count);
            arcs.iter().for_each(|&(from, to)| automaton.edge(from, to, Instruction::Skip));
            let cfg = Cfg::of(&automaton.body());
            arcs.sort_by_key(|(from, _)| *from);
            let mut expected = Vec::new();
            postorder(&arcs, 0, &mut Vec::new(), &mut expected);
            expected.reverse();
            let order: Vec<u32> = cfg.reverse_postorder().iter().map(|loc| loc.0).collect();
            assert_eq!(order, expected, "{arcs:?}");
            for loc in 0..count {
                let here = LocId::new(loc);
                let position = expected.iter().position(|&other| other as usize == loc).map(|at| at as u32);
                assert_eq!((cfg.position(here), cfg.is_reachable(here)), (position, position.is_some()));
                let of = |pairs: Vec<usize>| pairs.into_iter().map(LocId::new).collect::<Vec<_>>();
                let successors = arcs.iter().filter(|(from, _)| *from == loc).map(|(_, to)| *to).collect();
                let predecessors = arcs.iter().filter(|(_, to)| *to == loc).map(|(from, _)| *from).collect();
                assert_eq!(cfg.successors(here), of(successors));
                assert_eq!(cfg.predecessors(here), of(predecessors));
                assert_eq!(cfg.edges_into(here).len(), cfg.predecessors(here).len());
            }
        }
    }

    #[test]
    fn a_long_body_does_not_exhaust_the_stack() {
        let mut automaton = Automaton::new(200_000);
        for from in 0..199_999 {
            automaton.edge(from, from + 1, Instruction::Skip);
        }
        assert_eq!(Cfg::of(&automaton.body()).reverse_postorder().len(), 200_000);
    }
}
