//! The answer of `weir check`.

use std::sync::Arc;

use serde::Serialize;
use weir::check::{Attempt, End, Judgement, Member, PropertyReport, Report, Vacuity};
use weir::{Limits, Verdict};
use weir_ir::flow::waits;
use weir_ir::{Diagnostic, Program, Span};
use weir_witness::{Buffering, Goal, Model};

use super::diagnostic::DiagnosticRecord;
use super::goals::GoalRecord;
use super::head::{CommandName, Head};
use super::records::{InstructionRecord, LimitRecord, StatisticsRecord};
use super::subject::Subject;
use crate::run::{Evidence, LazyWitness, ModelRecord};
use crate::wording::goal;
use crate::wording::growth::growth_text;
use crate::wording::limit::limit_text;

/// Verdicts of `weir check`: the worst of all properties.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// Every property holds, and every `exists` is met.
    Safe,
    /// A property is violated, or an `exists` is not met.
    Unsafe,
    /// Inconclusive; `reason` says why, and `attempts` what each engine did.
    Unknown,
}

/// The answer of `weir check`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<CheckVerdict>,
    /// The memory model.
    pub model: ModelRecord,
    /// The engine that gave this verdict: for the first property that is as bad. `sc` is a search without store
    /// buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// The bound of the over-approximation that gave this verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// Number of distinct states found by the engines that decided something, or by all engines if none did.
    pub states: u64,
    /// The property that fails or, if only one was checked, that one.
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
    /// The verdict about each property.
    pub properties: Vec<PropertyRecord<'a>>,
    /// The run that violates the first violated property. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LazyWitness<'a>>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What ended the check, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// A note that hangs were not checked: the program waits, and no `forbid stuck` or `live` was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What each engine did, by round: each round asks about the properties that are still open.
    pub attempts: Vec<AttemptRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes, as far as the engines can tell. Present only if the verdict is `safe` and a
    /// search was exhaustive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexecuted: Option<Vec<InstructionRecord>>,
    /// Statistics, except for the memory of the process, which differs between invocations.
    pub statistics: StatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: CheckOrigin<'a>,
}

/// Verdicts about a property.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyVerdict {
    /// No run violates it.
    Holds,
    /// A run violates it.
    Violated,
    /// A run meets this `exists`.
    Met,
    /// No run meets this `exists`.
    NotMet,
    /// Inconclusive.
    Unknown,
}

impl From<&Judgement> for PropertyVerdict {
    fn from(judgement: &Judgement) -> Self {
        match judgement {
            Judgement::Holds => Self::Holds,
            Judgement::Violated(_) => Self::Violated,
            Judgement::Met(_) => Self::Met,
            Judgement::NotMet => Self::NotMet,
            Judgement::Unknown(_) => Self::Unknown,
        }
    }
}

/// What is known about one property.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyRecord<'a> {
    /// The property as written, or whose assertions.
    pub property: String,
    /// Its line; for assertions, that of the thread.
    pub line: u32,
    /// The verdict.
    pub verdict: PropertyVerdict,
    /// The engine that gave it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// Wall-clock time of that engine.
    pub seconds: f64,
    /// Whether the property holds only because no run gets to where it could be violated. Absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<bool>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The run that violates or meets it: of the first violated property, and with `--all-witnesses` of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LazyWitness<'a>>,
}

/// What `weir check` was asked.
#[derive(Clone, Copy)]
pub struct CheckQuestion<'a> {
    /// The memory model.
    pub model: Model,
    /// The properties that were checked.
    pub goals: &'a [Goal],
    /// Whether to show the runs of all properties, not just of the first violated one.
    pub all_witnesses: bool,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct CheckOrigin<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) question: CheckQuestion<'a>,
    /// What was found, or why the program is refused.
    pub(crate) report: Result<Report, Box<Diagnostic>>,
    /// The runs to show, by property.
    pub(crate) evidence: Vec<Option<Arc<Evidence>>>,
    /// The property whose run comes first, if there is one.
    pub(crate) shown: Option<usize>,
}

impl<'a> CheckAnswer<'a> {
    /// The answer to a question, from the portfolio's report or its refusal.
    pub fn new(subject: Subject<'a>, question: CheckQuestion<'a>, found: Result<Report, Box<Diagnostic>>) -> Self {
        let properties = found.as_ref().map(|report| report.properties.as_slice()).unwrap_or_default();
        let shown = first_run(properties);
        // To explain a run can take a moment, so this is done once, and only for what is shown.
        let explain = |(at, one): (usize, &PropertyReport)| {
            let is_shown = question.all_witnesses || shown == Some(at);
            one.judgement.run().filter(|_| is_shown).map(|run| Arc::new(Evidence::new(Box::new(run.clone()))))
        };
        let evidence = properties.iter().enumerate().map(explain).collect();
        Self::of(CheckOrigin { subject, question, report: found, evidence, shown })
    }

