//! Litmus shapes: which outcomes each model allows.

use weir_ir::{BinaryOp, Expr, Instruction, PropertyKind};

use super::*;
use crate::sketch::{all_of, equal, exchange, load, register, register_of, store};

fn set(outcomes: &[&[Value]]) -> BTreeSet<Vec<Value>> {
    outcomes.iter().map(|outcome| outcome.to_vec()).collect()
}

fn store_buffering(left: Vec<Instruction>, right: Vec<Instruction>) -> Program {
    let first = [vec![store(X, 1)], left, vec![load(0, Y)]].concat();
    let second = [vec![store(Y, 1)], right, vec![load(0, X)]].concat();
    let both_zero = all_of([equal(register_of(0, 0), 0), equal(register_of(1, 0), 0)]);
    with_properties([first, second], vec![PropertyKind::Exists(both_zero)])
}

#[test]
fn store_buffering_reads_zero_twice_under_tso_only() {
    let program = store_buffering(vec![], vec![]);
    assert_eq!(reads(&program, Model::Sc), set(&[&[0, 1], &[1, 0], &[1, 1]]));
    assert_eq!(reads(&program, Model::Tso), set(&[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]));
    assert_eq!(first_goal(&program, Model::Sc), None);
    // Two stores, two loads, two flushes.
    assert_eq!(first_goal(&program, Model::Tso), Some(6));
}

#[test]
fn two_fences_mend_store_buffering_and_one_does_not() {
    let fence = || vec![Instruction::Fence];
    assert_eq!(first_goal(&store_buffering(fence(), fence()), Model::Tso), None);
    assert!(first_goal(&store_buffering(fence(), vec![]), Model::Tso).is_some());
    assert!(first_goal(&store_buffering(vec![], fence()), Model::Tso).is_some());
}

#[test]
fn a_read_modify_write_or_a_critical_section_drains_like_a_fence() {
    let swap = || vec![exchange(1, 3, 1)];
    let section = || vec![Instruction::Lock, Instruction::Unlock];
    assert_eq!(first_goal(&store_buffering(swap(), swap()), Model::Tso), None);
    assert_eq!(first_goal(&store_buffering(section(), section()), Model::Tso), None);
    assert_eq!(first_goal(&store_buffering(swap(), section()), Model::Tso), None);
    assert!(first_goal(&store_buffering(swap(), vec![]), Model::Tso).is_some());
}

#[test]
fn message_passing_arrives_in_order() {
    let program = threads([vec![store(X, 1), store(Y, 1)], vec![load(0, Y), load(1, X)]]);
    for model in Model::ALL {
        assert_eq!(reads(&program, model), set(&[&[0, 0], &[0, 1], &[1, 1]]));
    }
}

#[test]
fn loads_are_not_delayed_past_stores() {
    let program = threads([vec![load(0, X), store(Y, 1)], vec![load(0, Y), store(X, 1)]]);
    for model in Model::ALL {
        assert_eq!(reads(&program, model), set(&[&[0, 0], &[0, 1], &[1, 0]]));
    }
}

#[test]
fn independent_readers_agree_on_the_order_of_writes() {
    let readers = [vec![load(0, X), load(1, Y)], vec![load(0, Y), load(1, X)]];
    let [first, second] = readers;
    let program = threads([vec![store(X, 1)], vec![store(Y, 1)], first, second]);
    for model in Model::ALL {
        let outcomes = reads(&program, model);
        assert!(!outcomes.contains(&vec![1, 0, 1, 0]));
        assert_eq!(outcomes.len(), 15);
    }
}

#[test]
fn a_store_reaches_a_second_reader_only_after_what_the_first_one_saw() {
    // WRC: the thread that forwards the value has seen x, so a thread that reads what it forwards sees x, too.
    let program = threads([vec![store(X, 1)], vec![load(0, X), store(Y, 1)], vec![load(0, Y), load(1, X)]]);
    for model in Model::ALL {
        let outcomes = reads(&program, model);
        assert!(!outcomes.contains(&vec![1, 1, 0]));
        assert!(outcomes.contains(&vec![1, 1, 1]) && outcomes.contains(&vec![0, 1, 0]));
    }
}

#[test]
fn stores_of_one_thread_reach_memory_in_order() {
    // 2+2W: both cells keeping the first store of the thread that wrote them first would need a cycle.
    let program = threads([vec![store(X, 1), store(Y, 2)], vec![store(Y, 1), store(X, 2)]]);
    for model in Model::ALL {
        assert_eq!(memories(&program, model, [X, Y]), BTreeSet::from([[1, 2], [2, 1], [2, 2]]));
    }
}

#[test]
fn a_store_delayed_past_a_load_loses_to_a_later_one() {
    // R: y ends at 2 although the load before x = 1 read 0.
    let condition = all_of([equal(crate::sketch::cell_value(Y), 2), equal(register_of(1, 0), 0)]);
    let bodies = [vec![store(X, 1), store(Y, 1)], vec![store(Y, 2), load(0, X)]];
    let program = with_properties(bodies, vec![PropertyKind::Exists(condition)]);
    assert_eq!(first_goal(&program, Model::Sc), None);
    // Four instructions, three flushes.
    assert_eq!(first_goal(&program, Model::Tso), Some(7));
}

#[test]
fn a_thread_sees_its_own_newest_store_at_once() {
    let program = threads([vec![store(X, 1), store(X, 2), load(0, X), load(1, Y)], vec![store(Y, 1), load(0, X)]]);
    for model in Model::ALL {
        assert!(reads(&program, model).iter().all(|outcome| outcome[0] == 2));
    }
    assert!(reads(&program, Model::Tso).contains(&vec![2, 0, 0]));
    assert!(!reads(&program, Model::Sc).contains(&vec![2, 0, 0]));
}

#[test]
fn increments_get_lost_unless_they_are_atomic() {
    let one_more = Expr::binary(BinaryOp::Add, register(0), Expr::Const(1));
    let increment = || vec![load(0, X), Instruction::Store { address: Expr::Const(X), value: one_more.clone() }];
    let locked = || [vec![Instruction::Lock], increment(), vec![Instruction::Unlock]].concat();
    for model in Model::ALL {
        assert_eq!(memories(&threads([increment(), increment()]), model, [X]), BTreeSet::from([[1], [2]]));
        assert_eq!(memories(&threads([locked(), locked()]), model, [X]), BTreeSet::from([[2]]));
    }
}
