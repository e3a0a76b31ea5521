//! What can still happen, by definition: for each reachable state, whether a state can be reached from it that meets a
//! condition.

use std::collections::BTreeSet;
use std::rc::Rc;

use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{Expr, Program, PropertyId, PropertyKind, StateAtom, StateExpr, UnaryOp};

use super::goals::holds;
use super::state::State;
use super::steps::successors;
use super::{Goal, Model, Unsupported, refuse_unsupported};
use crate::hash::{Map, Set};

/// The liveness properties (`forbid stuck`, `live`) that the program violates; `None` if it has some, and more than
/// `limit` states.
pub fn violated_liveness(program: &Program, model: Model, limit: usize) -> Result<Option<BTreeSet<Goal>>, Unsupported> {
    refuse_unsupported(program)?;
    if !program.properties.iter().any(|property| property.kind.is_liveness()) {
        return Ok(Some(BTreeSet::new()));
    }
    let Some((states, before)) = graph(program, model, limit) else { return Ok(None) };
    let is_always_possible = |condition: &StateExpr| {
        let mut can = vec![false; states.len()];
        let mut open: Vec<usize> = (0..states.len()).filter(|&at| is_met(program, &states[at], condition)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut can[at], true) {
                open.extend(&before[at]);
            }
        }
        can.into_iter().all(|can| can)
    };
    let mut violated = BTreeSet::new();
    for (index, property) in program.properties.iter().enumerate() {
        let holds = match &property.kind {
            PropertyKind::Live(condition) => is_always_possible(condition),
            PropertyKind::ForbidStuck => {
                leavable_regions(program).into_iter().all(|region| is_always_possible(&outside(region)))
            }
            _ => true,
        };
        if !holds {
            violated.insert(Goal::Property(PropertyId::new(index)));
        }
    }
    Ok(Some(violated))
}

/// The liveness properties that are lost in a state: what they ask for can never be met again; `None` if more than
/// `limit` states can follow.
pub(super) fn lost_in(program: &Program, model: Model, state: &State, limit: usize) -> Option<BTreeSet<Goal>> {
    let mut known = Set::from_iter([state.clone()]);
    let mut open = vec![state.clone()];
    while let Some(state) = open.pop() {
        for (_, _, next) in successors(program, model, &state, limit) {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
        if known.len() > limit {
            return None;
        }
    }
    let is_lost = |condition: &StateExpr| !known.iter().any(|state| is_met(program, state, condition));
    let mut lost = BTreeSet::new();
    for (index, property) in program.properties.iter().enumerate() {
        let is_lost = match &property.kind {
            PropertyKind::Live(condition) => is_lost(condition),
            PropertyKind::ForbidStuck => leavable_regions(program).into_iter().any(|region| is_lost(&outside(region))),
            _ => false,
        };
        if is_lost {
            lost.insert(Goal::Property(PropertyId::new(index)));
        }
    }
    Some(lost)
}

/// The thread is not in the region.
fn outside(region: Region) -> StateExpr {
    let inside = StateAtom::At { thread: region.thread, locations: region.locations };
    Expr::unary(UnaryOp::Not, Expr::Leaf(inside))
}

/// What refers to cells is judged at drained states.
fn is_met(program: &Program, state: &State, condition: &StateExpr) -> bool {
    let mut speaks_of_cells = false;
    condition.for_each_leaf(&mut |atom| speaks_of_cells |= matches!(atom, StateAtom::Cell(_)));
    (!speaks_of_cells || state.is_drained()) && holds(program, state, condition)
}

/// All reachable states, and for each the states that lead to it.
type Graph = (Vec<Rc<State>>, Vec<Vec<usize>>);

fn graph(program: &Program, model: Model, limit: usize) -> Option<Graph> {
    let initial = Rc::new(State::initial(program));
    let mut number: Map<Rc<State>, usize> = Map::from_iter([(Rc::clone(&initial), 0)]);
    let (mut states, mut before) = (vec![initial], vec![Vec::new()]);
    let mut at = 0;
    while at < states.len() {
        let from = Rc::clone(&states[at]);
        for (_, _, next) in successors(program, model, &from, limit) {
            let next = Rc::new(next);
            let to = *number.entry(Rc::clone(&next)).or_insert(states.len());
            if to == states.len() {
                states.push(next);
                before.push(Vec::new());
            }
            before[to].push(at);
            if states.len() > limit {
                return None;
            }
        }
        at += 1;
    }
    Some((states, before))
}
