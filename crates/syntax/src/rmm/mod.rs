//! The language of Memorax (`.rmm`), a checker of reachability under relaxed memory models.
//!
//! [`parse`] returns a program whose threads reach the same combinations of labels as the processes do under the
//! semantics of Memorax' manual; `SOUNDNESS.md` says how each construct is modelled. What means nothing
//! under TSO is accepted with a warning.

mod ast;
mod lexer;
mod lower;
mod macros;
mod parser;
mod token;

use weir_ir::{Diagnostic, Poll, Source, Uninterrupted};

use crate::parsed::Parsed;
use crate::sink::Sink;

/// Reads a program.
///
/// # Errors
/// All that is wrong with the source, in its order; each stage needs the one before to be without errors.
pub fn parse(source: &Source) -> Result<Parsed, Vec<Diagnostic>> {
    read(source, &Poll::new(&Uninterrupted))
}

/// Reads a program. Once the poll is over, the result is of no use.
pub(crate) fn read(source: &Source, poll: &Poll<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    let tokens = lexer::lex(source, poll)?;
    let text = macros::expand(source, &tokens, poll)?;
    let file = parser::parse(&text, poll);
    if let Some(too_large) = text.too_large {
        // Only the beginning was read. That it is too large is what is wrong with it, unless it nests too deep, which
        // explains its size better. Other errors may come from cutting it short.
        let too_deep = file.err().and_then(|errors| errors.too_deep);
        return Err(vec![*too_deep.unwrap_or(too_large)]);
    }
    let file = file.map_err(|errors| errors.all)?;
    let mut sink = Sink::default();
    let program = lower::lower(&file, source, &mut sink, poll);
    sink.finish().map(|warnings| Parsed { program, warnings })
}
