//! A run that was found and replayed, with what explains it.

use weir_ir::{EdgeId, Label, Program, ThreadId};
use weir_syntax::Language;
use weir_witness::{Checked, Cycle, Event, Loaded, NodeId, ReadFrom};

use crate::wording::place::place;

/// A replayed run, and a cycle of its happens-before relation if there is one.
pub struct Evidence {
    /// The run.
    pub checked: Box<Checked>,
    /// Why no run under SC behaves like this one; none if one does.
    pub cycle: Option<Cycle>,
}

/// A store that waited while a later load of its thread went ahead.
pub struct Overtaking<'e> {
    /// The store.
    pub store: &'e Event,
    /// The load.
    pub load: &'e Event,
    /// What it found. A snapshot loads several cells; this is the one that matters.
    loaded: Loaded,
}

impl Evidence {
    /// Looks for a cycle: this can take a moment for a long run, so it is done once.
    pub fn new(checked: Box<Checked>) -> Self {
        let cycle = checked.happens_before().cycle();
        Self { checked, cycle }
    }

    /// Where the cycle leaves what SC allows: a store that let a later load of its thread pass.
    pub fn overtaking(&self) -> Option<Overtaking<'_>> {
        let trace = self.checked.happens_before();
        let (store, load) =
            self.cycle.as_ref()?.delays(trace).find(|&(store, load)| trace.is_overtaken(store, load))?;
        let event = |node| self.checked.replay().events().get(trace.node(node).step.index());
        let (store, address, load) = (event(store)?, trace.node(load).address?, event(load)?);
        let loaded = *load.effect.loads().iter().find(|loaded| loaded.address == address)?;
        Some(Overtaking { store, load, loaded })
    }

    /// A repair to try. Only the order of a store and a later load can be lost under TSO, so a fence between the two,
    /// wherever the cycle has such a pair and nothing between them drains the buffer yet, makes this run impossible.
    /// Right after a store there is always a place for one; the last store before the load is taken, so that the load
    /// overtakes none of those in between either.
    pub fn advice(&self, program: &Program, language: Language) -> Option<String> {
        let stores = self.stores_to_fence(program);
        let after = |&(thread, edge): &(ThreadId, EdgeId)| {
            format!("in {} after {}", program.thread(thread).name, place(program, thread, edge))
        };
        let places: Vec<String> = stores.iter().map(after).collect();
        let fence = language.fence();
        (!places.is_empty()).then(|| format!("to rule this cycle out, put a `{fence}` {}", places.join(" and ")))
    }

    /// The stores after which fences make this run impossible, in order of the cycle.
    fn stores_to_fence(&self, program: &Program) -> Vec<(ThreadId, EdgeId)> {
        let trace = self.checked.happens_before();
        let pairs = self.cycle.iter().flat_map(|cycle| cycle.delays(trace));
        let open = pairs.filter(|&pair| !self.drains_between(program, pair));
        let mut stores = Vec::new();
        for store in open.filter_map(|pair| self.last_store_between(program, pair)) {
            if !stores.contains(&store) {
                stores.push(store);
            }
        }
        stores
    }

    /// The last store that the thread executes from the given one on, before the load.
    fn last_store_between(&self, program: &Program, pair: (NodeId, NodeId)) -> Option<(ThreadId, EdgeId)> {
        let mut executed = self.executed_between(pair);
        executed.rfind(|&(thread, edge)| program.body(thread).edge(edge).instruction.is_store())
    }

    /// Whether the thread executed something that drains its buffer from the store on, up to the load.
    fn drains_between(&self, program: &Program, pair: (NodeId, NodeId)) -> bool {
        let mut executed = self.executed_between(pair);
        executed.any(|(thread, edge)| program.body(thread).edge(edge).instruction.drains())
    }

    /// What the thread executes from the store on, before the load.
    fn executed_between(
        &self,
        (store, load): (NodeId, NodeId),
    ) -> impl DoubleEndedIterator<Item = (ThreadId, EdgeId)> + '_ {
        let (trace, events) = (self.checked.happens_before(), self.checked.replay().events());
        let (store, load) = (trace.node(store), trace.node(load));
        let steps = events.get(store.step.index()..load.step.index()).unwrap_or_default();
        let own = steps.iter().filter(|event| event.thread == store.thread);
        own.filter_map(|event| Some((event.thread, event.edge?)))
    }
}

impl Overtaking<'_> {
    /// In one line.
    pub fn text(&self, program: &Program) -> String {
        let thread = &program.thread(self.store.thread).name;
        let stored = self.store.effect.address().map_or_else(String::new, |cell| program.cell_name(cell));
        let loaded = program.cell_name(self.loaded.address);
        format!("{thread} can delay its store to `{stored}` past its load of `{loaded}`")
    }

    /// What to write beside the two places in the source.
    pub fn labels(&self) -> [Label; 2] {
        let origin = if self.loaded.from == ReadFrom::Memory { "memory" } else { "the buffer" };
        let reads = format!("already reads {} from {origin}", self.loaded.value);
        [
            Label { span: self.store.span, text: "this store waits in the buffer …".into() },
            Label { span: self.load.span, text: format!("… while this load {reads}") },
        ]
    }
}

#[cfg(test)]
mod tests;
