//! Parts of the answer of `weir prob`.

use std::collections::BTreeMap;

use serde::Serialize;
use weir::prob::{DrainedState, Interval};
use weir_ir::Value;

/// An interval that contains the true value.
#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalRecord {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound; absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
}

/// How often a label is left.
#[derive(Serialize, Clone, PartialEq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VisitsRecord {
    /// Thread and label.
    pub label: String,
    /// How often, on average.
    #[serde(flatten)]
    pub visits: IntervalRecord,
}

/// The result of a simulation.
#[derive(Serialize, Clone, PartialEq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateRecord {
    /// Number of runs.
    pub runs: u64,
    /// The random seed.
    pub seed: u64,
    /// Number of runs that reached the target.
    pub hits: u64,
    /// Number of runs that reached the step limit undecided.
    pub undecided: u64,
    /// Total number of steps.
    pub steps: u64,
    /// The confidence level of the intervals.
    pub confidence: f64,
    /// The mean cost of runs that reached the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_cost: Option<f64>,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<IntervalRecord>,
}

/// A drained configuration.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlainRecord {
    /// Where each thread is.
    pub places: BTreeMap<String, String>,
    /// The values of live registers, by names such as `P0.r`.
    pub registers: BTreeMap<String, Value>,
    /// The values of cells in memory.
    pub cells: BTreeMap<String, Value>,
}

/// One program of a comparison.
#[derive(Serialize, Clone, PartialEq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRecord {
    /// Its file.
    pub file: String,
    /// The probability of the target.
    pub probability: IntervalRecord,
    /// The condition up to which costs are counted.
    pub until: String,
    /// The expected cost up to that condition; absent if no run reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<IntervalRecord>,
    /// Why one of these numbers is less precise than requested, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<Interval> for IntervalRecord {
    /// Zero has no sign.
    fn from(found: Interval) -> Self {
        Self { lower: found.lower + 0.0, upper: found.upper.is_finite().then_some(found.upper) }
    }
}

impl From<&DrainedState> for PlainRecord {
    fn from(plain: &DrainedState) -> Self {
        let DrainedState { places, registers, cells, .. } = plain.clone();
        Self {
            places: places.into_iter().collect(),
            registers: registers.into_iter().collect(),
            cells: cells.into_iter().collect(),
        }
    }
}
