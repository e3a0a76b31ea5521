//! The answers of `weir reach` and `weir robust` in JSON.

use weir::Limit;
use weir::reach::{Round, Statistics};
use weir::robust::Race;
use weir::translate::delay::DelayPath;
use weir_ir::{Diagnostic, Program, Span};
use weir_witness::{Buffering, Event, Goal};

use super::text::reason;
use crate::args::Method;
use crate::commands::analysis::Conclusion;
use crate::commands::reach::Finding;
use crate::commands::{Task, reach, robust};
use crate::evidence::Evidence;
use crate::json::{
    AttacksRecord, DelayRecord, DiagnosticRecord, GoalRecord, InstructionRecord, LimitRecord, RaceRecord, ReachAnswer,
    ReachVerdict, RobustAnswer, RobustVerdict, RoundRecord, StatisticsRecord,
};
use crate::race::Racing;
use crate::witness_file::{model_record, step_records, to_json};
use crate::{coverage, goals, memory};

/// The answer.
pub(crate) fn reach(task: &Task<'_>, finding: &Finding<'_>) -> ReachAnswer {
    let program = finding.program;
    let goals = goal_records(program, finding.goals);
    let verdict = match finding.conclusion {
        Conclusion::Holds => ReachVerdict::Unreachable,
        Conclusion::Violated(_) => ReachVerdict::Reachable,
        Conclusion::Stopped(_) | Conclusion::Refused(_) | Conclusion::Raced(_) => ReachVerdict::Unknown,
    };
    let main = main_goal(program, &finding.conclusion, &goals);
    let is_complete = matches!(finding.conclusion, Conclusion::Holds);
    ReachAnswer {
        head: task.head(verdict),
        engine: reach::engine(finding.options.search.engine).name(),
        bound: finding.buffering.map(|(Buffering::Coherence(bound) | Buffering::Multiset(bound))| bound),
        model: model_record(finding.model),
        states: finding.statistics.states,
        goal: main.as_ref().map(|goal| goal.text.clone()),
        goal_line: main.map(|goal| goal.line),
        goals,
        witness: finding.conclusion.evidence().map(|evidence| to_json(program, evidence)),
        reason: reason(&finding.conclusion, &finding.options.common.limits),
        limit: limit(&finding.conclusion),
        warnings: goal_warnings(program, finding.goals, finding.warnings, finding.conclusion.refusal()),
        unexecuted: is_complete.then(|| coverage::records(program, &finding.coverage.unexecuted)),
        immobile: is_complete.then(|| {
            let name = |&thread| program.thread(thread).name.clone();
            finding.coverage.immobile.iter().map(name).collect()
        }),
        out_of_range: coverage::records(program, &finding.coverage.out_of_range),
        rounds: finding
            .options
            .search
            .trace_rounds
            .then(|| finding.rounds.iter().map(|round| rounds(program, round)).collect()),
        statistics: statistics(&finding.statistics),
    }
}

fn rounds(program: &Program, round: &Round) -> RoundRecord {
    let steps = |path: &DelayPath| {
        path.edges.iter().map(|&edge| coverage::record(program, path.thread, edge)).collect::<Vec<_>>()
    };
    RoundRecord { added: round.added.iter().map(steps).collect() }
}

/// The answer of `weir robust`.
pub(crate) fn robust(task: &Task<'_>, finding: &robust::Finding<'_>) -> RobustAnswer {
    let program = finding.program;
    let (verdict, method) = (robust_verdict(&finding.conclusion), finding.options.method);
    let evidence = finding.conclusion.evidence();
    RobustAnswer {
        head: task.head(verdict),
        method: match method {
            Method::Attacks => "attacks",
            Method::Instrumented => "instrumented",
            Method::Single => "single",
            Method::Trf => "trf",
        },
        attacks: finding.attacks.as_ref().map(|attacks| {
            let open = attacks.open.len() as u64;
            AttacksRecord {
                total: attacks.total as u64,
                by_control_flow: (attacks.total as u64).saturating_sub(open),
                infeasible: if verdict == RobustVerdict::Robust { open } else { 0 },
                feasible: u64::from(verdict == RobustVerdict::NotRobust),
            }
        }),
        states: finding.statistics.states,
        delay: evidence.and_then(Evidence::overtaking).and_then(|delay| {
            Some(DelayRecord { store: instruction(program, delay.store)?, load: instruction(program, delay.load)? })
        }),
        witness: evidence.map(|evidence| to_json(program, evidence)),
        race: if let Conclusion::Raced(race) = &finding.conclusion { race_record(program, race) } else { None },
        reason: reason(&finding.conclusion, &finding.options.common.limits),
        limit: limit(&finding.conclusion),
        open: open_attacks(finding),
        warnings: warnings(program, finding.warnings, finding.conclusion.refusal()),
        unexecuted: finding.coverage.as_ref().map(|seen| coverage::records(program, &seen.unexecuted)),
        immobile: finding.coverage.as_ref().map(|seen| {
            let name = |&thread| program.thread(thread).name.clone();
            seen.immobile.iter().map(name).collect()
        }),
        statistics: statistics(&finding.statistics),
    }
}

