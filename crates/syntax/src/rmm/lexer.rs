//! Source text to words.

use logos::Logos;
use weir_ir::{Diagnostic, Source, Span};

use super::token::{Kind, Token};
use crate::limits::MAX_NAME_BYTES;
use crate::raw_text::{LexError, StrayCharacters, unreadable};
use crate::sink::Sink;

/// Splits a source into words, without comments; or says what in it is no word.
pub(super) fn lex(source: &Source) -> Result<Vec<Token<'_>>, Vec<Diagnostic>> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".rmm") {
        return Err(vec![problem]);
    }
    let mut sink = Sink::default();
    let mut stray = StrayCharacters::default();
    let mut words = Vec::new();
    for (word, range) in Kind::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        match word {
            Ok(Kind::Comment) => {}
            Ok(kind) => {
                if matches!(kind, Kind::Name | Kind::Register) && range.len() > MAX_NAME_BYTES {
                    let error = Diagnostic::error("name-too-long", "this name is too long", span);
                    sink.error(error.help(format!("use at most {MAX_NAME_BYTES} characters")));
                }
                words.push(Token { kind, text: &text[range], span, frame: 0 });
            }
            Err(LexError::OpenComment) => {
                let start = Span::new(range.start, range.start + 2);
                let error = Diagnostic::error("unterminated-comment", "this comment is never closed", start);
                sink.error(error.label("opened here").help("close it with `*/`"));
            }
            Err(LexError::Stray) => stray.push(span),
        }
    }
    stray.report(source, ".rmm", &mut sink);
    sink.finish().map(|_| words)
}
