//! How deep in loops a location lies, by nested strongly connected components (F. Bourdoncle, "Efficient
//! chaotic iteration strategies with widenings", 1993): a component with a cycle is a loop; without its
//! first location (in reverse postorder) it falls apart into the loops inside.
//!
//! On reducible graphs these are the natural loops, with loops of one header merged; irreducible graphs
//! need no special care. Loops nested deeper than [`Loops::MAX_DEPTH`] are counted as that deep, so that the
//! time stays linear in the size of the body.

use super::Cfg;
use crate::ids::LocId;

/// The loops of one body.
#[derive(Clone, Debug)]
pub struct Loops {
    depth: Vec<u32>,
    is_header: Vec<bool>,
    order: Vec<LocId>,
}

impl Loops {
    /// Deeper nesting counts as this depth.
    pub const MAX_DEPTH: u32 = 32;

    /// The loops of the body that `cfg` is the graph of.
    pub fn of(cfg: &Cfg) -> Self {
        let count = cfg.reverse_postorder().iter().map(|loc| loc.index() + 1).max().unwrap_or(0);
        let mut search = Search::new(cfg, count);
        let mut loops = Self { depth: vec![0; count], is_header: vec![false; count], order: Vec::new() };
        let mut stack = vec![Item::Region(cfg.reverse_postorder().to_vec(), 0)];
        while let Some(item) = stack.pop() {
            match item {
                Item::Location(loc) => loops.order.push(loc),
                Item::Region(mut region, Self::MAX_DEPTH) => {
                    region.sort_unstable_by_key(|&loc| cfg.position(loc));
                    loops.order.extend(region);
                }
                Item::Region(region, depth) => {
                    search.find_components(&region);
                    // Components come with what they lead to first, so the stack gives them back in order.
                    let mut start = 0;
                    for &end in &search.ends {
                        loops.enter(cfg, &mut search.found[start..end], depth, &mut stack);
                        start = end;
                    }
                }
            }
        }
        loops
    }

    /// Puts one component on the stack, with its header first if it is a loop.
    fn enter(&mut self, cfg: &Cfg, component: &mut [LocId], depth: u32, stack: &mut Vec<Item>) {
        let Some(first) = (0..component.len()).min_by_key(|&at| cfg.position(component[at])) else { return };
        component.swap(0, first);
        let (header, inner) = (component[0], &component[1..]);
        if inner.is_empty() && !cfg.successors(header).contains(&header) {
            return stack.push(Item::Location(header));
        }
        for loc in inner.iter().chain([&header]) {
            self.depth[loc.index()] = depth + 1;
        }
        self.is_header[header.index()] = true;
        stack.push(Item::Region(inner.to_vec(), depth + 1));
        stack.push(Item::Location(header));
    }

    /// How many loops the location lies in; 0 for one that control cannot reach.
    pub fn depth(&self, loc: LocId) -> u32 {
        self.depth.get(loc.index()).copied().unwrap_or(0)
    }

    /// Whether the location is where a loop is entered.
    pub fn is_header(&self, loc: LocId) -> bool {
        self.is_header.get(loc.index()).copied().unwrap_or(false)
    }

    /// Every loop by its locations, the header first; outer loops before inner ones.
    pub fn iter(&self) -> impl Iterator<Item = &[LocId]> {
        let headers = self.order.iter().enumerate().filter(|(_, loc)| self.is_header(**loc));
        headers.map(|(start, &header)| {
            // What a loop contains comes right after its header, and is at least as deep; another header of the same
            // depth begins the next loop.
            let depth = self.depth(header);
            let is_next = |&loc: &LocId| self.depth(loc) < depth || self.depth(loc) == depth && self.is_header(loc);
            let rest = &self.order[start + 1..];
            let count = rest.iter().position(is_next).unwrap_or(rest.len());
            &self.order[start..=start + count]
        })
    }

