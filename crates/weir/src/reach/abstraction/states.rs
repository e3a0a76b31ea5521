//! All states with approximated buffers, in terms of the program.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use weir_ir::{LocId, Program};
use weir_witness::{AbstractBuffer, AbstractState, AbstractThread, Waiting};

use crate::semantics::TransitionSystem;
use crate::semantics::abstraction::Abstract;
use crate::semantics::abstraction::buffer::{ANY, Buffer};
use crate::semantics::compile::Compiled;
use crate::semantics::layout::Storage;
use crate::semantics::machine::System;
use crate::semantics::state::Packed;
use crate::session::Session;
use crate::verdict::Limit;

/// How often the clock is looked at.
const PERIOD: usize = 1024;

/// Every reachable state, in an order that is always the same.
pub(super) fn all<const N: usize>(
    program: &Program,
    compiled: &Compiled,
    session: &Session,
) -> Result<Vec<AbstractState>, Limit> {
    let system = System::<Abstract, N>::new(&compiled.machine);
    let words = system.words();
    let mut seen: FxHashSet<Box<[u64]>> = FxHashSet::default();
    let start = system.initial();
    seen.insert(start.0[..words].into());
    let mut found = vec![start];
    let mut at = 0;
    while let Some(&state) = found.get(at) {
        at += 1;
        system.each_successor(&state, &mut |_, next| {
            if seen.insert(next.0[..words].into()) {
                found.push(next);
            }
            found.len() as u64 <= session.states_left()
        });
        if found.len() as u64 > session.states_left() {
            return Err(Limit::States);
        }
        let held = (found.len() * (words * size_of::<u64>() + size_of::<Packed<N>>())) as u64;
        if at.is_multiple_of(PERIOD)
            && let Some(limit) = session.exceeded_with(held, 0)
        {
            return Err(limit);
        }
    }
    Ok(found.iter().map(|state| abstract_state(program, compiled, state)).collect())
}

fn abstract_state<const N: usize>(program: &Program, compiled: &Compiled, state: &Packed<N>) -> AbstractState {
    let layout = &compiled.machine.layout;
    let threads = (0..compiled.threads.len()).map(|position| thread(compiled, state, position)).collect();
    let mut memory = BTreeMap::new();
    for cell in layout.cells.iter() {
        if let Storage::Field(field) = cell.storage {
            memory.insert(cell.address, state.get(field));
        }
    }
    if let Some(field) = layout.heap {
        let row = compiled.machine.heaps.row(state.raw(field));
        memory.extend(row.chunks_exact(2).map(|pair| (pair[0], pair[1])));
    }
    memory.retain(|&address, value| *value != program.initial_value(address));
    let holder = layout.lock.and_then(|lock| (state.raw(lock) as usize).checked_sub(1));
    AbstractState { threads, memory, lock_holder: holder.map(|position| compiled.threads[position]) }
}

fn thread<const N: usize>(compiled: &Compiled, state: &Packed<N>, position: usize) -> AbstractThread {
    let layout = &compiled.machine.layout;
    let location = LocId::new(state.raw(layout.threads[position].0) as usize);
    let registers =
        compiled.live_fields(position, location).map(|(register, field)| (register, state.get(field))).collect();
    let number = compiled.machine.buffer(state, position);
    AbstractThread { location, registers, buffer: buffer(compiled.machine.abstraction.buffer(number)) }
}

fn buffer(buffer: &Buffer) -> AbstractBuffer {
    let waiting = buffer.waiting.iter().map(|waiting| {
        let older = waiting.older.iter().map(|&(value, count)| (value, (count != ANY).then_some(count))).collect();
        (waiting.address, Waiting { newest: waiting.newest, older })
    });
    AbstractBuffer { queue: buffer.queue.clone(), waiting: waiting.collect() }
}
