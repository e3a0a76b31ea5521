use std::collections::BTreeMap;

use weir_ir::{Expr, Instruction, LocId, Multiplicity, RegId, StateAtom};

use super::*;
use crate::run::Model;
use crate::testing::*;

mod definition;

/// What is missing after a run in shorthand; empty if nothing is.
fn missing((program, goal): &(Program, Goal), model: Model, script: &str) -> String {
    let replay = accept(program, model, script);
    check_goal(program, &replay, *goal).map_or_else(|error| error.to_string(), |_| String::new())
}

fn one_store() -> Program {
    program(vec![sequence(vec![store(X, 1)])])
}

fn at(thread: u32, location: u32) -> StateExpr {
    Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations: vec![LocId(location)] })
}

#[test]
fn forbid_is_judged_at_drained_states() {
    let claim = with_property(one_store(), PropertyKind::Forbid(at(0, 1)));
    assert_eq!(missing(&claim, Model::Tso, ""), "the condition does not hold in the last state");
    let undrained = "the last state is not drained: the buffer of P0 holds 1 store";
    assert_eq!(missing(&claim, Model::Tso, "0"), undrained);
    assert_eq!(missing(&claim, Model::Tso, "0 0f"), "");
    assert_eq!(missing(&claim, Model::Sc, "0"), "");
}

#[test]
fn forbid_sees_cells_registers_and_places() {
    let register = Expr::Leaf(StateAtom::Register { thread: ThreadId(0), register: RegId(0) });
    let kind = PropertyKind::Forbid(register);
    let claim = with_property(program(vec![sequence(vec![havoc(0, -1, 3)])]), kind);
    assert_eq!(missing(&claim, Model::Tso, "0=2"), "");
    assert_ne!(missing(&claim, Model::Tso, "0=0"), "");
    assert_eq!(missing(&claim, Model::Tso, "0=-1"), "", "what is not 0 holds");
    let mut initial = one_store();
    initial.shared[1].initial = vec![7];
    let claim = with_property(initial, PropertyKind::Forbid(cell_is(Y, 7)));
    assert_eq!(missing(&claim, Model::Sc, ""), "", "a cell that was never written holds its initial value");
}

/// P1 waits forever, whatever P0 does; with buffers P0 has no end of states.
#[test]
fn endless_buffers_are_followed_as_sets() {
    let endless = vec![(0, 0, store(X, 1))];
    let waits = Instruction::Await { loads: vec![(RegId(0), Expr::Const(Y))], condition: Expr::Leaf(RegId(0)) };
    let threads = vec![endless, sequence(vec![waits])];
    let claim = with_property(program(threads), PropertyKind::ForbidStuck);
    for (model, is_approximate, states) in [(Model::Sc, false, 2), (Model::Tso, true, 4)] {
        let replay = accept(&claim.0, model, "");
        let found = check_goal(&claim.0, &replay, claim.1).expect("P1 is stuck").expect("what can follow");
        assert_eq!((found.is_approximate, found.states), (is_approximate, states), "{model:?}");
        assert_eq!(found.region.map(|region| (region.thread, region.locations)), Some((ThreadId(1), vec![LocId(0)])));
        assert_eq!(found.constant_cells.get(&Y), Some(&0));
        assert_eq!(found.constant_cells.get(&X), None);
    }
    let live = with_property(claim.0.clone(), PropertyKind::Live(cell_is(X, 1)));
    assert_eq!(missing(&live, Model::Tso, ""), "the condition can still become true after the last state");
    let never = with_property(claim.0, PropertyKind::Live(cell_is(X, 0)));
    assert_eq!(missing(&never, Model::Tso, "0 0f"), "");
}

#[test]
fn exists_and_always_are_judged_at_final_states() {
    let two = || program(vec![sequence(vec![store(X, 1)]), sequence(vec![store(X, 2)])]);
    let exists = with_property(two(), PropertyKind::Exists(cell_is(X, 2)));
    let always = with_property(two(), PropertyKind::Always(cell_is(X, 2)));
    for claim in [&exists, &always] {
        assert_eq!(missing(claim, Model::Sc, "1"), "the last state is not final: P0 is at line 1");
        let undrained = "the last state is not drained: the buffer of P1 holds 1 store";
        assert_eq!(missing(claim, Model::Tso, "0 1 0f"), undrained);
    }
    assert_eq!(missing(&exists, Model::Tso, "0 1 0f 1f"), "");
    assert_eq!(missing(&exists, Model::Tso, "0 1 1f 0f"), "the condition does not hold in the last state");
    assert_eq!(missing(&always, Model::Tso, "0 1 0f 1f"), "the condition holds in the last state");
    assert_eq!(missing(&always, Model::Tso, "0 1 1f 0f"), "");
}

