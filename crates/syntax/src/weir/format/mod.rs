//! Formatting: the same tokens and comments in a new layout.
//!
//! Works on tokens, not on trees, so it cannot change a program: all it decides is where lines break and
//! how they are indented. Indentation is four spaces per block, one statement per line, labels stand out by
//! one level. Comments and single blank lines stay. A statement that is written over several lines is
//! joined if it then fits a line, else its line breaks stay.

mod lines;
mod spacing;

use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Interrupt, Poll, Source, Uninterrupted};

use super::lexer::{Lexed, lex};
use super::parser;
use super::sink::Sink;
use super::token::{Kind, Token};
use crate::parsed::ParseError;
use lines::{Comment, Line, render};
use spacing::joined;

/// Statements that were written over several lines are joined up to this width.
const MAX_WIDTH: usize = 100;

/// Formats a source.
///
/// # Errors
/// If it is not a program as far as syntax goes.
pub fn format(source: &Source) -> Result<String, Vec<Diagnostic>> {
    laid_out(source, &Poll::new(&Uninterrupted))
}

/// As [`format()`], unless it is interrupted.
///
/// # Errors
/// As [`format()`].
pub fn format_until(source: &Source, interrupt: &dyn Interrupt) -> Result<String, ParseError> {
    let poll = Poll::later(interrupt);
    ParseError::unless_over(&poll, laid_out(source, &poll))
}

/// Formats a source. Once the poll is over, the result is of no use.
fn laid_out(source: &Source, poll: &Poll<'_>) -> Result<String, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let lexed = lex(source, &mut sink, poll);
    if let Some(lexed) = &lexed {
        parser::parse(source, lexed, &mut sink, poll);
    }
    sink.finish()?;
    let lexed = lexed.unwrap_or_default();
    let mut layout = Layout::new(pieces(source, &lexed));
    layout.run();
    Ok(render(&layout.lines))
}

/// A token or comment, with what stands between it and the one before.
#[derive(Clone, Copy)]
struct Piece<'s> {
    kind: Kind,
    text: &'s str,
    /// Line breaks before it.
    breaks: usize,
    /// How many characters are before it in its line of the source.
    column: usize,
    /// Whether it stands well apart from what is before it in its line.
    is_apart: bool,
    /// Whether it is an operator with one operand.
    is_unary: bool,
}

impl Piece<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }
}

/// Tokens and comments in order.
fn pieces<'s>(source: &'s Source, lexed: &Lexed) -> Vec<Piece<'s>> {
    let mut all: Vec<Token> = lexed.tokens.iter().chain(&lexed.comments).copied().collect();
    sort_by_key(&mut all, |token| token.span);
    let (mut end, mut before, mut column) = (0, Kind::Eof, 0);
    let mut pieces = Vec::with_capacity(all.len());
    for token in all {
        let gap = source.text().get(end..token.span.start as usize).unwrap_or("");
        let breaks = gap.bytes().filter(|&byte| byte == b'\n').count();
        let is_unary = spacing::can_be_unary(token.kind) && !spacing::ends_operand(before);
        let text = source.slice(token.span);
        let start = advanced(column, gap);
        column = advanced(start, text);
        let text = text.trim_end();
        let is_apart = breaks == 0 && gap.len() > 1;
        let piece = Piece { kind: token.kind, text, breaks, column: start, is_apart, is_unary };
        if !piece.is_comment() {
            before = token.kind;
        }
        end = token.span.end as usize;
        pieces.push(piece);
    }
    pieces
}

/// The column after a text that begins at `column`.
fn advanced(column: usize, text: &str) -> usize {
    match text.rsplit_once('\n') {
        Some((_, last)) => last.chars().count(),
        None => column + text.chars().count(),
    }
}

/// Lays pieces out line by line.
struct Layout<'s> {
    pieces: Vec<Piece<'s>>,
    at: usize,
    lines: Vec<Line>,
    /// The pieces of the statement that is not complete yet.
    open: Vec<Piece<'s>>,
    /// Blocks around.
    level: usize,
    /// The column of the comment after the previous line, if there is one.
    comment_column: Option<usize>,
}

impl<'s> Layout<'s> {
    fn new(pieces: Vec<Piece<'s>>) -> Self {
        Self { pieces, at: 0, lines: Vec::new(), open: Vec::new(), level: 0, comment_column: None }
    }

    fn run(&mut self) {
        while let Some(&piece) = self.pieces.get(self.at) {
            self.at += 1;
            if piece.is_comment() {
                self.comment(piece);
            } else {
                self.token(piece);
            }
        }
        self.finish_statement(0);
    }

