//! Triangular races, and what they have to do with robustness: programs with their answers. The definition is compared
//! with elsewhere.

use weir::Verdict;
use weir::robust::triangular_races;
use weir_ir::{BinaryOp, Expr, Instruction, RegId};
use weir_testkit::sketch::{cell, exchange, load, program as build, store, straight};

use crate::reference::{Count, LIMITS, judge, session, verdict};

/// Two threads over `x` at 1 and `y` at 2; what is said of robustness and of freedom from races.
fn judged(left: Vec<Instruction>, right: Vec<Instruction>) -> (Option<bool>, Option<bool>) {
    let program = build(vec![cell("x", 1), cell("y", 2)], vec![straight("P", left), straight("Q", right)], Vec::new());
    judge(&program, LIMITS, &mut Count::default()).unwrap_or_else(|why| panic!("{why}"));
    let races = triangular_races(&program, std::num::NonZeroUsize::MIN, &session()).expect("an answer");
    let race_free = match races.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    };
    (verdict(&program, 1), race_free)
}

fn assume(register: u32, value: i64) -> Instruction {
    Instruction::Assume(Expr::binary(BinaryOp::Equal, Expr::Leaf(RegId(register)), Expr::Const(value)))
}

#[test]
fn a_race_need_not_break_robustness() {
    assert_eq!(judged(vec![store(1, 1), load(0, 2)], vec![store(2, 1)]), (Some(true), Some(false)));
    // The other thread gets to its write only once it has seen the store: then the store does not wait.
    let waits = vec![load(0, 1), assume(0, 1), store(2, 1)];
    assert_eq!(judged(vec![store(1, 1), load(0, 2)], waits), (Some(true), Some(true)));
}

#[test]
fn what_waits_for_stores_prevents_races() {
    let right = || vec![store(2, 1), load(0, 1)];
    assert_eq!(judged(vec![store(1, 1), Instruction::Fence, load(0, 2)], right()).1, Some(false), "the other thread's");
    let fenced = || vec![store(2, 1), Instruction::Fence, load(0, 1)];
    assert_eq!(judged(vec![store(1, 1), Instruction::Fence, load(0, 2)], fenced()), (Some(true), Some(true)));
    assert_eq!(judged(vec![exchange(0, 1, 1), load(1, 2)], fenced()), (Some(true), Some(true)));
    // What a thread has just stored it sees; that its store may be late, nobody else can tell.
    assert_eq!(judged(vec![store(2, 2), load(0, 2)], fenced()), (Some(true), Some(true)));
}

#[test]
fn a_locked_write_races() {
    let (sb, xchg) = (vec![store(1, 1), load(0, 2)], vec![exchange(0, 2, 1), load(1, 1)]);
    assert_eq!(judged(sb, xchg), (Some(false), Some(false)));
}

#[test]
fn an_earlier_store_to_the_loaded_cell_does_not_help() {
    let left = vec![store(2, 5), store(1, 1), load(0, 2)];
    assert_eq!(judged(left, vec![store(2, 1), Instruction::Fence, load(0, 1)]), (Some(false), Some(false)));
}

/// No run under SC has the load of `P` next to the section in which `Q` writes; yet the program is not robust.
#[test]
fn a_section_that_depends_on_the_waiting_store_races() {
    let section = vec![Instruction::Lock, load(0, 1), assume(0, 0), store(2, 1), Instruction::Unlock];
    assert_eq!(judged(vec![store(1, 1), load(0, 2)], section), (Some(false), Some(false)));
}
