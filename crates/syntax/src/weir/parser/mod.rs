//! Words to syntax trees: recursive descent, one function for each construct.
//!
//! After an error the parser skips to the next statement or item and goes on, so that one run reports
//! several errors. Nesting is bounded: the one error that ends parsing at once is nesting too deep,
//! which keeps any input from exhausting the stack.

mod expressions;
mod items;
mod statements;

use weir_ir::{Diagnostic, Source, Span};

use super::ast::{Expr, File, Name};
use super::lexer::Lexed;
use super::limits::{MAX_NAME_BYTES, MAX_NESTING, MAX_WORK};
use super::sink::Sink;
use super::token::{Kind, Token};
pub(super) use crate::descent::{Descent, Failed, Parse};

/// Parses a whole file: what could be made of it, and whether that is all of it. Errors are reported either way.
pub(crate) fn parse<'s>(source: &'s Source, lexed: &Lexed, sink: &mut Sink) -> (File<'s>, bool) {
    let text = source.text();
    let end = Token { kind: Kind::Eof, span: Span::new(text.len(), text.len()) };
    let Lexed { tokens, gaps, .. } = lexed;
    // Behind the last word, a comment without end may have swallowed anything.
    let is_whole = gaps.last() != Some(&tokens.len());
    let mut parser = Parser { text, tokens, gaps, end, at: 0, nesting: 0, size: 0, failed_at: None, is_whole, sink };
    let file = parser.file();
    (file, parser.is_whole)
}

/// Parses a text that is one condition and nothing else; `None` if it is not. Errors are reported.
pub(crate) fn parse_condition<'s>(source: &'s Source, lexed: &Lexed, sink: &mut Sink) -> Option<Expr<'s>> {
    let text = source.text();
    let end = Token { kind: Kind::Eof, span: Span::new(text.len(), text.len()) };
    let Lexed { tokens, gaps, .. } = lexed;
    let mut parser =
        Parser { text, tokens, gaps, end, at: 0, nesting: 0, size: 0, failed_at: None, is_whole: true, sink };
    let condition = parser.condition().ok()?;
    if parser.peek() != Kind::Eof {
        let error = parser.unexpected("the end of the condition");
        parser.error(error);
        return None;
    }
    Some(condition)
}

struct Parser<'s, 'p> {
    text: &'s str,
    tokens: &'p [Token],
    /// Words before which something was left out, for which there is an error already.
    gaps: &'p [usize],
    end: Token,
    /// The next word.
    at: usize,
    nesting: usize,
    /// Statements and operands so far.
    size: usize,
    /// The word at which the last error was reported: one error a word is enough.
    failed_at: Option<usize>,
    /// Whether no part of the text had to be skipped.
    is_whole: bool,
    sink: &'p mut Sink,
}

impl Descent for Parser<'_, '_> {
    type Word = Token;

    fn token(&self) -> Token {
        self.ahead(0)
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::Name | Kind::Number => format!("`{}`", self.slice(token.span)),
            kind => kind.describe(),
        }
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        if self.failed_at != Some(self.at) {
            self.failed_at = Some(self.at);
            if !self.is_beside_gap() {
                self.sink.error(error);
            }
        }
        Failed
    }

    fn nesting(&mut self) -> &mut usize {
        &mut self.nesting
    }

    fn too_deep(&mut self) -> Failed {
        let error = too_deep(self.token().span);
        self.give_up(error)
    }
}

impl<'s> Parser<'s, '_> {
    fn ahead(&self, distance: usize) -> Token {
        self.tokens.get(self.at + distance).copied().unwrap_or(self.end)
    }

    fn previous(&self) -> Token {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.copied().unwrap_or(Token { kind: Kind::Eof, span: Span::default() })
    }

    /// From the start of `first` to the end of the last word taken.
    fn span_from(&self, first: Span) -> Span {
        first.to(self.previous().span)
    }

    fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Whether something was left out right before the next word or the one before that.
    fn is_beside_gap(&self) -> bool {
        let first = self.gaps.partition_point(|&gap| gap + 1 < self.at);
        self.gaps.get(first).is_some_and(|&gap| gap <= self.at)
    }

    fn name(&mut self, what: &str) -> Parse<Name<'s>> {
        let token = self.token();
        if token.kind == Kind::Name {
            if token.span.range().len() > MAX_NAME_BYTES {
                let error = Diagnostic::error("name-too-long", "this name is too long", token.span);
                return Err(self.error(error.help(format!("use at most {MAX_NAME_BYTES} characters"))));
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

    /// Takes the semicolon behind a statement or item. A missing one is reported where it belongs, and
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
        let error = self.unexpected("`;`");
        Err(self.error(error))
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

    /// Reports an error and ends parsing: what follows could only repeat it.
    fn give_up(&mut self, error: Diagnostic) -> Failed {
        self.error(error);
        self.at = self.tokens.len();
        self.failed_at = Some(self.at);
        self.is_whole = false;
        Failed
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
    let message = format!("nested more than {MAX_NESTING} deep");
    Diagnostic::error("too-deep", message, span).help("split it: name parts with `let`, or move them into a `proc`")
}
