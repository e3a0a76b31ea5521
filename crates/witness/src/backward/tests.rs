use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{
    Address, BinaryOp, Expr, Instruction, LocId, Program, PropertyId, PropertyKind, RegId, StateAtom, ThreadId, Value,
};

use super::*;
use crate::testing::*;

mod copies;
mod exact;
mod forger;
mod threads;
mod vague;

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
    all.configurations.push(configuration(vec![anywhere.clone(), anywhere], &[]));
    assert_eq!(fault(&claim, &all), Some(BackwardFault::HoldsTheStart));
}

#[test]
fn a_goal_outside_of_the_set_is_found() {
    let threads = vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X)])];
    let claim = with_property(program(threads), PropertyKind::Forbid(cell_is(X, 1)));
    assert_eq!(fault(&claim, &proof(claim.1)), Some(BackwardFault::GoalOutside));
}

/// Two threads with the same text, of which the proof tells different states apart.
#[test]
fn threads_change_places_only_if_their_classes_are_the_same() {
    let threads = vec![sequence(vec![Instruction::Skip, Instruction::Skip]); 2];
    let [early, late] = [[&[0][..], &[1, 2]], [&[0, 1], &[2]]];
    let classes = |parts: [&[usize]; 2]| -> Vec<Vec<LocalState>> {
        parts.iter().map(|part| part.iter().map(|&location| state(location, &[])).collect()).collect()
    };
    for (left, right, can_change) in
        [(early, early, true), (late, late, true), (early, late, false), (late, early, false)]
    {
        // One in its first class, the other in its second: the proof says it the other way round.
        let place = |thread: u32, part: &[usize]| {
            let locations = part.iter().map(|&location| LocId::new(location)).collect();
            Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations })
        };
        let condition = Expr::binary(BinaryOp::And, place(0, left[0]), place(1, right[1]));
        let claim = with_property(program(threads.clone()), PropertyKind::Forbid(condition));
        let configurations = vec![configuration(vec![at(1, &[]), at(0, &[])], &[])];
        let other =
            BackwardProof { goals: vec![claim.1], classes: vec![classes(left), classes(right)], configurations };
        // The goal can be reached, so that it is no proof in any case.
        let expected = if can_change { BackwardFault::Enters } else { BackwardFault::GoalOutside };
        assert_eq!(fault(&claim, &other), Some(expected), "{left:?} {right:?}");
    }
}

fn open() -> ThreadView {
    ThreadView { class: None, messages: Vec::new() }
}

fn at(class: usize, messages: &[Message]) -> ThreadView {
    ThreadView { class: Some(class), messages: messages.to_vec() }
}

fn configuration(threads: Vec<ThreadView>, memory: &[(Address, Value)]) -> Configuration {
    Configuration { threads, copies: Vec::new(), memory: memory.iter().copied().collect() }
}

#[test]
fn a_proof_must_speak_of_the_threads_places_and_registers_of_the_program() {
    let claim = claim();
    let whole = proof(claim.1);
    let refused = |change: &dyn Fn(&mut BackwardProof)| {
        let mut other = whole.clone();
        change(&mut other);
        assert_eq!(fault(&claim, &other), Some(BackwardFault::Malformed), "{other:?}");
    };
    refused(&|proof| proof.classes.truncate(1));
    refused(&|proof| proof.classes.push(Vec::new()));
    refused(&|proof| proof.classes[0].push(Vec::new()));
    refused(&|proof| proof.classes[0].push(vec![state(2, &[])]));
    refused(&|proof| proof.classes[0].push(vec![state(1, &[])]));
    refused(&|proof| proof.classes[0][1] = vec![state(1, &[(3, 0)])]);
    refused(&|proof| proof.classes[0][1].push(state(1, &[(0, 0)])));
    let locked = || LocalState { holds_lock: true, ..state(1, &[]) };
    refused(&|proof| proof.classes[0][1].push(locked()));
    refused(&|proof| proof.classes[0][1].insert(0, locked()));
    let own = |address, value| Message::Own(address, value);
    let sent = |parts: &[(Address, Value)]| Message::Memory(parts.to_vec());
    let views = [
        vec![open()],
        vec![open(), open(), open()],
        vec![open(), at(2, &[])],
        vec![ThreadView { class: None, messages: vec![sent(&[(X, 1)])] }, open()],
        vec![at(0, &[own(X, 1), own(X, 1)]), open()],
        vec![at(0, &[sent(&[])]), open()],
        vec![at(0, &[sent(&[(Y, 1), (X, 1)])]), open()],
        vec![at(0, &[sent(&[(X, 1), (X, 1)])]), open()],
    ];
    for threads in views {
        refused(&|proof| proof.configurations.push(configuration(threads.clone(), &[(X, 2)])));
        let mut other = whole.clone();
        other.configurations.push(configuration(threads.clone(), &[(X, 2)]));
        assert_eq!(check_backward_proof(&claim.0, &other).expect_err("malformed").configuration, Some(0));
    }
}

