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

    /// Where the cycle leaves what SC allows: a step of it from a store to a load that the store let pass.
    pub(crate) fn overtaking(&self) -> Option<Overtaking<'_>> {
        let trace = self.checked.happens_before();
        let pairs = self.cycle.as_ref()?.edges().filter(|&(_, relation, _)| relation == Relation::ProgramOrder);
        let mut nodes = pairs.map(|(from, _, to)| (trace.node(from), trace.node(to)));
        let (store, load) = nodes.find(|(store, load)| is_overtaken(store, load))?;
        let events = self.checked.replay().events();
        Some(Overtaking { store: events.get(store.step.index())?, load: events.get(load.step.index())? })
    }
}

fn is_overtaken(store: &Node, load: &Node) -> bool {
    let landed_later = store.landed.is_none_or(|landed| landed > load.step);
    store.kind == NodeKind::Store && load.kind == NodeKind::Load && landed_later
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

    /// A repair to try.
    pub(crate) fn advice(&self, program: &Program) -> String {
        let (thread, line) = (&program.thread(self.store.thread).name, self.store.line(program));
        format!("a `fence;` after the store in line {line} keeps the load of {thread} from overtaking it")
    }
}
