//! Words to syntax trees: recursive descent. After an error in a statement the parser goes on behind the next `;`, so
//! that one run reports several errors. Nesting is bounded.

mod declarations;
mod expressions;
mod statements;

use weir_ir::{Diagnostic, Span, Value};

use super::ast::{File, Name};
use super::macros::Expanded;
use super::token::{Kind, Token};
pub(super) use crate::descent::{Descent, Failed, Parse};
use crate::limits::MAX_NESTING;
use crate::sink::Sink;

/// Operators of one statement: a tree is no deeper than that.
const MAX_OPERATORS: usize = 400;

/// Parses a whole file.
pub(super) fn parse<'s>(text: &Expanded<'s>) -> Result<File<'s>, Vec<Diagnostic>> {
    let mut parser = Parser { text, at: 0, nesting: 0, operators: 0, failed_at: None, sink: Sink::default() };
    let file = parser.file();
    parser.sink.finish().map(|_| file)
}

struct Parser<'s, 'p> {
    text: &'p Expanded<'s>,
    at: usize,
    nesting: usize,
    /// Operators in the statement at hand.
    operators: usize,
    /// The word at which the last error was reported: one error a word is enough.
    failed_at: Option<usize>,
    sink: Sink,
}

impl<'s> Descent for Parser<'s, '_> {
    type Word = Token<'s>;

    fn token(&self) -> Token<'s> {
        self.ahead(0)
    }

    fn bump(&mut self) -> Token<'s> {
        let token = self.token();
        self.at = (self.at + 1).min(self.text.words.len());
        token
    }

    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::Name | Kind::Number | Kind::Register => format!("`{}`", token.text),
            kind => kind.describe(),
        }
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        if self.failed_at != Some(self.at) {
            self.failed_at = Some(self.at);
            let frame = self.token().frame;
            let calls = self.text.calls_around(frame).take(3);
            let mut error = calls.fold(error, |error, call| error.also(call, "in this macro call"));
            // The word may be an argument, while what is missing is missing in the text of the macro.
            let before = self.at.checked_sub(1).and_then(|at| self.text.words.get(at));
            if let Some(before) = before.filter(|before| before.frame != 0 && before.frame != frame) {
                error = error.also(before.span, "after this");
            }
            self.sink.error(error);
        }
        Failed
    }

    fn nesting(&mut self) -> &mut usize {
        &mut self.nesting
    }

    fn too_deep(&mut self) -> Failed {
        let message = format!("nested more than {MAX_NESTING} deep");
        let error = Diagnostic::error("too-deep", message, self.token().span);
        self.error(error.help("split it"));
        self.at = self.text.words.len();
        self.failed_at = Some(self.at);
        Failed
    }
}

impl<'s> Parser<'s, '_> {
    fn ahead(&self, distance: usize) -> Token<'s> {
        self.text.words.get(self.at + distance).copied().unwrap_or(self.text.end)
    }

    /// From the word at `start` to the last word taken, as far as they stand in the same text: what a macro put
    /// in between stands elsewhere.
    fn span_from(&self, start: usize) -> Span {
        let Some(first) = self.text.words.get(start) else { return self.text.end.span };
        let words = &self.text.words[start..self.at.max(start + 1)];
        let same = words.iter().filter(|word| word.frame == first.frame && word.span.start >= first.span.start);
        same.fold(first.span, |span, word| span.to(word.span))
    }

    fn name(&mut self, kind: Kind, what: &str) -> Parse<Name<'s>> {
        if self.peek() == kind {
            let token = self.bump();
            return Ok(Name { text: token.text, span: token.span });
        }
        let mut error = self.unexpected(what);
        if kind == Kind::Register && self.peek() == Kind::Name {
            error = error.help(format!("register names start with `$`: `${}`", self.token().text));
        }
        Err(self.error(error))
    }

    /// A number without a sign.
    fn natural(&mut self, what: &str) -> Parse<Value> {
        let token = self.token();
        if token.kind != Kind::Number {
            let error = self.unexpected(what);
            return Err(self.error(error));
        }
        let value = token.text.parse::<Value>();
        let error = if token.text.bytes().all(|byte| byte.is_ascii_digit()) {
            Diagnostic::error("number-too-large", format!("`{}` does not fit in 64 bits", token.text), token.span)
        } else {
            Diagnostic::error("bad-number", format!("`{}` is not a number", token.text), token.span)
        };
        match value {
            Ok(value) => {
                self.bump();
                Ok(value)
            }
            Err(_) => Err(self.error(error)),
        }
    }

    fn count_operator(&mut self) -> Parse<()> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(());
        }
        let message = format!("more than {MAX_OPERATORS} operators in one statement");
        let error = Diagnostic::error("too-deep", message, self.token().span);
        Err(self.error(error.help("split it, and keep intermediate results in registers")))
    }
}
