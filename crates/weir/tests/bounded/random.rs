//! Seeded random programs. A failure names the configuration and the seed, and shows the program made small.
//!
//! With `WEIR_SEEDS=1000`, each test looks at so many programs.

use weir::translate::bounded::RunBound;
use weir_ir::Program;
use weir_testkit::random::{Config, program};
use weir_testkit::{cycles, dump, shrink};

use crate::compare::{Tally, compare, observing, supported};

const LIMIT: usize = 1_500;

/// The bound that a seed is for: each seed has another one, so that all are tried often.
fn bound_of(seed: u64) -> RunBound {
    [RunBound::Rounds(2), RunBound::Age(1), RunBound::Rounds(3), RunBound::Age(2), RunBound::Rounds(1)]
        [(seed % 5) as usize]
}

fn agree_on(name: &str, config: &Config, count: u64) -> Tally {
    agree_on_all(name, |seed| program(seed, config), count)
}

fn agree_on_all(name: &str, make: impl Fn(u64) -> Program, count: u64) -> Tally {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tally = Tally::default();
    for seed in 0..count {
        let program = supported(make(seed));
        let bound = bound_of(seed);
        match compare(&program, bound, LIMIT) {
            Ok(one) => tally.add(one),
            Err(what) => {
                let small = shrink(&program, |program| compare(program, bound, LIMIT).is_err());
                let small_what = compare(&small, bound, LIMIT).err();
                panic!("{name} program, seed {seed}: {what}\n{}\n{small_what:?}", dump(&small));
            }
        }
    }
    assert!(2 * tally.compared > count, "{name}: {tally:?}");
    tally
}

/// Around a cycle of happens-before, so that stores wait and that shows.
fn around_a_cycle(seed: u64) -> Program {
    let data = if seed.is_multiple_of(4) { 30 } else { 0 };
    let config = cycles::Config { helpers: 1 + (seed % 2) as usize, noise: 1, loops: 0, locks: 15, data };
    observing(cycles::program(seed, &config))
}

#[test]
fn programs_around_a_cycle_agree() {
    let tally = agree_on_all("cycle", around_a_cycle, 40);
    assert!(tally.beyond_sc > 5, "{tally:?}");
}

#[test]
fn acyclic_programs_agree() {
    agree_on("acyclic", &Config::acyclic(), 20);
}

#[test]
fn cyclic_programs_agree() {
    agree_on("cyclic", &Config::cyclic(), 15);
}

#[test]
fn locking_programs_agree() {
    agree_on("locking", &Config::locking(), 20);
}

#[test]
fn wild_data_agrees() {
    agree_on("wild data", &Config::wild_data(), 20);
}

#[test]
fn synchronizing_programs_agree() {
    agree_on("synchronizing", &Config::synchronizing(), 20);
}

#[test]
fn wrapping_programs_agree() {
    agree_on("wrapping", &Config::wrapping(), 20);
}
