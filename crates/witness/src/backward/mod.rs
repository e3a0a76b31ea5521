//! A proof by backward coverability that goals cannot be reached under TSO: the minimal basis of an upward-closed set
//! of configurations of the load-buffer semantics that contains all goal configurations, is closed under predecessors,
//! and does not contain the initial configuration.
//!
//! In the load-buffer semantics a store writes memory at once and leaves an *own* message in its thread's buffer;
//! memory may send what a cell holds to a thread at any time; old messages are dropped; a load takes the newest own
//! message to its cell, else the oldest message must be about it. `SOUNDNESS.md` says why this decides reachability
//! under TSO, and which steps need not be considered. What is checked here is only the set ([`check_backward_proof`]);
//! it does not matter how it was found.
//!
//! Of a thread of which there are arbitrarily many, a configuration lists some copies, and stands for any number of
//! others that do not hold the lock. Then the proof is about every number of copies.

mod check;
mod fault;
mod goals;
mod locals;
mod order;
mod roster;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weir_ir::{Address, LocId, RegId, Value};

use crate::run::Goal;

pub use check::{BackwardError, check_backward_proof, check_backward_proof_until};
pub use fault::BackwardFault;

/// The configurations, and what they show to be impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackwardProof {
    /// What cannot be reached.
    pub goals: Vec<Goal>,
    /// For each thread that runs, all states that it can be in by itself, in classes of states that are not
    /// distinguished.
    pub classes: Vec<Vec<Vec<LocalState>>>,
    /// The least configurations of the set: each stands for those above it.
    pub configurations: Vec<Configuration>,
}

/// A state of one thread by itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocalState {
    /// Where it is.
    pub location: LocId,
    /// Registers that matter; which do depends on nothing but the location.
    pub registers: BTreeMap<RegId, Value>,
    /// Whether it holds the global lock.
    pub holds_lock: bool,
}

/// All configurations that agree in what is written down, with any further messages from memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Configuration {
    /// The threads of which there is one each, in the order of the program, then some copies of the others.
    pub threads: Vec<ThreadView>,
    /// For each of these copies, the thread that it is a copy of, by its place among those that run.
    pub copies: Vec<usize>,
    /// Cells that hold a certain value; all others may hold anything.
    pub memory: BTreeMap<Address, Value>,
}

/// One thread of a configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadView {
    /// The class of its state, by number; `None` is any state in which it does not hold the lock and no own message
    /// waits.
    pub class: Option<usize>,
    /// What it may still read, the oldest first.
    pub messages: Vec<Message>,
}

/// Something that a thread may read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Message {
    /// A store of the thread itself.
    Own(Address, Value),
    /// What cells held at some time, by ascending address: one of them, or several for a load of several in one step.
    Memory(Vec<(Address, Value)>),
}

impl Message {
    fn is_own(&self) -> bool {
        matches!(self, Self::Own(..))
    }

    /// The cell that the thread's own store is to.
    fn stored(&self) -> Option<(Address, Value)> {
        if let Self::Own(address, value) = self { Some((*address, *value)) } else { None }
    }
}
