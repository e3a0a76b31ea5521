//! Triangular races: evidence that a program is not free of them. This is no violation of robustness: see [`Race`].

use std::collections::BTreeSet;

use weir_ir::{Address, Gather, Program, ThreadId};
use weir_witness::{Action, Effect, Event, Loaded, Model, ReadFrom, Replay, Run, StepId, replay};

use crate::attack::{Attack, ThreadEdge};

/// A triangular race (after S. Owens, "Reasoning about the Implementation of Concurrency Abstractions on x86-TSO",
/// 2010): a thread stores, and goes on to load from another cell with nothing in between that waits for the store to
/// land, nor a store to that cell; and the next step is a write of another thread to the cell that is loaded, be it by
/// a locked instruction or not. A locked section of the other thread counts as one write.
///
/// Without such a race no store buffer makes a difference. With one, it may or may not: a program with a triangular
/// race can well be robust.
///
/// The run leads up to the race, and its last step is the write. It is a run under SC, in which the thread makes all
/// steps from its store to its load in a row; only where the section that writes depends on the store not being there
/// yet, it is one under TSO, with the store in its buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    run: Run,
    replay: Replay,
    store: StepId,
    load: StepId,
    address: Address,
    write: StepId,
}

impl Race {
    /// Replays a run that ends in a write, and checks that the write is in a triangular race with the last load of
    /// `thread`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(program: &Program, run: Run, thread: ThreadId) -> Result<Self, String> {
        let replay = replay(program, &run).map_err(|error| error.to_string())?;
        let events = replay.events();
        let last = events.len().checked_sub(1).ok_or("an empty run")?;
        let is_own_load = |event: &Event| event.thread == thread && !event.effect.loads().is_empty();
        let load = events.iter().rposition(is_own_load).ok_or("no load")?;
        let is_written =
            |loaded: &&Loaded| events[last].thread != thread && writes_memory(&events[last], loaded.address);
        let loaded = events[load].effect.loads().iter().find(is_written);
        let loaded = *loaded.ok_or("the last step is no write of another thread to the cell")?;
        let address = loaded.address;
        let store = waiting_store(&events[..load], thread, address).ok_or("no store waits")?;
        if !is_one_access(events, load + 1) {
            return Err("the write does not come next to the load".into());
        }
        if run.model == Model::Sc && !events[store..=load].iter().all(|event| event.thread == thread) {
            return Err("others act between the store and the load".into());
        }
        if run.model == Model::Tso && (loaded.from != ReadFrom::Memory || !waits_to_the_end(events, store)) {
            return Err("the store has landed, or the load has seen it".into());
        }
        let (store, load, write) = (StepId::new(store), StepId::new(load), StepId::new(last));
        Ok(Self { run, replay, store, load, address, write })
    }

    /// The run up to the race.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What its steps did.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The steps of the loading thread from its waiting store on, up to its load but without it. A fence after any of
    /// them would have prevented the race.
    pub(crate) fn overtaken(&self) -> BTreeSet<ThreadEdge> {
        let thread = self.replay.events()[self.load.index()].thread;
        let between = &self.run.steps[self.store.index()..self.load.index()];
        let own = between.iter().filter(|step| step.thread == thread);
        own.filter_map(|step| match step.action {
            Action::Execute { edge, .. } => Some((thread, edge)),
            Action::Flush => None,
        })
        .gather()
    }

    /// The thread that loads, its store and its load, as edges.
    pub(crate) fn attack(&self) -> Option<Attack> {
        let edge = |step: StepId| match self.run.steps.get(step.index())?.action {
            Action::Execute { edge, .. } => Some(edge),
            Action::Flush => None,
        };
        let thread = self.replay.events()[self.load.index()].thread;
        Some(Attack { thread, store: edge(self.store)?, load: edge(self.load)? })
    }

    /// The store that may still be buffered.
    pub fn store(&self) -> StepId {
        self.store
    }

    /// The load that comes after it.
    pub fn load(&self) -> StepId {
        self.load
    }

    /// The cell that is loaded and written.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The write of the other thread to the cell that is loaded.
    pub fn write(&self) -> StepId {
        self.write
    }
}

/// The last store of the thread, if it went to another cell and nothing after it waits for it to land.
fn waiting_store(before: &[Event], thread: ThreadId, address: Address) -> Option<usize> {
    let decides = |event: &Event| {
        let drains = matches!(
            event.effect,
            Effect::Fence | Effect::Membarrier | Effect::ReadModifyWrite { .. } | Effect::Lock | Effect::Unlock
        );
        event.thread == thread && (drains || matches!(event.effect, Effect::Store { .. }))
    };
    let last = before.iter().rposition(decides)?;
    match before[last].effect {
        Effect::Store { address: stored, .. } if stored != address => Some(last),
        _ => None,
    }
}

fn writes_memory(event: &Event, address: Address) -> bool {
    let reaches_memory = match event.effect {
        Effect::Store { buffered, .. } => !buffered,
        Effect::ReadModifyWrite { written, .. } => written.is_some(),
        Effect::Flush { .. } => true,
        _ => false,
    };
    reaches_memory && event.effect.address() == Some(address)
}

/// Whether the steps from here on are one write, or a locked section up to a write, of one thread.
fn is_one_access(events: &[Event], start: usize) -> bool {
    let steps = &events[start..];
    let Some(first) = steps.first() else { return false };
    let is_write = match steps {
        [_] => true,
        // Under TSO a store and its flush.
        [_, flush] => matches!(flush.effect, Effect::Flush { store, .. } if store.index() == start),
        _ => false,
    };
    let is_section = matches!(first.effect, Effect::Lock);
    (is_section || is_write)
        && steps.iter().all(|event| event.thread == first.thread && !matches!(event.effect, Effect::Unlock))
}

/// Under TSO: whether the store stays in its buffer.
fn waits_to_the_end(events: &[Event], store: usize) -> bool {
    let lands =
        |event: &Event| matches!(event.effect, Effect::Flush { store: flushed, .. } if flushed.index() == store);
    !events.iter().any(lands)
}

#[cfg(test)]
mod tests;
