//! Configurations of the load-buffer semantics of TSO, and their order.
//!
//! A thread's load buffer holds messages, the oldest first: what a cell held at some time (a message from memory; for
//! loads of several cells in one step, what several cells held at one time), or a store of the thread itself (its *own*
//! message). Only the newest own message to each cell counts, and a message from memory counts only where no newer own
//! message to the same cell follows; others are left out.
//!
//! A [`Config`] stands for all configurations above it: the same places, memory and own messages, with any messages
//! from memory in between; and where it says [`ANY`], anything.

use rustc_hash::FxHashMap;

use super::local_graph::{Cell, Val};

/// Any state of a thread that does not hold the lock and has no own messages; any value of a cell.
pub(super) const ANY: u16 = u16::MAX;

/// Nobody holds the lock.
pub(super) const FREE: u16 = 0;

/// A message: a number for cell and value, then a bit for own messages.
pub(super) type Message = u16;

pub(super) fn is_own(message: Message) -> bool {
    message & 1 == 1
}

/// The sizes that all configurations of a program share, and the numbers of messages.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) threads: usize,
    pub(super) cells: usize,
    /// Threads with the same automaton are neighbours in one of these, as are their numbers in [`Shape::order`].
    pub(super) groups: Vec<Vec<usize>>,
    /// For each cell the number of its first value among all.
    first: Vec<u16>,
    /// For each message number (without the bit) its cells and values: one, but for what loads of several cells take.
    parts: Vec<Vec<(Cell, Val)>>,
    /// The numbers of messages about several cells.
    several: FxHashMap<Vec<(Cell, Val)>, u16>,
}

impl Shape {
    /// None if there are more different messages than numbers.
    pub(super) fn new(groups: Vec<Vec<usize>>, values: &[usize], snapshots: &[Vec<(Cell, Val)>]) -> Option<Self> {
        let mut first = Vec::new();
        let mut parts = Vec::new();
        for (cell, &count) in values.iter().enumerate() {
            first.push(parts.len() as u16);
            parts.extend((0..count).map(|value| vec![(cell as Cell, value as Val)]));
            if parts.len() >= MOST_MESSAGES {
                return None;
            }
        }
        let mut several = FxHashMap::default();
        for snapshot in snapshots {
            for part in parts_of_several(snapshot)? {
                if !several.contains_key(&part) {
                    several.insert(part.clone(), parts.len() as u16);
                    parts.push(part);
                }
            }
            if parts.len() >= MOST_MESSAGES {
                return None;
            }
        }
        let threads = groups.iter().map(Vec::len).sum();
        Some(Self { threads, cells: values.len(), groups, first, parts, several })
    }

    /// The message from memory about all these cells, which are in order; none if there are none.
    pub(super) fn about(&self, parts: &[(Cell, Val)]) -> Option<Message> {
        match parts {
            [] => None,
            [(cell, value)] => Some(self.message(*cell, *value, false)),
            _ => self.several.get(parts).map(|number| number << 1),
        }
    }

    /// The cells that a message is about, with their values.
    pub(super) fn parts(&self, message: Message) -> &[(Cell, Val)] {
        &self.parts[usize::from(message >> 1)]
    }

    pub(super) fn message(&self, cell: Cell, value: Val, own: bool) -> Message {
        ((self.first[usize::from(cell)] + value) << 1) | u16::from(own)
    }

    /// The cell of a message about one cell.
    pub(super) fn cell(&self, message: Message) -> Cell {
        self.parts(message)[0].0
    }

    /// The value of a message about one cell.
    pub(super) fn value(&self, message: Message) -> Val {
        self.parts(message)[0].1
    }

    /// The newest own message to the cell.
    pub(super) fn own(&self, buffer: &[Message], cell: Cell) -> Option<Message> {
        buffer.iter().copied().find(|&message| is_own(message) && self.cell(message) == cell)
    }
}

/// Kinds of messages: a cell and a value, or several of a snapshot. More have no numbers.
pub(crate) const MOST_MESSAGES: usize = (ANY >> 1) as usize;

/// Cells that one step reads together.
pub(crate) const MOST_SNAPSHOT_CELLS: usize = 8;

