//! The fences that are found make the program robust, and trying all sets of fences finds no cheaper one.

use std::collections::BTreeSet;

use weir::Control;
use weir::fences::{AtLocation, Fences, Options, at_locations, fences};
use weir::transform::insert_fences;
use weir_ir::{LocId, Program, ThreadId};
use weir_testkit::random::program;
use weir_testkit::tiny::{Alphabet, programs};
use weir_testkit::{dump, shrink};

use crate::random::accesses;
use crate::verdict;

type Sets = BTreeSet<BTreeSet<(ThreadId, LocId)>>;

/// Every cheapest set that Weir finds.
fn found(program: &Program) -> (u64, Sets) {
    let at = at_locations(program);
    let places: Vec<_> = at.iter().map(|at| at.place.clone()).collect();
    let options = Options { all: true, ..Options::default() };
    let report = fences(program, &places, &options, &Control::default()).unwrap_or_else(|failure| panic!("{failure}"));
    match report.fences {
        Fences::Cheapest(sets) => (report.cost, sets.iter().map(|set| named(&at, set)).collect()),
        other => panic!("{other:?}"),
    }
}

fn named(at: &[AtLocation], set: &BTreeSet<usize>) -> BTreeSet<(ThreadId, LocId)> {
    set.iter().map(|&place| (at[place].thread, at[place].location)).collect()
}

/// Every smallest set, by trying them all with the fences really put in; `None` if it would take more than `most`.
fn tried(program: &Program, most: usize) -> Option<(u64, Sets)> {
    let places: Vec<_> = at_locations(program).iter().map(|at| (at.thread, at.location)).collect();
    for size in 0..=most {
        let candidates = subsets(&places, size);
        let enough = |set: &BTreeSet<_>| verdict(&insert_fences(program, set), 1) == Some(true);
        let sets: Sets = candidates.into_iter().filter(enough).collect();
        if !sets.is_empty() {
            return Some((size as u64, sets));
        }
    }
    None
}

fn subsets<T: Copy + Ord>(of: &[T], size: usize) -> Vec<BTreeSet<T>> {
    if size == 0 {
        return vec![BTreeSet::new()];
    }
    let with_first = |at: usize| {
        subsets(&of[at + 1..], size - 1).into_iter().map(move |mut set| {
            set.insert(of[at]);
            set
        })
    };
    (0..of.len()).flat_map(with_first).collect()
}

fn disagrees(program: &Program) -> bool {
    tried(program, 3).is_some_and(|expected| found(program) != expected)
}

#[test]
fn fences_of_tiny_programs_are_the_cheapest() {
    let mut mended = 0;
    for (name, program) in programs(Alphabet::Core).step_by(7) {
        if verdict(&program, 1) == Some(false) {
            assert_eq!(Some(found(&program)), tried(&program, 4), "{name}");
            mended += 1;
        }
    }
    assert!(mended > 3, "{mended} programs needed fences");
}

#[test]
fn fences_of_random_programs_are_the_cheapest() {
    let mut mended = 0;
    for seed in 0..300 {
        let program = program(seed, &accesses());
        if verdict(&program, 1) != Some(false) {
            continue;
        }
        mended += 1;
        if disagrees(&program) {
            let small = shrink(&program, disagrees);
            panic!("seed {seed}: found {:?}, tried {:?}\n{}", found(&small), tried(&small, 3), dump(&small));
        }
    }
    assert!(mended > 10, "{mended} programs needed fences");
}
