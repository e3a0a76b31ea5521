//! For which numbers of threads an answer holds.

use serde::Serialize;
use weir::parameterized::Decided;

use crate::wording::units::counted;

/// For which numbers of copies of `[*]` threads an answer holds.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopiesRecord {
    /// Whether the answer holds for every number of copies.
    pub every_number: bool,
    /// If not: the instance that the answer is about: the smallest found that shows all violations there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<CopyRecord>,
    #[serde(skip)]
    names: Vec<String>,
}

/// A number of copies.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyRecord {
    /// The thread, as declared.
    pub thread: String,
    /// How many copies of it there are.
    pub number: u32,
}

impl CopiesRecord {
    /// Of a report about a program with arbitrarily many threads.
    pub fn new<R>(decided: &Decided<R>) -> Self {
        let copies = decided.instance.copies();
        let record = |(thread, number): &(String, u32)| CopyRecord { thread: thread.clone(), number: *number };
        Self {
            every_number: decided.for_every_number,
            threads: if decided.for_every_number { Vec::new() } else { copies.iter().map(record).collect() },
            names: copies.iter().map(|(thread, _)| format!("`{thread}`")).collect(),
        }
    }

    /// In a line: for which numbers a proof holds, or which instance shows so many violations.
    pub(crate) fn text(&self, violations: usize) -> String {
        if self.every_number {
            return format!("for every number of copies of {}\n", joined(&self.names));
        }
        let with = |copy: &CopyRecord| format!("{} of `{}`", counted(copy.number.into(), "copy"), copy.thread);
        let with: Vec<String> = self.threads.iter().map(with).collect();
        let what =
            if violations > 1 { "which show all violations that were found" } else { "the smallest number found" };
        format!("with {}, {what}\n", joined(&with))
    }
}

fn joined(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
