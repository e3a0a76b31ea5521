//! The answer of `weir check`, for people, for programs, and as a graph.

use weir::check::{Attempt, End, Member};
use weir_witness::Buffering;

use super::diagnostic::render_place;
use super::json::{goal_records, goal_warnings, limit, limit_record, statistics as statistics_record};
use super::reach::{basis, goals_text, reached_goal};
use super::text::{Tone, diagnostics, evidence, headline, help, limit_text, more, reason, statistics};
use crate::args::LimitOptions;
use crate::commands::Task;
use crate::commands::analysis::Conclusion;
use crate::commands::check::Finding;
use crate::console::Console;
use crate::coverage;
use crate::evidence::Evidence;
use crate::json::{AttemptEnd, AttemptRecord, CheckAnswer, CheckVerdict};
use crate::units::{counted, time_text};
use crate::witness_file::to_json;

/// Prints the answer; only its first line if the console is quiet.
pub(crate) fn show(finding: &Finding<'_>, console: &mut Console) {
    let mut text = first_line(finding);
    if !console.is_quiet() {
        text += &match &finding.conclusion {
            Conclusion::Holds => safe(finding),
            Conclusion::Violated(found) => broken(finding, found, console.width()),
            Conclusion::Refused(diagnostic) => format!("\n{}\n", render_place(&finding.program.source, diagnostic)),
            Conclusion::Stopped(_) | Conclusion::Raced(_) => unknown(finding),
        };
    }
    if finding.options.common.verbose {
        text += &format!("\n{}", attempts(finding));
        text += &statistics(&finding.story.statistics);
    }
    console.answer(&text);
}

fn first_line(finding: &Finding<'_>) -> String {
    let (program, file) = (finding.program, finding.program.source.name());
    match &finding.conclusion {
        Conclusion::Holds => {
            let (what, place) = goals_text(program, finding.goals);
            headline(Tone::Good, "safe under TSO", &what, &place)
        }
        Conclusion::Violated(found) => {
            let (what, line) = reached_goal(program, found);
            headline(Tone::Bad, "unsafe under TSO", &what, &format!("{file}:{line}"))
        }
        Conclusion::Stopped(_) | Conclusion::Refused(_) | Conclusion::Raced(_) => {
            let why = reason(&finding.conclusion, &finding.options.common.limits).unwrap_or_default();
            headline(Tone::Open, "unknown under TSO", &why, file)
        }
    }
}

fn safe(finding: &Finding<'_>) -> String {
    let story = &finding.story;
    let mut text = String::new();
    if let Some(Member::Engine(engine)) = story.winner {
        text += &format!("{}: {}", engine.name(), basis(engine, story.buffering, story.statistics.states));
    }
    text += &diagnostics(finding.program, &coverage::warnings(finding.program, &story.coverage));
    if finding.goals.is_empty() {
        text += &format!("\n{}", help("state what must not happen, as in `forbid P0 at critical && P1 at critical;`"));
    }
    text
}

fn broken(finding: &Finding<'_>, found: &Evidence, width: usize) -> String {
    let mut text = evidence(finding.program, found, width);
    let next = if found.cycle.is_none() {
        "store buffers play no part in this run, so no fence can prevent it".to_owned()
    } else {
        let advice = found.advice(finding.program, finding.language);
        advice.unwrap_or_else(|| "`weir fences --for safe` finds the cheapest fences that prevent this".to_owned())
    };
    text += &format!("\n{}", help(&next));
    text
}

fn unknown(finding: &Finding<'_>) -> String {
    let mut text = attempts(finding);
    if let Conclusion::Stopped(limit) = finding.conclusion {
        text += &format!("\n{}", help(&format!("{}, or make the model smaller", more(limit))));
    }
    text
}

/// What each engine did.
fn attempts(finding: &Finding<'_>) -> String {
    let limits = &finding.options.common.limits;
    let width = finding.story.attempts.iter().map(|attempt| attempt.member.name().len()).max().unwrap_or(0);
    let line = |attempt: &Attempt| {
        let (name, states) = (attempt.member.name(), counted(attempt.statistics.states, "state"));
        let time = time_text(attempt.statistics.elapsed);
        format!("  {name:width$}  {}, {states}, {time}\n", end_text(finding, &attempt.end, limits))
    };
    finding.story.attempts.iter().map(line).collect()
}

fn end_text(finding: &Finding<'_>, end: &End, limits: &LimitOptions) -> String {
    match end {
        End::Answered => "found the answer".to_owned(),
        End::Nothing => "found nothing (inconclusive for TSO)".to_owned(),
        End::Stopped(weir::Limit::Interrupted) if finding.story.winner.is_some() => {
            "stopped: another engine answered first".to_owned()
        }
        End::Stopped(limit) => limit_text(*limit, limits),
        End::Refused(diagnostic) => diagnostic.message.clone(),
    }
}

/// The run as a graph.
pub(crate) fn dot(finding: &Finding<'_>) -> String {
    super::dot::answer(finding.program, &finding.conclusion, || first_line(finding))
}

/// The answer in JSON.
pub(crate) fn json(task: &Task<'_>, finding: &Finding<'_>) -> CheckAnswer {
    let (program, story) = (finding.program, &finding.story);
    let verdict = match finding.conclusion {
        Conclusion::Holds => CheckVerdict::Safe,
        Conclusion::Violated(_) => CheckVerdict::Unsafe,
        Conclusion::Stopped(_) | Conclusion::Refused(_) | Conclusion::Raced(_) => CheckVerdict::Unknown,
    };
    let goals = goal_records(program, finding.goals);
    let main = super::json::main_goal(program, &finding.conclusion, &goals);
    let is_complete = verdict == CheckVerdict::Safe;
    CheckAnswer {
        head: task.head(verdict),
        engine: story.winner.map(Member::name),
        bound: story.buffering.map(|(Buffering::Coherence(bound) | Buffering::Multiset(bound))| bound),
        states: story.statistics.states,
        goal: main.as_ref().map(|goal| goal.text.clone()),
        goal_line: main.map(|goal| goal.line),
        goals,
        witness: finding.conclusion.evidence().map(|evidence| to_json(program, evidence)),
        reason: reason(&finding.conclusion, &finding.options.common.limits),
        limit: limit(&finding.conclusion),
        attempts: story.attempts.iter().map(|attempt| attempt_record(finding, attempt)).collect(),
        warnings: goal_warnings(program, finding.goals, finding.warnings, finding.conclusion.refusal()),
        unexecuted: is_complete.then(|| coverage::records(program, &story.coverage.unexecuted)),
        statistics: statistics_record(&story.statistics),
    }
}

fn attempt_record(finding: &Finding<'_>, attempt: &Attempt) -> AttemptRecord {
    let (end, reason) = match &attempt.end {
        End::Answered => (AttemptEnd::Answered, None),
        End::Nothing => (AttemptEnd::Nothing, None),
        End::Stopped(weir::Limit::Interrupted) if finding.story.winner.is_some() => (AttemptEnd::Overtaken, None),
        End::Stopped(limit) => (AttemptEnd::Stopped, Some(limit_text(*limit, &finding.options.common.limits))),
        End::Refused(diagnostic) => (AttemptEnd::Refused, Some(diagnostic.message.clone())),
    };
    let limit = if let (AttemptEnd::Stopped, End::Stopped(limit)) = (end, &attempt.end) {
        Some(limit_record(*limit))
    } else {
        None
    };
    AttemptRecord {
        engine: attempt.member.name(),
        end,
        limit,
        reason,
        states: attempt.statistics.states,
        seconds: attempt.statistics.elapsed.as_secs_f64(),
    }
}
