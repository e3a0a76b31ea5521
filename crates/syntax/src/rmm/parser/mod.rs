//! Tokens to syntax trees: recursive descent. After an error in a statement the parser goes on after the next `;`, so
//! that one run reports several errors. Nesting is bounded.

mod declarations;
mod expressions;
mod statements;

use weir_ir::{Diagnostic, Poll, Span, Value};

use super::ast::{File, Name};
use super::macros::Expanded;
use super::token::{Kind, Token};
use crate::limits::MAX_RMM_OPERATORS;
use crate::parsing::{self, Cursor};
pub(super) use crate::parsing::{Descent, Failed, Parse};
use crate::sink::Sink;

/// What is wrong with a file.
pub(super) struct Errors {
    pub(super) all: Vec<Diagnostic>,
    /// The one that says that something nests too deep, if that was the first.
    pub(super) too_deep: Option<Box<Diagnostic>>,
}

/// Parses a whole file.
pub(super) fn parse<'s>(text: &Expanded<'s>, poll: &Poll<'_>) -> Result<File<'s>, Errors> {
    let cursor = Cursor::new(&text.tokens, text.end, poll);
    let mut parser = Parser { text, cursor, operators: 0, sink: Sink::default(), is_too_deep: false, too_deep: None };
    let file = parser.file();
    let too_deep = parser.too_deep.map(Box::new);
    parser.sink.finish().map(|_| file).map_err(|all| Errors { all, too_deep })
}

struct Parser<'s, 'p> {
    text: &'p Expanded<'s>,
    cursor: Cursor<'p, Token<'s>>,
    /// Operators in the current statement.
    operators: usize,
    sink: Sink,
    /// Whether the next error is that something nests too deep.
    is_too_deep: bool,
    too_deep: Option<Diagnostic>,
}

impl<'s: 'p, 'p> Descent<'p> for Parser<'s, 'p> {
    type Token = Token<'s>;

    fn cursor(&self) -> &Cursor<'p, Token<'s>> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<'p, Token<'s>> {
        &mut self.cursor
    }

    fn shown(&self, token: Token<'s>) -> String {
        token.text.to_string()
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        if self.cursor.is_first_failure() {
            let frame = self.token().frame;
            let calls = self.text.calls_around(frame).take(3);
            let mut error = calls.fold(error, |error, call| error.also(call, "in this macro call"));
            // The token may be an argument, while what is missing is missing in the text of the macro.
            let before = self.cursor.behind(1);
            if let Some(before) = before.filter(|before| before.frame != 0 && before.frame != frame) {
                error = error.also(before.span, "after this");
            }
            if std::mem::take(&mut self.is_too_deep) {
                self.too_deep.get_or_insert_with(|| error.clone());
            }
            self.sink.error(error);
        }
        Failed
    }

    fn too_deep(&mut self) -> Failed {
        self.is_too_deep = true;
        self.give_up(parsing::too_deep(self.token().span, "split it"))
    }
}

impl<'s> Parser<'s, '_> {
    /// From the token at `start` to the last token taken, as far as they stand in the same text: what a macro put
    /// in between stands elsewhere.
    fn span_from(&self, start: usize) -> Span {
        let taken = self.cursor.taken_since(start);
        let Some(first) = taken.first() else { return self.token().span };
        let same = taken.iter().filter(|token| token.frame == first.frame && token.span.start >= first.span.start);
        same.fold(first.span, |span, token| span.to(token.span))
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
            return self.expected(what);
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
        if self.operators <= MAX_RMM_OPERATORS {
            return Ok(());
        }
        let message = format!("more than {MAX_RMM_OPERATORS} operators in one statement");
        self.is_too_deep = true;
        let error = Diagnostic::error("too-deep", message, self.token().span);
        Err(self.error(error.help("split it, and keep intermediate results in registers")))
    }
}
