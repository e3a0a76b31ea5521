//! A walk over the words of a test.

use weir_ir::{Diagnostic, Source, Span};

use super::Refused;
use super::token::{Kind, Token};

/// The words, and how far they were read.
pub(super) struct Cursor<'s> {
    source: &'s Source,
    tokens: Vec<Token>,
    at: usize,
}

impl<'s> Cursor<'s> {
    /// A walk over words that end with [`Kind::End`].
    pub(super) fn new(source: &'s Source, tokens: Vec<Token>) -> Self {
        Self { source, tokens, at: 0 }
    }

    /// The next word.
    pub(super) fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The word after `count` others. Beyond the end there is nothing but the end.
    pub(super) fn ahead(&self, count: usize) -> Token {
        self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek().kind == kind;
        self.at += usize::from(found);
        found
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// Whether the next word is this name, whatever the case of its letters.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Name && self.text(token).eq_ignore_ascii_case(word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// The next word, which must be of this kind.
    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<Token, Refused> {
        if self.peek().kind == kind { Ok(self.next()) } else { Err(self.expected(what).into()) }
    }

    /// A number that counts something.
    pub(super) fn count(&mut self, what: &str) -> Result<usize, Refused> {
        match self.peek().kind {
            Kind::Number(value) if value >= 0 => {
                self.next();
                Ok(value as usize)
            }
            _ => Err(self.expected(what).into()),
        }
    }

    /// The next word is not what it should be.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the test".to_owned(),
            _ => format!("`{}`", self.text(token)),
        };
        let code = if token.kind == Kind::End { "truncated" } else { "unexpected" };
        Diagnostic::error(code, format!("expected {what}, found {found}"), token.span)
    }

    /// From the start of a word to the end of the last one read.
    pub(super) fn since(&self, start: Token) -> Span {
        let last = self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)];
        start.span.to(last.span)
    }
}
