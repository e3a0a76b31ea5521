//! All programs that are one edit away, the boldest edits first.

use std::collections::BTreeSet;

use weir_ir::{
    Body, Edge, EdgeId, Expr, Instruction, LocId, Location, Program, PropertyKind, RegExpr, RegId, StateAtom,
    StateExpr, ThreadId, Value,
};

use super::expressions::{smaller, smaller_instructions};
use crate::sketch::for_each_register;

/// All programs that are one edit away from `program`. Not all are valid or smaller: the caller looks.
pub(super) fn all(program: &Program) -> impl Iterator<Item = Program> {
    let threads = program.thread_ids().map(|thread| without_thread(program, thread));
    let properties = (0..program.properties.len()).map(|index| without_property(program, index));
    let tidied = program.thread_ids().map(|thread| without_unreachable(program, thread));
    let dropped = each_edge(program).map(|(thread, edge)| without_edge(program, thread, edge));
    let contracted = each_edge(program).filter_map(|(thread, edge)| contracted(program, thread, edge));
    let registers = program.thread_ids().map(|thread| without_unused_registers(program, thread));
    let declarations = (0..program.shared.len()).flat_map(|index| plainer_declarations(program, index));
    let instructions = each_edge(program).flat_map(|(thread, edge)| plainer_instructions(program, thread, edge));
    let conditions = (0..program.properties.len()).flat_map(|index| plainer_conditions(program, index));
    threads
        .chain(properties)
        .chain(tidied)
        .chain(dropped)
        .chain(contracted)
        .chain(registers)
        .chain(declarations)
        .chain(instructions)
        .chain(conditions)
}

fn each_edge(program: &Program) -> impl Iterator<Item = (ThreadId, EdgeId)> {
    program
        .thread_ids()
        .flat_map(|thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge))))
}

fn without_property(program: &Program, index: usize) -> Program {
    let mut edited = program.clone();
    edited.properties.remove(index);
    edited
}

/// Properties see a thread that is gone nowhere, with all registers at 0.
fn without_thread(program: &Program, gone: ThreadId) -> Program {
    let renumber = |thread: ThreadId| if thread > gone { ThreadId(thread.0 - 1) } else { thread };
    let mut edited = program.clone();
    edited.threads.remove(gone.index());
    for thread in &mut edited.threads {
        let edges = thread.body.edges().iter().filter(|edge| edge.instruction != Instruction::Spawn(gone)).cloned();
        let edges = edges.map(|edge| match edge.instruction {
            Instruction::Spawn(spawned) => Edge { instruction: Instruction::Spawn(renumber(spawned)), ..edge },
            _ => edge,
        });
        thread.body = with_edges(&thread.body, edges.collect());
    }
    map_atoms(&mut edited, |atom| match atom {
        StateAtom::At { thread, .. } | StateAtom::Register { thread, .. } if *thread == gone => Expr::Const(0),
        StateAtom::At { thread, locations } => {
            Expr::Leaf(StateAtom::At { thread: renumber(*thread), locations: locations.clone() })
        }
        StateAtom::Register { thread, register } => {
            Expr::Leaf(StateAtom::Register { thread: renumber(*thread), register: *register })
        }
        StateAtom::Cell(_) => Expr::Leaf(atom.clone()),
    });
    edited
}

fn without_edge(program: &Program, thread: ThreadId, gone: EdgeId) -> Program {
    let body = program.body(thread);
    let edges = body.edges().iter().enumerate().filter(|(index, _)| *index != gone.index());
    let mut edited = program.clone();
    edited.threads[thread.index()].body = with_edges(body, edges.map(|(_, edge)| edge.clone()).collect());
    edited
}

/// Without the edge, and with its two ends made one.
fn contracted(program: &Program, thread: ThreadId, gone: EdgeId) -> Option<Program> {
    let (from, to) = (program.body(thread).edge(gone).from, program.body(thread).edge(gone).to);
    let rest = without_edge(program, thread, gone);
    (from != to).then(|| relocated(&rest, thread, |location| Some(if location == to { from } else { location })))
}

/// Without the locations that no path leads to, and without a place for assertions to fail if there are none.
fn without_unreachable(program: &Program, thread: ThreadId) -> Program {
    let body = program.body(thread);
    let mut reachable = BTreeSet::from([body.entry]);
    let mut open = vec![body.entry];
    while let Some(at) = open.pop() {
        for (_, edge) in body.edges_from(at) {
            let failed = body.failed.filter(|_| matches!(edge.instruction, Instruction::Assert(_)));
            open.extend([Some(edge.to), failed].into_iter().flatten().filter(|next| reachable.insert(*next)));
        }
    }
    relocated(program, thread, |location| reachable.contains(&location).then_some(location))
}

