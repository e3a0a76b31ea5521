//! What comes of asking a tool.

use crate::families::Answer;
use crate::measure::Measured;

/// What comes of making a tool ready.
pub(crate) enum Ready {
    /// The command to measure.
    Command(Vec<String>),
    /// Its language does not have the program.
    Refused(String),
    /// A run to find out what it needs ran out of time, as all others would.
    OutOfTime(Measured),
}

/// What came of asking a tool once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Answered(Found),
    /// It ran out of CPU time.
    OutOfTime,
    /// It says that it cannot tell.
    Unknown(String),
    /// It ended in a way that tools do not end.
    Failed(String),
}

/// An answer, with what the tool says about its search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) answer: Answer,
    /// States that were stored.
    pub(crate) states: Option<u64>,
    /// The reduction under which that many states were enough.
    pub(crate) reduction: String,
}
