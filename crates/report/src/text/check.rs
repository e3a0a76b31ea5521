//! The answer of `weir check` for people.

use weir::Verdict;
use weir::check::{Attempt, End, Judgement, Member, PropertyReport, Report, Violation};
use weir_witness::Model;

use super::diagnostic::render_place;
use super::parts::{Tone, diagnostics, emphasized, evidence, headline, help, numbers_of_copies, statistics};
use super::reach::{basis, goals_text, summarized};
use super::view::View;
use super::wrap::words;
use crate::answer::CheckAnswer;
use crate::answer::coverage;
use crate::run::Evidence;
use crate::wording::clean::clip;
use crate::wording::growth::growth_help;
use crate::wording::limit::{limit_text, more};
use crate::wording::units::{counted, time_text};
use crate::wording::{goal, model_name};

/// Longest text of a property in the table, in characters.
const PROPERTY_LIMIT: usize = 60;
/// The same where it can take several lines.
const WRAPPED_PROPERTY_LIMIT: usize = 200;
/// The least width of the column of properties.
const LEAST_PROPERTY_WIDTH: usize = 20;

/// The answer; only its first line if quiet.
pub(super) fn render(answer: &CheckAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    let origin = &answer.origin;
    if !view.is_quiet {
        let verdict = origin.report.as_ref().map(|report| &report.verdict);
        let is_decided = matches!(verdict, Ok(Verdict::Holds | Verdict::Violated(_)));
        let violations = origin.report.iter().flat_map(|report| &report.properties);
        let violations = violations.filter(|property| property.judgement.is_failure()).count();
        text += &numbers_of_copies(&origin.subject, is_decided, violations);
        text += &match &origin.report {
            Ok(report) => body(answer, report, view),
            Err(diagnostic) => format!("\n{}\n", render_place(&origin.subject.program.source, diagnostic)),
        };
    }
    if view.is_verbose
        && let Ok(report) = &origin.report
    {
        text += &format!("\n{}", attempts(answer, &report.attempts));
        text += &statistics(&report.statistics, origin.subject.peak_memory);
    }
    text
}

/// The answer in one line.
pub(super) fn first_line(answer: &CheckAnswer<'_>) -> String {
    let origin = &answer.origin;
    let (program, model) = (origin.subject.program, model_name(origin.question.model));
    let file = program.source.name();
    let place = answer.goal_place.as_deref().unwrap_or(file);
    let what = answer.goal.as_deref().unwrap_or_default();
    match origin.report.as_ref().map(|report| &report.verdict) {
        Ok(Verdict::Holds) => {
            let (what, place) = good_text(answer);
            headline(Tone::Good, &format!("safe under {model}"), &what, &place)
        }
        Ok(Verdict::Violated(Violation::Run(_))) => headline(Tone::Bad, &format!("unsafe under {model}"), what, place),
        Ok(Verdict::Violated(Violation::NotMet(_))) => {
            headline(Tone::Bad, &format!("unsafe under {model}"), &format!("no run meets {what}"), place)
        }
        Ok(Verdict::Unknown(_)) | Err(_) => {
            headline(Tone::Open, &format!("unknown under {model}"), answer.reason.as_deref().unwrap_or_default(), file)
        }
    }
}

/// What a safe program does, and where that stands.
fn good_text(answer: &CheckAnswer<'_>) -> (String, String) {
    let program = answer.origin.subject.program;
    let (text, place) = goals_text(program, answer.origin.question.goals);
    let all = answer.origin.properties();
    let met = all.iter().filter(|one| matches!(one.judgement, Judgement::Met(_))).count();
    let text = match (met, all.len() - met) {
        (0, _) => text,
        (1, 0) => format!("{text} is met"),
        (2, 0) => "both properties are met".to_owned(),
        (_, 0) => format!("all {met} properties are met"),
        (met, held) => {
            let (hold, are) = (if held == 1 { "holds" } else { "hold" }, if met == 1 { "is" } else { "are" });
            format!("{} {hold}, {met} {are} met", counted(held as u64, "property"))
        }
    };
    (text, place)
}

