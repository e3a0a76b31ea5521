//! Parts of the source as they are written.

use weir_ir::{EdgeId, Program, Span, ThreadId};

use super::clean::{clean, clip};

/// Longest text of an instruction in a list, in characters.
const LISTED_LIMIT: usize = 40;

/// An instruction as it is written, with its line.
pub fn place(program: &Program, thread: ThreadId, edge: EdgeId) -> String {
    place_at(program, program.body(thread).edge(edge).span)
}

/// A part of the source as it is written, with its line.
pub fn place_at(program: &Program, span: Span) -> String {
    let shown = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        clean(&clip(&words.join(" "), LISTED_LIMIT))
    };
    let (source, line) = (&program.source, program.source.line(span));
    let (origin, _) = source.origin(span);
    if std::ptr::eq(origin, source) {
        return format!("`{}` (line {line})", shown(source.slice(span)));
    }
    // An instruction, and what it was compiled from.
    let instruction = source.text().get(span.range()).unwrap_or_default();
    format!("`{}` of `{}` ({}:{line})", shown(instruction), shown(source.slice(span)), clean(origin.name()))
}
