//! The JSON contract: what `--format json` prints and `--witness` saves. `docs/schema.json` is generated from
//! these types. Fields may be added; none is renamed or removed without saying so in the change log.

mod certificate;
mod check;
mod diagnostic;
mod fences;
mod litmus;
mod prob;
mod witness;

use std::path::Path;
use std::time::Instant;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub(crate) use certificate::{
    BuffersRecord, CERTIFICATE_FORMAT, CertificateKind, ConfigurationRecord, LocalRecord, MessageRecord,
    SavedCertificate, StateRecord, ThreadRecord, ViewRecord,
};
pub(crate) use check::{AttemptEnd, AttemptRecord, CheckAnswer, CheckVerdict};
pub(crate) use diagnostic::DiagnosticRecord;
pub(crate) use fences::{FenceRecord, FencesAnswer, FencesVerdict, TableRecord};
pub(crate) use litmus::{LitmusAnswer, LitmusVerdict, ObservationName, ValueRecord};
pub(crate) use prob::{
    ComparedRecord, EstimateRecord, IntervalRecord, PlainRecord, ProbAnswer, ProbVerdict, VisitsRecord,
};
pub(crate) use witness::{
    ActionName, CycleRecord, LoadRecord, RelationName, SavedGoal, SavedWitness, StepRecord, WITNESS_FORMAT, Witness,
};

/// The version of Weir, as given in every answer.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One answer: one object per file, on one line.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "names the shapes of an answer for the schema; each command serializes its own")]
pub(crate) enum Answer {
    Check(Box<CheckAnswer>),
    Reach(Box<ReachAnswer>),
    Robust(Box<RobustAnswer>),
    Fences(Box<FencesAnswer>),
    Prob(Box<ProbAnswer>),
    Litmus(Box<LitmusAnswer>),
    Translate(TranslateAnswer),
    Replay(ReplayAnswer),
    Certificate(CertificateAnswer),
    Format(FormatAnswer),
    Error(ErrorAnswer),
}

/// The fields that every answer starts with.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Head<V> {
    /// Version of Weir.
    pub(crate) weir: &'static str,
    /// The command that was run.
    pub(crate) command: CommandName,
    /// The file as named on the command line; `-` is standard input.
    pub(crate) file: String,
    /// The verdict.
    pub(crate) verdict: V,
    /// Wall-clock time in seconds, including reading and checking the input.
    pub(crate) seconds: f64,
}

impl<V> Head<V> {
    /// The head of an answer about `file`, on which work began at `started`.
    pub(crate) fn new(command: CommandName, file: &Path, verdict: V, started: Instant) -> Self {
        let seconds = started.elapsed().as_secs_f64();
        Self { weir: VERSION, command, file: file.display().to_string(), verdict, seconds }
    }
}

/// Commands that give answers.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CommandName {
    Check,
    Reach,
    Robust,
    Fences,
    Prob,
    Litmus,
    Translate,
    Replay,
    Fmt,
}

/// Verdicts of `weir reach`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReachVerdict {
    /// A run violates a property; it is in `witness`.
    Reachable,
    /// No run does: the search was exhaustive.
    Unreachable,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// Verdicts of `weir robust`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RobustVerdict {
    /// Every run with store buffers behaves like some run without them.
    Robust,
    /// The run in `witness` behaves unlike any run without store buffers.
    NotRobust,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// Verdicts of `weir translate`, `weir replay` and `weir fmt`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum YesNo {
    Ok,
    No,
}

/// The verdict if there is no answer.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ErrorVerdict {
    Error,
}

/// Memory models.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModelRecord {
    /// Sequential consistency.
    Sc,
    /// Total Store Order.
    Tso,
}

/// The answer of `weir reach`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReachAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<ReachVerdict>,
    /// The engine that gave the answer.
    pub(crate) engine: &'static str,
    /// The bound of the over-approximation that gave the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<u32>,
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// Number of distinct states found.
    pub(crate) states: u64,
    /// The violated property or, if only one was checked, that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<String>,
    /// The line of that property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal_line: Option<u32>,
    /// All properties that were checked.
    pub(crate) goals: Vec<GoalRecord>,
    /// The run, if the verdict is `reachable`. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) witness: Option<Witness>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executed. Present only if the search was exhaustive (`unreachable`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that took no step in any run, although they have instructions. Present only if the search was
    /// exhaustive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) immobile: Option<Vec<String>>,
    /// Stores that were blocked at least once because the value is outside the declared range of the cell.
    pub(crate) out_of_range: Vec<InstructionRecord>,
    /// How `--engine lazy` extended the program, round by round; only with `--trace-rounds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rounds: Option<Vec<RoundRecord>>,
    /// Statistics of the search.
    pub(crate) statistics: StatisticsRecord,
}

/// One round of the lazy engine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RoundRecord {
    /// The paths that were added, each in one thread: from a store to the load that it can be delayed past.
    pub(crate) added: Vec<Vec<InstructionRecord>>,
}