/// All parts of a snapshot with at least two cells: the others may be the thread's own. None if there are too many.
fn parts_of_several(snapshot: &[(Cell, Val)]) -> Option<Vec<Vec<(Cell, Val)>>> {
    if snapshot.len() > MOST_SNAPSHOT_CELLS {
        return None;
    }
    let chosen = |set: u32| (0..snapshot.len()).filter(move |at| set >> at & 1 == 1).map(|at| snapshot[at]).collect();
    Some((0..1u32 << snapshot.len()).filter(|set| set.count_ones() >= 2).map(chosen).collect())
}

/// A configuration as a row of numbers: who holds the lock, states of threads, memory, where the buffer of each
/// thread ends, then the messages.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Config(pub(super) Vec<u16>);

/// A configuration, wherever it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    row: &'a [u16],
    threads: usize,
    cells: usize,
}

impl<'a> View<'a> {
    pub(super) fn new(row: &'a [u16], shape: &Shape) -> Self {
        Self { row, threads: shape.threads, cells: shape.cells }
    }

    pub(super) fn row(self) -> &'a [u16] {
        self.row
    }

    /// Who holds the lock: [`FREE`], or the thread's position plus one.
    pub(super) fn lock(self) -> u16 {
        self.row[0]
    }

    /// Whether another thread holds the lock.
    pub(super) fn locked_out(self, thread: usize) -> bool {
        self.lock() != FREE && usize::from(self.lock()) != thread + 1
    }

    pub(super) fn local(self, thread: usize) -> u16 {
        self.row[1 + thread]
    }

    pub(super) fn memory(self) -> &'a [u16] {
        &self.row[1 + self.threads..1 + self.threads + self.cells]
    }

    pub(super) fn cell(self, cell: Cell) -> u16 {
        self.row[1 + self.threads + usize::from(cell)]
    }

    pub(super) fn buffer(self, thread: usize) -> &'a [Message] {
        let ends = 1 + self.threads + self.cells;
        let messages = ends + self.threads;
        let start = if thread == 0 { 0 } else { usize::from(self.row[ends + thread - 1]) };
        &self.row[messages + start..messages + usize::from(self.row[ends + thread])]
    }

    pub(super) fn messages(self) -> usize {
        self.row.len() - 1 - 2 * self.threads - self.cells
    }
}

impl Config {
    pub(super) fn new(shape: &Shape, lock: u16, locals: &[u16], memory: &[u16]) -> Self {
        let mut row = vec![lock];
        row.extend(locals);
        row.extend(memory);
        row.extend(std::iter::repeat_n(0, shape.threads));
        Self(row)
    }