#[test]
fn the_error_says_what_is_wrong_and_where() {
    let message = |(program, _): &(Program, Goal), proof: &BackwardProof| {
        let error = check_backward_proof(program, proof).expect_err("no proof");
        (error.configuration, error.to_string())
    };
    let claim = claim();
    let mut missing = proof(claim.1);
    missing.classes[1].pop();
    assert_eq!(message(&claim, &missing), (None, "P1 can be in a state that belongs to no class".to_owned()));
    let threads = vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X)])];
    let reached = with_property(program(threads), PropertyKind::Forbid(cell_is(X, 1)));
    let outside = "a state that violates a property is not among the configurations".to_owned();
    assert_eq!(message(&reached, &proof(reached.1)), (None, outside));
    let mut entered = proof(reached.1);
    entered.configurations.push(configuration(vec![at(1, &[]), open()], &[(X, 7)]));
    entered.configurations.push(configuration(vec![at(1, &[]), open()], &[(X, 1)]));
    entered.configurations.push(configuration(vec![at(0, &[]), open()], &[(X, 1)]));
    let enters = "a step leads here from a configuration that is missing".to_owned();
    assert_eq!(message(&reached, &entered), (Some(1), enters));
    let mut all = proof(reached.1);
    all.configurations.push(configuration(vec![open(), open()], &[]));
    assert_eq!(message(&reached, &all), (None, "the initial state is one of the configurations".to_owned()));
}

#[test]
fn goals_that_are_none_are_refused() {
    let claim = claim();
    let with = |goals: Vec<Goal>| fault(&claim, &BackwardProof { goals, ..proof(claim.1) });
    assert_eq!(with(Vec::new()), Some(BackwardFault::UnknownGoal));
    for goal in [Goal::NotRobust, Goal::Assertion(ThreadId(2)), Goal::Property(PropertyId(1))] {
        assert_eq!(with(vec![goal]), Some(BackwardFault::UnknownGoal));
        assert_eq!(with(vec![claim.1, goal]), Some(BackwardFault::UnknownGoal));
    }
    assert_eq!(with(vec![Goal::Assertion(ThreadId(1))]), None, "a thread that asserts nothing cannot fail");
    let (program, goal) = with_property(claim.0.clone(), PropertyKind::ForbidDeadlock);
    assert_eq!(fault(&(program, goal), &proof(goal)), Some(BackwardFault::Deadlock));
}

#[test]
fn a_goal_may_not_depend_on_what_a_class_leaves_open() {
    use weir_ir::{BinaryOp, Expr, StateAtom};
    let reader = sequence(vec![load(0, X)]);
    let register = Expr::Leaf(StateAtom::Register { thread: ThreadId(1), register: RegId(0) });
    let two = Expr::binary(BinaryOp::Equal, register, Expr::Const(2));
    let claim = with_property(program(vec![sequence(vec![store(X, 1)]), reader]), PropertyKind::Forbid(two));
    let unlisted = proof(claim.1);
    assert_eq!(fault(&claim, &unlisted), Some(BackwardFault::Malformed), "the register is not listed");
    let mut listed = unlisted.clone();
    listed.classes[1] = vec![vec![state(0, &[(0, 0)])], vec![state(1, &[(0, 0)])], vec![state(1, &[(0, 1)])]];
    assert_eq!(fault(&claim, &listed), None);
    let mut mixed = listed.clone();
    mixed.classes[1] = vec![vec![state(0, &[(0, 0)])], vec![state(1, &[(0, 0)]), state(1, &[(0, 1)])]];
    assert_eq!(fault(&claim, &mixed), Some(BackwardFault::Mixed(ThreadId(1))));
    // Where the goal looks at places alone, it is enough that these agree.
    let place = family::both(family::at(1, vec![LocId(1)]), cell_is(X, 2));
    let placed = with_property(claim.0.clone(), PropertyKind::Forbid(place));
    assert_eq!(fault(&placed, &BackwardProof { goals: vec![placed.1], ..mixed }), None);
    listed.classes[1].pop();
    assert_eq!(fault(&claim, &listed), Some(BackwardFault::MissingState(ThreadId(1))));
}

#[test]
fn what_a_state_does_not_tell_cannot_be_computed_with() {
    let body = sequence(vec![load(0, X), Instruction::Store { address: number(Y), value: reg(0) }]);
    let claim = with_property(program(vec![body]), PropertyKind::Forbid(cell_is(Y, 2)));
    let classes = vec![vec![vec![state(0, &[])], vec![state(1, &[])], vec![state(2, &[])]]];
    let unlisted = BackwardProof { goals: vec![claim.1], classes, configurations: Vec::new() };
    assert_eq!(fault(&claim, &unlisted), Some(BackwardFault::UnknownRegister(ThreadId(0), RegId(0))));
}