/// The answer of `weir robust`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RobustAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<RobustVerdict>,
    /// The method that gave the answer.
    pub(crate) method: &'static str,
    /// The attacks: pairs of a store and a load of one thread. Absent if the method does not support the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attacks: Option<AttacksRecord>,
    /// Number of distinct states found; 0 if control flow alone gave the answer.
    pub(crate) states: u64,
    /// Which store is delayed past which load in `witness`, if the verdict is `not-robust`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<DelayRecord>,
    /// The run, if the verdict is `not-robust`, with the cycle. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) witness: Option<Witness>,
    /// The triangular race that makes the method `trf` inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) race: Option<RaceRecord>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The limit that ended the search, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// If the verdict is `unknown` because of a limit: the undecided attacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<DelayRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes. Present only if the verdict is `robust` and this took few states to find out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that take no step in any run, although they have instructions. Present only together with `unexecuted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) immobile: Option<Vec<String>>,
    /// Statistics of the search.
    pub(crate) statistics: StatisticsRecord,
}

/// A triangular race: a thread stores and then loads from another cell, with nothing in between that waits for the
/// store to be flushed, and another thread writes to that cell next. The program may or may not be robust.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct RaceRecord {
    /// The store that may still be buffered.
    pub(crate) store: InstructionRecord,
    /// The load after it.
    pub(crate) load: InstructionRecord,
    /// The write of another thread to the cell that is loaded.
    pub(crate) write: InstructionRecord,
    /// The memory model of the run: `sc`, unless the write depends on the store not having reached memory yet.
    pub(crate) model: ModelRecord,
    /// A run up to the race; its last step is the write.
    pub(crate) steps: Vec<StepRecord>,
}

/// Numbers of attacks. The search ends at the first feasible attack, so `by_control_flow`, `infeasible` and `feasible`
/// count the attacks that were decided; the rest of `total` is undecided.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AttacksRecord {
    /// All pairs of a store and a load of one thread.
    pub(crate) total: u64,
    /// Ruled out because every path from the store to the load has a fence, or there is no path.
    pub(crate) by_control_flow: u64,
    /// Ruled out by the search: all the rest if the program is robust, otherwise 0. For `weir fences --stats`, the full
    /// count.
    pub(crate) infeasible: u64,
    /// Found feasible. There may be more: `weir robust` stops at the first one. For `weir fences --stats`, the full
    /// count.
    pub(crate) feasible: u64,
}

/// A store that stays in its buffer while a later load of its thread executes.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct DelayRecord {
    /// The store.
    pub(crate) store: InstructionRecord,
    /// The load.
    pub(crate) load: InstructionRecord,
}

/// A property that was checked.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct GoalRecord {
    /// The property as written, or which assertions.
    pub(crate) text: String,
    /// Its line.
    pub(crate) line: u32,
}

/// What ended a search before it was conclusive.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LimitRecord {
    Time,
    Memory,
    States,
    Interrupted,
    /// The lazy engine would have to extend the program further than is allowed or possible.
    Extensions,
    /// An over-approximation found a violation that no run confirms.
    Alarm,
    /// The engine does not support something in the program; see `warnings`.
    Refused,
}

/// An instruction of a thread.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct InstructionRecord {
    /// The thread.
    pub(crate) thread: String,
    /// Its number in the thread.
    pub(crate) edge: u32,
    /// Its label, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// Its source line.
    pub(crate) line: u32,
    /// The instruction.
    pub(crate) text: String,
}

/// Statistics of a search.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug)]
pub(crate) struct StatisticsRecord {
    /// Number of transitions between states.
    pub(crate) transitions: u64,
    /// Length of the longest run explored.
    pub(crate) depth: u64,
    /// Bytes of one state in the store.
    pub(crate) state_bytes: u64,
    /// Bytes held by the state store at the end.
    pub(crate) stored_bytes: u64,
    /// Peak memory of the process in bytes, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Wall-clock time of the search alone.
    pub(crate) search_seconds: f64,
}

/// The answer of `weir translate`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TranslateAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<YesNo>,
    /// The output language.
    pub(crate) to: &'static str,
    /// The program.
    pub(crate) text: String,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
}

/// The answer of `weir replay`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReplayAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<YesNo>,
    /// The witness file as named on the command line.
    pub(crate) witness_file: String,
    /// What the run claims to show.
    pub(crate) goal: String,
    /// Number of steps.
    pub(crate) steps: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The first step that is impossible or not as claimed, from 1; absent if only the last state is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<u64>,
}

/// The answer of `weir replay` about a certificate.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CertificateAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<YesNo>,
    /// The certificate file as named on the command line.
    pub(crate) certificate_file: String,
    /// The properties that it proves.
    pub(crate) goals: Vec<String>,
    /// Number of states or configurations.
    pub(crate) states: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The first state that is wrong, from 1, if the reason concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<u64>,
}

/// The answer of `weir fmt`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FormatAnswer {
    /// The verdict is `no` if the file is not formatted and `--check` was given.
    #[serde(flatten)]
    pub(crate) head: Head<YesNo>,
    /// Whether the file was rewritten.
    pub(crate) changed: bool,
    /// The formatted text of standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// There is no answer: the input cannot be used.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<ErrorVerdict>,
    /// The reason.
    pub(crate) reason: String,
    /// Diagnostics with places in the program, if there are any.
    pub(crate) diagnostics: Vec<DiagnosticRecord>,
}

/// The schema of answers, with that of saved witnesses among its definitions.
pub(crate) fn schema() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SavedWitness>();
    generator.subschema_for::<SavedCertificate>();
    generator.into_root_schema_for::<Answer>()
}
