//! The answer of `weir reach`.

use serde::Serialize;
use weir::Verdict;
use weir::reach::{Coverage, Interchangeable, Options, Report, Round, Statistics};
use weir::translate::delay::DelayPath;
use weir_ir::{Diagnostic, Program, ThreadId};
use weir_witness::{Buffering, Goal};

use super::coverage;
use super::diagnostic::DiagnosticRecord;
use super::goals::{GoalRecord, main_goal, warnings};
use super::head::{CommandName, Head};
use super::judged::{self, Judged};
use super::records::{InstructionRecord, LimitRecord, StatisticsRecord};
use super::subject::Subject;
use crate::run::{Evidence, LazyWitness, ModelRecord};

/// Verdicts of `weir reach`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReachVerdict {
    /// A run violates a property; it is in `witness`.
    Reachable,
    /// No run does: the search was exhaustive.
    Unreachable,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// The answer of `weir reach`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReachAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<ReachVerdict>,
    /// The engine that gave the answer.
    pub engine: &'static str,
    /// The bound of the over-approximation that gave the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// The memory model.
    pub model: ModelRecord,
    /// Number of distinct states found.
    pub states: u64,
    /// Sets of interchangeable threads: states that differ only in their numbering count as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interchangeable: Vec<Vec<String>>,
    /// The violated property or, if only one was checked, that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The line of that property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_line: Option<u32>,
    /// Where that property stands.
    #[serde(skip)]
    pub(crate) goal_place: Option<String>,
    /// All properties that were checked.
    pub goals: Vec<GoalRecord>,
    /// The run, if the verdict is `reachable`. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LazyWitness<'a>>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executed. Present only if the search was exhaustive (`unreachable`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that took no step in any run, although they have instructions. Present only if the search was
    /// exhaustive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immobile: Option<Vec<String>>,
    /// Stores that were blocked at least once because the value is outside the declared range of the cell.
    pub out_of_range: Vec<InstructionRecord>,
    /// How `--engine lazy` extended the program, round by round; only with `--trace-rounds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Vec<RoundRecord>>,
    /// Statistics of the search.
    pub statistics: StatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: ReachOrigin<'a>,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct ReachOrigin<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) question: &'a Options,
    /// The properties that were checked.
    pub(crate) goals: &'a [Goal],
    pub(crate) verdict: Judged,
    /// Complete only if the verdict is `Holds`.
    pub(crate) coverage: Coverage,
    pub(crate) buffering: Option<Buffering>,
    pub(crate) by_summaries: bool,
    pub(crate) symmetry: Interchangeable,
    /// Whether to say what keeps threads apart, even without `-v`.
    pub(crate) explain_symmetry: bool,
    pub(crate) rounds: Vec<Round>,
    pub(crate) statistics: Statistics,
}

/// What `weir reach` was asked.
#[derive(Clone, Copy)]
pub struct ReachQuestion<'a> {
    /// The question to the engine.
    pub options: &'a Options,
    /// The properties that were checked.
    pub goals: &'a [Goal],
    /// Whether to show how the lazy engine extended the program.
    pub trace_rounds: bool,
    /// Whether to say what keeps copies of a thread apart.
    pub explain_symmetry: bool,
}

impl<'a> ReachAnswer<'a> {
    /// The answer to a question, from the engine's report or its refusal.
    pub fn new(subject: Subject<'a>, question: ReachQuestion<'a>, found: Result<Report, Box<Diagnostic>>) -> Self {
        let (program, goals) = (subject.program, question.goals);
        let by_summaries = found.as_ref().is_ok_and(|report| report.by_summaries);
        let (verdict, statistics, coverage, symmetry, buffering, rounds) = match found {
            Ok(Report { verdict, statistics, coverage, symmetry, buffering, rounds, .. }) => {
                (Ok(judged::explained(verdict)), statistics, coverage, symmetry, buffering, rounds)
            }
            Err(refusal) => {
                let (statistics, coverage) = (Statistics::default(), Coverage::default());
                (Err(refusal), statistics, coverage, Interchangeable::default(), None, Vec::new())
            }
        };
        let goal_records = GoalRecord::all(program, goals);
        let main = main_goal(program, &verdict, &goal_records);
        let is_complete = matches!(verdict, Ok(Verdict::Holds));
        let round = |round: &Round| RoundRecord::new(program, round);
        Self {
            head: subject.head(CommandName::Reach, ReachVerdict::new(&verdict)),
            engine: question.options.engine.name(),
            bound: buffering.map(|(Buffering::Coherence(bound) | Buffering::Multiset(bound))| bound),
            model: question.options.model.into(),
            states: statistics.states,
            interchangeable: symmetry.threads.iter().map(|threads| names(program, threads)).collect(),
            goal: main.as_ref().map(|goal| goal.text.clone()),
            goal_line: main.as_ref().map(|goal| goal.line),
            goal_place: main.map(|goal| goal.place),
            goals: goal_records,
            witness: judged::evidence(&verdict).map(|evidence| LazyWitness::new(program, evidence)),
            reason: judged::reason(&verdict, &subject.limits),
            limit: judged::limit_record(&verdict),
            warnings: warnings(&subject, goals, &verdict),
            unexecuted: is_complete.then(|| InstructionRecord::all(program, &coverage.unexecuted)),
            immobile: is_complete.then(|| coverage::immobile_names(program, &coverage)),
            out_of_range: InstructionRecord::all(program, &coverage.out_of_range),
            rounds: question.trace_rounds.then(|| rounds.iter().map(round).collect()),
            statistics: subject.statistics(&statistics),
            origin: ReachOrigin {
                subject,
                question: question.options,
                goals,
                verdict,
                coverage,
                buffering,
                by_summaries,
                symmetry,
                explain_symmetry: question.explain_symmetry,
                rounds,
                statistics,
            },
        }
    }

    /// The run that was found, if there is one.
    pub fn evidence(&self) -> Option<&Evidence> {
        judged::evidence(&self.origin.verdict).map(AsRef::as_ref)
    }

    /// How buffers were over-approximated when the answer was found, if they were.
    pub fn buffering(&self) -> Option<Buffering> {
        self.origin.buffering
    }
}

fn names(program: &Program, threads: &[ThreadId]) -> Vec<String> {
    threads.iter().map(|&thread| program.thread(thread).name.clone()).collect()
}

impl ReachVerdict {
    fn new(verdict: &Judged) -> Self {
        match verdict {
            Ok(Verdict::Holds) => Self::Unreachable,
            Ok(Verdict::Violated(_)) => Self::Reachable,
            Ok(Verdict::Unknown(_)) | Err(_) => Self::Unknown,
        }
    }
}

/// One round of the lazy engine.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundRecord {
    /// The paths that were added, each in one thread: from a store to the load that it can be delayed past.
    pub added: Vec<Vec<InstructionRecord>>,
}

impl RoundRecord {
    fn new(program: &Program, round: &Round) -> Self {
        let steps = |path: &DelayPath| {
            path.edges.iter().map(|&edge| InstructionRecord::new(program, path.thread, edge)).collect::<Vec<_>>()
        };
        Self { added: round.added.iter().map(steps).collect() }
    }
}
