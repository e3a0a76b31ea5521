//! Fences put into a program.

use std::collections::BTreeSet;

use weir_ir::{Body, Edge, Instruction, LocId, Location, Program, Span, ThreadId};

/// The program with a fence before the instructions at each of these locations. Labels stay where they are: a thread that waits at a
/// fence is at the label.
#[must_use]
pub fn insert_fences(program: &Program, at: &BTreeSet<(ThreadId, LocId)>) -> Program {
    let mut fenced = program.clone();
    for thread in program.thread_ids() {
        let locations: Vec<LocId> = at.iter().filter(|(of, _)| *of == thread).map(|&(_, location)| location).collect();
        fenced.threads[thread.index()].body = insert(program.body(thread), &locations);
    }
    fenced
}

fn insert(body: &Body, at: &[LocId]) -> Body {
    let mut locations = body.locations.clone();
    let mut edges: Vec<Edge> = body.edges().to_vec();
    for &location in at {
        let behind = LocId::new(locations.len());
        locations.push(Location { labels: Vec::new(), span: locations[location.index()].span });
        edges.iter_mut().filter(|edge| edge.from == location).for_each(|edge| edge.from = behind);
        let first = body.edges_from(location).next().map_or(Span::default(), |(_, edge)| edge.span);
        edges.push(Edge { from: location, to: behind, instruction: Instruction::Fence, span: first });
    }
    Body::new(body.registers.clone(), locations, body.entry, body.failed, edges)
}
