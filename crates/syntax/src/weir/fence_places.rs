//! Places in a source text where a fence could be written, and fences written there.

use std::collections::BTreeMap;

use weir_ir::{Diagnostic, EdgeId, Instruction, Poll, Program, Source, ThreadId, Uninterrupted};

use super::{Options, read};

/// A program in which each place where a fence could be written is a step of its own, which does nothing.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The program.
    pub program: Program,
    /// The places, in order of the source.
    pub places: Vec<FencePlace>,
}

/// A place where a fence could be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FencePlace {
    /// Where in the text: the first byte of the statement, or of the brace, before which the fence comes.
    pub offset: u32,
    /// The steps at this place: one per thread that runs this text, more where a procedure is called several times.
    pub steps: Vec<(ThreadId, EdgeId)>,
}

/// Reads a program with the places where fences could be written.
///
/// # Errors
/// As [`parse`](super::parse).
pub fn fence_places(source: &Source, options: &Options) -> Result<Marked, Vec<Diagnostic>> {
    mark(source, options, &Poll::new(&Uninterrupted))
}

/// Reads a program with places for fences. Once the poll is over, the result is of no use.
pub(crate) fn mark(source: &Source, options: &Options, poll: &Poll<'_>) -> Result<Marked, Vec<Diagnostic>> {
    let program = read(source, options, true, poll)?.program;
    let mut places: BTreeMap<u32, Vec<(ThreadId, EdgeId)>> = BTreeMap::new();
    for thread in program.thread_ids() {
        for (index, edge) in program.body(thread).edges().iter().enumerate() {
            // Steps that were written have some text.
            if edge.instruction == Instruction::Skip && edge.span.start == edge.span.end {
                places.entry(edge.span.start).or_default().push((thread, EdgeId::new(index)));
            }
        }
    }
    let places = places.into_iter().map(|(offset, steps)| FencePlace { offset, steps }).collect();
    Ok(Marked { program, places })
}

/// The text with `fence;` written at these places, which are offsets of [`FencePlace`]s.
pub fn write_fences(text: &str, offsets: impl IntoIterator<Item = u32>) -> String {
    let mut offsets: Vec<usize> = offsets.into_iter().map(|offset| offset as usize).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut fenced = String::with_capacity(text.len() + 16 * offsets.len());
    let mut written = 0;
    for offset in offsets {
        let (Some(before), Some(after)) = (text.get(..offset), text.get(offset..)) else { continue };
        fenced += &text[written..offset];
        let line = before.rsplit('\n').next().unwrap_or(before);
        if line.chars().all(|c| c == ' ' || c == '\t') {
            // The statement begins its line: so does the fence. Before a closing brace it goes one level in.
            let inner = if after.starts_with('}') { "    " } else { "" };
            fenced += &format!("{inner}fence;\n{line}");
        } else {
            fenced += "fence; ";
        }
        written = offset;
    }
    fenced + &text[written..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "shared x, y;\nthread P[2] {\n    while y == 0 {\n        x = 1;\n    }\n    l: x = 2; let r = y;\n}\n";

    fn places() -> Marked {
        fence_places(&Source::new("test.weir", TEXT), &Options::default()).expect("correct")
    }

    #[test]
    fn every_statement_and_every_end_of_a_block_is_a_place() {
        let texts: Vec<&str> = places().places.iter().map(|place| &TEXT[place.offset as usize..][..2]).collect();
        assert_eq!(texts, ["wh", "x ", "}\n", "x ", "le", "}\n"]);
        assert!(places().places.iter().all(|place| place.steps.len() == 2));
    }

    #[test]
    fn fences_are_written_where_a_person_would() {
        let offsets: Vec<u32> = places().places.iter().map(|place| place.offset).collect();
        let fenced = write_fences(TEXT, offsets[..5].iter().copied());
        let expected = "shared x, y;\nthread P[2] {\n    fence;\n    while y == 0 {\n        fence;\n        x = 1;\n        fence;\n    }\n    \
                        l: fence; x = 2; fence; let r = y;\n}\n";
        assert_eq!(fenced, expected);
    }
}