    /// The reachable locations so that, but for the way back to a header, each comes after those that lead
    /// to it, and what a loop contains comes before what follows the loop.
    pub fn order(&self) -> &[LocId] {
        &self.order
    }
}

enum Item {
    Location(LocId),
    /// Locations still to be taken apart, and how deep they lie.
    Region(Vec<LocId>, u32),
}

/// Tarjan's strongly connected components of a part of the graph, with explicit stacks.
struct Search<'c> {
    cfg: &'c Cfg,
    /// The part each location belongs to.
    region: Vec<u32>,
    regions: u32,
    /// When the location was first seen, from 1; 0 if not yet.
    index: Vec<u32>,
    low: Vec<u32>,
    seen: u32,
    /// Locations seen whose component is not complete.
    open: Vec<LocId>,
    /// The components found, one after the other; each comes after all it leads to.
    found: Vec<LocId>,
    /// Where each component ends in `found`.
    ends: Vec<usize>,
}

impl<'c> Search<'c> {
    fn new(cfg: &'c Cfg, count: usize) -> Self {
        let zeros = || vec![0; count];
        let (region, index, low) = (zeros(), zeros(), zeros());
        Self { cfg, region, regions: 0, index, low, seen: 0, open: Vec::new(), found: Vec::new(), ends: Vec::new() }
    }

    /// Finds the components of the subgraph of these locations.
    fn find_components(&mut self, region: &[LocId]) {
        self.regions += 1;
        self.seen = 0;
        self.found.clear();
        self.ends.clear();
        for loc in region {
            self.region[loc.index()] = self.regions;
            self.index[loc.index()] = 0;
        }
        for &root in region {
            if self.index[root.index()] == 0 {
                self.visit(root);
            }
        }
    }

