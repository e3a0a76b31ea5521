//! What comes of asking a tool.

use crate::families::Answer;

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
