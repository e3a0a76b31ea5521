//! The answer of `weir robust`.

use std::sync::Arc;

use serde::Serialize;
use weir::Verdict;
use weir::reach::{Coverage, Statistics};
use weir::robust::{Attack, Attacks, Compared, Criterion, Method, Race, RaceReport, Report};
use weir_ir::{Diagnostic, Program};

use super::coverage;
use super::diagnostic::DiagnosticRecord;
use super::head::{CommandName, Head};
use super::judged::{self, Judged};
use super::records::{AttacksRecord, DelayRecord, InstructionRecord, LimitRecord, StateRecord, StatisticsRecord};
use super::subject::Subject;
use crate::run::race::Racing;
use crate::run::{Evidence, LazyWitness, ModelRecord, Overtaking, StepRecord, step_records};

/// Verdicts of `weir robust`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RobustVerdict {
    /// Every run with store buffers behaves like some run without them, as `of` defines it.
    Robust,
    /// The run in `witness` behaves unlike any run without store buffers, as `of` defines it.
    NotRobust,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// The answer of `weir robust`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RobustAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<RobustVerdict>,
    /// What is compared: `traces`, or `states`.
    pub of: &'static str,
    /// The method that gave the answer; `states` if states were explored and compared.
    pub method: &'static str,
    /// The attacks: pairs of a store and a load of one thread. Absent if the method does not support the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacks: Option<AttacksRecord>,
    /// Number of distinct states found; 0 if control flow alone gave the answer.
    pub states: u64,
    /// Which store is delayed past which load in `witness`, if the verdict is `not-robust`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayRecord>,
    /// The run, if the verdict is `not-robust`, with the cycle. It was replayed by a separate interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LazyWitness<'a>>,
    /// With `--of states`, if the verdict is `not-robust`: the state at the end of `witness`, which no run without
    /// store buffers reaches. That no such run exists is the result of an exhaustive search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateRecord>,
    /// With `--of states`, if states were compared: how many different ones there are under SC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sc_states: Option<u64>,
    /// With `--of states`, if states were compared: how many were visited under TSO, with empty buffers or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tso_states: Option<u64>,
    /// The triangular race that makes the method `trf` inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRecord>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The limit that ended the search, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// If the verdict is `unknown` because of a limit: the undecided attacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<DelayRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    /// Instructions that no run executes. Present only if the verdict is `robust` and this took few states to find out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexecuted: Option<Vec<InstructionRecord>>,
    /// Threads that take no step in any run, although they have instructions. Present only together with `unexecuted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immobile: Option<Vec<String>>,
    /// Statistics of the search.
    pub statistics: StatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: RobustOrigin<'a>,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct RobustOrigin<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) verdict: Judged<Shown>,
    /// The attacks that were considered. None if the engine refuses the program.
    pub(crate) attacks: Option<Attacks>,
    /// What runs execute, if the program is robust and that is known.
    pub(crate) coverage: Option<Coverage>,
    pub(crate) statistics: Statistics,
    pub(crate) criterion: Criterion,
    /// How many states were compared, if they were.
    pub(crate) compared: Option<Compared>,
}

/// What the search came upon.
pub(crate) enum Shown {
    /// A run that sequential consistency forbids.
    Cycle(Arc<Evidence>),
    /// A triangular race: the program may or may not be robust.
    Race(Box<Race>),
}

/// The name of the method that looks for triangular races.
pub const RACES: &str = "trf";

impl<'a> RobustAnswer<'a> {
    /// The answer of a method that decides robustness of traces, from its report or its refusal.
    pub fn new(subject: Subject<'a>, method: Method, found: Result<Report, Box<Diagnostic>>) -> Self {
        Self::judged(subject, Criterion::Traces, method, found)
    }

    /// The answer of a comparison of states, from its report or its refusal.
    pub fn states(subject: Subject<'a>, found: Result<Report, Box<Diagnostic>>) -> Self {
        Self::judged(subject, Criterion::States, Method::default(), found)
    }

    fn judged(
        subject: Subject<'a>,
        criterion: Criterion,
        method: Method,
        found: Result<Report, Box<Diagnostic>>,
    ) -> Self {
        let compared = found.as_ref().ok().and_then(|report| report.compared);
        let method = if compared.is_some() { Criterion::States.name() } else { method.name() };
        let (verdict, attacks, statistics, coverage) = match found {
            Ok(Report { verdict, attacks, statistics, coverage, .. }) => {
                (Ok(judged::explained(verdict).map(Shown::Cycle)), Some(attacks), statistics, coverage)
            }
            Err(refusal) => (Err(refusal), None, Statistics::default(), None),
        };
        Self::of(method, RobustOrigin { subject, verdict, attacks, coverage, statistics, criterion, compared })
    }

    /// The answer of a search for triangular races, with the attacks of the program.
    pub fn races(subject: Subject<'a>, found: Result<(RaceReport, Attacks), Box<Diagnostic>>) -> Self {
        let (verdict, attacks, statistics) = match found {
            Ok((RaceReport { verdict, statistics, .. }, attacks)) => {
                (Ok(verdict.map(Shown::Race)), Some(attacks), statistics)
            }
            Err(refusal) => (Err(refusal), None, Statistics::default()),
        };
        let (criterion, compared) = (Criterion::Traces, None);
        Self::of(RACES, RobustOrigin { subject, verdict, attacks, coverage: None, statistics, criterion, compared })
    }

