//! Lines to text: indentation, blank lines, comments after code.
//!
//! A comment that stands apart from its code keeps its column if there is room, and comments on lines that
//! follow each other stand in one column.

use super::{Piece, clean};

/// Spaces a level.
pub(super) const INDENT: usize = 4;

/// One line of output; the text may hold line breaks inside a block comment.
#[derive(Default)]
pub(super) struct Line {
    pub(super) level: usize,
    pub(super) blank_before: bool,
    pub(super) text: String,
    /// A comment after the text.
    pub(super) comment: Option<Comment>,
    /// Whether a block begins after it.
    pub(super) opens_block: bool,
    /// Whether it shared a line of the source with what is before it.
    pub(super) is_moved: bool,
}

/// A comment after code.
pub(super) struct Comment {
    pub(super) text: String,
    /// How many characters are to be before it in its line, at least.
    column: usize,
}

impl Comment {
    pub(super) fn of(piece: &Piece) -> Self {
        let column = if piece.is_apart { piece.column } else { 0 };
        Self { text: clean(piece.text), column }
    }
}

impl Line {
    /// The column after the text.
    fn width(&self) -> usize {
        let last = self.text.rsplit('\n').next().unwrap_or("").chars().count();
        if self.text.is_empty() || self.text.contains('\n') { last } else { self.level * INDENT + last }
    }
}

/// The text of all lines.
pub(super) fn render(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let follows = |line: &Line| line.comment.is_some() && !line.blank_before;
        let run =
            if first.comment.is_some() { 1 + rest[1..].iter().take_while(|line| follows(line)).count() } else { 1 };
        let wanted = |line: &Line| line.comment.as_ref().map_or(0, |comment| comment.column.max(line.width() + 1));
        let column = rest[..run].iter().map(wanted).max().unwrap_or(0);
        rest[..run].iter().for_each(|line| write_line(line, column, &mut text));
        rest = &rest[run..];
    }
    text
}

fn write_line(line: &Line, comment_column: usize, text: &mut String) {
    if line.blank_before {
        text.push('\n');
    }
    if !line.text.is_empty() {
        text.extend(std::iter::repeat_n(' ', line.level * INDENT));
        text.push_str(&line.text);
    }
    if let Some(comment) = &line.comment {
        text.extend(std::iter::repeat_n(' ', comment_column.saturating_sub(line.width())));
        text.push_str(&comment.text);
    }
    text.push('\n');
}
