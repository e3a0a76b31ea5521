//! The answer of `weir fences`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AttacksRecord, DiagnosticRecord, Head, LimitRecord, StatisticsRecord};

/// Verdicts of `weir fences`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FencesVerdict {
    /// The fences in `fences` suffice; the list is empty if none are needed.
    Fenced,
    /// With `--for safe`: a property is violated even without store buffers, so no fence helps.
    Unsafe,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// The answer of `weir fences`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FencesAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<FencesVerdict>,
    /// What the fences achieve: `robust`, `safe` or `trf` (no triangular races).
    pub(crate) aim: &'static str,
    /// Where fences go, if the verdict is `fenced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fences: Option<Vec<FenceRecord>>,
    /// Their total cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<u64>,
    /// Whether no cheaper set of candidate places suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) optimal: Option<bool>,
    /// Whether a second check confirmed that the fenced program meets the aim, and that every fence is needed. `false`
    /// if a limit was reached first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<bool>,
    /// With `--all`: all sets of the same cost, including `fences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sets: Option<Vec<Vec<FenceRecord>>>,
    /// With `--write`: the program with the fences inserted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// With `--write`: the language of `program`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program_language: Option<&'static str>,
    /// The attacks: pairs of a store and a load of one thread. Absent if the method does not support the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attacks: Option<AttacksRecord>,
    /// Number of searches made to find the fences.
    pub(crate) searches: u32,
    /// Total number of distinct states found.
    pub(crate) states: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The limit that ended the search, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// Statistics, with `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) table: Option<TableRecord>,
    /// Statistics of the search.
    pub(crate) statistics: StatisticsRecord,
}

/// A fence. Code that several threads run has one fence per thread.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct FenceRecord {
    /// The thread.
    pub(crate) thread: String,
    /// The label of the instruction that it precedes, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of the instruction that it precedes.
    pub(crate) line: u32,
    /// The column of the instruction that it precedes.
    pub(crate) column: u32,
}

/// Statistics of a program and its repair.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
pub(crate) struct TableRecord {
    /// Number of threads.
    pub(crate) threads: u64,
    /// Number of control points in all threads.
    pub(crate) labels: u64,
    /// Number of instructions in all threads.
    pub(crate) instructions: u64,
    /// Number of attacks: pairs of a store and a load that it might be delayed past.
    pub(crate) questions: u64,
    /// Attacks ruled out by control flow and fences.
    pub(crate) by_control_flow: u64,
    /// Attacks ruled out by search. Absent if a limit was reached first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_search: Option<u64>,
    /// Feasible attacks; a lower bound if a limit was reached first.
    pub(crate) feasible: u64,
    /// Number of fences, counted once per thread. Absent if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fences: Option<u64>,
    /// Processor time of the whole process, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_seconds: Option<f64>,
    /// Wall-clock time.
    pub(crate) wall_seconds: f64,
}
