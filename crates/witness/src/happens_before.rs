//! The trace of a run: its memory accesses and fences, and the four relations between them.
//!
//! This follows "Checking and Enforcing Robustness against TSO", §3: program order, store order, source
//! and conflict; their union is happens-before, and a run has the trace of some SC run exactly if that is
//! acyclic (Lemma 1 there). A buffered store and its flush are one node, at the place of the store in program order
//! and at the place of the flush in store order.
//!
//! Where the paper is silent:
//! - A run may end before it is drained. Stores that still wait come last in store order, as if they were flushed after
//!   the end: first those of the thread that holds the lock (nobody else could flush), then thread by thread.
//! - A read-modify-write is one node that loads and stores; if its comparison fails it only loads.
//! - What a thread does while it holds the lock happens under SC with no access of another thread in
//!   between. So a cycle may enter such a section at any of its nodes and leave it at any other, be it an
//!   earlier one ([`Relation::Section`]). Sections are not ordered among each other unless their accesses are.
//! - `spawn` is a node that happens before everything that the thread does which it starts.
//! - A snapshot is one node for each cell that it loads, and these are a section: under SC, too, they are one step.

mod builder;

use std::collections::BTreeMap;

use weir_ir::{Address, ThreadId, Value};

use crate::event::StepId;
use crate::replay::Replay;

/// A node of a trace: its place in [`HappensBefore::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The `index`-th node.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` nodes, which no run that fits memory has.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("more than u32::MAX nodes"))
    }

    /// The place in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum NodeKind {
    Load,
    Store,
    ReadModifyWrite,
    Fence,
    Membarrier,
    Lock,
    Unlock,
    Spawn,
}

impl NodeKind {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::ReadModifyWrite => "rmw",
            Self::Fence => "fence",
            Self::Membarrier => "membarrier",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Spawn => "spawn",
        }
    }
}

/// A memory access, the start of a thread or fence of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The step that executed it.
    pub step: StepId,
    /// The step in which what it wrote reached memory. None if it wrote nothing, or still waits in the buffer.
    pub landed: Option<StepId>,
    /// Whose.
    pub thread: ThreadId,
    /// What it does.
    pub kind: NodeKind,
    /// The cell it accesses.
    pub address: Option<Address>,
    /// What it read.
    pub read: Option<Value>,
    /// What it wrote.
    pub written: Option<Value>,
    /// The stretch between `lock` and `unlock` it belongs to, or else the snapshot; counted over the run from 0.
    pub section: Option<u32>,
}

/// How one node happens before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// The same thread executes it earlier.
    ProgramOrder,
    /// Both store to the same cell, and its value reaches memory earlier.
    StoreOrder,
    /// A load reads what a store wrote.
    Source,
    /// A load reads what a store then overwrites.
    Conflict,
    /// Both belong to one locked section or to one snapshot, which is one step to all other threads. Holds in both
    /// directions.
    Section,
    /// It starts the thread, of which the other is the first node.
    Start,
}

impl Relation {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProgramOrder => "program order",
            Self::StoreOrder => "store order",
            Self::Source => "source",
            Self::Conflict => "conflict",
            Self::Section => "one step",
            Self::Start => "start",
        }
    }
}

/// The happens-before graph of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HappensBefore {
    nodes: Vec<Node>,
    /// The nodes of each thread, in program order.
    threads: Vec<Vec<NodeId>>,
    /// The stores to each cell, in store order.
    stores: BTreeMap<Address, Vec<NodeId>>,
    /// For each node, its position in the list of its thread.
    thread_position: Vec<usize>,
    /// For each node that stores, its position in the list of its cell.
    store_position: Vec<Option<usize>>,
    /// For each node that loads, the store it reads; none if it reads the initial value.
    source: Vec<Option<NodeId>>,
    /// The loads that read each store.
    readers: Vec<Vec<NodeId>>,
    /// The thread that each spawn starts.
    started: BTreeMap<NodeId, ThreadId>,
}

