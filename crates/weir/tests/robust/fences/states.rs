//! Fences as far as the states need them, compared with trying all sets in the reference interpreter.

use std::collections::BTreeSet;

use weir::fences::{Aim, Fences, Options, Recheck, fences, recheck};
use weir_ir::Program;
use weir_testkit::reference::{Model, drained_states};
use weir_testkit::{Rng, cycles, dump};

use super::{Set, fenced, places, tried};
use crate::reference::session;
use crate::states::{Seen, seen, with_forbid};

const LIMIT: usize = 4_000;

/// What is seen of the drained states of a program with fences, in terms of the one without. A thread that waits at a
/// new fence counts as being behind it.
fn all_seen(program: &Program, with: &Program, model: Model) -> Option<BTreeSet<Seen>> {
    let states = drained_states(with, model, LIMIT).expect("the reference can")?;
    let place = |thread: weir_ir::ThreadId, at: weir_ir::LocId| {
        let is_new = at.index() >= program.body(thread).locations.len();
        let fence = with.body(thread).edges_from(at).next().filter(|_| is_new);
        fence.map_or(at, |(_, fence)| fence.to)
    };
    Some(states.iter().map(|state| seen(program, state, place)).collect())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    none: usize,
    one: usize,
    several: usize,
    nowhere: usize,
    /// With fewer fences than robustness takes.
    fewer: usize,
}

fn compare(program: &Program, seed: u64, count: &mut Count) {
    let mut rng = Rng::new(seed);
    let places = places(program, &mut rng, 1 + (seed % 3) as usize);
    if places.len() > 8 {
        return;
    }
    let Some(sc) = all_seen(program, program, Model::Sc) else { return };
    let achieves = |set: &Set| {
        let with = fenced(program, &places, set);
        let under_sc = all_seen(program, &with, Model::Sc)?;
        assert_eq!(under_sc, sc, "fences change what is seen under SC\n{}", dump(&with));
        Some(all_seen(program, &with, Model::Tso)?.is_subset(&sc))
    };
    // Some programs have too many states for the reference.
    if all_seen(program, program, Model::Tso).is_none() {
        return;
    }
    let expected = tried(&places, achieves);
    let ask = |aim, all| {
        let options = Options { aim, all, ..Options::default() };
        fences(program, &places, &options, &session()).unwrap_or_else(|failure| panic!("{failure}"))
    };
    let report = ask(Aim::States, true);
    match (expected, report.fences) {
        (None, Fences::NoPlace(_)) => count.nowhere += 1,
        (Some((cost, expected)), Fences::Cheapest(sets)) => {
            *(match (cost, expected.len()) {
                (0, _) => &mut count.none,
                (_, 1) => &mut count.one,
                _ => &mut count.several,
            }) += 1;
            let found = sets.iter().cloned().collect::<BTreeSet<_>>();
            let said = (report.cost, sets.len(), found);
            assert_eq!(said, (cost, expected.len(), expected), "seed {seed}\n{places:?}\n{}", dump(program));
            let robust = ask(Aim::Robust, false);
            if matches!(robust.fences, Fences::Cheapest(_)) {
                assert!(robust.cost >= cost, "robustness is stronger\n{}", dump(program));
                count.fewer += usize::from(robust.cost > cost);
            }
            is_confirmed(program, &sets[0], &places);
        }
        (expected, said) => panic!("seed {seed}: {expected:?}, but {said:?} is said\n{}", dump(program)),
    }
}

/// What was found is confirmed on the fenced programs themselves, where a fence is one location for all ways to it.
fn is_confirmed(program: &Program, set: &Set, places: &[weir::fences::Place]) {
    let with = |set: &Set| {
        let at = |&place: &usize| {
            let steps = places[place].after.iter();
            steps.map(|&(thread, edge)| (thread, program.body(thread).edge(edge).to))
        };
        weir::translate::insert_fences(program, &set.iter().flat_map(at).collect()).program
    };
    // Places that were joined at random name only some of the ways to a location.
    let entered = weir::fences::at_locations(program);
    let is_whole = |place: &usize| entered.iter().any(|at| at.place.after == places[*place].after);
    if set.iter().all(is_whole) {
        let options = Options { aim: Aim::States, ..Options::default() };
        let without = |gone: &usize| with(&set.iter().copied().filter(|place| place != gone).collect());
        let outcome = recheck(&with(set), set.iter().map(without), &options, &session());
        assert_eq!(outcome, Ok(Recheck::Confirmed), "{}", dump(program));
    }
}

#[test]
fn every_cheapest_set_for_states_is_found() {
    let mut count = Count::default();
    let config = cycles::Config { helpers: 1, noise: 2, loops: 0, locks: 15, data: 10 };
    for seed in 0..120 {
        compare(&cycles::program(seed, &config), seed, &mut count);
        let config = cycles::Config { loops: 50, noise: 1, ..config };
        compare(&with_forbid(cycles::program(1_000 + seed, &config), seed), seed, &mut count);
    }
    assert!(count.none > 60 && count.one > 20 && count.several > 5 && count.fewer > 3, "{count:?}");
}
