//! The vocabulary of attacks ("Checking and Enforcing Robustness against TSO"): which store might be delayed past which
//! load, and what a step of a run that shows an attack does.

use weir_ir::{EdgeId, ThreadId};

/// A thread, a store of it, and a load of it past which the store might be delayed ("Checking and Enforcing
/// Robustness against TSO", Definition 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attack {
    /// The attacker.
    pub thread: ThreadId,
    /// Its store.
    pub store: EdgeId,
    /// Its load.
    pub load: EdgeId,
}

/// The attacks of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attacks {
    /// How many pairs of a store and a load of one thread there are.
    pub total: usize,
    /// Those that control flow alone does not rule out, in order of threads, stores, loads.
    pub open: Vec<Attack>,
}

/// A step of a thread: an edge of its body.
pub type ThreadEdge = (ThreadId, EdgeId);

/// What a step of a run that shows an attack does, besides taking its edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttackStep {
    /// Nothing.
    Ordinary,
    /// The attacker takes its first delayed store.
    Begin,
    /// The attacker takes the attack's load.
    Halt,
}