impl HappensBefore {
    /// The trace of a replayed run.
    pub fn new(replay: &Replay) -> Self {
        builder::build(replay)
    }

    /// The nodes, in the order in which the run executes them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// The nodes of each thread of the program, in program order.
    pub fn threads(&self) -> &[Vec<NodeId>] {
        &self.threads
    }

    /// The stores to a cell, in store order.
    pub fn stores(&self, address: Address) -> &[NodeId] {
        self.stores.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The store that a load reads; none if it reads the initial value, or is no load.
    pub fn source(&self, load: NodeId) -> Option<NodeId> {
        self.source[load.index()]
    }

    /// The loads that read a store.
    pub fn readers(&self, store: NodeId) -> &[NodeId] {
        &self.readers[store.index()]
    }

    /// The store that overwrites what a load reads. A read-modify-write is not in conflict with itself.
    pub fn conflict(&self, load: NodeId) -> Option<NodeId> {
        let node = self.node(load);
        node.read?;
        let overwriter = match self.source(load) {
            Some(store) => self.later_stores(store).first().copied(),
            None => self.stores(node.address?).first().copied(),
        };
        overwriter.filter(|&store| store != load)
    }

    /// The first node of the thread that a spawn starts, if it has one.
    pub fn started(&self, spawn: NodeId) -> Option<NodeId> {
        self.threads[self.started.get(&spawn)?.index()].first().copied()
    }

    /// The nodes after this one in program order.
    pub fn later_in_thread(&self, node: NodeId) -> &[NodeId] {
        let chain = &self.threads[self.node(node).thread.index()];
        &chain[self.thread_position(node) + 1..]
    }

    /// The stores after this one in store order; empty if it stores nothing.
    pub fn later_stores(&self, node: NodeId) -> &[NodeId] {
        match (self.node(node).address, self.store_position(node)) {
            (Some(address), Some(position)) => &self.stores(address)[position + 1..],
            _ => &[],
        }
    }

    /// Where the node is in the list of its thread.
    pub(crate) fn thread_position(&self, node: NodeId) -> usize {
        self.thread_position[node.index()]
    }

    /// Where the node is in the list of stores to its cell.
    pub(crate) fn store_position(&self, node: NodeId) -> Option<usize> {
        self.store_position[node.index()]
    }

    /// All edges; of program order and store order only those to the next node, which generate the rest.
    pub fn edges(&self) -> Vec<(NodeId, Relation, NodeId)> {
        let mut edges = Vec::new();
        for node in (0..self.nodes.len()).map(NodeId::new) {
            let mut add = |relation, to: Option<&NodeId>| edges.extend(to.map(|&to| (node, relation, to)));
            let next = self.later_in_thread(node).first();
            let is_one_step = next.is_some_and(|&next| self.node(next).step == self.node(node).step);
            add(if is_one_step { Relation::Section } else { Relation::ProgramOrder }, next);
            add(Relation::StoreOrder, self.later_stores(node).first());
            self.readers(node).iter().for_each(|reader| add(Relation::Source, Some(reader)));
            add(Relation::Conflict, self.conflict(node).as_ref());
            add(Relation::Start, self.started(node).as_ref());
        }
        edges
    }
}

impl HappensBefore {
    /// Fills in what follows from the nodes, the lists of stores and the sources.
    fn index(&mut self) {
        for (index, node) in self.nodes.iter().enumerate() {
            let chain = &mut self.threads[node.thread.index()];
            self.thread_position.push(chain.len());
            chain.push(NodeId::new(index));
            if let Some(store) = self.source[index] {
                self.readers[store.index()].push(NodeId::new(index));
            }
        }
        for chain in self.stores.values() {
            for (position, store) in chain.iter().enumerate() {
                self.store_position[store.index()] = Some(position);
            }
        }
    }
}

#[cfg(test)]
mod tests;
