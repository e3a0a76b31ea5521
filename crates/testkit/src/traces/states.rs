//! All states under SC: triangular races, and what is executed. States are finitely many where data is, also with
//! loops.

use std::collections::BTreeSet;

use weir_ir::{Address, EdgeId, Instruction, Program, ThreadId};

use super::machine::{Machine, Run, Stores, TracedInstruction};
use crate::hash::Rows;

/// What is remembered of the last steps.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Last {
    /// The thread that moved last, and the cells that it has stored to since another moved or it waited for its stores
    /// to land: each once, the last one last.
    Alone { thread: usize, stored: Vec<Address> },
    /// This thread has just loaded from these cells, with a store to another cell waiting; since then nothing has
    /// happened, or this holder of the lock has made steps of its section.
    Loaded { thread: usize, addresses: Vec<Address>, holder: Option<usize> },
}

impl Last {
    fn words(&self) -> Vec<u64> {
        match self {
            Self::Alone { thread, stored } => {
                [0, *thread as u64].into_iter().chain(stored.iter().map(|&address| address as u64)).collect()
            }
            Self::Loaded { thread, addresses, holder } => {
                let header = [1, *thread as u64, holder.map_or(u64::MAX, |holder| holder as u64)];
                header.into_iter().chain(addresses.iter().map(|&address| address as u64)).collect()
            }
        }
    }
}

/// The state that a run has led to, without how it got there.
fn state(run: &Run) -> Vec<u64> {
    let mut words = vec![run.holder.map_or(u64::MAX, |holder| holder as u64)];
    for local in &run.threads {
        words.push(u64::from(local.location.0));
        words.extend(local.registers.iter().map(|&value| value as u64));
    }
    words.extend(run.memory.iter().flat_map(|(&address, &value)| [address as u64, value as u64]));
    words
}

/// One step of a thread: what it did, and the state after it with the history forgotten.
fn steps(machine: Machine<'_>, run: &Run, thread: usize) -> Vec<(TracedInstruction, Run)> {
    let forgetful = |mut next: Run| {
        let traced = next.threads[thread].executed.pop()?;
        next.landed.clear();
        Some((TracedInstruction::clone(&traced), next))
    };
    machine.executed(run, thread, Stores::Land).into_iter().filter_map(forgetful).collect()
}

/// Whether some run under SC has a triangular race, a locked section counting as one write; `None` if there are more
/// than `most` states.
///
/// S. Owens, "Reasoning about the Implementation of Concurrency Abstractions on x86-TSO", 2010: a thread stores, and
/// goes on to load from another cell, with nothing in between that waits for the store to land, nor a store to that
/// cell; and the next step is a write of another thread to the cell that is loaded.
pub fn races(program: &Program, most: usize) -> Option<bool> {
    let machine = Machine { program, settles: true };
    let mut seen = Rows::default();
    let mut work = vec![(machine.initial(), Last::Alone { thread: 0, stored: Vec::new() })];
    while let Some((run, last)) = work.pop() {
        let mut key = state(&run);
        key.extend(last.words());
        if !seen.insert(key) {
            continue;
        }
        if seen.len() > most {
            return None;
        }
        for thread in 0..run.threads.len() {
            for (traced, next) in steps(machine, &run, thread) {
                let instruction = &program.threads[thread].body.edge(traced.edge).instruction;
                if let Last::Loaded { thread: loader, addresses, holder } = &last
                    && *loader != thread
                    && holder.is_none_or(|holder| holder == thread)
                {
                    let races = |access: &super::machine::Access| {
                        access.written.is_some() && addresses.contains(&access.address)
                    };
                    if traced.accesses.iter().any(races) {
                        return Some(true);
                    }
                    let goes_on = matches!(instruction, Instruction::Lock) || holder.is_some();
                    if goes_on && !matches!(instruction, Instruction::Unlock) {
                        let addresses = addresses.clone();
                        work.push((next.clone(), Last::Loaded { thread: *loader, addresses, holder: Some(thread) }));
                    }
                }
                work.extend(alone(&last, thread, instruction, &traced).map(|last| (next.clone(), last)));
            }
        }
    }
    Some(false)
}

/// What is remembered once a thread has made a step: as a step of a thread that goes on alone, and as a load that may
/// race.
fn alone(
    last: &Last,
    thread: usize,
    instruction: &Instruction,
    traced: &TracedInstruction,
) -> impl Iterator<Item = Last> + use<> {
    let mut stored = match last {
        Last::Alone { thread: before, stored } if *before == thread => stored.clone(),
        _ => Vec::new(),
    };
    let mut loaded = None;
    match instruction {
        Instruction::Store { .. } => {
            let address = traced.accesses[0].address;
            stored.retain(|&other| other != address);
            stored.push(address);
        }
        Instruction::Fence
        | Instruction::Membarrier
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::ReadModifyWrite { .. } => {
            stored.clear();
        }
        Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. } => {
            // Some store, and none to the cell after it.
            let may_wait = |address: Address| {
                let waits = |at: usize| stored[at] != address && !stored[at..].contains(&address);
                (0..stored.len()).any(waits)
            };
            let addresses = traced.accesses.iter().map(|access| access.address).filter(|&address| may_wait(address));
            let addresses: Vec<Address> = addresses.collect();
            loaded = (!addresses.is_empty()).then_some(Last::Loaded { thread, addresses, holder: None });
        }
        _ => {}
    }
    [Some(Last::Alone { thread, stored }), loaded].into_iter().flatten()
}

/// What runs under SC do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Executed {
    /// The edges that some run takes.
    pub edges: BTreeSet<(ThreadId, EdgeId)>,
    /// The writes that some run cannot make, though nothing else is in the way, since the cell has a range.
    pub blocked: BTreeSet<(ThreadId, EdgeId)>,
    /// The number of states.
    pub states: usize,
}

/// What all runs under SC do; `None` if there are more than `most` states.
pub fn executed(program: &Program, most: usize) -> Option<Executed> {
    let machine = Machine { program, settles: false };
    let mut found = Executed::default();
    let mut seen = Rows::default();
    let mut work = vec![machine.initial()];
    while let Some(run) = work.pop() {
        if !seen.insert(state(&run)) {
            continue;
        }
        if seen.len() > most {
            return None;
        }
        for thread in 0..run.threads.len() {
            found.blocked.extend(blocked(program, &run, thread));
            for (traced, next) in steps(machine, &run, thread) {
                found.edges.insert((ThreadId::new(thread), traced.edge));
                work.push(next);
            }
        }
    }
    found.states = seen.len();
    Some(found)
}

/// The writes of the thread that the range of their cell forbids now.
fn blocked(program: &Program, run: &Run, thread: usize) -> Vec<(ThreadId, EdgeId)> {
    let local = &run.threads[thread];
    let is_locked_out = run.holder.is_some_and(|holder| holder != thread);
    if !local.is_present || is_locked_out || program.shared.iter().all(|shared| shared.range.is_none()) {
        return Vec::new();
    }
    // Without any ranges, what could be done?
    let mut free = program.clone();
    free.shared.iter_mut().for_each(|shared| shared.range = None);
    let edges = program.threads[thread].body.edges_from(local.location).map(|(edge, _)| edge);
    let can = |program: &Program, edge: EdgeId| {
        let machine = Machine { program, settles: false };
        !machine.follow(run, (thread, edge), Stores::Land).is_empty()
    };
    let is_blocked = |&edge: &EdgeId| can(&free, edge) && !can(program, edge);
    edges.filter(is_blocked).map(|edge| (ThreadId::new(thread), edge)).collect()
}
