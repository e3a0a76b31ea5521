//! What parsers by recursive descent share: looking at the next word, taking it, saying what was expected, and nesting.

use weir_ir::{Diagnostic, Span};

use crate::limits::MAX_NESTING;

/// The error was reported already; the caller skips to where parsing can go on.
pub(crate) struct Failed;

pub(crate) type Parse<T> = Result<T, Failed>;

/// A word of a source.
pub(crate) trait Word: Copy {
    /// What kinds there are.
    type Kind: Copy + PartialEq;

    fn kind(self) -> Self::Kind;

    fn span(self) -> Span;

    /// How messages speak of a kind.
    fn describe(kind: Self::Kind) -> String;
}

/// A parser that looks at one word after the other.
pub(crate) trait Descent {
    type Word: Word;

    /// The next word.
    fn token(&self) -> Self::Word;

    /// Takes the next word.
    fn bump(&mut self) -> Self::Word;

    /// How messages speak of the next word.
    fn found(&self) -> String;

    /// Reports an error, unless there was one at this word.
    fn error(&mut self, error: Diagnostic) -> Failed;

    /// How deep what is being parsed is nested.
    fn nesting(&mut self) -> &mut usize;

    /// Reports nesting too deep and ends parsing: what follows could only repeat it.
    fn too_deep(&mut self) -> Failed;

    /// The kind of the next word.
    fn peek(&self) -> <Self::Word as Word>::Kind {
        self.token().kind()
    }

    /// Takes the next word if it is of this kind.
    fn eat(&mut self, kind: <Self::Word as Word>::Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// `expected X, found Y` at the next word.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.found());
        Diagnostic::error("unexpected-word", message, self.token().span())
    }

    /// Takes the next word, which must be of this kind.
    fn expect(&mut self, kind: <Self::Word as Word>::Kind) -> Parse<Self::Word> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        let error = self.unexpected(&Self::Word::describe(kind));
        Err(self.error(error))
    }

    /// Takes the closing bracket that belongs to `open`.
    fn close(&mut self, kind: <Self::Word as Word>::Kind, open: Self::Word) -> Parse<Self::Word> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        let error = self.unexpected(&Self::Word::describe(kind)).also(open.span(), "to close this");
        Err(self.error(error))
    }

    /// Runs `parse` one level deeper, or ends parsing if that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if *self.nesting() >= MAX_NESTING {
            return Err(self.too_deep());
        }
        *self.nesting() += 1;
        let parsed = parse(self);
        *self.nesting() -= 1;
        parsed
    }
}
