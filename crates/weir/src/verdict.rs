//! Verdicts: holds, violated or unknown; never a guess.

/// The result of an analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<E> {
    /// The property holds in every run: the search was exhaustive.
    Holds,
    /// The property is violated, with the evidence.
    Violated(E),
    /// The analysis was inconclusive.
    Unknown(Limit),
}

impl<E> Verdict<E> {
    /// The same verdict with other evidence.
    pub fn map<F>(self, evidence: impl FnOnce(E) -> F) -> Verdict<F> {
        match self {
            Self::Holds => Verdict::Holds,
            Self::Violated(found) => Verdict::Violated(evidence(found)),
            Self::Unknown(limit) => Verdict::Unknown(limit),
        }
    }
}

/// Why an analysis was inconclusive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The limit on states was reached.
    States,
    /// The user interrupted it.
    Interrupted,
    /// The program would have to be extended further than is allowed or possible.
    Extensions,
    /// An over-approximation found a violation that no run confirms; it may be a false alarm.
    Alarm,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Time => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::States => "the limit on states was reached",
            Self::Interrupted => "interrupted",
            Self::Extensions => "the limit on rounds was reached",
            Self::Alarm => "the over-approximation raised an alarm that no run confirms",
        })
    }
}

/// Why an analysis gave no answer at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The program uses something that this engine does not support; the diagnostic points at it.
    Refused(Box<weir_ir::Diagnostic>),
    /// A bug in Weir: a witness could not be replayed, or an invariant was broken. Never hidden.
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
