//! TSO with buffers that forget order: more can happen than under TSO, and for finite data the states are finitely many.
//!
//! Direction of error: every drained state (and every failed assertion) that TSO can reach is reached here; others may
//! be. [`buffer`] says what each kind forgets, [`pool`] interns buffers. Everything else is as under TSO.

pub(crate) mod buffer;
pub(crate) mod pool;

use weir_ir::Value;

use super::StepCode;
use super::layout::Target;
use super::machine::{Machine, MemoryModel};
use super::state::Packed;

/// TSO with approximated buffers; the machine's pool says which.
pub(crate) enum Abstract {}

impl MemoryModel for Abstract {
    const STORES_PASS_THE_LOCK: bool = true;

    #[inline]
    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize, target: Target) -> Value {
        let buffer = machine.layout.buffers[thread].map_or(0, |field| state.raw(field));
        let newest = if buffer == 0 { None } else { machine.abstraction.newest(buffer, machine.address(target)) };
        newest.unwrap_or_else(|| machine.read(state, target))
    }

    #[inline]
    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value) {
        let Some(field) = machine.layout.buffers[thread] else {
            machine.broken("a thread without a buffer stores");
            return;
        };
        let more = machine.abstraction.store(next.raw(field), (machine.address(target), value));
        machine.put_number(next, field, more);
    }

    #[inline]
    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool {
        machine.layout.buffers[thread].is_none_or(|field| state.raw(field) == 0)
    }

    /// The choice of a flush is its place among those of the buffer.
    #[inline]
    fn flushes<const N: usize>(
        machine: &Machine,
        from: &Packed<N>,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        for (thread, &field) in machine.layout.buffers.iter().enumerate() {
            let Some(field) = field else { continue };
            let buffer = from.raw(field);
            if buffer == 0 || machine.locked_out(from, thread) {
                continue;
            }
            for (choice, &(flush, rest)) in (0..).zip(machine.abstraction.flushes(buffer)) {
                let mut next = *from;
                machine.write(&mut next, machine.layout.cells.target(flush.entry.0), flush.entry.1);
                machine.put_number(&mut next, field, rest);
                emit(StepCode { number: machine.edge_count + thread as u32, choice }, next);
            }
        }
    }

    fn spell_buffer(machine: &Machine, number: u64) -> Vec<Value> {
        machine.abstraction.buffer(number).spelling()
    }
}
