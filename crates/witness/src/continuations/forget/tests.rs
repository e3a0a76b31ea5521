//! What is left out makes no difference: the same locations are visited, and the same claims hold.

use weir_ir::{BinaryOp, BinaryRmw, PropertyKind};
use weir_testkit::random::{self, Config, Statement, condition};
use weir_testkit::{Rng, dump};

use super::*;
use crate::continuations::{Open, follow_any, running};
use crate::testing::*;
use crate::{Model, check_goal};

const MOST: usize = 2_000;

/// Follows a state of the program with all values and without those that are not needed; whether both ended.
fn agrees(program: &Program, model: Model, random: &mut Random, claim: Option<&StateExpr>) -> bool {
    let Some(forgetful) = Forgetful::of(program, claim) else { return false };
    let run = random_run(program, model, random, 6);
    let last = crate::replay(program, &run).expect("it was just made").last().clone();
    let threads = running(program);
    let ends = |state: &_| claim.is_some_and(|claim| crate::continuations::eval(program, &threads, state, claim) != 0);
    let whole = follow_any(program, model, &last, MOST, &ends);
    let part = follow_any(&forgetful.program, model, &last, MOST, &ends);
    let context = || format!("{model:?} {claim:?}\n{}\nwithout values:\n{}", dump(program), dump(&forgetful.program));
    match (whole, part) {
        (Err(Open::TooMany), _) => false,
        // In different orders they may come across what ends the visit, or the limit, first.
        (Ok(whole), Ok(part)) => {
            assert_eq!((whole.is_approximate, &whole.visited), (part.is_approximate, &part.visited), "{}", context());
            let known = part.constant_cells.iter().filter(|(address, _)| forgetful.has_cell(**address));
            for (address, value) in known {
                assert_eq!(whole.constant_cells.get(address), Some(value), "{}", context());
            }
            true
        }
        (whole, part) => {
            assert_eq!(whole.map(|_| ()), part.map(|_| ()), "{}", context());
            true
        }
    }
}

fn compare(config: &Config, count: u64) -> usize {
    let mut ended = 0;
    for seed in 0..count {
        let program = random::program(seed, config);
        let claim = condition(&program, &mut Rng::new(seed));
        for model in [Model::Sc, Model::Tso] {
            let mut random = Random(seed);
            ended += usize::from(agrees(&program, model, &mut random, None));
            ended += usize::from(agrees(&program, model, &mut random, Some(&claim)));
        }
    }
    ended
}

/// Many cells and registers, so that some of them do not matter.
fn loose(config: Config) -> Config {
    Config { cells: 4, registers: 3, ..config }.weighing(Statement::Await, 4).weighing(Statement::Havoc, 4)
}

#[test]
fn random_programs_go_where_they_went() {
    assert!(compare(&loose(Config::acyclic()), 150) > 100);
    assert!(compare(&loose(Config::cyclic()), 100) > 50);
    assert!(compare(&loose(Config { ranges: 40, ..Config::locking() }), 100) > 50);
    assert!(compare(&loose(Config::wrapping()), 60) > 30);
}

fn waits_for(address: Address) -> Instruction {
    Instruction::Await { loads: vec![(RegId(1), number(address))], condition: reg(1) }
}

fn plus_one(register: u32) -> RegExpr {
    Expr::binary(BinaryOp::Add, reg(register), number(1))
}

/// X or Y, depending on a register.
fn x_or_y(register: u32) -> RegExpr {
    Expr::binary(BinaryOp::Add, number(X), Expr::binary(BinaryOp::BitAnd, reg(register), number(1)))
}

/// `loop { r = [x]; [x] = r + 1; }`
fn counts() -> Vec<(u32, u32, Instruction)> {
    vec![(0, 1, load(0, X)), (1, 0, Instruction::Store { address: number(X), value: plus_one(0) })]
}

/// A counter that nobody waits for does not hide that a thread waits forever.
#[test]
fn counters_are_left_out() {
    let claim = with_property(program(vec![counts(), sequence(vec![waits_for(Y)])]), PropertyKind::ForbidStuck);
    for model in [Model::Sc, Model::Tso] {
        let replay = accept(&claim.0, model, "0 0");
        let found = check_goal(&claim.0, &replay, claim.1).expect("P1 is stuck").expect("what can follow");
        assert!(found.is_without_values, "{model:?}");
        assert_eq!(found.constant_cells.keys().collect::<Vec<_>>(), [&Y], "what is left out is not constant");
    }
}

/// What a thread waits for is not left out, however it gets there.
#[test]
fn what_is_waited_for_stays() {
    let fetch = |register, address| rmw(register, address, Rmw::Fetch(BinaryRmw::Add, number(1)));
    let copies =
        |from, to| vec![(0, 1, load(0, from)), (1, 0, Instruction::Store { address: number(to), value: plus_one(0) })];
    let reaches_five = |address| {
        let is_five = equal(reg(1), number(5));
        sequence(vec![Instruction::Await { loads: vec![(RegId(1), number(address))], condition: is_five }])
    };
    let copier = || copies(X, Y);
    for (threads, needed) in [
        (vec![counts(), reaches_five(X)], vec![X]),
        (vec![counts(), copier(), reaches_five(Y)], vec![X, Y]),
        (vec![vec![(0, 0, fetch(0, X))], copier(), reaches_five(Y)], vec![X, Y]),
        // Which cell is written depends on Z, and what is written on Y.
        (
            vec![
                vec![
                    (0, 1, load(0, Z)),
                    (1, 2, load(1, Y)),
                    (2, 0, Instruction::Store { address: plus_one(0), value: reg(1) }),
                ],
                reaches_five(X),
            ],
            vec![X, Y, Z],
        ),
        // A computed address is one of few: X or Y.
        (
            vec![
                sequence(vec![load(0, 9), Instruction::Load { register: RegId(0), address: x_or_y(0) }]),
                sequence(vec![Instruction::Store { address: x_or_y(0), value: number(1) }]),
                sequence(vec![
                    load(0, 8),
                    Instruction::Load { register: RegId(1), address: x_or_y(0) },
                    Instruction::Assume(reg(1)),
                ]),
            ],
            vec![X, Y, 8, 9],
        ),
        // A comparison that fails writes nothing.
        (vec![vec![(0, 0, compare_and_swap(0, X, 3, 5))], reaches_five(X)], vec![X]),
    ] {
        let program = program(threads);
        let needs = Needed::of(&program, None).expect("nothing is called");
        assert_eq!(needs.cells.iter().copied().collect::<Vec<_>>(), needed);
        assert!(!needs.all_cells);
    }
}

/// A store that a range may block keeps its value.
#[test]
fn what_a_range_may_block_stays() {
    let mut program = program(vec![counts(), vec![(0, 0, load(0, X))]]);
    assert!(Forgetful::of(&program, None).is_some());
    program.shared[0].range = Some(Range { low: 0, high: 7 });
    assert!(Forgetful::of(&program, None).is_none());
    let everything = Needed::of(&program, None).expect("nothing is called");
    assert_eq!(everything.registers, BTreeSet::from([(ThreadId(0), RegId(0))]), "not what the other thread loads");
}