#[test]
fn too_many_values_and_what_cannot_be_checked_are_refused() {
    let body = sequence(vec![havoc(0, 0, 10_000), Instruction::Store { address: number(X), value: reg(0) }]);
    let claim = with_property(program(vec![body]), PropertyKind::Forbid(cell_is(X, -1)));
    let chosen = |most: Value| (0..=most).map(|value| state(1, &[(0, value)])).collect();
    let classes = |most| vec![vec![vec![state(0, &[])], chosen(most), vec![state(2, &[])]]];
    let many = |most| BackwardProof { goals: vec![claim.1], classes: classes(most), configurations: Vec::new() };
    assert_eq!(fault(&claim, &many(10_000)), Some(BackwardFault::TooManyValues(X)));
    assert_eq!(fault(&claim, &many(9_999)), Some(BackwardFault::MissingState(ThreadId(0))));
    let spawning = program(vec![sequence(vec![Instruction::Spawn(ThreadId(0))])]);
    let spawning = with_property(spawning, PropertyKind::Forbid(cell_is(X, 2)));
    let mut few = many(1);
    few.classes = vec![vec![vec![state(0, &[])], vec![state(1, &[])]]];
    assert_eq!(fault(&spawning, &few), Some(BackwardFault::Unsupported));
}

#[test]
fn threads_that_do_the_same_may_change_places_and_others_may_not() {
    // Either stores what it chose. That P0 chose 1 and P1 chose 0 is possible, and so is the reverse.
    let body = || sequence(vec![havoc(0, 0, 1), Instruction::Store { address: number(X), value: reg(0) }]);
    let chose = |first, second| {
        let at_end = |thread| family::at(thread, vec![LocId(2)]);
        let chose = family::both(family::register_is(0, 0, first), family::register_is(1, 0, second));
        PropertyKind::Forbid(family::both(family::both(at_end(0), at_end(1)), chose))
    };
    for (first, second, expected) in
        [(1, 0, forger::Outcome::Refused), (0, 1, forger::Outcome::Refused), (1, 2, forger::Outcome::Accepted)]
    {
        let (program, goal) = with_property(program(vec![body(), body()]), chose(first, second));
        let mut forger = forger::Forger::new(&program, vec![goal], 60).expect("few states");
        assert_eq!(forger.run(1_000), expected, "{first} {second}");
    }
}

/// The configurations without those that are like an earlier one with the two threads exchanged.
fn one_of_each_pair(proof: &BackwardProof) -> BackwardProof {
    let mut kept: Vec<Configuration> = Vec::new();
    for configuration in &proof.configurations {
        let mut mirrored = configuration.clone();
        mirrored.threads.reverse();
        if !kept.contains(&mirrored) {
            kept.push(configuration.clone());
        }
    }
    BackwardProof { configurations: kept, ..proof.clone() }
}

/// Two threads that exchange a flag for a value of their own, and go on if it was down.
fn flags(first: Value, second: Value) -> (Program, BackwardProof) {
    let body = |value| {
        let guard = Instruction::Assume(equal(reg(0), number(0)));
        sequence(vec![exchange(0, X, value), guard, store(Y, value), Instruction::Skip])
    };
    let critical = family::both(family::at(0, vec![LocId(3)]), family::at(1, vec![LocId(3)]));
    let (program, goal) = with_property(program(vec![body(first), body(second)]), PropertyKind::Forbid(critical));
    let mut forger = forger::Forger::new(&program, vec![goal], 60).expect("few states");
    assert_eq!(forger.run(1_000), forger::Outcome::Accepted);
    let proof = forger.proof;
    (program, proof)
}

#[test]
fn of_threads_that_do_the_same_one_order_is_enough() {
    let (program, whole) = flags(1, 1);
    let claim = (program, whole.goals[0]);
    let half = one_of_each_pair(&whole);
    assert!(half.configurations.len() < whole.configurations.len());
    assert_eq!(fault(&claim, &half), None);
    let mut refused = 0;
    for at in 0..half.configurations.len() {
        let mut part = half.clone();
        part.configurations.remove(at);
        refused += usize::from(fault(&claim, &part).is_some());
    }
    assert!(refused * 4 > half.configurations.len() * 3, "{refused} of {}", half.configurations.len());
}

#[test]
fn threads_that_differ_are_not_exchanged() {
    let (program, whole) = flags(1, 2);
    let half = one_of_each_pair(&whole);
    assert!(half.configurations.len() < whole.configurations.len());
    let claim = (program, whole.goals[0]);
    assert_eq!(fault(&claim, &whole), None);
    assert!(fault(&claim, &half).is_some(), "another value");
    // The same threads, but the numbers of the classes mean something else for each.
    let (program, mut whole) = flags(1, 1);
    let last = whole.classes[1].len() - 1;
    whole.classes[1].reverse();
    for configuration in &mut whole.configurations {
        let class = &mut configuration.threads[1].class;
        *class = class.map(|class| last - class);
    }
    let claim = (program, whole.goals[0]);
    assert_eq!(fault(&claim, &whole), None);
    assert!(fault(&claim, &one_of_each_pair(&whole)).is_some(), "other numbers");
}

#[test]
fn an_interrupted_check_accepts_nothing() {
    let claim = claim();
    let proof = proof(claim.1);
    let interrupted =
        |interrupt: &Asked| check_backward_proof_until(&claim.0, &proof, interrupt).map_err(|error| error.fault);
    assert!(refused_at_each_question(interrupted, &BackwardFault::Interrupted) > 0);
}
