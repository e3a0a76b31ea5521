//! Where in the source something was written, kept through every pass.

use std::sync::Arc;

/// A stretch of source text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The stretch from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest stretch that holds both.
    pub fn to(self, other: Span) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A position as people count: both from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A source text with its name. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Source(Arc<SourceText>);

#[derive(Debug)]
struct SourceText {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// The sources that the text was made from.
    files: Vec<Source>,
    /// Stretches of the text in ascending order, each with the file and the stretch of it that it was made from.
    origins: Vec<(Span, usize, Span)>,
}

impl Source {
    /// A source called `name` (as messages show it) with this text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::compiled(name, text, Vec::new(), Vec::new())
    }

    /// A text that was made from other sources, as a listing of compiled code is. Each origin is a stretch of the text,
    /// the number of a file, and the stretch of the file that it was made from. What is said about places in the text
    /// is then about places in the files.
    pub fn compiled(
        name: impl Into<String>,
        text: impl Into<String>,
        files: Vec<Source>,
        mut origins: Vec<(Span, usize, Span)>,
    ) -> Self {
        origins.retain(|&(_, file, _)| file < files.len());
        origins.sort_unstable();
        let text = text.into();
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| Span::new(at + 1, at + 1).start)).collect();
        Self(Arc::new(SourceText { name: name.into(), text, line_starts, files, origins }))
    }

    /// The name, as messages show it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text of a span as its author wrote it; empty if the span does not lie within the text.
    pub fn slice(&self, span: Span) -> &str {
        let (source, span) = self.origin(span);
        source.0.text.get(span.range()).unwrap_or("")
    }

    /// What a span was made from: the file, and the stretch of it. For a text that was made from nothing else, this
    /// is the span itself.
    pub fn origin(&self, span: Span) -> (&Source, Span) {
        let origins = &self.0.origins;
        let near = origins.partition_point(|(made, ..)| made.start <= span.start).checked_sub(1);
        match near.map(|near| origins[near]) {
            Some((made, file, from)) if span.start < made.end => (&self.0.files[file], from),
            _ => (self, span),
        }
    }

    /// Line and column of a byte offset, in the file that it was made from.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        if let (source, span) = self.origin(Span { start: offset, end: offset })
            && !std::ptr::eq(source, self)
        {
            return source.line_column(span.start);
        }
        let line = self.0.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.0.line_starts[line - 1] as usize;
        let offset = (offset as usize).min(self.0.text.len());
        let before = self.0.text.as_bytes().get(start..offset).unwrap_or(&[]);
        // Count characters, not bytes: a UTF-8 continuation byte starts no character.
        let column = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() + 1;
        LineColumn { line: line as u32, column: column as u32 }
    }

    /// The line on which a span starts, from 1.
    pub fn line(&self, span: Span) -> u32 {
        self.line_column(span.start).line
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::new("", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_listing_are_places_in_the_files_that_it_was_made_from() {
        let file = Source::new("q.c", "int x;\n  x = 1;\n");
        let origins = vec![(Span::new(4, 7), 0, Span::new(9, 14))];
        let listing = Source::compiled("q.o", "top mov\nret\n", vec![file], origins);
        let at = |offset| {
            let (source, _) = listing.origin(Span { start: offset, end: offset });
            (source.name(), listing.line_column(offset).line, listing.line_column(offset).column)
        };
        assert_eq!((at(3), at(4), at(6), at(7)), (("q.o", 1, 4), ("q.c", 2, 3), ("q.c", 2, 3), ("q.o", 1, 8)));
        assert_eq!(listing.slice(Span::new(4, 7)), "x = 1");
        assert_eq!((listing.slice(Span::new(8, 11)), listing.text()), ("ret", "top mov\nret\n"));
        assert_eq!(listing.line(Span::new(8, 11)), 2);
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = Source::new("f", "ab\n→x\n");
        let at = |offset| {
            let position = source.line_column(offset);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(6), (2, 2));
        assert_eq!(at(8), (3, 1));
        assert_eq!(at(999), (3, 1));
    }
}
