//! A proof for every number of copies of `[*]` threads: properties under SC, or robustness.
//!
//! Copies cannot be told apart, so a state of any instance is what all threads share and how many copies are in each
//! local state. The proof has two parts, of which the second relies on the first:
//! - *What can occur*: shared states, and the local states of copies that can occur beside each. No step leaves this
//!   set, if any number of copies is in each of these local states.
//! - *What cannot happen*: minimal states, each a shared state with some copies beside it, that stands for all states
//!   with at least these copies. All states that violate a property are above one, no step leads there from a state that
//!   can occur and is above none, and the start is not above one.
//!
//! Copies that have not moved are not counted: instances may have any number of them.
//!
//! The steps are those of [`attacks`](super::attacks) or of SC, with no reduction. A copy that delays its stores, or that
//! has halted, is part of the shared state: each `[*]` thread has one place there, for the attacker.

mod check;
mod goals;
mod rules;
mod system;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weir_ir::{LocId, RegId, Value};

use super::{ListedRegisters, PackedStates};
use crate::run::{Goal, Model};

pub use check::check_copies_proof;
pub use system::{CopiesSystem, Move, copies_closure};

/// The states, and what they show to be impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopiesProof {
    /// The memory model. Under TSO the program is also shown to be robust, so that what holds under SC holds.
    pub model: Model,
    /// What cannot happen with any number of copies.
    pub goals: Vec<Goal>,
    /// The shared states.
    pub shared: PackedStates,
    /// The local states of copies.
    pub copies: Vec<CopyState>,
    /// For each shared state, by number and ascending, the local states of copies that can occur beside it.
    pub beside: Vec<Vec<usize>>,
    /// The minimal states.
    pub minimal: Vec<Minimal>,
}

/// The local state of a copy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CopyState {
    /// The thread that it is a copy of, by its place among those that run.
    pub of: usize,
    /// Where it is.
    pub location: LocId,
    /// Registers that matter.
    pub registers: BTreeMap<RegId, Value>,
    /// Whether it holds the global lock.
    pub holds_lock: bool,
    /// Whether it is on the path of an attack.
    pub is_on_path: bool,
}

/// A shared state with some copies beside it, all by number: it stands for all states with at least these copies.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Minimal {
    /// The shared state.
    pub shared: usize,
    /// The local states of the copies, ascending.
    pub copies: Vec<usize>,
}

/// Which registers states record: places for moving copies come after those of the threads.
fn listed_with_copies(listed: &ListedRegisters, templates: &[usize]) -> Option<ListedRegisters> {
    let copies = templates.iter().map(|&place| listed.get(place).cloned()).collect::<Option<Vec<_>>>()?;
    Some([&listed[..], &copies].concat())
}
