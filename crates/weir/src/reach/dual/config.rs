//! Configurations of the load-buffer semantics of TSO, and their order.
//!
//! A thread's load buffer holds messages, the oldest first: what a cell held at some time (a message from memory; for
//! loads of several cells in one step, what several cells held at one time), or a store of the thread itself (its *own*
//! message). Only the newest own message to each cell counts, and a message from memory counts only where no newer own
//! message to the same cell follows; others are left out.
//!
//! A [`Config`] stands for all configurations above it: the same places, memory and own messages, with any messages
//! from memory in between; and where it says [`ANY`], anything. Of threads of which there are arbitrarily many, it lists
//! some copies, and stands for configurations with any number of others that do not hold the lock.

use std::ops::Range;

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
    /// The threads of which there is one each. Copies of others follow them in a row.
    pub(super) threads: usize,
    pub(super) cells: usize,
    /// Threads with the same automaton are neighbours in one of these, as are their numbers in [`Shape::order`].
    pub(super) groups: Vec<Vec<usize>>,
    /// For each cell the number of its first value among all.
    first: Vec<u16>,
    /// How many kinds of messages are about one cell. They have the first numbers.
    single: u16,
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
        let single = parts.len() as u16;
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
        Some(Self { threads, cells: values.len(), groups, first, single, parts, several })
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

    /// How many kinds of messages are about one cell.
    pub(super) fn single_messages(&self) -> usize {
        usize::from(self.single)
    }

    /// The number of a value of a cell among all kinds of messages about one cell.
    pub(super) fn number(&self, cell: Cell, value: Val) -> usize {
        usize::from(self.first[usize::from(cell)] + value)
    }

    /// The numbers of all values of a cell.
    pub(super) fn numbers(&self, cell: Cell) -> Range<usize> {
        let next = self.first.get(usize::from(cell) + 1);
        self.number(cell, 0)..next.map_or_else(|| self.single_messages(), |&next| usize::from(next))
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

/// A configuration as a row of numbers: who holds the lock, how many copies are listed, states of threads and copies,
/// memory, where the buffer of each thread ends, then the messages.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Config(pub(super) Vec<u16>);

/// The numbers before the states of threads.
const HEAD: usize = 2;

/// A configuration, wherever it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    row: &'a [u16],
    threads: usize,
    cells: usize,
}

impl<'a> View<'a> {
    pub(super) fn new(row: &'a [u16], shape: &Shape) -> Self {
        Self { row, threads: shape.threads + usize::from(row[1]), cells: shape.cells }
    }

    pub(super) fn row(self) -> &'a [u16] {
        self.row
    }

    /// Who holds the lock: [`FREE`], or the thread's position plus one.
    pub(super) fn lock(self) -> u16 {
        self.row[0]
    }

    /// How many threads there are, copies included.
    pub(super) fn threads(self) -> usize {
        self.threads
    }

    /// The positions of copies.
    pub(super) fn copies(self) -> Range<usize> {
        self.threads - usize::from(self.row[1])..self.threads
    }

    /// Whether another thread holds the lock.
    pub(super) fn locked_out(self, thread: usize) -> bool {
        self.lock() != FREE && !self.is_holder(thread)
    }

    pub(super) fn is_holder(self, thread: usize) -> bool {
        usize::from(self.lock()) == thread + 1
    }

    pub(super) fn local(self, thread: usize) -> u16 {
        self.row[HEAD + thread]
    }

    pub(super) fn memory(self) -> &'a [u16] {
        &self.row[HEAD + self.threads..HEAD + self.threads + self.cells]
    }

    pub(super) fn cell(self, cell: Cell) -> u16 {
        self.row[HEAD + self.threads + usize::from(cell)]
    }

    pub(super) fn buffer(self, thread: usize) -> &'a [Message] {
        let ends = HEAD + self.threads + self.cells;
        let messages = ends + self.threads;
        let start = if thread == 0 { 0 } else { usize::from(self.row[ends + thread - 1]) };
        &self.row[messages + start..messages + usize::from(self.row[ends + thread])]
    }

    pub(super) fn messages(self) -> usize {
        self.row.len() - HEAD - 2 * self.threads - self.cells
    }

    /// The same with other threads: for each position the one that is there now, copies at the end.
    fn with_threads(self, shape: &Shape, order: &[usize]) -> Config {
        let mut row = vec![FREE, (order.len() - shape.threads) as u16];
        row.extend(order.iter().map(|&from| self.local(from)));
        row.extend(self.memory());
        let mut end = 0;
        for (to, &from) in order.iter().enumerate() {
            end += self.buffer(from).len() as u16;
            row.push(end);
            if self.is_holder(from) {
                row[0] = to as u16 + 1;
            }
        }
        for &from in order {
            row.extend(self.buffer(from));
        }
        Config(row)
    }
}

