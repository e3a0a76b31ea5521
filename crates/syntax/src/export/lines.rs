//! Comments that lead back to the source.

use weir_ir::{Body, Edge, LocId, Program, Span, body_instruction_text};

/// Text that can stand inside a comment of C or Promela, on one line.
pub(crate) fn comment(text: &str) -> String {
    let one_line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    one_line.replace("*/", "* /").replace("/*", "/ *").replace('\\', "/")
}

/// Where something is in the source, such as `line 12: `; nothing if there is no source.
pub(crate) fn place(program: &Program, span: Span) -> String {
    if program.source.text().is_empty() { String::new() } else { format!("line {}: ", program.source.line(span)) }
}

/// What an edge does, and where that is in the source.
pub(crate) fn edge_comment(program: &Program, body: &Body, edge: &Edge) -> String {
    comment(&format!("{}{}", place(program, edge.span), body_instruction_text(program, body, &edge.instruction)))
}

/// The name of the source, for the first line of an export.
pub(crate) fn title(program: &Program) -> String {
    let name = program.source.name();
    if name.is_empty() { "A program".to_owned() } else { comment(name) }
}

/// The locations that control can reach by edges that are not ruled out, the entry first, then in order. The place of
/// failed assertions is there if some edge asserts.
pub(crate) fn printed_locations(body: &Body, is_taken: impl Fn(weir_ir::EdgeId) -> bool) -> Vec<LocId> {
    let mut is_printed = vec![false; body.locations.len()];
    let mut open = vec![body.entry];
    while let Some(loc) = open.pop() {
        if std::mem::replace(&mut is_printed[loc.index()], true) {
            continue;
        }
        for (_, edge) in body.edges_from(loc).filter(|&(id, _)| is_taken(id)) {
            open.push(edge.to);
            if let (weir_ir::Instruction::Assert(_), Some(failed)) = (&edge.instruction, body.failed) {
                open.push(failed);
            }
        }
    }
    let rest = body.location_ids().filter(|&loc| is_printed[loc.index()] && loc != body.entry);
    std::iter::once(body.entry).chain(rest).collect()
}
