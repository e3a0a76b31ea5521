//! Why a file gave no answer at all.

use weir::{Failure, Limit, Session};
use weir_ir::{Diagnostic, Program, Source};
use weir_syntax::ParseError;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Error {
    /// The input cannot be used, for a reason that has no place in a source text.
    Input {
        /// What is wrong.
        reason: String,
        /// A way out.
        help: Option<String>,
    },
    /// The source text has errors.
    Source(Source, Vec<Diagnostic>),
    /// A limit was reached before there was anything to say.
    Stopped(Limit),
    /// The system refused memory or a thread before there was anything to say.
    Starved(String),
    /// A bug of ours.
    Bug(String),
}

impl Error {
    /// Bad input without a place.
    pub(crate) fn input(reason: impl Into<String>) -> Self {
        Self::Input { reason: reason.into(), help: None }
    }

    /// Bad input without a place, and what to do about it.
    pub(crate) fn input_with_help(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input { reason: reason.into(), help: Some(help.into()) }
    }

    /// An allocation failed.
    pub(crate) fn out_of_memory() -> Self {
        Self::Starved("out of memory: the system refused an allocation".to_owned())
    }

    /// No thread could be started.
    pub(crate) fn no_thread(error: &std::io::Error) -> Self {
        Self::Starved(format!("the system refused to start a thread: {error}"))
    }

    /// A text that could not be read.
    pub(crate) fn unread(source: Source, error: ParseError, session: &Session) -> Self {
        match error {
            ParseError::Invalid(errors) => Self::Source(source, errors),
            _ => Self::Stopped(session.ended_by()),
        }
    }

    /// A question that the program does not pose.
    pub(crate) fn unanswerable(why: &Diagnostic) -> Self {
        Self::Input { reason: why.message.clone(), help: why.help.clone() }
    }

    /// Why an analysis or a pass gave no answer.
    pub(crate) fn of(program: &Program, failure: Failure) -> Self {
        match failure {
            Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic) => {
                Self::Source(program.source.clone(), vec![*diagnostic])
            }
            failure => Self::of_library(failure),
        }
    }

    /// What an analysis found, or why it does not support the program.
    pub(crate) fn unless_refused<R>(result: Result<R, Failure>) -> Result<Result<R, Box<Diagnostic>>, Self> {
        match result {
            Ok(report) => Ok(Ok(report)),
            Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => Ok(Err(diagnostic)),
            Err(failure) => Err(Self::of_library(failure)),
        }
    }

    /// A failure that has no place in the source.
    pub(crate) fn of_library(failure: Failure) -> Self {
        match failure {
            Failure::Stopped(limit) => Self::Stopped(limit),
            Failure::Bug(what) => Self::Bug(what),
            failure => Self::Bug(failure.to_string()),
        }
    }

    /// In one sentence.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Input { reason, .. } => reason.clone(),
            Self::Source(_, diagnostics) => match diagnostics.iter().filter(|found| found.is_error()).count() {
                0 | 1 => diagnostics.first().map_or_else(String::new, |first| first.message.clone()),
                errors => format!("{errors} errors in the source"),
            },
            Self::Stopped(limit) => limit.to_string(),
            Self::Starved(reason) => reason.clone(),
            Self::Bug(what) => format!("this is a bug in Weir: {what}"),
        }
    }
}
