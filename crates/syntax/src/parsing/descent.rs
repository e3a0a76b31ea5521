//! Recursive descent: looking at the next token, taking it, reporting what was expected instead, skipping to where
//! parsing can go on, and bounding the depth of nesting.

use weir_ir::{Diagnostic, Span};

use super::cursor::Cursor;
use super::token::{Token, TokenKind, found};
use crate::limits::MAX_NESTING;

/// The error was reported already; the caller skips to where parsing can go on.
pub(crate) struct Failed;

pub(crate) type Parse<T> = Result<T, Failed>;

type Kind<'p, P> = <<P as Descent<'p>>::Token as Token>::Kind;

/// A parser that looks at one token after the other.
pub(crate) trait Descent<'p> {
    type Token: Token + 'p;

    fn cursor(&self) -> &Cursor<'p, Self::Token>;

    fn cursor_mut(&mut self) -> &mut Cursor<'p, Self::Token>;

    /// The text of a token, as messages show it.
    fn shown(&self, token: Self::Token) -> String;

    /// Reports an error, unless the language has a reason to leave it out.
    fn error(&mut self, error: Diagnostic) -> Failed;

    /// Reports nesting that is too deep.
    fn too_deep(&mut self) -> Failed;

    /// The code of the error about an unexpected token of this kind.
    fn unexpected_code(_kind: Kind<'p, Self>) -> &'static str {
        UNEXPECTED
    }

    /// The next token.
    fn token(&self) -> Self::Token {
        self.cursor().ahead(0)
    }

    /// The kind of the next token.
    fn peek(&self) -> Kind<'p, Self> {
        self.token().kind()
    }

    /// The kind of the token `distance` tokens after the next one.
    fn peek_ahead(&self, distance: usize) -> Kind<'p, Self> {
        self.cursor().ahead(distance).kind()
    }

    /// Takes the next token.
    fn bump(&mut self) -> Self::Token {
        self.cursor_mut().bump()
    }

    /// Takes the next token if it is of this kind.
    fn eat(&mut self, kind: Kind<'p, Self>) -> bool {
        let is_found = self.peek() == kind;
        if is_found {
            self.bump();
        }
        is_found
    }

    /// How messages refer to the next token.
    fn found(&self) -> String {
        found(self.peek(), &self.shown(self.token()))
    }

    /// `expected X, found Y` at the next token.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        self.unexpected_token(self.token(), expected)
    }

    /// `expected X, found Y` at a token.
    fn unexpected_token(&self, token: Self::Token, expected: &str) -> Diagnostic {
        let mut error = unexpected(expected, &found(token.kind(), &self.shown(token)), token.span());
        error.code = Self::unexpected_code(token.kind());
        error
    }

    /// Reports `expected X, found Y` at the next token.
    fn expected<T>(&mut self, expected: &str) -> Parse<T> {
        let error = self.unexpected(expected);
        Err(self.error(error))
    }

    /// Takes the next token, which must be of this kind.
    fn expect(&mut self, kind: Kind<'p, Self>) -> Parse<Self::Token> {
        if self.peek() == kind { Ok(self.bump()) } else { self.expected(&kind.describe()) }
    }

    /// Takes the next token, which must be of this kind. The error says that `expected` was expected.
    fn expect_as(&mut self, kind: Kind<'p, Self>, expected: &str) -> Parse<Self::Token> {
        if self.peek() == kind { Ok(self.bump()) } else { self.expected(expected) }
    }

    /// Takes the closing bracket that belongs to `open`.
    fn close(&mut self, kind: Kind<'p, Self>, open: Self::Token) -> Parse<Self::Token> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        let error = self.unexpected(&kind.describe()).also(open.span(), "to close this");
        Err(self.error(error))
    }

    /// Skips to the next token at which `is_stop` holds, or to the end.
    fn skip_to(&mut self, is_stop: impl Fn(&Self) -> bool) {
        while self.peek() != TokenKind::END && !is_stop(self) {
            self.bump();
        }
    }

    /// Reports an error and ends parsing: what follows could only repeat it.
    fn give_up(&mut self, error: Diagnostic) -> Failed {
        self.error(error);
        self.cursor_mut().skip_rest();
        Failed
    }

    /// Runs `parse` one level deeper, unless that is too deep. This keeps any input from exhausting the stack.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.cursor().nesting >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.cursor_mut().nesting += 1;
        let parsed = parse(self);
        self.cursor_mut().nesting -= 1;
        parsed
    }
}

/// The code of errors about unexpected tokens.
const UNEXPECTED: &str = "unexpected-token";

/// `expected X, found Y`.
pub(crate) fn unexpected(expected: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error(UNEXPECTED, format!("expected {expected}, found {found}"), span)
}

/// The error about nesting that is too deep.
pub(crate) fn too_deep(span: Span, help: &str) -> Diagnostic {
    Diagnostic::error("too-deep", format!("nested more than {MAX_NESTING} deep"), span).help(help)
}