fn body(answer: &CheckAnswer<'_>, report: &Report, view: &View) -> String {
    let origin = &answer.origin;
    let program = origin.subject.program;
    let mut text = format!("\n{}", table(answer, view));
    text += &match &report.verdict {
        Verdict::Holds => proved(report),
        Verdict::Violated(_) => String::new(),
        Verdict::Unknown(_) => format!("\n{}", attempts(answer, &report.attempts)),
    };
    text += &diagnostics(program, &origin.vacuous());
    if let (Verdict::Holds, Some(coverage)) = (&report.verdict, &report.coverage) {
        text += &diagnostics(program, &coverage::warnings(program, coverage));
    }
    if let (Some(note), Verdict::Holds | Verdict::Unknown(_)) = (&answer.note, &report.verdict) {
        text += &format!("\nnote: {note}\n");
    }
    text += &runs(answer, view.width);
    match &report.verdict {
        Verdict::Violated(Violation::NotMet(_)) => {
            text += &format!("\n{}", help("`exists` asks for a run, and there is none to show"));
        }
        Verdict::Unknown(limit) => {
            let more = || format!("{}, or make the model smaller", more(*limit));
            text += &format!("\n{}", help(&growth_help(&report.growth).unwrap_or_else(more)));
        }
        Verdict::Holds | Verdict::Violated(Violation::Run(_)) => {}
    }
    text
}

