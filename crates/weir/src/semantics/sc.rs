//! Sequential consistency: a store writes memory in one step, and every load sees it from then on.

use weir_ir::Value;

use super::StepCode;
use super::layout::Target;
use super::machine::{Machine, MemoryModel};
use super::state::Packed;

/// Sequential consistency.
pub(crate) enum Sc {}

impl MemoryModel for Sc {
    // A store touches memory at once, so it waits for the lock as a load does.
    const STORES_PASS_THE_LOCK: bool = false;

    #[inline]
    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, _thread: usize, target: Target) -> Value {
        machine.read(state, target)
    }

    #[inline]
    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, _thread: usize, target: Target, value: Value) {
        machine.write(next, target, value);
    }

    #[inline]
    fn is_drained<const N: usize>(_machine: &Machine, _state: &Packed<N>, _thread: usize) -> bool {
        true
    }

    #[inline]
    fn flushes<const N: usize>(
        _machine: &Machine,
        _from: &Packed<N>,
        _emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
    }
}
