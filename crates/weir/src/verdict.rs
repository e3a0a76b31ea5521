//! Answers: three kinds, never a fourth, never a guess.

/// What an analysis found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<E> {
    /// The property holds in every run: the search was complete.
    Holds,
    /// It does not, and here is the evidence.
    Violated(E),
    /// The analysis stopped before it knew.
    Unknown(Limit),
}

/// Why an analysis stopped before it knew.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// The time budget was used up.
    Time,
    /// The memory budget was used up.
    Memory,
    /// The budget of states was used up.
    States,
    /// The user interrupted it.
    Interrupted,
    /// The program would have to be extended further than is allowed or possible.
    Extensions,
    /// An approximation found something, but no run that shows it: it may be possible or not.
    Alarm,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Time => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::States => "the limit on states was reached",
            Self::Interrupted => "interrupted",
            Self::Extensions => "the limit on rounds of extending the program was reached",
            Self::Alarm => "an alarm of the abstraction that no run was found for",
        })
    }
}

/// Why an analysis gave no answer at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The program has something this engine cannot handle; the diagnostic points at it.
    Refused(Box<weir_ir::Diagnostic>),
    /// A bug of ours: a witness did not replay, or an invariant broke. Never hidden.
    Bug(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(diagnostic) => f.write_str(&diagnostic.message),
            Self::Bug(what) => write!(f, "bug in Weir: {what}"),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests;
