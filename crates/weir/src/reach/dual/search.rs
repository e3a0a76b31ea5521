//! Backward search over upward-closed sets, each kept as its least configurations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::config::{ANY, Config, FREE, Shape, View, is_below, is_own};
use super::predecessors::System;
use crate::Limit;
use crate::session::{Progress, Session};

/// After so many configurations the limits are looked at: going back from one takes as long as many steps of a search forwards.
const A_CHECK: u32 = 8;

/// With more threads that may be open than this, only what leaves none of them open is looked for.
const MOST_OPEN: usize = 16;

/// A configuration that was found, by number.
pub(super) type Id = u32;

/// The configurations found so far, none above another unless it was found earlier.
#[derive(Debug, Default)]
pub(super) struct Found {
    rows: Vec<u16>,
    ends: Vec<usize>,
    /// The configuration each was found from; a goal is its own.
    pub(super) parents: Vec<Id>,
    /// Whether one below it was found since.
    covered: Vec<bool>,
    /// How many are not covered.
    least: usize,
    /// By what must agree: states and own messages of threads.
    index: FxHashMap<u64, Vec<Id>>,
    /// How many threads of each group can be anywhere: the combinations that occur.
    patterns: FxHashSet<Vec<u8>>,
}

impl Found {
    pub(super) fn row(&self, id: Id) -> &[u16] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.rows[start..self.ends[id]]
    }

    /// How many configurations are least.
    pub(super) fn len(&self) -> usize {
        self.least
    }

    /// The least configurations, in the order in which they were found.
    pub(super) fn least(&self) -> impl Iterator<Item = &[u16]> {
        (0..self.ends.len()).filter(|&id| !self.covered[id]).map(|id| self.row(id as Id))
    }

    /// Whether a configuration below this one is known. It has the same states of threads, or leaves some open.
    pub(super) fn covers(&self, shape: &Shape, view: View<'_>) -> bool {
        let can_be_open = |thread: usize| {
            view.local(thread) != ANY
                && usize::from(view.lock()) != thread + 1
                && !view.buffer(thread).iter().any(|&message| is_own(message))
        };
        let open: Vec<usize> = (0..shape.threads).filter(|&thread| can_be_open(thread)).collect();
        if open.len() > MOST_OPEN {
            return self.covers_with(shape, view, 0);
        }
        (0..1u32 << open.len()).any(|choice| {
            let mask = (0..open.len()).filter(|bit| choice >> bit & 1 == 1).fold(0, |mask, bit| mask | 1 << open[bit]);
            self.patterns.contains(&pattern(shape, view, mask)) && self.covers_with(shape, view, mask)
        })
    }

    /// The same, where no two threads can change places, and without fail: [`covers`](Self::covers) does not try all ways to leave
    /// threads open if there are many of them, which is good enough to keep a search small. Here a pattern says which threads are open.
    pub(super) fn contains(&self, shape: &Shape, view: View<'_>) -> bool {
        debug_assert!(shape.groups.iter().all(|group| group.len() == 1), "each thread is a group of its own");
        self.patterns.iter().any(|pattern| {
            let open = shape.groups.iter().zip(pattern).filter(|&(_, &count)| count > 0);
            self.covers_with(shape, view, open.fold(0, |mask, (group, _)| mask | 1 << group[0]))
        })
    }

    fn covers_with(&self, shape: &Shape, view: View<'_>, mask: u64) -> bool {
        let Some(bucket) = self.index.get(&key(shape, view, mask)) else { return false };
        bucket.iter().any(|&known| is_below(shape, View::new(self.row(known), shape), view))
    }

    pub(super) fn bytes(&self) -> u64 {
        (2 * self.rows.len() + 80 * self.ends.len()) as u64
    }
}

/// What came of a search.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The initial configuration is above this one.
    Reached(Id),
    /// No predecessor is left.
    Closed,
    Stopped(Limit),
}

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) system: &'a System,
    /// Where the search may end; without it, it goes on until nothing is left.
    initial: Option<&'a Config>,
    pub(super) found: Found,
    open: BinaryHeap<Reverse<(u32, Id)>>,
    pub(super) steps: u64,
    reached: Option<Id>,
}

impl<'a> Search<'a> {
    pub(super) fn new(system: &'a System, initial: Option<&'a Config>) -> Self {
        Self { system, initial, found: Found::default(), open: BinaryHeap::new(), steps: 0, reached: None }
    }

