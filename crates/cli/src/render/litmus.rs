//! Answers of `weir litmus`, in all their forms.

use std::fmt::Write as _;

use weir_syntax::litmus::{Litmus, Observable, Observation, Quantifier};
use weir_witness::Model;

use super::clean::clean;
use super::json::limit_record;
use super::text::{Tone, headline, help, limit_text, model_name};
use crate::args::LimitOptions;
use crate::commands::litmus::Finding;
use crate::exit::Status;
use crate::json::{CommandName, Head, LitmusAnswer, LitmusVerdict, ObservationName, VERSION, ValueRecord};
use crate::units::{counted, grouped};
use crate::witness_file::model_record;

/// The question as the herd tools write it.
fn question(test: &Litmus) -> String {
    let quantifier = match test.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    };
    format!("{quantifier} ({})", test.condition_text)
}

/// The verdict, in a word and in colour.
fn verdict(status: Status) -> (&'static str, Tone) {
    match status {
        Status::Holds => ("ok", Tone::Good),
        Status::Violated => ("no", Tone::Bad),
        _ => ("unknown", Tone::Open),
    }
}

/// In JSON.
pub(crate) fn json(finding: &Finding, limits: &LimitOptions) -> LitmusAnswer {
    let verdict = match finding.status() {
        Status::Holds => LitmusVerdict::Ok,
        Status::Violated => LitmusVerdict::No,
        _ => LitmusVerdict::Unknown,
    };
    let (test, results) = (&finding.test, &finding.results);
    let file = finding.file.display().to_string();
    let seconds = finding.elapsed.as_secs_f64();
    let value = |observable: &Observable, value: i64| match test.address_name(value) {
        Some(name) => ValueRecord::Address(name.to_owned()),
        None if observable.is_unsigned => ValueRecord::Unsigned(value as u64),
        None => ValueRecord::Number(value),
    };
    let state = |values: &[i64]| {
        let pairs = test.observed.iter().zip(values);
        pairs.map(|(observable, &found)| (observable.name.clone(), value(observable, found))).collect()
    };
    LitmusAnswer {
        head: Head { weir: VERSION, command: CommandName::Litmus, file, verdict, seconds },
        name: test.name.clone(),
        model: model_record(finding.model),
        condition: question(test),
        observation: finding.stopped.is_none().then(|| match results.observation() {
            Observation::Never => ObservationName::Never,
            Observation::Sometimes => ObservationName::Sometimes,
            Observation::Always => ObservationName::Always,
        }),
        positive: results.positive() as u64,
        negative: results.negative() as u64,
        states: results.states.iter().map(|(values, _)| state(values)).collect(),
        visited: finding.visited,
        reason: finding.stopped.map(|limit| limit_text(limit, limits)),
        limit: finding.stopped.map(limit_record),
    }
}

