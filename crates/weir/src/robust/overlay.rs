//! The memory that an attacker sees while it delays: its own waiting stores, then memory. It cannot do anything that
//! needs its buffer empty.

use weir_ir::Value;

use super::memory::Memory;
use crate::semantics::StepCode;
use crate::semantics::layout::Target;
use crate::semantics::machine::{Machine, MemoryModel};
use crate::semantics::state::Packed;

/// The memory model of an attacker that delays.
pub(super) enum Overlay {}

impl MemoryModel for Overlay {
    const STORES_PASS_THE_LOCK: bool = true;

    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, _thread: usize, target: Target) -> Value {
        let own = match memory(machine, state) {
            Memory::Delaying(delaying) => delaying.waiting(machine.address(target)),
            Memory::Before | Memory::Path(_) => None,
        };
        own.unwrap_or_else(|| machine.read(state, target))
    }

    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, _thread: usize, target: Target, value: Value) {
        let Memory::Delaying(delaying) = memory(machine, next) else {
            return machine.broken("a store is delayed outside of an attack");
        };
        let row = delaying.with_store(machine.address(target), value);
        remember(machine, next, &row);
    }

    fn is_drained<const N: usize>(_machine: &Machine, _state: &Packed<N>, _thread: usize) -> bool {
        false
    }

    fn flushes<const N: usize>(
        _machine: &Machine,
        _from: &Packed<N>,
        _emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
    }
}

/// What the monitor remembers in a state.
#[inline]
pub(super) fn memory<'m, const N: usize>(machine: &'m Machine, state: &Packed<N>) -> Memory<'m> {
    match machine.layout.monitor.map(|field| state.raw(field)) {
        None | Some(super::memory::BEFORE) => Memory::Before,
        Some(number) => Memory::read(machine.monitor_rows.row(number)),
    }
}

/// Lets the monitor remember something else.
pub(super) fn remember<const N: usize>(machine: &Machine, state: &mut Packed<N>, row: &[Value]) {
    if let Some(field) = machine.layout.monitor {
        machine.put_number(state, field, machine.monitor_rows.number(row));
    }
}
