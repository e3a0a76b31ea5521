//! Fences in certificates.

use serde::{Deserialize, Serialize};

use super::witness_format::SavedWitness;

/// Fences that are enough, and why no cheaper ones are. That they are enough is proved by a certificate of the program
/// with them, which follows the line.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FencesRecord {
    /// Whether it is about which fences of the program are needed: then the places are those of its fences.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// The places where fences can stand.
    pub places: Vec<PlaceRecord>,
    /// The chosen places, by number, ascending.
    pub chosen: Vec<usize>,
    /// Runs of the program without these fences, each of which must be stopped by one.
    pub demands: Vec<SavedWitness>,
    /// What it costs at least to stop them.
    pub bounds: Vec<BoundRecord>,
}

/// A place where a fence can stand.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlaceRecord {
    /// The steps that a fence there comes after: the name of the thread, and the number of the edge.
    pub after: Vec<(String, u32)>,
    /// What it costs.
    pub cost: u64,
}

/// What it costs at least to stop some of the runs.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BoundRecord {
    /// The runs, by number, ascending.
    pub runs: Vec<usize>,
    /// The cost.
    pub least: u64,
    /// A tree of cases, the root first.
    pub steps: Vec<BoundStepRecord>,
}

/// A case.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BoundStepRecord {
    /// Cases by which of the places that stop this run is contained.
    Cases(usize),
    /// Amounts for runs that are not stopped yet: the number of the run, and the amount.
    Amounts(Vec<(usize, u64)>),
}
