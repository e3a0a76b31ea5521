//! Answers about litmus tests in JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Head, LimitRecord, ModelRecord};

/// Verdicts of `weir litmus`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LitmusVerdict {
    /// The final states are as the test requires: at least one satisfies `exists`, none `~exists`, all `forall`.
    Ok,
    /// They are not.
    No,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// In how many final states the condition holds.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObservationName {
    Never,
    Sometimes,
    Always,
}

/// A value of a register or a cell.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(untagged)]
pub(crate) enum ValueRecord {
    Number(i64),
    /// A value of an unsigned 64-bit type.
    Unsigned(u64),
    /// The address of this cell.
    Address(String),
}

/// The answer of `weir litmus` for one test.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LitmusAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<LitmusVerdict>,
    /// The name given in the first line of the test.
    pub(crate) name: String,
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// The condition of the test, in the syntax of the herd tools.
    pub(crate) condition: String,
    /// In how many final states the condition holds. Absent if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observation: Option<ObservationName>,
    /// Number of distinct final states that satisfy the condition; of those found so far if the verdict is `unknown`.
    pub(crate) positive: u64,
    /// Number of distinct final states that do not.
    pub(crate) negative: u64,
    /// The distinct final states, restricted to the variables in the condition and in `locations`.
    pub(crate) states: Vec<BTreeMap<String, ValueRecord>>,
    /// Number of distinct states of the program in all runs.
    pub(crate) visited: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
}
