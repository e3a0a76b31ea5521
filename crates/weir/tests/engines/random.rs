//! Seeded random programs.

use weir::reach::Engine;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::{dump, shrink};

use crate::{Seen, compare};

const LIMIT: usize = 3_000;

/// Compares on many programs. At least so many of 100 goals must get an answer, and so many must be reachable, lest the comparison
/// becomes empty without anyone noticing.
fn agree(name: &str, engine: Engine, config: &Config, count: u64, (answered, reachable): (u64, u64)) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut seen = Seen::default();
    for seed in 0..count {
        let program = program(seed, config);
        match compare(&program, engine, LIMIT) {
            Ok(more) => seen.add(&more),
            Err(how) => {
                let small = shrink(&program, |program| compare(program, engine, LIMIT).is_err());
                panic!("{name} program, seed {seed}: {how}\n{}", dump(&small));
            }
        }
    }
    assert!(seen.answered * 100 >= answered * seen.goals, "{name}: {seen:?}");
    assert!(seen.reachable * 100 >= reachable * seen.goals, "{name}: {seen:?}");
}

/// Loops that store, so that buffers grow without bound.
pub(crate) fn pumping() -> Config {
    Config { statements: (3, 6), ..Config::cyclic() }
        .weighing(Statement::UnboundedLoop, 25)
        .weighing(Statement::Store, 40)
        .weighing(Statement::Load, 40)
        .weighing(Statement::Fence, 3)
}

#[test]
fn dual_on_acyclic_programs() {
    agree("acyclic", Engine::Dual, &Config::acyclic(), 400, (95, 15));
}

#[test]
fn dual_on_programs_with_loops() {
    agree("cyclic", Engine::Dual, &Config::cyclic(), 400, (90, 15));
}

#[test]
fn dual_on_programs_whose_buffers_grow() {
    agree("pumping", Engine::Dual, &pumping(), 250, (85, 15));
}

#[test]
fn dual_on_programs_with_locks() {
    agree("locking", Engine::Dual, &Config::locking(), 400, (90, 15));
}

#[test]
fn dual_on_crowded_programs() {
    agree("crowded", Engine::Dual, &Config::crowded(), 300, (90, 15));
}

#[test]
fn dual_on_wild_data() {
    agree("wild", Engine::Dual, &Config::wild_data(), 300, (70, 15));
}
