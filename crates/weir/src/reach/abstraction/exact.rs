//! Does a run with bounded counters also exist with unbounded ones?

use crate::semantics::abstraction::Abstract;
use crate::semantics::abstraction::buffer::Flush;
use crate::semantics::machine::{Machine, System};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};

/// A step that means the same for every kind of buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Edge(StepCode),
    /// Of the thread at this position.
    Flush(usize, Flush),
}

/// What the steps of a run are, given the buffers that it was found with.
pub(super) fn events<const N: usize>(machine: &Machine, run: &[StepCode]) -> Option<Vec<Event>> {
    let system = System::<Abstract, N>::new(machine);
    let mut state = system.initial();
    let mut events = Vec::new();
    for &step in run {
        events.push(match step.number.checked_sub(machine.edge_count) {
            None => Event::Edge(step),
            Some(thread) => {
                let flushes = machine.abstraction.flushes(machine.buffer(&state, thread as usize));
                Event::Flush(thread as usize, flushes.get(usize::try_from(step.choice).ok()?)?.0)
            }
        });
        state = after(&system, &state, step)?;
    }
    Some(events)
}

/// Whether the machine, with the buffers that it has now, can do all this.
pub(super) fn admits<const N: usize>(machine: &Machine, events: &[Event]) -> bool {
    let system = System::<Abstract, N>::new(machine);
    let mut state = system.initial();
    for &event in events {
        let step = match event {
            Event::Edge(step) => Some(step),
            Event::Flush(thread, flush) => {
                let flushes = machine.abstraction.flushes(machine.buffer(&state, thread));
                let choice = flushes.iter().position(|(possible, _)| *possible == flush);
                choice.map(|choice| StepCode { number: machine.edge_count + thread as u32, choice: choice as i64 })
            }
        };
        let Some(next) = step.and_then(|step| after(&system, &state, step)) else { return false };
        state = next;
    }
    true
}

fn after<const N: usize>(system: &System<'_, Abstract, N>, from: &Packed<N>, wanted: StepCode) -> Option<Packed<N>> {
    let mut found = None;
    system.each_successor(from, &mut |step, next| {
        if step == wanted {
            found = Some(next);
        }
        found.is_none()
    });
    found
}
