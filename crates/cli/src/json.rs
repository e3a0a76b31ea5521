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

/// The version of Weir, as it stands in every answer.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One answer: one object a file, on one line.
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

/// What every answer begins with.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Head<V> {
    /// Version of Weir.
    pub(crate) weir: &'static str,
    /// The command that was run.
    pub(crate) command: CommandName,
    /// The file as it was named on the command line; `-` is standard input.
    pub(crate) file: String,
    /// The answer in a word.
    pub(crate) verdict: V,
    /// Wall-clock time, with reading and checking.
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
    /// A run reaches a goal; it is in `witness`.
    Reachable,
    /// No run does: the search was complete.
    Unreachable,
    /// Not known; `reason` says why.
    Unknown,
}

/// Verdicts of `weir robust`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RobustVerdict {
    /// Every run with store buffers behaves like some run without them.
    Robust,
    /// Not the run in `witness`.
    NotRobust,
    /// Not known; `reason` says why.
    Unknown,
}

/// Verdicts of `weir translate`, `weir replay` and `weir fmt`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum YesNo {
    Ok,
    No,
}

/// The verdict when there is no answer.
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
    /// The bound of an approximation with which the answer was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<u32>,
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// Distinct states found.
    pub(crate) states: u64,
    /// The property that can be broken; or, if just one was looked for, that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<String>,
    /// The line of that property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal_line: Option<u32>,
    /// Everything that was looked for.
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
    /// Instructions that no run executed. Only if the search was complete (`unreachable`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that no run moved, although they have instructions. Only if the search was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) immobile: Option<Vec<String>>,
    /// Stores that were blocked at least once: the value lies outside the declared range of the cell.
    pub(crate) out_of_range: Vec<InstructionRecord>,
    /// What `--engine lazy` added to the program, round by round; with `--trace-rounds` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rounds: Option<Vec<RoundRecord>>,
    /// What the search took.
    pub(crate) statistics: StatisticsRecord,
}

/// One round of the lazy engine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RoundRecord {
    /// The sequences of steps that were added, each of one thread: from a store that may wait to a load that may overtake it.
    pub(crate) added: Vec<Vec<InstructionRecord>>,
}

/// The answer of `weir robust`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RobustAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<RobustVerdict>,
    /// The method that gave the answer.
    pub(crate) method: &'static str,
    /// The attacks: pairs of a store and a load of one thread. Not there if the method cannot handle the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attacks: Option<AttacksRecord>,
    /// Distinct states found; 0 if control flow alone gave the answer.
    pub(crate) states: u64,
    /// Which store is delayed past which load in `witness`, if the verdict is `not-robust`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<DelayRecord>,
    /// The run, if the verdict is `not-robust`, with the cycle. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) witness: Option<Witness>,
    /// The triangular race that keeps the method `trf` from an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) race: Option<RaceRecord>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What ended the search, if a limit did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitRecord>,
    /// If the verdict is `unknown` because of a limit: the attacks that are still open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<DelayRecord>,
    /// Warnings and notes about the program.
    pub(crate) warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes. Only if the verdict is `robust` and few states were enough to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that no run moves, although they have instructions. Only where `unexecuted` is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) immobile: Option<Vec<String>>,
    /// What the search took.
    pub(crate) statistics: StatisticsRecord,
}

/// A triangular race: a thread stores and then loads from another cell, with nothing in between that waits for the store to
/// land, and another thread writes to that cell next. The program may be robust or not.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct RaceRecord {
    /// The store that may still be waiting.
    pub(crate) store: InstructionRecord,
    /// The load after it.
    pub(crate) load: InstructionRecord,
    /// The write of another thread to the cell that is loaded.
    pub(crate) write: InstructionRecord,
    /// Under which memory model the run is: `sc`, except where the write depends on the store not being there yet.
    pub(crate) model: ModelRecord,
    /// A run up to the race; its last step is the write.
    pub(crate) steps: Vec<StepRecord>,
}

/// Numbers of attacks. The search ends with the first attack that is possible, so `by_control_flow`, `infeasible` and
/// `feasible` count what is known for sure: what they leave of `total` was not decided.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AttacksRecord {
    /// All pairs of a store and a load of one thread.
    pub(crate) total: u64,
    /// Impossible, because a fence lies on every way from the store to the load, or there is no way.
    pub(crate) by_control_flow: u64,
    /// Shown to be impossible by the search: all that were left if the program is robust, else 0; of `weir fences --stats`, all
    /// there are.
    pub(crate) infeasible: u64,
    /// Shown to be possible. There may be more: `weir robust` ends with the first one. Of `weir fences --stats`, all there are.
    pub(crate) feasible: u64,
}

/// A store that waits in its buffer while a later load of its thread goes ahead.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct DelayRecord {
    /// The store.
    pub(crate) store: InstructionRecord,
    /// The load.
    pub(crate) load: InstructionRecord,
}

/// Something a search looks for.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct GoalRecord {
    /// The property as it is written, or which assertions.
    pub(crate) text: String,
    /// Its line.
    pub(crate) line: u32,
}

/// What ended a search before it knew.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LimitRecord {
    Time,
    Memory,
    States,
    Interrupted,
    /// The lazy engine would have to extend the program further than it may or can.
    Extensions,
    /// An approximation found something, but no run that shows it.
    Alarm,
    /// The engine cannot handle something in the program; see `warnings`.
    Refused,
}

/// An instruction of a thread.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct InstructionRecord {
    /// Whose.
    pub(crate) thread: String,
    /// Its number in the thread.
    pub(crate) edge: u32,
    /// The label it stands at, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of its source.
    pub(crate) line: u32,
    /// The instruction.
    pub(crate) text: String,
}

/// What a search took.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug)]
pub(crate) struct StatisticsRecord {
    /// Steps taken between states.
    pub(crate) transitions: u64,
    /// Length of the longest run looked at.
    pub(crate) depth: u64,
    /// Bytes of one state in the store.
    pub(crate) state_bytes: u64,
    /// Bytes held by the stores of states at the end.
    pub(crate) stored_bytes: u64,
    /// The most memory the process used so far, in bytes, where the system tells.
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
    /// The form it is in.
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
    /// The witness file as it was named on the command line.
    pub(crate) witness_file: String,
    /// What the run is about.
    pub(crate) goal: String,
    /// How many steps it has.
    pub(crate) steps: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The first step that is not possible or not as claimed, from 1; none if it is the last state that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<u64>,
}

/// The answer of `weir replay` about a certificate.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CertificateAnswer {
    #[serde(flatten)]
    pub(crate) head: Head<YesNo>,
    /// The certificate as it was named on the command line.
    pub(crate) certificate_file: String,
    /// What cannot be reached.
    pub(crate) goals: Vec<String>,
    /// How many states or configurations it has.
    pub(crate) states: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The first state that is wrong, from 1, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<u64>,
}

/// The answer of `weir fmt`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FormatAnswer {
    /// The verdict is `no` if the file is not formatted and `--check` leaves it so.
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
    /// Why.
    pub(crate) reason: String,
    /// Where in the program, if it is about places in it.
    pub(crate) diagnostics: Vec<DiagnosticRecord>,
}

/// The schema of answers, with that of saved witnesses among its definitions.
pub(crate) fn schema() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SavedWitness>();
    generator.subschema_for::<SavedCertificate>();
    generator.into_root_schema_for::<Answer>()
}
