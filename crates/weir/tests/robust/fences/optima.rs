//! Every cheapest set, for robustness and for freedom from triangular races.

use std::collections::BTreeSet;

use weir::fences::{Aim, Fences, Options, Place, Recheck, fences, recheck};
use weir_ir::Program;
use weir_testkit::traces::{Bounds, feasible, is_robust, races};
use weir_testkit::{Rng, cycles, dump};

use super::{Set, certified, fenced, places, tried};
use crate::reference::{pairs, same, session};

const LIMITS: Bounds = Bounds { instructions: 24, ways: 6_000 };

/// Whether a program achieves the aim, by definition.
fn achieves(program: &Program, aim: Aim) -> Option<bool> {
    match aim {
        Aim::Robust => is_robust(program, LIMITS),
        Aim::RaceFree | Aim::Safe | Aim::States => {
            let found = feasible(program, LIMITS, false);
            Some(!races(program, LIMITS.ways)? && found.is_complete.then_some(found.begun.is_empty())?)
        }
    }
}

/// How many programs needed no fences, one cheapest set, several; and how many cannot be mended at the given places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    none: usize,
    one: usize,
    several: usize,
    nowhere: usize,
}

fn compare(program: &Program, places: &[Place], aim: Aim, count: &mut Count) -> Result<(), String> {
    let expected = tried(places, |set| achieves(&fenced(program, places, set), aim));
    let ask = |all: bool| {
        let options = Options { aim, all, ..Options::default() };
        fences(program, places, &options, &session()).map_err(|failure| failure.to_string())
    };
    let report = ask(true)?;
    same("attacks", pairs(program), report.attacks.clone())?;
    let shown: BTreeSet<_> =
        report.seen_feasible.iter().map(|attack| (attack.thread, attack.store, attack.load)).collect();
    let found = feasible(program, LIMITS, false);
    let known = if aim == Aim::Robust { found.attacks } else { found.begun };
    same("seen feasible", true, aim == Aim::RaceFree || !found.is_complete || shown.is_subset(&known))?;
    match (expected, report.fences) {
        (None, Fences::Nowhere(attack)) => {
            count.nowhere += 1;
            same("an attack that was seen", true, report.seen_feasible.contains(&attack))
        }
        (Some((cost, sets)), Fences::Cheapest(all)) => {
            *(match (cost, sets.len()) {
                (0, _) => &mut count.none,
                (_, 1) => &mut count.one,
                _ => &mut count.several,
            }) += 1;
            same("cheapest", (cost, sets.len(), &sets), (report.cost, all.len(), &all.into_iter().collect()))?;
            let report = ask(false)?;
            let Fences::Cheapest(one) = &report.fences else { return Err("one set is not found".into()) };
            same("one of the cheapest", (1, true), (one.len(), sets.contains(&one[0])))?;
            if aim == Aim::Robust {
                certified(program, places, &report, &one[0], &Options { aim, ..Options::default() })?;
            }
            confirmed(program, places, aim, &one[0])
        }
        (expected, said) => Err(format!("by definition {expected:?}, but {said:?} is said")),
    }
}

/// What was found is confirmed; a set that lacks one is not enough, and with one more it is not needed.
fn confirmed(program: &Program, places: &[Place], aim: Aim, set: &Set) -> Result<(), String> {
    let options = Options { aim, ..Options::default() };
    let without = |gone: &usize| fenced(program, places, &set.iter().copied().filter(|place| place != gone).collect());
    let reduced: Vec<Program> = set.iter().map(without).collect();
    let whole = fenced(program, places, set);
    let outcome = recheck(&whole, reduced.iter().cloned(), &options, &session());
    same("confirmed", Ok(Recheck::Confirmed), outcome.map_err(|failure| failure.to_string()))?;
    for smaller in reduced {
        let is_refuted = recheck(&smaller, [], &options, &session()).is_err();
        same("a set that is not enough", true, is_refuted)?;
    }
    let is_refuted = recheck(&whole, [whole.clone()], &options, &session()).is_err();
    same("a set with one that is not needed", true, is_refuted)
}

fn compare_all(config: &cycles::Config, seeds: std::ops::Range<u64>, aim: Aim) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let program = cycles::program(seed, config);
        let mut rng = Rng::new(seed);
        let places = places(&program, &mut rng, 1 + (seed % 4) as usize);
        if places.len() > 9 {
            continue;
        }
        compare(&program, &places, aim, &mut count)
            .unwrap_or_else(|why| panic!("{aim:?}, seed {seed}: {why}\n{places:?}\n{}", dump(&program)));
    }
    count
}

const PLAIN: cycles::Config = cycles::Config { helpers: 2, noise: 1, loops: 0, locks: 0, data: 0 };

#[test]
fn every_cheapest_set_for_robustness_is_found() {
    let count = compare_all(&PLAIN, 0..120, Aim::Robust);
    assert!(count.none > 60 && count.one > 35 && count.several > 6 && count.nowhere > 1, "{count:?}");
    let count = compare_all(&cycles::Config { locks: 50, data: 30, ..PLAIN }, 0..120, Aim::Robust);
    assert!(count.none > 60 && count.one > 25 && count.several > 12, "{count:?}");
}

/// A fence in the attacker is all that helps, wherever it stands among the threads: between its delayed store and its
/// load it must see another thread move.
#[test]
fn the_fence_goes_to_the_attacker_not_to_whom_it_waits_for() {
    let threads = [
        "thread B { x = 1; }",
        "thread A { z = 1; let p = x; assume p == 0; let q = x; assume q == 1; let r = y; }",
        "thread C { y = 1; fence; let s = z; }",
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let text = order.map(|at| threads[at]).join(" ");
        let program = crate::shapes::parse(&format!("shared x, y, z; {text}"));
        let places: Vec<Place> = weir::fences::at_locations(&program).into_iter().map(|at| at.place).collect();
        let mut count = Count::default();
        compare(&program, &places, Aim::Robust, &mut count).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(count, Count { several: 1, ..Count::default() }, "{text}");
    }
}

#[test]
fn every_cheapest_set_against_races_is_found() {
    let count = compare_all(&cycles::Config { locks: 20, data: 10, ..PLAIN }, 0..100, Aim::RaceFree);
    assert!(count.none > 30 && count.one > 30 && count.several > 9 && count.nowhere > 1, "{count:?}");
}