    fn of(origin: CheckOrigin<'a>) -> Self {
        let (subject, program) = (origin.subject, origin.subject.program);
        let report = origin.report.as_ref().ok();
        let goals = GoalRecord::all(program, origin.question.goals);
        let main = origin.main_goal(&goals);
        let verdict = CheckVerdict::new(report);
        let attempt = |attempt| AttemptRecord::new(attempt, &subject.limits);
        let violated = origin.violated().map(|evidence| LazyWitness::new(program, evidence));
        let coverage = report.filter(|_| verdict == CheckVerdict::Safe).and_then(|report| report.coverage.as_ref());
        let statistics = report.map(|report| report.statistics).unwrap_or_default();
        let buffering = report.and_then(Report::buffering);
        Self {
            head: subject.head(CommandName::Check, verdict),
            model: origin.question.model.into(),
            engine: report.and_then(Report::member).map(Member::name),
            bound: buffering.map(|(Buffering::Coherence(bound) | Buffering::Multiset(bound))| bound),
            states: statistics.states,
            goal: main.as_ref().map(|goal| goal.text.clone()),
            goal_line: main.as_ref().map(|goal| goal.line),
            goal_place: main.map(|goal| goal.place),
            goals,
            properties: origin.property_records(),
            witness: violated,
            reason: origin.reason(),
            limit: origin.limit(),
            note: origin.hangs_unchecked(),
            attempts: report.map(|report| report.attempts.iter().map(attempt).collect()).unwrap_or_default(),
            warnings: origin.warnings(),
            unexecuted: coverage.map(|coverage| InstructionRecord::all(program, &coverage.unexecuted)),
            statistics: StatisticsRecord { peak_memory_bytes: None, ..subject.statistics(&statistics) },
            origin,
        }
    }

    /// The run to show first, if there is one: that of the first violated property, else of the first `exists` that is
    /// met.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.origin.first_evidence().map(AsRef::as_ref)
    }
}

/// The property whose run comes first.
fn first_run(properties: &[PropertyReport]) -> Option<usize> {
    let violated = properties.iter().position(|one| matches!(one.judgement, Judgement::Violated(_)));
    violated.or_else(|| properties.iter().position(|one| one.judgement.run().is_some()))
}

impl<'a> CheckOrigin<'a> {
    /// What is known about each property.
    pub(crate) fn properties(&self) -> &[PropertyReport] {
        self.report.as_ref().map(|report| report.properties.as_slice()).unwrap_or_default()
    }

    pub(crate) fn first_evidence(&self) -> Option<&Arc<Evidence>> {
        self.evidence.get(self.shown?)?.as_ref()
    }

    /// The run that violates the first violated property.
    pub(crate) fn violated(&self) -> Option<&Arc<Evidence>> {
        let is_violated = matches!(self.properties().get(self.shown?)?.judgement, Judgement::Violated(_));
        self.first_evidence().filter(|_| is_violated)
    }

    /// The property that fails, else the only one.
    fn main_goal(&self, goals: &[GoalRecord]) -> Option<GoalRecord> {
        let program = self.subject.program;
        match (self.violated(), self.report.as_ref().map(|report| &report.verdict), goals) {
            (Some(evidence), ..) => Some(GoalRecord::violated(program, evidence)),
            (None, Ok(Verdict::Violated(violation)), _) => Some(GoalRecord::new(program, violation.goal())),
            (None, _, [only]) => Some(only.clone()),
            (None, ..) => None,
        }
    }

