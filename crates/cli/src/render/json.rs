//! The answer of `weir reach` in JSON.

use weir::Limit;
use weir::reach::Statistics;
use weir_ir::{Diagnostic, Span};

use super::reach::reason;
use crate::commands::Task;
use crate::commands::reach::{Conclusion, Finding};
use crate::json::{DiagnosticRecord, GoalRecord, LimitRecord, ReachAnswer, ReachVerdict, StatisticsRecord};
use crate::witness_file::{model_record, to_json};
use crate::{coverage, goals, memory};

/// The answer.
pub(crate) fn reach(task: &Task<'_>, finding: &Finding<'_>) -> ReachAnswer {
    let program = finding.program;
    let goals: Vec<GoalRecord> = finding
        .goals
        .iter()
        .map(|&goal| GoalRecord { text: goals::text(program, goal), line: goals::line(program, goal) })
        .collect();
    let (verdict, limit) = verdict(&finding.conclusion);
    let main = main_goal(finding, &goals);
    let is_complete = matches!(finding.conclusion, Conclusion::Unreachable);
    ReachAnswer {
        head: task.head(verdict),
        engine: "explicit",
        model: model_record(finding.model),
        states: finding.statistics.states,
        goal: main.as_ref().map(|goal| goal.text.clone()),
        goal_line: main.map(|goal| goal.line),
        goals,
        witness: match &finding.conclusion {
            Conclusion::Reachable(evidence) => Some(to_json(program, evidence)),
            _ => None,
        },
        reason: reason(finding),
        limit,
        warnings: warnings(finding),
        unexecuted: is_complete.then(|| coverage::records(program, &finding.coverage.unexecuted)),
        immobile: is_complete.then(|| {
            let name = |&thread| program.thread(thread).name.clone();
            finding.coverage.immobile.iter().map(name).collect()
        }),
        out_of_range: coverage::records(program, &finding.coverage.out_of_range),
        statistics: statistics(&finding.statistics),
    }
}

fn verdict(conclusion: &Conclusion) -> (ReachVerdict, Option<LimitRecord>) {
    match conclusion {
        Conclusion::Unreachable => (ReachVerdict::Unreachable, None),
        Conclusion::Reachable(_) => (ReachVerdict::Reachable, None),
        Conclusion::Refused(_) => (ReachVerdict::Unknown, Some(LimitRecord::Refused)),
        Conclusion::Stopped(limit) => (ReachVerdict::Unknown, Some(limit_record(*limit))),
    }
}

/// A limit in JSON.
pub(crate) fn limit_record(limit: Limit) -> LimitRecord {
    match limit {
        Limit::Time => LimitRecord::Time,
        Limit::Memory => LimitRecord::Memory,
        Limit::States => LimitRecord::States,
        Limit::Interrupted => LimitRecord::Interrupted,
    }
}

/// The goal that was reached; else the only one that was looked for.
fn main_goal(finding: &Finding<'_>, goals: &[GoalRecord]) -> Option<GoalRecord> {
    match (&finding.conclusion, goals) {
        (Conclusion::Reachable(evidence), _) => {
            let (text, line) = super::reach::reached_goal(finding.program, evidence);
            Some(GoalRecord { text, line })
        }
        (_, [only]) => Some(only.clone()),
        _ => None,
    }
}

fn warnings(finding: &Finding<'_>) -> Vec<DiagnosticRecord> {
    let source = &finding.program.source;
    let mut warnings = DiagnosticRecord::all(source, finding.warnings);
    if let Conclusion::Refused(diagnostic) = &finding.conclusion {
        warnings.push(DiagnosticRecord::new(source, diagnostic));
    }
    if finding.goals.is_empty() {
        let message = "the program states no property, so there was nothing to look for";
        warnings.push(DiagnosticRecord::new(source, &Diagnostic::warning("no-property", message, Span::default())));
    }
    warnings
}

fn statistics(statistics: &Statistics) -> StatisticsRecord {
    StatisticsRecord {
        transitions: statistics.transitions,
        depth: statistics.depth,
        state_bytes: statistics.state_bytes,
        stored_bytes: statistics.stored_bytes,
        peak_memory_bytes: memory::peak(),
        search_seconds: statistics.elapsed.as_secs_f64(),
    }
}
