//! A program without cycles that does what the original does, up to a number of times round each loop.

use weir_ir::{Body, BodyBuilder, Edge, EdgeId, Expr, Instruction, LocId, Program, Property, StateAtom, StateExpr};

use super::{Extended, Note, Origin};

/// For each edge, whether it leads back in a walk through the body: without these edges there are no cycles.
fn leads_back(body: &Body) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        Open,
        Closed,
    }
    let mut seen = vec![Seen::Never; body.locations.len()];
    let mut back = vec![false; body.edges().len()];
    let edges_of = |loc: LocId| body.edges_from(loc).map(|(id, edge)| (id, edge.to)).collect::<Vec<_>>();
    seen[body.entry.index()] = Seen::Open;
    let mut stack = vec![(body.entry, edges_of(body.entry))];
    while let Some((loc, open)) = stack.last_mut() {
        match open.pop() {
            Some((id, to)) => match seen[to.index()] {
                Seen::Open => back[id.index()] = true,
                Seen::Closed => {}
                Seen::Never => {
                    seen[to.index()] = Seen::Open;
                    stack.push((to, edges_of(to)));
                }
            },
            None => {
                seen[loc.index()] = Seen::Closed;
                stack.pop();
            }
        }
    }
    back
}

/// Whether a thread can come to a place again.
pub(crate) fn is_cyclic(program: &Program) -> bool {
    program.threads.iter().any(|thread| leads_back(&thread.body).contains(&true))
}

/// The program with each edge that leads back taken at most `times` times by each thread. A thread that would take one
/// more stays where it then is, without being done.
pub(crate) fn unroll(program: &Program, times: usize) -> Extended {
    let mut unrolled = Extended::new(program);
    let mut layers = Vec::new();
    for thread in program.thread_ids() {
        let body = program.body(thread);
        let back = leads_back(body);
        let count = if back.contains(&true) { times + 1 } else { 1 };
        let (body, origins) = layered(body, &back, count);
        layers.push((program.body(thread).locations.len(), count));
        unrolled.own[thread.index()] = body.locations.len();
        unrolled.put(thread, (body, origins));
    }
    unrolled.program.properties = program.properties.iter().map(|property| in_layers(property, &layers)).collect();
    unrolled
}

fn layered(body: &Body, back: &[bool], count: usize) -> (Body, Vec<Origin>) {
    let size = body.locations.len();
    let at = |loc: LocId, layer: usize| LocId::new(layer * size + loc.index());
    let mut builder = BodyBuilder::new(body.registers.clone(), []);
    for location in &body.locations {
        builder.labelled_location(location.clone());
    }
    for location in std::iter::repeat_n(&body.locations, count - 1).flatten() {
        builder.location(location.span);
    }
    for layer in 0..count {
        for (index, edge) in body.edges().iter().enumerate() {
            let is_last = count > 1 && layer + 1 == count;
            if is_last {
                let stays = at(edge.from, layer);
                let stay = Edge { from: stays, to: stays, instruction: Instruction::Skip, span: edge.span };
                builder.edge(stay, Origin::default());
                continue;
            }
            let origin =
                Origin { execute: Some(EdgeId::new(index)), flush: edge.instruction.is_store(), note: Note::Nothing };
            let to = at(edge.to, layer + usize::from(back[index]));
            builder.edge(Edge { from: at(edge.from, layer), to, ..edge.clone() }, origin);
        }
    }
    builder.finish(body.entry, body.failed)
}

/// The property about all layers.
fn in_layers(property: &Property, layers: &[(usize, usize)]) -> Property {
    let everywhere = |condition: &StateExpr| {
        condition.map(&mut |atom| {
            Expr::Leaf(match atom {
                StateAtom::At { thread, locations } => {
                    let (size, count) = layers[thread.index()];
                    let copies =
                        (0..count).flat_map(|layer| locations.iter().map(move |loc| layer * size + loc.index()));
                    StateAtom::At { thread: *thread, locations: copies.map(LocId::new).collect() }
                }
                other => other.clone(),
            })
        })
    };
    Property { kind: property.kind.map_condition(everywhere), span: property.span }
}
