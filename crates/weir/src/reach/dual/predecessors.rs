//! The minimal configurations from which a given one can be covered in one step of the load-buffer semantics.
//!
//! Forwards, a store writes memory at once and appends an own message; memory may at any time append what a cell holds
//! to the buffer of a thread (while nobody else holds the lock); the oldest message may be dropped; a load takes the
//! newest own message to its cell, else needs the oldest message to be about it; whatever waits for an empty store
//! buffer waits for an empty load buffer.
//!
//! Messages are dropped as soon as nobody needs them. So, backwards, an own message comes back only together with a
//! step of its thread that needs it: a load that takes it, a load that happens while it is there, or the store itself.

use std::cell::RefCell;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bisimulation::Automaton;
use super::config::{ANY, Config, FREE, Message, Shape, View, is_own};
use super::local_graph::{Cell, Label, Val};
use super::occurring::Occurring;

/// A step forwards, from the configuration that was found to the one that it was found from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// A thread moves.
    Move(Move),
    /// Memory sends a thread this message.
    Propagate(usize, Message),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub(super) thread: usize,
    pub(super) label: Label,
    pub(super) from: u16,
    pub(super) to: u16,
    /// How many messages of the thread are left afterwards, once those that nobody needs are dropped.
    pub(super) left: usize,
}

/// A program in the load-buffer semantics.
#[derive(Debug)]
pub(super) struct System {
    pub(super) shape: Shape,
    /// For each group of equal threads; that of all copies, if there are arbitrarily many of some thread, is the last.
    pub(super) automata: Vec<Automaton>,
    /// For each thread of which there is one.
    pub(super) group_of: Vec<usize>,
    /// The states in which copies start, if there are arbitrarily many of some thread.
    pub(super) starts_of_copies: Vec<u16>,
    /// The moves of copies that others notice, and where they lead.
    noticed: Vec<(Label, u16, u16)>,
    /// What loads of several cells may find.
    snapshots: Vec<Vec<(Cell, Val)>>,
    /// For each group the stores it can make.
    stores: Vec<Vec<(Cell, Val)>>,
    /// What can occur together, if that is known: nothing else is searched.
    pub(super) occurring: Option<Occurring>,
    /// Which own messages can be waiting where, as far as this was asked: group, state, messages.
    plausible: RefCell<FxHashMap<Vec<u16>, bool>>,
}

impl System {
    pub(super) fn new(
        shape: Shape,
        automata: Vec<Automaton>,
        group_of: Vec<usize>,
        snapshots: Vec<Vec<(Cell, Val)>>,
    ) -> Self {
        let stores = automata.iter().map(stores_of).collect();
        let (starts_of_copies, noticed) = (Vec::new(), Vec::new());
        Self {
            shape,
            automata,
            group_of,
            starts_of_copies,
            noticed,
            snapshots,
            stores,
            occurring: None,
            plausible: RefCell::default(),
        }
    }

    /// With arbitrarily many copies of threads besides, all in one automaton: they start in these of its states.
    pub(super) fn with_copies(mut self, automaton: Automaton, starts: Vec<u16>) -> Self {
        let moves = (0..)
            .zip(&automaton.into)
            .flat_map(|(to, moves)| moves.iter().map(move |&(label, from)| (label, from, to)));
        let is_noticed = |label: Label| match label {
            Label::Store(..) | Label::Unlock => true,
            Label::Rmw(_, old, new) => old != new,
            _ => false,
        };
        self.noticed = moves.filter(|&(label, _, to)| is_noticed(label) && !automaton.holds[usize::from(to)]).collect();
        self.stores.push(stores_of(&automaton));
        self.automata.push(automaton);
        self.starts_of_copies = starts;
        self
    }

    /// What a load finds, if the label is one.
    pub(super) fn loaded(&self, label: Label) -> Option<Vec<(Cell, Val)>> {
        match label {
            Label::Load(cell, value) => Some(vec![(cell, value)]),
            Label::Snapshot(number) => Some(self.snapshots[usize::from(number)].clone()),
            _ => None,
        }
    }