/// As herd7 prints it. Where herd7 counts executions, the counts here are of final states. `Loop` is herd7's word for
/// results from which something may be missing.
pub(crate) fn herd(finding: &Finding) -> String {
    let (test, results) = (&finding.test, &finding.results);
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
    let looped = if finding.stopped.is_some() { "Loop " } else { "" };
    let answer = if test.is_met_by(results) { "Ok" } else { "No" };
    let _ = writeln!(text, "{looped}{answer}\nWitnesses\nPositive: {} Negative: {}", witnesses.0, witnesses.1);
    let _ = writeln!(text, "Condition {}", question(test));
    let _ = writeln!(text, "Observation {name} {} {positive} {negative}", results.observation().text());
    let _ = writeln!(text, "Time {name} {:.2}", finding.elapsed.as_secs_f64());
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

/// For people: the verdict, the observation, the final states.
pub(crate) fn text(finding: &Finding, limits: &LimitOptions, is_quiet: bool) -> String {
    let test = &finding.test;
    let program = &test.program;
    let (word, tone) = verdict(finding.status());
    let line = program.properties.first().map_or(1, |property| program.source.line(property.span));
    let place = format!("{}:{line}", program.source.name());
    let what = format!("{}: {}", clean(&test.name), clean(&question(test)));
    let mut text = headline(tone, &format!("{word} under {}", model_name(finding.model)), &what, &place);
    if is_quiet {
        return text;
    }
    let [positive, all] = [finding.results.positive(), finding.results.states.len()].map(|count| grouped(count as u64));
    let how_many = format!("the condition holds in {positive} of {all} final states");
    match finding.stopped {
        None => _ = writeln!(text, "{}: {how_many}", finding.results.observation().text()),
        Some(limit) => {
            _ = writeln!(text, "{}; so far {how_many}, and there may be more states", limit_text(limit, limits));
        }
    }
    text += &states_text(finding);
    text += &advice(finding);
    text
}

/// A table of the final states; those that meet the condition are marked.
fn states_text(finding: &Finding) -> String {
    let test = &finding.test;
    if test.observed.is_empty() || finding.results.states.is_empty() {
        return String::new();
    }
    let mut rows = vec![test.observed.iter().map(|observable| clean(&observable.name)).collect::<Vec<_>>()];
    for (values, _) in &finding.results.states {
        let pairs = test.observed.iter().zip(values);
        rows.push(pairs.map(|(observable, &value)| clean(&test.value_text(observable, value))).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..test.observed.len()).map(width).collect();
    let marks = [false].into_iter().chain(finding.results.states.iter().map(|(_, holds)| *holds));
    let mut text = "\n".to_owned();
    for (row, mark) in rows.iter().zip(marks) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = format!("{} {}", if mark { "*" } else { " " }, cells.join("  "));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn advice(finding: &Finding) -> String {
    let file = finding.test.program.source.name();
    let model = if finding.model == Model::Sc { " --model sc" } else { "" };
    let seen = match finding.test.quantifier {
        Quantifier::Exists | Quantifier::NotExists => finding.results.positive() > 0,
        Quantifier::Forall => finding.results.negative() > 0,
    };
    if finding.stopped.is_some() {
        let why = "a thread that stores in a loop without a fence can fill its buffer without bound; then only a limit ends the search";
        return format!("\n{}", help(why));
    }
    match (seen, finding.test.quantifier) {
        (true, Quantifier::Forall) => {
            format!("\n{}", help(&format!("`weir reach{model} {file}` shows a run that violates the condition")))
        }
        (true, _) => {
            format!("\n{}", help(&format!("`weir reach{model} {file}` shows a run that satisfies the condition")))
        }
        (false, _) => String::new(),
    }
}

/// One line of the table about several tests.
pub(crate) struct Row {
    name: String,
    observation: &'static str,
    positive: usize,
    negative: usize,
    status: Status,
}

impl Row {
    /// The line of a test.
    pub(crate) fn new(finding: &Finding) -> Self {
        let results = &finding.results;
        Self {
            name: clean(&finding.test.name),
            observation: if finding.stopped.is_some() { "?" } else { results.observation().text() },
            positive: results.positive(),
            negative: results.negative(),
            status: finding.status(),
        }
    }
}

/// The table about several tests, and how many there were of each kind.
pub(crate) struct Summary<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) model: Model,
    /// Files that could not be used.
    pub(crate) failed: usize,
    /// Tests that were not run because of an interruption.
    pub(crate) skipped: usize,
}

impl Summary<'_> {
    /// The table, or just its last line.
    pub(crate) fn text(&self, is_quiet: bool) -> String {
        let mut text = if is_quiet || self.rows.is_empty() { String::new() } else { self.table() + "\n" };
        let count = |status: Status| self.rows.iter().filter(|row| row.status == status).count();
        let kinds = [
            (count(Status::Holds), "ok"),
            (count(Status::Violated), "no"),
            (count(Status::Unknown), "unknown"),
            (self.failed, "with errors"),
            (self.skipped, "not run"),
        ];
        let shown: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{} {kind}", grouped(*count as u64)))
            .collect();
        let all = counted((self.rows.len() + self.failed + self.skipped) as u64, "test");
        let shown = if shown.is_empty() { "nothing to run".to_owned() } else { shown.join(", ") };
        _ = writeln!(text, "{all} under {}: {shown}", model_name(self.model));
        text
    }

    fn table(&self) -> String {
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("test".len());
        let mut text = format!("{:<longest$}  observation  positive  negative  verdict\n", "test");
        for row in self.rows {
            let Row { name, observation, positive, negative, status } = row;
            let verdict = verdict(*status).0;
            _ = writeln!(text, "{name:<longest$}  {observation:<11}  {positive:>8}  {negative:>8}  {verdict}");
        }
        text
    }
}
