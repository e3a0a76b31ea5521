//! One value for everything Weir has to say about a source text. Rendering is the caller's.

use crate::span::Span;

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Probably not what was meant; the answer still stands.
    Warning,
    /// The program cannot be used.
    Error,
}

/// A stretch of source with what there is to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// A message about the source: what is wrong, where, why, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How serious.
    pub severity: Severity,
    /// Stable identifier in kebab case, such as `unknown-name`.
    pub code: &'static str,
    /// One terse sentence, without a full stop.
    pub message: String,
    /// The main place.
    pub primary: Label,
    /// Further places that explain it.
    pub secondary: Vec<Label>,
    /// A way out.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of any severity.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>, span: Span) -> Self {
        let primary = Label { span, text: String::new() };
        Self { severity, code, message: message.into(), primary, secondary: Vec::new(), help: None }
    }

    /// An error.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, code, message, span)
    }

    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, code, message, span)
    }

    /// Says something beside the main place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Points at one more place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Gives a way out.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Whether this makes the program unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Nobody misspells a longer name by hand, and comparing takes time in the product of the lengths.
const LONGEST_COMPARED: usize = 255;

/// The candidate nearest to `name`, if one is near enough to be what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let limit = (name.chars().count() / 3).max(1);
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST_COMPARED);
    let scored = candidates.map(|candidate| (edit_distance(name, candidate), candidate));
    scored.filter(|&(distance, _)| distance > 0 && distance <= limit).min().map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, in characters; swapped neighbours count as one.
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(left[i - 1] != right[j - 1]);
                let mut best = (rows[i - 1][j - 1] + same).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_but_not_strangers() {
        assert_eq!(nearest("critcal", ["critical", "start"]), Some("critical"));
        assert_eq!(nearest("trun", ["turn", "flag"]), Some("turn"));
        assert_eq!(nearest("x", ["turn", "flag"]), None);
        assert_eq!(nearest("flag", ["flag"]), None);
    }

    /// Comparing these character by character would take a thousand million steps and as many words of memory.
    #[test]
    fn nearest_does_not_compare_what_nobody_wrote_by_hand() {
        let endless = "a".repeat(10_000_000);
        assert_eq!(nearest(&endless, ["thread", "end"]), None);
        assert_eq!(nearest("thread", [endless.as_str()]), None);
        assert_eq!(nearest(&endless, [format!("{endless}b").as_str()]), None);
    }
}
