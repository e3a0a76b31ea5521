//! Seeded random programs of all kinds, compared with the definitions. A failure names the configuration and the seed,
//! and shows the program made small. With `WEIR_SEEDS=1000`, each test looks at so many programs.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, Program};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::traces::Bounds;
use weir_testkit::{Rng, cycles, dump, shrink};

use crate::reference::{Count, judge};

/// Ways to go that the definition is followed through.
const LIMITS: Bounds = Bounds { instructions: 24, ways: 3_000 };

/// With loops: so many things are done by each thread.
const BOUNDED: Bounds = Bounds { instructions: 6, ways: 4_000 };

/// What must be known of 100 programs, at least.
#[derive(Clone, Copy)]
struct Least {
    /// By definition.
    decided: usize,
    not_robust: usize,
    /// By the methods that instrument. That of attacks answers always.
    instrumented: usize,
    /// All feasible attacks, by definition.
    feasible: usize,
    /// What no run executes.
    covered: usize,
}

fn agree(name: &str, limits: Bounds, count: u64, least: Least, program: impl Fn(u64) -> Program) {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut count = Count::default();
    for seed in 0..seeds {
        let program = program(seed);
        if let Err(why) = judge(&program, limits, &mut count) {
            let fails = |program: &Program| judge(program, limits, &mut Count::default()).is_err();
            let small = shrink(&program, fails);
            let still = judge(&small, limits, &mut Count::default()).err().unwrap_or_default();
            panic!("{name} program, seed {seed}: {why}\nmade small: {still}\n{}", dump(&small));
        }
    }
    let enough = |found: usize, least: usize| found * 100 >= least * count.programs;
    let [by_attacks, one_by_one, single] = count.answered;
    assert!(
        enough(count.decided, least.decided)
            && enough(count.not_robust, least.not_robust)
            && enough(by_attacks, 100)
            && enough(one_by_one, least.instrumented)
            && enough(single, least.instrumented)
            && enough(count.feasible, least.feasible)
            && enough(count.covered, least.covered),
        "{name}: {count:?}"
    );
}

/// Two threads of mostly loads and stores, so that many are not robust.
pub(crate) fn accesses() -> Config {
    let config = Config { threads: (2, 2), statements: (3, 4), ranges: 0, extremes: 0, ..Config::acyclic() };
    let weights = vec![
        (Statement::Load, 40),
        (Statement::Store, 40),
        (Statement::Branch, 3),
        (Statement::Choice, 2),
        (Statement::Fence, 2),
        (Statement::ReadModifyWrite, 3),
        (Statement::Assign, 2),
    ];
    Config { weights, computed_addresses: 10, ..config }
}

/// Programs that runs can be listed of, and of which some are not robust.
const MOST: Least = Least { decided: 98, not_robust: 7, instrumented: 100, feasible: 98, covered: 86 };

#[test]
fn programs_of_accesses_agree_with_the_definition() {
    agree("accesses", LIMITS, 100, MOST, |seed| program(seed, &accesses()));
    let config = Config { threads: (3, 3), statements: (1, 3), ..accesses() }.weighing(Statement::Atomic, 6);
    agree("three threads", LIMITS, 100, MOST, |seed| program(seed, &config));
    let config = accesses().weighing(Statement::Snapshot, 40).weighing(Statement::Atomic, 6);
    agree("snapshots", LIMITS, 100, MOST, |seed| program(seed, &config));
    let config = Config { computed_addresses: 50, ..config }.weighing(Statement::UnboundedLoop, 4);
    let least = Least { decided: 80, feasible: 80, ..MOST };
    agree("snapshots at computed addresses", BOUNDED, 100, least, |seed| program(seed, &config));
}

#[test]
fn programs_with_locks_agree_with_the_definition() {
    let least = Least { decided: 90, not_robust: 2, instrumented: 98, feasible: 90, covered: 90 };
    let config = accesses().weighing(Statement::Atomic, 25).weighing(Statement::StrayLock, 2);
    agree("accesses and locks", LIMITS, 100, least, |seed| program(seed, &config));
    let config = Config::locking().weighing(Statement::Store, 40).weighing(Statement::Load, 40);
    agree("locking", LIMITS, 100, least, |seed| program(seed, &config));
}

#[test]
fn programs_of_all_kinds_agree_with_the_definition() {
    let least = Least { decided: 85, not_robust: 2, instrumented: 98, feasible: 85, covered: 90 };
    agree("acyclic", LIMITS, 100, least, |seed| program(seed, &Config::acyclic()));
    let config = Config { statements: (1, 3), ..Config::crowded() }.weighing(Statement::Atomic, 8);
    agree("crowded", LIMITS, 100, least, |seed| program(seed, &config));
    agree("wild", LIMITS, 100, least, |seed| program(seed, &Config::wild_data()));
    let least = Least { decided: 50, feasible: 45, ..least };
    agree("cyclic", BOUNDED, 100, least, |seed| program(seed, &Config::cyclic()));
}

/// All methods answer all of these, and four of ten are not robust.
const CYCLE: Least = Least { decided: 98, not_robust: 35, instrumented: 100, feasible: 96, covered: 50 };

const PLAIN: cycles::Config = cycles::Config { helpers: 2, noise: 2, loops: 0, locks: 0, data: 0 };

#[test]
fn programs_around_a_cycle_agree_with_the_definition() {
    agree("plain", LIMITS, 200, CYCLE, |seed| cycles::program(seed, &PLAIN));
    let data = cycles::Config { noise: 1, data: 40, ..PLAIN };
    agree("data", LIMITS, 200, CYCLE, |seed| cycles::program(seed, &data));
}

