//! The answer of `weir check`.

use schemars::JsonSchema;
use serde::Serialize;
use weir::check::{Attempt, End, Member, Report};
use weir::reach::{Coverage, Statistics};
use weir::{Limit, Limits, Verdict};
use weir_ir::Diagnostic;
use weir_witness::{Buffering, Goal};

use super::diagnostic::DiagnosticRecord;
use super::goals::{GoalRecord, main_goal, warnings};
use super::head::{CommandName, Head};
use super::judged::{self, Judged};
use super::records::{InstructionRecord, LimitRecord, StatisticsRecord};
use super::subject::Subject;
use crate::run::{Evidence, LazyWitness};
use crate::wording::limit::limit_text;

/// Verdicts of `weir check`.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// No run under TSO violates a property.
    Safe,
    /// The run in `witness` violates a property.
    Unsafe,
    /// Inconclusive; `reason` says why, and `attempts` what each engine did.
    Unknown,
}

/// The answer of `weir check`.
#[derive(Serialize, JsonSchema)]
pub struct CheckAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<CheckVerdict>,
    /// The engine that gave the answer, if there is one; `sc` is a search without store buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// The bound of the over-approximation that gave the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// Number of distinct states that this engine found or, without one, all engines together.
    pub states: u64,
    /// The violated property or, if only one was checked, that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The line of that property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_line: Option<u32>,
    /// All properties that were checked.
    pub goals: Vec<GoalRecord>,
    /// The run, if the verdict is `unsafe`. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LazyWitness<'a>>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What ended the check, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// What each engine did.
    pub attempts: Vec<AttemptRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes, as far as the winning engine can tell. Present only if the verdict is `safe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexecuted: Option<Vec<InstructionRecord>>,
    /// Statistics.
    pub statistics: StatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: CheckOrigin<'a>,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct CheckOrigin<'a> {
    pub(crate) subject: Subject<'a>,
    /// The properties that were checked.
    pub(crate) goals: &'a [Goal],
    pub(crate) verdict: Judged,
    /// Who gave the answer.
    pub(crate) winner: Option<Member>,
    pub(crate) attempts: Vec<Attempt>,
    /// Complete only if the verdict is `Holds`.
    pub(crate) coverage: Coverage,
    pub(crate) buffering: Option<Buffering>,
    pub(crate) statistics: Statistics,
}

impl<'a> CheckAnswer<'a> {
    /// The answer about these properties, from the portfolio's report or its refusal.
    pub fn new(subject: Subject<'a>, goals: &'a [Goal], found: Result<Report, Box<Diagnostic>>) -> Self {
        let origin = match found {
            Ok(Report { verdict, winner, attempts, statistics, coverage, buffering, .. }) => {
                let verdict = Ok(judged::explained(verdict));
                CheckOrigin { subject, goals, verdict, winner, attempts, coverage, buffering, statistics }
            }
            Err(refusal) => CheckOrigin {
                subject,
                goals,
                verdict: Err(refusal),
                winner: None,
                attempts: Vec::new(),
                coverage: Coverage::default(),
                buffering: None,
                statistics: Statistics::default(),
            },
        };
        Self::of(origin)
    }

    fn of(origin: CheckOrigin<'a>) -> Self {
        let CheckOrigin { subject, goals, verdict, winner, attempts, coverage, buffering, statistics } = &origin;
        let program = subject.program;
        let goal_records = GoalRecord::all(program, goals);
        let main = main_goal(program, verdict, &goal_records);
        let is_complete = matches!(verdict, Ok(Verdict::Holds));
        let attempt = |attempt| AttemptRecord::new(attempt, winner.is_some(), &subject.limits);
        Self {
            head: subject.head(CommandName::Check, CheckVerdict::new(verdict)),
            engine: winner.map(Member::name),
            bound: buffering.map(|(Buffering::Coherence(bound) | Buffering::Multiset(bound))| bound),
            states: statistics.states,
            goal: main.as_ref().map(|goal| goal.text.clone()),
            goal_line: main.map(|goal| goal.line),
            goals: goal_records,
            witness: judged::evidence(verdict).map(|evidence| LazyWitness::new(program, evidence)),
            reason: judged::reason(verdict, &subject.limits),
            limit: judged::limit_record(verdict),
            attempts: attempts.iter().map(attempt).collect(),
            warnings: warnings(subject, goals, verdict),
            unexecuted: is_complete.then(|| InstructionRecord::all(program, &coverage.unexecuted)),
            statistics: subject.statistics(statistics),
            origin,
        }
    }

    /// The run that was found, if there is one.
    pub fn evidence(&self) -> Option<&Evidence> {
        judged::evidence(&self.origin.verdict).map(AsRef::as_ref)
    }
}

impl CheckVerdict {
    fn new(verdict: &Judged) -> Self {
        match verdict {
            Ok(Verdict::Holds) => Self::Safe,
            Ok(Verdict::Violated(_)) => Self::Unsafe,
            Ok(Verdict::Unknown(_)) | Err(_) => Self::Unknown,
        }
    }
}

/// What one engine did.
#[derive(Serialize, JsonSchema)]
pub struct AttemptRecord {
    /// The engine.
    pub engine: &'static str,
    /// How it ended.
    pub end: AttemptEnd,
    /// The limit that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// Why it was stopped or could not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of distinct states found.
    pub states: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl AttemptRecord {
    fn new(attempt: &Attempt, is_answered: bool, limits: &Limits) -> Self {
        let (end, limit, reason) = match &attempt.end {
            End::Answered => (AttemptEnd::Answered, None, None),
            End::Nothing => (AttemptEnd::Nothing, None, None),
            End::Stopped(Limit::Interrupted) if is_answered => (AttemptEnd::Overtaken, None, None),
            End::Stopped(limit) => {
                (AttemptEnd::Stopped, Some(LimitRecord::from(*limit)), Some(limit_text(*limit, limits)))
            }
            End::Refused(diagnostic) => (AttemptEnd::Refused, None, Some(diagnostic.message.clone())),
        };
        Self {
            engine: attempt.member.name(),
            end,
            limit,
            reason,
            states: attempt.statistics.states,
            seconds: attempt.statistics.elapsed.as_secs_f64(),
        }
    }
}

/// How an engine's attempt ended.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum AttemptEnd {
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