    fn property_records(&self) -> Vec<PropertyRecord<'a>> {
        let (program, limits) = (self.subject.program, self.subject.limits);
        let record = |(one, evidence): (&PropertyReport, &Option<Arc<Evidence>>)| PropertyRecord {
            property: goal::text(program, one.goal),
            line: goal::line(program, one.goal),
            verdict: PropertyVerdict::from(&one.judgement),
            engine: one.member.map(Member::name),
            seconds: one.elapsed.as_secs_f64(),
            vacuous: one.vacuity.is_vacuous(),
            reason: match one.judgement {
                Judgement::Unknown(limit) => Some(limit_text(limit, &limits)),
                _ => None,
            },
            witness: (evidence.as_ref())
                .filter(|_| self.question.all_witnesses || matches!(one.judgement, Judgement::Violated(_)))
                .map(|evidence| LazyWitness::new(program, evidence)),
        };
        self.properties().iter().zip(&self.evidence).map(record).collect()
    }

    fn reason(&self) -> Option<String> {
        match &self.report {
            Ok(report) => match report.verdict {
                Verdict::Unknown(limit) => growth_text(self.subject.program, &report.growth)
                    .or_else(|| Some(limit_text(limit, &self.subject.limits))),
                Verdict::Holds | Verdict::Violated(_) => None,
            },
            Err(refusal) => Some(refusal.message.clone()),
        }
    }

    fn limit(&self) -> Option<LimitRecord> {
        match &self.report {
            Ok(report) => match report.verdict {
                Verdict::Unknown(limit) => Some(limit.into()),
                Verdict::Holds | Verdict::Violated(_) => None,
            },
            Err(_) => Some(LimitRecord::Refused),
        }
    }

    fn warnings(&self) -> Vec<DiagnosticRecord> {
        let mut records = self.subject.warnings(self.report.as_ref().err().map(AsRef::as_ref));
        records.extend(DiagnosticRecord::all(&self.subject.program.source, &self.vacuous()));
        records
    }

    /// A thread that waits forever violates no property unless one says so.
    fn hangs_unchecked(&self) -> Option<String> {
        let program = self.subject.program;
        let is_liveness = |goal: &Goal| match goal {
            Goal::Property(id) => program.properties.get(id.index()).is_some_and(|one| one.kind.is_liveness()),
            Goal::Assertion(_) | Goal::NotRobust => false,
        };
        if self.report.is_err() || self.question.goals.iter().any(is_liveness) {
            return None;
        }
        let waits = waits(program);
        let &(thread, span) = waits.first()?;
        let others = match waits.len() - 1 {
            0 => String::new(),
            1 => " and at 1 other place".to_owned(),
            others => format!(" and at {others} other places"),
        };
        let (name, line) = (&program.thread(thread).name, program.source.line(span));
        let how = if program.options.is_empty() { "`forbid stuck;`" } else { "`--claim 'forbid stuck'`" };
        Some(format!("hangs were not checked: {name} waits at line {line}{others}; {how} checks for them"))
    }

    /// A warning for each property that holds for the wrong reason.
    pub(crate) fn vacuous(&self) -> Vec<Diagnostic> {
        self.properties().iter().filter_map(|one| vacuous(self.subject.program, one)).collect()
    }
}

/// That a property holds for the wrong reason, if it does.
fn vacuous(program: &Program, one: &PropertyReport) -> Option<Diagnostic> {
    let (why, help) = match &one.vacuity {
        Vacuity::No | Vacuity::Unknown => return None,
        Vacuity::NoRunEnds => {
            ("no run ends".to_owned(), "`always` is about final states; `forbid` is about all reachable states")
        }
        Vacuity::Unreached(places) => {
            let place = |(thread, locations): &(_, Vec<weir_ir::LocId>)| {
                let whereabouts = locations.first().map(|&location| program.whereabouts(*thread, location));
                format!("{} {}", program.thread(*thread).name, whereabouts.unwrap_or_default())
            };
            let places: Vec<String> = places.iter().map(place).collect();
            (format!("no run reaches {}", places.join(" or ")), "check what the thread waits for on its way there")
        }
        Vacuity::NoThread(thread) => {
            let name = &program.thread(*thread).name;
            (format!("thread {name} never starts"), "start it with `spawn`, or declare it without `[0]`")
        }
        Vacuity::NoAssertion(_) => {
            ("no run reaches an assertion".to_owned(), "check what the thread waits for on its way there")
        }
    };
    let span = match one.goal {
        Goal::Property(id) => program.properties.get(id.index()).map(|property| property.span),
        Goal::Assertion(thread) => Some(program.thread(thread).span),
        Goal::NotRobust => None,
    };
    let verdict = if one.judgement.is_failure() { "is violated" } else { "holds" };
    let message = format!("`{}` {verdict} vacuously: {why}", goal::text(program, one.goal));
    Some(Diagnostic::warning("vacuous", message, span.unwrap_or_else(Span::default)).help(help))
}

impl CheckVerdict {
    fn new(report: Option<&Report>) -> Self {
        match report.map(|report| &report.verdict) {
            Some(Verdict::Holds) => Self::Safe,
            Some(Verdict::Violated(_)) => Self::Unsafe,
            Some(Verdict::Unknown(_)) | None => Self::Unknown,
        }
    }
}

/// What one engine did.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptRecord {
    /// The round, from 1.
    pub round: u32,
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
    /// Number of distinct states found; 0 if it was overtaken.
    pub states: u64,
    /// Wall-clock time; 0 if it was overtaken.
    pub seconds: f64,
}

impl AttemptRecord {
    fn new(attempt: &Attempt, limits: &Limits) -> Self {
        let (end, limit, reason) = match &attempt.end {
            End::Answered => (AttemptEnd::Answered, None, None),
            End::Nothing => (AttemptEnd::Nothing, None, None),
            End::Overtaken => (AttemptEnd::Overtaken, None, None),
            End::Stopped(limit) => {
                (AttemptEnd::Stopped, Some(LimitRecord::from(*limit)), Some(limit_text(*limit, limits)))
            }
            End::Refused(diagnostic) => (AttemptEnd::Refused, None, Some(diagnostic.message.clone())),
        };
        Self {
            round: attempt.round,
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
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AttemptEnd {
    /// It decided properties.
    Answered,
    /// It found no violation, but cannot prove that there is none.
    Nothing,
    /// Another engine decided something with less work.
    Overtaken,
    /// A limit stopped it.
    Stopped,
    /// It does not support something in the program.
    Refused,
}