/// Sends each location of a thread to another one or to nowhere, and renumbers those that are left.
fn relocated(program: &Program, thread: ThreadId, target: impl Fn(LocId) -> Option<LocId>) -> Program {
    let body = program.body(thread);
    let kept: BTreeSet<LocId> = body.location_ids().filter_map(&target).collect();
    let place = |location: LocId| {
        let target = target(location)?;
        kept.iter().position(|&other| other == target).map(LocId::new)
    };
    let mut locations = vec![Location::default(); kept.len()];
    for (index, location) in body.locations.iter().enumerate() {
        if let Some(new) = place(LocId::new(index)) {
            locations[new.index()].labels.extend(location.labels.clone());
            locations[new.index()].span = location.span;
        }
    }
    let edges = body
        .edges()
        .iter()
        .filter_map(|edge| Some(Edge { from: place(edge.from)?, to: place(edge.to)?, ..edge.clone() }));
    let entry = place(body.entry).unwrap_or(LocId(0));
    let failed = body.failed.and_then(&place);
    let mut edited = program.clone();
    edited.threads[thread.index()].body = Body::new(body.registers.clone(), locations, entry, failed, edges.collect());
    map_atoms(&mut edited, |atom| match atom {
        StateAtom::At { thread: observed, locations } if *observed == thread => {
            let locations: BTreeSet<LocId> = locations.iter().copied().filter_map(&place).collect();
            at_one_of(thread, locations.into_iter().collect())
        }
        other => Expr::Leaf(other.clone()),
    });
    edited
}

fn at_one_of(thread: ThreadId, locations: Vec<LocId>) -> StateExpr {
    if locations.is_empty() { Expr::Const(0) } else { Expr::Leaf(StateAtom::At { thread, locations }) }
}

fn without_unused_registers(program: &Program, thread: ThreadId) -> Program {
    let body = program.body(thread);
    let mut used = BTreeSet::new();
    body.edges()
        .iter()
        .for_each(|edge| for_each_register(&edge.instruction, &mut |register| _ = used.insert(register)));
    let place = |register: RegId| RegId::new(used.iter().position(|&other| other == register).unwrap_or(0));
    let mut edited = program.clone();
    map_atoms(&mut edited, |atom| match atom {
        StateAtom::Register { thread: owner, register } if *owner == thread => {
            if used.contains(register) {
                Expr::Leaf(StateAtom::Register { thread, register: place(*register) })
            } else {
                Expr::Const(0)
            }
        }
        other => Expr::Leaf(other.clone()),
    });
    let edges = body.edges().iter();
    let edges = edges.map(|edge| Edge { instruction: renamed(&edge.instruction, &place), ..edge.clone() }).collect();
    let registers = used.iter().map(|register| body.registers[register.index()].clone()).collect();
    edited.threads[thread.index()].body = Body::new(registers, body.locations.clone(), body.entry, body.failed, edges);
    edited
}

/// The instruction with other registers.
fn renamed(instruction: &Instruction, place: &impl Fn(RegId) -> RegId) -> Instruction {
    let expr = |expr: &RegExpr| expr.map(&mut |register| Expr::Leaf(place(*register)));
    let mut renamed = instruction.clone();
    match &mut renamed {
        Instruction::Load { register, .. }
        | Instruction::Assign { register, .. }
        | Instruction::Havoc { register, .. }
        | Instruction::ReadModifyWrite { register: Some(register), .. }
        | Instruction::Call { register: Some(register), .. } => *register = place(*register),
        Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
            loads.iter_mut().for_each(|(register, _)| *register = place(*register))
        }
        _ => {}
    }
    crate::sketch::operands_mut(&mut renamed).into_iter().for_each(|operand| *operand = expr(operand));
    renamed
}

/// Undeclared; without range; all at 0. The cells themselves remain, as all addresses do.
fn plainer_declarations(program: &Program, index: usize) -> Vec<Program> {
    let mut undeclared = program.clone();
    undeclared.shared.remove(index);
    let mut unbounded = program.clone();
    unbounded.shared[index].range = None;
    let mut zeroed = program.clone();
    let low: Value = zeroed.shared[index].range.map_or(0, |range| 0.clamp(range.low, range.high));
    zeroed.shared[index].initial.fill(low);
    vec![undeclared, unbounded, zeroed]
}

fn plainer_instructions(program: &Program, thread: ThreadId, id: EdgeId) -> Vec<Program> {
    let body = program.body(thread);
    let replaced = |instruction: Instruction| {
        let mut edges = body.edges().to_vec();
        edges[id.index()].instruction = instruction;
        let mut edited = program.clone();
        edited.threads[thread.index()].body = with_edges(body, edges);
        edited
    };
    smaller_instructions(&body.edge(id).instruction).into_iter().map(replaced).collect()
}

fn plainer_conditions(program: &Program, index: usize) -> Vec<Program> {
    let kind = &program.properties[index].kind;
    let conditions = kind.condition().map(smaller).unwrap_or_default();
    let kinds: Vec<PropertyKind> = conditions.into_iter().map(|condition| kind.map_condition(|_| condition)).collect();
    let replaced = |kind| {
        let mut edited = program.clone();
        edited.properties[index].kind = kind;
        edited
    };
    kinds.into_iter().map(replaced).collect()
}

fn with_edges(body: &Body, edges: Vec<Edge>) -> Body {
    Body::new(body.registers.clone(), body.locations.clone(), body.entry, body.failed, edges)
}

fn map_atoms(program: &mut Program, atom: impl Fn(&StateAtom) -> StateExpr) {
    for property in &mut program.properties {
        property.kind = property.kind.map_condition(|condition| condition.map(&mut |leaf| atom(leaf)));
    }
}
