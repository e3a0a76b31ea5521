//! A run that was found and replayed, with what explains it.

use weir_ir::{Label, Program};
use weir_witness::{Checked, Cycle, Effect, Event, Node, NodeKind, ReadFrom, Relation};

/// A replayed run, and a cycle of its happens-before relation if there is one.
pub(crate) struct Evidence {
    /// The run.
    pub(crate) checked: Box<Checked>,
    /// Why no run under SC behaves like this one; none if one does.
    pub(crate) cycle: Option<Cycle>,
}

/// A store that waited while a later load of its thread went ahead.
pub(crate) struct Overtaking<'e> {
    /// The store.
    pub(crate) store: &'e Event,
    /// The load.
    pub(crate) load: &'e Event,
}

impl Evidence {
    /// Looks for a cycle: this can take a moment for a long run, so it is done once.
    pub(crate) fn new(checked: Box<Checked>) -> Self {
        let cycle = checked.happens_before().cycle();
        Self { checked, cycle }
    }

    /// Where the cycle leaves what SC allows: a store that let a later load of its thread pass.
    pub(crate) fn overtaking(&self) -> Option<Overtaking<'_>> {
        let (store, load) = self.delays().find(|(store, load)| store.landed.is_none_or(|landed| landed > load.step))?;
        let events = self.checked.replay().events();
        Some(Overtaking { store: events.get(store.step.index())?, load: events.get(load.step.index())? })
    }

    /// A repair to try. Only the order of a store and a later load can be lost under TSO, so a fence between the
    /// two, wherever the cycle has such a pair, makes this cycle impossible. Right before the load is the place that
    /// also keeps the stores in between from being overtaken by it.
    pub(crate) fn advice(&self, program: &Program) -> Option<String> {
        let events = self.checked.replay().events();
        let place = |(_, load): (&Node, &Node)| {
            let line = events.get(load.step.index()).map_or(0, |event| event.line(program));
            format!("in {} before line {line}", program.thread(load.thread).name)
        };
        let mut places: Vec<String> = self.delays().map(place).collect();
        places.dedup();
        // A litmus test is mended in its own language.
        let fence = if program.source.name().ends_with(".litmus") { "MFENCE" } else { "fence;" };
        (!places.is_empty())
            .then(|| format!("a `{fence}` between the store and the load rules this out: {}", places.join(", ")))
    }

    /// The pairs of a store and a later load of the same thread that the cycle passes through.
    fn delays(&self) -> impl Iterator<Item = (&Node, &Node)> {
        let trace = self.checked.happens_before();
        let edges = self.cycle.iter().flat_map(Cycle::edges);
        edges
            .filter(|&(_, relation, _)| relation == Relation::ProgramOrder)
            .map(|(from, _, to)| (trace.node(from), trace.node(to)))
            .filter(|(from, to)| from.kind == NodeKind::Store && to.kind == NodeKind::Load)
    }
}

impl Overtaking<'_> {
    /// What to write beside the two places in the source.
    pub(crate) fn labels(&self) -> [Label; 2] {
        let reads = match self.load.effect {
            Effect::Load { value, from: ReadFrom::Memory, .. } => format!("already reads {value} from memory"),
            Effect::Load { value, .. } => format!("already reads {value} from the buffer"),
            _ => "already reads".to_owned(),
        };
        [
            Label { span: self.store.span, text: "this store waits in the buffer …".into() },
            Label { span: self.load.span, text: format!("… while this load {reads}") },
        ]
    }
}
