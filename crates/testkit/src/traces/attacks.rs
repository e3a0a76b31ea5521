//! The attacks that some run shows, by their definition.
//!
//! A run shows the attack of a store and a load of one thread if nobody else delays a store; the thread delays all its
//! stores from that one on, to the end; the load is the last thing it does; all its stores can land then; and in the
//! trace of it all the load happens before the store.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Instruction, Program, ThreadId};

use super::Bounds;
use super::machine::{Machine, Name, Run, Stores};
use super::order::happens_before;
use crate::hash::Rows;

/// What runs show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Feasible {
    /// Thread, store and load of each attack.
    pub attacks: BTreeSet<(ThreadId, EdgeId, EdgeId)>,
    /// For each attack, what the attacker does from the store to the load, both included: every way there is.
    pub ways: BTreeSet<(ThreadId, Vec<EdgeId>)>,
    /// The attacks that get as far as one helper: it writes a cell that the attacker's load has read from memory.
    pub begun: BTreeSet<(ThreadId, EdgeId, EdgeId)>,
    /// Whether all runs were looked at.
    pub is_complete: bool,
}

/// How far an attack has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Before,
    Delaying { thread: usize, store: usize },
    Halted { thread: usize, store: usize, load: usize },
}

impl Phase {
    fn words(self) -> [u64; 3] {
        match self {
            Self::Before => [0; 3],
            Self::Delaying { thread, store } => [1 + thread as u64, 1 + store as u64, 0],
            Self::Halted { thread, store, load } => [1 + thread as u64, 1 + store as u64, 1 + load as u64],
        }
    }
}

/// The attacks that runs up to a limit show. With `all_ways`, local steps are steps of their own, so that ways have all
/// edges.
pub fn feasible(program: &Program, limits: Bounds, all_ways: bool) -> Feasible {
    let machine = Machine { program, settles: !all_ways };
    let mut found = Feasible { is_complete: true, ..Feasible::default() };
    let mut seen = Rows::default();
    let mut work = vec![(machine.initial(), Phase::Before)];
    while let Some((run, phase)) = work.pop() {
        let mut key = run.trace(program);
        key.extend(phase.words());
        if !seen.insert(key) {
            continue;
        }
        if seen.len() > limits.ways {
            found.is_complete = false;
            break;
        }
        if let Phase::Halted { thread, store, load } = phase {
            note(machine, &run, (thread, store), load, &mut found);
        }
        for thread in 0..run.threads.len() {
            let next = successors(machine, &run, phase, thread);
            if run.threads[thread].executed.len() < limits.instructions {
                work.extend(next);
            } else {
                found.is_complete &= next.is_empty();
            }
        }
    }
    found
}

fn successors(machine: Machine<'_>, run: &Run, phase: Phase, thread: usize) -> Vec<(Run, Phase)> {
    let place = run.threads[thread].executed.len();
    let did = |next: &Run, predicate: fn(&Instruction) -> bool| {
        let edge = next.threads[thread].executed[place].edge;
        predicate(&machine.program.threads[thread].body.edge(edge).instruction)
    };
    let is_store = |instruction: &Instruction| matches!(instruction, Instruction::Store { .. });
    let is_load = |instruction: &Instruction| {
        matches!(instruction, Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. })
    };
    let ordinary = |stores| machine.executed(run, thread, stores).into_iter().map(move |next| (next, phase));
    match phase {
        Phase::Before => {
            let begun = machine.executed(run, thread, Stores::Wait).into_iter().filter(|next| did(next, is_store));
            let begun = begun.map(|next| (next, Phase::Delaying { thread, store: place }));
            ordinary(Stores::Land).chain(begun).collect()
        }
        Phase::Delaying { thread: attacker, store } if attacker == thread => {
            let delayed: Vec<_> = ordinary(Stores::Wait).collect();
            let halts = delayed.iter().filter(|(next, _)| did(next, is_load));
            let halted = |(next, _): &(Run, Phase)| (next.clone(), Phase::Halted { thread, store, load: place });
            let halted: Vec<_> = halts.map(halted).collect();
            delayed.into_iter().chain(halted).collect()
        }
        Phase::Halted { thread: attacker, .. } if attacker == thread => Vec::new(),
        Phase::Delaying { .. } | Phase::Halted { .. } => ordinary(Stores::Land).collect(),
    }
}

/// Notes what a run in which the attacker has halted shows.
fn note(machine: Machine<'_>, run: &Run, (thread, store): Name, load: usize, found: &mut Feasible) {
    let executed = &run.threads[thread].executed;
    let attack = (ThreadId::new(thread), executed[store].edge, executed[load].edge);
    // Every store of the attacker from the first delayed one on waits, so what is read from memory is a landed store or
    // none.
    let is_waiting = |source: Option<Name>| source.is_some_and(|(of, place)| of == thread && place >= store);
    let from_memory =
        executed[load].accesses.iter().filter(|access| access.source.is_some_and(|source| !is_waiting(source)));
    let is_overwritten = |access: &super::machine::Access| {
        let last = run.landed.get(&access.address).and_then(|stores| stores.last().copied());
        access.source != Some(last)
    };
    if from_memory.into_iter().any(is_overwritten) {
        found.begun.insert(attack);
    }
    let mut end = run.clone();
    while !end.threads[thread].waiting.is_empty() {
        match machine.flushed(&end, thread) {
            Some(next) => end = next,
            None => return,
        }
    }
    if happens_before(machine.program, &end, (thread, load), (thread, store)) {
        found.attacks.insert(attack);
        found.ways.insert((attack.0, executed[store..=load].iter().map(|traced| traced.edge).collect()));
    }
}
