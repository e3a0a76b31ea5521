//! Where a thread should not have to stay forever: every location with a way out, and every loop with an exit.
//!
//! A thread is *stuck* if it is in such a region and leaves it in no continuation. A `loop { }` without `break` has no
//! exit, so staying there is what its author wants; waiting in it forever is not, since the location of the wait has a
//! way out.
//!
//! Loops are the nested ones of [`Loops`]. Loops that share a header (`loop { while x == 0 { } … }`) are one loop
//! there, so what *spins* at a header counts as a loop of its own: all ways back to the header along which the thread
//! only loads, tests and tries read-modify-writes. An edge is no way out if it is an assumption that is constantly
//! false (`while 1 { }`), and a failing assertion is none either.

use super::{Cfg, Loops};
use crate::ids::{LocId, ThreadId};
use crate::program::{Body, Edge, Instruction, Program};
use crate::sort::sort_by_key;

/// Locations of a thread that it should be able to leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Whose.
    pub thread: ThreadId,
    /// Ascending.
    pub locations: Vec<LocId>,
    /// Whether it is a loop; else it is one location.
    pub is_loop: bool,
    /// Where the loop is entered, or the one location.
    pub entry: LocId,
}

impl Region {
    /// Whether a location belongs to it.
    pub fn contains(&self, loc: LocId) -> bool {
        self.locations.binary_search(&loc).is_ok()
    }
}

/// The regions that the threads should be able to leave. Those of one thread come in order of their size.
pub fn leavable_regions(program: &Program) -> Vec<Region> {
    program.running_threads().flat_map(|thread| regions_of(thread, program.body(thread))).collect()
}

fn regions_of(thread: ThreadId, body: &Body) -> Vec<Region> {
    let cfg = Cfg::of(body);
    let loops = Loops::of(&cfg);
    let single = |loc: LocId| Region { thread, locations: vec![loc], is_loop: false, entry: loc };
    let around = |members: &[LocId]| {
        let mut locations = members.to_vec();
        locations.sort_unstable();
        Region { thread, locations, is_loop: true, entry: members[0] }
    };
    let singles = body.location_ids().filter(|&loc| cfg.is_reachable(loc)).map(single);
    // A loop of one location is that location.
    let all = loops.iter().filter(|members| members.len() > 1).map(around);
    let spins = loops.iter().map(|members| spinning(body, &cfg, members)).filter(|part| part.len() > 1);
    let spins = spins.map(|part| around(&part));
    let mut regions: Vec<Region> = singles.chain(all).chain(spins).filter(|region| has_exit(body, region)).collect();
    sort_by_key(&mut regions, |region| (region.locations.len(), region.entry));
    regions.dedup();
    regions
}

/// The part of a loop in which a thread only spins: the header, and all locations on ways back to it along which
/// nothing else is done. The header comes first.
fn spinning(body: &Body, cfg: &Cfg, members: &[LocId]) -> Vec<LocId> {
    let header = members[0];
    let mut inside: Vec<LocId> = members.to_vec();
    inside.sort_unstable();
    let spins_from = |loc: LocId, to: LocId| {
        let mut edges = body.edges_from(loc).filter(|(_, edge)| edge.to == to);
        edges.any(|(_, edge)| spins(&edge.instruction))
    };
    let mut part = vec![header];
    let mut seen = vec![false; body.locations.len()];
    seen[header.index()] = true;
    let mut at = 0;
    while let Some(&to) = part.get(at) {
        at += 1;
        for &from in cfg.predecessors(to) {
            let is_new = inside.binary_search(&from).is_ok() && !seen[from.index()] && spins_from(from, to);
            if is_new {
                seen[from.index()] = true;
                part.push(from);
            }
        }
    }
    part
}

/// Whether a thread that does only this waits for others: it changes no cell, but for read-modify-writes, which are how
/// locks are waited for.
pub(super) fn spins(instruction: &Instruction) -> bool {
    let reads = instruction.is_load() || matches!(instruction, Instruction::ReadModifyWrite { .. });
    reads || instruction.is_local() || *instruction == Instruction::Fence
}

fn has_exit(body: &Body, region: &Region) -> bool {
    let leaves = |edge: &Edge| !region.contains(edge.to) && !is_never_taken(&edge.instruction);
    region.locations.iter().any(|&loc| body.edges_from(loc).any(|(_, edge)| leaves(edge)))
}

