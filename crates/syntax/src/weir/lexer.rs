//! Source text to words, with every comment set aside (the formatter puts them back).

use logos::Logos;
use weir_ir::{Diagnostic, Source, Span};

use super::sink::Sink;
use super::token::{Kind, Token};
use crate::raw_text::{LexError, StrayCharacters, unreadable};

/// The words and comments of a source, each in order.
#[derive(Default)]
pub(crate) struct Lexed {
    /// Words, without comments.
    pub(crate) tokens: Vec<Token>,
    /// Comments; the kind tells line from block comments.
    pub(crate) comments: Vec<Token>,
    /// Words (by their place in `tokens`) before which something was reported and left out.
    pub(crate) gaps: Vec<usize>,
}

/// Splits a source into words. What is no word is reported and left out; `None` if the text is no program at all.
pub(crate) fn lex(source: &Source, sink: &mut Sink) -> Option<Lexed> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".weir") {
        sink.error(problem);
        return None;
    }
    let mut lexed = Lexed::default();
    let mut stray = StrayCharacters::default();
    // Where a word with letters in it that no name can have ends: what touches it belongs to it.
    let mut odd_name = None;
    for (word, range) in Kind::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        match word {
            Ok(kind @ (Kind::LineComment | Kind::BlockComment)) => lexed.comments.push(Token { kind, span }),
            Ok(kind) if odd_name == Some(span.start) && is_word(kind) => {
                lexed.join(span);
                odd_name = Some(span.end);
            }
            Ok(kind) => lexed.tokens.push(Token { kind, span }),
            Err(LexError::OpenComment) => {
                sink.error(open_comment(span));
                lexed.gap();
            }
            Err(LexError::Stray) => {
                if source.slice(span).chars().all(char::is_alphanumeric) {
                    lexed.join(span);
                    odd_name = Some(span.end);
                } else {
                    lexed.gap();
                }
                stray.push(span);
            }
        }
    }
    stray.report(source, ".weir", sink);
    (!stray.are_many()).then_some(lexed)
}

impl Lexed {
    /// Notes that something before the next word was left out.
    fn gap(&mut self) {
        if self.gaps.last() != Some(&self.tokens.len()) {
            self.gaps.push(self.tokens.len());
        }
    }

    /// Adds to the word that ends where `span` begins, which makes it a name; else begins one.
    fn join(&mut self, span: Span) {
        match self.tokens.last_mut() {
            Some(last) if last.span.end == span.start && is_word(last.kind) => {
                *last = Token { kind: Kind::Name, span: last.span.to(span) };
            }
            _ => self.tokens.push(Token { kind: Kind::Name, span }),
        }
    }
}

/// Whether it is made of letters and digits.
fn is_word(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Number) || kind.is_keyword()
}

fn open_comment(span: Span) -> Diagnostic {
    let start = Span::new(span.start as usize, span.start as usize + 2);
    Diagnostic::error("unterminated-comment", "this comment is never closed", start)
        .label("opened here")
        .help("close it with `*/`; block comments nest, so each `/*` needs its own `*/`")
}
