//! Several litmus tests in a table.

use std::fmt::Write as _;

use weir_witness::Model;

use super::litmus::verdict as word;
use crate::answer::{LitmusAnswer, LitmusVerdict};
use crate::wording::clean::clean;
use crate::wording::model_name;
use crate::wording::units::{counted, grouped};

/// One line of the table about several tests.
pub struct Row {
    name: String,
    observation: &'static str,
    positive: usize,
    negative: usize,
    verdict: LitmusVerdict,
}

impl Row {
    /// The line of a test.
    pub fn new(answer: &LitmusAnswer) -> Self {
        let results = &answer.origin.results;
        Self {
            name: clean(&answer.name),
            observation: if answer.origin.stopped.is_some() { "?" } else { results.observation().text() },
            positive: results.positive(),
            negative: results.negative(),
            verdict: answer.head.verdict,
        }
    }
}

/// The table about several tests, and how many there were of each kind.
pub struct Summary<'a> {
    /// One line per test.
    pub rows: &'a [Row],
    /// The memory model.
    pub model: Model,
    /// Files that could not be used.
    pub failed: usize,
    /// Tests that were not run because of an interruption.
    pub skipped: usize,
}

impl Summary<'_> {
    /// The table, or just its last line.
    pub fn text(&self, is_quiet: bool) -> String {
        let mut text = if is_quiet || self.rows.is_empty() { String::new() } else { self.table() + "\n" };
        let count = |verdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        let kinds = [
            (count(LitmusVerdict::Ok), "ok"),
            (count(LitmusVerdict::No), "no"),
            (count(LitmusVerdict::Unknown), "unknown"),
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
            let Row { name, observation, positive, negative, verdict } = row;
            let verdict = word(*verdict).0;
            _ = writeln!(text, "{name:<longest$}  {observation:<11}  {positive:>8}  {negative:>8}  {verdict}");
        }
        text
    }
}
