//! Where a body is done. One such place is the end of the text, the others are `end;`.
//!
//! `terminate` leads to the end of the text; an edge with that instruction to another place is a step like
//! any other. In a procedure, a thread that is done has left it, so one place is enough there.
//!
//! The place of failed assertions has no name in `.weir`. Where a property looks at it, assertions become
//! tests, and the side that fails sets a register before it fails for good; the property then asks for that
//! register, too. It gives the same answer before that step and after it. Registers of a `[*]` or `[0]`
//! thread cannot be observed; there the step sets none.

use std::cmp::Reverse;

use weir_ir::{
    BinaryOp, Body, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program, RegId, Register, Span, StateAtom,
    Thread, ThreadId,
};

use super::prune::{conditions, map_conditions};

/// The same program with ends as the text has them.
pub(super) fn spelled_out(program: &Program) -> Program {
    let mut spelled_out = program.clone();
    for procedure in &mut spelled_out.procedures {
        unite(&mut procedure.body);
    }
    for id in program.thread_ids() {
        let thread = &mut spelled_out.threads[id.index()];
        step_to_other_ends(&mut thread.body);
        let observed = thread.body.failed.filter(|&failed| is_observed(program, id, failed));
        let Some((failed, register)) = observed.and_then(|failed| spell_out_assertions(thread, failed)) else {
            continue;
        };
        map_conditions(&mut spelled_out.properties, &mut |atom| match atom {
            StateAtom::At { thread, locations } if *thread == id && locations.contains(&failed) => {
                let has_failed = Expr::Leaf(StateAtom::Register { thread: id, register });
                Expr::binary(BinaryOp::Or, Expr::Leaf(atom.clone()), has_failed)
            }
            _ => Expr::Leaf(atom.clone()),
        });
    }
    spelled_out
}

/// The place where a body is done that has the end of the text: where `terminate` leads, else the busiest
/// one; of equals the first.
pub(super) fn last(body: &Body) -> Option<LocId> {
    let mut edges_to = vec![(0usize, 0usize); body.locations.len()];
    for edge in body.edges() {
        let (terminate, all) = &mut edges_to[edge.to.index()];
        *terminate += usize::from(edge.instruction == Instruction::Terminate);
        *all += 1;
    }
    let done = body.location_ids().filter(|&loc| body.is_done(loc));
    done.max_by_key(|&loc| (edges_to[loc.index()], Reverse(loc)))
}

/// Leads every edge to a place where the body is done to the last of these.
fn unite(body: &mut Body) {
    let Some(last) = last(body) else { return };
    let of = |loc: LocId| if body.is_done(loc) { last } else { loc };
    let edges = body.edges().iter().map(|edge| Edge { to: of(edge.to), ..edge.clone() }).collect();
    *body = Body::new(body.registers.clone(), body.locations.clone(), of(body.entry), body.failed, edges);
}

/// Replaces each `terminate` that does not lead to the end of the text.
fn step_to_other_ends(body: &mut Body) {
    let last = last(body);
    let edges = body.edges().iter().map(|edge| {
        let leads_elsewhere = edge.instruction == Instruction::Terminate && Some(edge.to) != last;
        let instruction = if leads_elsewhere { Instruction::Skip } else { edge.instruction.clone() };
        Edge { instruction, ..edge.clone() }
    });
    let edges = edges.collect();
    *body = Body::new(body.registers.clone(), body.locations.clone(), body.entry, body.failed, edges);
}

/// Whether a property looks at a place.
fn is_observed(program: &Program, id: ThreadId, loc: LocId) -> bool {
    let mut observed = false;
    for condition in conditions(program) {
        condition.for_each_leaf(&mut |atom| {
            observed |=
                matches!(atom, StateAtom::At { thread, locations } if *thread == id && locations.contains(&loc));
        });
    }
    observed
}

/// A new register that only ever is 0 or 1.
fn flag(name: &str, registers: &mut Vec<Register>) -> RegId {
    registers.push(Register {
        name: name.to_string(),
        is_temporary: true,
        is_thread_local: false,
        span: Span::default(),
    });
    RegId::new(registers.len() - 1)
}

/// Makes `failed` a place like any other, which assertions that fail lead to; there a register is set (it is
/// returned with the place), and then one last assertion fails.
fn spell_out_assertions(thread: &mut Thread, failed: LocId) -> Option<(LocId, RegId)> {
    let body = &mut thread.body;
    let (mut registers, mut locations) = (body.registers.clone(), body.locations.clone());
    let flag = (thread.multiplicity == Multiplicity::One).then(|| flag("failed", &mut registers));
    let mut location = || {
        locations.push(Location::default());
        LocId::new(locations.len() - 1)
    };
    let (dead_end, new_failed) = (location(), location());
    let mut edges = Vec::new();
    for edge in body.edges() {
        if let Instruction::Assert(condition) = &edge.instruction {
            let opposite = Instruction::Assume(condition.negated());
            edges.push(Edge { instruction: Instruction::Assume(condition.clone()), ..edge.clone() });
            edges.push(Edge { instruction: opposite, to: failed, ..edge.clone() });
        } else {
            edges.push(edge.clone());
        }
    }
    let set = flag.map_or(Instruction::Skip, |register| Instruction::Assign { register, value: Expr::Const(1) });
    let fail = Instruction::Assert(Expr::Const(0));
    edges.push(Edge { from: failed, to: dead_end, instruction: set, span: thread.span });
    edges.push(Edge { from: dead_end, to: dead_end, instruction: fail, span: thread.span });
    *body = Body::new(registers, locations, body.entry, Some(new_failed), edges);
    flag.map(|register| (failed, register))
}
