//! What a cycle means, by enumeration: of all runs of small programs, those with a cycle are just those whose trace no
//! run under SC has.

use std::collections::BTreeSet;

use super::naive::naive;
use super::*;
use crate::replay::{enabled_steps, replay};
use crate::run::{Run, Step};

/// Thread and position: no schedule changes them.
type Name = (ThreadId, usize);

/// What makes two runs have the same trace.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Trace {
    lengths: Vec<usize>,
    stores: Vec<Vec<Name>>,
    sources: Vec<(Name, Option<Name>)>,
}

fn trace_of(replay: &Replay) -> Trace {
    let trace = naive(replay);
    let is_earlier = |id: NodeId, other: &NodeId| *other < id && trace.node(*other).thread == trace.node(id).thread;
    let name = |id: NodeId| (trace.node(id).thread, trace.ids().filter(|other| is_earlier(id, other)).count());
    let length = |thread: usize| trace.nodes.iter().filter(|node| node.thread.index() == thread).count();
    let mut sources: Vec<_> = trace.ids().map(|id| (name(id), trace.source(replay, id).map(name))).collect();
    sources.sort_unstable();
    Trace {
        lengths: (0..replay.last().thread_count()).map(length).collect(),
        stores: [X, Y].map(|cell| trace.stores(replay, cell).into_iter().map(name).collect()).to_vec(),
        sources,
    }
}

/// Every run, long or short.
fn all_runs(program: &Program, model: Model) -> Vec<Replay> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<Step>> = vec![Vec::new()];
    while let Some(steps) = open.pop() {
        let replayed = replay(program, &Run { model, steps: steps.clone() }).expect("the steps are possible");
        for step in enabled_steps(program, model, replayed.last()).expect("all is supported") {
            open.push(steps.iter().copied().chain([step]).collect());
        }
        found.push(replayed);
    }
    found
}

/// Two accesses; between `lock` and `unlock` or not.
fn threads() -> Vec<Vec<Instruction>> {
    let accesses = [store(X, 1), store(Y, 1), load(0, X), load(0, Y), snapshot(X, Y), exchange(0, X, 2)];
    let mut threads = Vec::new();
    for (left, first) in accesses.iter().enumerate() {
        for (right, second) in accesses.iter().enumerate() {
            threads.push(vec![first.clone(), second.clone()]);
            if left < 4 && right < 4 {
                threads.push(vec![Instruction::Lock, first.clone(), second.clone(), Instruction::Unlock]);
            }
        }
    }
    threads
}

/// Returns how many traces are possible under SC, and how many are not.
fn compare(program: &Program) -> [usize; 2] {
    let sequential: BTreeSet<Trace> = all_runs(program, Model::Sc).iter().map(trace_of).collect();
    let mut counts = [0; 2];
    let mut seen = BTreeSet::new();
    for replayed in all_runs(program, Model::Tso).iter().filter(|replayed| replayed.last().is_drained()) {
        let trace = trace_of(replayed);
        let is_cyclic = HappensBefore::new(replayed).is_cyclic();
        assert_eq!(is_cyclic, !sequential.contains(&trace), "{:?}", replayed.events());
        counts[usize::from(is_cyclic)] += usize::from(seen.insert(trace));
    }
    counts
}

#[test]
fn a_run_of_a_small_program_has_a_cycle_exactly_if_no_sc_run_has_its_trace() {
    let threads = threads();
    let mut counts = [0; 2];
    for (left, first) in threads.iter().enumerate() {
        for (right, second) in threads.iter().enumerate() {
            // Without stores that can wait there is little to see; of the other pairs, a fifth is enough.
            let can_wait = |thread: &[Instruction]| matches!(thread[0], Instruction::Store { .. });
            let is_chosen = (left + right).is_multiple_of(5) || can_wait(first) && can_wait(second);
            if !is_chosen {
                continue;
            }
            let found = compare(&program(vec![sequence(first.clone()), sequence(second.clone())]));
            counts = [counts[0] + found[0], counts[1] + found[1]];
        }
    }
    assert!(counts[0] > 5_000 && counts[1] >= 20, "{counts:?}");
}

#[test]
fn three_threads_may_need_each_other_for_a_cycle() {
    for program in three_threads() {
        let found = compare(&program);
        assert!(found[0] > 0 && found[1] > 0, "{found:?}");
    }
}
