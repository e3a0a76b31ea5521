//! Litmus tests as herd7 prints them, for tools that compare such logs.

use std::fmt::Write as _;

use weir_syntax::litmus::{Litmus, Quantifier};

use crate::answer::{Answer, LitmusAnswer};
use crate::text::headline;
use crate::wording::clean::clean;

/// The log of a test. Answers that are not about a litmus test have only their first line.
pub(crate) fn render(answer: &Answer<'_>) -> String {
    match answer {
        Answer::Litmus(answer) => log(answer),
        other => headline(other),
    }
}

/// Where herd7 counts executions, the counts here are of final states. `Loop` is herd7's word for
/// results from which something may be missing.
fn log(answer: &LitmusAnswer) -> String {
    let (test, results) = (&answer.origin.test, &answer.origin.results);
    let name = clean(&test.name);
    let kind = match test.quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::Forall => "Required",
    };
    let mut text = format!("Test {name} {kind}\nStates {}\n", results.states.len());
    for (values, _) in &results.states {
        text += herd_state(test, values).trim_end();
        text.push('\n');
    }
    let (positive, negative) = (results.positive(), results.negative());
    // Witnesses are for or against the test, observations for or against its condition.
    let witnesses = match test.quantifier {
        Quantifier::NotExists => (negative, positive),
        _ => (positive, negative),
    };
    let looped = if answer.origin.stopped.is_some() { "Loop " } else { "" };
    let verdict = if test.is_met_by(results) { "Ok" } else { "No" };
    let _ = writeln!(text, "{looped}{verdict}\nWitnesses\nPositive: {} Negative: {}", witnesses.0, witnesses.1);
    let _ = writeln!(text, "Condition {}", answer.condition);
    let _ = writeln!(text, "Observation {name} {} {positive} {negative}", results.observation().text());
    let _ = writeln!(text, "Time {name} {:.2}", answer.origin.elapsed.as_secs_f64());
    for (key, value) in test.info.iter().filter(|(key, _)| key == "Hash") {
        let _ = writeln!(text, "{key}={}", clean(value));
    }
    text.push('\n');
    text
}

fn herd_state(test: &Litmus, values: &[i64]) -> String {
    let mut text = String::new();
    for (observable, &value) in test.observed.iter().zip(values) {
        let is_plain_cell = observable.is_cell && !observable.name.contains('[');
        let name = if is_plain_cell { format!("[{}]", observable.name) } else { observable.name.clone() };
        let _ = write!(text, "{name}={}; ", test.value_text(observable, value));
    }
    text
}
