//! Verdicts: holds, violated or unknown; never a guess. And what comes with every verdict: the statistics of the
//! search, and what it saw of the program.

use std::time::Duration;

use weir_ir::{Diagnostic, EdgeId, ThreadId};

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
    /// Why the analysis was inconclusive, if it was.
    pub fn limit(&self) -> Option<Limit> {
        if let Self::Unknown(limit) = self { Some(*limit) } else { None }
    }

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
    /// Runs with at most so many rounds per thread show no violation; others were not looked at.
    Rounds(u32),
    /// Runs in which no store waits for more than so many rounds of its thread show no violation; others were not
    /// looked at.
    Age(u32),
    /// Runs in which no stack has more than so many frames show no violation; there are others.
    Frames(u32),
    /// Runs in which no thread is spawned more often than this show no violation; there are others.
    Spawned(u32),
    /// An over-approximation found a violation that no run confirms; it may be a false alarm.
    Alarm,
    /// The question about arbitrarily many threads is not decided, and no small instance violates the property.
    Instances,
    /// An `exists` was asked about every number of copies of a thread at once.
    Copies,
}

/// What the plural of a word ends in.
fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::Rounds(bound) => {
                return write!(f, "only runs with at most {bound} round{} per thread were searched", plural(*bound));
            }
            Self::Age(bound) => {
                return write!(
                    f,
                    "only runs in which no store waits for more than {bound} round{} were searched",
                    plural(*bound)
                );
            }
            Self::Frames(bound) => {
                return write!(f, "only runs with at most {bound} calls of procedures on a stack were searched");
            }
            Self::Spawned(bound) => {
                return write!(f, "only runs that spawn a thread at most {bound} times were searched");
            }
            Self::Time => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::States => "the limit on states was reached",
            Self::Interrupted => "interrupted",
            Self::Extensions => "the limit on extensions of the program was reached",
            Self::Alarm => "the over-approximation raised an alarm that no run confirms",
            Self::Instances => "no small number of copies violates it, and nothing is known about larger numbers",
            Self::Copies => "`exists` asks for a run with some fixed number of copies, not with every number",
        };
        f.write_str(text)
    }
}

/// Why an analysis gave no answer at all.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The program uses something that this engine does not support; the diagnostic points at it.
    Refused(Box<weir_ir::Diagnostic>),
    /// States of the program would be larger than the engine supports; the diagnostic says why.
    TooLarge(Box<weir_ir::Diagnostic>),
    /// A limit was reached before the search could begin.
    Stopped(Limit),
    /// A bug in Weir: a witness could not be replayed, or an invariant was broken. Never hidden.
    Bug(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(diagnostic) | Self::TooLarge(diagnostic) => f.write_str(&diagnostic.message),
            Self::Stopped(limit) => limit.fmt(f),
            Self::Bug(what) => write!(f, "bug in Weir: {what}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Partial order reductions: which redundant runs are skipped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Reduction {
    /// None: every state is visited.
    #[default]
    None,
    /// Local steps are fused with the step before them: fewer states, but runs may be longer than necessary.
    Local,
    /// As `Local`; moreover, in each state only the steps of some threads are taken, if no other thread can interfere
    /// with them.
    Persistent,
    /// As `Local`; moreover, in each state the steps of one thread are taken first, and those of others when something
    /// that is accessed below turns out to interfere with it. Depth-first, and not up to symmetry.
    Dynamic,
    /// As `Persistent`; moreover, where no such set is found, each thread takes all steps that interfere with no other
    /// thread's at once.
    Cartesian,
    /// The one that visited the fewest states when measured on the examples: `Cartesian`.
    Auto,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::None, Self::Local, Self::Persistent, Self::Dynamic, Self::Cartesian, Self::Auto];

    /// The reduction that is used if this one is asked for.
    pub(crate) fn chosen(self) -> Self {
        if self == Self::Auto { Self::Cartesian } else { self }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Local => "local",
            Self::Persistent => "persistent",
            Self::Dynamic => "dynamic",
            Self::Cartesian => "cartesian",
            Self::Auto => "auto",
        }
    }

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::None => "Visits every state; breadth-first search finds a shortest run",
            Self::Local => {
                "Fuses local steps with the step before them: fewer states, but runs may be longer than necessary"
            }
            Self::Persistent => {
                "As `local`, and takes only the steps of some threads where the others cannot interfere with them"
            }
            Self::Dynamic => {
                "As `local`, and takes the steps of other threads where what is accessed later turns out to interfere; \
                 depth-first, with one worker and without symmetry"
            }
            Self::Cartesian => {
                "As `persistent`, and where that does not help, each thread takes several steps at once as long as they \
                 do not interfere with those of others"
            }
            Self::Auto => "The one with the fewest states on the examples: `cartesian`",
        }
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Number of distinct states found.
    pub states: u64,
    /// Whether states that differ only in the numbering of interchangeable threads count as one.
    pub up_to_symmetry: bool,
    /// Which states were skipped.
    pub reduction: Reduction,
    /// Number of transitions between them.
    pub transitions: u64,
    /// Breadth-first: the length of the longest shortest run. Depth-first: of the longest run tried.
    pub depth: u64,
    /// Bytes of one state in the store.
    pub state_bytes: u64,
    /// Bytes held by the state store at the end.
    pub stored_bytes: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Statistics {
    /// Adds another search: the sums of states, transitions and time, the maxima of depth and bytes.
    pub(crate) fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.up_to_symmetry |= other.up_to_symmetry;
        self.reduction = self.reduction.max(other.reduction);
        self.transitions += other.transitions;
        self.depth = self.depth.max(other.depth);
        self.state_bytes = self.state_bytes.max(other.state_bytes);
        self.stored_bytes = self.stored_bytes.max(other.stored_bytes);
        self.elapsed += other.elapsed;
    }
}

/// What a search saw of the program's instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Edges that no explored run took, in order of threads and edges.
    pub unexecuted: Vec<(ThreadId, EdgeId)>,
    /// Threads that took no step at all, although they have instructions.
    pub immobile: Vec<ThreadId>,
    /// Stores that were blocked at least once because the value is outside the declared range of the cell.
    pub out_of_range: Vec<(ThreadId, EdgeId)>,
    /// Threads that were not looked at, since no property depends on them. Of these only what control flow and value
    /// ranges rule out is listed.
    pub unexamined: Vec<ThreadId>,
    /// Whether the search over-approximated: then a blocked store need not occur in any run.
    pub approximate: bool,
}

/// The symmetry between threads that a search used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interchangeable {
    /// Sets of interchangeable threads: states that differ only in their numbering count as one. Empty if there are
    /// none, or if the search did not use symmetry.
    pub threads: Vec<Vec<ThreadId>>,
    /// What keeps copies of a thread apart, with the place in the text.
    pub obstacles: Vec<Diagnostic>,
}

#[cfg(test)]
mod tests;