    fn visit(&mut self, root: LocId) {
        let mut path = vec![(root, 0)];
        self.discover(root);
        while let Some((loc, next)) = path.last_mut() {
            let loc = *loc;
            if let Some(&successor) = self.cfg.successors(loc).get(*next) {
                *next += 1;
                if self.region[successor.index()] != self.regions {
                    continue;
                }
                if self.index[successor.index()] == 0 {
                    self.discover(successor);
                    path.push((successor, 0));
                } else {
                    self.lower(loc, self.index[successor.index()]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                self.lower(before, self.low[loc.index()]);
            }
            if self.low[loc.index()] == self.index[loc.index()] {
                self.close(loc);
            }
        }
    }

    fn discover(&mut self, loc: LocId) {
        self.seen += 1;
        self.index[loc.index()] = self.seen;
        self.low[loc.index()] = self.seen;
        self.open.push(loc);
    }

    fn lower(&mut self, loc: LocId, to: u32) {
        self.low[loc.index()] = self.low[loc.index()].min(to);
    }

    /// The component of `root` is complete. Its locations leave the region, so that a later look at one of
    /// them changes nothing.
    fn close(&mut self, root: LocId) {
        while let Some(loc) = self.open.pop() {
            self.region[loc.index()] = 0;
            self.found.push(loc);
            if loc == root {
                break;
            }
        }
        self.ends.push(self.found.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{Automaton, Random};
    use crate::program::Instruction;

    fn loops_of(locations: usize, arcs: &[(usize, usize)]) -> Loops {
        let mut automaton = Automaton::new(locations);
        for &(from, to) in arcs {
            automaton.edge(from, to, Instruction::Skip);
        }
        Loops::of(&Cfg::of(&automaton.body()))
    }

    fn depths(locations: usize, arcs: &[(usize, usize)]) -> Vec<u32> {
        let loops = loops_of(locations, arcs);
        (0..locations).map(|loc| loops.depth(LocId::new(loc))).collect()
    }

    #[test]
    fn nested_loops_count() {
        // 0 → while { 1 → while { 2 } → 3 } → 4
        let arcs = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (1, 4)];
        assert_eq!(depths(5, &arcs), [0, 1, 2, 1, 0]);
        let loops = loops_of(5, &arcs);
        let headers: Vec<usize> = (0..5).filter(|&loc| loops.is_header(LocId::new(loc))).collect();
        assert_eq!(headers, [1, 2]);
    }

    #[test]
    fn two_loops_of_one_header_are_one() {
        assert_eq!(depths(4, &[(0, 1), (1, 0), (0, 2), (2, 0), (0, 3)]), [1, 1, 1, 0]);
    }

    #[test]
    fn a_loop_with_two_entries_is_a_loop() {
        assert_eq!(depths(3, &[(0, 1), (0, 2), (1, 2), (2, 1)]), [0, 1, 1]);
    }

    #[test]
    fn loops_in_sequence_do_not_nest_and_unreachable_ones_do_not_count() {
        assert_eq!(depths(4, &[(0, 0), (0, 1), (1, 1), (1, 2), (3, 3)]), [1, 1, 0, 0]);
    }

    #[test]
    fn the_order_finishes_a_loop_before_what_follows_it() {
        // The way out of the loop is written first.
        let loops = loops_of(5, &[(0, 1), (1, 4), (1, 2), (2, 3), (3, 1)]);
        let order: Vec<u32> = loops.order().iter().map(|loc| loc.0).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn very_deep_nesting_is_cut_and_stays_fast() {
        let count = 50_000;
        let mut arcs: Vec<(usize, usize)> = (0..count - 1).map(|loc| (loc, loc + 1)).collect();
        arcs.extend((0..count).map(|loc| (count - 1, loc)));
        let loops = loops_of(count, &arcs);
        assert_eq!(loops.depth(LocId::new(0)), 1);
        assert_eq!(loops.depth(LocId::new(count - 1)), Loops::MAX_DEPTH);
        assert_eq!(loops.order().len(), count);
    }

    /// Whether a way of at least one arc leads from `loc` back to it, avoiding some locations.
    fn is_on_cycle(cfg: &Cfg, loc: LocId, avoid: &impl Fn(LocId) -> bool) -> bool {
        let mut seen = vec![];
        let mut stack = cfg.successors(loc).to_vec();
        while let Some(next) = stack.pop() {
            if !avoid(next) && !seen.contains(&next) {
                seen.push(next);
                stack.extend(cfg.successors(next));
            }
        }
        seen.contains(&loc)
    }

    /// Whether a way of at least one arc leads from one location to another within a region.
    fn leads(cfg: &Cfg, region: &[LocId], from: LocId, to: LocId) -> bool {
        let mut seen = vec![];
        let mut stack = cfg.successors(from).to_vec();
        while let Some(next) = stack.pop() {
            if region.contains(&next) && !seen.contains(&next) {
                seen.push(next);
                stack.extend(cfg.successors(next));
            }
        }
        seen.contains(&to)
    }

    /// Loops by their definition: what leads to each other within a region is a loop, headed by what comes first;
    /// inside are the loops of the rest.
    fn by_definition(cfg: &Cfg, region: &[LocId], depth: u32, depths: &mut [u32], loops: &mut [Vec<LocId>]) {
        let mut rest = region.to_vec();
        while let Some(&first) = rest.first() {
            let is_with = |loc: &LocId| leads(cfg, region, first, *loc) && leads(cfg, region, *loc, first);
            let component: Vec<LocId> = rest.iter().copied().filter(is_with).collect();
            rest.retain(|loc| *loc != first && !component.contains(loc));
            let Some(header) = component.iter().copied().min_by_key(|&loc| cfg.position(loc)) else { continue };
            loops[header.index()].clone_from(&component);
            component.iter().for_each(|loc| depths[loc.index()] = depth + 1);
            let inner: Vec<LocId> = component.into_iter().filter(|&loc| loc != header).collect();
            by_definition(cfg, &inner, depth + 1, depths, loops);
        }
    }

    #[test]
    fn depths_and_loops_are_those_of_the_definition_on_all_small_graphs() {
        let every_third = (0..1_u32 << 16).step_by(3).map(|arcs| (4, arcs));
        let all = (0..1_u32 << 9).map(|arcs| (3, arcs)).chain(every_third);
        for (count, bits) in all {
            let pairs = (0..count * count).filter(|at| bits >> at & 1 == 1).map(|at| (at / count, at % count));
            let arcs: Vec<(usize, usize)> = pairs.collect();
            let mut automaton = Automaton::new(count);
            arcs.iter().for_each(|&(from, to)| automaton.edge(from, to, Instruction::Skip));
            let cfg = Cfg::of(&automaton.body());
            let (mut depths, mut defined) = (vec![0; count], vec![vec![]; count]);
            by_definition(&cfg, cfg.reverse_postorder(), 0, &mut depths, &mut defined);
            let loops = Loops::of(&cfg);
            let mut found = vec![vec![]; count];
            loops.iter().for_each(|members| found[members[0].index()] = members.to_vec());
            found.iter_mut().chain(&mut defined).for_each(|members| members.sort_unstable());
            assert_eq!(found, defined, "{arcs:?}");
            for loc in (0..count).map(LocId::new) {
                assert_eq!(loops.depth(loc), depths[loc.index()], "{loc:?} of {arcs:?}");
                assert_eq!(loops.is_header(loc), !defined[loc.index()].is_empty(), "{loc:?} of {arcs:?}");
            }
            check_order(&cfg, &loops, &arcs);
        }
    }

    /// But for ways back to a header, each comes after those that lead to it; and a loop is in one piece.
    fn check_order(cfg: &Cfg, loops: &Loops, arcs: &[(usize, usize)]) {
        let place = |loc: LocId| loops.order().iter().position(|&other| other == loc);
        for &(from, to) in arcs {
            let (from, to) = (LocId::new(from), LocId::new(to));
            let (Some(before), Some(behind)) = (place(from), place(to)) else { continue };
            let goes_back = loops.is_header(to) && leads(cfg, cfg.reverse_postorder(), to, from);
            assert!(before < behind || goes_back || from == to, "{from:?} to {to:?} of {arcs:?}");
        }
        let around: Vec<bool> =
            loops.order().iter().map(|&loc| leads(cfg, cfg.reverse_postorder(), loc, loc)).collect();
        for window in (0..around.len()).flat_map(|start| (start + 2..=around.len()).map(move |end| start..end)) {
            let (first, last) = (loops.order()[window.start], loops.order()[window.end - 1]);
            let all = cfg.reverse_postorder();
            if leads(cfg, all, first, last) && leads(cfg, all, last, first) {
                assert!(around[window].iter().all(|&is_in_loop| is_in_loop), "{arcs:?}");
            }
        }
    }

    #[test]
    fn loops_are_the_cycles_and_headers_cut_all_of_them_on_random_graphs() {
        for seed in 0..300 {
            let mut random = Random(seed);
            let arcs: Vec<_> = (0..16).map(|_| (random.below(9), random.below(9))).collect();
            let mut automaton = Automaton::new(9);
            arcs.iter().for_each(|&(from, to)| automaton.edge(from, to, Instruction::Skip));
            let cfg = Cfg::of(&automaton.body());
            let loops = Loops::of(&cfg);
            for &loc in cfg.reverse_postorder() {
                assert_eq!(loops.depth(loc) > 0, is_on_cycle(&cfg, loc, &|_| false), "seed {seed}, {loc:?}");
                let headers = |loc| loops.is_header(loc);
                assert!(headers(loc) || !is_on_cycle(&cfg, loc, &headers), "seed {seed}, {loc:?}");
            }
            let mut order = loops.order().to_vec();
            order.sort_unstable();
            let mut reachable = cfg.reverse_postorder().to_vec();
            reachable.sort_unstable();
            assert_eq!(order, reachable);
        }
    }
}