    pub(super) fn automaton(&self, thread: usize) -> &Automaton {
        &self.automata[self.group(thread)]
    }

    /// The group of the thread or copy at this position.
    pub(super) fn group(&self, thread: usize) -> usize {
        self.group_of.get(thread).copied().unwrap_or(self.automata.len() - 1)
    }

    /// Whether a configuration above this one might be reached, as far as that is known.
    pub(super) fn is_possible(&self, view: View<'_>) -> bool {
        self.occurring.as_ref().is_none_or(|occurring| occurring.is_possible(self, view))
    }

    /// Calls `emit` for each minimal predecessor.
    pub(super) fn predecessors(&self, view: View<'_>, emit: &mut impl FnMut(Op, Config)) {
        for thread in 0..view.threads() {
            if self.is_repeated(view, thread) {
                continue;
            }
            if view.local(thread) == ANY {
                self.of_anyone(view, thread, emit);
            } else {
                self.of_thread(view, thread, emit);
            }
        }
        self.of_unlisted_copies(view, emit);
    }

    /// Steps of copies that are not listed, after which nothing of them is known: only those that others notice.
    fn of_unlisted_copies(&self, view: View<'_>, emit: &mut impl FnMut(Op, Config)) {
        if self.noticed.is_empty() {
            return;
        }
        let mut longer = Config(view.row().to_vec());
        longer.add_copy(&self.shape);
        let (longer, thread) = (longer.view(&self.shape), view.threads());
        for &(label, from, to) in &self.noticed {
            self.of_open(longer, Move { thread, label, from, to, left: 0 }, emit);
        }
    }

    /// Whether the thread before it is in the same state, with the same buffer, and interchangeable.
    fn is_repeated(&self, view: View<'_>, thread: usize) -> bool {
        let Some(before) = thread.checked_sub(1) else { return false };
        self.group(before) == self.group(thread)
            && view.local(before) == view.local(thread)
            && view.buffer(before) == view.buffer(thread)
            && !view.is_holder(before)
            && !view.is_holder(thread)
    }

    /// Steps of a thread of which nothing is known but that it does not hold the lock: only those that change something
    /// else.
    fn of_anyone(&self, view: View<'_>, thread: usize, emit: &mut impl FnMut(Op, Config)) {
        let automaton = self.automaton(thread);
        for (to, moves) in automaton.into.iter().enumerate().filter(|&(to, _)| !automaton.holds[to]) {
            for &(label, from) in moves {
                self.of_open(view, Move { thread, label, from, to: to as u16, left: 0 }, emit);
            }
        }
    }

    fn of_open(&self, view: View<'_>, step: Move, emit: &mut impl FnMut(Op, Config)) {
        let Some(mut before) = self.memory_before(view, step.thread, step.label) else { return };
        if before.0 != view.row() {
            before.set_local(step.thread, step.from);
            emit(Op::Move(step), before);
        }
    }

    /// What lock and memory can have been before a step with an empty buffer afterwards.
    fn memory_before(&self, view: View<'_>, thread: usize, label: Label) -> Option<Config> {
        let mut before = Config(view.row().to_vec());
        let leaves = |cell, value| [ANY, value].contains(&view.cell(cell)) && !view.locked_out(thread);
        match label {
            Label::Silent | Label::Fence | Label::Membarrier | Label::Load(..) | Label::Snapshot(_) => {}
            Label::Store(cell, value) if leaves(cell, value) => before.set_cell(&self.shape, cell, ANY),
            Label::Rmw(cell, old, new) if leaves(cell, new) => before.set_cell(&self.shape, cell, old),
            Label::Lock if usize::from(view.lock()) == thread + 1 => before.set_lock(FREE),
            Label::Unlock if view.lock() == FREE => before.set_lock(thread as u16 + 1),
            _ => return None,
        }
        Some(before)
    }

