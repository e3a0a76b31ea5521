//! Fences put into a program.
//!
//! ```text
//! l: x = 1;  r = y;        becomes        l: x = 1;  fence;  r = y;
//! ```

use std::collections::BTreeSet;

use weir_ir::{
    Body, BodyBuilder, Edge, EdgeId, Expr, Instruction, LocId, Program, PropertyKind, Span, StateAtom, ThreadId,
};
use weir_witness::{Action, Run, Step};

use super::Translation;

/// A program with more fences.
#[derive(Clone, Debug)]
pub struct Fenced {
    /// The program.
    pub program: Program,
    /// For each thread and edge, the edge of the original program; `None` for a new fence.
    origins: Vec<Vec<Option<EdgeId>>>,
}

impl Fenced {
    fn new(program: &Program) -> Self {
        let unchanged = |thread: ThreadId| (0..program.body(thread).edges().len()).map(EdgeId::new).map(Some).collect();
        Self { program: program.clone(), origins: program.thread_ids().map(unchanged).collect() }
    }

    /// Of [`insert_fences_after`]: for each thread, where it waits at a new fence, and where it counts as being then.
    pub(crate) fn waits(&self) -> Vec<Vec<(LocId, LocId)>> {
        let waits = |thread: ThreadId| {
            let edges = self.program.body(thread).edges().iter().zip(&self.origins[thread.index()]);
            edges.filter(|(_, origin)| origin.is_none()).map(|(fence, _)| (fence.from, fence.to)).collect()
        };
        self.program.thread_ids().map(waits).collect()
    }

    fn put(&mut self, thread: ThreadId, (body, origins): Built) {
        self.program.threads[thread.index()].body = body;
        self.origins[thread.index()] = origins;
    }
}

impl Translation for Fenced {
    fn program(&self) -> &Program {
        &self.program
    }

    /// The same run without the new fences, under the same memory model.
    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        let original = |step: &Step| match step.action {
            Action::Execute { edge, choice } => {
                let edge = self.origins[step.thread.index()][edge.index()]?;
                Some(Step { thread: step.thread, action: Action::Execute { edge, choice } })
            }
            Action::Flush => Some(*step),
        };
        Run { model: run.model, steps: run.steps.iter().filter_map(original).collect() }
    }
}

/// The program with a fence before the instructions at each of these locations. Labels stay where they are: a thread
/// that waits at a fence is at the label.
#[must_use]
pub fn insert_fences(program: &Program, at: &BTreeSet<(ThreadId, LocId)>) -> Fenced {
    let mut fenced = Fenced::new(program);
    for thread in program.thread_ids() {
        let locations: Vec<LocId> = at.iter().filter(|(of, _)| *of == thread).map(|&(_, location)| location).collect();
        fenced.put(thread, insert(program.body(thread), &locations));
    }
    fenced
}

fn insert(body: &Body, at: &[LocId]) -> Built {
    let mut builder = with_locations(body);
    let mut start: Vec<LocId> = body.location_ids().collect();
    for &location in at {
        start[location.index()] = builder.location(body.locations[location.index()].span);
    }
    for (id, edge) in (0..).map(EdgeId).zip(body.edges()) {
        builder.edge(Edge { from: start[edge.from.index()], ..edge.clone() }, Some(id));
    }
    for &location in at {
        let span = body.edges_from(location).next().map_or(Span::default(), |(_, edge)| edge.span);
        let to = start[location.index()];
        builder.edge(Edge { from: location, to, instruction: Instruction::Fence, span }, None);
    }
    builder.finish(body.entry, body.failed)
}

fn with_locations(body: &Body) -> BodyBuilder<Option<EdgeId>> {
    let mut builder = BodyBuilder::new(body.registers.clone(), []);
    for location in &body.locations {
        builder.labelled_location(location.clone());
    }
    builder
}

/// The program with a fence after each of these steps. The steps keep their numbers; a thread that waits at a fence
/// counts as being where the step leads.
#[must_use]
pub fn insert_fences_after(program: &Program, after: &BTreeSet<(ThreadId, EdgeId)>) -> Fenced {
    let mut fenced = Fenced::new(program);
    for thread in program.thread_ids() {
        let edges: Vec<EdgeId> = after.iter().filter(|(of, _)| *of == thread).map(|&(_, edge)| edge).collect();
        if edges.is_empty() {
            continue;
        }
        let (built, waits) = insert_after(program.body(thread), &edges);
        fenced.put(thread, built);
        for property in &mut fenced.program.properties {
            widen(&mut property.kind, thread, &waits);
        }
    }
    fenced
}

/// A body, and the origins of its edges.
type Built = (Body, Vec<Option<EdgeId>>);

/// Also returns where threads wait, and where they are said to be then.
fn insert_after(body: &Body, after: &[EdgeId]) -> (Built, Vec<(LocId, LocId)>) {
    let mut builder = with_locations(body);
    let mut ends: Vec<LocId> = body.edges().iter().map(|edge| edge.to).collect();
    let mut waits = Vec::new();
    for &edge in after {
        let to = body.edge(edge).to;
        ends[edge.index()] = builder.location(body.locations[to.index()].span);
        waits.push((ends[edge.index()], to));
    }
    for ((id, edge), to) in (0..).map(EdgeId).zip(body.edges()).zip(ends) {
        builder.edge(Edge { to, ..edge.clone() }, Some(id));
    }
    // New locations come last, so that the edges before keep their numbers.
    for (&edge, &(wait, to)) in after.iter().zip(&waits) {
        let span = body.edge(edge).span;
        builder.edge(Edge { from: wait, to, instruction: Instruction::Fence, span }, None);
    }
    (builder.finish(body.entry, body.failed), waits)
}

fn widen(kind: &mut PropertyKind, thread: ThreadId, waits: &[(LocId, LocId)]) {
    let mut widened = |atom: &StateAtom| match atom {
        StateAtom::At { thread: of, locations } if *of == thread => {
            let more = waits.iter().filter(|(_, to)| locations.contains(to)).map(|&(wait, _)| wait);
            Expr::Leaf(StateAtom::At { thread, locations: locations.iter().copied().chain(more).collect() })
        }
        _ => Expr::Leaf(atom.clone()),
    };
    *kind = kind.map_condition(|condition| condition.map(&mut widened));
}

#[cfg(test)]
mod tests;
