//! Code of a C function, line by line: labels are only written where something jumps to, since compilers warn about
//! others.

use std::fmt::Write as _;

use weir_ir::sort::sort_by_key;
use weir_ir::{Body, Diagnostic, LocId};

use crate::export::names::{Names, cleaned};

/// A line of a function.
pub(super) enum Line {
    Text(String),
    /// Where a location begins.
    Label(LocId),
    /// Where a step of the location that cannot be taken goes.
    WaitLabel(LocId),
    /// A jump to a location, so far indented.
    Goto(LocId, usize),
    /// A jump to where a location waits.
    GotoWait(LocId, usize),
    /// A jump to one of the ends.
    Jump(&'static str, usize),
}

/// The lines of a function, with a label for each location.
pub(super) struct Lines<'l> {
    labels: &'l [String],
    lines: Vec<Line>,
}

impl<'l> Lines<'l> {
    pub(super) fn new(labels: &'l [String]) -> Self {
        Self { labels, lines: Vec::new() }
    }

    pub(super) fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Whether something jumps to this end.
    pub(super) fn jumps_to(&self, label: &str) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Jump(to, _) if *to == label))
    }

    /// The text.
    pub(super) fn render(&self) -> String {
        let mut is_target = vec![false; self.labels.len()];
        for line in &self.lines {
            if let Line::Goto(loc, _) = line {
                is_target[loc.index()] = true;
            }
        }
        let mut text = String::new();
        for line in &self.lines {
            let blank = |indent: &usize| "    ".repeat(*indent);
            let _ = match line {
                Line::Text(line) => writeln!(text, "{line}"),
                Line::Label(loc) if is_target[loc.index()] => writeln!(text, "{}:", self.labels[loc.index()]),
                Line::Label(_) => Ok(()),
                Line::WaitLabel(loc) => writeln!(text, "{}_waits:", self.labels[loc.index()]),
                Line::Goto(loc, indent) => writeln!(text, "{}goto {};", blank(indent), self.labels[loc.index()]),
                Line::GotoWait(loc, indent) => {
                    writeln!(text, "{}goto {}_waits;", blank(indent), self.labels[loc.index()])
                }
                Line::Jump(label, indent) => writeln!(text, "{}goto {label};", blank(indent)),
            };
        }
        text
    }
}

/// A label for each location that is printed, with `at_` before a name, so that it differs from all labels of ours.
pub(super) fn label_names(body: &Body, printed: &[LocId], names: &mut Names<'_>) -> Vec<String> {
    let mut labels = vec![String::new(); body.locations.len()];
    for loc in printed {
        labels[loc.index()] = match body.locations[loc.index()].labels.first() {
            Some(own) => names.unused(&format!("at_{}", cleaned(own))),
            None => names.unused(&format!("L{}", loc.0)),
        };
    }
    labels
}

/// A string of C.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // Two question marks may begin a trigraph.
            '?' => quoted.push_str("\\?"),
            _ if character.is_control() => quoted.push(' '),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The functions of all threads and what follows them, or all that cannot be exported, in order of the source.
pub(super) fn all_or_refused(
    functions: Vec<Result<String, Vec<Diagnostic>>>,
    rest: Result<String, Vec<Diagnostic>>,
) -> Result<(String, String), Vec<Diagnostic>> {
    let (mut bodies, mut refused) = (String::new(), Vec::new());
    for function in functions {
        match function {
            Ok(text) => bodies.push_str(&text),
            Err(errors) => refused.extend(errors),
        }
    }
    match rest {
        Ok(rest) if refused.is_empty() => return Ok((bodies, rest)),
        Ok(_) => {}
        Err(errors) => refused.extend(errors),
    }
    sort_by_key(&mut refused, |error| error.primary.span);
    Err(refused)
}
