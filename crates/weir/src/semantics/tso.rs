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

/// The most stores of a buffer that are copied without asking for memory.
const SMALL: usize = 32;

impl MemoryModel for Tso {
    const STORES_PASS_THE_LOCK: bool = true;

    #[inline]
    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize, target: Target) -> Value {
        let address = machine.address(target);
        let newest = buffer(machine, state, thread).rchunks_exact(2).find(|store| store[0] == address);
        newest.map_or_else(|| machine.read(state, target), |store| store[1])
    }

    #[inline]
    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value) {
        let Some(field) = machine.layout.buffers[thread] else {
            machine.broken("a thread without a buffer stores");
            return;
        };
        let old = machine.buffers.row(next.raw(field));
        let entry = [machine.address(target), value];
        let mut small = [0; 2 * SMALL];
        if let Some(row) = small.get_mut(..old.len() + 2) {
            row[..old.len()].copy_from_slice(old);
            row[old.len()..].copy_from_slice(&entry);
            machine.put_row(next, field, &machine.buffers, row);
        } else {
            machine.put_row(next, field, &machine.buffers, &[old, &entry].concat());
        }
    }

    #[inline]
    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool {
        machine.layout.buffers[thread].is_none_or(|field| state.raw(field) == 0)
    }

    #[inline]
    fn flushes<const N: usize>(machine: &Machine, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        for (thread, &field) in machine.layout.buffers.iter().enumerate() {
            let Some(field) = field else { continue };
            if let [address, value, rest @ ..] = machine.buffers.row(from.raw(field))
                && !machine.locked_out(from, thread)
            {
                let mut next = *from;
                machine.write(&mut next, machine.layout.cells.target(*address), *value);
                machine.put_row(&mut next, field, &machine.buffers, rest);
                emit(StepCode { number: machine.edge_count + thread as u32, choice: 0 }, next);
            }
        }
    }
}

/// The buffer of a thread, oldest store first, as pairs of address and value.
#[inline]
fn buffer<'a, const N: usize>(machine: &'a Machine, state: &Packed<N>, thread: usize) -> &'a [Value] {
    machine.layout.buffers[thread].map_or(&[], |field| machine.buffers.row(state.raw(field)))
}
