//! Cycles of happens-before: the proof that no SC run has the trace.
//!
//! Nodes between `lock` and `unlock`, and those of one snapshot, are one *block*; every other node is a block of its
//! own; a cycle runs through at least two blocks. Whether there is one is decided exactly, in time linear in the trace.
//! The one returned is as short as can be, counted in blocks, with program order and store order taken as transitive.
//! To find it, the search goes breadth-first from each store that waited while its thread went on. Every cycle passes
//! through such a store: if a load happens when it is executed and a store when it lands, all relations lead forward in
//! time except program order out of a store that was overtaken.

use std::collections::{BTreeMap, VecDeque};

use weir_ir::Address;

use crate::happens_before::{HappensBefore, NodeId, NodeKind, Relation};
use crate::limits::CYCLE_EFFORT;

/// A cycle of happens-before: each node with how it leads to the next, and the last to the first. It starts
/// with the node that the run executes first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cycle {
    links: Vec<(NodeId, Relation)>,
}

impl Cycle {
    /// Each node with how it leads to the next, and the last to the first.
    pub fn links(&self) -> &[(NodeId, Relation)] {
        &self.links
    }

    /// The same as edges.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, Relation, NodeId)> {
        let next = self.links.iter().cycle().skip(1);
        self.links.iter().zip(next).map(|(&(from, relation), &(to, _))| (from, relation, to))
    }

    /// The nodes in order, beginning with this one. Empty if the cycle does not pass through it.
    pub fn from_node(&self, first: NodeId) -> impl Iterator<Item = NodeId> {
        let start = self.links.iter().position(|&(node, _)| node == first);
        let rest = start.map_or(&[][..], |start| &self.links[start..]);
        let wrapped = start.map_or(&[][..], |start| &self.links[..start]);
        rest.iter().chain(wrapped).map(|&(node, _)| node)
    }

    /// The pairs of a store and a later load of its thread that the cycle passes through, those within one locked
    /// section left out: only their order can be lost under TSO. `trace` must be the one the cycle was found in.
    pub fn delays(&self, trace: &HappensBefore) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.edges()
            .filter(|&(_, relation, _)| relation == Relation::ProgramOrder)
            .map(|(from, _, to)| (from, to))
            .filter(|&(from, to)| {
                let (from, to) = (trace.node(from), trace.node(to));
                let is_one_step = from.section.is_some() && from.section == to.section;
                from.kind == NodeKind::Store && to.kind == NodeKind::Load && !is_one_step
            })
    }
}

impl HappensBefore {
    /// Whether no SC run has this trace.
    pub fn is_cyclic(&self) -> bool {
        let blocks = Blocks::new(self);
        blocks.knotted(self).contains(&true)
    }

    /// A shortest cycle, always the same one for the same trace; none exactly if an SC run has this trace.
    ///
    /// In a trace so large that looking for a shorter one would take long, the shortest found by then.
    pub fn cycle(&self) -> Option<Cycle> {
        self.cycle_within(CYCLE_EFFORT)
    }

    /// A shortest cycle that leads from this store right to this load, which comes later in its thread, or to another
    /// load of the same snapshot; none if there is no way from there back to the store. The store must not be part of
    /// a section.
    pub fn cycle_through(&self, store: NodeId, load: NodeId) -> Option<Cycle> {
        let blocks = Blocks::new(self);
        let knotted = blocks.knotted(self);
        let mut walk = Walk::new(self, &blocks, &knotted, store);
        let first = blocks.of(load);
        walk.arrived[first] = Some(Link { from: store, relation: Relation::ProgramOrder, to: load });
        walk.queue = VecDeque::from([first]);
        walk.run().map(|(_, cycle)| cycle)
    }

    fn cycle_within(&self, effort: usize) -> Option<Cycle> {
        let blocks = Blocks::new(self);
        let knotted = blocks.knotted(self);
        let mut best: Option<(usize, Cycle)> = None;
        let mut spent = 0;
        for start in self.overtaken_stores().filter(|&store| knotted[blocks.of(store)]) {
            let mut walk = Walk::new(self, &blocks, &knotted, start);
            best = best.into_iter().chain(walk.run()).min();
            spent += walk.looked_at;
            if spent > effort && best.is_some() {
                break;
            }
        }
        best.map(|(_, cycle)| cycle)
    }

