//! The answers of commands that analyse nothing, and errors.

use serde::Serialize;

use super::diagnostic::DiagnosticRecord;
use super::head::{ErrorVerdict, Head, StoppedVerdict, YesNo};

/// The answer of `weir translate`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranslateAnswer {
    #[serde(flatten)]
    pub head: Head<YesNo>,
    /// The output language.
    pub to: &'static str,
    /// The program.
    pub text: String,
    /// Warnings and notes about the program.
    pub warnings: Vec<DiagnosticRecord>,
}

/// The answer of `weir fmt`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormatAnswer {
    /// The verdict is `no` if the file is not formatted and `--check` was given.
    #[serde(flatten)]
    pub head: Head<YesNo>,
    /// Whether the file was rewritten.
    pub changed: bool,
    /// The formatted text of standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A limit was reached before there was anything to say.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedAnswer {
    #[serde(flatten)]
    pub head: Head<StoppedVerdict>,
    /// The limit that was reached.
    pub reason: String,
    /// How to get further.
    #[serde(skip)]
    pub help: &'static str,
}

/// There is no answer: the input cannot be used.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorAnswer {
    #[serde(flatten)]
    pub head: Head<ErrorVerdict>,
    /// The reason.
    pub reason: String,
    /// Diagnostics with places in the program, if there are any.
    pub diagnostics: Vec<DiagnosticRecord>,
}
