//! Steps that nobody else can notice, taken first.
//!
//! An assignment, a test of registers, a choice, under SC also a fence: such a step neither touches memory nor the lock, so it can be
//! moved before whatever the other threads do. Where a location has only such edges, the thread may as well go on at once, and
//! no other thread needs to be considered until it has.
//!
//! Two traps. Threads that wait for ever at a test must not hold the others up: a thread is favoured only while it can move. And
//! a cycle of local steps would starve the others: locations on such a cycle are not favoured.

use weir_ir::{Body, Instruction};

/// Whether the step is invisible to all other threads, also as to when it happens, under SC.
fn is_local(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Skip
        | Instruction::Assign { .. }
        | Instruction::Assume(_)
        | Instruction::Assert(_)
        | Instruction::Havoc { .. }
        | Instruction::Terminate
        | Instruction::Fence => true,
        Instruction::Load { .. }
        | Instruction::Snapshot(_)
        | Instruction::Store { .. }
        | Instruction::ReadModifyWrite { .. }
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::Call { .. }
        | Instruction::Return(_)
        | Instruction::Spawn(_) => false,
    }
}

/// For each location of the body, whether a thread there may go on before all others are considered.
pub(super) fn favoured(body: &Body) -> Vec<bool> {
    let mut favoured: Vec<bool> = body
        .location_ids()
        .map(|loc| {
            let mut edges = body.edges_from(loc);
            edges.len() > 0 && edges.all(|(_, edge)| is_local(&edge.instruction))
        })
        .collect();
    // What remains when locations from which the favoured ones are left are taken away one after another, lies on a cycle or
    // leads into one.
    let mut pending: Vec<usize> = vec![0; favoured.len()];
    let mut incoming = vec![Vec::new(); favoured.len()];
    for edge in body.edges().iter().filter(|edge| favoured[edge.from.index()]) {
        if favoured[edge.to.index()] {
            pending[edge.from.index()] += 1;
            incoming[edge.to.index()].push(edge.from.index());
        }
    }
    let mut free: Vec<usize> = (0..favoured.len()).filter(|&loc| favoured[loc] && pending[loc] == 0).collect();
    let mut acyclic = vec![false; favoured.len()];
    while let Some(loc) = free.pop() {
        acyclic[loc] = true;
        for &before in &incoming[loc] {
            pending[before] -= 1;
            if pending[before] == 0 {
                free.push(before);
            }
        }
    }
    favoured.iter_mut().zip(acyclic).for_each(|(favoured, acyclic)| *favoured &= acyclic);
    favoured
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

    /// Those that only local steps leave, and from which no run stays in such for ever.
    #[test]
    fn exactly_the_locations_that_are_soon_left_are_favoured() {
        let config = Config::cyclic().weighing(Statement::Assign, 30).weighing(Statement::UnboundedLoop, 30);
        let (mut favoured_ones, mut circles) = (0, 0);
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
                let found = favoured(body);
                for loc in body.location_ids() {
                    let circles_for_ever = goes_on(body, &local, loc, body.locations.len() + 1);
                    assert_eq!(found[loc.index()], local.contains(&loc) && !circles_for_ever, "seed {seed}, {loc:?}");
                    favoured_ones += usize::from(found[loc.index()]);
                    circles += usize::from(local.contains(&loc) && circles_for_ever);
                }
            }
        }
        assert!(favoured_ones > 100 && circles > 20, "{favoured_ones} favoured, {circles} in circles");
    }
}
