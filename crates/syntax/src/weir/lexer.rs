//! Source text to tokens. Comments are kept apart, for the formatter to put them back.

use weir_ir::{Poll, Source, Span};

use super::sink::Sink;
use super::token::{Kind, Token};
use crate::parsing::raw_text::{LexError, StrayCharacters, unreadable, unterminated_comment};
use crate::parsing::split;

const OPEN_COMMENT_HELP: &str = "close it with `*/`; block comments nest, so each `/*` needs its own `*/`";

/// The tokens and comments of a source, each in order.
#[derive(Default)]
pub(crate) struct Lexed {
    /// Tokens, without comments.
    pub(crate) tokens: Vec<Token>,
    /// Comments; the kind tells line from block comments.
    pub(crate) comments: Vec<Token>,
    /// Tokens (by their index in `tokens`) before which something was reported and left out.
    pub(crate) gaps: Vec<usize>,
}

/// Splits a source into tokens. What is not a token is reported and left out; `None` if the text cannot be a program at
/// all, or the poll is over.
pub(crate) fn lex(source: &Source, sink: &mut Sink, poll: &Poll<'_>) -> Option<Lexed> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".weir") {
        sink.error(problem);
        return None;
    }
    let mut lexed = Lexed::default();
    let mut stray = StrayCharacters::default();
    // The end of a name that contains letters that names cannot have: what touches it belongs to it.
    let mut odd_name = None;
    for (kind, range) in split::<Kind>(text) {
        if poll.is_over() {
            return None;
        }
        let span = Span::new(range.start, range.end);
        match kind {
            Ok(kind @ (Kind::LineComment | Kind::BlockComment)) => lexed.comments.push(Token { kind, span }),
            Ok(kind) if odd_name == Some(span.start) && is_alphanumeric(kind) => {
                lexed.join(span);
                odd_name = Some(span.end);
            }
            Ok(kind) => lexed.tokens.push(Token { kind, span }),
            Err(LexError::OpenComment) => {
                sink.error(unterminated_comment(span, OPEN_COMMENT_HELP));
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
    /// Notes that something before the next token was left out.
    fn gap(&mut self) {
        if self.gaps.last() != Some(&self.tokens.len()) {
            self.gaps.push(self.tokens.len());
        }
    }

    /// Extends the token that ends where `span` starts, which makes it a name; or else starts a name.
    fn join(&mut self, span: Span) {
        match self.tokens.last_mut() {
            Some(last) if last.span.end == span.start && is_alphanumeric(last.kind) => {
                *last = Token { kind: Kind::Name, span: last.span.to(span) };
            }
            _ => self.tokens.push(Token { kind: Kind::Name, span }),
        }
    }
}

/// Whether it consists of letters and digits.
fn is_alphanumeric(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Number) || kind.is_keyword()
}
