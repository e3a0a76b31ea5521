//! All states with approximated buffers, in terms of the program.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashSet;
use weir_ir::{Gather, LocId, Program, RegId, ThreadId};
use weir_witness::{AbstractBuffer, AbstractState, AbstractThread, PackedStates, Packer, Waiting};

use crate::semantics::TransitionSystem;
use crate::semantics::abstraction::Abstract;
use crate::semantics::abstraction::buffer::{ANY, Buffer};
use crate::semantics::compile::Compiled;
use crate::semantics::layout::Storage;
use crate::semantics::machine::{MemoryModel, System};
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
    let mut found = Vec::new();
    let mut keep = |state| {
        found.push(state);
        0
    };
    visit(program, compiled, &System::<Abstract, N>::new(&compiled.machine), &mut keep, session)?;
    Ok(found)
}

/// Every reachable state, packed.
pub(super) fn packed<M: MemoryModel, const N: usize>(
    program: &Program,
    compiled: &Compiled,
    session: &Session,
) -> Result<PackedStates, Limit> {
    let live = |position: usize, location: LocId| {
        let mut live: Vec<RegId> = compiled.live_fields(position, location).map(|(register, _)| register).collect();
        live.sort_unstable();
        live
    };
    let locations = |(position, &thread): (usize, &ThreadId)| {
        program.body(thread).location_ids().map(|location| live(position, location)).collect()
    };
    let mut packer = Packer::new(compiled.threads.iter().enumerate().map(locations).collect());
    let mut keep = |state| {
        packer.add(&state);
        packer.held()
    };
    visit(program, compiled, &System::<M, N>::new(&compiled.machine), &mut keep, session)?;
    Ok(packer.finish())
}

/// Visits every reachable state. `keep` returns how many bytes it has kept so far.
fn visit<M: MemoryModel, const N: usize>(
    program: &Program,
    compiled: &Compiled,
    system: &System<'_, M, N>,
    keep: &mut impl FnMut(AbstractState) -> u64,
    session: &Session,
) -> Result<(), Limit> {
    let words = system.words();
    let mut seen: FxHashSet<Box<[u64]>> = FxHashSet::default();
    let start = system.initial();
    seen.insert(start.0[..words].into());
    let mut open = VecDeque::from([start]);
    let mut visited = 0_usize;
    while let Some(state) = open.pop_front() {
        visited += 1;
        system.each_successor(&state, &mut |_, next| {
            if seen.insert(next.0[..words].into()) {
                open.push_back(next);
            }
            seen.len() as u64 <= session.states_left()
        });
        if seen.len() as u64 > session.states_left() {
            return Err(Limit::States);
        }
        let kept = keep(abstract_state(program, compiled, &state));
        let held = (seen.len() * (words + 2) * size_of::<u64>() + open.len() * size_of::<Packed<N>>()) as u64;
        if visited.is_multiple_of(PERIOD)
            && let Some(limit) = session.exceeded_with(held + kept, 0)
        {
            return Err(limit);
        }
    }
    Ok(())
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
        compiled.live_fields(position, location).map(|(register, field)| (register, state.get(field))).gather();
    let number = compiled.machine.buffer(state, position);
    AbstractThread { location, registers, buffer: buffer(compiled.machine.abstraction.buffer(number)) }
}

fn buffer(buffer: &Buffer) -> AbstractBuffer {
    let waiting = buffer.waiting.iter().map(|waiting| {
        let older = waiting.older.iter().map(|&(value, count)| (value, (count != ANY).then_some(count))).gather();
        (waiting.address, Waiting { newest: waiting.newest, older })
    });
    AbstractBuffer { queue: buffer.queue.clone(), waiting: waiting.gather() }
}
