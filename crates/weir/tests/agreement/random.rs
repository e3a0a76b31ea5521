//! Seeded random programs. A failure names the configuration and the seed. For a long run, set `WEIR_SEEDS` to the
//! number of programs of each configuration: `WEIR_SEEDS=100000 cargo test --release -p weir --test agreement`.

use weir_testkit::random::{Config, Statement, program};
use weir_witness::Model;

use crate::compare::{ALL_MERGED, Effort, check};

/// What is tried beside the plain search comes by turns; each with every kind of program.
fn effort(seed: u64) -> Effort {
    let jobs: [&[usize]; 5] = [&[], &[2], &[3], &[], &[5]];
    let (some, others) = ALL_MERGED.split_at(ALL_MERGED.len() / 2);
    let merging = match seed / 2 % 5 {
        0 | 3 => some,
        1 | 4 => others,
        _ => &[],
    };
    Effort { limit: 1500, merging, budgets: true, depth_first: seed % 3 != 2, jobs: jobs[seed as usize % 5] }
}

/// Compares on `count` programs under both models; in at least `complete` of 100 searches all states must have been
/// visited, and in at least `reached` of 100 a goal, lest the comparison becomes empty without anyone noticing.
fn agree_on_random(name: &str, config: &Config, count: u64, complete: u64, reached: u64) {
    let count = wanted_seeds().unwrap_or(count);
    let (mut seen_complete, mut seen_reached, mut seen_refused) = (0, 0, 0);
    for seed in 0..count {
        let program = program(seed, config);
        for model in [Model::Sc, Model::Tso] {
            let seen = check(&format!("{name} program, seed {seed}"), &program, model, effort(seed));
            seen_complete += u64::from(seen.complete);
            seen_reached += u64::from(seen.reached > 0);
            seen_refused += u64::from(seen.refused);
        }
    }
    assert!(seen_complete * 100 >= complete * 2 * count, "{seen_complete} searches were complete");
    assert!(seen_reached * 100 >= reached * 2 * count, "{seen_reached} searches reached a goal");
    assert_eq!(seen_refused, 0, "searches were refused");
}

/// How many programs a long run tries of each configuration.
pub(crate) fn wanted_seeds() -> Option<u64> {
    std::env::var("WEIR_SEEDS").ok()?.parse().ok()
}

#[test]
fn acyclic_programs_agree() {
    agree_on_random("acyclic", &Config::acyclic(), 200, 90, 30);
}

#[test]
fn cyclic_programs_agree() {
    agree_on_random("cyclic", &Config::cyclic(), 250, 75, 30);
}

#[test]
fn programs_with_locks_agree() {
    agree_on_random("locking", &Config::locking(), 180, 90, 30);
}

#[test]
fn programs_with_many_threads_agree() {
    agree_on_random("crowded", &Config::crowded(), 120, 90, 30);
}

#[test]
fn programs_with_pointers_ranges_and_extreme_values_agree() {
    agree_on_random("wild", &Config::wild_data(), 220, 90, 30);
}

#[test]
fn programs_with_membarriers_agree() {
    let config = Config::locking().weighing(Statement::Membarrier, 20).weighing(Statement::Store, 40);
    agree_on_random("membarriers", &config, 150, 90, 30);
}

#[test]
fn programs_with_everything_agree() {
    agree_on_random("everything", &Config::everything(), 250, 75, 30);
}

#[test]
fn programs_with_awaits_agree() {
    let config = Config::locking().weighing(Statement::Await, 30).weighing(Statement::Store, 40);
    agree_on_random("awaits", &config, 150, 90, 30);
}

#[test]
fn programs_that_wrap_agree() {
    agree_on_random("wrapping", &Config::wrapping(), 200, 85, 25);
}
