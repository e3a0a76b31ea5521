//! Triangular races by their definition: all runs under SC, and whether two neighbouring steps of one are in a race.

use std::collections::HashSet;

use weir_ir::{BinaryOp, Expr, Instruction, Program, RegId, ThreadId};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::sketch::{cell, exchange, load, program as build, store, straight};
use weir_testkit::tiny::{Alphabet, programs};
use weir_testkit::{dump, shrink};
use weir_witness::{Effect, Event, Model, Run, enabled_steps, replay};

use crate::{race_free, verdict};

/// Whether these events end with a store of the thread to another cell and further steps of the thread alone, none of which waits for the store, nor
/// stores to this cell.
fn may_wait(before: &[Event], thread: ThreadId, address: i64) -> bool {
    let own = before.iter().rev().take_while(|event| event.thread == thread);
    let goes_on = own.take_while(|event| match event.effect {
        Effect::Fence | Effect::Lock | Effect::Unlock | Effect::ReadModifyWrite { .. } => false,
        Effect::Store { address: stored, .. } => stored != address,
        _ => true,
    });
    goes_on.into_iter().any(|event| matches!(event.effect, Effect::Store { .. }))
}

/// Whether the last event is a write in a race with the load before it.
fn is_race(events: &[Event]) -> bool {
    let [before @ .., load, write] = events else { return false };
    let races = |address| write.effect.address() == Some(address) && may_wait(before, load.thread, address);
    load.thread != write.thread
        && write.effect.written().is_some()
        && load.effect.loads().iter().any(|loaded| races(loaded.address))
}

/// Whether no run has a race; `None` if that is too much work.
fn is_free(program: &Program, limit: usize) -> Option<bool> {
    let mut seen = HashSet::new();
    let mut work = vec![Run { model: Model::Sc, steps: Vec::new() }];
    while let Some(run) = work.pop() {
        let replayed = replay(program, &run).expect("enabled steps can be taken");
        if is_race(replayed.events()) {
            return Some(false);
        }
        // Everything that can matter later: the state, and what was done last without anybody in between.
        let last = replayed.events().last().map(|event| event.thread);
        let own = replayed.events().iter().rev().take_while(|event| Some(event.thread) == last);
        let threads: Vec<(ThreadId, Effect)> = own.map(|event| (event.thread, event.effect.clone())).collect();
        if !seen.insert((threads, format!("{:?}", replayed.last()))) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        for step in enabled_steps(program, Model::Sc, replayed.last()).expect("no calls, no spawns") {
            let mut steps = run.steps.clone();
            steps.push(step);
            work.push(Run { model: Model::Sc, steps });
        }
    }
    Some(true)
}

fn disagree(program: &Program) -> bool {
    is_free(program, 3_000).is_some_and(|expected| race_free(program) != Some(expected))
}

#[test]
fn races_of_tiny_programs_agree_with_the_definition() {
    let mut racy = 0;
    for (name, program) in programs(Alphabet::Core).step_by(7).chain(programs(Alphabet::Snapshots).step_by(3)) {
        assert!(!disagree(&program), "{name}");
        racy += usize::from(race_free(&program) == Some(false));
    }
    assert!(racy > 50, "{racy} programs with a race");
}

#[test]
fn races_of_random_programs_agree_with_the_definition() {
    let config = Config { threads: (2, 3), statements: (1, 4), ..crate::random::accesses() }
        .weighing(Statement::Fence, 6)
        .weighing(Statement::Atomic, 0)
        .weighing(Statement::StrayLock, 0);
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    for seed in 0..count {
        let program = program(seed, &config);
        if disagree(&program) {
            panic!("seed {seed}\n{}", dump(&shrink(&program, disagree)));
        }
    }
}

/// Two threads over `x` at 1 and `y` at 2; what is said of robustness and of freedom from races.
fn judged(left: Vec<Instruction>, right: Vec<Instruction>) -> (Option<bool>, Option<bool>) {
    let program = build(vec![cell("x", 1), cell("y", 2)], vec![straight("P", left), straight("Q", right)], Vec::new());
    (verdict(&program, 1), race_free(&program))
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
