//! The answer of `weir fences`.

use serde::Serialize;
use weir::fences::{Aim, Fences, Report};
use weir::reach::Statistics;
use weir_witness::Goal;

use super::diagnostic::DiagnosticRecord;
use super::fence_records::{FenceRecord, FencesVerdict, NeedRecord, RemovedRecord, fence_records, removed_records};
use super::head::{CommandName, Head};
use super::records::{AttacksRecord, LimitRecord, StatisticsRecord};
use super::repairs::{Repair, Repairs};
use crate::wording::goal;
use crate::wording::limit::limit_text;
use crate::wording::place::place;

/// The answer of `weir fences`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FencesAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<FencesVerdict>,
    /// What the fences achieve: `robust`, `states` (the same states as without store buffers), `safe` or `trf` (no
    /// triangular races).
    pub aim: &'static str,
    /// Where fences go, if the verdict is `fenced`. With `--remove`: the fences of the program that are needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fences: Option<Vec<FenceRecord>>,
    /// With `--remove`: the fences of the program that are not needed, if the others stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Vec<RemovedRecord>>,
    /// The total cost of `fences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Whether no cheaper set of candidate places suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal: Option<bool>,
    /// Whether a second check confirmed that the fenced program meets the aim, and that every fence is needed. `false`
    /// if a limit was reached first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
    /// How many fences the aim takes, and how many robustness and the properties take, if there are properties: `aim`
    /// first, then `robust` and `safe` as far as they are other aims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedRecord>,
    /// With `--all`: all sets of the same cost, including `fences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<Vec<Vec<FenceRecord>>>,
    /// With `--write`: the program with the fences inserted, or without those that are not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// With `--write`: the language of `program`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_language: Option<&'static str>,
    /// The attacks: pairs of a store and a load of one thread. Absent if the method does not support the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacks: Option<AttacksRecord>,
    /// Number of searches made to find the fences.
    pub searches: u32,
    /// Total number of distinct states found.
    pub states: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The limit that ended the search, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
    /// Statistics, with `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<TableRecord>,
    /// Statistics of the search.
    pub statistics: StatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: Repairs<'a>,
}

impl<'a> FencesAnswer<'a> {
    /// The answer, from what was found.
    pub fn new(origin: Repairs<'a>) -> Self {
        let Repairs { subject, options, repairs, unchecked, .. } = &origin;
        let report = origin.report.as_ref().ok();
        let first = repairs.first();
        let records = |repair| {
            let mut records = fence_records(origin.searched, repair);
            if options.remove {
                // A fence of the code can be an exchange as it is, and the store before it would not do.
                records.iter_mut().for_each(|record| record.exchanges.clear());
            }
            records
        };
        let searched = report.map_or_else(Statistics::default, |report| report.statistics);
        Self {
            head: subject.head(CommandName::Fences, FencesVerdict::new(&origin)),
            aim: options.aim.name(),
            fences: first.map(records),
            removed: first.filter(|_| options.remove).map(|repair| removed_records(subject.program, repair)),
            cost: first.and(report).map(|report| report.cost),
            optimal: first.map(|_| true),
            checked: first.map(|_| unchecked.is_none()),
            needs: needs(&origin),
            sets: (options.all && first.is_some()).then(|| repairs.iter().map(records).collect()),
            program: first.filter(|_| options.write).map(|repair| repair.text.clone()),
            program_language: first.filter(|_| options.write).map(|repair| repair.language.name()),
            attacks: report.map(|report| attacks(&origin, report)),
            searches: report.map_or(0, |report| report.searches),
            states: searched.states,
            reason: reason(&origin),
            limit: limit(&origin),
            warnings: subject.warnings(origin.report.as_ref().err().map(AsRef::as_ref)),
            table: TableRecord::new(&origin),
            statistics: subject.statistics(&searched),
            origin,
        }
    }

    /// The program with its fences, if fences were found.
    pub fn repair(&self) -> Option<&Repair> {
        self.origin.repairs.first()
    }
}

impl FencesVerdict {
    fn new(origin: &Repairs<'_>) -> Self {
        let aim = origin.options.aim;
        origin.report.as_ref().map_or(Self::Unknown, |report| Self::of(&report.fences, aim))
    }
}

/// What was asked, and what else is known. Nothing if only one number is known.
fn needs(origin: &Repairs<'_>) -> Vec<NeedRecord> {
    let (Ok(report), false) = (&origin.report, origin.needs.is_empty()) else { return Vec::new() };
    let copies = origin.repairs.first().map_or(0, Repair::copies);
    let asked = NeedRecord::new(origin.options.aim, &report.fences, copies, report.cost);
    let others = origin.needs.iter().map(|need| NeedRecord::new(need.aim, &need.fences, need.copies, need.cost));
    [asked].into_iter().chain(others).collect()
}

