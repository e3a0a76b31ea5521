//! The answer of `weir fences` in JSON.

use weir::reach::Statistics;
use weir_syntax::Language;

use super::super::json::{limit_record, statistics, warnings};
use super::{reason, table};
use crate::args::AimName;
use crate::commands::Task;
use crate::commands::fences::{Finding, Outcome};
use crate::fences::Repair;
use crate::json::{AttacksRecord, FenceRecord, FencesAnswer, FencesVerdict, LimitRecord};

/// The answer.
pub(crate) fn answer(task: &Task<'_>, finding: &Finding<'_>) -> FencesAnswer {
    let (repairs, is_checked) = match &finding.outcome {
        Outcome::Found { repairs, unchecked } => (repairs.as_slice(), unchecked.is_none()),
        _ => (&[][..], false),
    };
    let first = repairs.first();
    let options = finding.options;
    let searched = finding.report.as_ref().map_or_else(Statistics::default, |report| report.statistics);
    FencesAnswer {
        head: task.head(match &finding.outcome {
            Outcome::Found { .. } => FencesVerdict::Fenced,
            Outcome::Hopeless(_) => FencesVerdict::Unsafe,
            _ => FencesVerdict::Unknown,
        }),
        aim: match options.aim {
            AimName::Robust => "robust",
            AimName::Safe => "safe",
            AimName::Trf => "trf",
        },
        fences: first.map(|repair| records(finding, repair)),
        cost: first.and(finding.report.as_ref()).map(|report| report.cost),
        optimal: first.map(|_| true),
        checked: first.map(|_| is_checked),
        sets: (options.all && first.is_some()).then(|| repairs.iter().map(|repair| records(finding, repair)).collect()),
        program: first.filter(|_| options.write).map(|repair| repair.text.clone()),
        program_language: first.filter(|_| options.write).map(|repair| language(finding, repair)),
        attacks: attacks(finding),
        searches: finding.report.as_ref().map_or(0, |report| report.searches),
        states: searched.states,
        reason: reason(finding),
        limit: match &finding.outcome {
            Outcome::Found { unchecked, .. } => unchecked.map(limit_record),
            Outcome::Stopped(limit) => Some(limit_record(*limit)),
            Outcome::Refused(_) => Some(LimitRecord::Refused),
            Outcome::Nowhere(_) | Outcome::NoPlace(_) | Outcome::Hopeless(_) => None,
        },
        warnings: warnings(
            finding.program,
            finding.warnings,
            match &finding.outcome {
                Outcome::Refused(diagnostic) => Some(diagnostic),
                _ => None,
            },
        ),
        table: table::record(finding),
        statistics: statistics(&searched),
    }
}

fn language(finding: &Finding<'_>, repair: &Repair) -> &'static str {
    let language = if repair.is_own_language { finding.sites.language } else { Language::Weir };
    language.name()
}

fn records(finding: &Finding<'_>, repair: &Repair) -> Vec<FenceRecord> {
    let sites = finding.sites;
    let fences = repair.chosen.iter().map(|&number| &sites.list[number]).flat_map(|site| {
        let position = sites.program.source.line_column(site.offset);
        sites.threads(site).into_iter().map(move |(thread, labels)| FenceRecord {
            thread: sites.program.thread(thread).name.clone(),
            label: labels.into_iter().next(),
            line: position.line,
            column: position.column,
        })
    });
    fences.collect()
}

/// What is known about attacks for sure: all with `--stats`, else what the search for fences came upon.
fn attacks(finding: &Finding<'_>) -> Option<AttacksRecord> {
    let report = finding.report.as_ref()?;
    let (total, open) = (report.attacks.total as u64, report.attacks.open.len() as u64);
    let none_needed = matches!(&finding.outcome, Outcome::Found { repairs, .. } if repairs.iter().all(|repair| repair.chosen.is_empty()));
    let (infeasible, feasible) = match (&finding.census, finding.options.aim) {
        (Some(census), _) => {
            (if census.limit.is_none() { open.saturating_sub(census.feasible) } else { 0 }, census.feasible)
        }
        (None, _) if none_needed => (open, 0),
        (None, AimName::Robust) => (0, report.seen_feasible.len() as u64),
        // A race is no attack that succeeds, and a run that breaks a property may be of several.
        (None, AimName::Trf | AimName::Safe) => (0, 0),
    };
    Some(AttacksRecord { total, by_control_flow: total.saturating_sub(open), infeasible, feasible })
}
