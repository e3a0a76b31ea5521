//! Source text to words, with every comment set aside (the formatter puts them back).

use logos::Logos;
use weir_ir::{Diagnostic, Source, Span};

use super::sink::Sink;
use super::token::{Kind, LexError, Token};
use crate::raw_text::{StrayCharacters, unreadable};

/// The words and comments of a source, each in order.
#[derive(Default)]
pub(crate) struct Lexed {
    /// Words, without comments.
    pub(crate) tokens: Vec<Token>,
    /// Comments; the kind tells line from block comments.
    pub(crate) comments: Vec<Token>,
}

/// Splits a source into words, or says what in it is no word.
pub(crate) fn lex(source: &Source) -> Result<Lexed, Vec<Diagnostic>> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".weir") {
        return Err(vec![problem]);
    }
    let mut sink = Sink::default();
    let mut lexed = Lexed::default();
    let mut stray = StrayCharacters::default();
    for (word, range) in Kind::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        match word {
            Ok(kind @ (Kind::LineComment | Kind::BlockComment)) => lexed.comments.push(Token { kind, span }),
            Ok(kind) => lexed.tokens.push(Token { kind, span }),
            Err(LexError::OpenComment) => sink.error(open_comment(span)),
            Err(LexError::Stray) => stray.push(span),
        }
    }
    stray.report(source, ".weir", &mut sink);
    sink.finish().map(|_| lexed)
}

fn open_comment(span: Span) -> Diagnostic {
    let start = Span::new(span.start as usize, span.start as usize + 2);
    Diagnostic::error("unterminated-comment", "this comment is never closed", start)
        .label("opened here")
        .help("close it with `*/`; block comments nest, so each `/*` needs its own")
}