    pub(super) fn view<'a>(&'a self, shape: &Shape) -> View<'a> {
        View::new(&self.0, shape)
    }

    pub(super) fn set_lock(&mut self, lock: u16) {
        self.0[0] = lock;
    }

    pub(super) fn set_local(&mut self, thread: usize, local: u16) {
        self.0[1 + thread] = local;
    }

    pub(super) fn set_cell(&mut self, shape: &Shape, cell: Cell, value: u16) {
        self.0[1 + shape.threads + usize::from(cell)] = value;
    }

    /// Puts a message into a buffer, before the one at this position.
    pub(super) fn insert(&mut self, shape: &Shape, thread: usize, position: usize, message: Message) {
        let ends = 1 + shape.threads + shape.cells;
        let start = if thread == 0 { 0 } else { usize::from(self.0[ends + thread - 1]) };
        self.0.insert(ends + shape.threads + start + position, message);
        for end in &mut self.0[ends + thread..ends + shape.threads] {
            *end += 1;
        }
    }

    /// Takes the newest message out of a buffer that has one.
    pub(super) fn pop(&mut self, shape: &Shape, thread: usize) {
        let ends = 1 + shape.threads + shape.cells;
        let end = usize::from(self.0[ends + thread]);
        self.0.remove(ends + shape.threads + end - 1);
        for end in &mut self.0[ends + thread..ends + shape.threads] {
            *end -= 1;
        }
    }

    /// Messages at the end of a buffer that say what memory holds anyway need not be there: nobody has looked at them
    /// yet when they arrive, and they can arrive at any time while nobody else holds the lock. Calls `stripped` for
    /// each.
    pub(super) fn strip(&mut self, shape: &Shape, mut stripped: impl FnMut(usize, Message)) {
        for thread in 0..shape.threads {
            while !self.view(shape).locked_out(thread)
                && let Some(&last) = self.view(shape).buffer(thread).last()
                && !is_own(last)
                && shape.parts(last).iter().all(|&(cell, value)| self.view(shape).cell(cell) == value)
            {
                stripped(thread, last);
                self.pop(shape, thread);
            }
        }
    }

    /// Orders threads with the same automaton. Returns, for each position now, where it was; none if nothing moved.
    pub(super) fn sort(&mut self, shape: &Shape) -> Option<Vec<usize>> {
        let view = self.view(shape);
        let holder = |thread: usize| usize::from(view.lock()) == thread + 1;
        let key = |&thread: &usize| (view.local(thread), holder(thread), view.buffer(thread));
        let mut order: Vec<usize> = (0..shape.threads).collect();
        let mut is_sorted = true;
        for group in shape.groups.iter().filter(|group| group.len() > 1) {
            if group.is_sorted_by_key(key) {
                continue;
            }
            is_sorted = false;
            let mut sorted = group.clone();
            sorted.sort_by_key(key);
            for (&to, from) in group.iter().zip(sorted) {
                order[to] = from;
            }
        }
        if is_sorted {
            return None;
        }
        let mut row = self.0[..1 + shape.threads + shape.cells].to_vec();
        for (to, &from) in order.iter().enumerate() {
            row[1 + to] = view.local(from);
            if holder(from) {
                row[0] = to as u16 + 1;
            }
        }
        let mut end = 0;
        for &from in &order {
            end += view.buffer(from).len() as u16;
            row.push(end);
        }
        for &from in &order {
            row.extend(view.buffer(from));
        }
        self.0 = row;
        Some(order)
    }
}

/// Whether the second buffer is the first with more messages from memory.
pub(super) fn is_buffer_below(small: &[Message], large: &[Message]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut rest = small;
    for &message in large {
        match rest.split_first() {
            Some((&next, after)) if next == message => rest = after,
            _ if is_own(message) => return false,
            _ => {}
        }
    }
    rest.is_empty()
}

/// Whether the state and buffer of a thread of the second are among those that the first stands for.
fn is_thread_below(small: View<'_>, at: usize, large: View<'_>, other: usize) -> bool {
    let holds = |view: View<'_>, thread: usize| usize::from(view.lock()) == thread + 1;
    if small.local(at) == ANY {
        return !holds(large, other) && !large.buffer(other).iter().any(|&message| is_own(message));
    }
    small.local(at) == large.local(other)
        && holds(small, at) == holds(large, other)
        && is_buffer_below(small.buffer(at), large.buffer(other))
}

/// Whether the first stands for all that the second stands for, threads of one group in whatever order.
pub(super) fn is_below(shape: &Shape, small: View<'_>, large: View<'_>) -> bool {
    let fits = |(&small, &large): (&u16, &u16)| small == ANY || small == large;
    (small.lock() == FREE) == (large.lock() == FREE)
        && small.memory().iter().zip(large.memory()).all(fits)
        && shape.groups.iter().all(|group| match group[..] {
            [only] => is_thread_below(small, only, large, only),
            _ => match_group(small, large, group),
        })
}

/// Whether the threads of the group can be paired up such that each is below its partner: a perfect matching, found by
/// augmenting paths. Trying one pairing after the other would take exponential time in large groups.
fn match_group(small: View<'_>, large: View<'_>, group: &[usize]) -> bool {
    let mut partners = vec![None; group.len()];
    (0..group.len()).all(|position| {
        let mut tried = vec![false; group.len()];
        find_partner(small, large, group, position, &mut partners, &mut tried)
    })
}

/// Finds a partner for one more thread, if those before it can make do with others.
fn find_partner(
    small: View<'_>,
    large: View<'_>,
    group: &[usize],
    position: usize,
    partners: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for other in 0..group.len() {
        if tried[other] || !is_thread_below(small, group[position], large, group[other]) {
            continue;
        }
        tried[other] = true;
        let is_free = match partners[other] {
            None => true,
            Some(holder) => find_partner(small, large, group, holder, partners, tried),
        };
        if is_free {
            partners[other] = Some(position);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
