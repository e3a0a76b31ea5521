//! What does not follow is refused. That what is accepted is true, for whole chains and all odds, is for the tests of
//! `weir` to show, against a naive chain in exact fractions.

use weir_ir::{BinaryOp, Expr, Instruction, LocId, RegId, StateAtom, ThreadId, Uninterrupted};
use weir_testkit::small::{X, havoc, load, number, program, sequence, store};

use super::*;
use crate::certificate::Packer;

fn at_end(program: &Program, thread: u32) -> StateExpr {
    let body = program.body(ThreadId(thread));
    let locations = body.location_ids().filter(|&location| body.is_done(location)).collect();
    Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations })
}

fn register_is(register: u32, value: i64) -> StateExpr {
    let leaf = Expr::Leaf(StateAtom::Register { thread: ThreadId(0), register: RegId(register) });
    Expr::binary(BinaryOp::Equal, leaf, Expr::Const(value))
}

fn question(condition: StateExpr, repeated: bool) -> ChanceQuestion {
    let wanted = Wanted { conditions: vec![condition], deadlock: false };
    ChanceQuestion { wanted, repeated, odds: Odds { updates: Updates::Uniform, stickiness: None } }
}

/// Everything that can be reached, and these numbers for each configuration by the place of the first thread and
/// whether it is a target.
fn proof(program: &Program, question: &ChanceQuestion, bounds: impl Fn(LocId, bool) -> (u64, u64)) -> ChanceProof {
    let all = |body: &weir_ir::Body| {
        let registers: Vec<RegId> = (0..body.registers.len()).map(RegId::new).collect();
        vec![registers; body.locations.len()]
    };
    let listed: Vec<_> = program.threads.iter().map(|thread| all(&thread.body)).collect();
    let system = ChanceSystem::new(program, question, &listed).expect("it fits");
    let mut found = vec![system.initial().expect("it fits")];
    let mut at = 0;
    while at < found.len() {
        for step in system.moves(&found[at].clone()).expect("possible") {
            if !found.contains(&step.to) {
                found.push(step.to);
            }
        }
        at += 1;
    }
    let mut packer = Packer::new(listed);
    found.iter().for_each(|one| packer.add(&one.state));
    let mut proof = ChanceProof::unknown(&system, packer.finish());
    for one in &found {
        let is_target = system.is_target(&one.state).expect("it can be told");
        proof.set(&system, one, bounds(one.state.threads[0].location, is_target));
    }
    proof
}

fn check(program: &Program, question: &ChanceQuestion, proof: &ChanceProof) -> Result<(u64, u64), ChanceFault> {
    proof.check(program, question, &Uninterrupted)?;
    proof.interval(program, question)
}

/// A coin, thrown once.
fn coin() -> Program {
    program(vec![sequence(vec![havoc(0, 0, 1)])])
}

#[test]
fn a_coin_shows_heads_half_of_the_time() {
    let program = coin();
    let heads = Expr::binary(BinaryOp::And, at_end(&program, 0), register_is(0, 1));
    let half = |low: u64, high: u64| move |_: LocId, is_target: bool| if is_target { (ONE, ONE) } else { (low, high) };
    let once = question(heads, false);
    // At its end the thread stays where it is, with the wrong side up.
    let with = |low: u64, high: u64| {
        let start = program.body(ThreadId(0)).entry;
        proof(&program, &once, move |at, is_target| match (at == start, is_target) {
            (true, _) => (low, high),
            (_, true) => (ONE, ONE),
            _ => (0, 0),
        })
    };
    assert_eq!(check(&program, &once, &with(ONE / 2, ONE / 2)), Ok((ONE / 2, ONE / 2)));
    assert_eq!(check(&program, &once, &with(0, ONE)), Ok((0, ONE)));
    assert!(matches!(check(&program, &once, &with(ONE / 2 + 1, ONE)), Err(ChanceFault::Lower(_))));
    assert!(matches!(check(&program, &once, &with(0, ONE / 2 - 1)), Err(ChanceFault::Upper(_))));
    assert_eq!(check(&program, &once, &proof(&program, &once, half(ONE + 1, ONE))), Err(ChanceFault::Malformed));
    // Where the wrong side is up, nothing follows any more.
    assert!(matches!(
        check(&program, &once, &proof(&program, &once, half(ONE / 2, ONE))),
        Err(ChanceFault::Forever(_))
    ));
}

#[test]
fn to_go_on_forever_is_not_to_arrive() {
    let program = program(vec![vec![(0, 0, Instruction::Skip)], sequence(vec![store(X, 1), load(0, X)])]);
    for (repeated, condition) in
        [false, true].into_iter().flat_map(|repeated| [(repeated, Expr::Const(0)), (repeated, at_end(&program, 1))])
    {
        let never = condition == Expr::Const(0);
        let asked = question(condition, repeated);
        let found = check(&program, &asked, &proof(&program, &asked, |_, _| (ONE, ONE)));
        assert_eq!(found.is_ok(), !never, "{found:?}");
        let found = check(&program, &asked, &proof(&program, &asked, |_, _| (0, 0)));
        assert_eq!(found.is_ok(), never, "{found:?}");
    }
}

#[test]
fn what_was_met_once_need_not_be_met_again() {
    // The register is 1 for one step only.
    let program = program(vec![sequence(vec![
        Instruction::Assign { register: RegId(0), value: number(1) },
        Instruction::Assign { register: RegId(0), value: number(0) },
    ])]);
    for (repeated, high) in [(false, ONE), (true, 0)] {
        let asked = question(register_is(0, 1), repeated);
        let body = program.body(ThreadId(0));
        let bounds = |at: LocId, is_target: bool| match (repeated, at == body.entry || is_target) {
            (false, true) => (ONE, ONE),
            _ => (0, 0),
        };
        let found = check(&program, &asked, &proof(&program, &asked, bounds));
        assert_eq!(found, Ok((high, high)));
    }
}
