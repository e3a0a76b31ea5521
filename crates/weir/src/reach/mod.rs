//! Can a goal be reached? One file or folder per engine; this module has what they share.
//!
//! A violation is a run that `weir-witness` has replayed, whichever engine found it.

mod abstraction;
mod bounded;
pub(crate) mod counts;
pub(crate) mod dual;
mod explicit;
mod lazy;
pub(crate) mod liveness;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use weir_ir::{EdgeId, Gather, Program, ThreadId};
use weir_witness::{BackwardProof, Buffering, Certificate, Checked, ClosedSet, Goal, Model};

pub use crate::search::Search;
pub use crate::semantics::goals::all_goals;
pub use crate::verdict::{Coverage, Interchangeable, Reduction, Statistics};
pub(crate) use lazy::MOST_TIMES;
pub use lazy::{Form, LazyOptions, Round};

use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::bounded::RunBound;
use crate::verdict::{Failure, Limit, Verdict};

/// Engines for reachability.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// Visits every reachable state.
    #[default]
    Explicit,
    /// Delays stores only where that can make a difference, found by checking robustness.
    Lazy,
    /// Backward coverability: exact for unbounded buffers, if there are finitely many values.
    Dual,
    /// Runs with at most so many rounds per thread: finds violations.
    Rounds,
    /// Runs in which stores wait for at most so many rounds of their thread: finds violations.
    Age,
    /// Over-approximates buffers as sets: fast, but can be inconclusive.
    Set,
    /// Over-approximates buffers as multisets: like sets, but counts stores.
    Multiset,
    /// Keeps the oldest stores in order and the rest as a set; refines the bound automatically.
    Coherence,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Explicit, Self::Lazy, Self::Dual, Self::Rounds, Self::Age, Self::Set, Self::Multiset, Self::Coherence];

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Explicit => "Visits every reachable state",
            Self::Lazy => {
                "Delays stores only where that can make a difference, which it finds out by checking robustness"
            }
            Self::Dual => "Backward coverability: exact for unbounded buffers, if there are finitely many values",
            Self::Rounds => {
                "Searches runs with at most --bound rounds per thread: finds violations. Without --bound, more and more"
            }
            Self::Age => {
                "Searches runs in which stores wait for at most --bound rounds of their thread: finds violations. \
                 Without --bound, more and more"
            }
            Self::Set => {
                "Over-approximates buffers as sets: fast proofs, even for unbounded buffers, but can be inconclusive"
            }
            Self::Multiset => "Over-approximates buffers as multisets: like `set`, but counts stores",
            Self::Coherence => {
                "Keeps the oldest stores in order and the others as a set. Without --bound, keeps more and more in order"
            }
        }
    }

    /// Whether it over-approximates buffers.
    pub fn approximates(self) -> bool {
        matches!(self, Self::Set | Self::Multiset | Self::Coherence)
    }

    /// Whether it has a bound.
    pub fn has_bound(self) -> bool {
        matches!(self, Self::Rounds | Self::Age | Self::Multiset | Self::Coherence)
    }

    /// The runs that it covers with this bound, if it looks at some runs only.
    pub fn run_bound(self, number: u32) -> Option<RunBound> {
        match self {
            Self::Rounds => Some(RunBound::Rounds(number)),
            Self::Age => Some(RunBound::Age(number)),
            _ => None,
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Lazy => "lazy",
            Self::Dual => "dual",
            Self::Rounds => "rounds",
            Self::Age => "age",
            Self::Set => "set",
            Self::Multiset => "multiset",
            Self::Coherence => "coherence",
        }
    }
}

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The memory model.
    pub model: Model,
    /// The engine.
    pub engine: Engine,
    /// For [`Engine::Coherence`]: how many stores are kept in order; refined step by step if not given. For
    /// [`Engine::Multiset`]: the maximum of counters. For [`Engine::Rounds`]: the rounds of each thread; for
    /// [`Engine::Age`]: the rounds that a store may wait for; both raised step by step if not given.
    pub bound: Option<u32>,
    /// The order of the search.
    pub search: Search,
    /// Number of workers, at most 256. The answer does not depend on it.
    pub jobs: NonZeroUsize,
    /// Whether states are distinguished by dead registers (more states, same answer).
    pub keep_dead_registers: bool,
    /// Whether states that differ only in the numbering of interchangeable threads count as one in the explicit engine.
    pub symmetry: bool,
    /// Which redundant runs the explicit engine skips.
    pub reduction: Reduction,
    /// Which goals to look for: all of the program's if empty.
    pub goals: Vec<Goal>,
    /// Options of the lazy engine.
    pub lazy: LazyOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Tso,
            engine: Engine::default(),
            bound: None,
            search: Search::default(),
            jobs: NonZeroUsize::MIN,
            keep_dead_registers: false,
            symmetry: true,
            reduction: Reduction::None,
            goals: Vec::new(),
            lazy: LazyOptions::default(),
        }
    }
}

