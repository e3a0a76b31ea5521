//! Where threads must not stay forever.

use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{LocId, Program, PropertyKind};
use weir_witness::Goal;

use super::property;
use crate::semantics::compile::Compiled;

/// The regions that threads should be able to leave, looked up by location.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// For each thread and location, the regions that it belongs to. No threads if nobody asks about them.
    around: Vec<Vec<Vec<u32>>>,
}

impl Regions {
    pub(super) fn new(program: &Program, compiled: &Compiled, goals: &[Goal]) -> Self {
        let is_stuck = |goal: &Goal| property(program, *goal).is_some_and(|one| one.kind == PropertyKind::ForbidStuck);
        if !goals.iter().any(is_stuck) {
            return Self { regions: Vec::new(), around: Vec::new() };
        }
        let regions = leavable_regions(program);
        let mut around: Vec<Vec<Vec<u32>>> =
            compiled.threads.iter().map(|&thread| vec![Vec::new(); program.body(thread).locations.len()]).collect();
        for (number, region) in (0..).zip(&regions) {
            let Some(position) = compiled.threads.iter().position(|&thread| thread == region.thread) else { continue };
            region.locations.iter().for_each(|loc| around[position][loc.index()].push(number));
        }
        Self { regions, around }
    }

    /// How many threads there are to ask about.
    pub(super) fn count(&self) -> usize {
        self.around.len()
    }

    /// Whether the thread is in one of its regions all the time.
    pub(super) fn confine<I: Iterator<Item = usize>>(&self, thread: usize, locations: impl Fn() -> I) -> bool {
        let Some(first) = locations().next() else { return false };
        self.around[thread][first].iter().any(|&number| {
            let region = &self.regions[number as usize];
            locations().all(|loc| region.contains(LocId::new(loc)))
        })
    }
}
