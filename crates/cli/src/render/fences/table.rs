//! `--stats`: a program and what it took to mend it, in numbers.

use super::copies;
use crate::commands::fences::{Finding, Outcome};
use crate::json::TableRecord;
use crate::units::{grouped, time_text};

/// The numbers, if they were asked for.
pub(super) fn record(finding: &Finding<'_>) -> Option<TableRecord> {
    let census = finding.census.as_ref()?;
    let (total, open) = (census.attacks.total as u64, census.attacks.open.len() as u64);
    let program = finding.program;
    let sum =
        |count: fn(&weir_ir::Body) -> usize| program.threads.iter().map(|thread| count(&thread.body) as u64).sum();
    let fences = match &finding.outcome {
        Outcome::Found { repairs, .. } => repairs.first().map(|repair| copies(finding, repair)),
        _ => None,
    };
    Some(TableRecord {
        threads: program.threads.len() as u64,
        labels: sum(|body| body.locations.len()),
        instructions: sum(|body| body.edges().len()),
        questions: total,
        by_control_flow: total.saturating_sub(open),
        by_search: census.limit.is_none().then(|| open.saturating_sub(census.feasible)),
        feasible: census.feasible,
        fences,
        cpu_seconds: census.cpu.map(|cpu| cpu.as_secs_f64()),
        wall_seconds: census.wall.as_secs_f64(),
    })
}

/// The numbers for people.
pub(super) fn text(finding: &Finding<'_>) -> String {
    let (Some(record), Some(census)) = (record(finding), &finding.census) else { return String::new() };
    let feasible = if census.limit.is_some() { "at least " } else { "" };
    let unknown = || "unknown".to_owned();
    let rows = [
        ("threads", grouped(record.threads)),
        ("labels", grouped(record.labels)),
        ("instructions", grouped(record.instructions)),
        ("attacks", format!("{} (pairs of a store and a load)", grouped(record.questions))),
        ("  infeasible", format!("{} by control flow", grouped(record.by_control_flow))),
        ("  infeasible", record.by_search.map_or_else(unknown, |count| format!("{} by search", grouped(count)))),
        ("  feasible", format!("{feasible}{}", grouped(record.feasible))),
        ("fences", record.fences.map_or_else(unknown, grouped)),
        ("cpu time", census.cpu.map_or_else(|| "n/a".to_owned(), time_text)),
        ("wall time", time_text(census.wall)),
    ];
    let lines = rows.map(|(name, value)| format!("  {name:<12} {value}\n"));
    format!("\nprogram and attacks:\n{}", lines.concat())
}
