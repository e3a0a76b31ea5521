//! What can occur together: a forward over-approximation that prunes the backward search.
//!
//! The analysis is thread-modular, with two threads at a time: it computes which states two threads can be in beside
//! which contents of memory, and for each of the two and each cell the values that it can still read (its *view*): what
//! the cell has held since the thread's buffer was last known to be empty, or since its own last store to that cell.
//! Two threads change by their own steps, and by the stores of a third that can occur beside each of them. A
//! configuration can only be reached if there are contents of memory with which every two of its threads can occur, and
//! every message is in its thread's view.
//!
//! With arbitrarily many copies, two threads are always there: an instance with fewer is one in which some copies have
//! not moved.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::config::{ANY, Shape, View, is_own};
use super::local_graph::{Cell, Label, Val};
use super::predecessors::System;
use crate::session::Session;

/// A state of a thread, numbered across all groups.
type State = u32;

/// Contents of memory, by number.
type Memory = u32;

/// So many combinations are computed between two looks at the limits.
const A_CHECK: u64 = 4_096;

/// What can occur together.
#[derive(Debug)]
pub(super) struct Occurring {
    /// For each group the number of its first state.
    first: Vec<State>,
    /// For each pair of states the contents of memory beside which they occur.
    memories: FxHashMap<(State, State), Vec<Memory>>,
    /// For each state the contents of memory beside which it occurs.
    memories_of: FxHashMap<State, Vec<Memory>>,
    contents: Vec<Vec<Val>>,
    views: Views,
}

impl Occurring {
    /// None if there are too few threads, or if it takes more steps than `most`.
    pub(super) fn of(system: &System, initial: View<'_>, most: u64, session: &Session) -> Option<Self> {
        let mut fixpoint = Fixpoint::new(system);
        fixpoint.start(initial)?;
        fixpoint.run(most, session)?;
        Some(fixpoint.finish())
    }

    /// Whether a configuration above this one might be reached.
    pub(super) fn is_possible(&self, system: &System, view: View<'_>) -> bool {
        let states: Vec<(usize, State)> = (0..view.threads())
            .filter(|&thread| view.local(thread) != ANY)
            .map(|thread| (thread, self.first[system.group(thread)] + State::from(view.local(thread))))
            .collect();
        let pairs: Vec<[(usize, State); 2]> = (0..states.len())
            .flat_map(|one| (0..one).map(move |two| (one, two)))
            .map(|(one, two)| [states[one], states[two]])
            .collect();
        let lists = pairs.iter().map(|[one, two]| self.memories.get(&ordered(one.1, two.1)));
        let lists: Option<Vec<&Vec<Memory>>> = match states[..] {
            [] => return true,
            [(_, only)] => self.memories_of.get(&only).map(|list| vec![list]),
            _ => lists.collect(),
        };
        let Some((shortest, lists)) = lists.as_ref().and_then(|lists| {
            let shortest = lists.iter().min_by_key(|list| list.len())?;
            Some((shortest, lists))
        }) else {
            return false;
        };
        shortest.iter().any(|&memory| {
            let holds = |(&wanted, &found): (&u16, &Val)| wanted == ANY || wanted == found;
            view.memory().iter().zip(&self.contents[memory as usize]).all(holds)
                && lists.iter().all(|list| list.binary_search(&memory).is_ok())
                && pairs.iter().all(|&[one, two]| {
                    self.can_read(&system.shape, view, memory, (one, two.1))
                        && self.can_read(&system.shape, view, memory, (two, one.1))
                })
        })
    }

    /// Whether the messages of a thread are in its view, beside a thread in the other state.
    fn can_read(
        &self,
        shape: &Shape,
        view: View<'_>,
        memory: Memory,
        ((thread, state), other): ((usize, State), State),
    ) -> bool {
        let buffer = view.buffer(thread);
        if buffer.is_empty() {
            return true;
        }
        let Some(readable) = self.views.get(memory, state, other) else { return false };
        buffer.iter().enumerate().all(|(at, &message)| {
            // A newer own message hides what is older.
            let is_hidden = |cell| shape.own(&buffer[at + 1..], cell).is_some();
            let is_readable = |&(cell, value): &(Cell, Val)| {
                (!is_own(message) && is_hidden(cell)) || contains(readable, shape.number(cell, value))
            };
            shape.parts(message).iter().all(is_readable)
        })
    }
}

