//! What reading a text results in: a program with warnings, or the reason why there is none.

use std::fmt;

use weir_ir::{Diagnostic, Poll, Program};

/// A program, and what there is to say about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// Warnings, in order of the source.
    pub warnings: Vec<Diagnostic>,
}

/// Why a text was not read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseError {
    /// It is not a program: all that is wrong with it, in its order.
    Invalid(Vec<Diagnostic>),
    /// Reading was interrupted.
    Interrupted,
}

impl ParseError {
    /// What was read, unless the poll is over: then it may be incomplete.
    pub(crate) fn unless_over<T>(poll: &Poll<'_>, read: Result<T, Vec<Diagnostic>>) -> Result<T, Self> {
        if poll.was_over() { Err(Self::Interrupted) } else { read.map_err(Self::Invalid) }
    }
}

impl fmt::Display for ParseError {
    /// The first error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(errors) => f.write_str(errors.first().map_or("invalid", |error| error.message.as_str())),
            Self::Interrupted => f.write_str("reading was interrupted"),
        }
    }
}

impl std::error::Error for ParseError {}
