//! The few lines of a source that a diagnostic mentions. However large the source or long its lines, an
//! excerpt is small.

use weir_ir::sort::{sort_by, sort_by_key};
use weir_ir::{Source, Span};

/// Longest stretch of lines that is shown as it is, in bytes.
const BLOCK_LIMIT: usize = 2_000;
/// A mark over more lines than this is cut to its first one.
const MARK_LINES: usize = 8;
/// Places at most this far apart share one excerpt (lines without marks are folded away), in bytes.
const GAP_LIMIT: usize = 4_000;
/// What is kept before and after the start of a mark on a line that is too long, in bytes.
const KEPT_BEFORE: usize = 60;
const KEPT_AFTER: usize = 120;

/// A place to point at.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// Where: bytes of the source, or, within an [`Excerpt`], of its text.
    pub(super) range: std::ops::Range<usize>,
    /// What to say there; may be empty.
    pub(super) text: String,
    /// Whether it is the main place.
    pub(super) is_primary: bool,
}

impl Mark {
    /// A place of the source.
    pub(super) fn new(span: Span, text: impl Into<String>, is_primary: bool) -> Self {
        Self { range: span.range(), text: text.into(), is_primary }
    }
}

/// Some lines of a source, with marks.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// Number of the first line, from 1.
    pub(super) line: usize,
    /// Column where the text starts, from 1: not 1 if a long line was cut on the left.
    pub(super) column: usize,
    /// The lines.
    pub(super) text: String,
    /// Places in `text`.
    pub(super) marks: Vec<Mark>,
    /// Bytes of the source.
    block: std::ops::Range<usize>,
    /// Where the lines are from.
    pub(super) source: Source,
}

impl Excerpt {
    /// Whether the text is only a part of its lines.
    pub(super) fn is_cut(&self) -> bool {
        self.column > 1
    }
}

/// The excerpts that show all marks: the one with the main place first, the rest in order of the source.
pub(super) fn excerpts(source: &Source, marks: Vec<Mark>) -> Vec<Excerpt> {
    let mut single: Vec<Excerpt> = marks.into_iter().map(|mark| excerpt_of_origin(source, mark)).collect();
    sort_by(&mut single, |a, b| (a.source.name(), a.block.start).cmp(&(b.source.name(), b.block.start)));
    let mut joined: Vec<Excerpt> = Vec::new();
    for next in single {
        match joined.pop() {
            Some(last) if can_join(&last, &next) => joined.push(join(last, next)),
            last => joined.extend(last.into_iter().chain([next])),
        }
    }
    sort_by_key(&mut joined, |excerpt| !excerpt.marks.iter().any(|mark| mark.is_primary));
    joined
}

/// The lines that a mark is about, in the file that its place was made from.
fn excerpt_of_origin(source: &Source, mut mark: Mark) -> Excerpt {
    let (origin, span) = source.origin(Span::new(mark.range.start, mark.range.end));
    mark.range = span.range();
    excerpt(origin, mark)
}

fn excerpt(source: &Source, mut mark: Mark) -> Excerpt {
    let text = source.text();
    let start = boundary(text, mark.range.start);
    let mut end = boundary(text, mark.range.end).max(start);
    let first = line_start(text, start)..line_end(text, start);
    if text[start..end].bytes().filter(|&byte| byte == b'\n').count() >= MARK_LINES {
        end = first.end.max(start);
    }
    let block = first.start..line_end(text, end.saturating_sub(1).max(start));
    if block.len() > BLOCK_LIMIT {
        return cut_excerpt(source, mark, first, start..end);
    }
    mark.range = start - block.start..end.min(block.end) - block.start;
    let line = source.line(Span::new(block.start, block.start)) as usize;
    Excerpt { line, column: 1, text: text[block.clone()].to_owned(), marks: vec![mark], block, source: source.clone() }
}

/// An excerpt from the middle of a line that is too long.
fn cut_excerpt(
    source: &Source,
    mut mark: Mark,
    line: std::ops::Range<usize>,
    range: std::ops::Range<usize>,
) -> Excerpt {
    let text = source.text();
    let from = boundary(text, range.start.saturating_sub(KEPT_BEFORE)).max(line.start);
    let to = boundary(text, range.start.saturating_add(KEPT_AFTER)).min(line.end).max(range.start);
    let position = source.line_column(Span::new(from, from).start);
    mark.range = range.start - from..range.end.min(to) - from;
    Excerpt {
        line: position.line as usize,
        column: position.column as usize,
        text: text[from..to].to_owned(),
        marks: vec![mark],
        block: from..to,
        source: source.clone(),
    }
}

fn can_join(left: &Excerpt, right: &Excerpt) -> bool {
    let whole = |excerpt: &Excerpt| !excerpt.is_cut() && excerpt.block.len() <= BLOCK_LIMIT;
    let is_near = left.source.name() == right.source.name();
    is_near && whole(left) && whole(right) && right.block.start.saturating_sub(left.block.end) <= GAP_LIMIT
}

fn join(left: Excerpt, right: Excerpt) -> Excerpt {
    let block = left.block.start..left.block.end.max(right.block.end);
    let shift = right.block.start - left.block.start;
    let moved =
        right.marks.into_iter().map(|mark| Mark { range: mark.range.start + shift..mark.range.end + shift, ..mark });
    let marks = left.marks.into_iter().chain(moved).collect();
    let text = left.source.text()[block.clone()].to_owned();
    Excerpt { line: left.line, column: 1, text, marks, block, source: left.source }
}

/// The start of the character at or around a byte; the end of the text if that is beyond it.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text.as_bytes()[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |newline| at + newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, spans: &[(usize, usize)]) -> Vec<Excerpt> {
        let mark = |(at, &(start, end)): (usize, &(usize, usize))| Mark::new(Span::new(start, end), "", at == 0);
        excerpts(&Source::new("f", text), spans.iter().enumerate().map(mark).collect())
    }

    #[test]
    fn near_places_share_an_excerpt_and_far_ones_do_not() {
        let text = "one\ntwo\nthree\n".to_owned() + &"x\n".repeat(5_000) + "last\n";
        let near = of(&text, &[(4, 7), (0, 3)]);
        assert_eq!(near.len(), 1);
        assert_eq!((near[0].line, near[0].text.as_str()), (1, "one\ntwo"));
        assert_eq!(near[0].marks[1].range, 4..7);
        let far = of(&text, &[(text.len() - 5, text.len() - 1), (0, 3)]);
        assert_eq!(far.iter().map(|excerpt| excerpt.text.as_str()).collect::<Vec<_>>(), ["last", "one"]);
        assert_eq!(far[0].line, 5_004);
    }

    #[test]
    fn long_lines_and_long_marks_are_cut() {
        let text = "é".repeat(10_000);
        let cut = of(&text, &[(9_001, 19_000)]);
        assert!(cut[0].is_cut() && cut[0].text.len() < 400, "{:?}", cut[0]);
        assert_eq!(cut[0].column, 4_471);
        let many = "a\n".repeat(100);
        assert_eq!(of(&many, &[(0, 150)])[0].text, "a");
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        for (text, span) in
            [("", (0, 0)), ("", (7, 9)), ("ab\n", (3, 3)), ("ab\n", (2, 3)), ("é", (1, 1)), ("a", (9, 2))]
        {
            let found = of(text, &[span]);
            assert_eq!(found.len(), 1);
            let range = found[0].marks[0].range.clone();
            assert!(found[0].text.get(range.clone()).is_some(), "{text:?} {span:?} {range:?}");
        }
    }
}
