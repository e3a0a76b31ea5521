//! The answer of `weir fences`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AttacksRecord, DiagnosticRecord, Head, LimitRecord, StatisticsRecord};

/// Verdicts of `weir fences`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FencesVerdict {
    /// The fences in `fences` are enough; none if there are none.
    Fenced,
    /// With `--for safe`: a property can be broken without store buffers, so no fence helps.
    Unsafe,
    /// Not known; `reason` says why.
    Unknown,
}

/// The answer of `weir fences`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FencesAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<FencesVerdict>,
    /// What the fences are for: `robust` or `trf` (no triangular race is left).
    pub(crate) aim: &'static str,
    /// Where fences go, if the verdict is `fenced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fences: Option<Vec<FenceRecord>>,
    /// What they cost together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<u64>,
    /// That no cheaper set of the places offered is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) optimal: Option<bool>,
    /// Whether it was checked again that the program with these fences meets the aim, and that it does not without any one of
    /// them. `false` if a limit came first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<bool>,
    /// With `--all`: all sets that cost as much, `fences` among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sets: Option<Vec<Vec<FenceRecord>>>,
    /// With `--write`: the program with its fences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// With `--write`: the language of `program`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program_language: Option<&'static str>,
    /// The attacks: pairs of a store and a load of one thread. Not there if the method cannot handle the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attacks: Option<AttacksRecord>,
    /// Searches made to find the fences.
    pub(crate) searches: u32,
    /// Distinct states found, in all of them together.
    pub(crate) states: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the search, if a limit did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// With `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) table: Option<TableRecord>,
    /// What the search took.
    pub(crate) statistics: StatisticsRecord,
}

/// A fence. A text that several threads run has one for each of them.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct FenceRecord {
    /// Whose.
    pub(crate) thread: String,
    /// The label it comes after, and before the instruction there; if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of what it comes before.
    pub(crate) line: u32,
    /// The column of what it comes before.
    pub(crate) column: u32,
}

/// A program and what it took to mend it, in numbers.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct TableRecord {
    /// Threads.
    pub(crate) threads: u64,
    /// Control points of all threads.
    pub(crate) labels: u64,
    /// Instructions of all threads.
    pub(crate) instructions: u64,
    /// Pairs of a store and a load, each a question: can the one be delayed past the other?
    pub(crate) questions: u64,
    /// Answered with no by control flow and fences.
    pub(crate) by_control_flow: u64,
    /// Answered with no by a search. Not there if a limit came first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_search: Option<u64>,
    /// Answered with yes; at least, if a limit came first.
    pub(crate) feasible: u64,
    /// Fences, counted once for each thread. Not there if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fences: Option<u64>,
    /// Processor time of the whole process, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_seconds: Option<f64>,
    /// Wall-clock time.
    pub(crate) wall_seconds: f64,
}