/// For contents of memory and two states the values of cells that a thread in the first can still read, as a set of
/// numbers of messages.
#[derive(Debug)]
struct Views {
    words: usize,
    places: FxHashMap<(Memory, State, State), u32>,
    sets: Vec<u64>,
}

impl Views {
    fn get(&self, memory: Memory, state: State, beside: State) -> Option<&[u64]> {
        let first = *self.places.get(&(memory, state, beside))? as usize * self.words;
        Some(&self.sets[first..first + self.words])
    }

    fn contains(&self, memory: Memory, state: State, beside: State) -> bool {
        self.places.contains_key(&(memory, state, beside))
    }

    /// Adds values; whether any is new.
    fn join(&mut self, memory: Memory, state: State, beside: State, set: &[u64]) -> bool {
        let next = self.places.len() as u32;
        let place = *self.places.entry((memory, state, beside)).or_insert(next);
        if place == next {
            self.sets.extend(set);
            return true;
        }
        let first = place as usize * self.words;
        let mut is_new = false;
        for (known, &more) in self.sets[first..first + self.words].iter_mut().zip(set) {
            is_new |= more & !*known != 0;
            *known |= more;
        }
        is_new
    }
}

fn contains(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 == 1
}

fn insert(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

fn ordered(one: State, other: State) -> (State, State) {
    (one.min(other), one.max(other))
}

/// What others notice of a step: the cell, what it must hold if the step needs that, and what it holds afterwards.
type Effect = (Cell, Option<Val>, Val);

/// A step of the first of two threads: contents of memory, where it leads, and the views of both afterwards.
type After = (Memory, State, Vec<u64>, Vec<u64>);

/// Two states and contents of memory that occur together, to be looked at; whether all of that is new, or only a view.
struct Task {
    memory: Memory,
    states: [State; 2],
    is_new: bool,
}

struct Fixpoint<'a> {
    system: &'a System,
    first: Vec<State>,
    /// For each state the steps from it.
    moves: Vec<Vec<(Label, State)>>,
    effects: Vec<Vec<Effect>>,
    holds: Vec<bool>,
    numbers: FxHashMap<Vec<Val>, Memory>,
    contents: Vec<Vec<Val>>,
    /// For contents of memory and a state, the states that occur beside both.
    partners: FxHashMap<(Memory, State), Vec<State>>,
    views: Views,
    open: VecDeque<Task>,
    steps: u64,
}

impl<'a> Fixpoint<'a> {
    fn new(system: &'a System) -> Self {
        let mut first = Vec::new();
        let (mut moves, mut holds): (Vec<Vec<(Label, State)>>, Vec<bool>) = (Vec::new(), Vec::new());
        for automaton in &system.automata {
            let start = holds.len() as State;
            first.push(start);
            holds.extend(&automaton.holds);
            moves.resize_with(holds.len(), Vec::new);
            for (to, into) in (start..).zip(&automaton.into) {
                for &(label, from) in into {
                    moves[start as usize + usize::from(from)].push((label, to));
                }
            }
        }
        let effect = |&(label, _): &(Label, State)| match label {
            Label::Store(cell, value) => Some((cell, None, value)),
            Label::Rmw(cell, old, new) if old != new => Some((cell, Some(old), new)),
            _ => None,
        };
        let effects = moves.iter().map(|moves| {
            let mut effects: Vec<Effect> = moves.iter().filter_map(effect).collect();
            effects.sort_unstable();
            effects.dedup();
            effects
        });
        Self {
            system,
            first,
            effects: effects.collect(),
            moves,
            holds,
            numbers: FxHashMap::default(),
            contents: Vec::new(),
            partners: FxHashMap::default(),
            views: Views {
                words: system.shape.single_messages().div_ceil(64),
                places: FxHashMap::default(),
                sets: Vec::new(),
            },
            open: VecDeque::new(),
            steps: 0,
        }
    }

