//! The answer of `weir check`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DiagnosticRecord, GoalRecord, Head, InstructionRecord, LimitRecord, StatisticsRecord, Witness};

/// Verdicts of `weir check`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckVerdict {
    /// No run under TSO violates a property.
    Safe,
    /// The run in `witness` violates a property.
    Unsafe,
    /// Inconclusive; `reason` says why, and `attempts` what each engine did.
    Unknown,
}

/// The answer of `weir check`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<CheckVerdict>,
    /// The engine that gave the answer, if there is one; `sc` is a search without store buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<&'static str>,
    /// The bound of the over-approximation that gave the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<u32>,
    /// Number of distinct states that this engine found or, without one, all engines together.
    pub(crate) states: u64,
    /// The violated property or, if only one was checked, that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<String>,
    /// The line of that property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal_line: Option<u32>,
    /// All properties that were checked.
    pub(crate) goals: Vec<GoalRecord>,
    /// The run, if the verdict is `unsafe`. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) witness: Option<Witness>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the check, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// What each engine did.
    pub(crate) attempts: Vec<AttemptRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes, as far as the winning engine can tell. Present only if the verdict is `safe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unexecuted: Option<Vec<InstructionRecord>>,
    /// Statistics.
    pub(crate) statistics: StatisticsRecord,
}

/// What one engine did.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AttemptRecord {
    /// The engine.
    pub(crate) engine: &'static str,
    /// How it ended.
    pub(crate) end: AttemptEnd,
    /// The limit that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Why it was stopped or could not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Number of distinct states found.
    pub(crate) states: u64,
    /// Wall-clock time.
    pub(crate) seconds: f64,
}

/// How an engine's attempt ended.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AttemptEnd {
    /// It gave the answer.
    Answered,
    /// It found no violation, but cannot prove that there is none.
    Nothing,
    /// Another engine gave the answer first.
    Overtaken,
    /// A limit stopped it.
    Stopped,
    /// It does not support something in the program.
    Refused,
}