    /// Whether a store reached memory, if at all, only after a later load of its thread was executed.
    pub fn is_overtaken(&self, store: NodeId, load: NodeId) -> bool {
        self.node(store).landed.is_none_or(|landed| landed > self.node(load).step)
    }

    /// Stores outside of sections that landed, if at all, after a later instruction of their thread was executed.
    fn overtaken_stores(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes().len()).map(NodeId::new).filter(|&id| {
            let node = self.node(id);
            let overtaker = self.later_in_thread(id).first().map(|&next| self.node(next).step);
            let is_overtaken = overtaker.is_some_and(|step| node.landed.is_none_or(|landed| step < landed));
            node.kind == NodeKind::Store && node.section.is_none() && is_overtaken
        })
    }
}

/// The nodes grouped into what is one step to all other threads.
struct Blocks {
    block_of: Vec<usize>,
    members: Vec<Vec<NodeId>>,
}

impl Blocks {
    fn new(graph: &HappensBefore) -> Self {
        let (mut block_of, mut members) = (Vec::new(), Vec::<Vec<NodeId>>::new());
        let mut sections = BTreeMap::new();
        for (index, node) in graph.nodes().iter().enumerate() {
            let fresh = members.len();
            let block = node.section.map_or(fresh, |section| *sections.entry(section).or_insert(fresh));
            if block == fresh {
                members.push(Vec::new());
            }
            members[block].push(NodeId::new(index));
            block_of.push(block);
        }
        Self { block_of, members }
    }

    fn of(&self, node: NodeId) -> usize {
        self.block_of[node.index()]
    }

    /// Which blocks lie on a cycle, or on a path from one to another.
    fn knotted(&self, graph: &HappensBefore) -> Vec<bool> {
        let edges = graph.edges().into_iter().map(|(from, _, to)| (self.of(from), self.of(to)));
        let mut edges: Vec<_> = edges.filter(|(from, to)| from != to).collect();
        let mut knotted = vec![true; self.members.len()];
        peel(&edges, &mut knotted);
        edges.iter_mut().for_each(|edge| *edge = (edge.1, edge.0));
        peel(&edges, &mut knotted);
        knotted
    }
}

