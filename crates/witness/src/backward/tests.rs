use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Instruction, LocId, Program, PropertyId, PropertyKind, RegId, ThreadId, Value};

use super::*;
use crate::testing::*;

mod exact;
mod forger;
mod threads;

/// `x = 1` beside `r = x`, at whose end `r` is not 2.
fn claim() -> (Program, Goal) {
    let threads = vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X)])];
    with_property(program(threads), PropertyKind::Forbid(cell_is(X, 2)))
}

fn state(location: usize, registers: &[(usize, Value)]) -> LocalState {
    let registers = registers.iter().map(|&(register, value)| (RegId::new(register), value)).collect();
    LocalState { location: LocId::new(location), registers, holds_lock: false }
}

/// Nothing leads to the goal, since nobody stores 2; so no configuration is needed.
fn proof(goal: Goal) -> BackwardProof {
    let writer = vec![vec![state(0, &[])], vec![state(1, &[])]];
    let reader = vec![vec![state(0, &[])], vec![state(1, &[])]];
    BackwardProof { goals: vec![goal], classes: vec![writer, reader], configurations: Vec::new() }
}

fn fault((program, _): &(Program, Goal), proof: &BackwardProof) -> Option<BackwardFault> {
    check_backward_proof(program, proof).err().map(|error| error.fault)
}

#[test]
fn what_nobody_stores_needs_no_configuration() {
    let claim = claim();
    assert_eq!(fault(&claim, &proof(claim.1)), None);
}

#[test]
fn every_state_of_a_thread_must_be_in_a_class() {
    let claim = claim();
    let mut less = proof(claim.1);
    less.classes[1].pop();
    assert!(matches!(fault(&claim, &less), Some(BackwardFault::MissingState(_))));
}

#[test]
fn a_set_that_holds_the_start_proves_nothing() {
    let claim = claim();
    let mut all = proof(claim.1);
    let anywhere = ThreadView { class: None, messages: Vec::new() };
    all.configurations.push(Configuration { threads: vec![anywhere.clone(), anywhere], memory: BTreeMap::new() });
    assert_eq!(fault(&claim, &all), Some(BackwardFault::HoldsTheStart));
}

#[test]
fn a_goal_outside_of_the_set_is_found() {
    let threads = vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X)])];
    let claim = with_property(program(threads), PropertyKind::Forbid(cell_is(X, 1)));
    assert_eq!(fault(&claim, &proof(claim.1)), Some(BackwardFault::GoalOutside));
}
