//! Reasons of fences, on programs small enough to know them.

use weir_ir::{EdgeId, ThreadId};
use weir_testkit::sketch::{cell, load, program, store, straight};

use super::*;
use crate::fences::{Aim, Fences, Options, at_locations, fences};
use crate::session::Session;

/// Store buffering in which each thread does something else in between.
fn store_buffering() -> Program {
    let left = straight("P", [store(3, 1), store(1, 1), load(1, 3), load(0, 2)]);
    let right = straight("Q", [store(2, 1), load(1, 2), load(0, 1)]);
    let cells = [("x", 1), ("y", 2), ("z", 3)].map(|(name, address)| cell(name, address)).to_vec();
    program(cells, vec![left, right], Vec::new())
}

fn accesses(reason: &Reason) -> Vec<(u32, u32, Address)> {
    let all = [reason.store, reason.load].into_iter().chain(reason.partners.iter().copied());
    all.map(|access| (access.thread.0, access.edge.0, access.address)).collect()
}

#[test]
fn each_fence_has_its_pair_and_its_partner() {
    let program = store_buffering();
    let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
    for aim in [Aim::Robust, Aim::States] {
        let options = Options { aim, all: true, ..Options::default() };
        let report = fences(&program, &places, &options, &Session::default()).expect("an answer");
        let Fences::Cheapest(sets) = report.fences else { panic!("{:?}", report.fences) };
        assert_eq!((sets.len(), report.reasons.len()), (4, 4), "{aim:?}");
        for (set, reasons) in sets.iter().zip(&report.reasons) {
            assert_eq!(reasons.keys().collect::<Vec<_>>(), set.iter().collect::<Vec<_>>(), "{aim:?}");
            let found: Vec<_> = reasons.values().map(accesses).collect();
            let left = vec![(0, 1, 1), (0, 3, 2), (1, 0, 2), (1, 2, 1)];
            let right = vec![(1, 0, 2), (1, 2, 1), (0, 1, 1), (0, 3, 2)];
            assert_eq!(found, [left, right], "{aim:?}");
        }
    }
}

#[test]
fn a_triangular_race_names_the_write() {
    let left = straight("P", [store(1, 1), load(0, 2)]);
    let right = straight("Q", [store(2, 1)]);
    let cells = [("x", 1), ("y", 2)].map(|(name, address)| cell(name, address)).to_vec();
    let program = program(cells, vec![left, right], Vec::new());
    let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
    let options = Options { aim: Aim::RaceFree, ..Options::default() };
    let report = fences(&program, &places, &options, &Session::default()).expect("an answer");
    let found: Vec<_> = report.reasons[0].values().map(accesses).collect();
    assert_eq!(found, [vec![(0, 0, 1), (0, 1, 2), (1, 0, 2)]]);
}

/// A step that the run does not take between the pair says nothing about a fence after it.
#[test]
fn only_pairs_around_the_place_count() {
    let program = store_buffering();
    let places: Vec<_> = at_locations(&program).into_iter().map(|at| at.place).collect();
    let options = Options::default();
    let report = fences(&program, &places, &options, &Session::default()).expect("an answer");
    assert_eq!(report.reasons.len(), 1);
    let after = |thread, edge| [(ThreadId(thread), EdgeId(edge))];
    let step = |thread, edge| weir_witness::Step {
        thread: ThreadId(thread),
        action: weir_witness::Action::Execute { edge: EdgeId(edge), choice: 0 },
    };
    let flush = |thread| weir_witness::Step { thread: ThreadId(thread), action: weir_witness::Action::Flush };
    let steps = vec![
        step(0, 0),
        flush(0),
        step(0, 1),
        step(0, 2),
        step(0, 3),
        step(1, 0),
        flush(1),
        step(1, 1),
        step(1, 2),
        flush(0),
    ];
    let run = Run { model: weir_witness::Model::Tso, steps };
    assert_eq!(reason(&program, &run, &after(0, 0)), None);
    assert!(reason(&program, &run, &after(0, 1)).is_some());
    assert!(reason(&program, &run, &after(0, 2)).is_some());
    assert_eq!(reason(&program, &run, &after(0, 3)), None);
    assert_eq!(reason(&program, &run, &after(1, 0)), None);
}
