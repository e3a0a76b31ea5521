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
    /// What was asked about holds, or the number was found.
    Ok,
    /// It does not hold; or there is no cost, because no run reaches the target.
    No,
    /// Not known, or not as precisely as was asked for; `reason` says why.
    Unknown,
}

/// The answer of `weir prob`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProbAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<ProbVerdict>,
    /// The question.
    pub(crate) question: &'static str,
    /// The condition that was looked for.
    pub(crate) target: String,
    /// Whether it must be reached again and again.
    pub(crate) repeated: bool,
    /// Whether it is almost sure, or almost never: for these two questions, unless it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) holds: Option<bool>,
    /// The probability or the expected cost is at least this. For `simulate`: the lower end of the confidence interval of the probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lower: Option<f64>,
    /// It is at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upper: Option<f64>,
    /// The exact value, as a fraction, if it was asked for; `lower` and `upper` are next to it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exact: Option<String>,
    /// With a cost: the probability to reach the target at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<IntervalRecord>,
    /// With a cost: how often labels are left on the way to the target, on the average over the runs that reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) visits: Vec<VisitsRecord>,
    /// How wide the interval was allowed to be.
    pub(crate) epsilon: f64,
    /// What random runs showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<EstimateRecord>,
    /// The run that shows that the answer is no; or one random run. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<Vec<StepRecord>>,
    /// The drained configurations that the answer rests on; the first ten thousand if there are more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) plain: Vec<PlainRecord>,
    /// How many drained configurations the answer rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plain_count: Option<u64>,
    /// The same for this program and for the variant it is compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) compared: Vec<ComparedRecord>,
    /// Configurations met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) configurations: Option<u64>,
    /// Whether these are all that the program has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) complete: Option<bool>,
    /// Why the verdict is `unknown`, or `no` where there is no cost. If only a number in `compared` is not known, that is `unknown`, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the analysis, if a limit did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
}

/// Two numbers with the true one in between.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Debug)]
pub(crate) struct IntervalRecord {
    /// At least.
    pub(crate) lower: f64,
    /// At most; not there if nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upper: Option<f64>,
}

/// How often a label is left.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct VisitsRecord {
    /// Thread and label.
    pub(crate) label: String,
    /// How often, on the average.
    #[serde(flatten)]
    pub(crate) visits: IntervalRecord,
}

/// What random runs showed.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct EstimateRecord {
    /// Runs made.
    pub(crate) runs: u64,
    /// What decided them.
    pub(crate) seed: u64,
    /// Runs that reached the target.
    pub(crate) hits: u64,
    /// Runs that were too long to tell.
    pub(crate) undecided: u64,
    /// Steps of all runs together.
    pub(crate) steps: u64,
    /// How sure the intervals are.
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
    /// What registers hold that are still read, by names such as `P0.r`.
    pub(crate) registers: BTreeMap<String, Value>,
    /// What memory holds.
    pub(crate) cells: BTreeMap<String, Value>,
}

/// One program of a comparison.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct ComparedRecord {
    /// Its file.
    pub(crate) file: String,
    /// The probability of the target.
    pub(crate) probability: IntervalRecord,
    /// Up to where costs are counted.
    pub(crate) until: String,
    /// The expected cost up to there; not there if no run gets there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<IntervalRecord>,
    /// Why one of these is not known as precisely as it should be, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}
