//! A run that was found and replayed, with what explains it.

use weir_ir::{Label, Program};
use weir_syntax::Language;
use weir_witness::{Checked, Cycle, Event, Loaded, NodeId, ReadFrom};

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

    /// A repair to try. Only the order of a store and a later load can be lost under TSO, so a fence between the
    /// two, wherever the cycle has such a pair and none is there yet, makes this cycle impossible. Right before the load
    /// is the place that also keeps the stores in between from being overtaken by it.
    pub fn advice(&self, program: &Program, language: Language) -> Option<String> {
        let (trace, events) = (self.checked.happens_before(), self.checked.replay().events());
        let place = |(_, load): (NodeId, NodeId)| {
            let load = trace.node(load);
            let line = events.get(load.step.index()).map_or(0, |event| event.line(program));
            format!("in {} before line {line}", program.thread(load.thread).name)
        };
        let pairs = self.cycle.iter().flat_map(|cycle| cycle.delays(trace));
        let mut places: Vec<String> = pairs.filter(|&pair| !self.drains_between(program, pair)).map(place).collect();
        places.dedup();
        let fence = language.fence();
        (!places.is_empty())
            .then(|| format!("a `{fence}` between the store and the load prevents this: {}", places.join(", ")))
    }

    /// Whether the thread executed something that drains its buffer from the store on, up to the load.
    fn drains_between(&self, program: &Program, (store, load): (NodeId, NodeId)) -> bool {
        let (trace, events) = (self.checked.happens_before(), self.checked.replay().events());
        let (store, load) = (trace.node(store), trace.node(load));
        let steps = events.get(store.step.index()..=load.step.index()).unwrap_or_default();
        let own = steps.iter().filter(|event| event.thread == store.thread);
        let mut edges = own.filter_map(|event| event.edge);
        edges.any(|edge| program.body(store.thread).edge(edge).instruction.drains())
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
