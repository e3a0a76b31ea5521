//! State by state: the engine visits just the drained states that the rules of the dissertation reach, and these
//! include each other as they should: SC in TSO in multiset in set, and TSO in each longer queue in each shorter one.

use std::collections::BTreeSet;

use weir_ir::Program;
use weir_testkit::random::{self, Config};
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};
use weir_testkit::{Drained, Model, drained_states, dump, shrink};
use weir_witness::Buffering;

use crate::support::{drained, seeds};

/// Counts further than any buffer of these programs that the reference can enumerate.
const COUNTED: Buffering = Buffering::Multiset(1000);

/// States that the reference interpreter may visit for each kind of buffer.
const STATES: usize = 1500;

/// What is wrong, if anything; else how many kinds of buffers could be compared.
fn compare(program: &Program) -> Result<usize, String> {
    let naive = |model| drained_states(program, model, STATES).expect("supported");
    let (sc, tso) = (naive(Model::Sc), naive(Model::Tso));
    let (multiset, set) = (naive(Model::Multiset), naive(Model::Set));
    let queues: Vec<_> = (0..4).map(|bound| naive(Model::Coherence(bound))).collect();
    included("SC in TSO", &sc, &tso)?;
    included("TSO in multiset", &tso, &multiset)?;
    included("multiset in set", &multiset, &set)?;
    included("TSO in the longest queue", &tso, &queues[3])?;
    for bound in 0..3 {
        included(&format!("queue {} in queue {bound}", bound + 1), &queues[bound + 1], &queues[bound])?;
    }
    same("a queue of none is a set", &queues[0], &set)?;
    let mut compared = 0;
    let kinds = (0..).map(Buffering::Coherence).zip(&queues).chain([(COUNTED, &multiset)]);
    for (buffering, naive) in kinds {
        if let Some(naive) = naive {
            let engine = drained(program, buffering, 1_000_000);
            same(&format!("{buffering:?}"), &engine, &Some(naive.clone()))?;
            compared += 1;
        }
    }
    // Counting less admits more.
    for (more, less) in [(COUNTED, 1), (Buffering::Multiset(1), 0)] {
        let finite = |buffering| drained(program, buffering, STATES as u64);
        included(&format!("counted to {less}"), &finite(more), &finite(Buffering::Multiset(less)))?;
    }
    included("counting in a set", &drained(program, Buffering::Multiset(0), STATES as u64), &set)?;
    Ok(compared)
}

fn included(what: &str, less: &Option<BTreeSet<Drained>>, more: &Option<BTreeSet<Drained>>) -> Result<(), String> {
    match (less, more) {
        (Some(less), Some(more)) => match less.difference(more).next() {
            Some(missing) => Err(format!("{what}: {missing:?} is missing")),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn same(what: &str, left: &Option<BTreeSet<Drained>>, right: &Option<BTreeSet<Drained>>) -> Result<(), String> {
    included(&format!("{what}, left in right"), left, right)?;
    included(&format!("{what}, right in left"), right, left)
}

fn check(name: &str, program: &Program) -> usize {
    compare(program).unwrap_or_else(|wrong| {
        let small = shrink(program, |smaller| compare(smaller).is_err());
        let shrunk = compare(&small).err().unwrap_or_default();
        panic!("{name}: {wrong}\nshrunk: {shrunk}\n{}", dump(&small));
    })
}

#[test]
fn tiny_programs_reach_what_the_rules_say() {
    // Every one in a long run, else every second, which is as good as another under other names.
    let step = if std::env::var("WEIR_SEEDS").is_ok() { 1 } else { 2 };
    for (name, program) in programs_up_to_renaming(Alphabet::Core).step_by(step) {
        assert_eq!(check(&name, &program), 5, "{name}");
    }
}

fn random(config: &Config, count: u64, at_least: u64) {
    let count = seeds(count);
    let mut compared = 0;
    for seed in 0..count {
        compared += check(&format!("seed {seed}"), &random::program(seed, config)) as u64;
    }
    assert!(compared >= at_least * count, "only {compared} comparisons for {count} programs");
}

#[test]
fn random_programs_without_loops_reach_what_the_rules_say() {
    random(&Config::acyclic(), 100, 4);
}

#[test]
fn random_programs_with_loops_reach_what_the_rules_say() {
    random(&Config::cyclic(), 100, 3);
}

#[test]
fn random_programs_with_locks_reach_what_the_rules_say() {
    random(&Config::locking(), 100, 4);
}

#[test]
fn random_programs_with_everything_reach_what_the_rules_say() {
    random(&Config::everything(), 120, 3);
}

#[test]
fn random_programs_with_pointers_and_ranges_reach_what_the_rules_say() {
    random(&Config::wild_data(), 100, 4);
}
