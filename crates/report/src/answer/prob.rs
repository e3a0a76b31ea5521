//! The answer of `weir prob`.

use serde::Serialize;
use weir::prob::{Certainty, Obstacle};

use super::diagnostic::DiagnosticRecord;
use super::head::{CommandName, Head};
use super::numbers::Numbers;
use super::odds::{Compared, Gap, Odds, Outcome};
use super::prob_records::{ComparedRecord, EstimateRecord, IntervalRecord, PlainRecord, VisitsRecord};
use super::records::LimitRecord;
use crate::run::StepRecord;

/// Verdicts of `weir prob`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProbVerdict {
    /// The statement in question holds, or the number was computed.
    Ok,
    /// It does not hold, or there is no cost because no run reaches the target.
    No,
    /// Inconclusive, or less precise than requested; `reason` says why.
    Unknown,
}

/// The answer of `weir prob`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<ProbVerdict>,
    /// The question.
    pub question: &'static str,
    /// The target condition.
    pub target: String,
    /// Whether the target must be reached infinitely often.
    pub repeated: bool,
    /// For `almost-sure` and `almost-never`: whether that is the case. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// A lower bound of the probability or the expected cost. For `simulate`: the lower end of the confidence interval
    /// of the probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The corresponding upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The exact value as a fraction, with `--exact`; `lower` and `upper` are then the nearest floating-point numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// With a cost: the probability of reaching the target at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<IntervalRecord>,
    /// With a cost: how often each label is left on the way to the target, on average over the runs that reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<VisitsRecord>,
    /// The requested maximum width of the interval.
    pub epsilon: f64,
    /// The result of the simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateRecord>,
    /// The run that shows that the answer is no, or one random run. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<StepRecord>>,
    /// The drained configurations that the answer rests on; the first ten thousand if there are more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plain: Vec<PlainRecord>,
    /// How many drained configurations the answer rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_count: Option<u64>,
    /// With `--compare`: the results for this program and for the variant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<ComparedRecord>,
    /// Number of configurations explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configurations: Option<u64>,
    /// Whether configurations that differ only in the numbering of interchangeable threads count as one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub up_to_symmetry: bool,
    /// Whether these are all configurations of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Why the verdict is `unknown`, or `no` because there is no cost. The verdict is also `unknown` if only a number
    /// in `compared` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The limit that ended the analysis, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    #[serde(skip)]
    pub(crate) origin: Odds<'a>,
}

impl<'a> ProbAnswer<'a> {
    /// The answer, from what was found.
    pub fn new(odds: Odds<'a>) -> Self {
        let (subject, question) = (&odds.subject, &odds.question);
        let verdict = ProbVerdict::new(&odds);
        let numbers = Numbers::new(&odds);
        let (reason, limit) = explanation(&odds, verdict);
        Self {
            head: subject.head(CommandName::Prob, verdict),
            question: question.kind.name(),
            target: odds.target.text(subject.program),
            repeated: question.repeated,
            holds: numbers.holds,
            lower: numbers.interval.map(|interval| interval.lower),
            upper: numbers.interval.and_then(|interval| interval.upper),
            exact: numbers.exact,
            probability: numbers.probability,
            visits: numbers.visits,
            epsilon: question.epsilon,
            estimate: numbers.estimate,
            steps: numbers.steps,
            plain: numbers.plain,
            plain_count: numbers.plain_count,
            compared: odds.compared.iter().map(|found| ComparedRecord::new(found, &odds)).collect(),
            configurations: numbers.configurations,
            up_to_symmetry: numbers.up_to_symmetry,
            complete: numbers.complete,
            reason,
            limit,
            warnings: warnings(&odds),
            origin: odds,
        }
    }
}

impl ProbVerdict {
    fn new(odds: &Odds<'_>) -> Self {
        let own = match &odds.outcome {
            Outcome::Refused(_) => Self::Unknown,
            outcome if outcome.obstacle().is_some() => Self::Unknown,
            Outcome::Almost(answer) if matches!(answer.certainty, Certainty::Fails(_)) => Self::No,
            _ if odds.is_never() => Self::No,
            _ => Self::Ok,
        };
        if own == Self::Ok && odds.gaps().next().is_some() { Self::Unknown } else { own }
    }
}

/// Why a number is not known, or not precisely; and the limit that was the cause, if one was.
fn explanation(odds: &Odds<'_>, verdict: ProbVerdict) -> (Option<String>, Option<LimitRecord>) {
    if let Outcome::Refused(diagnostic) = &odds.outcome {
        return (Some(diagnostic.message.clone()), Some(LimitRecord::Refused));
    }
    if let Some(obstacle) = odds.outcome.obstacle() {
        let is_exact = matches!(odds.outcome, Outcome::Exact(_));
        let reason = if is_exact { odds.exact_reason(obstacle) } else { odds.reason(obstacle) };
        return (Some(reason), limit(obstacle));
    }
    if odds.is_never() {
        return (Some("no run reaches the target".to_owned()), None);
    }
    if verdict == ProbVerdict::Unknown {
        let reason = reasons(odds, odds.gaps(), |gap| format!("{} in {}", gap.what, gap.file));
        return (reason, odds.gaps().find_map(|gap| limit(gap.obstacle)));
    }
    (None, None)
}

/// What there is to say about the program.
fn warnings(odds: &Odds<'_>) -> Vec<DiagnosticRecord> {
    let refusal = if let Outcome::Refused(diagnostic) = &odds.outcome { Some(diagnostic.as_ref()) } else { None };
    odds.subject.warnings(refusal)
}

fn limit(obstacle: Obstacle) -> Option<LimitRecord> {
    if let Obstacle::Limit(limit) = obstacle { Some(limit.into()) } else { None }
}

/// Why numbers are not known precisely; `None` if all are.
fn reasons<'g>(
    odds: &Odds<'_>,
    gaps: impl Iterator<Item = Gap<'g>>,
    name: impl Fn(&Gap<'g>) -> String,
) -> Option<String> {
    let one = |gap: Gap<'g>| format!("{}: {}", name(&gap), odds.reason(gap.obstacle));
    gaps.map(one).reduce(|all, next| format!("{all}; {next}"))
}

impl ComparedRecord {
    fn new(found: &Compared, odds: &Odds<'_>) -> Self {
        Self {
            file: found.file.clone(),
            probability: found.probability.interval.into(),
            until: found.until.clone(),
            cost: found.cost.cost.map(IntervalRecord::from),
            reason: reasons(odds, found.gaps(), |gap| gap.what.clone()),
        }
    }
}