/// Takes away, as long as there is one, a block that no edge from a remaining block leads to.
fn peel(edges: &[(usize, usize)], remaining: &mut [bool]) {
    let mut successors = vec![Vec::new(); remaining.len()];
    let mut incoming = vec![0usize; remaining.len()];
    for &(from, to) in edges.iter().filter(|&&(from, to)| remaining[from] && remaining[to]) {
        successors[from].push(to);
        incoming[to] += 1;
    }
    let mut free: Vec<usize> = (0..remaining.len()).filter(|&at| remaining[at] && incoming[at] == 0).collect();
    while let Some(block) = free.pop() {
        remaining[block] = false;
        for &next in &successors[block] {
            incoming[next] -= 1;
            if incoming[next] == 0 {
                free.push(next);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Link {
    from: NodeId,
    relation: Relation,
    to: NodeId,
}

/// A breadth-first search for a way from a store back to it.
///
/// Program order and store order are transitive, so a node leads to the whole rest of a list. What was
/// looked at once need not be looked at again; therefore each list is walked at most once in all.
struct Walk<'a> {
    graph: &'a HappensBefore,
    blocks: &'a Blocks,
    knotted: &'a [bool],
    start: NodeId,
    arrived: Vec<Option<Link>>,
    queue: VecDeque<usize>,
    /// From where on the nodes of each thread have been looked at.
    thread_done_from: Vec<usize>,
    /// From where on the stores to each cell have been looked at.
    stores_done_from: BTreeMap<Address, usize>,
    looked_at: usize,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a HappensBefore, blocks: &'a Blocks, knotted: &'a [bool], start: NodeId) -> Self {
        Self {
            graph,
            blocks,
            knotted,
            start,
            arrived: vec![None; blocks.members.len()],
            queue: VecDeque::from([blocks.of(start)]),
            thread_done_from: graph.threads().iter().map(Vec::len).collect(),
            stores_done_from: BTreeMap::new(),
            looked_at: blocks.members.len(),
        }
    }

    /// A shortest cycle through the start, and on how many blocks it lies.
    fn run(&mut self) -> Option<(usize, Cycle)> {
        let blocks = self.blocks;
        while let Some(block) = self.queue.pop_front() {
            for &node in &blocks.members[block] {
                if let Some(last) = self.expand(node) {
                    return Some(self.cycle(last));
                }
            }
        }
        None
    }

    /// Goes on from a node; returns the link that closes a cycle, if there is one.
    fn expand(&mut self, from: NodeId) -> Option<Link> {
        let graph = self.graph;
        let fresh = self.fresh_in_thread(from);
        let program_order = fresh.iter().map(|&to| (Relation::ProgramOrder, to));
        let conflict = graph.conflict(from).into_iter().map(|to| (Relation::Conflict, to));
        let source = graph.readers(from).iter().map(|&to| (Relation::Source, to));
        let fresh = self.fresh_stores(from);
        let store_order = fresh.iter().map(|&to| (Relation::StoreOrder, to));
        let start = graph.started(from).into_iter().map(|to| (Relation::Start, to));
        let mut links = program_order.chain(conflict).chain(source).chain(store_order).chain(start);
        links.find_map(|(relation, to)| self.visit(Link { from, relation, to }))
    }

    fn fresh_in_thread(&mut self, from: NodeId) -> &'a [NodeId] {
        let done_from = &mut self.thread_done_from[self.graph.node(from).thread.index()];
        fresh(self.graph.later_in_thread(from), self.graph.thread_position(from), done_from)
    }

    fn fresh_stores(&mut self, from: NodeId) -> &'a [NodeId] {
        match (self.graph.node(from).address, self.graph.store_position(from)) {
            (Some(address), Some(position)) => {
                let count = self.graph.stores(address).len();
                let done_from = self.stores_done_from.entry(address).or_insert(count);
                fresh(self.graph.later_stores(from), position, done_from)
            }
            _ => &[],
        }
    }

    fn visit(&mut self, link: Link) -> Option<Link> {
        self.looked_at += 1;
        let block = self.blocks.of(link.to);
        if link.to == self.start {
            return Some(link);
        }
        if self.knotted[block] && self.arrived[block].is_none() && block != self.blocks.of(link.from) {
            self.arrived[block] = Some(link);
            self.queue.push_back(block);
        }
        None
    }

    /// The cycle that `last` closes, and on how many blocks it lies.
    fn cycle(&self, last: Link) -> (usize, Cycle) {
        let mut back = vec![last];
        let mut at = last;
        while let Some(link) = self.arrived[self.blocks.of(at.from)] {
            back.push(link);
            at = link;
        }
        let length = back.len();
        let mut links = Vec::new();
        let mut entered = self.start;
        for link in back.into_iter().rev() {
            // The loads of a snapshot are reached alike by program order, so the one that leads on is taken.
            let is_one_step = self.graph.node(entered).step == self.graph.node(link.from).step;
            let came_by = links.last().map(|&(_, relation)| relation);
            if entered != link.from && !(is_one_step && came_by == Some(Relation::ProgramOrder)) {
                // Nodes are numbered as they are executed, so the order of numbers is program order here.
                let is_later = entered < link.from && !is_one_step;
                let inside = if is_later { Relation::ProgramOrder } else { Relation::Section };
                links.push((entered, inside));
            }
            links.push((link.from, link.relation));
            entered = link.to;
        }
        let first = links.iter().enumerate().min_by_key(|(_, (node, _))| *node).map_or(0, |(at, _)| at);
        links.rotate_left(first);
        (length, Cycle { links })
    }
}

/// The part of `later`, which follows `position` in its list, that was not looked at yet.
fn fresh<'a>(later: &'a [NodeId], position: usize, done_from: &mut usize) -> &'a [NodeId] {
    let count = done_from.saturating_sub(position + 1).min(later.len());
    *done_from = (*done_from).min(position + 1);
    &later[..count]
}

#[cfg(test)]
mod tests;
