use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Instruction, LocId, Program, PropertyKind, RegId, ThreadId, Value};

use super::steps::Interpreter;
use super::*;
use crate::testing::*;

mod collapsed;
mod definition;
mod false_proofs;
mod naive;
mod reference;

/// All states that steps lead to, with all registers listed.
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
            let interpreter = Interpreter { program, buffering, state: &state, thread, place };
            let mut next = interpreter.flushes();
            for (_, edge) in program.body(thread).edges_from(state.threads[place].location) {
                next.extend(interpreter.execute(edge, |_, range| Ok((range.low..=range.high).collect())).unwrap());
            }
            states.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
        }
    }
    Certificate { model: crate::Model::Tso, buffering, goals: vec![*goal], states }
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
fn unknown_goals_cannot_be_certified() {
    let claim = messages(PropertyKind::ForbidDeadlock);
    let mut certificate = closed(&claim, Buffering::Coherence(0));
    for goal in [Goal::Property(weir_ir::PropertyId(9)), Goal::Assertion(ThreadId(9)), Goal::NotRobust] {
        certificate.goals = vec![goal];
        assert_eq!(fault(&claim.0, &certificate), Some(Fault::UnknownGoal));
    }
}

#[test]
fn a_choice_among_more_values_than_there_are_states_leads_out_of_the_set() {
    let claim =
        |high| with_property(program(vec![sequence(vec![havoc(0, 0, high)])]), PropertyKind::Forbid(cell_is(X, 2)));
    let few = closed(&claim(1), Buffering::Coherence(0));
    assert_eq!(fault(&claim(1).0, &few), None);
    for high in [2, 3, 1_000_000_000_000, Value::MAX] {
        assert_eq!(fault(&claim(high).0, &few), Some(Fault::Leaves(ThreadId(0), Some(weir_ir::EdgeId(0)))));
    }
    // Where the register is not listed, one value stands for all.
    let mut unlisted = few;
    unlisted.states.iter_mut().for_each(|state| state.threads[0].registers.clear());
    assert_eq!(fault(&claim(Value::MAX).0, &unlisted), None);
}

#[test]
fn a_state_that_is_not_needed_must_be_well_formed_too() {
    // Nothing leads to the last two places.
    let edges = vec![(0, 1, Instruction::Skip), (2, 3, Instruction::Skip)];
    let claim = with_property(program(vec![edges]), PropertyKind::Forbid(cell_is(X, 2)));
    let whole = closed(&claim, Buffering::Coherence(0));
    let with = |location: u32, register: u32| {
        let mut more = whole.clone();
        let mut state = whole.states[1].clone();
        state.threads[0].location = LocId(location);
        state.threads[0].registers = BTreeMap::from([(RegId(register), 0)]);
        more.states.push(state);
        fault(&claim.0, &more)
    };
    assert_eq!(with(3, 2), None);
    assert_eq!(with(3, 3), Some(Fault::Malformed), "there are three registers");
    assert_eq!(with(4, 2), Some(Fault::Malformed), "there are four places");
}

#[test]
fn what_has_no_rule_here_is_refused() {
    let refused = |program: &Program, expected: Fault| {
        let states = vec![naive::start(program)];
        let goals = vec![Goal::Assertion(ThreadId(0))];
        let certificate = Certificate { model: crate::Model::Tso, buffering: Buffering::Coherence(0), goals, states };
        assert_eq!(fault(program, &certificate), Some(expected));
    };
    let call = Instruction::Call { procedure: weir_ir::ProcId(0), arguments: vec![], register: None };
    for instruction in [call, Instruction::Return(number(0)), Instruction::Spawn(ThreadId(0))] {
        refused(&program(vec![sequence(vec![instruction])]), Fault::Unsupported);
    }
    let mut arbitrary = program(vec![sequence(vec![Instruction::Skip])]);
    arbitrary.threads[0].multiplicity = weir_ir::Multiplicity::Arbitrary;
    refused(&arbitrary, Fault::Unsupported);
    let mut nowhere = program(vec![sequence(vec![Instruction::Assert(number(0))])]);
    nowhere.threads[0].body.failed = None;
    refused(&nowhere, Fault::NoFailedLocation);
}

#[test]
fn threads_that_do_not_run_have_no_part_in_the_states() {
    let threads = vec![sequence(vec![store(X, 1)]), sequence(vec![store(X, 2)]), sequence(vec![load(0, X)])];
    let (mut absent, goal) = with_property(program(threads), PropertyKind::Forbid(cell_is(X, 2)));
    absent.threads[1].multiplicity = weir_ir::Multiplicity::Spawned;
    let present = vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X)])];
    let without = with_property(program(present), PropertyKind::Forbid(cell_is(X, 2)));
    let certificate = closed(&without, Buffering::Coherence(1));
    assert_eq!(fault(&absent, &certificate), None);
    let whole = closed(&(absent.clone(), goal), Buffering::Coherence(1));
    assert_eq!(fault(&absent, &whole), Some(Fault::Malformed), "a thread too many");
    for thread in 0..3 {
        let certificate = Certificate { goals: vec![Goal::Assertion(ThreadId(thread))], ..certificate.clone() };
        assert_eq!(fault(&absent, &certificate), None, "nobody asserts");
    }
    use weir_ir::{Expr, StateAtom};
    // A thread that is not there is nowhere, and its registers are 0; the places of the others are theirs.
    let place =
        |thread, location| Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations: vec![LocId(location)] });
    let register = |thread| Expr::Leaf(StateAtom::Register { thread: ThreadId(thread), register: RegId(0) });
    for (condition, is_shown) in [(place(1, 0), false), (register(1), false), (place(2, 1), true), (register(2), true)]
    {
        let (claim, goal) = with_property(absent.clone(), PropertyKind::Forbid(condition));
        let certificate = Certificate { goals: vec![goal], ..certificate.clone() };
        assert_eq!(fault(&claim, &certificate), is_shown.then_some(Fault::ShowsGoal(goal)));
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

#[test]
fn an_interrupted_check_accepts_nothing() {
    let claim = messages(PropertyKind::Forbid(cell_is(X, 2)));
    let certificate = closed(&claim, Buffering::Multiset(3));
    let interrupted =
        |interrupt: &Asked| check_certificate_until(&claim.0, &certificate, interrupt).map_err(|error| error.fault);
    assert_eq!(refused_at_each_question(interrupted, &Fault::Interrupted), certificate.states.len().div_ceil(16));
}