    /// The threads of which there is one each as they start, and two copies of each thread of which there are arbitrarily
    /// many. None if that is a single thread.
    fn start(&mut self, initial: View<'_>) -> Option<()> {
        let memory = self.memory(initial.memory().to_vec());
        let state = |thread: usize| self.first[self.system.group(thread)] + State::from(initial.local(thread));
        let mut states: Vec<State> = (0..initial.threads()).map(state).collect();
        let of_copies = self.first[self.first.len() - 1];
        for &start in &self.system.starts_of_copies {
            states.extend([of_copies + State::from(start); 2]);
        }
        if states.len() < 2 {
            return None;
        }
        let view = self.only(memory);
        for one in 0..states.len() {
            for other in 0..one {
                self.join(memory, [states[one], states[other]], &view, &view);
            }
        }
        Some(())
    }

    fn run(&mut self, most: u64, session: &Session) -> Option<()> {
        let mut next_check = A_CHECK;
        while let Some(task) = self.open.pop_front() {
            let Task { memory, states: [one, other], is_new } = task;
            self.move_first(memory, one, other);
            if one != other {
                self.move_first(memory, other, one);
            }
            self.disturb(memory, one, other, is_new);
            if self.steps > most {
                return None;
            }
            if self.steps >= next_check {
                next_check = self.steps + A_CHECK;
                if session.exceeded().is_some() {
                    return None;
                }
            }
        }
        Some(())
    }

    fn finish(self) -> Occurring {
        let mut memories: FxHashMap<(State, State), Vec<Memory>> = FxHashMap::default();
        let mut memories_of: FxHashMap<State, Vec<Memory>> = FxHashMap::default();
        for &(memory, one, other) in self.views.places.keys().filter(|(_, one, other)| one <= other) {
            memories.entry((one, other)).or_default().push(memory);
        }
        for &(memory, state) in self.partners.keys() {
            memories_of.entry(state).or_default().push(memory);
        }
        memories.values_mut().chain(memories_of.values_mut()).for_each(|list| list.sort_unstable());
        Occurring { first: self.first, memories, memories_of, contents: self.contents, views: self.views }
    }

    fn memory(&mut self, contents: Vec<Val>) -> Memory {
        let next = self.contents.len() as Memory;
        *self.numbers.entry(contents).or_insert_with_key(|contents| {
            self.contents.push(contents.clone());
            next
        })
    }

    fn with(&mut self, memory: Memory, cell: Cell, value: Val) -> Memory {
        let mut contents = self.contents[memory as usize].clone();
        contents[usize::from(cell)] = value;
        self.memory(contents)
    }

    /// The view of a thread whose buffer is empty.
    fn only(&self, memory: Memory) -> Vec<u64> {
        let mut set = vec![0; self.views.words];
        for (cell, &value) in (0..).zip(&self.contents[memory as usize]) {
            insert(&mut set, self.system.shape.number(cell, value));
        }
        set
    }

    /// The same view after a store of the thread itself, which hides what the cell held before.
    fn after_own(&self, view: &[u64], cell: Cell, value: Val) -> Vec<u64> {
        let mut set = view.to_vec();
        for number in self.system.shape.numbers(cell) {
            set[number / 64] &= !(1 << (number % 64));
        }
        insert(&mut set, self.system.shape.number(cell, value));
        set
    }

    fn after_other(&self, view: &[u64], cell: Cell, value: Val) -> Vec<u64> {
        let mut set = view.to_vec();
        insert(&mut set, self.system.shape.number(cell, value));
        set
    }

    fn join(&mut self, memory: Memory, [one, other]: [State; 2], of_one: &[u64], of_other: &[u64]) {
        self.steps += 1;
        let is_new = !self.views.contains(memory, one, other);
        let has_grown = self.views.join(memory, one, other, of_one) | self.views.join(memory, other, one, of_other);
        if is_new {
            self.partners.entry((memory, one)).or_default().push(other);
            if one != other {
                self.partners.entry((memory, other)).or_default().push(one);
            }
        }
        if is_new || has_grown {
            self.open.push_back(Task { memory, states: [one, other], is_new });
        }
    }

