//! The fences that are found make the properties hold, and trying all sets of fences finds no cheaper one.

use std::collections::BTreeSet;

use weir::Control;
use weir::fences::{Aim, Fences, Options, at_locations, fences};
use weir::transform::insert_fences;
use weir_ir::{LocId, Program, Property, PropertyKind, Span, ThreadId, Value};
use weir_testkit::dump;
use weir_testkit::reference::{Model, explore};

use crate::ends::{ends_with, program, values_of};

const LIMIT: usize = 200_000;

fn ends(program: &Program, model: Model) -> BTreeSet<Vec<Value>> {
    let outcome = explore(program, model, LIMIT).expect("the reference can");
    assert!(outcome.complete);
    outcome.final_states.iter().map(|end| values_of(program, end)).collect()
}

/// What fences cost that rule the property's final state out, or none if they cannot.
fn found(program: &Program) -> Option<u64> {
    let places: Vec<_> = at_locations(program).into_iter().map(|at| at.place).collect();
    let options = Options { aim: Aim::Safe, ..Options::default() };
    let report = fences(program, &places, &options, &Control::default()).unwrap_or_else(|failure| panic!("{failure}"));
    match report.fences {
        Fences::Cheapest(_) => Some(report.cost),
        Fences::Hopeless(_) => None,
        other => panic!("{other:?}\n{}", dump(program)),
    }
}

/// The least number of fences, by trying all sets.
fn tried(program: &Program, bad: &[Value], most: usize) -> Option<u64> {
    let places: Vec<(ThreadId, LocId)> = at_locations(program).iter().map(|at| (at.thread, at.location)).collect();
    let helps = |set: &BTreeSet<(ThreadId, LocId)>| !ends(&insert_fences(program, set), Model::Tso).contains(bad);
    (0..=most).find(|&size| subsets(&places, size).iter().any(helps)).map(|size| size as u64)
}

fn subsets<T: Copy + Ord>(of: &[T], size: usize) -> Vec<BTreeSet<T>> {
    let all = 0..1u32 << of.len();
    let chosen = all.filter(|set| set.count_ones() as usize == size);
    chosen.map(|set| (0..of.len()).filter(|at| set >> at & 1 == 1).map(|at| of[at]).collect()).collect()
}

#[test]
fn fences_for_safety_are_the_cheapest() {
    let (mut mended, mut hopeless) = (0, 0);
    for seed in 0..120 {
        let mut program = program(seed);
        let (sc, tso) = (ends(&program, Model::Sc), ends(&program, Model::Tso));
        let Some(bad) = tso.difference(&sc).next().or(sc.first()).cloned() else { continue };
        let kind = PropertyKind::Exists(ends_with(&program, &bad));
        program.properties.push(Property { kind, span: Span::default() });
        if sc.contains(&bad) {
            assert_eq!(found(&program), None, "seed {seed}\n{}", dump(&program));
            hopeless += 1;
            continue;
        }
        let Some(expected) = tried(&program, &bad, 3) else { continue };
        assert_eq!(found(&program), Some(expected), "seed {seed}: {bad:?}\n{}", dump(&program));
        mended += 1;
    }
    assert!(mended > 5 && hopeless > 5, "{mended} mended, {hopeless} hopeless");
}
