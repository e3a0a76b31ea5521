//! Which goals a state shows.

use weir_ir::{Program, PropertyId, PropertyKind, StateAtom, StateExpr, Value};

use super::Goal;
use super::state::State;

/// The goals that can be read off a state: not deadlock, which needs the steps, nor liveness, which needs all that
/// follows.
pub(super) fn goals_of(program: &Program, state: &State) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, property) in program.properties.iter().enumerate() {
        let shown = match &property.kind {
            PropertyKind::Forbid(condition) => state.is_drained() && holds(program, state, condition),
            PropertyKind::Exists(condition) => state.is_final(program) && holds(program, state, condition),
            PropertyKind::Always(condition) => state.is_final(program) && !holds(program, state, condition),
            PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
        };
        if shown {
            goals.push(Goal::Property(PropertyId::new(index)));
        }
    }
    for own in state.threads.values() {
        if own.body(program).failed == Some(own.location) {
            goals.push(Goal::Assertion(own.template));
        }
    }
    goals
}

/// Whether a state without any step is a deadlock: some thread is not done.
pub(super) fn is_deadlock(program: &Program, state: &State) -> bool {
    !state.all_done(program)
}

/// The goals that a deadlock shows.
pub(super) fn deadlock_properties(program: &Program) -> Vec<Goal> {
    let properties = program.properties.iter().enumerate();
    let about_deadlock = properties.filter(|(_, property)| property.kind == PropertyKind::ForbidDeadlock);
    about_deadlock.map(|(index, _)| Goal::Property(PropertyId::new(index))).collect()
}

pub(super) fn holds(program: &Program, state: &State, condition: &StateExpr) -> bool {
    condition.eval(&mut |atom| observe(program, state, atom)) != 0
}

/// A thread that does not exist is nowhere, and its registers are at 0 like all registers at the start. Of a thread that
/// was spawned, all instances count; one that is in a procedure is at none of its own places, unless it was terminated
/// there: then it is `at end`.
fn observe(program: &Program, state: &State, atom: &StateAtom) -> Value {
    match atom {
        StateAtom::At { thread, locations } => {
            let is_there = |own: &&std::rc::Rc<super::state::ThreadState>| {
                let body = program.body(*thread);
                let is_end = || body.location_ids().filter(|&loc| body.is_done(loc)).eq(locations.iter().copied());
                let is_at = match (own.procedure, own.terminated) {
                    (None, _) => locations.contains(&own.location),
                    (Some(_), is_terminated) => is_terminated && is_end(),
                };
                own.template == *thread && is_at
            };
            state.threads.values().filter(is_there).count() as Value
        }
        StateAtom::Register { thread, register } => {
            state.threads.get(thread).map_or(0, |own| own.own_register(program, *register))
        }
        StateAtom::Cell(address) => state.read_memory(program, *address),
    }
}