/// What ended the search or the second check, if anything did.
fn limit(origin: &Repairs<'_>) -> Option<LimitRecord> {
    match origin.report.as_ref().map(|report| &report.fences) {
        Ok(Fences::Cheapest(_)) => origin.unchecked.map(LimitRecord::from),
        Ok(Fences::Stopped(limit)) => Some(LimitRecord::from(*limit)),
        Ok(Fences::Nowhere(_) | Fences::NoPlace(_) | Fences::NotByFences(_) | Fences::TooFew) => None,
        Err(_) => Some(LimitRecord::Refused),
    }
}

/// Why the verdict is not `fenced`, if it is not.
fn reason(origin: &Repairs<'_>) -> Option<String> {
    let report = match &origin.report {
        Ok(report) => report,
        Err(diagnostic) => return Some(diagnostic.message.clone()),
    };
    let (program, searched) = (origin.subject.program, origin.searched);
    match &report.fences {
        Fences::Cheapest(_) => None,
        Fences::Nowhere(attack) => {
            let [store, load] = [attack.store, attack.load].map(|edge| place(searched, attack.thread, edge));
            let thread = &searched.thread(attack.thread).name;
            Some(format!("{thread} needs a fence between {store} and {load}, but none can be placed there"))
        }
        Fences::NotByFences(goal) => {
            let goal = goal::text(program, *goal);
            Some(format!("this property is violated even without store buffers: {goal}"))
        }
        Fences::NoPlace(Goal::NotRobust) => {
            Some("no fence can be placed to prevent a run to a state that SC does not reach".to_owned())
        }
        Fences::NoPlace(goal) => {
            let goal = goal::text(program, *goal);
            Some(format!("no fence can be placed to prevent the violation of this property: {goal}"))
        }
        Fences::TooFew => Some(too_few(origin.options.aim).to_owned()),
        Fences::Stopped(limit) => Some(limit_text(*limit, &origin.subject.limits)),
    }
}

fn too_few(aim: Aim) -> &'static str {
    match aim {
        Aim::Robust => "the program is not robust, even with all its fences",
        Aim::States => "the program reaches states that SC does not reach, even with all its fences",
        Aim::Safe => "a property is violated, even with all fences of the program",
        Aim::RaceFree => "the program has triangular races, even with all its fences",
    }
}

/// What is known about attacks for sure: all with `--stats`, else what the search for fences came upon.
fn attacks(origin: &Repairs<'_>, report: &Report) -> AttacksRecord {
    let (total, open) = (report.attacks.total as u64, report.attacks.open.len() as u64);
    let is_found = matches!(report.fences, Fences::Cheapest(_));
    let none_needed = is_found && origin.repairs.iter().all(|repair| repair.places.is_empty());
    let (infeasible, feasible) = match (&origin.census, origin.options.aim) {
        (Some(census), _) => {
            (if census.limit.is_none() { open.saturating_sub(census.feasible) } else { 0 }, census.feasible)
        }
        (None, Aim::Robust | Aim::RaceFree) if none_needed => (open, 0),
        (None, Aim::Robust) => (0, report.seen_feasible.len() as u64),
        // A race is no attack that succeeds, and a run that violates a property may be of several.
        (None, Aim::RaceFree | Aim::Safe | Aim::States) => (0, 0),
    };
    AttacksRecord { total, by_control_flow: total.saturating_sub(open), infeasible, feasible }
}

/// Statistics of a program and its repair.
#[derive(Serialize, Clone, PartialEq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableRecord {
    /// Number of threads.
    pub threads: u64,
    /// Number of control points in all threads.
    pub labels: u64,
    /// Number of instructions in all threads.
    pub instructions: u64,
    /// Number of attacks: pairs of a store and a load that it might be delayed past.
    pub questions: u64,
    /// Attacks ruled out by control flow and fences.
    pub by_control_flow: u64,
    /// Attacks ruled out by search. Absent if a limit was reached first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_search: Option<u64>,
    /// Feasible attacks; a lower bound if a limit was reached first.
    pub feasible: u64,
    /// Number of fences, counted once per thread. Absent if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fences: Option<u64>,
    /// Processor time of the whole process, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// Wall-clock time.
    pub wall_seconds: f64,
}

impl TableRecord {
    /// The numbers, if they were asked for.
    fn new(origin: &Repairs<'_>) -> Option<Self> {
        let census = origin.census.as_ref()?;
        let (total, open) = (census.attacks.total as u64, census.attacks.open.len() as u64);
        let program = origin.subject.program;
        let sum =
            |count: fn(&weir_ir::Body) -> usize| program.threads.iter().map(|thread| count(&thread.body) as u64).sum();
        Some(Self {
            threads: program.threads.len() as u64,
            labels: sum(|body| body.locations.len()),
            instructions: sum(|body| body.edges().len()),
            questions: total,
            by_control_flow: total.saturating_sub(open),
            by_search: census.limit.is_none().then(|| open.saturating_sub(census.feasible)),
            feasible: census.feasible,
            fences: origin.repairs.first().map(Repair::copies),
            cpu_seconds: census.cpu.map(|cpu| cpu.as_secs_f64()),
            wall_seconds: census.wall.as_secs_f64(),
        })
    }
}