fn is_never_taken(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Assume(condition) if condition.constant() == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{Automaton, constant, load, not, program, reg, store};

    /// The regions of an automaton with these edges, each by its locations; loops begin with their entry.
    fn regions(locations: usize, edges: &[(usize, usize)]) -> Vec<(bool, Vec<u32>)> {
        let mut automaton = Automaton::new(locations);
        for &(from, to) in edges {
            automaton.edge(from, to, Instruction::Skip);
        }
        regions_in(automaton)
    }

    fn regions_in(automaton: Automaton) -> Vec<(bool, Vec<u32>)> {
        let found = leavable_regions(&program(vec![], vec![automaton.body()]));
        let plain = |region: Region| (region.is_loop, region.locations.iter().map(|loc| loc.0).collect());
        found.into_iter().map(plain).collect()
    }

    #[test]
    fn every_location_with_a_way_out_is_one() {
        assert_eq!(regions(3, &[(0, 1), (1, 2)]), [(false, vec![0]), (false, vec![1])]);
        // Location 3 cannot be reached, and 2 only leads to itself.
        assert_eq!(regions(4, &[(0, 2), (2, 2), (3, 1)]), [(false, vec![0])]);
        // A location that leads to itself as well is no loop beside that.
        assert_eq!(regions(2, &[(0, 0), (0, 1)]), [(false, vec![0])]);
    }

    #[test]
    fn a_loop_is_one_if_it_has_an_exit() {
        let both = [(false, vec![0]), (false, vec![1])];
        assert_eq!(regions(2, &[(0, 1), (1, 0)]), both);
        assert_eq!(regions(3, &[(0, 1), (1, 0), (1, 2)])[2..], [(true, vec![0, 1])]);
        assert_eq!(regions(3, &[(0, 1), (1, 0), (0, 2)])[2..], [(true, vec![0, 1])]);
    }

    /// The outer loop has no exit, the inner one leads back to it.
    #[test]
    fn inner_loops_are_left_into_outer_ones() {
        let found = regions(4, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 0)]);
        assert_eq!(found[4..], [(true, vec![1, 2])]);
        let found = regions(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 0), (3, 4)]);
        assert_eq!(found[4..], [(true, vec![1, 2]), (true, vec![0, 1, 2, 3])]);
        // Two loops in a row.
        let found = regions(5, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 4)]);
        assert_eq!(found[4..], [(true, vec![0, 1]), (true, vec![2, 3])]);
    }

    /// `loop { while x == 0 { } y = 1; }`: the wait begins where the endless loop begins.
    #[test]
    fn what_spins_at_the_header_of_another_loop_is_a_loop() {
        let shape = |branch: Instruction| {
            let mut automaton = Automaton::new(3);
            automaton.register("r");
            automaton.edge(0, 1, load(0, constant(1)));
            automaton.edge(1, 0, branch);
            automaton.edge(1, 2, Instruction::Assume(reg(0)));
            automaton.edge(2, 0, store(constant(2), constant(1)));
            regions_in(automaton)
        };
        let singles = [(false, vec![0]), (false, vec![1]), (false, vec![2])];
        let found = shape(Instruction::Assume(not(reg(0))));
        assert_eq!((&found[..3], &found[3..]), (&singles[..], &[(true, vec![0, 1])][..]));
        // Who stores is not waiting.
        assert_eq!(shape(store(constant(3), constant(1))), singles);
    }

    /// `while 1 { }` and `loop { assert 0; }` are never left.
    #[test]
    fn what_is_never_taken_and_what_fails_is_no_way_out() {
        let mut automaton = Automaton::new(3);
        automaton.edge(0, 1, Instruction::Assume(constant(1)));
        automaton.edge(1, 0, Instruction::Skip);
        automaton.edge(0, 2, Instruction::Assume(constant(0)));
        assert_eq!(regions_in(automaton), [(false, vec![0]), (false, vec![1])]);
        let mut automaton = Automaton::new(2);
        automaton.edge(0, 1, Instruction::Assert(constant(0)));
        automaton.edge(1, 0, Instruction::Skip);
        automaton.failed();
        assert_eq!(regions_in(automaton), [(false, vec![0]), (false, vec![1])]);
    }
}