    fn of(method: &'static str, origin: RobustOrigin<'a>) -> Self {
        let RobustOrigin { subject, verdict, attacks, coverage, statistics, criterion, compared } = &origin;
        let program = subject.program;
        let (evidence, race) = match judged::evidence(verdict) {
            Some(Shown::Cycle(evidence)) => (Some(evidence), None),
            Some(Shown::Race(race)) => (None, Some(race)),
            None => (None, None),
        };
        let word = RobustVerdict::new(verdict);
        Self {
            head: subject.head(CommandName::Robust, word),
            of: criterion.name(),
            method,
            attacks: attacks.as_ref().map(|attacks| AttacksRecord::new(attacks, word, compared.is_some())),
            states: statistics.states,
            delay: evidence
                .and_then(|evidence| evidence.overtaking())
                .and_then(|delay| DelayRecord::new(program, &delay)),
            witness: evidence.map(|evidence| LazyWitness::new(program, evidence)),
            state: evidence.filter(|_| compared.is_some()).map(|evidence| StateRecord::new(program, evidence)),
            sc_states: compared.map(|compared| compared.sc),
            tso_states: compared.map(|compared| compared.tso),
            race: race.and_then(|race| RaceRecord::new(program, race)),
            reason: match race {
                Some(_) => Some("there is a triangular race, so this method is inconclusive".to_owned()),
                None => judged::reason(verdict, &subject.limits),
            },
            limit: judged::limit_record(verdict),
            open: match judged::limit(verdict) {
                Some(_) => attacks.iter().flat_map(|attacks| DelayRecord::all(program, &attacks.open)).collect(),
                None => Vec::new(),
            },
            warnings: subject.warnings(verdict.as_ref().err().map(AsRef::as_ref)),
            unexecuted: coverage.as_ref().map(|seen| InstructionRecord::all(program, &seen.unexecuted)),
            immobile: coverage.as_ref().map(|seen| coverage::immobile_names(program, seen)),
            statistics: subject.statistics(statistics),
            origin,
        }
    }

    /// The run that was found, if there is one.
    pub fn evidence(&self) -> Option<&Evidence> {
        match judged::evidence(&self.origin.verdict) {
            Some(Shown::Cycle(evidence)) => Some(evidence),
            _ => None,
        }
    }
}

impl RobustVerdict {
    fn new(verdict: &Judged<Shown>) -> Self {
        match verdict {
            Ok(Verdict::Holds) => Self::Robust,
            Ok(Verdict::Violated(Shown::Cycle(_))) => Self::NotRobust,
            Ok(Verdict::Violated(Shown::Race(_)) | Verdict::Unknown(_)) | Err(_) => Self::Unknown,
        }
    }
}

impl AttacksRecord {
    /// The attacks that `weir robust` considered. States are compared only if an attack is feasible.
    fn new(attacks: &Attacks, verdict: RobustVerdict, is_compared: bool) -> Self {
        let open = attacks.open.len() as u64;
        Self {
            total: attacks.total as u64,
            by_control_flow: (attacks.total as u64).saturating_sub(open),
            infeasible: if verdict == RobustVerdict::Robust && !is_compared { open } else { 0 },
            feasible: u64::from(verdict == RobustVerdict::NotRobust || is_compared),
        }
    }
}

impl DelayRecord {
    fn new(program: &Program, delay: &Overtaking<'_>) -> Option<Self> {
        let [store, load] = [delay.store, delay.load].map(|event| InstructionRecord::of(program, event));
        Some(Self { store: store?, load: load? })
    }

    fn all(program: &Program, attacks: &[Attack]) -> Vec<Self> {
        let record = |attack: &Attack| {
            let [store, load] =
                [attack.store, attack.load].map(|edge| InstructionRecord::new(program, attack.thread, edge));
            Self { store, load }
        };
        attacks.iter().map(record).collect()
    }
}

impl RaceRecord {
    fn new(program: &Program, race: &Race) -> Option<Self> {
        let Racing { store, load, write, .. } = Racing::new(race)?;
        Some(Self {
            store: InstructionRecord::of(program, store)?,
            load: InstructionRecord::of(program, load)?,
            write: InstructionRecord::of(program, write)?,
            model: race.run().model.into(),
            steps: step_records(program, race.replay()),
        })
    }
}

/// A triangular race: a thread stores and then loads from another cell, with nothing in between that waits for the
/// store to be flushed, and another thread writes to that cell next. The program may or may not be robust.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaceRecord {
    /// The store that may still be buffered.
    pub store: InstructionRecord,
    /// The load after it.
    pub load: InstructionRecord,
    /// The write of another thread to the cell that is loaded.
    pub write: InstructionRecord,
    /// The memory model of the run: `sc`, unless the write depends on the store not having reached memory yet.
    pub model: ModelRecord,
    /// A run up to the race; its last step is the write.
    pub steps: Vec<StepRecord>,
}
