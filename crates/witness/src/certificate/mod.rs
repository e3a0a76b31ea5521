//! A proof that goals cannot be reached: a set of states with approximated buffers that holds the first
//! state, that no step leaves, and that shows no goal.
//!
//! Buffers forget order, so the set may stand for more than TSO can do, never for less. What is checked is only the set
//! itself ([`check_certificate`]): it does not matter how it was found.

mod attacks;
mod buffer;
mod chance;
mod check;
mod collapse;
mod copies;
mod fault;
mod liveness;
mod packed;
mod rows;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod tuples;

use std::collections::BTreeMap;

use weir_ir::{Address, LocId, RegId, ThreadId, Value};

use crate::run::{Goal, Model};

pub use attacks::{attack_closure, check_attack_proof};
pub use chance::{
    ChanceFault, ChanceMove, ChanceProof, ChanceQuestion, ChanceSystem, Configuration as ChanceConfiguration, ONE,
    Odds, Updates, Wanted,
};
pub use check::{CertificateError, check_certificate, check_certificate_until, check_closed_set};
pub use copies::{CopiesProof, CopiesSystem, CopyState, Minimal, Move, check_copies_proof, copies_closure};
pub use fault::Fault;
pub use packed::{MalformedRow, PackedStates, Packer};
pub use rows::ListedRegisters;

/// How the buffers of a certificate's states forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Buffering {
    /// The oldest stores in order, at most so many; those after them as a set. With 0: just a set.
    Coherence(u32),
    /// How many stores of each value wait for each cell, counted up to this; more are any number.
    Multiset(u32),
}

/// The states, and what they show to be impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The memory model. Under SC all buffers are empty.
    pub model: Model,
    /// How buffers forget.
    pub buffering: Buffering,
    /// What cannot be reached.
    pub goals: Vec<Goal>,
    /// All states, and maybe more than can be reached.
    pub states: Vec<AbstractState>,
}

/// The same, with the states in the form in which files hold them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedSet {
    /// The memory model. Under SC all buffers are empty.
    pub model: Model,
    /// How buffers forget.
    pub buffering: Buffering,
    /// What cannot be reached.
    pub goals: Vec<Goal>,
    /// All states, and maybe more than can be reached.
    pub states: PackedStates,
}

impl Buffering {
    /// All stores stay in order: nothing is forgotten.
    pub const EXACT: Self = Self::Coherence(u32::MAX);
}

/// States that agree in everything that is written down.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AbstractState {
    /// The threads that run from the start, in the order of the program.
    pub threads: Vec<AbstractThread>,
    /// The cells that do not hold their initial value.
    pub memory: BTreeMap<Address, Value>,
    /// Who holds the global lock.
    pub lock_holder: Option<ThreadId>,
}

/// One thread of a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AbstractThread {
    /// Where it is.
    pub location: LocId,
    /// Registers that matter; any other may hold anything. Which do depends on nothing but the location.
    pub registers: BTreeMap<RegId, Value>,
    /// Its buffer.
    pub buffer: AbstractBuffer,
}

/// A buffer that forgets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AbstractBuffer {
    /// The oldest stores, the oldest first.
    pub queue: Vec<(Address, Value)>,
    /// All later ones.
    pub waiting: BTreeMap<Address, Waiting>,
}

/// Stores to one cell, out of order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Waiting {
    /// The newest of them, which lands last.
    pub newest: Value,
    /// What may reach memory before, and how often at most; `None` is without end.
    pub older: BTreeMap<Value, Option<u32>>,
}
