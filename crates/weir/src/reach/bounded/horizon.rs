//! Can a run exceed a bound at all?
//!
//! A round in which a thread takes only local steps can be left out: the thread can take them in its previous round. So
//! a thread has at most as many rounds as it takes steps that others can notice, flushes included; and between a store
//! and its flush, it begins at most as many rounds as it takes such steps in between. Both are counted along the
//! longest path, which is finite if there is no loop with such a step: for the age of stores, no loop on the way from a
//! store to the next fence.
//!
//! Direction of error: it may say that a bound can be exceeded although it cannot.

use weir_ir::flow::strongly_connected_components;
use weir_ir::{Body, Edge, Instruction, Program};

use crate::translate::bounded::RunBound;

/// Whether no run leads to a state that no run within the bound leads to.
pub(super) fn is_never_exceeded(program: &Program, bound: RunBound) -> bool {
    // A `membarrier` while another thread holds the lock is not covered.
    let has_membarrier = |body: &Body| body.edges().iter().any(|edge| edge.instruction == Instruction::Membarrier);
    let bodies = || program.running_threads().map(|thread| program.body(thread));
    // Nor is what a thread does before the locked section ends in which it was started.
    let spawns = |body: &Body| body.edges().iter().any(|edge| matches!(edge.instruction, Instruction::Spawn(_)));
    let covers_all = !program.uses_lock() || !bodies().any(|body| has_membarrier(body) || spawns(body));
    covers_all && is_greatest(program, bound)
}

/// Whether a greater bound covers no more runs.
pub(super) fn is_greatest(program: &Program, bound: RunBound) -> bool {
    program.running_threads().map(|thread| program.body(thread)).all(|body| match bound {
        RunBound::Rounds(most) => most_rounds(body).is_some_and(|rounds| rounds <= u64::from(most)),
        RunBound::Age(most) => greatest_age(body).is_some_and(|age| age <= u64::from(most)),
    })
}

/// The most rounds that a thread can need; none if there is no bound.
fn most_rounds(body: &Body) -> Option<u64> {
    let weight = |edge: &Edge| u64::from(!edge.instruction.is_local()) + u64::from(edge.instruction.is_store());
    longest_paths(body, |_| true, weight)[body.entry.index()]
}

/// The most rounds that a thread can begin between a store and its flush; none if there is no bound.
fn greatest_age(body: &Body) -> Option<u64> {
    // Along a path without a fence that starts with the oldest store that waits: the flushes of the stores up to the
    // one in question, and the steps after that one. Each of them is an edge of the path.
    let weight = |edge: &Edge| u64::from(!edge.instruction.is_local());
    let longest = longest_paths(body, |edge| !edge.instruction.drains(), weight);
    let stores = body.edges().iter().filter(|edge| edge.instruction.is_store());
    stores.map(|edge| Some(1 + longest[edge.to.index()]?)).try_fold(0, |most, age| Some(most.max(age?)))
}

/// For each location, the greatest weight of a path from there along some of the edges; none if there is no greatest.
fn longest_paths(body: &Body, follows: impl Fn(&Edge) -> bool, weight: impl Fn(&Edge) -> u64) -> Vec<Option<u64>> {
    let edges = |loc| body.edges_from(loc).map(|(_, edge)| edge).filter(|edge| follows(edge));
    let graph: Vec<Vec<usize>> =
        body.location_ids().map(|loc| edges(loc).map(|edge| edge.to.index()).collect()).collect();
    let mut longest: Vec<Option<u64>> = vec![Some(0); graph.len()];
    let mut component_of = vec![usize::MAX; graph.len()];
    // Each component comes after all those it leads to.
    for (number, component) in strongly_connected_components(&graph).iter().enumerate() {
        component.iter().for_each(|&location| component_of[location] = number);
        let mut most = Some(0);
        for edge in component.iter().flat_map(|&location| edges(weir_ir::LocId::new(location))) {
            let is_inside = component_of[edge.to.index()] == number;
            let from_there = match (is_inside, weight(edge)) {
                (true, 0) => Some(0),
                // It can be taken again and again.
                (true, _) => None,
                (false, weight) => longest[edge.to.index()].map(|rest| rest + weight),
            };
            most = most.zip(from_there).map(|(most, other): (u64, u64)| most.max(other));
        }
        component.iter().for_each(|&location| longest[location] = most);
    }
    longest
}

#[cfg(test)]
mod tests;