    /// Adds a configuration, in its normal form, unless one below it is known.
    pub(super) fn add(&mut self, mut config: Config, parent: Option<Id>) {
        let shape = &self.system.shape;
        config.strip(shape, |_, _| ());
        config.sort(shape);
        let view = config.view(shape);
        if self.found.covers(shape, view) {
            return;
        }
        let key = key(shape, view, 0);
        let bucket = self.found.index.entry(key).or_default();
        let (rows, ends, covered) = (&self.found.rows, &self.found.ends, &mut self.found.covered);
        let before = bucket.len();
        bucket.retain(|&known| {
            let start = if known == 0 { 0 } else { ends[known as usize - 1] };
            let is_above = is_below(shape, view, View::new(&rows[start..ends[known as usize]], shape));
            covered[known as usize] |= is_above;
            !is_above
        });
        self.found.least = self.found.least + 1 + bucket.len() - before;
        let id = self.found.ends.len() as Id;
        bucket.push(id);
        let pattern = pattern(shape, view, 0);
        self.found.patterns.insert(pattern);
        self.found.rows.extend_from_slice(&config.0);
        self.found.ends.push(self.found.rows.len());
        self.found.parents.push(parent.unwrap_or(id));
        self.found.covered.push(false);
        let weight = view.messages() as u32;
        self.open.push(Reverse((weight, id)));
        let is_below_initial = |initial: &Config| is_below(shape, config.view(shape), initial.view(shape));
        if self.reached.is_none() && self.initial.is_some_and(is_below_initial) {
            self.reached = Some(id);
        }
    }

    /// Goes on until the initial configuration is met, nothing is left, or a limit is reached.
    pub(super) fn run(&mut self, session: &Session, states: u64) -> Outcome {
        let mut row = Vec::new();
        let mut pops = 0u32;
        loop {
            if let Some(id) = self.reached {
                return Outcome::Reached(id);
            }
            let Some(Reverse((weight, id))) = self.open.pop() else { return Outcome::Closed };
            if self.found.covered[id as usize] {
                continue;
            }
            pops = pops.wrapping_add(1);
            if pops.is_multiple_of(A_CHECK)
                && let Some(limit) = session.exceeded_with(self.found.bytes(), 0)
            {
                return Outcome::Stopped(limit);
            }
            if pops.is_multiple_of(32 * A_CHECK) {
                let (states, open) = (self.found.len() as u64, self.open.len() as u64);
                session.report(&Progress { states, open, depth: u64::from(weight), elapsed: session.elapsed() });
            }
            if self.found.len() as u64 > states {
                return Outcome::Stopped(Limit::States);
            }
            row.clear();
            row.extend_from_slice(self.found.row(id));
            let system = self.system;
            system.predecessors(View::new(&row, &system.shape), &mut |_, before| {
                self.steps += 1;
                self.add(before, Some(id));
            });
        }
    }
}

/// For each group how many threads can be anywhere, those of the mask included.
fn pattern(shape: &Shape, view: View<'_>, mask: u64) -> Vec<u8> {
    let is_open = |thread: usize| mask >> thread & 1 == 1 || view.local(thread) == ANY;
    let count = |group: &Vec<usize>| group.iter().filter(|&&thread| is_open(thread)).count() as u8;
    shape.groups.iter().map(count).collect()
}

/// What two configurations have in common if one is below the other, once the threads of the mask can be anywhere.
fn key(shape: &Shape, view: View<'_>, mask: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (view.lock() == FREE).hash(&mut hasher);
    for group in &shape.groups {
        // The order of threads within a group does not matter.
        let sum = group.iter().fold(0u64, |sum, &thread| sum.wrapping_add(thread_key(view, mask, thread)));
        sum.hash(&mut hasher);
    }
    hasher.finish()
}

fn thread_key(view: View<'_>, mask: u64, thread: usize) -> u64 {
    let mut hasher = FxHasher::default();
    if mask >> thread & 1 == 1 {
        ANY.hash(&mut hasher);
        return hasher.finish();
    }
    view.local(thread).hash(&mut hasher);
    for &message in view.buffer(thread).iter().filter(|&&message| is_own(message)) {
        message.hash(&mut hasher);
    }
    hasher.finish()
}