fn instruction(program: &Program, event: &Event) -> Option<InstructionRecord> {
    Some(coverage::record(program, event.thread, event.edge?))
}

fn race_record(program: &Program, race: &Race) -> Option<RaceRecord> {
    let Racing { store, load, write, .. } = Racing::new(race)?;
    Some(RaceRecord {
        store: instruction(program, store)?,
        load: instruction(program, load)?,
        write: instruction(program, write)?,
        model: model_record(race.run().model),
        steps: step_records(program, race.replay()),
    })
}

/// What a limit left undecided.
fn open_attacks(finding: &robust::Finding<'_>) -> Vec<DelayRecord> {
    let is_open = matches!(finding.conclusion, Conclusion::Stopped(_));
    let open = finding.attacks.iter().filter(|_| is_open).flat_map(|attacks| &attacks.open);
    let record = |thread, edge| coverage::record(finding.program, thread, edge);
    open.map(|attack| DelayRecord {
        store: record(attack.thread, attack.store),
        load: record(attack.thread, attack.load),
    })
    .collect()
}

fn robust_verdict(conclusion: &Conclusion) -> RobustVerdict {
    match conclusion {
        Conclusion::Holds => RobustVerdict::Robust,
        Conclusion::Violated(_) => RobustVerdict::NotRobust,
        Conclusion::Stopped(_) | Conclusion::Refused(_) | Conclusion::Raced(_) => RobustVerdict::Unknown,
    }
}

/// What ended the search before it knew.
pub(crate) fn limit(conclusion: &Conclusion) -> Option<LimitRecord> {
    match conclusion {
        Conclusion::Holds | Conclusion::Violated(_) | Conclusion::Raced(_) => None,
        Conclusion::Refused(_) => Some(LimitRecord::Refused),
        Conclusion::Stopped(limit) => Some(limit_record(*limit)),
    }
}

/// A limit in JSON.
pub(crate) fn limit_record(limit: Limit) -> LimitRecord {
    match limit {
        Limit::Time => LimitRecord::Time,
        Limit::Memory => LimitRecord::Memory,
        Limit::States => LimitRecord::States,
        Limit::Interrupted => LimitRecord::Interrupted,
        Limit::Extensions => LimitRecord::Extensions,
        Limit::Alarm => LimitRecord::Alarm,
    }
}

/// The goal that was reached; else the only one that was looked for.
pub(crate) fn main_goal(program: &Program, conclusion: &Conclusion, goals: &[GoalRecord]) -> Option<GoalRecord> {
    match (conclusion, goals) {
        (Conclusion::Violated(evidence), _) => {
            let (text, line) = super::reach::reached_goal(program, evidence);
            Some(GoalRecord { text, line })
        }
        (_, [only]) => Some(only.clone()),
        _ => None,
    }
}

/// What was said about the program before the search, and why an engine refused it.
pub(crate) fn warnings(
    program: &Program,
    warnings: &[Diagnostic],
    refused: Option<&Diagnostic>,
) -> Vec<DiagnosticRecord> {
    let mut records = DiagnosticRecord::all(&program.source, warnings);
    records.extend(refused.map(|diagnostic| DiagnosticRecord::new(&program.source, diagnostic)));
    records
}

/// The same, and that there was nothing to look for if there was not.
pub(crate) fn goal_warnings(
    program: &Program,
    goals: &[Goal],
    given: &[Diagnostic],
    refused: Option<&Diagnostic>,
) -> Vec<DiagnosticRecord> {
    let mut records = warnings(program, given, refused);
    if goals.is_empty() {
        let message = "the program has no properties, so there was nothing to check";
        let warning = Diagnostic::warning("no-property", message, Span::default());
        records.push(DiagnosticRecord::new(&program.source, &warning));
    }
    records
}

/// What was looked for.
pub(crate) fn goal_records(program: &Program, goals: &[Goal]) -> Vec<GoalRecord> {
    let record = |&goal| GoalRecord { text: goals::text(program, goal), line: goals::line(program, goal) };
    goals.iter().map(record).collect()
}

pub(crate) fn statistics(statistics: &Statistics) -> StatisticsRecord {
    StatisticsRecord {
        transitions: statistics.transitions,
        depth: statistics.depth,
        state_bytes: statistics.state_bytes,
        stored_bytes: statistics.stored_bytes,
        peak_memory_bytes: memory::peak(),
        search_seconds: statistics.elapsed.as_secs_f64(),
    }
}
