//! The answer of `weir cover` for people.

use weir::Verdict;
use weir::petri::Engine;

use super::parts::{Tone, headline, help};
use super::view::View;
use crate::answer::cover::{CoverAnswer, FiringRecord, FiringStepRecord, ProofKind, ProofRecord, TokensRecord};
use crate::wording::clean::clip;
use crate::wording::limit::more;
use crate::wording::units::{counted, grouped, size_text};

/// Longest marking in a line, in characters.
const MARKING_LIMIT: usize = 400;
/// Steps that are shown.
const SHOWN: usize = 200;

/// The answer; only its first line if quiet.
pub(super) fn render(answer: &CoverAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    if !view.is_quiet {
        text += &match (&answer.witness, &answer.proof) {
            (Some(firing), _) => run(answer, firing),
            (None, Some(proof)) => proved(proof),
            (None, None) => stopped(answer),
        };
    }
    if view.is_verbose {
        text += &statistics(answer);
    }
    text
}

/// The answer in one line.
pub(super) fn first_line(answer: &CoverAnswer<'_>) -> String {
    let file = answer.origin.subject.net.source.name();
    match (&answer.target, &answer.reason) {
        (Some(target), _) => {
            let place = target.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
            headline(Tone::Bad, "reachable", &target.text, &place)
        }
        (None, Some(reason)) => headline(Tone::Open, "unknown", reason, file),
        (None, None) => {
            let what = match answer.origin.subject.net.targets.len() {
                1 => "the target cannot be covered".to_owned(),
                targets => format!("none of the {} targets can be covered", grouped(targets as u64)),
            };
            headline(Tone::Good, "unreachable", &what, file)
        }
    }
}

fn run(answer: &CoverAnswer<'_>, firing: &FiringRecord) -> String {
    let steps = counted(firing.steps.len() as u64, "step");
    let tokens = counted(firing.tokens, "token");
    let mut text = format!("\na run that reaches it (replayed, {steps}, from {tokens}):\n\n");
    text += &format!("  start            {}\n", marking(None, &firing.initial));
    for (number, step) in firing.steps.iter().take(SHOWN).enumerate() {
        let FiringStepRecord { line, control, marking: after, .. } = step;
        let place = format!("line {line}");
        text += &format!(
            "  {:>5}  {place:<9} {}\n",
            number + 1,
            marking(control.as_deref(), after.as_deref().unwrap_or_default())
        );
    }
    if firing.steps.len() > SHOWN {
        text += &format!("  … and {} more\n", grouped((firing.steps.len() - SHOWN) as u64));
    }
    let net = answer.origin.subject.net;
    if net.initial.counts.iter().any(|count| count.high.is_none()) {
        text += &format!("\n{}", help("the initial marking is one of infinitely many; any larger one will do as well"));
    }
    text
}

fn marking(control: Option<&str>, tokens: &[TokensRecord]) -> String {
    let control = control.map(|control| format!("{control}: ")).unwrap_or_default();
    let tokens: Vec<String> = tokens.iter().map(|tokens| format!("{}={}", tokens.place, tokens.count)).collect();
    let tokens = if tokens.is_empty() { "no tokens".to_owned() } else { tokens.join(" ") };
    clip(&format!("{control}{tokens}"), MARKING_LIMIT).to_string()
}

fn proved(proof: &ProofRecord) -> String {
    let (markings, facts) = (proof.markings as u64, proof.facts as u64);
    match proof.kind {
        ProofKind::Facts if facts == 0 => {
            "proved: some place of every target never gets a token (checked)\n".to_owned()
        }
        ProofKind::Facts => {
            let excluding = match facts {
                1 => "a weighted sum of tokens that never grows excludes every target".to_owned(),
                _ => format!("{} weighted sums of tokens that never grow exclude every target", grouped(facts)),
            };
            format!("proved by the state inequation: {excluding} (checked)\n")
        }
        ProofKind::Backward => {
            let (markings, sums) = (counted(markings, "minimal marking"), counted(facts, "weighted sum"));
            let by =
                if facts == 0 { String::new() } else { format!(", apart from those that {sums} of tokens exclude") };
            format!("proved by backward coverability: only from {markings} a target can be covered{by} (checked)\n")
        }
        ProofKind::Listed if markings == 1 => {
            "the search was exhaustive: only one marking is reachable (checked)\n".to_owned()
        }
        ProofKind::Listed => {
            format!("the search was exhaustive: all {} reachable markings were visited (checked)\n", grouped(markings))
        }
        ProofKind::Forward => {
            let markings = counted(markings, "marking");
            format!(
                "proved by forward search with saturated counters: {markings} contain all reachable ones (checked)\n"
            )
        }
    }
}

fn stopped(answer: &CoverAnswer<'_>) -> String {
    let statistics = &answer.statistics;
    let text = format!(
        "explored {} backward and {} forward\n",
        counted(statistics.minimal, "minimal marking"),
        counted(statistics.forward, "marking")
    );
    let report = answer.origin.report;
    let is_cover_question = answer.origin.subject.net.is_cover_question();
    let next = match report.verdict {
        Verdict::Unknown(weir::Limit::Alarm | weir::Limit::Extensions) if is_cover_question => {
            "`--engine auto` tries all methods".to_owned()
        }
        Verdict::Unknown(weir::Limit::Alarm) => {
            "leave the upper bounds of the target out to ask whether it can be covered".to_owned()
        }
        Verdict::Unknown(limit) => format!("{}, or make the net smaller", more(limit)),
        _ => String::new(),
    };
    text + "\n" + &help(&next)
}

fn statistics(answer: &CoverAnswer<'_>) -> String {
    let statistics = &answer.statistics;
    let engine = if answer.origin.report.engine == Engine::Auto { "none" } else { answer.engine };
    let memory = statistics.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), size_text);
    let rows = [
        (
            "net",
            format!("{} places, {} transitions, {} control states", answer.places, answer.transitions, answer.controls),
        ),
        ("answered by", engine.to_owned()),
        ("facts", grouped(statistics.facts)),
        ("minimal", grouped(statistics.minimal)),
        ("forward", grouped(statistics.forward)),
        ("memory", memory),
    ];
    let lines = rows.map(|(name, value)| format!("  {name:<12} {value}\n"));
    format!("\nstatistics:\n{}", lines.concat())
}