    fn of_thread(&self, view: View<'_>, thread: usize, emit: &mut impl FnMut(Op, Config)) {
        let to = view.local(thread);
        let buffer = view.buffer(thread);
        for &(label, from) in &self.automaton(thread).into[usize::from(to)] {
            let step = Move { thread, label, from, to, left: buffer.len() };
            match label {
                Label::Load(..) | Label::Snapshot(_) => self.load(view, step, emit),
                Label::Store(cell, value) => self.store(view, step, (cell, value), emit),
                Label::Silent => self.emit(view, step, Config(view.row().to_vec()), emit),
                Label::Membarrier => {
                    if (0..view.threads()).all(|other| view.buffer(other).is_empty()) {
                        self.emit(view, step, Config(view.row().to_vec()), emit);
                    }
                }
                Label::Fence | Label::Rmw(..) | Label::Lock | Label::Unlock => {
                    if buffer.is_empty()
                        && let Some(before) = self.memory_before(view, thread, label)
                    {
                        self.emit(view, step, before, emit);
                    }
                }
            }
        }
        self.propagate(view, thread, emit);
    }

    /// Moves the thread back, if its own messages can wait there.
    fn emit(&self, view: View<'_>, step: Move, mut before: Config, emit: &mut impl FnMut(Op, Config)) {
        before.set_local(step.thread, step.from);
        let group = self.group(step.thread);
        if self.is_plausible(group, step.from, before.view(&self.shape).buffer(step.thread)) {
            debug_assert_eq!(view.local(step.thread), step.to);
            emit(Op::Move(step), before);
        }
    }

    fn propagate(&self, view: View<'_>, thread: usize, emit: &mut impl FnMut(Op, Config)) {
        let Some(&last) = view.buffer(thread).last() else { return };
        let parts = self.shape.parts(last);
        let could_hold = |&(cell, value): &(Cell, Val)| [ANY, value].contains(&view.cell(cell));
        if is_own(last) || view.locked_out(thread) || !parts.iter().all(could_hold) {
            return;
        }
        let mut before = Config(view.row().to_vec());
        before.pop(&self.shape, thread);
        for &(cell, value) in parts {
            before.set_cell(&self.shape, cell, value);
        }
        emit(Op::Propagate(thread, last), before);
    }

    /// The own message must be the newest of all, or have been dropped from an otherwise empty buffer. An older own
    /// message to the cell may be the newest such one before; if that comes first of all, it can as well come back
    /// later.
    fn store(&self, view: View<'_>, step: Move, (cell, value): (Cell, Val), emit: &mut impl FnMut(Op, Config)) {
        let (shape, thread) = (&self.shape, step.thread);
        let buffer = view.buffer(thread);
        if buffer.last().is_some_and(|&last| last != shape.message(cell, value, true)) {
            return;
        }
        let Some(mut before) = self.memory_before(view, thread, step.label) else { return };
        if !buffer.is_empty() {
            before.pop(shape, thread);
        }
        let rest = buffer.len().saturating_sub(1);
        for position in 1..=rest {
            for &(_, older) in self.stores[self.group(thread)].iter().filter(|&&(other, _)| other == cell) {
                let mut before = before.clone();
                before.insert(shape, thread, position, shape.message(cell, older, true));
                self.emit(view, step, before, emit);
            }
        }
        self.emit(view, step, before, emit);
    }

    fn load(&self, view: View<'_>, step: Move, emit: &mut impl FnMut(Op, Config)) {
        let Some(found) = self.loaded(step.label) else { return };
        self.load_amid(view, step, Config(view.row().to_vec()), &found, emit);
    }

