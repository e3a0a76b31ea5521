//! Any answer for people.

use std::path::Path;

use super::parts::{Tone, emphasized, help};
use super::view::View;
use super::wrap::wrap;
use super::{check, cover, fences, litmus, prob, reach, replay, robust};
use crate::answer::{Answer, ErrorAnswer, FormatAnswer, StoppedAnswer, YesNo};
use crate::wording::clean::display_name;

/// The answer as text, with colours in it.
pub(crate) fn render(answer: &Answer<'_>, view: &View) -> String {
    let text = unwrapped(answer, view);
    // A program is for other programs, too: it stays as it is.
    let is_program = matches!(answer, Answer::Translate(_) | Answer::Format(_));
    if view.is_wrapped && !is_program { wrap(&text, view.width) } else { text }
}

fn unwrapped(answer: &Answer<'_>, view: &View) -> String {
    match answer {
        Answer::Check(answer) => check::render(answer, view),
        Answer::Reach(answer) => reach::render(answer, view),
        Answer::Robust(answer) => robust::render(answer, view),
        Answer::Fences(answer) => fences::render(answer, view),
        Answer::Prob(answer) => prob::render(answer, view),
        Answer::Litmus(answer) => litmus::render(answer, view),
        Answer::Cover(answer) => cover::render(answer, view),
        Answer::Replay(answer) => replay::render(answer, view),
        Answer::Certificate(answer) => replay::render_certificate(answer, view),
        Answer::NetCertificate(answer) => replay::net_certificate_line(answer),
        Answer::Translate(answer) => answer.text.clone(),
        Answer::Format(answer) => format(answer),
        Answer::Stopped(answer) => stopped(answer, !view.is_quiet),
        Answer::Error(answer) => error(answer),
    }
}

/// The answer in one line.
pub(crate) fn headline(answer: &Answer<'_>) -> String {
    match answer {
        Answer::Check(answer) => check::first_line(answer),
        Answer::Reach(answer) => reach::first_line(answer),
        Answer::Robust(answer) => robust::first_line(answer),
        Answer::Fences(answer) => fences::first_line(answer),
        Answer::Prob(answer) => prob::first_line(&answer.origin),
        Answer::Litmus(answer) => litmus::first_line(answer),
        Answer::Cover(answer) => cover::first_line(answer),
        Answer::Replay(answer) => replay::first_line(answer),
        Answer::Certificate(answer) => replay::certificate_line(answer),
        Answer::NetCertificate(answer) => replay::net_certificate_line(answer),
        Answer::Translate(answer) => format!("translated to {}\n", answer.to),
        Answer::Format(answer) => format(answer),
        Answer::Stopped(answer) => stopped(answer, false),
        Answer::Error(answer) => error(answer),
    }
}

fn stopped(answer: &StoppedAnswer, with_help: bool) -> String {
    let unknown = emphasized(Tone::Open, "unknown");
    let help = if with_help { format!("\n{}", help(answer.help)) } else { String::new() };
    format!("{unknown}: {} ({})\n{help}", answer.reason, display_name(Path::new(&answer.head.file)))
}

fn format(answer: &FormatAnswer) -> String {
    match (&answer.text, answer.head.verdict) {
        (Some(text), _) => text.clone(),
        (None, YesNo::Ok) => String::new(),
        (None, YesNo::No) => format!("{}: not formatted\n", display_name(Path::new(&answer.head.file))),
    }
}

fn error(answer: &ErrorAnswer) -> String {
    format!("error: {}: {}\n", display_name(Path::new(&answer.head.file)), answer.reason)
}
