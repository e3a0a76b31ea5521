use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Instruction, LocId, Program, PropertyKind, RegId, ThreadId, Value};

use super::steps::Mover;
use super::*;
use crate::testing::*;

mod definition;
mod false_proofs;
mod naive;

/// All states that steps lead to, with all registers told.
fn closed((program, goal): &(Program, Goal), buffering: Buffering) -> Certificate {
    let thread = |thread: ThreadId| {
        let body = program.body(thread);
        let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
        AbstractThread { location: body.entry, registers, buffer: AbstractBuffer::default() }
    };
    let threads = program.thread_ids().map(thread).collect();
    let start = AbstractState { threads, memory: BTreeMap::new(), lock_holder: None };
    let (mut states, mut seen, mut at) = (vec![start.clone()], BTreeSet::from([start]), 0);
    while let Some(state) = states.get(at).cloned() {
        at += 1;
        for (place, thread) in program.thread_ids().enumerate() {
            let mover = Mover { program, buffering, state: &state, thread, place };
            let mut next = mover.flushes();
            for (_, edge) in program.body(thread).edges_from(state.threads[place].location) {
                next.extend(mover.execute(edge, |_, range| Ok((range.low..=range.high).collect())).unwrap());
            }
            states.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
        }
    }
    Certificate { buffering, goals: vec![*goal], states }
}

fn fault(program: &Program, certificate: &Certificate) -> Option<Fault> {
    check_certificate(program, certificate).err().map(|error| error.fault)
}

/// Two threads: `x = 1; y = 1` beside `r0 = y; r1 = x`.
fn messages(kind: PropertyKind) -> (Program, Goal) {
    let reader = sequence(vec![load(0, Y), load(1, X)]);
    with_property(program(vec![sequence(vec![store(X, 1), store(Y, 1)]), reader]), kind)
}

#[test]
fn a_closed_set_without_a_goal_is_a_certificate_and_nothing_less_is() {
    let claim = messages(PropertyKind::Forbid(cell_is(X, 2)));
    for buffering in [Buffering::Coherence(0), Buffering::Coherence(1), Buffering::Multiset(0), Buffering::Multiset(3)]
    {
        let whole = closed(&claim, buffering);
        assert_eq!(fault(&claim.0, &whole), None);
        for missing in 0..whole.states.len() {
            let mut part = whole.clone();
            part.states.remove(missing);
            match fault(&claim.0, &part) {
                Some(Fault::NoStart) => assert_eq!(missing, 0),
                Some(Fault::Leaves(..)) => {}
                other => panic!("without state {missing}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_state_that_shows_the_goal_is_seen() {
    for kind in
        [PropertyKind::Forbid(cell_is(X, 1)), PropertyKind::Exists(cell_is(X, 1)), PropertyKind::Always(cell_is(X, 0))]
    {
        let claim = messages(kind);
        let certificate = closed(&claim, Buffering::Coherence(0));
        assert_eq!(fault(&claim.0, &certificate), Some(Fault::ShowsGoal(claim.1)));
    }
    let failing = program(vec![sequence(vec![Instruction::Assert(number(0))])]);
    let claim = (failing, Goal::Assertion(ThreadId(0)));
    assert_eq!(fault(&claim.0, &closed(&claim, Buffering::Coherence(0))), Some(Fault::ShowsGoal(claim.1)));
}

#[test]
fn order_matters_where_it_is_kept() {
    let message = || {
        use weir_ir::{Expr, StateAtom};
        let register = |register| Expr::Leaf(StateAtom::Register { thread: ThreadId(1), register: RegId(register) });
        let at = Expr::Leaf(StateAtom::At { thread: ThreadId(1), locations: vec![LocId(2)] });
        let seen = Expr::binary(weir_ir::BinaryOp::Greater, register(0), register(1));
        messages(PropertyKind::Forbid(Expr::binary(weir_ir::BinaryOp::And, at, seen)))
    };
    let claim = message();
    assert_eq!(fault(&claim.0, &closed(&claim, Buffering::Coherence(1))), None);
    assert_eq!(fault(&claim.0, &closed(&claim, Buffering::Coherence(0))), Some(Fault::ShowsGoal(claim.1)));
    assert_eq!(fault(&claim.0, &closed(&claim, Buffering::Multiset(1))), Some(Fault::ShowsGoal(claim.1)));
}

#[test]
fn deadlock_and_unknown_goals_cannot_be_certified() {
    let claim = messages(PropertyKind::ForbidDeadlock);
    let mut certificate = closed(&claim, Buffering::Coherence(0));
    assert_eq!(fault(&claim.0, &certificate), Some(Fault::Deadlock));
    for goal in [Goal::Property(weir_ir::PropertyId(9)), Goal::Assertion(ThreadId(9)), Goal::NotRobust] {
        certificate.goals = vec![goal];
        assert_eq!(fault(&claim.0, &certificate), Some(Fault::UnknownGoal));
    }
}

#[test]
fn registers_may_be_left_out_where_nobody_reads_them() {
    let reading = sequence(vec![havoc(0, 0, 1), assign(1, reg(0)), Instruction::Skip]);
    let claim = with_property(program(vec![reading]), PropertyKind::Forbid(cell_is(X, 2)));
    let whole = closed(&claim, Buffering::Coherence(0));
    let without = |register: u32, from: u32| {
        let mut certificate = whole.clone();
        for state in &mut certificate.states {
            if state.threads[0].location.0 >= from {
                state.threads[0].registers.remove(&RegId(register));
            }
        }
        fault(&claim.0, &certificate)
    };
    assert_eq!(without(0, 2), None);
    assert_eq!(without(1, 0), None);
    assert_eq!(without(0, 1), Some(Fault::UnknownRegister(ThreadId(0), RegId(0))));
    let mut uneven = whole.clone();
    if let Some(last) = uneven.states.last_mut() {
        last.threads[0].registers.clear();
    }
    assert!(matches!(fault(&claim.0, &uneven), Some(Fault::Registers(..))));
    uneven.states[0].threads.clear();
    assert_eq!(fault(&claim.0, &uneven), Some(Fault::Malformed));
}