#[test]
fn a_deadlock_has_a_thread_that_is_not_done_and_nothing_that_can_move() {
    let stuck = vec![store(X, 1), Instruction::Assume(number(0))];
    let claim = with_property(program(vec![sequence(stuck)]), PropertyKind::ForbidDeadlock);
    assert_eq!(missing(&claim, Model::Tso, ""), "the last state is not a deadlock: P0 can take `x = 1`");
    assert_eq!(missing(&claim, Model::Tso, "0"), "the last state is not a deadlock: P0 can flush");
    assert_eq!(missing(&claim, Model::Tso, "0 0f"), "");
    let claim = with_property(one_store(), PropertyKind::ForbidDeadlock);
    assert_eq!(missing(&claim, Model::Sc, "0"), "the last state is not a deadlock: every thread is done");
}

#[test]
fn a_lock_that_is_never_given_back_is_a_deadlock_for_who_needs_it() {
    let holder = sequence(vec![Instruction::Lock]);
    let kind = PropertyKind::ForbidDeadlock;
    let claim = with_property(program(vec![holder.clone(), sequence(vec![load(0, X)])]), kind.clone());
    assert_eq!(missing(&claim, Model::Tso, "0"), "");
    assert_eq!(missing(&claim, Model::Tso, "1 0"), "the last state is not a deadlock: every thread is done");
    // A store can still be buffered, then the thread is done, although its store can never be flushed.
    let claim = with_property(program(vec![holder, sequence(vec![store(X, 1)])]), kind);
    assert_eq!(missing(&claim, Model::Tso, "0 1"), "the last state is not a deadlock: every thread is done");
    assert_eq!(missing(&claim, Model::Sc, "0"), "");
}

#[test]
fn any_counts_as_able_to_move_and_a_failed_assertion_as_not_done() {
    let claim = with_property(program(vec![sequence(vec![havoc(0, 5, 9)])]), PropertyKind::ForbidDeadlock);
    assert_eq!(missing(&claim, Model::Sc, ""), "the last state is not a deadlock: P0 can take `r = any 5..9`");
    let failing = sequence(vec![Instruction::Assert(number(0))]);
    let claim = with_property(program(vec![failing.clone()]), PropertyKind::ForbidDeadlock);
    assert_eq!(missing(&claim, Model::Sc, "0"), "");
    let claim = with_property(program(vec![failing]), PropertyKind::Exists(number_of_state(1)));
    assert_eq!(missing(&claim, Model::Sc, "0"), "the last state is not final: P0 is at a failed assertion");
}

fn number_of_state(value: weir_ir::Value) -> StateExpr {
    Expr::Const(value)
}

#[test]
fn a_deadlock_is_not_claimed_over_what_is_not_handled() {
    let spawns = sequence(vec![Instruction::Spawn(ThreadId(0))]);
    let claim = with_property(program(vec![spawns]), PropertyKind::ForbidDeadlock);
    let more = "more `spawn`s of a thread than there are instances of it cannot be replayed (line 1)";
    assert_eq!(missing(&claim, Model::Sc, ""), more);
}

#[test]
fn a_failed_assertion_counts_at_once() {
    let program = program(vec![sequence(vec![store(X, 1), Instruction::Assert(reg(0))])]);
    let claim = (program, Goal::Assertion(ThreadId(0)));
    assert_eq!(missing(&claim, Model::Tso, "0"), "no assertion of P0 failed");
    assert_eq!(missing(&claim, Model::Tso, "0 0"), "");
}

#[test]
fn a_thread_that_does_not_run_is_nowhere_and_keeps_nobody_waiting() {
    let mut program = program(vec![sequence(vec![store(X, 1)]), sequence(vec![store(X, 2)])]);
    program.threads[1].multiplicity = Multiplicity::Spawned;
    let claim = with_property(program.clone(), PropertyKind::Exists(cell_is(X, 1)));
    assert_eq!(missing(&claim, Model::Sc, "0"), "");
    let claim = with_property(program, PropertyKind::Forbid(at(1, 0)));
    assert_eq!(missing(&claim, Model::Sc, ""), "the condition does not hold in the last state");
}

#[test]
fn goals_that_are_not_there_are_refused_politely() {
    let claim = (one_store(), Goal::Property(PropertyId(3)));
    assert_eq!(missing(&claim, Model::Sc, ""), "there is no property number 3: the program has 0 properties");
    let claim = (one_store(), Goal::Assertion(ThreadId(9)));
    assert_eq!(missing(&claim, Model::Sc, ""), "there is no thread number 9: the program has 1 thread");
    let claim = (one_store(), Goal::Assertion(ThreadId(0)));
    assert_eq!(missing(&claim, Model::Sc, ""), "no assertion of P0 failed");
}
