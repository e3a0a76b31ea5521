//! A triangular race, in the words of its three instructions.

use weir::robust::Race;
use weir_ir::{Address, Label, Program};
use weir_witness::{Effect, Event, StepId};

/// The events of a triangular race.
pub(crate) struct Racing<'r> {
    /// The store that may still be waiting.
    pub(crate) store: &'r Event,
    /// The load after it.
    pub(crate) load: &'r Event,
    /// The cell that is loaded and written.
    address: Address,
    /// The write of another thread to the cell that is loaded: the store, if its flush is what the run ends with.
    pub(crate) write: &'r Event,
}

impl<'r> Racing<'r> {
    /// The events of a race.
    pub(crate) fn new(race: &'r Race) -> Option<Self> {
        let event = |step: StepId| race.replay().events().get(step.index());
        let write = event(race.write())?;
        let write = if let Effect::Flush { store, .. } = write.effect { event(store)? } else { write };
        Some(Self { store: event(race.store())?, load: event(race.load())?, address: race.address(), write })
    }

    /// In one line.
    pub(crate) fn text(&self, program: &Program) -> String {
        let name = |event: &Event| &program.thread(event.thread).name;
        let cell = |event: &Event| event.effect.address().map_or_else(String::new, |cell| program.cell_name(cell));
        let (attacker, other) = (name(self.store), name(self.write));
        let (stored, loaded) = (cell(self.store), program.cell_name(self.address));
        format!("{attacker} stores to `{stored}`, then loads `{loaded}` while {other} writes `{loaded}`")
    }

    /// What to write beside the three places in the source.
    pub(crate) fn labels(&self) -> [Label; 3] {
        [
            Label { span: self.store.span, text: "this store can still be in the buffer …".into() },
            Label { span: self.load.span, text: "… when this load reads …".into() },
            Label { span: self.write.span, text: "… and another thread writes to the same cell".into() },
        ]
    }
}
