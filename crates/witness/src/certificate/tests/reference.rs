//! What makes a set of states a certificate, by the definition.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Program, PropertyKind, RegId, StateAtom, ThreadId, Value};

use super::super::*;
use super::naive::{ANY, is_empty, start, steps};
use crate::run::Goal;

/// Whether the state shows the goal; `None` if that depends on a register that it does not tell.
pub(super) fn shows(program: &Program, buffering: Buffering, state: &AbstractState, goal: Goal) -> Option<bool> {
    let is_drained = state.threads.iter().all(|own| is_empty(&own.buffer));
    let is_done = |thread: ThreadId| program.body(thread).is_done(state.threads[thread.index()].location);
    let all_done = program.thread_ids().all(is_done);
    let is_final = is_drained && all_done;
    let with = |condition: &weir_ir::StateExpr, other: Value| {
        condition.eval(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                Value::from(locations.contains(&state.threads[thread.index()].location))
            }
            StateAtom::Register { thread, register } => {
                state.threads[thread.index()].registers.get(register).copied().unwrap_or(other)
            }
            StateAtom::Cell(address) => {
                state.memory.get(address).copied().unwrap_or_else(|| program.initial_value(*address))
            }
        }) != 0
    };
    let holds = |condition| {
        let found = with(condition, ANY[0]);
        ANY.iter().all(|&other| with(condition, other) == found).then_some(found)
    };
    match goal {
        Goal::Assertion(thread) => Some(program.body(thread).failed == Some(state.threads[thread.index()].location)),
        Goal::NotRobust => None,
        Goal::Property(id) => match &program.properties[id.index()].kind {
            PropertyKind::Forbid(condition) if is_drained => holds(condition),
            PropertyKind::Exists(condition) if is_final => holds(condition),
            PropertyKind::Always(condition) if is_final => holds(condition).map(|holds| !holds),
            PropertyKind::ForbidDeadlock => {
                let next = steps(program, buffering, state)?.into_iter().flat_map(|(_, _, next)| next);
                Some(!all_done && next.count() == 0)
            }
            _ => Some(false),
        },
    }
}

/// All states that steps lead to, the first one first; none if there are more than `limit`.
pub(super) fn closure(program: &Program, buffering: Buffering, limit: usize) -> Option<Vec<AbstractState>> {
    closure_from(program, buffering, start(program), limit)
}

/// As [`closure`], from another state.
pub(super) fn closure_from(
    program: &Program,
    buffering: Buffering,
    first: AbstractState,
    limit: usize,
) -> Option<Vec<AbstractState>> {
    let (mut states, mut seen, mut at) = (vec![first.clone()], BTreeSet::from([first]), 0);
    while let Some(state) = states.get(at).cloned() {
        at += 1;
        for next in steps(program, buffering, &state)?.into_iter().flat_map(|(_, _, next)| next) {
            if seen.insert(next.clone()) {
                states.push(next);
            }
        }
        if states.len() > limit {
            return None;
        }
    }
    Some(states)
}

/// Whether it is a certificate, by the definition.
pub(super) fn is_certificate(program: &Program, certificate: &Certificate) -> bool {
    let mut listed: BTreeMap<(usize, weir_ir::LocId), BTreeSet<RegId>> = BTreeMap::new();
    for state in &certificate.states {
        if state.threads.len() != program.threads.len() {
            return false;
        }
        for (place, own) in state.threads.iter().enumerate() {
            let body = &program.threads[place].body;
            let registers: BTreeSet<RegId> = own.registers.keys().copied().collect();
            let fits = own.location.index() < body.locations.len()
                && registers.iter().all(|register| register.index() < body.registers.len());
            if !fits || *listed.entry((place, own.location)).or_insert_with(|| registers.clone()) != registers {
                return false;
            }
        }
    }
    let is_told = |place: usize, own: &AbstractThread, register: &RegId| {
        listed.get(&(place, own.location)).is_some_and(|listed| listed.contains(register))
    };
    let covers = |mut state: AbstractState| {
        for (place, own) in state.threads.iter_mut().enumerate() {
            let before = own.clone();
            own.registers.retain(|register, _| is_told(place, &before, register));
        }
        certificate.states.contains(&state)
    };
    let is_closed = |state: &AbstractState| {
        let steps = steps(program, certificate.buffering, state);
        steps.is_some_and(|steps| steps.into_iter().flat_map(|(_, _, next)| next).all(covers))
    };
    let is_shown = |state: &AbstractState, goal| shows(program, certificate.buffering, state, goal);
    let shows_none = |state: &AbstractState| certificate.goals.iter().all(|&goal| is_shown(state, goal) == Some(false));
    covers(start(program)) && certificate.states.iter().all(|state| is_closed(state) && shows_none(state))
}
