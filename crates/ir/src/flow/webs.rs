//! Def-use webs: the separate live ranges of a register. Two uses belong to the same web if a definition reaches both,
//! directly or through others. A temporary that is reused for different purposes has one web for each.
//!
//! A web is a connected set of places at which the register is live: an edge that does not define the register connects
//! its ends.

use super::Liveness;
use super::limits::MOST_LIVE_PLACES;
use crate::ids::{LocId, RegId};
use crate::program::Body;

/// The webs of a body, numbered from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Webs {
    /// None if there are too many: then each register is one web.
    places: Option<Places>,
    /// The register of each web.
    registers: Vec<RegId>,
}

/// For each location `l` where its places begin, and the places: the registers that are live at `l`, ascending, with
/// their webs.
type Places = (Vec<u32>, Vec<(RegId, u32)>);

impl Webs {
    /// The webs of a body, whose live registers these are.
    pub fn of(body: &Body, live: &Liveness) -> Self {
        let mut first = vec![0];
        let mut places: Vec<(RegId, u32)> = Vec::new();
        for loc in body.location_ids() {
            if !live.is_precise() || places.len() > MOST_LIVE_PLACES {
                return Self::one_per_register(body);
            }
            places.extend(live.at(loc).iter().map(|register| (register, 0)));
            first.push(places.len() as u32);
        }
        let mut webs = Self { places: Some((first, places)), registers: Vec::new() };
        webs.number(&webs.joined(body, live));
        webs
    }

    /// Each register as one web, whether it is live or not.
    pub fn one_per_register(body: &Body) -> Self {
        Self { places: None, registers: (0..body.registers.len()).map(RegId::new).collect() }
    }

    /// For each place, the one that represents its web.
    fn joined(&self, body: &Body, live: &Liveness) -> Vec<u32> {
        let count = self.places.as_ref().map_or(0, |(_, places)| places.len());
        let mut parents: Vec<u32> = (0..count as u32).collect();
        for edge in body.edges() {
            for register in live.at(edge.to).iter() {
                let is_defined = edge.instruction.defines().any(|defined| defined == register);
                let ends = (self.place(edge.from, register), self.place(edge.to, register));
                if let ((Some(from), Some(to)), false) = (ends, is_defined) {
                    let (from, to) = (root(&mut parents, from), root(&mut parents, to));
                    parents[from.max(to) as usize] = from.min(to);
                }
            }
        }
        (0..count as u32).map(|place| root(&mut parents, place)).collect()
    }

    /// Numbers the webs in order of their first places.
    fn number(&mut self, roots: &[u32]) {
        let Some((_, places)) = &mut self.places else { return };
        for (place, &root) in roots.iter().enumerate() {
            let (register, _) = places[place];
            places[place].1 = if root as usize == place {
                self.registers.push(register);
                self.registers.len() as u32 - 1
            } else {
                places[root as usize].1
            };
        }
    }

    fn place(&self, loc: LocId, register: RegId) -> Option<u32> {
        let (first, places) = self.places.as_ref()?;
        let (start, end) = (first[loc.index()], first[loc.index() + 1]);
        let own = &places[start as usize..end as usize];
        own.binary_search_by_key(&register, |&(other, _)| other).ok().map(|at| start + at as u32)
    }

    /// The web of a register at a location; none if the register is dead there.
    pub fn at(&self, loc: LocId, register: RegId) -> Option<u32> {
        match &self.places {
            None => Some(register.0),
            Some((_, places)) => self.place(loc, register).map(|place| places[place as usize].1),
        }
    }

    /// The register of each web.
    pub fn registers(&self) -> &[RegId] {
        &self.registers
    }

    /// The locations at which registers are live, with their webs; none if each register is one web.
    pub fn places(&self) -> Option<impl Iterator<Item = (LocId, RegId, u32)> + '_> {
        let (first, places) = self.places.as_ref()?;
        Some(first.windows(2).enumerate().flat_map(move |(loc, ends)| {
            let own = &places[ends[0] as usize..ends[1] as usize];
            own.iter().map(move |&(register, web)| (LocId::new(loc), register, web))
        }))
    }
}

/// The representative of a place.
fn root(parents: &mut [u32], mut place: u32) -> u32 {
    while parents[place as usize] != place {
        let next = parents[parents[place as usize] as usize];
        parents[place as usize] = next;
        place = next;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{Automaton, assign, constant, load, reg, store};
    use crate::flow::{RegisterSet, live_registers};
    use crate::program::Instruction;

    fn webs(automaton: Automaton) -> Webs {
        let body = automaton.body();
        Webs::of(&body, &live_registers(&body, &RegisterSet::new()))
    }

    #[test]
    fn a_temporary_that_is_loaded_twice_has_two_webs() {
        let mut automaton = Automaton::new(5);
        automaton.register("t");
        automaton.edge(0, 1, load(0, constant(1)));
        automaton.edge(1, 2, store(constant(2), reg(0)));
        automaton.edge(2, 3, load(0, constant(3)));
        automaton.edge(3, 4, Instruction::Assume(reg(0)));
        let webs = webs(automaton);
        assert_eq!(webs.registers(), [RegId(0), RegId(0)]);
        let at = |loc| webs.at(LocId(loc), RegId(0));
        assert_eq!((0..5).map(at).collect::<Vec<_>>(), [None, Some(0), None, Some(1), None]);
    }

    #[test]
    fn definitions_that_meet_at_a_use_are_one_web() {
        let mut automaton = Automaton::new(4);
        automaton.register("t");
        automaton.register("u");
        automaton.edge(0, 1, load(0, constant(1)));
        automaton.edge(0, 2, assign(0, constant(7)));
        automaton.edge(1, 3, Instruction::Skip);
        automaton.edge(2, 3, Instruction::Assume(reg(1)));
        automaton.edge(3, 0, store(constant(2), reg(0)));
        let webs = webs(automaton);
        let web = webs.at(LocId(1), RegId(0));
        assert!(web.is_some() && web == webs.at(LocId(2), RegId(0)) && web == webs.at(LocId(3), RegId(0)));
        assert_ne!(web, webs.at(LocId(2), RegId(1)));
        assert_eq!(webs.places().map(Iterator::count), Some(3 + 4));
    }
}