    fn views(&self, memory: Memory, one: State, other: State) -> Option<(Vec<u64>, Vec<u64>)> {
        Some((self.views.get(memory, one, other)?.to_vec(), self.views.get(memory, other, one)?.to_vec()))
    }

    /// The steps of a thread beside another.
    fn move_first(&mut self, memory: Memory, one: State, other: State) {
        let Some((own, others)) = self.views(memory, one, other) else { return };
        for at in 0..self.moves[one as usize].len() {
            let (label, to) = self.moves[one as usize][at];
            if let Some((memory, to, own, others)) = self.after(memory, (label, to), other, (&own, &others)) {
                self.join(memory, [to, other], &own, &others);
            }
        }
    }

    fn after(
        &mut self,
        memory: Memory,
        (label, to): (Label, State),
        other: State,
        (own, others): (&[u64], &[u64]),
    ) -> Option<After> {
        let is_locked_out = self.holds[other as usize];
        let can_read = |&(cell, value): &(Cell, Val)| contains(own, self.system.shape.number(cell, value));
        Some(match label {
            Label::Silent => (memory, to, own.to_vec(), others.to_vec()),
            Label::Load(cell, value) if can_read(&(cell, value)) => (memory, to, own.to_vec(), others.to_vec()),
            Label::Snapshot(_) if self.system.loaded(label)?.iter().all(can_read) => {
                (memory, to, own.to_vec(), others.to_vec())
            }
            Label::Fence | Label::Unlock => (memory, to, self.only(memory), others.to_vec()),
            Label::Lock if !is_locked_out => (memory, to, self.only(memory), others.to_vec()),
            Label::Membarrier => (memory, to, self.only(memory), self.only(memory)),
            Label::Store(cell, value) if !is_locked_out => {
                let after = self.with(memory, cell, value);
                (after, to, self.after_own(own, cell, value), self.after_other(others, cell, value))
            }
            Label::Rmw(cell, old, new)
                if !is_locked_out && self.contents[memory as usize][usize::from(cell)] == old =>
            {
                let after = self.with(memory, cell, new);
                (after, to, self.only(after), self.after_other(others, cell, new))
            }
            _ => return None,
        })
    }

    /// What a third thread does to two others, for all threads that can occur beside both. If the two are new beside
    /// each other, either of them can be the third.
    fn disturb(&mut self, memory: Memory, one: State, other: State, is_new: bool) {
        let fewer = |state| self.partners.get(&(memory, state)).map_or(&[][..], Vec::as_slice);
        let (near, far) = if fewer(one).len() <= fewer(other).len() { (one, other) } else { (other, one) };
        let third: Vec<State> =
            fewer(near).iter().copied().filter(|&third| self.views.contains(memory, far, third)).collect();
        for third in third {
            self.act(memory, third, one, other);
            if is_new {
                self.act(memory, one, other, third);
                self.act(memory, other, one, third);
            }
        }
    }

    /// The stores of a thread, as two others see them.
    fn act(&mut self, memory: Memory, actor: State, one: State, other: State) {
        if self.effects[actor as usize].is_empty() || self.holds[one as usize] || self.holds[other as usize] {
            return;
        }
        let Some((of_one, of_other)) = self.views(memory, one, other) else { return };
        for at in 0..self.effects[actor as usize].len() {
            let (cell, needed, value) = self.effects[actor as usize][at];
            let held = self.contents[memory as usize][usize::from(cell)];
            if held == value || needed.is_some_and(|needed| needed != held) {
                continue;
            }
            let after = self.with(memory, cell, value);
            let (of_one, of_other) = (self.after_other(&of_one, cell, value), self.after_other(&of_other, cell, value));
            self.join(after, [one, other], &of_one, &of_other);
        }
    }
}

#[cfg(test)]
mod tests;