impl Config {
    /// With empty buffers. States of copies follow those of threads.
    pub(super) fn new(shape: &Shape, lock: u16, locals: &[u16], memory: &[u16]) -> Self {
        let mut row = vec![lock, (locals.len() - shape.threads) as u16];
        row.extend(locals);
        row.extend(memory);
        row.extend(std::iter::repeat_n(0, locals.len()));
        Self(row)
    }

    pub(super) fn view<'a>(&'a self, shape: &Shape) -> View<'a> {
        View::new(&self.0, shape)
    }

    fn threads(&self, shape: &Shape) -> usize {
        shape.threads + usize::from(self.0[1])
    }

    pub(super) fn set_lock(&mut self, lock: u16) {
        self.0[0] = lock;
    }

    pub(super) fn set_local(&mut self, thread: usize, local: u16) {
        self.0[HEAD + thread] = local;
    }

    pub(super) fn set_cell(&mut self, shape: &Shape, cell: Cell, value: u16) {
        let first = HEAD + self.threads(shape);
        self.0[first + usize::from(cell)] = value;
    }

    /// Lists one more copy, in any state, with an empty buffer.
    pub(super) fn add_copy(&mut self, shape: &Shape) {
        let threads = self.threads(shape);
        self.0[1] += 1;
        self.0.insert(HEAD + threads, ANY);
        let ends = HEAD + threads + 1 + shape.cells;
        let last = if threads == 0 { 0 } else { self.0[ends + threads - 1] };
        self.0.insert(ends + threads, last);
    }

    /// Leaves out copies that have not moved: there are always more of them.
    pub(super) fn drop_copies(&mut self, shape: &Shape, has_not_moved: impl Fn(u16) -> bool) {
        let view = self.view(shape);
        let is_free = |&copy: &usize| has_not_moved(view.local(copy)) && view.buffer(copy).is_empty();
        if view.copies().any(|copy| is_free(&copy)) {
            let kept = view.copies().filter(|copy| !is_free(copy));
            *self = view.with_threads(shape, &(0..shape.threads).chain(kept).collect::<Vec<_>>());
        }
    }

    /// Puts a message into a buffer, before the one at this position.
    pub(super) fn insert(&mut self, shape: &Shape, thread: usize, position: usize, message: Message) {
        let threads = self.threads(shape);
        let ends = HEAD + threads + shape.cells;
        let start = if thread == 0 { 0 } else { usize::from(self.0[ends + thread - 1]) };
        self.0.insert(ends + threads + start + position, message);
        for end in &mut self.0[ends + thread..ends + threads] {
            *end += 1;
        }
    }

    /// Takes the newest message out of a buffer that has one.
    pub(super) fn pop(&mut self, shape: &Shape, thread: usize) {
        let threads = self.threads(shape);
        let ends = HEAD + threads + shape.cells;
        let end = usize::from(self.0[ends + thread]);
        self.0.remove(ends + threads + end - 1);
        for end in &mut self.0[ends + thread..ends + threads] {
            *end -= 1;
        }
    }

    /// Messages at the end of a buffer that say what memory holds anyway need not be there: nobody has looked at them
    /// yet when they arrive, and they can arrive at any time while nobody else holds the lock. Calls `stripped` for
    /// each.
    pub(super) fn strip(&mut self, shape: &Shape, mut stripped: impl FnMut(usize, Message)) {
        for thread in 0..self.threads(shape) {
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
        let key = |&thread: &usize| (view.local(thread), view.is_holder(thread), view.buffer(thread));
        let mut order: Vec<usize> = (0..view.threads()).collect();
        let mut is_sorted = true;
        for group in shape.groups.iter().filter(|group| group.len() > 1 && !group.is_sorted_by_key(key)) {
            is_sorted = false;
            let mut sorted = group.clone();
            sorted.sort_by_key(key);
            for (&to, from) in group.iter().zip(sorted) {
                order[to] = from;
            }
        }
        let copies = &mut order[view.copies()];
        if !copies.is_sorted_by_key(key) {
            is_sorted = false;
            copies.sort_by_key(key);
        }
        if is_sorted {
            return None;
        }
        *self = view.with_threads(shape, &order);
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
    if small.local(at) == ANY {
        return !large.is_holder(other) && !large.buffer(other).iter().any(|&message| is_own(message));
    }
    small.local(at) == large.local(other)
        && small.is_holder(at) == large.is_holder(other)
        && is_buffer_below(small.buffer(at), large.buffer(other))
}

/// Whether the first stands for all that the second stands for, threads of one group in whatever order.
pub(super) fn is_below(shape: &Shape, small: View<'_>, large: View<'_>) -> bool {
    let fits = |(&small, &large): (&u16, &u16)| small == ANY || small == large;
    (small.lock() == FREE) == (large.lock() == FREE)
        && small.copies().len() <= large.copies().len()
        && small.memory().iter().zip(large.memory()).all(fits)
        && shape.groups.iter().all(|group| match group[..] {
            [only] => is_thread_below(small, only, large, only),
            _ => Matching { small, large, others: group }.is_there(group),
        })
        && (small.copies().is_empty() || are_copies_below(small, large))
}

/// Whether each listed copy has one of its own to stand for.
fn are_copies_below(small: View<'_>, large: View<'_>) -> bool {
    let mut rest = large.copies();
    // Both are in order of their states.
    let has_states = small.copies().all(|copy| rest.any(|other| large.local(other) == small.local(copy)));
    let others: Vec<usize> = large.copies().collect();
    has_states && Matching { small, large, others: &others }.is_there(&small.copies().collect::<Vec<_>>())
}

/// Whether threads can be paired up such that each is below its partner: a matching in a bipartite graph, found by
/// augmenting paths. Trying one pairing after the other would take exponential time in large groups.
struct Matching<'a> {
    small: View<'a>,
    large: View<'a>,
    others: &'a [usize],
}

impl Matching<'_> {
    /// Whether all these have a partner among the others.
    fn is_there(&self, threads: &[usize]) -> bool {
        let mut partners = vec![None; self.others.len()];
        threads.iter().all(|&thread| {
            let mut tried = vec![false; self.others.len()];
            self.find_partner(thread, &mut partners, &mut tried)
        })
    }

    /// Finds a partner for one more thread, if those before it can make do with others.
    fn find_partner(&self, thread: usize, partners: &mut [Option<usize>], tried: &mut [bool]) -> bool {
        for (at, &other) in self.others.iter().enumerate() {
            if tried[at] || !is_thread_below(self.small, thread, self.large, other) {
                continue;
            }
            tried[at] = true;
            let is_free = match partners[at] {
                None => true,
                Some(holder) => self.find_partner(holder, partners, tried),
            };
            if is_free {
                partners[at] = Some(thread);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
