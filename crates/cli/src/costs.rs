//! Files of costs: on each line what costs something, and how much.

use std::collections::BTreeMap;
use std::path::Path;

use weir_report::wording::clean::display_name;

use crate::error::Error;
use crate::input::read_text;
use crate::limits::{MAX_COST, MAX_COST_BYTES};

/// What a command expects of its file of costs.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The lowest cost that makes sense.
    pub(crate) lowest: u64,
    /// How to write one.
    pub(crate) help: &'static str,
}

/// A file of costs.
#[derive(Debug)]
pub(crate) struct CostFile {
    name: String,
    /// In the order of the file; no two are about the same.
    pub(crate) entries: Vec<Entry>,
}

/// A line of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is about.
    pub(crate) what: String,
    /// What that costs.
    pub(crate) cost: u64,
    line: usize,
}

impl CostFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path, form: Form) -> Result<Self, Error> {
        let name = display_name(path);
        let text = read_text(path, MAX_COST_BYTES)
            .map_err(|error| Error::input(format!("the costs in {name}: {}", error.reason())))?;
        Self::parse(name, &text, form)
    }

    /// Reads the text of a file.
    pub(crate) fn parse(name: String, text: &str, form: Form) -> Result<Self, Error> {
        let mut file = Self { name, entries: Vec::new() };
        let mut lines = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let wrong = |reason: String| file.wrong(line, &reason, form.help);
            let words: Vec<&str> = text.split('#').next().unwrap_or_default().split_whitespace().collect();
            let (what, cost) = match words[..] {
                [] => continue,
                [what, cost] => (what, cost),
                _ => return Err(wrong(format!("expected two fields, found {}", words.len()))),
            };
            let range = form.lowest..=MAX_COST;
            let cost =
                cost.parse().ok().filter(|cost| range.contains(cost)).ok_or_else(|| {
                    wrong(format!("the cost must be a whole number from {} to {MAX_COST}", form.lowest))
                })?;
            if let Some(first) = lines.insert(what, line) {
                return Err(wrong(format!("`{what}` already has a cost, on line {first}")));
            }
            file.entries.push(Entry { what: what.to_owned(), cost, line });
        }
        Ok(file)
    }

    /// What is wrong with an entry.
    pub(crate) fn error(&self, entry: &Entry, reason: &str, help: &str) -> Error {
        self.wrong(entry.line, reason, help)
    }

    fn wrong(&self, line: usize, reason: &str, help: &str) -> Error {
        Error::input_with_help(format!("the costs in {}, line {line}: {reason}", self.name), help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<CostFile, Error> {
        CostFile::parse("costs".into(), text, Form { lowest: 1, help: "" })
    }

    fn reason(text: &str) -> String {
        parse(text).err().map_or_else(String::new, |error| error.reason())
    }

    #[test]
    fn names_have_costs_in_the_order_of_the_file() {
        let entry = |what: &str, cost, line| Entry { what: what.into(), cost, line };
        let file = parse("# costs\nhere 7 # why\n\n12 5\n").expect("it is correct");
        assert_eq!(file.entries, [entry("here", 7, 2), entry("12", 5, 4)]);
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        assert_eq!(reason("\n12\n"), "the costs in costs, line 2: expected two fields, found 1");
        assert_eq!(reason("12 0"), "the costs in costs, line 1: the cost must be a whole number from 1 to 1000000");
        assert_eq!(reason("12 -1"), reason("12 x"));
        assert_eq!(reason("12 99999999999999999999"), reason("12 0"));
        assert_eq!(reason("a 1\na 2"), "the costs in costs, line 2: `a` already has a cost, on line 1");
    }
}
