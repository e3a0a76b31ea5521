//! Tokens to syntax trees: recursive descent, one function per construct.
//!
//! After an error the parser skips to the next statement or item and goes on, so that one run reports several errors.
//! Nesting that is too deep, or a program that is too large, ends parsing at once.

mod expressions;
mod items;
mod keywords;
mod statements;

use weir_ir::{Diagnostic, Poll, Source, Span};

use super::ast::{Expr, File, Name};
use super::lexer::Lexed;
use super::limits::{MAX_NAME_BYTES, MAX_WORK};
use super::sink::Sink;
use super::token::{Kind, Token};
use crate::parsing::{self, Cursor, name_too_long};
pub(super) use crate::parsing::{Descent, Failed, Parse};

/// Parses a whole file: what could be made of it, and whether that is all of it. Errors are reported either way.
pub(crate) fn parse<'s>(source: &'s Source, lexed: &Lexed, sink: &mut Sink, poll: &Poll<'_>) -> (File<'s>, bool) {
    let mut parser = Parser::new(source, lexed, sink, poll);
    let file = parser.file();
    (file, parser.is_whole)
}

/// Parses a text that is one condition and nothing else; `None` if it is not. Errors are reported.
pub(crate) fn parse_condition<'s>(
    source: &'s Source,
    lexed: &Lexed,
    sink: &mut Sink,
    poll: &Poll<'_>,
) -> Option<Expr<'s>> {
    let mut parser = Parser::new(source, lexed, sink, poll);
    let condition = parser.condition().ok()?;
    parser.expect_as(Kind::Eof, "the end of the condition").ok()?;
    Some(condition)
}

struct Parser<'s, 'p> {
    text: &'s str,
    cursor: Cursor<'p, Token>,
    /// Tokens before which something was left out, for which there is an error already.
    gaps: &'p [usize],
    /// Statements and operands so far.
    size: usize,
    /// Whether no part of the text had to be skipped.
    is_whole: bool,
    sink: &'p mut Sink,
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
        self.slice(token.span).to_string()
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        if self.cursor.is_first_failure() && !self.is_beside_gap() {
            self.sink.error(error);
        }
        Failed
    }

    fn too_deep(&mut self) -> Failed {
        self.give_up(too_deep(self.token().span))
    }
}

impl<'s, 'p> Parser<'s, 'p> {
    fn new(source: &'s Source, lexed: &'p Lexed, sink: &'p mut Sink, poll: &'p Poll<'p>) -> Self {
        let text = source.text();
        let Lexed { tokens, gaps, .. } = lexed;
        let end = Token { kind: Kind::Eof, span: Span::new(text.len(), text.len()) };
        // A comment without an end after the last token may have swallowed anything.
        let is_whole = gaps.last() != Some(&tokens.len());
        Parser { text, cursor: Cursor::new(tokens, end, poll), gaps, size: 0, is_whole, sink }
    }

    /// The last token taken, or an empty one at the start of the text.
    fn previous(&self) -> Token {
        self.cursor.behind(1).unwrap_or(Token { kind: Kind::Eof, span: Span::default() })
    }

    /// From the start of `first` to the end of the last token taken.
    fn span_from(&self, first: Span) -> Span {
        self.cursor.span_from(first)
    }

    fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Whether something was left out right before the next token or the one before that.
    fn is_beside_gap(&self) -> bool {
        let at = self.cursor.position();
        let first = self.gaps.partition_point(|&gap| gap + 1 < at);
        self.gaps.get(first).is_some_and(|&gap| gap <= at)
    }

    fn name(&mut self, what: &str) -> Parse<Name<'s>> {
        let token = self.token();
        if token.kind == Kind::Name {
            if token.span.range().len() > MAX_NAME_BYTES {
                return Err(self.error(name_too_long(token.span)));
            }
            self.bump();
            return Ok(Name { text: self.slice(token.span), span: token.span });
        }
        let mut error = self.unexpected(what);
        if token.kind.is_keyword() {
            error = error.label("reserved keyword").help("choose a name that is not a keyword");
        }
        Err(self.error(error))
    }

    /// Takes the semicolon after a statement or item. A missing one is reported where it belongs, and
    /// parsing goes on as if it were there when what follows may well be the next statement.
    fn semicolon(&mut self) -> Parse<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let (before, next) = (self.previous().span, self.token());
        let gap = Span { start: before.end, end: next.span.start.max(before.end) };
        let starts_anew = self.slice(gap).contains('\n') || matches!(next.kind, Kind::CloseBrace | Kind::Eof);
        if starts_anew || next.kind.begins_statement() || next.kind.begins_item() {
            let place = Span { start: before.end, end: before.end };
            self.error(Diagnostic::error("missing-semicolon", "missing `;`", place).label("add `;` here"));
            return Ok(());
        }
        self.expected("`;`")
    }

    /// Counts a statement or operand; too many end parsing.
    fn count_one(&mut self) -> Parse<()> {
        self.size += 1;
        if self.size <= MAX_WORK {
            return Ok(());
        }
        let message = format!("the program is too large: more than {MAX_WORK} statements and operands");
        let error = Diagnostic::error("program-too-large", message, self.token().span);
        Err(self.give_up(error.help("make it smaller")))
    }

    /// Skips to where the next statement may begin. Blocks are skipped whole.
    fn skip_statement(&mut self) {
        let mut open = 0usize;
        loop {
            let kind = self.peek();
            match kind {
                Kind::Eof => return,
                Kind::CloseBrace if open == 0 => return,
                kind if kind.begins_item() => return,
                kind if open == 0 && kind.begins_statement() => return,
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
            let block_ended = kind == Kind::CloseBrace && !matches!(self.peek(), Kind::Else | Kind::Or);
            if open == 0 && (kind == Kind::Semicolon || block_ended) {
                return;
            }
        }
    }
}

fn too_deep(span: Span) -> Diagnostic {
    parsing::too_deep(span, "split it: name parts with `let`, or move them into a `proc`")
}
