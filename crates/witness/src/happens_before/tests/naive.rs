//! Happens-before, read off a run by the definition: every pair of nodes is looked at.

use std::collections::BTreeSet;

use super::*;
use crate::event::{Effect, Event, ReadFrom};

/// A trace, with all its pairs written out.
pub(crate) struct Naive {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pairs: BTreeSet<(NodeId, Relation, NodeId)>,
}

pub(crate) fn naive(replay: &Replay) -> Naive {
    let events = replay.events();
    let mut nodes: Vec<Node> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        nodes.extend(nodes_of(events, StepId::new(index), event));
    }
    number_sections(events, &mut nodes);
    let mut trace = Naive { nodes, pairs: BTreeSet::new() };
    trace.pairs = trace
        .ids()
        .flat_map(|from| trace.ids().map(move |to| (from, to)))
        .flat_map(|(from, to)| trace.relations(replay, from, to).into_iter().map(move |relation| (from, relation, to)))
        .collect();
    trace
}

/// The nodes of a step: one, or none, but for a snapshot.
fn nodes_of(events: &[Event], step: StepId, event: &Event) -> Vec<Node> {
    let blank = Node {
        step,
        landed: None,
        thread: event.thread,
        kind: NodeKind::Fence,
        address: None,
        read: None,
        written: None,
        section: None,
    };
    match &event.effect {
        Effect::Load(_) | Effect::Snapshot(_) | Effect::Await(_) => {
            let loads = event.effect.loads().iter();
            let node = |loaded: &crate::event::Loaded| Node {
                kind: NodeKind::Load,
                address: Some(loaded.address),
                read: Some(loaded.value),
                ..blank
            };
            loads.map(node).collect()
        }
        Effect::Store { address, value, buffered } => {
            let landed = if *buffered { flush_of(events, step) } else { Some(step) };
            vec![Node { kind: NodeKind::Store, address: Some(*address), written: Some(*value), landed, ..blank }]
        }
        Effect::ReadModifyWrite { address, read, written, .. } => {
            let (address, read, written) = (Some(*address), Some(*read), *written);
            let landed = written.map(|_| step);
            vec![Node { kind: NodeKind::ReadModifyWrite, address, read, written, landed, ..blank }]
        }
        Effect::Fence => vec![blank],
        Effect::Membarrier => vec![Node { kind: NodeKind::Membarrier, ..blank }],
        Effect::Lock => vec![Node { kind: NodeKind::Lock, ..blank }],
        Effect::Unlock => vec![Node { kind: NodeKind::Unlock, ..blank }],
        _ => Vec::new(),
    }
}

/// Buffers are first in, first out: the n-th store of a thread lands with the n-th flush of the thread.
fn flush_of(events: &[Event], store: StepId) -> Option<StepId> {
    let thread = events[store.index()].thread;
    let of_thread = |(_, event): &(usize, &Event)| event.thread == thread;
    let stores = events[..store.index()].iter().enumerate().filter(of_thread);
    let earlier = stores.filter(|(_, event)| matches!(event.effect, Effect::Store { .. })).count();
    let flushes = events.iter().enumerate().filter(of_thread);
    let mut flushes = flushes.filter(|(_, event)| matches!(event.effect, Effect::Flush { .. }));
    flushes.nth(earlier).map(|(index, _)| StepId::new(index))
}

/// Locked sections and the snapshots outside of them, in the order in which they begin.
fn number_sections(events: &[Event], nodes: &mut [Node]) {
    let mut sections = 0;
    for (index, event) in events.iter().enumerate() {
        let mine = |node: &Node| node.thread == event.thread && node.step.index() >= index;
        match event.effect {
            Effect::Lock => {
                let unlock =
                    |(_, later): &(usize, &Event)| later.thread == event.thread && later.effect == Effect::Unlock;
                let end = events.iter().enumerate().skip(index).find(unlock).map_or(events.len(), |(end, _)| end);
                let inside = nodes.iter_mut().filter(|node| mine(node) && node.step.index() <= end);
                inside.for_each(|node| node.section = Some(sections));
                sections += 1;
            }
            Effect::Snapshot(_) | Effect::Await(_) if event.effect.loads().len() > 1 => {
                let here = || nodes.iter().filter(|node| mine(node) && node.step.index() == index);
                if here().all(|node| node.section.is_none()) {
                    let here = nodes.iter_mut().filter(|node| mine(node) && node.step.index() == index);
                    here.for_each(|node| node.section = Some(sections));
                    sections += 1;
                }
            }
            _ => {}
        }
    }
}

