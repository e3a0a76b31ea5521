//! Source text to tokens.

use weir_ir::{Diagnostic, Poll, Source, Span};

use super::token::{Kind, Token};
use crate::limits::MAX_NAME_BYTES;
use crate::parsing::raw_text::{LexError, StrayCharacters, unreadable, unterminated_comment};
use crate::parsing::{name_too_long, split};
use crate::sink::Sink;

/// Splits a source into tokens, without comments, until the poll is over; or reports what in it is not a token.
pub(super) fn lex<'s>(source: &'s Source, poll: &Poll<'_>) -> Result<Vec<Token<'s>>, Vec<Diagnostic>> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".rmm") {
        return Err(vec![problem]);
    }
    let mut sink = Sink::default();
    let mut stray = StrayCharacters::default();
    let mut tokens = Vec::new();
    for (kind, range) in split::<Kind>(text).take_while(|_| !poll.is_over()) {
        let span = Span::new(range.start, range.end);
        match kind {
            Ok(Kind::Comment) => {}
            Ok(kind) => {
                if matches!(kind, Kind::Name | Kind::Register) && range.len() > MAX_NAME_BYTES {
                    sink.error(name_too_long(span));
                }
                tokens.push(Token { kind, text: &text[range], span, frame: 0 });
            }
            Err(LexError::OpenComment) => sink.error(unterminated_comment(span, "close it with `*/`")),
            Err(LexError::Stray) => stray.push(span),
        }
    }
    stray.report(source, ".rmm", &mut sink);
    sink.finish().map(|_| tokens)
}
