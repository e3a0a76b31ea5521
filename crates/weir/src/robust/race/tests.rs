//! What is a triangular race, and what only looks like one.

use weir_ir::{EdgeId, Instruction};
use weir_testkit::sketch::{cell, load, program, store, straight};
use weir_witness::Step;

use super::*;

const P: u32 = 0;
const Q: u32 = 1;

fn step(thread: u32, edge: u32) -> Step {
    Step { thread: ThreadId(thread), action: Action::Execute { edge: EdgeId(edge), choice: 0 } }
}

fn flush(thread: u32) -> Step {
    Step { thread: ThreadId(thread), action: Action::Flush }
}

fn race(left: &[Instruction], right: &[Instruction], model: Model, steps: &[Step]) -> Result<Race, String> {
    let threads = vec![straight("P", left.to_vec()), straight("Q", right.to_vec())];
    let program = program(vec![cell("x", 1), cell("y", 2), cell("z", 3)], threads, Vec::new());
    Race::new(&program, Run { model, steps: steps.to_vec() }, ThreadId(P))
}

fn in_order(left: u32, right: u32) -> Vec<Step> {
    (0..left).map(|edge| step(P, edge)).chain((0..right).map(|edge| step(Q, edge))).collect()
}

fn under_sc(left: &[Instruction], right: &[Instruction]) -> Result<Race, String> {
    race(left, right, Model::Sc, &in_order(left.len() as u32, right.len() as u32))
}

#[test]
fn a_store_a_load_and_a_write_are_a_race() {
    let found = under_sc(&[store(3, 1), store(1, 1), load(0, 2)], &[store(2, 1)]).expect("a race");
    assert_eq!((found.store().index(), found.load().index(), found.write().index(), found.address()), (1, 2, 3, 2));
    let attack = found.attack().expect("both are steps");
    assert_eq!((attack.thread, attack.store, attack.load), (ThreadId(P), EdgeId(1), EdgeId(2)));
    assert_eq!(found.overtaken(), [(ThreadId(P), EdgeId(1))].into());
    let longer = under_sc(&[store(1, 1), Instruction::Skip, load(0, 2)], &[store(2, 1)]).expect("a race");
    assert_eq!(longer.overtaken(), [(ThreadId(P), EdgeId(0)), (ThreadId(P), EdgeId(1))].into());
    // Of several loads it is the last that counts.
    let last = under_sc(&[store(1, 1), load(0, 2), load(0, 2)], &[store(2, 1)]).expect("a race");
    assert_eq!(last.load().index(), 2);
}

#[test]
fn what_waits_for_the_store_or_hides_it_prevents_a_race() {
    let write = [store(2, 1)];
    let exchange = weir_testkit::sketch::exchange(0, 3, 1);
    for between in [Instruction::Fence, exchange] {
        assert!(under_sc(&[store(1, 1), between, load(0, 2)], &write).is_err());
    }
    let locked = [store(1, 1), Instruction::Lock, Instruction::Unlock, load(0, 2)];
    assert!(under_sc(&locked, &write).is_err());
    let inside = [Instruction::Lock, store(1, 1), Instruction::Unlock, load(0, 2)];
    assert!(under_sc(&inside, &write).is_err(), "it lands before the section ends");
    assert!(under_sc(&[store(2, 5), load(0, 2)], &write).is_err(), "the load sees the store");
    assert!(under_sc(&[store(1, 1), store(2, 5), load(0, 2)], &write).is_err(), "and the store before cannot pass it");
    assert!(under_sc(&[load(0, 2)], &write).is_err(), "nothing waits");
}

