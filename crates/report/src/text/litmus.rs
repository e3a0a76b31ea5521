//! The answer of `weir litmus` about one test, for people.

use std::fmt::Write as _;

use weir_syntax::litmus::Quantifier;
use weir_witness::Model;

use super::parts::{Tone, headline, help};
use super::view::View;
use crate::answer::{LitmusAnswer, LitmusVerdict};
use crate::wording::clean::clean;
use crate::wording::model_name;
use crate::wording::units::grouped;

/// For people: the verdict, the observation, the final states.
pub(super) fn render(answer: &LitmusAnswer, view: &View) -> String {
    let mut text = first_line(answer);
    if view.is_quiet {
        return text;
    }
    let [positive, all] =
        [answer.origin.results.positive(), answer.origin.results.states.len()].map(|count| grouped(count as u64));
    let how_many = format!("the condition holds in {positive} of {all} final states");
    match answer.origin.stopped {
        None => _ = writeln!(text, "{}: {how_many}", answer.origin.results.observation().text()),
        Some(_) => {
            let reason = answer.reason.as_deref().unwrap_or_default();
            _ = writeln!(text, "{reason}; so far {how_many}, and there may be more states");
        }
    }
    text += &states_text(answer);
    text += &advice(answer);
    text
}

/// The answer in one line.
pub(super) fn first_line(answer: &LitmusAnswer) -> String {
    let program = &answer.origin.test.program;
    let (word, tone) = verdict(answer.head.verdict);
    let line = program.properties.first().map_or(1, |property| program.source.line(property.span));
    let place = format!("{}:{line}", program.source.name());
    let what = format!("{}: {}", clean(&answer.name), clean(&answer.condition));
    headline(tone, &format!("{word} under {}", model_name(answer.origin.model)), &what, &place)
}

/// The verdict, in a word and in colour.
pub(super) fn verdict(verdict: LitmusVerdict) -> (&'static str, Tone) {
    match verdict {
        LitmusVerdict::Ok => ("ok", Tone::Good),
        LitmusVerdict::No => ("no", Tone::Bad),
        LitmusVerdict::Unknown => ("unknown", Tone::Open),
    }
}

/// A table of the final states; those that meet the condition are marked.
fn states_text(answer: &LitmusAnswer) -> String {
    let test = &answer.origin.test;
    if test.observed.is_empty() || answer.origin.results.states.is_empty() {
        return String::new();
    }
    let mut rows = vec![test.observed.iter().map(|observable| clean(&observable.name)).collect::<Vec<_>>()];
    for (values, _) in &answer.origin.results.states {
        let pairs = test.observed.iter().zip(values);
        rows.push(pairs.map(|(observable, &value)| clean(&test.value_text(observable, value))).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..test.observed.len()).map(width).collect();
    let marks = [false].into_iter().chain(answer.origin.results.states.iter().map(|(_, holds)| *holds));
    let mut text = "\n".to_owned();
    for (row, mark) in rows.iter().zip(marks) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = format!("{} {}", if mark { "*" } else { " " }, cells.join("  "));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn advice(answer: &LitmusAnswer) -> String {
    let file = answer.origin.test.program.source.name();
    let model = if answer.origin.model == Model::Sc { " --model sc" } else { "" };
    let seen = match answer.origin.test.quantifier {
        Quantifier::Exists | Quantifier::NotExists => answer.origin.results.positive() > 0,
        Quantifier::Forall => answer.origin.results.negative() > 0,
    };
    if answer.origin.stopped.is_some() {
        let why = "a thread that stores in a loop without a fence can fill its buffer without bound; then only a limit ends the search";
        return format!("\n{}", help(why));
    }
    match (seen, answer.origin.test.quantifier) {
        (true, Quantifier::Forall) => {
            format!("\n{}", help(&format!("`weir reach{model} {file}` shows a run that violates the condition")))
        }
        (true, _) => {
            format!("\n{}", help(&format!("`weir reach{model} {file}` shows a run that satisfies the condition")))
        }
        (false, _) => String::new(),
    }
}