/// The answer, and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// `Holds`: no goal can be reached. `Violated`: this run reaches one.
    pub verdict: Verdict<Box<Checked>>,
    /// Statistics of the search.
    pub statistics: Statistics,
    /// What was executed. Complete only if the verdict is `Holds`.
    pub coverage: Coverage,
    /// How the lazy engine extended the program, round by round; empty for other engines.
    pub rounds: Vec<Round>,
    /// The symmetry between threads that the explicit engine used.
    pub symmetry: Interchangeable,
    /// How buffers were over-approximated, if they were.
    pub buffering: Option<Buffering>,
    /// Whether the program was explored with procedure summaries, for stacks of any depth.
    pub by_summaries: bool,
    /// The goal of the alarm that no run confirms, if the verdict is [`Limit::Alarm`].
    pub alarm: Option<Goal>,
}

impl Report {
    /// This search and the next one, which has decided the rest.
    fn then(self, next: Self) -> Self {
        let mut statistics = self.statistics;
        statistics.add(&next.statistics);
        Self { verdict: next.verdict, statistics, ..self }
    }

    /// An inconclusive answer.
    pub(crate) fn unknown(limit: Limit) -> Self {
        Self::new(Verdict::Unknown(limit), Statistics::default(), Coverage::default())
    }

    /// An answer of an engine that neither approximates buffers nor uses the symmetry between threads.
    fn new(verdict: Verdict<Box<Checked>>, statistics: Statistics, coverage: Coverage) -> Self {
        Self {
            verdict,
            statistics,
            coverage,
            symmetry: Interchangeable::default(),
            buffering: None,
            by_summaries: false,
            alarm: None,
            rounds: Vec::new(),
        }
    }
}

/// What an engine does, for those who watch it.
fn activity(options: &Options) -> String {
    let name = options.engine.name();
    match (options.engine, options.model) {
        (Engine::Explicit, Model::Sc) => format!("{name}: visiting states without store buffers"),
        (Engine::Explicit, Model::Tso) => format!("{name}: visiting states"),
        (Engine::Lazy, _) => name.to_owned(),
        (Engine::Dual, _) => format!("{name}: searching backward"),
        (Engine::Rounds | Engine::Age, _) => format!("{name}: visiting states within a bound"),
        (Engine::Set | Engine::Multiset | Engine::Coherence, _) => format!("{name}: visiting abstract states"),
    }
}

/// Looks for a run of `program` that reaches a goal. Without any goal, just visits all states.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    refuse::unsupported_by(program, refuse::Who::Engine(options.engine.name()))?;
    reach_with_spawn(program, options, session)
}

/// The same for a program that may start threads, as long as there are instances left.
pub(crate) fn reach_with_spawn(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let session = &session.doing(&activity(options));
    let report = match liveness::split(program, options) {
        (liveness, _) if liveness.is_empty() => search(program, options, session),
        (liveness, others) if others.is_empty() => liveness::decide(program, &liveness, options, session),
        (liveness, others) => {
            // Said before anything is searched, so that asking again without that property costs nothing.
            liveness::refuse(program, &liveness, options)?;
            let first = search(program, &Options { goals: others, ..options.clone() }, session);
            first.and_then(|first| match first.verdict {
                Verdict::Holds => Ok(first.then(liveness::decide(program, &liveness, options, session)?)),
                _ => Ok(first),
            })
        }
    };
    match report {
        Err(Failure::Stopped(limit)) => Ok(Report::unknown(limit)),
        report => report,
    }
}

