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
    let written: Vec<&str> = program.source.slice(span).split_whitespace().collect();
    format!("`{}` (line {})", clean(&clip(&written.join(" "), LISTED_LIMIT)), program.source.line(span))
}