/// One row per property. Where they do not fit side by side, the text of a property takes several lines.
fn table(answer: &CheckAnswer<'_>, view: &View) -> String {
    let program = answer.origin.subject.program;
    let limit = if view.is_wrapped { WRAPPED_PROPERTY_LIMIT } else { PROPERTY_LIMIT };
    let row = |one: &PropertyReport| {
        let vacuous = if one.vacuity.is_vacuous() == Some(true) { " (vacuous)" } else { "" };
        let name = one.judgement.name().replace('-', " ");
        [
            clip(&goal::text(program, one.goal), limit),
            goal::written_line(program, one.goal).map_or_else(|| "-".to_owned(), |line| line.to_string()),
            format!("{name}{vacuous}"),
            one.member.map_or("-", Member::name).to_owned(),
            one.member.map_or_else(|| "-".to_owned(), |_| time_text(one.elapsed)),
        ]
    };
    let properties = answer.origin.properties();
    let rows: Vec<[String; 5]> = properties.iter().map(row).collect();
    let titles = ["property", "line", "verdict", "engine", "time"];
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([titles[column].len()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    if view.is_wrapped {
        widths[0] = widths[0].min(view.width.saturating_sub(2 + others).max(LEAST_PROPERTY_WIDTH));
    }
    let padded = |cell: &str, column: usize| {
        let gap = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
        if column == 1 { format!("{gap}{cell}") } else { format!("{cell}{gap}") }
    };
    let line = |cells: [&str; 5], tone: Option<Tone>| {
        let mut property = words(cells[0], widths[0]).into_iter();
        let first = property.next().unwrap_or_default();
        let cell = |(column, cell): (usize, &str)| {
            let text = padded(if column == 0 { &first } else { cell }, column);
            if let (2, Some(tone)) = (column, tone) { emphasized(tone, &text) } else { text }
        };
        let cells: Vec<String> = cells.into_iter().enumerate().map(cell).collect();
        let rest: String = property.map(|words| format!("    {words}\n")).collect();
        format!("  {}\n{rest}", cells.join("  ").trim_end())
    };
    let mut text = line(titles, None);
    for (row, one) in rows.iter().zip(properties) {
        text += &line(row.each_ref().map(String::as_str), Some(tone(one)));
    }
    text
}

fn tone(one: &PropertyReport) -> Tone {
    match one.judgement {
        Judgement::Holds | Judgement::Met(_) => Tone::Good,
        Judgement::Violated(_) | Judgement::NotMet => Tone::Bad,
        Judgement::Unknown(_) => Tone::Open,
    }
}

/// What the proof rests on, if one search decided everything.
fn proved(report: &Report) -> String {
    let is_proved = |one: &PropertyReport| one.judgement == Judgement::Holds;
    let is_one_search = report.attempts.iter().all(|attempt| attempt.round == 1);
    if !is_one_search || !report.properties.iter().all(is_proved) {
        return String::new();
    }
    match report.member() {
        Some(Member::Engine(engine)) => {
            let basis = basis(engine, report.buffering(), &report.statistics);
            format!("\n{}: {basis}", engine.name())
        }
        Some(member @ (Member::DepthFirst | Member::Dynamic)) => {
            let basis = basis(weir::reach::Engine::Explicit, None, &report.statistics);
            format!("\n{}: {basis}", member.name())
        }
        Some(Member::Robust) => {
            "\nrobust: store buffers do not change the program's behaviour, and without them the search was exhaustive\n"
                .to_owned()
        }
        Some(Member::Summaries) => {
            format!("\n{}", summarized(&report.statistics))
        }
        Some(Member::Sc | Member::Cover) | None => String::new(),
    }
}

/// The runs, and what to do about them.
fn runs(answer: &CheckAnswer<'_>, width: usize) -> String {
    let origin = &answer.origin;
    let program = origin.subject.program;
    let mut text = String::new();
    if origin.question.all_witnesses {
        for (one, found) in origin.properties().iter().zip(&origin.evidence) {
            let Some(found) = found else { continue };
            let (what, line) = (goal::text(program, one.goal), goal::line(program, one.goal));
            text += &format!("\n{} is {} (line {line}):\n", clip(&what, 200), one.judgement.name());
            text += &evidence(program, found, width);
        }
    } else if let Some(found) = origin.violated() {
        text += &evidence(program, found, width);
    }
    if let Some(found) = origin.violated() {
        text += &format!("\n{}", help(&advice(answer, found)));
    }
    let others = origin.properties().iter().filter(|one| one.judgement.run().is_some()).count()
        - usize::from(origin.violated().is_some());
    if others > 0 && !origin.question.all_witnesses {
        let which = match (origin.violated().is_some(), others) {
            (true, 1) => "the run of the other property",
            (true, _) => "the runs of the other properties",
            (false, 1) => "the run that meets it",
            (false, _) => "the runs that meet them",
        };
        let gap = if text.is_empty() { "\n" } else { "" };
        text += &format!("{gap}{}", help(&format!("`--all-witnesses` shows {which}")));
    }
    text
}

fn advice(answer: &CheckAnswer<'_>, found: &Evidence) -> String {
    let subject = &answer.origin.subject;
    if found.cycle.is_some() && subject.program.is_dynamic() {
        return "a fence between the store and what overtakes it prevents this".to_owned();
    }
    if found.cycle.is_some() {
        let advice = found.advice(subject.program, subject.language);
        return advice
            .unwrap_or_else(|| "`weir fences --for safe` finds the cheapest fences that prevent this".to_owned());
    }
    match answer.origin.question.model {
        Model::Tso => "store buffers play no part in this run, so no fence can prevent it".to_owned(),
        Model::Sc => "no fence can prevent this: it happens without store buffers".to_owned(),
    }
}

/// What each engine did.
fn attempts(answer: &CheckAnswer<'_>, all: &[Attempt]) -> String {
    let width = all.iter().map(|attempt| attempt.member.name().len()).max().unwrap_or(0);
    let has_rounds = all.iter().any(|attempt| attempt.round > 1);
    let line = |attempt: &Attempt| {
        let (name, states) = (attempt.member.name(), counted(attempt.statistics.states, "state"));
        let round = if has_rounds { format!("round {}  ", attempt.round) } else { String::new() };
        let spent = match attempt.end {
            End::Overtaken => String::new(),
            _ => format!(", {states}, {}", time_text(attempt.statistics.elapsed)),
        };
        format!("  {round}{name:width$}  {}{spent}\n", end_text(answer, &attempt.end))
    };
    all.iter().map(line).collect()
}

fn end_text(answer: &CheckAnswer<'_>, end: &End) -> String {
    match end {
        End::Answered => "found the answer".to_owned(),
        End::Nothing => "found nothing (inconclusive for TSO)".to_owned(),
        End::Overtaken => "stopped: another engine answered first".to_owned(),
        End::Stopped(limit) => limit_text(*limit, &answer.origin.subject.limits),
        End::Refused(diagnostic) => diagnostic.message.clone(),
    }
}
