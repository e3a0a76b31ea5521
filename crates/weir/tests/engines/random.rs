//! Seeded random programs: each way of asking agrees with the reference, and answers as much as it ever did.
//!
//! Every other program is asked about drained states that are known to be possible or not, the others what they ask
//! themselves, which leaves more registers dead and more threads alike.

use weir_ir::{Instruction, Program, Rmw};
use weir_testkit::random::{Config, Statement, program};

use crate::exactly::{Tallies, check, questioned};
use crate::families::ways;
use crate::ways::Way;

/// Of 100 questions so many must have an answer.
type Least = [(Way, u64); 6];

fn agree(name: &str, config: &Config, count: u64, least: Least) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tallies = Tallies::new();
    for seed in 0..count {
        let plain = program(seed, config);
        let program = if seed % 2 == 0 { questioned(&plain, seed) } else { plain };
        let mut ways = ways(seed as usize);
        ways.retain(|&way| way != Way::Dual || !counts_in_a_snapshot(&program));
        check(&format!("{name} program, seed {seed}"), &program, &ways, &mut tallies);
    }
    let share = |way| {
        let tally = &tallies[&way];
        100 * tally.answered() / (tally.asked - tally.refused).max(1)
    };
    let found: Vec<(Way, u64)> = least.iter().map(|&(way, _)| (way, share(way))).collect();
    let enough = found.iter().zip(least).all(|((_, share), (_, least))| *share >= least);
    assert!(enough, "{name}: {found:?} of 100 where {least:?} are wanted: {tallies:?}");
    assert!(tallies[&Way::Tso].reached * 6 >= tallies[&Way::Tso].asked, "{name}: hardly anything can be reached");
}

/// Cells that count, as far as `dual` can see without end, and loads of several cells: it refuses these too, but late.
fn counts_in_a_snapshot(program: &Program) -> bool {
    let has = |wanted: fn(&Instruction) -> bool| {
        program.threads.iter().any(|thread| thread.body.edges().iter().any(|edge| wanted(&edge.instruction)))
    };
    has(|instruction| matches!(instruction, Instruction::Snapshot(_)))
        && has(|instruction| matches!(instruction, Instruction::ReadModifyWrite { operation: Rmw::Fetch(..), .. }))
}

/// Loops that store, so that buffers grow without bound.
pub(crate) fn pumping() -> Config {
    Config { statements: (3, 6), ..Config::cyclic() }
        .weighing(Statement::UnboundedLoop, 25)
        .weighing(Statement::Store, 40)
        .weighing(Statement::Load, 40)
        .weighing(Statement::Fence, 3)
}

fn least(explicit: u64, lazy: u64, first: u64, dual: u64, set: u64, coherence: u64) -> Least {
    [
        (Way::Tso, explicit),
        (Way::Lazy, lazy),
        (Way::LazyFirst, first),
        (Way::Dual, dual),
        (Way::Set, set),
        (Way::Coherence, coherence),
    ]
}

#[test]
fn acyclic_programs() {
    agree("acyclic", &Config::acyclic(), 100, least(99, 100, 98, 100, 97, 97));
}

#[test]
fn programs_with_loops() {
    agree("cyclic", &Config::cyclic(), 100, least(81, 99, 98, 100, 98, 97));
}

#[test]
fn programs_whose_buffers_grow() {
    agree("pumping", &pumping(), 60, least(80, 98, 94, 100, 99, 100));
}

#[test]
fn programs_with_locks() {
    agree("locking", &Config::locking(), 100, least(98, 99, 99, 100, 98, 98));
}

#[test]
fn crowded_programs() {
    agree("crowded", &Config::crowded(), 80, least(97, 98, 98, 100, 98, 98));
}

#[test]
fn programs_with_wild_data() {
    agree("wild", &Config::wild_data(), 60, least(100, 100, 98, 100, 100, 100));
}

#[test]
fn programs_with_everything() {
    agree("everything", &Config::everything(), 200, least(95, 98, 97, 99, 95, 97));
}

#[test]
fn programs_that_synchronize() {
    agree("synchronizing", &Config::synchronizing(), 120, least(90, 95, 95, 95, 90, 92));
}

#[test]
fn programs_that_wrap() {
    agree("wrapping", &Config::wrapping(), 80, least(90, 90, 90, 80, 85, 85));
}
