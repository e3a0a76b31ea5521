//! One place to be done for each body: `.weir` has no other, the end of the text.
//!
//! Done places that no property tells apart become one, so there may be fewer states, with the same
//! verdicts. For each one that a property does tell apart there is one step more, which sets a register;
//! the property then asks for that register, too. It gives the same answer before that step and after it.
//!
//! The place of failed assertions has no name in `.weir` either. Where a property looks at it, assertions
//! become tests, and the side that fails sets a register before it fails for good.
//!
//! Registers of a `[*]` or `[0]` thread cannot be observed. There the step more is a `terminate`, after
//! which the place is no longer counted. No front end makes such a program: `.weir` itself has one end.

use std::collections::BTreeMap;

use weir_ir::{
    BinaryOp, Body, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program, RegId, Register, Span, StateAtom,
    StateExpr, Thread, ThreadId, UnaryOp,
};

use super::prune::{conditions, map_conditions};

/// The same program with at most one place to be done in each body.
pub(super) fn unified(program: &Program) -> Program {
    let mut unified = program.clone();
    for procedure in &mut unified.procedures {
        // Whoever is done in a procedure has left it.
        Ends::new(&procedure.body, &BTreeMap::new()).redirect(&mut procedure.body);
    }
    for id in program.thread_ids() {
        let thread = &mut unified.threads[id.index()];
        let observers = observers(program, id);
        let ends = Ends::new(&thread.body, &observers);
        ends.redirect(&mut thread.body);
        let mut told_apart = ends.tell_apart(thread);
        if let Some(failed) = thread.body.failed.filter(|failed| observers.contains_key(failed)) {
            told_apart.extend(spell_out_assertions(thread, failed));
        }
        map_conditions(&mut unified.properties, &mut |atom| ends.observe(atom, id, &told_apart));
    }
    unified
}

/// For each place of a thread, which of the sets that properties observe have it.
fn observers(program: &Program, id: ThreadId) -> BTreeMap<LocId, Vec<usize>> {
    let mut observers: BTreeMap<LocId, Vec<usize>> = BTreeMap::new();
    let mut count = 0;
    for condition in conditions(program) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread, locations } if *thread == id => {
                for &loc in locations {
                    observers.entry(loc).or_default().push(count);
                }
                count += 1;
            }
            _ => {}
        });
    }
    observers
}

/// The done places of a body in groups of those that nothing tells apart.
struct Ends {
    /// Each place to the one that stands for its group.
    stands_for: BTreeMap<LocId, LocId>,
    /// The one to stay done.
    last: Option<LocId>,
    /// The others that stand for a group.
    others: Vec<LocId>,
}

impl Ends {
    fn new(body: &Body, observers: &BTreeMap<LocId, Vec<usize>>) -> Self {
        let mut groups: BTreeMap<&[usize], Vec<LocId>> = BTreeMap::new();
        for loc in body.location_ids().filter(|&loc| body.is_done(loc)) {
            groups.entry(observers.get(&loc).map_or(&[], Vec::as_slice)).or_default().push(loc);
        }
        let mut edges_to: BTreeMap<LocId, usize> = BTreeMap::new();
        for edge in body.edges() {
            *edges_to.entry(edge.to).or_default() += 1;
        }
        let edges_to = |loc: &LocId| edges_to.get(loc).copied().unwrap_or(0);
        let groups: Vec<Vec<LocId>> = groups.into_values().collect();
        let weight = |group: &Vec<LocId>| group.iter().map(edges_to).sum::<usize>();
        // The busiest one has the end of the text; of equals the first.
        let last = groups.iter().rev().max_by_key(|group| weight(group)).map(|group| group[0]);
        let stands_for = groups.iter().flat_map(|group| group.iter().map(|&loc| (loc, group[0]))).collect();
        let others = groups.iter().map(|group| group[0]).filter(|&loc| Some(loc) != last).collect();
        Self { stands_for, last, others }
    }

    fn of(&self, loc: LocId) -> LocId {
        self.stands_for.get(&loc).copied().unwrap_or(loc)
    }

    /// Leads every edge to the place that stands for its own.
    fn redirect(&self, body: &mut Body) {
        let edges = body.edges().iter().map(|edge| {
            let to = self.of(edge.to);
            // `terminate` leads to the end of the text; elsewhere it is a step like any other.
            let leads_elsewhere = edge.instruction == Instruction::Terminate && Some(to) != self.last;
            let instruction = if leads_elsewhere { Instruction::Skip } else { edge.instruction.clone() };
            Edge { to, instruction, ..edge.clone() }
        });
        let edges = edges.collect();
        *body = Body::new(body.registers.clone(), body.locations.clone(), self.of(body.entry), body.failed, edges);
    }

    /// Lets the other places lead on to the last one; gives the register that each one sets.
    fn tell_apart(&self, thread: &mut Thread) -> Vec<(LocId, RegId)> {
        let Some(last) = self.last else { return Vec::new() };
        let body = &mut thread.body;
        let mut registers = body.registers.clone();
        let mut edges = body.edges().to_vec();
        let mut set = Vec::new();
        for &loc in &self.others {
            let instruction = if thread.multiplicity == Multiplicity::One {
                let register = flag("ended", &mut registers);
                set.push((loc, register));
                Instruction::Assign { register, value: Expr::Const(1) }
            } else {
                Instruction::Terminate
            };
            edges.push(Edge { from: loc, to: last, instruction, span: body.locations[loc.index()].span });
        }
        *body = Body::new(registers, body.locations.clone(), body.entry, body.failed, edges);
        set
    }

    /// What an observation of the old program is in the new one.
    fn observe(&self, atom: &StateAtom, id: ThreadId, told_apart: &[(LocId, RegId)]) -> StateExpr {
        let StateAtom::At { thread, locations } = atom else { return Expr::Leaf(atom.clone()) };
        if *thread != id {
            return Expr::Leaf(atom.clone());
        }
        let mut places: Vec<LocId> = locations.iter().map(|&loc| self.of(loc)).collect();
        places.sort_unstable();
        places.dedup();
        let has_last = self.last.is_some_and(|last| places.contains(&last));
        let mut observed = Expr::Leaf(StateAtom::At { thread: id, locations: places.clone() });
        for &(loc, register) in told_apart {
            let ended = Expr::Leaf(StateAtom::Register { thread: id, register });
            if places.contains(&loc) {
                observed = Expr::binary(BinaryOp::Or, observed, ended);
            } else if has_last && self.others.contains(&loc) {
                observed = Expr::binary(BinaryOp::And, observed, Expr::unary(UnaryOp::Not, ended));
            }
        }
        observed
    }
}

/// A new register that only ever is 0 or 1.
fn flag(name: &str, registers: &mut Vec<Register>) -> RegId {
    registers.push(Register { name: name.to_string(), is_temporary: true, span: Span::default() });
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
    let (hopeless, new_failed) = (location(), location());
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
    edges.push(Edge { from: failed, to: hopeless, instruction: set, span: thread.span });
    edges.push(Edge { from: hopeless, to: hopeless, instruction: fail, span: thread.span });
    *body = Body::new(registers, locations, body.entry, Some(new_failed), edges);
    flag.map(|register| (failed, register))
}
