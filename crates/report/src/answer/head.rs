//! What every answer starts with.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::copies::CopiesRecord;
use crate::version::VERSION;

/// The fields that every answer starts with.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head<V> {
    /// Version of Weir.
    pub weir: &'static str,
    /// The command that was run.
    pub command: CommandName,
    /// The file as named on the command line; `-` is standard input.
    pub file: String,
    /// The verdict.
    pub verdict: V,
    /// Wall-clock time in seconds, including reading and checking the input.
    pub seconds: f64,
    /// For which numbers of copies the answer holds, if the program has `[*]` threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<CopiesRecord>,
}

impl<V> Head<V> {
    /// The head of an answer about `file` that took so long.
    pub fn new(command: CommandName, file: &Path, verdict: V, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self { weir: VERSION, command, file: file.display().to_string(), verdict, seconds, copies: None }
    }
}

/// Commands that give answers.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommandName {
    Check,
    Reach,
    Robust,
    Fences,
    Prob,
    Litmus,
    Cover,
    Translate,
    Replay,
    Fmt,
}

/// Verdicts of `weir translate`, `weir replay` and `weir fmt`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum YesNo {
    Ok,
    No,
}

impl YesNo {
    /// `ok` if so.
    pub fn new(is_ok: bool) -> Self {
        if is_ok { Self::Ok } else { Self::No }
    }
}

/// The verdict if a limit was reached before there was anything to say.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StoppedVerdict {
    Unknown,
}

/// The verdict if there is no answer.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ErrorVerdict {
    Error,
}
