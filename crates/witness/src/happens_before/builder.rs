//! Collects the nodes of a run, step by step.

use std::collections::BTreeMap;

use weir_ir::sort::sort_by_key;
use weir_ir::{Address, ThreadId};

use super::{HappensBefore, Node, NodeId, NodeKind};
use crate::event::{Effect, Event, Loaded, ReadFrom, StepId};
use crate::replay::Replay;

/// The trace of a replayed run.
pub(super) fn build(replay: &Replay) -> HappensBefore {
    let mut builder = Builder::default();
    for (index, event) in replay.events().iter().enumerate() {
        builder.event(StepId::new(index), event);
    }
    builder.finish(replay)
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    source: Vec<Option<NodeId>>,
    stores: BTreeMap<Address, Vec<NodeId>>,
    by_step: BTreeMap<StepId, NodeId>,
    started: BTreeMap<NodeId, ThreadId>,
    sections: u32,
    open_section: Option<(ThreadId, u32)>,
}

impl Builder {
    fn event(&mut self, step: StepId, event: &Event) {
        match event.effect {
            Effect::Load(ref loaded) => self.load(step, event, loaded),
            Effect::Snapshot(ref loads) | Effect::Await(ref loads) => self.loads(step, event, loads),
            Effect::Store { address, buffered, .. } => {
                let node = self.add(step, event, NodeKind::Store, None);
                if !buffered {
                    self.land(node, address, step);
                }
            }
            Effect::Flush { address, store, .. } => {
                if let Some(&node) = self.by_step.get(&store) {
                    self.land(node, address, step);
                }
            }
            Effect::ReadModifyWrite { address, written, .. } => {
                let source = self.in_memory(address);
                let node = self.add(step, event, NodeKind::ReadModifyWrite, source);
                if written.is_some() {
                    self.land(node, address, step);
                }
            }
            Effect::Fence => {
                self.add(step, event, NodeKind::Fence, None);
            }
            Effect::Membarrier => {
                self.add(step, event, NodeKind::Membarrier, None);
            }
            Effect::Lock => {
                self.open_section = Some((event.thread, self.sections));
                self.sections += 1;
                self.add(step, event, NodeKind::Lock, None);
            }
            Effect::Unlock => {
                self.add(step, event, NodeKind::Unlock, None);
                self.open_section = None;
            }
            Effect::Spawn(started) => {
                let node = self.add(step, event, NodeKind::Spawn, None);
                self.started.insert(node, started);
            }
            Effect::Call { .. }
            | Effect::Return { .. }
            | Effect::Skip
            | Effect::Assign { .. }
            | Effect::Assume
            | Effect::Assert { .. }
            | Effect::Havoc { .. }
            | Effect::Terminate => {}
        }
    }

    /// Several loads in one step are a section of their own, unless they lie in one.
    fn loads(&mut self, step: StepId, event: &Event, loads: &[Loaded]) {
        if let [only] = loads {
            return self.load(step, event, only);
        }
        let around = self.open_section;
        if around.is_none_or(|(holder, _)| holder != event.thread) {
            self.open_section = Some((event.thread, self.sections));
            self.sections += 1;
        }
        loads.iter().for_each(|loaded| self.load(step, event, loaded));
        self.open_section = around;
    }

    fn load(&mut self, step: StepId, event: &Event, loaded: &Loaded) {
        let source = match loaded.from {
            ReadFrom::Buffer(store) => self.by_step.get(&store).copied(),
            ReadFrom::Memory => self.in_memory(loaded.address),
        };
        let node = self.add(step, event, NodeKind::Load, source);
        let node = &mut self.nodes[node.index()];
        (node.address, node.read) = (Some(loaded.address), Some(loaded.value));
    }

    fn add(&mut self, step: StepId, event: &Event, kind: NodeKind, source: Option<NodeId>) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        let section = self.open_section.filter(|&(holder, _)| holder == event.thread).map(|(_, section)| section);
        let (address, read, written) = (event.effect.address(), event.effect.read(), event.effect.written());
        self.nodes.push(Node { step, landed: None, thread: event.thread, kind, address, read, written, section });
        self.source.push(source);
        self.by_step.insert(step, id);
        id
    }

    /// The store whose value memory holds; none if it is the initial value.
    fn in_memory(&self, address: Address) -> Option<NodeId> {
        self.stores.get(&address)?.last().copied()
    }

    fn land(&mut self, node: NodeId, address: Address, step: StepId) {
        self.nodes[node.index()].landed = Some(step);
        self.stores.entry(address).or_default().push(node);
    }

    fn finish(mut self, replay: &Replay) -> HappensBefore {
        let holder = replay.last().lock_holder();
        let mut present: Vec<_> = replay.last().present_threads().collect();
        sort_by_key(&mut present, |&(thread, _)| Some(thread) != holder);
        for waiting in present.iter().flat_map(|(_, own)| &own.buffer) {
            if let Some(&node) = self.by_step.get(&waiting.step) {
                self.stores.entry(waiting.address).or_default().push(node);
            }
        }
        let mut graph = HappensBefore {
            threads: vec![Vec::new(); replay.last().thread_count()],
            thread_position: Vec::new(),
            store_position: vec![None; self.nodes.len()],
            readers: vec![Vec::new(); self.nodes.len()],
            nodes: self.nodes,
            stores: self.stores,
            source: self.source,
            started: self.started,
        };
        graph.index();
        graph
    }
}
