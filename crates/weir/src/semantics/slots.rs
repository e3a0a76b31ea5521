//! Registers that are never live at the same time share bits of the state.
//!
//! With dead registers cleared, a slot holds the value of the one register that is live, or zero bits.

use weir_ir::flow::{Liveness, RegisterSet};
use weir_ir::sort::sort_by_key;
use weir_ir::{Body, LocId, Range, RegId};

use super::state::width;

/// Bodies with more registers get a slot for each: who shares with whom takes time in proportion to the square of
/// their number at every location.
const MOST_SHARING: usize = 256;

/// Which slot each register of a body has, and how wide the slots are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slots {
    /// For each register its slot and the least value it holds; `None` for one that is never live.
    pub(crate) of_register: Vec<Option<(usize, Range)>>,
    pub(crate) widths: Vec<u32>,
}

impl Slots {
    /// One slot for each register.
    pub(crate) fn separate(body: &Body, range: impl Fn(RegId) -> Range) -> Self {
        let ranges: Vec<Range> = (0..body.registers.len()).map(|reg| range(RegId::new(reg))).collect();
        let widths = ranges.iter().map(|&range| width(range)).collect();
        Self { of_register: ranges.into_iter().enumerate().map(Some).collect(), widths }
    }

    /// As few slots as a greedy colouring finds, wide registers first.
    pub(crate) fn shared(body: &Body, live: &Liveness, range: impl Fn(LocId, RegId) -> Option<Range>) -> Self {
        let count = body.registers.len();
        let hull = |reg| body.location_ids().filter_map(|loc| range(loc, reg)).reduce(Range::hull);
        if count > MOST_SHARING {
            return Self::separate(body, |reg| hull(reg).unwrap_or(Range::single(0)));
        }
        let mut conflicts = vec![RegisterSet::new(); count];
        let mut ranges: Vec<Option<Range>> = vec![None; count];
        for loc in body.location_ids() {
            for reg in live.at(loc).iter() {
                conflicts[reg.index()].union_with(live.at(loc));
                let here = range(loc, reg);
                let known = &mut ranges[reg.index()];
                *known = known.map_or(here, |known| Some(here.map_or(known, |here| known.hull(here))));
            }
        }
        colour(&conflicts, &ranges)
    }
}

fn colour(conflicts: &[RegisterSet], ranges: &[Option<Range>]) -> Slots {
    let live = |&reg: &usize| ranges[reg].is_some();
    let mut order: Vec<usize> = (0..ranges.len()).filter(live).collect();
    sort_by_key(&mut order, |&reg| std::cmp::Reverse(ranges[reg].map(width)));
    let mut of_register: Vec<Option<(usize, Range)>> = vec![None; ranges.len()];
    let mut widths: Vec<u32> = Vec::new();
    for reg in order {
        let Some(range) = ranges[reg] else { continue };
        let mut taken = vec![false; widths.len()];
        for rival in conflicts[reg].iter() {
            if let Some((slot, _)) = of_register[rival.index()] {
                taken[slot] = true;
            }
        }
        let slot = taken.iter().position(|&taken| !taken).unwrap_or(widths.len());
        if slot == widths.len() {
            widths.push(width(range));
        }
        of_register[reg] = Some((slot, range));
    }
    Slots { of_register, widths }
}

#[cfg(test)]
mod tests;
