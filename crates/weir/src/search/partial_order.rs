//! Partial order reduction: invisible steps are taken first, with a cycle proviso.
//!
//! An assignment, a test of registers, a choice, under SC also a fence: such a step accesses neither memory nor the
//! lock, so it is independent of all steps of other threads. At a location with such edges only, the thread's own steps
//! are an ample set: no other thread needs to be considered until it has moved.
//!
//! Two conditions keep this exact. A thread that is blocked at a test has no ample set: the others must go on. And the
//! cycle proviso: locations on a cycle of invisible steps are expanded in full, or other threads could be ignored for
//! ever.

use weir_ir::{Body, Instruction};

use crate::semantics::{StepCode, ThreadSteps};

/// The ample sets of a program under SC.
pub(crate) struct AmpleSets {
    /// For each thread and location, whether the thread's own steps are an ample set there.
    threads: Vec<Vec<bool>>,
}

impl AmpleSets {
    /// Of threads with these bodies.
    pub(crate) fn new<'a>(bodies: impl IntoIterator<Item = &'a Body>) -> Self {
        Self { threads: bodies.into_iter().map(ample_locations).collect() }
    }

    /// Emits the steps of the first thread whose own steps are an ample set; whether there was one. Threads that may
    /// not move are left out.
    #[inline]
    pub(crate) fn reduce<T: ThreadSteps>(
        &self,
        system: &T,
        from: &T::State,
        mut may_move: impl FnMut(usize) -> bool,
        emit: &mut impl FnMut(StepCode, T::State) -> bool,
    ) -> bool {
        for (thread, is_ample) in self.threads.iter().enumerate() {
            if !is_ample[system.location(from, thread)] || !may_move(thread) {
                continue;
            }
            let mut moved = false;
            system.successors_of(from, thread, &mut |step, next| {
                moved = true;
                emit(step, next)
            });
            if moved {
                return true;
            }
        }
        false
    }
}

/// Whether the step is invisible to all other threads under SC, where a fence does nothing.
fn is_invisible(instruction: &Instruction) -> bool {
    instruction.is_local() || *instruction == Instruction::Fence
}

/// For each location of the body, whether the steps of a thread there are an ample set.
fn ample_locations(body: &Body) -> Vec<bool> {
    let mut ample: Vec<bool> = body
        .location_ids()
        .map(|loc| {
            let mut edges = body.edges_from(loc);
            edges.len() > 0 && edges.all(|(_, edge)| is_invisible(&edge.instruction))
        })
        .collect();
    // The cycle proviso: a topological sort leaves out the locations that are on a cycle or lead into one.
    let mut pending: Vec<usize> = vec![0; ample.len()];
    let mut incoming = vec![Vec::new(); ample.len()];
    for edge in body.edges().iter().filter(|edge| ample[edge.from.index()]) {
        if ample[edge.to.index()] {
            pending[edge.from.index()] += 1;
            incoming[edge.to.index()].push(edge.from.index());
        }
    }
    let mut free: Vec<usize> = (0..ample.len()).filter(|&loc| ample[loc] && pending[loc] == 0).collect();
    let mut acyclic = vec![false; ample.len()];
    while let Some(loc) = free.pop() {
        acyclic[loc] = true;
        for &before in &incoming[loc] {
            pending[before] -= 1;
            if pending[before] == 0 {
                free.push(before);
            }
        }
    }
    ample.iter_mut().zip(acyclic).for_each(|(ample, acyclic)| *ample &= acyclic);
    ample
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weir_ir::LocId;
    use weir_testkit::random::{Config, Statement, program};

    use super::*;

    /// Whether some path of so many steps stays in these locations.
    fn goes_on(body: &Body, inside: &BTreeSet<LocId>, from: LocId, steps: usize) -> bool {
        let mut at = BTreeSet::from([from]);
        for _ in 0..steps {
            let next = body.edges().iter().filter(|edge| at.contains(&edge.from) && inside.contains(&edge.to));
            at = next.map(|edge| edge.to).collect();
        }
        !at.is_empty()
    }

    /// Those that only local steps leave, and from which no run stays in such forever.
    #[test]
    fn exactly_the_acyclic_invisible_locations_are_ample() {
        let config = Config::cyclic().weighing(Statement::Assign, 30).weighing(Statement::UnboundedLoop, 30);
        let (mut ample_count, mut circles) = (0, 0);
        for seed in 0..100 {
            for thread in program(seed, &config).threads {
                let body = &thread.body;
                let leaves = |loc: LocId| body.edges().iter().filter(move |edge| edge.from == loc);
                let is_local = |loc: &LocId| {
                    leaves(*loc).count() > 0
                        && leaves(*loc).all(|edge| {
                            let accesses = matches!(
                                edge.instruction,
                                Instruction::Load { .. }
                                    | Instruction::Snapshot(_)
                                    | Instruction::Store { .. }
                                    | Instruction::ReadModifyWrite { .. }
                                    | Instruction::Lock
                                    | Instruction::Unlock
                            );
                            !accesses
                        })
                };
                let local: BTreeSet<LocId> = body.location_ids().filter(is_local).collect();
                let found = ample_locations(body);
                for loc in body.location_ids() {
                    let circles_for_ever = goes_on(body, &local, loc, body.locations.len() + 1);
                    assert_eq!(found[loc.index()], local.contains(&loc) && !circles_for_ever, "seed {seed}, {loc:?}");
                    ample_count += usize::from(found[loc.index()]);
                    circles += usize::from(local.contains(&loc) && circles_for_ever);
                }
            }
        }
        assert!(ample_count > 100 && circles > 20, "{ample_count} ample, {circles} in circles");
    }
}
