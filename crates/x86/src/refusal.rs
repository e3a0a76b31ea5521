//! Why compiled code cannot be read.

use std::fmt;

/// Why compiled code cannot be read: what is wrong, where in the code, and a way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// A stable identifier in kebab case.
    pub code: &'static str,
    /// One sentence, without a full stop.
    pub message: String,
    /// A way out.
    pub help: Option<String>,
    /// The address of the instruction that it is about.
    pub at: Option<u64>,
    /// Where the calls return to that led there, the last call first.
    pub(crate) callers: Vec<u64>,
}

impl Refusal {
    /// A refusal without a place.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, at: None, callers: Vec::new() }
    }

    /// The same with a way out.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same about another file than that with the code.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.message = format!("{name}: {}", self.message);
        self
    }

    /// The same about an instruction, unless it already names one.
    #[must_use]
    pub(crate) fn at(mut self, address: u64) -> Self {
        self.at.get_or_insert(address);
        self
    }

    /// The same with the calls that led to the instruction: where they return to, the last call first.
    #[must_use]
    pub(crate) fn called_from(mut self, callers: &[u64]) -> Self {
        self.callers = callers.to_vec();
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
