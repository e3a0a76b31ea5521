//! Total Store Order, after the x86-TSO abstract machine (Owens, Sarkar, Sewell, 2009), with a global lock.
//!
//! A store goes to the end of its thread's buffer; the oldest store of any buffer may reach memory at any
//! time, unless another thread holds the lock; a load takes the newest store to its address from
//! the own buffer, else what memory holds. Buffers are unbounded: nothing is cut off here.

use weir_ir::Value;

use super::StepCode;
use super::layout::Target;
use super::machine::{Machine, MemoryModel};
use super::state::Packed;

/// Total Store Order.
pub(crate) enum Tso {}

impl MemoryModel for Tso {
    const STORES_PASS_THE_LOCK: bool = true;

    #[inline]
    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize, target: Target) -> Value {
        let buffer = machine.buffer(state, thread);
        let newest = if buffer == 0 { None } else { machine.buffers.newest(buffer, machine.address(target)) };
        newest.unwrap_or_else(|| machine.read(state, target))
    }

    #[inline]
    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value) {
        let entry = (machine.address(target), value);
        machine.put_longer_buffer(next, thread, |buffer| machine.buffers.push(buffer, entry));
    }

    #[inline]
    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool {
        machine.buffer(state, thread) == 0
    }

    #[inline]
    fn flushes<const N: usize>(
        machine: &Machine,
        from: &Packed<N>,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        for (thread, &field) in machine.layout.buffers.iter().enumerate() {
            let Some(field) = field else { continue };
            let buffer = from.raw(field);
            if let Some((address, value)) = machine.buffers.oldest(buffer)
                && !machine.locked_out(from, thread)
            {
                let mut next = *from;
                machine.write(&mut next, machine.layout.cells.target(address), value);
                machine.put_number(&mut next, field, machine.buffers.flush(buffer));
                emit(StepCode { number: machine.edge_count + thread as u32, choice: 0 }, next);
            }
        }
    }
}
