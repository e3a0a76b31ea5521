//! Fences put into a program.

use std::collections::BTreeSet;

use weir_ir::{
    Body, Edge, EdgeId, Expr, Instruction, LocId, Location, Program, PropertyKind, Span, StateAtom, ThreadId,
};

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

/// The program with a fence after each of these steps. The steps keep their numbers; a thread that waits at a fence counts as being where
/// the step leads.
#[must_use]
pub fn insert_fences_after(program: &Program, after: &BTreeSet<(ThreadId, EdgeId)>) -> Program {
    let mut fenced = program.clone();
    for thread in program.thread_ids() {
        let edges: Vec<EdgeId> = after.iter().filter(|(of, _)| *of == thread).map(|&(_, edge)| edge).collect();
        if edges.is_empty() {
            continue;
        }
        let (body, waits) = insert_after(program.body(thread), &edges);
        fenced.threads[thread.index()].body = body;
        for property in &mut fenced.properties {
            widen(&mut property.kind, thread, &waits);
        }
    }
    fenced
}

/// Also returns where threads wait, and where they are said to be then.
fn insert_after(body: &Body, after: &[EdgeId]) -> (Body, Vec<(LocId, LocId)>) {
    let mut locations = body.locations.clone();
    let mut edges: Vec<Edge> = body.edges().to_vec();
    let mut waits = Vec::new();
    for &edge in after {
        let wait = LocId::new(locations.len());
        let to = std::mem::replace(&mut edges[edge.index()].to, wait);
        locations.push(Location { labels: Vec::new(), span: locations[to.index()].span });
        let span = edges[edge.index()].span;
        // New locations come last, so that the edges before keep their numbers.
        edges.push(Edge { from: wait, to, instruction: Instruction::Fence, span });
        waits.push((wait, to));
    }
    (Body::new(body.registers.clone(), locations, body.entry, body.failed, edges), waits)
}

fn widen(kind: &mut PropertyKind, thread: ThreadId, waits: &[(LocId, LocId)]) {
    let (PropertyKind::Forbid(condition) | PropertyKind::Exists(condition) | PropertyKind::Always(condition)) = kind
    else {
        return;
    };
    *condition = condition.map(&mut |atom| match atom {
        StateAtom::At { thread: of, locations } if *of == thread => {
            let more = waits.iter().filter(|(_, to)| locations.contains(to)).map(|&(wait, _)| wait);
            Expr::Leaf(StateAtom::At { thread, locations: locations.iter().copied().chain(more).collect() })
        }
        _ => Expr::Leaf(atom.clone()),
    });
}
