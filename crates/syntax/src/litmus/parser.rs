//! The parser of litmus tests. Each part of a test has a file with functions that take it.

use weir_ir::{Diagnostic, Poll, Source, Span};

use super::token::{Kind, Token};
use crate::limits::MAX_NESTING;
use crate::parsing::{Cursor, Descent, Failed, Parse};
use crate::sink::Sink;

/// A position in the tokens of a test, and the errors so far.
pub(super) struct Parser<'s, 'p> {
    source: &'s Source,
    cursor: Cursor<'p, Token>,
    pub(super) sink: Sink,
}

impl<'s, 'p> Parser<'s, 'p> {
    /// A parser of these tokens; `end` follows the last one.
    pub(super) fn new(source: &'s Source, tokens: &'p [Token], end: Token, poll: &'p Poll<'p>) -> Self {
        Self { source, cursor: Cursor::new(tokens, end, poll), sink: Sink::default() }
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// Whether the next token is this keyword, in upper or lower case.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.peek() == Kind::Name && self.text(self.token()).eq_ignore_ascii_case(keyword)
    }

    pub(super) fn eat_keyword(&mut self, keyword: &str) -> bool {
        let is_found = self.is_keyword(keyword);
        if is_found {
            self.bump();
        }
        is_found
    }

    /// A number that counts something.
    pub(super) fn count(&mut self, expected: &str) -> Parse<usize> {
        match self.peek() {
            Kind::Number(value) if value >= 0 => {
                self.bump();
                Ok(value as usize)
            }
            _ => self.expected(expected),
        }
    }

    /// From the start of a token to the end of the last one taken.
    pub(super) fn since(&self, start: Token) -> Span {
        self.cursor.span_from(start.span)
    }
}

impl<'p> Descent<'p> for Parser<'_, 'p> {
    type Token = Token;

    fn cursor(&self) -> &Cursor<'p, Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<'p, Token> {
        &mut self.cursor
    }

    fn shown(&self, token: Token) -> String {
        self.text(token).to_owned()
    }

    fn unexpected_code(kind: Kind) -> &'static str {
        if kind == Kind::End { "truncated" } else { "unexpected" }
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        self.sink.error(error);
        Failed
    }

    /// Only conditions nest.
    fn too_deep(&mut self) -> Failed {
        let message = format!("the condition is nested more than {MAX_NESTING} deep");
        let error = Diagnostic::error("too-deep", message, self.token().span);
        self.give_up(error.help("use fewer parentheses"))
    }
}
