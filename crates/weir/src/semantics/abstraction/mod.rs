//! TSO with buffers that forget order: more can happen than under TSO, and for finite data the states are finitely
//! many.
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
        let buffer = machine.buffer(state, thread);
        let newest = if buffer == 0 { None } else { machine.abstraction.newest(buffer, machine.address(target)) };
        newest.unwrap_or_else(|| machine.read(state, target))
    }

    #[inline]
    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value) {
        let entry = (machine.address(target), value);
        machine.put_longer_buffer(next, thread, |buffer| machine.abstraction.store(buffer, entry));
    }

    #[inline]
    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool {
        machine.buffer(state, thread) == 0
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

    fn canonical_buffer(machine: &Machine, number: u64) -> Vec<Value> {
        machine.abstraction.buffer(number).canonical_form()
    }

    fn compare_buffers(machine: &Machine, left: u64, right: u64) -> std::cmp::Ordering {
        machine.abstraction.buffer(left).cmp(machine.abstraction.buffer(right))
    }
}
