//! The part of a program that control flow can reach, with locations in reverse postorder: what the
//! printer works on. Places where a thread only ever comes to end are last.
//!
//! A location that no path reaches is dropped, also from the places that properties look at: nobody is
//! ever there. The states of the program stay the same. A register of a thread that does not run from the
//! start, which no property can name, counts as 0.

use weir_ir::{Body, Edge, Expr, Instruction, LocId, Multiplicity, Program, Property, StateAtom, StateExpr};

/// The same program without locations that no path reaches.
pub(super) fn reachable(program: &Program) -> Program {
    let mut pruned = program.clone();
    for procedure in &mut pruned.procedures {
        procedure.body = Pruned::new(&procedure.body).body;
    }
    let bodies: Vec<Pruned> = program.threads.iter().map(|thread| Pruned::new(&thread.body)).collect();
    map_conditions(&mut pruned.properties, &mut |atom| match atom {
        StateAtom::Register { thread, .. } if program.thread(*thread).multiplicity != Multiplicity::One => {
            Expr::Const(0)
        }
        _ => Expr::Leaf(renumbered(atom, &bodies)),
    });
    for (thread, pruned) in pruned.threads.iter_mut().zip(bodies) {
        thread.body = pruned.body;
    }
    pruned
}

/// A body, and where each location of the original went.
struct Pruned {
    body: Body,
    new_place: Vec<Option<LocId>>,
}

impl Pruned {
    fn new(body: &Body) -> Self {
        let order = reverse_postorder(body);
        let mut new_place = vec![None; body.locations.len()];
        for (new, old) in order.iter().enumerate() {
            new_place[old.index()] = Some(LocId::new(new));
        }
        let mut locations: Vec<_> = order.iter().map(|loc| body.locations[loc.index()].clone()).collect();
        let mut place = |old: LocId| {
            *new_place[old.index()].get_or_insert_with(|| {
                locations.push(body.locations[old.index()].clone());
                LocId::new(locations.len() - 1)
            })
        };
        let mut edges = Vec::new();
        for (new, old) in order.iter().enumerate() {
            for (_, edge) in body.edges_from(*old) {
                edges.push(Edge { from: LocId::new(new), to: place(edge.to), ..edge.clone() });
            }
        }
        let failed = body.failed.map(place);
        if let Some(failed) = failed {
            // No text stands there, so no label can.
            locations[failed.index()].labels.clear();
        }
        let body = Body::new(body.registers.clone(), locations, LocId(0), failed, edges);
        Self { body, new_place }
    }
}

/// Where control goes on after an edge; nowhere if it ends the thread or procedure.
pub(super) fn goes_on(edge: &Edge) -> Option<LocId> {
    (!matches!(edge.instruction, Instruction::Terminate | Instruction::Return(_))).then_some(edge.to)
}

/// The locations that control reaches, each before those it leads to except round a loop; of two
/// branches the first one first.
fn reverse_postorder(body: &Body) -> Vec<LocId> {
    let successors = |loc| body.edges_from(loc).filter_map(|(_, edge)| goes_on(edge)).collect::<Vec<_>>();
    let mut seen = vec![false; body.locations.len()];
    let mut order = Vec::new();
    // Successors are taken from the back of each list, so that the first ends up nearest in the order.
    let mut open = vec![(body.entry, successors(body.entry))];
    seen[body.entry.index()] = true;
    while let Some((loc, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if seen[next.index()] => {}
            Some(next) => {
                seen[next.index()] = true;
                open.push((next, successors(next)));
            }
            None => {
                order.push(*loc);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

fn renumbered(atom: &StateAtom, bodies: &[Pruned]) -> StateAtom {
    let StateAtom::At { thread, locations } = atom else { return atom.clone() };
    let place = |loc: &LocId| bodies.get(thread.index())?.new_place.get(loc.index()).copied().flatten();
    let mut locations: Vec<LocId> = locations.iter().filter_map(place).collect();
    locations.sort_unstable();
    StateAtom::At { thread: *thread, locations }
}

/// The conditions of all properties that have one.
pub(super) fn conditions(program: &Program) -> impl Iterator<Item = &StateExpr> {
    program.properties.iter().filter_map(|property| property.kind.condition())
}

/// Replaces what properties observe.
pub(super) fn map_conditions(properties: &mut [Property], change: &mut impl FnMut(&StateAtom) -> StateExpr) {
    for property in properties {
        property.kind = property.kind.map_condition(|condition| condition.map(change));
    }
}
