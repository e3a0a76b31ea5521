//! Exact numbers of states and steps, counted by hand.

use weir_ir::{Instruction, LocId};

use super::*;
use crate::sketch::{ThreadSketch, load, store};

fn size(program: &Program, model: Model) -> (usize, usize) {
    let outcome = run(program, model);
    (outcome.states, outcome.transitions)
}

#[test]
fn a_program_that_does_nothing_has_one_state() {
    for model in Model::ALL {
        assert_eq!(size(&threads([vec![], vec![]]), model), (1, 0));
    }
}

#[test]
fn a_store_takes_one_step_under_sc_and_two_under_tso() {
    let program = threads([vec![store(X, 1)]]);
    assert_eq!(size(&program, Model::Sc), (2, 1));
    assert_eq!(size(&program, Model::Tso), (3, 2));
    assert_eq!(run(&program, Model::Sc).depth, 1);
    assert_eq!(run(&program, Model::Tso).depth, 2);
}

#[test]
fn two_stores_to_one_cell() {
    let program = threads([vec![store(X, 1)], vec![store(X, 2)]]);
    // Places (0,0), (1,0), (0,1), and (1,1) with either value on top; one step for each thread not done.
    assert_eq!(size(&program, Model::Sc), (5, 4));
    // Each store is to come, buffered or flushed: 9 pairs, and when both are flushed either value may be on top.
    // Each thread can step in two of its three phases, whatever the other's: 2 · (2 · 3) steps.
    assert_eq!(size(&program, Model::Tso), (10, 12));
}

#[test]
fn store_buffering() {
    let program = threads([vec![store(X, 1), load(0, Y)], vec![store(Y, 1), load(0, X)]]);
    // By places: (0,0), (1,0), (0,1), (1,1), (2,0), (0,2) are one state each; at (2,1) and (1,2) the load read 0 or
    // 1: 2 each; at (2,2) three outcomes. 6 + 4 + 3.
    assert_eq!(run(&program, Model::Sc).states, 13);
    // A thread that has not read 1 is at one of: 0, 1 buffered, 1 flushed, 2 buffered, 2 flushed. All 5 · 5 pairs
    // occur. If just the first read 1, the second has flushed (at 1 or 2: 2 ways) and the first has or has not: 4,
    // and 4 the other way round. If both read 1, both have flushed: 1. In all 25 + 4 + 4 + 1.
    assert_eq!(run(&program, Model::Tso).states, 34);
}

#[test]
fn two_critical_sections_never_overlap() {
    let section = || vec![Instruction::Lock, Instruction::Unlock];
    // All pairs of places but (inside, inside).
    for model in Model::ALL {
        assert_eq!(run(&threads([section(), section()]), model).states, 8);
    }
}

#[test]
fn states_that_differ_only_in_how_they_came_about_are_one() {
    // `loop { x = 1; x = 0; }`: two places, and memory is what the place says. Also for a cell nobody declared.
    for address in [X, 99] {
        let mut sketch = ThreadSketch::new("P0");
        let (head, middle) = (sketch.entry(), sketch.location());
        sketch.edge(head, middle, store(address, 1));
        sketch.edge(middle, head, store(address, 0));
        let program = crate::sketch::program(vec![crate::sketch::cell("x", X)], vec![sketch.finish()], vec![]);
        assert_eq!(size(&program, Model::Sc), (2, 2));
    }
}

#[test]
fn a_buffer_that_grows_forever_ends_at_the_limit() {
    let mut sketch = ThreadSketch::new("P0");
    sketch.edge(LocId(0), LocId(0), store(X, 1));
    let program = crate::sketch::program(vec![], vec![sketch.finish()], vec![]);
    let outcome = explore(&program, Model::Tso, 500).unwrap();
    assert!(!outcome.complete);
    assert_eq!(outcome.states, 500);
    // With a limit that memory could not bear, long buffers end the search.
    let outcome = explore(&program, Model::Tso, usize::MAX).unwrap();
    assert!(!outcome.complete && outcome.states < 10_000);
    // Under SC it is the state before the first store, and the one after.
    assert_eq!(size(&program, Model::Sc), (2, 2));
}

#[test]
fn a_limit_that_is_just_enough_is_no_limit() {
    let program = threads([vec![store(X, 1)], vec![store(X, 2)]]);
    assert!(explore(&program, Model::Tso, 10).unwrap().complete);
    let cut = explore(&program, Model::Tso, 9).unwrap();
    assert_eq!((cut.complete, cut.states), (false, 9));
}