impl Naive {
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// When a store comes in store order. What never lands comes last: first what the holder of the lock has stored.
    fn landing(&self, replay: &Replay, id: NodeId) -> (usize, bool, ThreadId, StepId) {
        let node = self.node(id);
        let landed = node.landed.map_or(usize::MAX, StepId::index);
        (landed, replay.last().lock_holder() != Some(node.thread), node.thread, node.step)
    }

    /// The stores to a cell, in store order.
    pub(crate) fn stores(&self, replay: &Replay, address: Address) -> Vec<NodeId> {
        let is_store = |id: &NodeId| self.node(*id).written.is_some() && self.node(*id).address == Some(address);
        let mut stores: Vec<NodeId> = self.ids().filter(is_store).collect();
        stores.sort_by_key(|&id| self.landing(replay, id));
        stores
    }

    /// The store that a load reads: the newest of its own that waits, or else what landed last.
    pub(crate) fn source(&self, replay: &Replay, load: NodeId) -> Option<NodeId> {
        let node = self.node(load);
        node.read?;
        let stores = self.stores(replay, node.address?);
        let waits = |id: &&NodeId| {
            let store = self.node(**id);
            let is_earlier = store.thread == node.thread && store.step < node.step;
            is_earlier && store.landed.is_none_or(|landed| landed > node.step)
        };
        let newest = stores.iter().filter(waits).max_by_key(|id| self.node(**id).step);
        let landed = |id: &&NodeId| self.node(**id).landed.is_some_and(|landed| landed < node.step);
        newest.or_else(|| stores.iter().filter(landed).max_by_key(|id| self.node(**id).landed)).copied()
    }

    /// The store that overwrites what a load reads.
    pub(crate) fn conflict(&self, replay: &Replay, load: NodeId) -> Option<NodeId> {
        self.node(load).read?;
        let stores = self.stores(replay, self.node(load).address?);
        let source = self.source(replay, load);
        let after = stores.iter().position(|&store| Some(store) == source).map_or(0, |position| position + 1);
        stores.get(after).copied().filter(|&store| store != load)
    }

    /// All ways in which one node happens before another.
    fn relations(&self, replay: &Replay, from: NodeId, to: NodeId) -> Vec<Relation> {
        let (first, second) = (self.node(from), self.node(to));
        let same_cell = first.address.is_some() && first.address == second.address;
        let both_write = first.written.is_some() && second.written.is_some();
        let in_store_order = || self.landing(replay, from) < self.landing(replay, to);
        let is_one_step = first.step == second.step;
        let mut relations = Vec::new();
        if first.thread == second.thread && first.step < second.step {
            relations.push(Relation::ProgramOrder);
        }
        if same_cell && both_write && from != to && in_store_order() {
            relations.push(Relation::StoreOrder);
        }
        if self.source(replay, to) == Some(from) {
            relations.push(Relation::Source);
        }
        if self.conflict(replay, from) == Some(to) {
            relations.push(Relation::Conflict);
        }
        if from != to && (is_one_step || first.section.is_some() && first.section == second.section) {
            relations.push(Relation::Section);
        }
        relations
    }

    /// What is one step to all other threads: the least node of the section, or the node itself.
    pub(crate) fn block(&self, id: NodeId) -> NodeId {
        let section = self.node(id).section;
        self.ids().find(|&other| section.is_some() && self.node(other).section == section).unwrap_or(id)
    }

    /// The number of blocks on a shortest cycle, by walking from each block in all ways at once.
    pub(crate) fn shortest_cycle(&self) -> Option<usize> {
        let pairs = self.pairs.iter().map(|&(from, _, to)| (self.block(from), self.block(to)));
        let pairs: BTreeSet<_> = pairs.filter(|(from, to)| from != to).collect();
        let blocks: BTreeSet<NodeId> = self.ids().map(|id| self.block(id)).collect();
        let length_through = |&start: &NodeId| {
            let mut reached = BTreeSet::from([start]);
            (1..=blocks.len()).find(|_| {
                reached = pairs.iter().filter(|(from, _)| reached.contains(from)).map(|&(_, to)| to).collect();
                reached.contains(&start)
            })
        };
        blocks.iter().filter_map(length_through).min()
    }
}

/// Whether a load took its value from where it says.
pub(crate) fn origin(trace: &Naive, load: NodeId, source: Option<NodeId>) -> ReadFrom {
    let waits = |&store: &NodeId| {
        let (store, load) = (trace.node(store), trace.node(load));
        store.thread == load.thread && store.landed.is_none_or(|landed| landed > load.step)
    };
    source.filter(waits).map_or(ReadFrom::Memory, |store| ReadFrom::Buffer(trace.node(store).step))
}
