//! The check with shared steps accepts exactly the sets that the check of states one by one accepts.

use weir_ir::{PropertyId, Uninterrupted};

use super::super::check::{Checker, Claim};
use super::super::collapse::{Opinion, opinion};
use super::definition::{ALL, sample};
use super::reference::closure;
use super::*;
use crate::Model;

fn packed(program: &Program, states: &[AbstractState]) -> PackedStates {
    let registers = |thread| (0..program.body(thread).registers.len()).map(RegId::new).collect::<Vec<_>>();
    let listed = |thread| vec![registers(thread); program.body(thread).locations.len()];
    let mut packer = Packer::new(program.thread_ids().map(listed).collect());
    states.iter().for_each(|state| packer.add(state));
    packer.finish()
}

/// Whether all states together are accepted, and whether they are one by one.
fn both(program: &Program, (model, buffering): (Model, Buffering), goal: Goal, set: &PackedStates) -> (bool, bool) {
    let claim = Claim { model, buffering, goals: &[goal] };
    let mut checker = Checker::new(program, claim, set).expect("supported");
    checker.list(set.listed()).expect("the registers of the program");
    let together = matches!(opinion(&checker, &Uninterrupted), Ok(Opinion::Accepted));
    (together, checker.check(set.iter(), &Uninterrupted).is_ok())
}

/// What reads or changes more than a thread and the memory.
fn special() -> Vec<Program> {
    let lock = || vec![Instruction::Lock, store(X, 1), store(Y, 1), Instruction::Unlock];
    let bodies = [
        vec![vec![store(X, 1), Instruction::Membarrier, load(0, Y)], vec![store(Y, 1), Instruction::Membarrier]],
        vec![vec![Instruction::Membarrier, store(X, 1)], vec![store(Y, 1), store(X, 2), load(0, X)]],
        vec![lock(), lock()],
        vec![lock(), vec![store(X, 2), load(0, Y), Instruction::Lock]],
    ];
    let threads = |bodies: Vec<Vec<Instruction>>| bodies.into_iter().map(sequence).collect();
    bodies.into_iter().map(|bodies| family::with_data(program(threads(bodies)))).collect()
}

#[test]
fn states_that_share_steps_are_accepted_as_they_are_one_by_one() {
    let (mut accepted, mut refused) = (0, 0);
    let mut compare = |program: &Program, way, goal, states: &[AbstractState]| {
        let (together, one_by_one) = both(program, way, goal, &packed(program, states));
        assert_eq!(together, one_by_one, "{way:?} {goal:?}");
        *if together { &mut accepted } else { &mut refused } += 1;
    };
    for program in sample().into_iter().chain(special()) {
        for buffering in ALL.into_iter().chain([Buffering::EXACT]) {
            let Some(states) = closure(&program, buffering, 600) else { continue };
            let drained = |state: &&AbstractState| state.threads.iter().all(|own| own.buffer.is_empty());
            let without_buffers: Vec<AbstractState> = states.iter().filter(drained).cloned().collect();
            for id in 0..program.properties.len() {
                let goal = Goal::Property(PropertyId::new(id));
                compare(&program, (Model::Tso, buffering), goal, &states);
                compare(&program, (Model::Sc, buffering), goal, &states);
                compare(&program, (Model::Sc, buffering), goal, &without_buffers);
            }
            let goal = Goal::Assertion(ThreadId(0));
            for missing in (0..states.len()).step_by(states.len() / 8 + 1) {
                let mut part = states.clone();
                part.swap_remove(missing);
                compare(&program, (Model::Tso, buffering), goal, &part);
            }
        }
    }
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} accepted, {refused} refused");
}
