//! Facts about traces that were worked out by hand.

use weir_ir::{EdgeId, Instruction, Program, ThreadId};

use super::{Bounds, feasible, is_robust, is_sc_trace, races};
use crate::sketch::{cell, load, program, store, straight};

const LIMITS: Bounds = Bounds { instructions: 10, ways: 100_000 };

fn two(left: Vec<Instruction>, right: Vec<Instruction>) -> Program {
    program(vec![cell("x", 1), cell("y", 2)], vec![straight("P", left), straight("Q", right)], Vec::new())
}

fn store_buffering() -> Program {
    two(vec![store(1, 1), load(0, 2)], vec![store(2, 1), load(0, 1)])
}

#[test]
fn store_buffering_is_not_robust_and_message_passing_is() {
    assert_eq!(is_robust(&store_buffering(), LIMITS), Some(false));
    assert_eq!(is_robust(&two(vec![store(1, 1), store(2, 1)], vec![load(0, 2), load(1, 1)]), LIMITS), Some(true));
}

#[test]
fn a_locked_section_is_one_step() {
    let section = vec![Instruction::Lock, load(0, 1), store(2, 1), Instruction::Unlock];
    assert_eq!(is_robust(&two(vec![store(1, 1), load(0, 2)], section.clone()), LIMITS), Some(false));
    assert_eq!(is_robust(&two(vec![store(1, 1), load(0, 2)], section[1..3].to_vec()), LIMITS), Some(true));
    // Nobody gives the lock back, so the store never lands.
    let held = section[..3].to_vec();
    assert_eq!(is_robust(&two(vec![store(1, 1), load(0, 2)], held), LIMITS), Some(true));
}

#[test]
fn limits_leave_the_answer_open() {
    assert_eq!(is_robust(&store_buffering(), Bounds { ways: 3, ..LIMITS }), None);
    assert_eq!(is_robust(&store_buffering(), Bounds { instructions: 1, ..LIMITS }), None);
}

#[test]
fn the_run_of_store_buffering_has_no_sc_trace() {
    let (p, q) = (ThreadId(0), ThreadId(1));
    let step = |thread, edge| (thread, Some((EdgeId(edge), 0)));
    let program = store_buffering();
    let late = [step(p, 0), step(p, 1), step(q, 0), step(q, 1), (p, None), (q, None)];
    assert_eq!(is_sc_trace(&program, &late), Ok(false));
    let early = [step(p, 0), step(p, 1), (p, None), step(q, 0), step(q, 1), (q, None)];
    assert_eq!(is_sc_trace(&program, &early), Ok(true));
    assert_eq!(is_sc_trace(&program, &late[..5]), Err(5), "a store still waits");
    assert_eq!(is_sc_trace(&program, &late[1..]), Err(0), "the load comes after the store");
}

#[test]
fn each_thread_of_store_buffering_can_attack() {
    let found = feasible(&store_buffering(), LIMITS, false);
    let attack = |thread| (ThreadId(thread), EdgeId(0), EdgeId(1));
    assert!(found.is_complete);
    assert_eq!(found.attacks, [attack(0), attack(1)].into());
    assert_eq!(found.ways.len(), 2);
}

#[test]
fn a_race_is_a_load_next_to_a_write() {
    let fenced = || vec![store(2, 1), Instruction::Fence, load(0, 1)];
    assert_eq!(races(&two(vec![store(1, 1), load(0, 2)], vec![store(2, 1)]), 1000), Some(true));
    assert_eq!(races(&two(vec![store(1, 1), Instruction::Fence, load(0, 2)], fenced()), 1000), Some(false));
    assert_eq!(races(&two(vec![store(2, 2), load(0, 2)], fenced()), 1000), Some(false));
    assert_eq!(races(&two(vec![store(2, 2), store(1, 1), load(0, 2)], fenced()), 1000), Some(true));
}
