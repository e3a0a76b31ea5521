//! Seeded random programs. A failure names the configuration and the seed, and shows the program made small.

use weir_testkit::random::{Config, Statement, program};
use weir_testkit::{dump, shrink};

use crate::definition::is_robust;
use crate::verdict;

/// Ways to go that the definition is followed through.
const LIMIT: usize = 2_000;

fn disagrees(program: &weir_ir::Program) -> bool {
    is_robust(program, LIMIT).is_some_and(|expected| verdict(program, 1) != Some(expected))
}

/// At least `decided` of 100 programs must be small enough, and `not_robust` of 1000 not robust.
fn agree_on_random(name: &str, config: &Config, count: u64, decided: u64, not_robust: u64) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let (mut seen_decided, mut seen_not_robust) = (0, 0);
    for seed in 0..count {
        let program = program(seed, config);
        let Some(expected) = is_robust(&program, LIMIT) else { continue };
        seen_decided += 1;
        seen_not_robust += u64::from(!expected);
        if disagrees(&program) {
            let small = shrink(&program, disagrees);
            panic!("{name} program, seed {seed}: expected robust = {expected}\n{}", dump(&small));
        }
        assert_eq!(verdict(&program, 2), Some(expected), "{name} program, seed {seed}, two workers");
    }
    assert!(seen_decided * 100 >= decided * count, "{seen_decided} of {count} programs were small enough");
    assert!(seen_not_robust * 1000 >= not_robust * count, "{seen_not_robust} of {count} programs were not robust");
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

#[test]
fn programs_of_accesses_agree_with_the_definition() {
    agree_on_random("accesses", &accesses(), 400, 60, 40);
}

#[test]
fn programs_with_locks_agree_with_the_definition() {
    let config = accesses().weighing(Statement::Atomic, 25).weighing(Statement::StrayLock, 2);
    agree_on_random("locking", &config, 500, 60, 20);
}

#[test]
fn programs_of_three_threads_agree_with_the_definition() {
    let config = Config { threads: (3, 3), statements: (1, 3), ..accesses() };
    agree_on_random("three threads", &config.weighing(Statement::Atomic, 6), 300, 40, 10);
}

#[test]
fn programs_with_snapshots_agree_with_the_definition() {
    let config = accesses().weighing(Statement::Snapshot, 40).weighing(Statement::Atomic, 6);
    agree_on_random("snapshots", &config, 400, 40, 20);
    let config = Config { threads: (3, 3), statements: (1, 3), ..config };
    agree_on_random("snapshots in three threads", &config, 300, 30, 10);
}

#[test]
fn programs_of_all_kinds_agree_with_the_definition() {
    agree_on_random("all kinds", &Config::acyclic(), 300, 30, 3);
}