/// Looks for a run to a state that shows one of the goals, none of which is about what can still happen.
fn search(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    match options.engine {
        Engine::Explicit => explicit::reach(program, options, session),
        Engine::Lazy => lazy::reach(program, options, session),
        Engine::Dual => dual::reach(program, options, session),
        Engine::Rounds | Engine::Age => bounded::reach(program, options, session),
        Engine::Set | Engine::Multiset | Engine::Coherence => abstraction::reach(program, options, session),
    }
}

/// A backward proof that no goal can be reached; `None` if one can be.
///
/// # Errors
/// As [`reach`], and if a limit was reached.
pub fn certify_backward(
    program: &Program,
    options: &Options,
    session: &Session,
) -> Result<Option<BackwardProof>, Failure> {
    dual::certify(program, options, session)
}

/// All states with buffers over-approximated like this. If the answer with them was `Holds`, this is a certificate of
/// it.
///
/// # Errors
/// As [`reach`], and if a limit was reached.
pub fn certify(
    program: &Program,
    options: &Options,
    buffering: Buffering,
    session: &Session,
) -> Result<Certificate, Failure> {
    abstraction::certify(program, options, buffering, session)
}

/// All states under the memory model, with buffers as given, in the form in which they are saved. If the answer with
/// them was `Holds`, this is a certificate of it. No reduction is used.
///
/// # Errors
/// As [`reach`], and if a limit was reached.
pub fn closed_set(
    program: &Program,
    options: &Options,
    buffering: Buffering,
    session: &Session,
) -> Result<ClosedSet, Failure> {
    abstraction::closed_set(program, options, buffering, session)
}

/// What was executed of the original program, given what was of a translated one: for each of its threads and edges,
/// which edge of the original it executes, if any.
pub(crate) fn mapped_coverage(program: &Program, executes: &[Vec<Option<EdgeId>>], seen: &Coverage) -> Coverage {
    let unexecuted: BTreeSet<_> = seen.unexecuted.iter().copied().gather();
    let mut executed = BTreeSet::new();
    for thread in program.running_threads() {
        for (index, &original) in executes[thread.index()].iter().enumerate() {
            if !unexecuted.contains(&(thread, EdgeId::new(index))) {
                executed.extend(original.map(|edge| (thread, edge)));
            }
        }
    }
    let edges = |thread: ThreadId| (0..program.body(thread).edges().len()).map(EdgeId::new);
    let all = program.running_threads().flat_map(|thread| edges(thread).map(move |edge| (thread, edge)));
    let is_immobile =
        |thread: &ThreadId| edges(*thread).len() > 0 && !edges(*thread).any(|edge| executed.contains(&(*thread, edge)));
    let original = |&(thread, edge): &(ThreadId, EdgeId)| Some((thread, executes[thread.index()][edge.index()]?));
    let out_of_range: BTreeSet<_> = seen.out_of_range.iter().filter_map(original).gather();
    Coverage {
        unexecuted: all.filter(|edge| !executed.contains(edge)).collect(),
        immobile: program.running_threads().filter(is_immobile).collect(),
        out_of_range: out_of_range.into_iter().collect(),
        unexamined: Vec::new(),
        approximate: false,
    }
}

/// What an engine looks for.
pub(crate) fn goals(program: &Program, options: &Options) -> Vec<Goal> {
    if options.goals.is_empty() { all_goals(program) } else { options.goals.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_does_begins_with_its_name() {
        for engine in Engine::ALL {
            for model in [Model::Sc, Model::Tso] {
                let said = activity(&Options { engine, model, ..Options::default() });
                assert!(said.starts_with(engine.name()), "{said}");
            }
        }
        let said = |model| activity(&Options { model, ..Options::default() });
        assert!(said(Model::Sc).contains("without store buffers") && !said(Model::Tso).contains("without"));
    }
}