    /// A load with these own messages waiting, and with more that are dropped afterwards.
    fn load_amid(
        &self,
        view: View<'_>,
        step: Move,
        after: Config,
        found: &[(Cell, Val)],
        emit: &mut impl FnMut(Op, Config),
    ) {
        let (shape, thread) = (&self.shape, step.thread);
        let buffer = after.view(shape).buffer(thread);
        let own = |cell| shape.own(buffer, cell).map(|message| shape.value(message));
        if found.iter().any(|&(cell, value)| own(cell).is_some_and(|newest| newest != value)) {
            return;
        }
        let from_memory: Vec<(Cell, Val)> = found.iter().copied().filter(|&(cell, _)| own(cell).is_none()).collect();
        let mut before = after.clone();
        if let Some(expected) = shape.about(&from_memory)
            && buffer.first() != Some(&expected)
        {
            before.insert(shape, thread, 0, expected);
        }
        self.emit(view, step, before, emit);
        if from_memory.is_empty() {
            // Further own messages can come back later.
            return;
        }
        let group = self.group(thread);
        for &(other, stored) in &self.stores[group] {
            if own(other).is_some() {
                continue;
            }
            let mut longer = after.clone();
            longer.insert(shape, thread, 0, shape.message(other, stored, true));
            if self.is_plausible(group, step.to, longer.view(shape).buffer(thread)) {
                self.load_amid(view, step, longer, found, emit);
            }
        }
    }

    /// Whether a thread can be in this state with exactly these own messages waiting: its moves up to there must have
    /// made them, and nothing else that would still be there.
    fn is_plausible(&self, group: usize, state: u16, buffer: &[Message]) -> bool {
        if !buffer.iter().any(|&message| is_own(message)) {
            return true;
        }
        let mut key = vec![group as u16, state];
        key.extend(buffer.iter().copied().filter(|&message| is_own(message)));
        if let Some(&known) = self.plausible.borrow().get(&key) {
            return known;
        }
        let answer = self.explains(group, state, &key[2..]);
        self.plausible.borrow_mut().insert(key, answer);
        answer
    }

    fn explains(&self, group: usize, state: u16, own: &[Message]) -> bool {
        let automaton = &self.automata[group];
        let shape = &self.shape;
        let mut seen: FxHashSet<(u16, usize)> = FxHashSet::default();
        // A state, and how many of the messages, from the first on, are made before it.
        let mut open = VecDeque::from([(state, own.len())]);
        while let Some((state, waiting)) = open.pop_front() {
            if waiting == 0 {
                return true;
            }
            if !seen.insert((state, waiting)) {
                continue;
            }
            let (before, after) = own.split_at(waiting);
            let last = before[waiting - 1];
            for &(label, from) in &automaton.into[usize::from(state)] {
                match label {
                    Label::Silent => open.push_back((from, waiting)),
                    Label::Load(..) | Label::Snapshot(_) => {
                        let agrees = |&(cell, value): &(Cell, Val)| {
                            let visible = before.iter().find(|&&message| shape.cell(message) == cell);
                            visible.is_none_or(|&message| shape.value(message) == value)
                        };
                        if self.loaded(label).is_some_and(|found| found.iter().all(agrees)) {
                            open.push_back((from, waiting));
                        }
                    }
                    Label::Store(cell, value) if (shape.cell(last), shape.value(last)) == (cell, value) => {
                        open.push_back((from, waiting - 1));
                    }
                    // An older store to a cell that a later one has overwritten.
                    Label::Store(cell, _) if after.iter().any(|&message| shape.cell(message) == cell) => {
                        open.push_back((from, waiting));
                    }
                    Label::Store(..)
                    | Label::Fence
                    | Label::Membarrier
                    | Label::Rmw(..)
                    | Label::Lock
                    | Label::Unlock => {}
                }
            }
        }
        false
    }
}

fn stores_of(automaton: &Automaton) -> Vec<(Cell, Val)> {
    let labels = automaton.into.iter().flatten().map(|&(label, _)| label);
    let mut stores: Vec<(Cell, Val)> = labels
        .filter_map(|label| if let Label::Store(cell, value) = label { Some((cell, value)) } else { None })
        .collect();
    stores.sort_unstable();
    stores.dedup();
    stores
}
