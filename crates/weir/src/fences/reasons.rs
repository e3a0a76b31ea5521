//! Why a fence is needed: the store and the load that it keeps in order, and what others do that lets them notice.

use weir_ir::{Address, EdgeId, Program, ThreadId};
use weir_witness::{Cycle, Effect, HappensBefore, NodeId, NodeKind, Replay, Run, StepId, replay};

use crate::robust::{Race, ThreadEdge};

/// Why a fence is needed. Without it, the store can be delayed past the load, and the accesses of other threads close a
/// cycle of happens-before: a run that SC forbids.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Reason {
    /// The store before the fence.
    pub store: Access,
    /// The load behind it.
    pub load: Access,
    /// The accesses of other threads through which the cycle leads back from the load to the store, in this order. For
    /// a triangular race, the write to the cell that is loaded. Empty if the run has no such cycle for this pair.
    pub partners: Vec<Access>,
}

/// A memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Access {
    /// Whose.
    pub thread: ThreadId,
    /// The step, in the program that was searched.
    pub edge: EdgeId,
    /// What it does.
    pub kind: NodeKind,
    /// The cell.
    pub address: Address,
}

impl Access {
    fn new(replay: &Replay, step: StepId, kind: NodeKind, address: Address) -> Option<Self> {
        let event = replay.events().get(step.index())?;
        Some(Self { thread: event.thread, edge: event.edge?, kind, address })
    }

    fn of_node(replay: &Replay, trace: &HappensBefore, node: NodeId) -> Option<Self> {
        let node = trace.node(node);
        Self::new(replay, node.step, node.kind, node.address?)
    }
}

impl Reason {
    /// A triangular race.
    pub(super) fn of_race(race: &Race) -> Option<Self> {
        let events = race.replay().events();
        let access = |step: StepId, kind, address| Access::new(race.replay(), step, kind, address);
        let stored = events.get(race.store().index())?.effect.address()?;
        let (write, kind) = match events.get(race.write().index())?.effect {
            Effect::Flush { store, .. } => (store, NodeKind::Store),
            Effect::ReadModifyWrite { .. } => (race.write(), NodeKind::ReadModifyWrite),
            _ => (race.write(), NodeKind::Store),
        };
        Some(Self {
            store: access(race.store(), NodeKind::Store, stored)?,
            load: access(race.load(), NodeKind::Load, race.address())?,
            partners: access(write, kind, race.address()).into_iter().collect(),
        })
    }
}

/// Why a fence after these steps is needed, as this run shows: of the pairs of a store and a load that overtakes it,
/// with one of the steps in between, the one with the shortest cycle.
pub(super) fn reason(program: &Program, run: &Run, after: &[ThreadEdge]) -> Option<Reason> {
    let replay = replay(program, run).ok()?;
    let trace = HappensBefore::new(&replay);
    let nodes = || (0..trace.nodes().len()).map(NodeId::new);
    let stores = nodes().filter(|&node| trace.node(node).kind == NodeKind::Store);
    let pairs = stores.flat_map(|store| {
        let loads = trace.later_in_thread(store).iter().filter(|&&load| trace.node(load).kind == NodeKind::Load);
        loads.map(move |&load| (store, load))
    });
    let is_kept_apart = |&(store, load): &(NodeId, NodeId)| {
        trace.is_overtaken(store, load) && is_between(&replay, after, trace.node(store).step, trace.node(load).step)
    };
    let cycles = pairs.filter(is_kept_apart).map(|(store, load)| (store, load, trace.cycle_through(store, load)));
    let shortest = |(_, _, cycle): &(NodeId, NodeId, Option<Cycle>)| {
        cycle.as_ref().map_or(usize::MAX, |cycle| cycle.links().len())
    };
    let (store, load, cycle) = cycles.min_by_key(shortest)?;
    let access = |node| Access::of_node(&replay, &trace, node);
    let around: Vec<NodeId> = cycle.iter().flat_map(|cycle| cycle.from_node(store)).collect();
    // Of the loads of a snapshot, the one on the cycle is named.
    let load = around.get(1).copied().unwrap_or(load);
    let own = trace.node(store).thread;
    let others = around.into_iter().filter(|&node| trace.node(node).thread != own);
    Some(Reason { store: access(store)?, load: access(load)?, partners: others.filter_map(access).collect() })
}

/// Whether the thread takes one of these steps from the store on, before the load.
fn is_between(replay: &Replay, after: &[ThreadEdge], store: StepId, load: StepId) -> bool {
    let steps = replay.events().get(store.index()..load.index()).unwrap_or_default();
    let own = steps.first().map(|event| event.thread);
    let mut taken = steps.iter().filter(|event| Some(event.thread) == own);
    taken.any(|event| event.edge.is_some_and(|edge| after.contains(&(event.thread, edge))))
}

#[cfg(test)]
mod tests;
