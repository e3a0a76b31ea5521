//! What can be wrong with a certificate.

use weir_ir::{EdgeId, LocId, RegId, ThreadId};

use crate::run::Goal;

/// What can be wrong with a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A state has not as many threads as run, or a location or register that the program has not.
    Malformed,
    /// Two states disagree about which registers matter at a location of a thread.
    Registers(ThreadId, LocId),
    /// The first state of the program is not among the states.
    NoStart,
    /// The step leads to a state that is not among them: this edge of the thread, or a flush.
    Leaves(ThreadId, Option<EdgeId>),
    /// A register is read whose value the state does not tell.
    UnknownRegister(ThreadId, RegId),
    /// The state shows a goal.
    ShowsGoal(Goal),
    /// No such set of states can show what can still happen after each of them.
    Liveness,
    /// A minimal state can be entered by a step from a state that is above none.
    Enters,
    /// A state that shows this goal is above no minimal state.
    Misses(Goal),
    /// The first state is above a minimal one.
    HoldsTheStart,
    /// A goal that such a proof cannot be about, or that speaks of numbers of copies in a way that cannot be checked.
    Unsuitable(Goal),
    /// It names no goal, or one that the program has not.
    UnknownGoal,
    /// The program asserts, but has no place for failed assertions.
    NoFailedLocation,
    /// Recursion, `spawn` or arbitrarily many threads.
    Unsupported,
    /// None was found yet: checking was interrupted.
    Interrupted,
}
