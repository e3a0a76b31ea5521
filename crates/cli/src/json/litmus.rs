//! Answers about litmus tests in JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Head, LimitRecord, ModelRecord};

/// Verdicts of `weir litmus`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LitmusVerdict {
    /// The final states are as the test asks: `exists` is met by one, `~exists` by none, `forall` by all.
    Ok,
    /// They are not.
    No,
    /// Not known; `reason` says why.
    Unknown,
}

/// How often the condition holds in final states.
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
    /// Of an unsigned type of 64 bits.
    Unsigned(u64),
    /// The address of this cell.
    Address(String),
}

/// The answer of `weir litmus` about one test.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LitmusAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<LitmusVerdict>,
    /// The name in the first line of the test.
    pub(crate) name: String,
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// What the test asks, as the herd tools write it.
    pub(crate) condition: String,
    /// How often the condition holds. Missing if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observation: Option<ObservationName>,
    /// Number of distinct final states that meet the condition; as far as known if the verdict is `unknown`.
    pub(crate) positive: u64,
    /// Number of those that do not.
    pub(crate) negative: u64,
    /// The distinct final states, over what the condition and `locations` speak of.
    pub(crate) states: Vec<BTreeMap<String, ValueRecord>>,
    /// How many states the program went through in all runs together.
    pub(crate) visited: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
}