#[test]
fn programs_around_a_cycle_of_many_threads_agree_with_the_definition() {
    let locks = cycles::Config { noise: 1, locks: 60, data: 10, ..PLAIN };
    agree("locks", LIMITS, 200, CYCLE, |seed| cycles::program(seed, &locks));
    let three = cycles::Config { helpers: 3, noise: 0, locks: 20, data: 10, ..PLAIN };
    agree("three helpers", LIMITS, 200, CYCLE, |seed| cycles::program(seed, &three));
}

#[test]
fn programs_around_a_cycle_with_loops_agree_with_the_definition() {
    let least = Least { decided: 70, feasible: 45, covered: 45, ..CYCLE };
    let loops = cycles::Config { noise: 1, loops: 30, locks: 10, data: 10, ..PLAIN };
    agree("loops", BOUNDED, 200, least, |seed| cycles::program(seed, &loops));
}

/// The program with some of its instructions that do nothing, and some of its fences, replaced by membarriers.
fn with_membarriers(seed: u64, mut program: Program) -> Program {
    let mut rng = Rng::new(seed);
    for thread in &mut program.threads {
        thread.body = thread.body.map_edges(|edge| {
            let is_replaced = matches!(edge.instruction, Instruction::Skip | Instruction::Fence) && rng.chance(60);
            let instruction = if is_replaced { Instruction::Membarrier } else { edge.instruction.clone() };
            Edge { instruction, ..edge.clone() }
        });
    }
    program
}

#[test]
fn programs_with_membarriers_agree_with_the_definition() {
    let config = accesses().weighing(Statement::Membarrier, 12);
    agree("membarriers", LIMITS, 150, Least { not_robust: 5, ..MOST }, |seed| program(seed, &config));
    let config = Config { threads: (3, 3), statements: (1, 3), ..config };
    agree("membarriers of three threads", LIMITS, 150, Least { not_robust: 2, ..MOST }, |seed| program(seed, &config));
    let least = Least { decided: 90, not_robust: 2, instrumented: 98, feasible: 90, covered: 90 };
    let config = accesses().weighing(Statement::Atomic, 25).weighing(Statement::StrayLock, 2);
    let config = Config { threads: (2, 3), statements: (2, 4), ..config }.weighing(Statement::Membarrier, 15);
    agree("membarriers and locks", LIMITS, 150, least, |seed| program(seed, &config));
}

#[test]
fn programs_around_a_cycle_with_membarriers_agree_with_the_definition() {
    let least = Least { not_robust: 25, ..CYCLE };
    agree("plain", LIMITS, 150, least, |seed| with_membarriers(seed, cycles::program(seed, &PLAIN)));
    let three = cycles::Config { helpers: 3, noise: 1, locks: 30, data: 10, ..PLAIN };
    agree("locks", LIMITS, 150, Least { decided: 92, feasible: 90, ..least }, |seed| {
        with_membarriers(seed, cycles::program(seed, &three))
    });
    let loops = cycles::Config { noise: 1, loops: 30, locks: 10, data: 10, ..PLAIN };
    let least = Least { decided: 60, feasible: 40, covered: 40, ..least };
    agree("loops", BOUNDED, 150, least, |seed| with_membarriers(seed, cycles::program(seed, &loops)));
}

/// The program with some of its loads replaced by waits, mostly for what is there.
fn with_awaits(seed: u64, mut program: Program) -> Program {
    let mut rng = Rng::new(seed);
    for thread in &mut program.threads {
        thread.body = thread.body.map_edges(|edge| match &edge.instruction {
            Instruction::Load { register, address } if rng.chance(60) => {
                let op = *rng.pick(&[BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Less]);
                let condition = Expr::binary(op, Expr::Leaf(*register), Expr::Const(rng.below(3) as i64));
                let instruction = Instruction::Await { loads: vec![(*register, address.clone())], condition };
                Edge { instruction, ..edge.clone() }
            }
            _ => edge.clone(),
        });
    }
    program
}

#[test]
fn programs_around_a_cycle_with_awaits_agree_with_the_definition() {
    let least = Least { not_robust: 8, ..CYCLE };
    agree("plain", LIMITS, 150, least, |seed| with_awaits(seed, cycles::program(seed, &PLAIN)));
    let locks = cycles::Config { noise: 1, locks: 60, data: 10, ..PLAIN };
    agree("locks", LIMITS, 150, least, |seed| with_awaits(seed, cycles::program(seed, &locks)));
}

#[test]
fn programs_with_awaits_agree_with_the_definition() {
    let config = accesses().weighing(Statement::Await, 30);
    agree("awaits", LIMITS, 150, Least { not_robust: 1, ..MOST }, |seed| program(seed, &config));
    let config = Config { threads: (3, 3), statements: (2, 3), ..config }.weighing(Statement::Atomic, 6);
    agree("awaits of three threads", LIMITS, 150, Least { decided: 95, not_robust: 3, feasible: 95, ..MOST }, |seed| {
        program(seed, &config)
    });
    let config = Config { computed_addresses: 40, threads: (2, 2), statements: (3, 4), ..config };
    let config = config.weighing(Statement::UnboundedLoop, 4).weighing(Statement::Membarrier, 4);
    let least = Least { decided: 70, not_robust: 0, feasible: 65, ..MOST };
    agree("awaits at computed addresses", BOUNDED, 100, least, |seed| program(seed, &config));
}

#[test]
fn programs_that_wrap_agree_with_the_definition() {
    let config = Config { widths: 80, extremes: 10, computed_addresses: 30, ..accesses() };
    let config = config.weighing(Statement::ReadModifyWrite, 8).weighing(Statement::Branch, 10);
    agree("wrapping", LIMITS, 150, Least { not_robust: 4, instrumented: 95, ..MOST }, |seed| program(seed, &config));
}
