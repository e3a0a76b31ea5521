//! The numbers in the answer of `weir prob`.

use weir::prob::{Certainty, Cost, Estimate, Exact, ExactAnswer, Interval, Probability, Qualitative};
use weir_ir::Program;
use weir_witness::Replay;

use super::odds::{CONFIDENCE, Odds, Outcome, ProbQuestion};
use super::prob_records::{EstimateRecord, IntervalRecord, PlainRecord, VisitsRecord};
use crate::run::{StepRecord, step_records};

/// The fields that depend on the question; each is as in [`ProbAnswer`](super::prob::ProbAnswer).
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) holds: Option<bool>,
    pub(super) interval: Option<IntervalRecord>,
    pub(super) exact: Option<String>,
    pub(super) probability: Option<IntervalRecord>,
    pub(super) visits: Vec<VisitsRecord>,
    pub(super) estimate: Option<EstimateRecord>,
    pub(super) steps: Option<Vec<StepRecord>>,
    pub(super) plain: Vec<PlainRecord>,
    pub(super) plain_count: Option<u64>,
    pub(super) configurations: Option<u64>,
    pub(super) up_to_symmetry: bool,
    pub(super) complete: Option<bool>,
}

impl Numbers {
    pub(super) fn new(odds: &Odds<'_>) -> Self {
        let program = odds.subject.program;
        match &odds.outcome {
            Outcome::Refused(_) | Outcome::Exact(ExactAnswer::Unknown(_)) => Self::default(),
            Outcome::Almost(found) => Self::qualitative(program, found),
            Outcome::Probability(found) => Self::of_probability(found),
            Outcome::Exact(ExactAnswer::Known(found)) => Self::of_exact(found, odds.question.kind),
            Outcome::Cost(found) => Self::of_cost(found),
            Outcome::Simulated(estimate, sample) => Self::simulated(program, (estimate, sample), odds.question.seed),
        }
    }

    fn qualitative(program: &Program, found: &Qualitative) -> Self {
        let numbers = Self { configurations: Some(found.configurations as u64), ..Self::default() };
        match &found.certainty {
            Certainty::Holds { drained: plain, shown } => Self {
                holds: Some(true),
                plain_count: Some(*plain as u64),
                plain: shown.iter().map(PlainRecord::from).collect(),
                ..numbers
            },
            Certainty::Fails(run) => Self { holds: Some(false), steps: Some(step_records(program, run)), ..numbers },
            Certainty::Unknown(_) => numbers,
        }
    }

    fn of_probability(found: &Probability) -> Self {
        Self {
            interval: Some(found.interval.into()),
            configurations: Some(found.configurations as u64),
            up_to_symmetry: found.up_to_symmetry,
            complete: Some(found.is_complete),
            ..Self::default()
        }
    }

    fn of_exact(found: &Exact, question: ProbQuestion) -> Self {
        let asked = if question == ProbQuestion::Cost { found.cost.as_ref() } else { Some(&found.probability) };
        Self {
            exact: asked.map(ToString::to_string),
            interval: asked.map(|value| value.interval().into()),
            configurations: Some(found.configurations as u64),
            up_to_symmetry: found.up_to_symmetry,
            ..Self::default()
        }
    }

    fn of_cost(found: &Cost) -> Self {
        let visits =
            |(label, visits): &(String, Interval)| VisitsRecord { label: label.clone(), visits: (*visits).into() };
        Self {
            interval: found.cost.map(IntervalRecord::from),
            probability: Some(found.probability.into()),
            visits: found.visits.iter().map(visits).collect(),
            configurations: Some(found.configurations as u64),
            complete: Some(found.is_complete),
            ..Self::default()
        }
    }

    fn simulated(program: &Program, (estimate, sample): (&Estimate, &Replay), seed: u64) -> Self {
        let record = EstimateRecord {
            runs: estimate.runs,
            seed,
            hits: estimate.hits,
            undecided: estimate.undecided,
            steps: estimate.steps,
            confidence: CONFIDENCE,
            mean_cost: estimate.cost.map(|(mean, _)| mean),
            cost: estimate.cost.map(|(_, found)| found.into()),
        };
        Self {
            interval: Some(estimate.probability.into()),
            steps: Some(step_records(program, sample)),
            estimate: Some(record),
            ..Self::default()
        }
    }
}
