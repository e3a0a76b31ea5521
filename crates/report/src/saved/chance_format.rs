//! Probabilities in certificates.

use serde::{Deserialize, Serialize};

/// Between which numbers the probability to reach a target lies. After the line come the states of configurations, and
/// the numbers of each.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChanceRecord {
    /// The target.
    pub target: String,
    /// Whether it is about reaching the target infinitely often.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// How stores leave the buffers: `uniform`, `single`, or `geometric:N/D` with a probability N/D.
    pub updates: String,
    /// How much likelier the thread that stepped last is to step again: a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stickiness: Option<(u64, u64)>,
    /// The probability is at least this, in units of 1/2^62.
    pub lower: u64,
    /// The probability is at most this, in the same units.
    pub upper: u64,
}
