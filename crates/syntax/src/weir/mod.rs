//! The `.weir` language: from text to a program, and formatting. `docs/language.md` is its reference.
//!
//! [`parse`] is exact: the program it returns does what the reference says, step by step, or there is an
//! error. It never panics, and takes time and memory in proportion to the source and the limits.

mod ast;
pub mod fence_places;
mod format;
mod lexer;
mod lower;
mod parser;
pub mod print;
mod target;
mod token;

use std::collections::HashSet;

use weir_ir::{Diagnostic, Poll, Source, Uninterrupted, Value};

pub use crate::limits;
pub use crate::parsed::Parsed;
pub use format::{format, format_until};
pub use target::condition;

use crate::sink::{self, Sink};
use token::Kind;

/// What the command line can say about how to read a program.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// Values for constants (`-D NAME=VALUE`), in place of those in the source. The last one counts.
    pub defines: Vec<(String, Value)>,
}

/// Reads a program.
///
/// # Errors
/// All that is wrong with the source, in its order; at most [`limits::MAX_ERRORS`] and a count of the rest.
pub fn parse(source: &Source, options: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    read(source, options, false, &Poll::new(&Uninterrupted))
}

/// Reads a program. Once the poll is over, the result is of no use.
pub(crate) fn read(
    source: &Source,
    options: &Options,
    marks_fence_places: bool,
    poll: &Poll<'_>,
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let Some(lexed) = lexer::lex(source, &mut sink, poll) else {
        return Err(sink.finish().err().unwrap_or_default());
    };
    let (file, is_whole) = parser::parse(source, &lexed, &mut sink, poll);
    if !is_whole {
        // Where parts of the text are missing, errors about the meaning of the rest are noise.
        return Err(sink.finish().err().unwrap_or_default());
    }
    let names = lexed.tokens.iter().filter(|token| token.kind == Kind::Name).map(|token| source.slice(token.span));
    let reserved: HashSet<&str> = names.filter(|name| name.starts_with("_t")).collect();
    let program = lower::lower(&file, source, options, marks_fence_places, &reserved, &mut sink, poll);
    sink.finish().map(|warnings| Parsed { program, warnings })
}