    fn next(&self) -> Option<&Piece<'s>> {
        self.pieces.get(self.at)
    }

    fn next_is(&self, kind: Kind) -> bool {
        self.next().is_some_and(|piece| piece.kind == kind)
    }

    fn token(&mut self, piece: Piece<'s>) {
        let opens_list = piece.kind == Kind::OpenBrace && self.last_token() == Some(Kind::Equal);
        match piece.kind {
            Kind::OpenBrace if opens_list => self.list(piece),
            Kind::OpenBrace if self.next_is(Kind::CloseBrace) => {
                self.open.push(piece);
                let close = self.pieces[self.at];
                self.at += 1;
                self.open.push(Piece { breaks: 0, ..close });
                self.end_block();
            }
            Kind::OpenBrace => {
                self.open.push(piece);
                self.finish_statement(0);
                self.level += 1;
            }
            Kind::CloseBrace => {
                self.finish_statement(0);
                self.level = self.level.saturating_sub(1);
                self.open.push(Piece { breaks: piece.breaks.min(1), ..piece });
                self.end_block();
            }
            Kind::Semicolon => {
                self.open.push(piece);
                self.finish_statement(0);
            }
            Kind::Colon if self.is_label() => {
                self.open.push(piece);
                self.finish_statement(1);
            }
            _ => self.open.push(piece),
        }
    }

    /// After the end of a block: `else` and `or` go on in the same line.
    fn end_block(&mut self) {
        if self.next_is(Kind::Else) || self.next_is(Kind::Or) {
            self.pieces[self.at].breaks = 0;
        } else {
            self.finish_statement(0);
        }
    }

    /// A list of initial values stays in its line.
    fn list(&mut self, open: Piece<'s>) {
        self.open.push(open);
        while let Some(&piece) = self.next() {
            self.at += 1;
            self.open.push(piece);
            if piece.kind == Kind::CloseBrace {
                return;
            }
        }
    }

    fn last_token(&self) -> Option<Kind> {
        self.open.iter().rev().find(|piece| !piece.is_comment()).map(|piece| piece.kind)
    }

    /// Whether the colon that comes next ends a label.
    fn is_label(&self) -> bool {
        let mut tokens = self.open.iter().filter(|piece| !piece.is_comment());
        self.level > 0 && tokens.next().is_some_and(|piece| piece.kind == Kind::Name) && tokens.next().is_none()
    }

    fn comment(&mut self, piece: Piece<'s>) {
        if !self.open.is_empty() {
            self.open.push(piece);
            return;
        }
        let is_long = piece.text.contains('\n');
        let is_last = self.next().is_none_or(|next| next.breaks > 0);
        let continues = piece.breaks == 1 && self.comment_column == Some(piece.column);
        if !is_long && is_last && (piece.breaks == 0 || continues) && self.attach(piece, continues) {
            return;
        }
        if piece.kind == Kind::BlockComment && !is_last {
            self.open.push(piece);
            return;
        }
        let blank_before = self.wants_blank(piece.breaks);
        self.lines.push(Line { level: self.level, blank_before, text: clean(piece.text), ..Line::default() });
        self.comment_column = None;
    }

    /// Puts a comment after the previous line, or below the comment there.
    fn attach(&mut self, piece: Piece<'s>, continues: bool) -> bool {
        let Some(last) = self.lines.last_mut() else { return false };
        self.comment_column = Some(piece.column);
        if continues {
            let comment = Some(Comment::of(&piece));
            self.lines.push(Line { level: self.level, comment, ..Line::default() });
        } else if let Some(comment) = &mut last.comment {
            comment.text.push(' ');
            comment.text.push_str(piece.text);
        } else {
            // A statement that got a line of its own left its comment's column behind.
            last.comment = Some(Comment::of(&Piece { is_apart: piece.is_apart && !last.is_moved, ..piece }));
        }
        true
    }

    /// Whether a blank line belongs before a line that follows so many line breaks.
    fn wants_blank(&self, breaks: usize) -> bool {
        let opened = self.lines.last().is_none_or(|line| line.opens_block);
        breaks > 1 && !opened
    }

    /// Writes the open statement, if there is one.
    fn finish_statement(&mut self, outdent: usize) {
        let statement = std::mem::take(&mut self.open);
        let Some(first) = statement.first() else { return };
        let level = self.level.saturating_sub(outdent);
        let blank_before = self.wants_blank(first.breaks);
        let is_moved = first.breaks == 0 && !self.lines.is_empty();
        let whole = joined(&statement);
        let has_line_comment = statement.iter().any(|piece| piece.kind == Kind::LineComment);
        let fits = level * lines::INDENT + whole.chars().count() <= MAX_WIDTH;
        let is_broken = statement.iter().skip(1).any(|piece| piece.breaks > 0);
        self.comment_column = None;
        if !has_line_comment && (fits || !is_broken) {
            self.lines.push(Line { level, blank_before, text: whole, ..Line::default() });
        } else {
            self.broken(&statement, level, blank_before);
        }
        if let (Some(line), Some(last)) = (self.lines.last_mut(), statement.last()) {
            line.opens_block = last.kind == Kind::OpenBrace;
            line.is_moved = is_moved;
        }
    }

    /// Writes a statement with the line breaks it has in the source.
    fn broken(&mut self, statement: &[Piece<'s>], level: usize, blank_before: bool) {
        let mut start = 0;
        for end in 1..=statement.len() {
            let after_comment = statement[end - 1].kind == Kind::LineComment;
            if end < statement.len() && statement[end].breaks == 0 && !after_comment {
                continue;
            }
            let (line, first) = (&statement[start..end], start == 0);
            let (tokens, comment) = match line.split_last() {
                Some((last, tokens)) if last.kind == Kind::LineComment && !tokens.is_empty() => (tokens, Some(last)),
                _ => (line, None),
            };
            self.lines.push(Line {
                level: level + usize::from(!first),
                blank_before: blank_before && first,
                text: joined(tokens),
                comment: comment.map(Comment::of),
                ..Line::default()
            });
            start = end;
        }
    }
}

/// A comment without carriage returns and blanks at the ends of its lines.
fn clean(comment: &str) -> String {
    comment.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
