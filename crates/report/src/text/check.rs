//! The answer of `weir check` for people.

use weir::check::{Attempt, End, Member};
use weir::{Limit, Verdict};

use super::diagnostic::render_place;
use super::parts::{Tone, diagnostics, evidence, headline, help, statistics};
use super::reach::{basis, goals_text};
use super::view::View;
use crate::answer::CheckAnswer;
use crate::answer::coverage;
use crate::run::Evidence;
use crate::wording::limit::{limit_text, more};
use crate::wording::units::{counted, time_text};

/// The answer; only its first line if quiet.
pub(super) fn render(answer: &CheckAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    let origin = &answer.origin;
    if !view.is_quiet {
        text += &match &origin.verdict {
            Ok(Verdict::Holds) => safe(answer),
            Ok(Verdict::Violated(found)) => broken(answer, found, view.width),
            Ok(Verdict::Unknown(limit)) => unknown(answer, *limit),
            Err(diagnostic) => format!("\n{}\n", render_place(&origin.subject.program.source, diagnostic)),
        };
    }
    if view.is_verbose {
        text += &format!("\n{}", attempts(answer));
        text += &statistics(&origin.statistics, origin.subject.peak_memory);
    }
    text
}

/// The answer in one line.
pub(super) fn first_line(answer: &CheckAnswer<'_>) -> String {
    let program = answer.origin.subject.program;
    let file = program.source.name();
    match &answer.origin.verdict {
        Ok(Verdict::Holds) => {
            let (what, place) = goals_text(program, answer.origin.goals);
            headline(Tone::Good, "safe under TSO", &what, &place)
        }
        Ok(Verdict::Violated(_)) => {
            let (what, line) = (answer.goal.as_deref().unwrap_or_default(), answer.goal_line.unwrap_or_default());
            headline(Tone::Bad, "unsafe under TSO", what, &format!("{file}:{line}"))
        }
        Ok(Verdict::Unknown(_)) | Err(_) => {
            headline(Tone::Open, "unknown under TSO", answer.reason.as_deref().unwrap_or_default(), file)
        }
    }
}

fn safe(answer: &CheckAnswer<'_>) -> String {
    let origin = &answer.origin;
    let program = origin.subject.program;
    let mut text = String::new();
    if let Some(Member::Engine(engine)) = origin.winner {
        text += &format!("{}: {}", engine.name(), basis(engine, origin.buffering, answer.states));
    }
    text += &diagnostics(program, &coverage::warnings(program, &origin.coverage));
    if answer.goals.is_empty() {
        text += &format!("\n{}", help("state what must not happen, as in `forbid P0 at critical && P1 at critical;`"));
    }
    text
}

fn broken(answer: &CheckAnswer<'_>, found: &Evidence, width: usize) -> String {
    let subject = &answer.origin.subject;
    let mut text = evidence(subject.program, found, width);
    let next = if found.cycle.is_none() {
        "store buffers play no part in this run, so no fence can prevent it".to_owned()
    } else {
        let advice = found.advice(subject.program, subject.language);
        advice.unwrap_or_else(|| "`weir fences --for safe` finds the cheapest fences that prevent this".to_owned())
    };
    text += &format!("\n{}", help(&next));
    text
}

fn unknown(answer: &CheckAnswer<'_>, limit: Limit) -> String {
    let next = help(&format!("{}, or make the model smaller", more(limit)));
    format!("{}\n{next}", attempts(answer))
}

/// What each engine did.
fn attempts(answer: &CheckAnswer<'_>) -> String {
    let all = &answer.origin.attempts;
    let width = all.iter().map(|attempt| attempt.member.name().len()).max().unwrap_or(0);
    let line = |attempt: &Attempt| {
        let (name, states) = (attempt.member.name(), counted(attempt.statistics.states, "state"));
        let time = time_text(attempt.statistics.elapsed);
        format!("  {name:width$}  {}, {states}, {time}\n", end_text(answer, &attempt.end))
    };
    all.iter().map(line).collect()
}

fn end_text(answer: &CheckAnswer<'_>, end: &End) -> String {
    match end {
        End::Answered => "found the answer".to_owned(),
        End::Nothing => "found nothing (inconclusive for TSO)".to_owned(),
        End::Stopped(Limit::Interrupted) if answer.origin.winner.is_some() => {
            "stopped: another engine answered first".to_owned()
        }
        End::Stopped(limit) => limit_text(*limit, &answer.origin.subject.limits),
        End::Refused(diagnostic) => diagnostic.message.clone(),
    }
}