#[test]
fn the_write_must_be_one_of_another_thread_to_the_cell_and_come_next() {
    let left = [store(1, 1), load(0, 2)];
    assert!(under_sc(&left, &[store(3, 1)]).is_err(), "another cell");
    assert!(under_sc(&left, &[load(0, 2)]).is_err(), "no write");
    assert!(under_sc(&left, &[]).is_err(), "nobody writes");
    assert!(under_sc(&left, &[load(0, 1), store(2, 1)]).is_err(), "something comes between");
    assert!(under_sc(&[store(1, 1), load(0, 2), store(2, 1)], &[]).is_err(), "the thread itself");
    assert!(race(&left, &[store(2, 1)], Model::Sc, &[]).is_err(), "an empty run");
    let apart = [step(P, 0), step(Q, 0), step(P, 1), step(Q, 1)];
    assert!(race(&left, &[load(0, 3), store(2, 1)], Model::Sc, &apart).is_err(), "others act between store and load");
    let failed = weir_ir::Rmw::CompareAndSwap { expected: weir_ir::Expr::Const(7), new: weir_ir::Expr::Const(1) };
    assert!(under_sc(&left, &[weir_testkit::sketch::rmw(0, 2, failed)]).is_err(), "it writes nothing");
    assert!(under_sc(&left, &[weir_testkit::sketch::exchange(0, 2, 1)]).is_ok());
}

#[test]
fn a_section_up_to_the_write_is_one_write() {
    let left = [store(1, 1), load(0, 2)];
    assert!(under_sc(&left, &[Instruction::Lock, load(0, 1), store(2, 1)]).is_ok());
    let again = [Instruction::Lock, Instruction::Unlock, store(2, 1)];
    assert!(under_sc(&left, &again).is_err(), "the section is over");
}

/// The write is one access of one thread, whichever numbers the threads have: nobody else steps within its section.
#[test]
fn no_other_thread_steps_within_the_section() {
    let bodies = [
        vec![store(1, 1), load(0, 2), Instruction::Skip],
        vec![Instruction::Lock, load(0, 1), store(2, 1)],
        vec![Instruction::Skip],
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let place = |role: usize| order.iter().position(|&other| other == role).expect("each has a place") as u32;
        let (loads, writes, idles) = (place(0), place(1), place(2));
        let threads = order.iter().map(|&role| straight(&format!("T{role}"), bodies[role].clone())).collect();
        let program = program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new());
        let ask = |steps: &[(u32, u32)]| {
            let steps = steps.iter().map(|&(thread, edge)| step(thread, edge)).collect();
            Race::new(&program, Run { model: Model::Sc, steps }, ThreadId(loads))
        };
        let before = [(loads, 0), (loads, 1)];
        let section = [(writes, 0), (writes, 1), (writes, 2)];
        let whole: Vec<(u32, u32)> = before.iter().chain(&section).copied().collect();
        let found = ask(&whole).expect("a race");
        assert_eq!((found.store().index(), found.load().index(), found.write().index()), (0, 1, 4));
        for other in [(idles, 0), (loads, 2)] {
            for at in 2..5 {
                let mut steps = whole.clone();
                steps.insert(at, other);
                assert!(ask(&steps).is_err(), "{order:?}: {other:?} at {at}");
            }
        }
    }
}

#[test]
fn under_tso_the_store_still_waits() {
    let (left, right) = ([store(1, 1), load(0, 2)], [store(2, 1)]);
    let waits = [step(P, 0), step(P, 1), step(Q, 0), flush(Q)];
    assert!(race(&left, &right, Model::Tso, &waits).is_ok());
    let landed = [step(P, 0), flush(P), step(P, 1), step(Q, 0), flush(Q)];
    assert!(race(&left, &right, Model::Tso, &landed).is_err(), "it has landed");
    assert!(race(&left, &right, Model::Tso, &waits[..3]).is_err(), "the write has not");
    let earlier = [step(Q, 0), step(P, 0), step(P, 1), step(Q, 1), flush(Q)];
    let skips = [store(2, 1), Instruction::Skip];
    assert!(race(&left, &skips, Model::Tso, &earlier).is_err(), "what lands is not what was stored next to the load");
    let section = [Instruction::Lock, load(0, 1), store(2, 1)];
    let whole = [step(P, 0), step(P, 1), step(Q, 0), step(Q, 1), step(Q, 2), flush(Q)];
    assert!(race(&left, &section, Model::Tso, &whole).is_ok());
    // Its own store is what the load sees.
    let own = [store(2, 1), store(1, 1), load(0, 2)];
    let seen = [step(P, 0), step(P, 1), step(P, 2), step(Q, 0), flush(Q)];
    assert!(race(&own, &right, Model::Tso, &seen).is_err());
}
