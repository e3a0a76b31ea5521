//! Seeded random programs. A failure names the configuration and the seed, and shows the program made small.
//!
//! With `WEIR_SEEDS=1000`, each test looks at so many programs.

use weir_ir::{Edge, Expr, Instruction, Program, RegId};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::sketch::{self, cell, load, store, straight};
use weir_testkit::{Rng, dump, shrink};

use weir::reach::Form;

use crate::compare::{FORMS, Tally, compare, explored};

/// States that the reference and each question may take.
const LIMITS: (usize, u64) = (4_000, 40_000);

fn differs(program: &Program, form: Form) -> bool {
    explored(program, LIMITS.0).and_then(|explored| compare(program, &explored, form, LIMITS.1)).is_err()
}

/// At least `answered` of 100 questions must have an answer in the first of the forms, and so many in the other.
fn agree_on_random(name: &str, config: &Config, count: u64, answered: [u64; 2]) -> Tally {
    agree_on(name, |seed| program(seed, config), count, answered)
}

fn agree_on(name: &str, make: impl Fn(u64) -> Program, count: u64, answered: [u64; 2]) -> Tally {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tallies = [Tally::default(); 2];
    for seed in 0..count {
        let program = make(seed);
        let found = explored(&program, LIMITS.0).unwrap_or_else(|what| panic!("{name} program, seed {seed}: {what}"));
        for (form, tally) in FORMS.into_iter().zip(&mut tallies) {
            match compare(&program, &found, form, LIMITS.1) {
                Ok(one) => {
                    tally.asked += one.asked;
                    tally.answered += one.answered;
                    tally.only_tso += one.only_tso;
                }
                Err(what) => {
                    let small = shrink(&program, |program| differs(program, form));
                    let small_what =
                        explored(&small, LIMITS.0).and_then(|found| compare(&small, &found, form, LIMITS.1)).err();
                    panic!("{name} program, seed {seed}: {what}\n{}\n{small_what:?}", dump(&small));
                }
            }
        }
    }
    for (tally, least) in tallies.iter().zip(answered) {
        assert!(tally.answered * 100 >= least * tally.asked, "{name}: {tallies:?}");
    }
    tallies[0]
}

/// Two threads of mostly loads and stores, so that many are not robust.
fn accesses() -> Config {
    let config = Config { threads: (2, 3), statements: (3, 5), ranges: 5, extremes: 0, ..Config::acyclic() };
    let weights = vec![
        (Statement::Load, 40),
        (Statement::Store, 40),
        (Statement::Branch, 3),
        (Statement::Choice, 2),
        (Statement::Fence, 2),
        (Statement::Assert, 2),
        (Statement::ReadModifyWrite, 3),
        (Statement::Assign, 2),
    ];
    Config { weights, computed_addresses: 10, ..config }
}

/// Two or three threads of stores and loads one after the other, with few fences: most of them can do more under TSO
/// than under SC.
fn dense(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let thread = |rng: &mut Rng, name: &str, most: usize| {
        let count = rng.between(2, most);
        let steps: Vec<Instruction> = (0..count)
            .map(|at| match rng.below(20) {
                0 => Instruction::Fence,
                1 => Instruction::Store { address: Expr::Const(1 + rng.below(2) as i64), value: Expr::Leaf(RegId(0)) },
                2..10 => store(1 + rng.below(2) as i64, 1 + at as i64),
                _ => load(rng.below(2) as u32, 1 + rng.below(2) as i64),
            })
            .collect();
        straight(name, steps)
    };
    let threads = if rng.chance(20) {
        ["P", "Q", "R"].map(|name| thread(&mut rng, name, 3)).to_vec()
    } else {
        ["P", "Q"].map(|name| thread(&mut rng, name, 5)).to_vec()
    };
    sketch::program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new())
}

#[test]
fn dense_programs_agree() {
    let tally = agree_on("dense", dense, 1000, [99, 99]);
    assert!(tally.only_tso > 100, "{tally:?}");
}

#[test]
fn acyclic_programs_agree() {
    agree_on_random("acyclic", &Config::acyclic(), 250, [90, 90]);
}

#[test]
fn programs_of_accesses_agree() {
    agree_on_random("accesses", &accesses(), 250, [90, 90]);
}

#[test]
fn programs_with_computed_addresses_agree() {
    agree_on_random("computed", &Config { computed_addresses: 60, ..accesses() }, 150, [80, 80]);
}

#[test]
fn cyclic_programs_agree() {
    let config = Config { statements: (2, 4), ..Config::cyclic() }.weighing(Statement::Fence, 3);
    agree_on_random("cyclic", &config, 150, [60, 40]);
}

#[test]
fn programs_with_locks_agree() {
    agree_on_random(
        "locking",
        &Config::locking().weighing(Statement::Store, 40).weighing(Statement::Load, 40),
        150,
        [80, 80],
    );
}

#[test]
fn crowded_programs_agree() {
    agree_on_random("crowded", &Config::crowded(), 150, [80, 80]);
}

#[test]
fn programs_with_wild_data_agree() {
    agree_on_random("wild data", &Config::wild_data(), 12, [60, 60]);
}

/// A dense program in which some instructions are membarriers.
fn dense_with_membarriers(seed: u64) -> Program {
    let (mut program, mut rng) = (dense(seed), Rng::new(seed));
    for thread in &mut program.threads {
        thread.body = thread.body.map_edges(|edge| match rng.chance(12) {
            true => Edge { instruction: Instruction::Membarrier, ..edge.clone() },
            false => edge.clone(),
        });
    }
    program
}

#[test]
fn programs_with_membarriers_agree() {
    let tally = agree_on("dense with membarriers", dense_with_membarriers, 600, [99, 99]);
    assert!(tally.only_tso > 20, "{tally:?}");
    let config = Config { threads: (2, 3), ..accesses() }.weighing(Statement::Membarrier, 12);
    agree_on_random("membarriers", &config, 150, [90, 90]);
    let config = config.weighing(Statement::Choice, 20).weighing(Statement::Branch, 10);
    agree_on_random("membarriers and choices", &config, 150, [90, 90]);
    let config = Config { statements: (2, 4), ..config }.weighing(Statement::UnboundedLoop, 12);
    agree_on_random("membarriers in loops", &config, 60, [60, 40]);
}

#[test]
fn programs_with_awaits_agree() {
    let config = accesses().weighing(Statement::Await, 30);
    agree_on_random("awaits", &config, 50, [80, 80]);
    let config = Config { computed_addresses: 50, ..config }.weighing(Statement::Choice, 12);
    agree_on_random("awaits at computed addresses", &config, 15, [70, 70]);
    let config = Config { statements: (2, 4), ..config }.weighing(Statement::UnboundedLoop, 12);
    agree_on_random("awaits in loops", &config, 12, [50, 30]);
}

#[test]
fn programs_that_wrap_agree() {
    let config = Config { widths: 80, extremes: 10, computed_addresses: 30, ..accesses() };
    agree_on_random("wrapping", &config, 250, [85, 85]);
}
