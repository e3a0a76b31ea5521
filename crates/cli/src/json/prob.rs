//! The answer of `weir prob`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_ir::Value;

use super::{DiagnosticRecord, Head, LimitRecord, StepRecord};

/// Verdicts of `weir prob`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProbVerdict {
    /// The statement in question holds, or the number was computed.
    Ok,
    /// It does not hold, or there is no cost because no run reaches the target.
    No,
    /// Inconclusive, or less precise than requested; `reason` says why.
    Unknown,
}

/// The answer of `weir prob`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProbAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<ProbVerdict>,
    /// The question.
    pub(crate) question: &'static str,
    /// The target condition.
    pub(crate) target: String,
    /// Whether the target must be reached infinitely often.
    pub(crate) repeated: bool,
    /// For `almost-sure` and `almost-never`: whether that is the case. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) holds: Option<bool>,
    /// A lower bound of the probability or the expected cost. For `simulate`: the lower end of the confidence interval
    /// of the probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lower: Option<f64>,
    /// The corresponding upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upper: Option<f64>,
    /// The exact value as a fraction, with `--exact`; `lower` and `upper` are then the nearest floating-point numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exact: Option<String>,
    /// With a cost: the probability of reaching the target at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<IntervalRecord>,
    /// With a cost: how often each label is left on the way to the target, on average over the runs that reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) visits: Vec<VisitsRecord>,
    /// The requested maximum width of the interval.
    pub(crate) epsilon: f64,
    /// The result of the simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<EstimateRecord>,
    /// The run that shows that the answer is no, or one random run. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<Vec<StepRecord>>,
    /// The drained configurations that the answer rests on; the first ten thousand if there are more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) plain: Vec<PlainRecord>,
    /// How many drained configurations the answer rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plain_count: Option<u64>,
    /// With `--compare`: the results for this program and for the variant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) compared: Vec<ComparedRecord>,
    /// Number of configurations explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) configurations: Option<u64>,
    /// Whether these are all configurations of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) complete: Option<bool>,
    /// Why the verdict is `unknown`, or `no` because there is no cost. The verdict is also `unknown` if only a number
    /// in `compared` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The limit that ended the analysis, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
}

/// An interval that contains the true value.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Debug)]
pub(crate) struct IntervalRecord {
    /// Lower bound.
    pub(crate) lower: f64,
    /// Upper bound; absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upper: Option<f64>,
}

/// How often a label is left.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct VisitsRecord {
    /// Thread and label.
    pub(crate) label: String,
    /// How often, on average.
    #[serde(flatten)]
    pub(crate) visits: IntervalRecord,
}

/// The result of a simulation.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct EstimateRecord {
    /// Number of runs.
    pub(crate) runs: u64,
    /// The random seed.
    pub(crate) seed: u64,
    /// Number of runs that reached the target.
    pub(crate) hits: u64,
    /// Number of runs that reached the step limit undecided.
    pub(crate) undecided: u64,
    /// Total number of steps.
    pub(crate) steps: u64,
    /// The confidence level of the intervals.
    pub(crate) confidence: f64,
    /// The mean cost of runs that reached the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean_cost: Option<f64>,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<IntervalRecord>,
}

/// A drained configuration.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlainRecord {
    /// Where each thread is.
    pub(crate) places: BTreeMap<String, String>,
    /// The values of live registers, by names such as `P0.r`.
    pub(crate) registers: BTreeMap<String, Value>,
    /// The values of cells in memory.
    pub(crate) cells: BTreeMap<String, Value>,
}

/// One program of a comparison.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct ComparedRecord {
    /// Its file.
    pub(crate) file: String,
    /// The probability of the target.
    pub(crate) probability: IntervalRecord,
    /// The condition up to which costs are counted.
    pub(crate) until: String,
    /// The expected cost up to that condition; absent if no run reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<IntervalRecord>,
    /// Why one of these numbers is less precise than requested, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}
