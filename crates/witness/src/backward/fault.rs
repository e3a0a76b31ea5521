//! What can be wrong with a proof, and how to say so.

use weir_ir::{Address, Program, RegId, ThreadId};

use crate::counts::Uncountable;

/// What can be wrong with a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackwardFault {
    /// Its threads, places, registers or classes are not those of the program.
    Malformed,
    /// The thread can be in a state that is in no class.
    MissingState(ThreadId),
    /// A register is read whose value the state does not tell.
    UnknownRegister(ThreadId, RegId),
    /// States of one class look different to a goal.
    Mixed(ThreadId),
    /// The cell takes too many values.
    TooManyValues(Address),
    /// There are too many states that could show a goal.
    TooManyGoals,
    /// A state that shows this goal is not in the set.
    GoalOutside,
    /// A step leads into the set from outside.
    Enters,
    /// The program starts in the set.
    HoldsTheStart,
    /// Deadlocks are not a matter of such sets.
    Deadlock,
    /// What can still happen after a state is not a matter of such sets.
    Liveness,
    /// The program has no such goal.
    UnknownGoal,
    /// The goal computes with numbers of copies.
    Arithmetic,
    /// Final states of arbitrarily many threads are not a matter of such sets.
    FinalStates,
    /// Recursion or `spawn`.
    Unsupported,
    /// None was found yet: checking was interrupted.
    Interrupted,
}

impl From<Uncountable> for BackwardFault {
    fn from(why: Uncountable) -> Self {
        match why {
            Uncountable::Arithmetic => Self::Arithmetic,
            Uncountable::TooMany => Self::TooManyGoals,
        }
    }
}

/// In words.
pub(super) fn explain(program: &Program, fault: &BackwardFault) -> String {
    let name = |thread: &ThreadId| &program.thread(*thread).name;
    match fault {
        BackwardFault::Malformed => "its threads, places or registers do not match the program".to_owned(),
        BackwardFault::MissingState(thread) => format!("{} can be in a state that belongs to no class", name(thread)),
        BackwardFault::UnknownRegister(thread, register) => {
            let register = &program.body(*thread).registers[register.index()].name;
            format!("the value of `{register}` of {} is needed, but missing", name(thread))
        }
        BackwardFault::Mixed(thread) => format!("a property distinguishes states of one class of {}", name(thread)),
        BackwardFault::TooManyValues(address) => format!("the cell at address {address} takes too many values"),
        BackwardFault::TooManyGoals => "too many states could violate a property".to_owned(),
        BackwardFault::GoalOutside => "a state that violates a property is not among the configurations".to_owned(),
        BackwardFault::Enters => "a step leads here from a configuration that is missing".to_owned(),
        BackwardFault::HoldsTheStart => "the initial state is one of the configurations".to_owned(),
        BackwardFault::Deadlock => "such a proof cannot show the absence of deadlocks".to_owned(),
        BackwardFault::Liveness => "such a proof cannot show what can still happen".to_owned(),
        BackwardFault::UnknownGoal => "it names no property of the program".to_owned(),
        BackwardFault::Interrupted => "checking was interrupted".to_owned(),
        BackwardFault::Arithmetic => "a property computes with numbers of copies".to_owned(),
        BackwardFault::FinalStates => {
            "such a proof cannot show anything about the final states of arbitrarily many threads".to_owned()
        }
        BackwardFault::Unsupported => "the program uses a feature that such a proof does not support".to_owned(),
    }
}
