//! `--stats`: a program and its repair in numbers.

use crate::answer::FencesAnswer;
use crate::wording::units::{grouped, time_text};

/// The numbers, if they were asked for.
pub(super) fn text(answer: &FencesAnswer<'_>) -> String {
    let (Some(record), Some(census)) = (&answer.table, &answer.origin.census) else { return String::new() };
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
