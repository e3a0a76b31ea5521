//! What is known about one property, and what that makes of the program.

use std::time::Duration;

use weir_ir::{LocId, Program, ThreadId};
use weir_witness::{Buffering, Checked, Goal};

use super::member::Found;
use super::{Member, is_exists};
use crate::verdict::{Limit, Verdict};

/// The verdict about one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// It holds in every run.
    Holds,
    /// This run violates it.
    Violated(Box<Checked>),
    /// An `exists` that this run meets.
    Met(Box<Checked>),
    /// An `exists` that no run meets.
    NotMet,
    /// Nobody could tell.
    Unknown(Limit),
}

impl Judgement {
    pub(super) fn new(program: &Program, goal: Goal, found: Found) -> Self {
        match (is_exists(program, goal), found) {
            (false, Found::Unreachable) => Self::Holds,
            (false, Found::Reached(checked)) => Self::Violated(checked),
            (true, Found::Unreachable) => Self::NotMet,
            (true, Found::Reached(checked)) => Self::Met(checked),
        }
    }

    /// Its name in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated(_) => "violated",
            Self::Met(_) => "met",
            Self::NotMet => "not-met",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The run that violates or meets it, if there is one.
    pub fn run(&self) -> Option<&Checked> {
        match self {
            Self::Violated(checked) | Self::Met(checked) => Some(checked),
            Self::Holds | Self::NotMet | Self::Unknown(_) => None,
        }
    }

    /// Whether the program does not do what the property asks for.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Violated(_) | Self::NotMet)
    }
}

/// Whether the verdict about a property says anything about the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Vacuity {
    /// It is not vacuous.
    No,
    /// `always` is about final states, and no run ends.
    NoRunEnds,
    /// The condition of `forbid` needs these places, and no run reaches them.
    Unreached(Vec<(ThreadId, Vec<LocId>)>),
    /// No run reaches an assertion of this thread.
    NoAssertion(ThreadId),
    /// `live` is about this thread, which never starts.
    NoThread(ThreadId),
    /// Not known, or not examined.
    Unknown,
}

impl Vacuity {
    /// Whether the property is vacuous, if that is known.
    pub fn is_vacuous(&self) -> Option<bool> {
        match self {
            Self::No => Some(false),
            Self::NoRunEnds | Self::Unreached(_) | Self::NoAssertion(_) | Self::NoThread(_) => Some(true),
            Self::Unknown => None,
        }
    }
}

/// What is known about one property.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PropertyReport {
    /// Which property. Assertions are grouped by thread.
    pub goal: Goal,
    /// The verdict.
    pub judgement: Judgement,
    /// Who gave it.
    pub member: Option<Member>,
    /// How that member over-approximated buffers, if it did.
    pub buffering: Option<Buffering>,
    /// How long that member searched.
    pub elapsed: Duration,
    /// Whether the property holds for the wrong reason.
    pub vacuity: Vacuity,
}

impl PropertyReport {
    /// Before anybody was asked.
    pub(crate) fn open(goal: Goal) -> Self {
        let judgement = Judgement::Unknown(Limit::Interrupted);
        Self { goal, judgement, member: None, buffering: None, elapsed: Duration::ZERO, vacuity: Vacuity::Unknown }
    }
}

/// Why a program is not safe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// This run violates a property.
    Run(Box<Checked>),
    /// No run meets this `exists`, which only an exhaustive search can tell.
    NotMet(Goal),
}

impl Violation {
    /// The property that fails.
    pub fn goal(&self) -> Goal {
        match self {
            Self::Run(checked) => checked.goal(),
            Self::NotMet(goal) => *goal,
        }
    }

    /// The run that violates it, if it takes one.
    pub fn run(&self) -> Option<&Checked> {
        match self {
            Self::Run(checked) => Some(checked),
            Self::NotMet(_) => None,
        }
    }
}

/// The worst of all verdicts.
pub(super) fn overall(properties: &[PropertyReport]) -> Verdict<Violation> {
    let Some(worst) = worst(properties) else { return Verdict::Holds };
    match &worst.judgement {
        Judgement::Holds | Judgement::Met(_) => Verdict::Holds,
        Judgement::Violated(checked) => Verdict::Violated(Violation::Run(checked.clone())),
        Judgement::NotMet => Verdict::Violated(Violation::NotMet(worst.goal)),
        Judgement::Unknown(limit) => Verdict::Unknown(*limit),
    }
}

/// The first property with the worst verdict. A failure that a run shows comes first: there is more to see.
pub(crate) fn worst(properties: &[PropertyReport]) -> Option<&PropertyReport> {
    let rank = |one: &&PropertyReport| match one.judgement {
        Judgement::Violated(_) => 0,
        Judgement::NotMet => 1,
        Judgement::Unknown(_) => 2,
        Judgement::Holds | Judgement::Met(_) => 3,
    };
    properties.iter().min_by_key(rank)
}
