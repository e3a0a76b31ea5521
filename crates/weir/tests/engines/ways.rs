//! All ways in which `reach` and `check` can be asked, and what each of them owes: the answer, or the answer of the
//! approximation it makes.

use std::num::NonZeroUsize;
use std::time::Duration;

use weir::check::{self, Judgement, check};
use weir::reach::{Engine, Form, LazyOptions, Options, Reduction, Search, reach};
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::Program;
use weir_testkit::Model;
use weir_witness::Goal;

/// An engine with its options.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    /// Every state under SC.
    Sc,
    /// Every state under TSO.
    Tso,
    DepthFirst,
    Workers,
    KeepDead,
    /// Local steps fused.
    Fused,
    /// Persistent sets.
    Persistent,
    /// Dynamic partial order reduction.
    Dynamic,
    /// Cartesian partial order reduction.
    Cartesian,
    /// The lazy engine in its practical form.
    Lazy,
    LazyWorkers,
    /// Algorithm 1 of the paper.
    LazyFirst,
    Dual,
    Set,
    SetDepthFirst,
    Multiset,
    /// With counters that go up to this.
    Counting(u32),
    /// With so many stores in order.
    Queue(u32),
    /// Refined step by step.
    Coherence,
    /// All engines side by side.
    Portfolio,
}

impl Way {
    /// Every one of them.
    pub(crate) const ALL: [Self; 24] = [
        Self::Sc,
        Self::Tso,
        Self::DepthFirst,
        Self::Workers,
        Self::KeepDead,
        Self::Fused,
        Self::Persistent,
        Self::Dynamic,
        Self::Cartesian,
        Self::Lazy,
        Self::LazyWorkers,
        Self::LazyFirst,
        Self::Dual,
        Self::Set,
        Self::SetDepthFirst,
        Self::Multiset,
        Self::Counting(0),
        Self::Counting(1),
        Self::Queue(0),
        Self::Queue(1),
        Self::Queue(2),
        Self::Queue(3),
        Self::Coherence,
        Self::Portfolio,
    ];

    /// The model of the reference whose states are just what it explores, if there is one: it holds exactly where that
    /// one reaches nothing.
    pub(crate) fn explores(self) -> Option<Model> {
        match self {
            Self::Sc => Some(Model::Sc),
            Self::Set | Self::SetDepthFirst | Self::Queue(0) => Some(Model::Set),
            Self::Multiset => Some(Model::Multiset),
            Self::Queue(bound) => Some(Model::Coherence(bound as usize)),
            Self::Counting(_) | Self::Coherence => None,
            _ => Some(Model::Tso),
        }
    }

    /// Whether it may raise alarms that no run shows.
    pub(crate) fn is_approximate(self) -> bool {
        use Way::{Coherence, Counting, Multiset, Queue, Set, SetDepthFirst};
        matches!(self, Set | SetDepthFirst | Multiset | Counting(_) | Queue(_) | Coherence)
    }

    pub(crate) fn options(self, goals: Vec<Goal>) -> Options {
        let plain = Options { goals, ..Options::default() };
        let three = NonZeroUsize::new(3).unwrap_or(NonZeroUsize::MIN);
        let lazy = |form, rounds| Options { engine: Engine::Lazy, lazy: LazyOptions { form, rounds }, ..plain.clone() };
        let engine = |engine, bound| Options { engine, bound, ..plain.clone() };
        match self {
            Self::Sc => Options { model: weir_witness::Model::Sc, ..plain },
            Self::Tso | Self::Portfolio => plain,
            Self::DepthFirst => Options { search: Search::DepthFirst, ..plain },
            Self::Workers => Options { jobs: three, ..plain },
            Self::Fused => Options { reduction: Reduction::Local, ..plain },
            Self::Persistent => Options { reduction: Reduction::Persistent, ..plain },
            Self::Dynamic => Options { reduction: Reduction::Dynamic, ..plain },
            Self::Cartesian => Options { reduction: Reduction::Cartesian, ..plain },
            Self::KeepDead => Options { keep_dead_registers: true, ..plain },
            Self::Lazy => lazy(Form::Keep, 60),
            Self::LazyWorkers => Options { jobs: three, ..lazy(Form::Keep, 60) },
            // It grows fast.
            Self::LazyFirst => lazy(Form::First, 8),
            Self::Dual => engine(Engine::Dual, None),
            Self::Set => engine(Engine::Set, None),
            Self::SetDepthFirst => Options { search: Search::DepthFirst, ..engine(Engine::Set, None) },
            Self::Multiset => engine(Engine::Multiset, None),
            Self::Counting(most) => engine(Engine::Multiset, Some(most)),
            Self::Queue(bound) => engine(Engine::Coherence, Some(bound)),
            Self::Coherence => engine(Engine::Coherence, None),
        }
    }
}

/// What came of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Holds,
    /// By a run that was replayed.
    Reached,
    /// The approximation reaches it, and no run was found.
    Alarm,
    /// A limit came first.
    Stopped(Limit),
    /// With the code of the refusal.
    Refused(&'static str),
}

/// Asks about some goals of a program.
///
/// # Panics
/// If the engine breaks one of its own invariants.
pub(crate) fn ask(program: &Program, way: Way, goals: Vec<Goal>, states: u64) -> Answer {
    // Questions take milliseconds; what takes longer has no answer, so that a test ends whatever the engine does.
    let time = Some(Duration::from_secs(3));
    let limits = Limits { states: Some(states), memory: Some(2 << 30), time };
    let session = Session::new(limits);
    let verdict = if way == Way::Portfolio {
        let options = check::Options { goals, ..check::Options::default() };
        check(program, &options, &session).map(|answer| reached(&answer))
    } else {
        reach(program, &way.options(goals), &session).map(|report| report.verdict.map(|_| ()))
    };
    match verdict {
        Ok(Verdict::Holds) => Answer::Holds,
        Ok(Verdict::Violated(_)) => Answer::Reached,
        Ok(Verdict::Unknown(Limit::Alarm)) => Answer::Alarm,
        Ok(Verdict::Unknown(limit)) => Answer::Stopped(limit),
        Err(Failure::Refused(refusal) | Failure::TooLarge(refusal)) => Answer::Refused(refusal.code),
        Err(what) => panic!("{way:?}: {what}\n{}", weir_testkit::dump(program)),
    }
}

/// Whether a goal was reached, whether or not that is what the property asks for.
pub(crate) fn reached(report: &check::Report) -> Verdict<()> {
    let unknown = report.properties.iter().find_map(|one| match one.judgement {
        Judgement::Unknown(limit) => Some(limit),
        _ => None,
    });
    match unknown {
        _ if report.properties.iter().any(|one| one.judgement.run().is_some()) => Verdict::Violated(()),
        Some(limit) => Verdict::Unknown(limit),
        None => Verdict::Holds,
    }
}
