//! The states in which a thread is stuck: it can never again leave a wait or a loop, in any continuation.

use rustc_hash::FxHashSet;
use weir_ir::flow::leavable_regions;
use weir_ir::{LocId, Program};

use super::graph::StateGraph;
use crate::semantics::compile::Compiled;
use crate::semantics::machine::System;
use crate::semantics::size::with_state_size;
use crate::semantics::tso::Tso;
use crate::semantics::{ThreadSteps, TransitionSystem};
use crate::session::Session;
use crate::verdict::Limit;

/// All such states under TSO, each as its words.
///
/// # Errors
/// The limit that was reached before all states were known; the session should limit their number, since there may be
/// infinitely many.
pub(crate) fn stuck_states(
    program: &Program,
    compiled: &Compiled,
    session: &Session,
) -> Result<FxHashSet<Box<[u64]>>, Limit> {
    with_state_size!(compiled.machine.layout.words, from 16, N => sized::<N>(program, compiled, session))
}

fn sized<const N: usize>(
    program: &Program,
    compiled: &Compiled,
    session: &Session,
) -> Result<FxHashSet<Box<[u64]>>, Limit> {
    let system = System::<Tso, N>::new(&compiled.machine);
    let mut graph = StateGraph::<N>::new(&system);
    if let Some(limit) = graph.explore(&system, session) {
        return Err(limit);
    }
    let backward = graph.predecessors();
    let mut found = FxHashSet::default();
    for region in leavable_regions(program) {
        let Some(position) = compiled.threads.iter().position(|&thread| thread == region.thread) else { continue };
        let location = |state: u32| LocId::new(system.location(&graph.states[state as usize], position));
        let can_leave = closure(&backward, |state| !region.contains(location(state)));
        let stuck = (0..).zip(&graph.states).filter(|&(number, _): &(usize, _)| !can_leave[number]);
        found.extend(stuck.map(|(_, state)| Box::from(&state.0[..system.words()])));
    }
    Ok(found)
}

/// For each state whether one that is wanted can be reached from it, given who leads to each state.
fn closure(backward: &[Vec<u32>], is_wanted: impl Fn(u32) -> bool) -> Vec<bool> {
    let mut open: Vec<u32> = (0..backward.len() as u32).filter(|&state| is_wanted(state)).collect();
    let mut can = vec![false; backward.len()];
    open.iter().for_each(|&state| can[state as usize] = true);
    while let Some(state) = open.pop() {
        for &before in &backward[state as usize] {
            if !std::mem::replace(&mut can[before as usize], true) {
                open.push(before);
            }
        }
    }
    can
}
