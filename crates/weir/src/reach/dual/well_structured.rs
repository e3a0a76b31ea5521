//! The load-buffer semantics as a [well-structured transition system](crate::wsts): order, predecessors and index keys.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::config::{ANY, Config, FREE, Shape, View, is_below, is_own};
use super::predecessors::System;
use crate::wsts::{self, WellStructured};

/// With more threads whose state may be unconstrained than this, only configurations that constrain all of them are
/// looked up.
const MOST_OPEN: usize = 16;

/// A set of threads. There are at most [`MOST_THREADS`](super::MOST_THREADS) and [`MOST_OPEN`] copies in one, and one
/// copy that holds the lock.
type Mask = u128;

/// A backward search in the load-buffer semantics.
pub(super) type Search<'a> = wsts::BackwardSearch<'a, System>;

/// An upward-closed set of configurations of the load-buffer semantics.
pub(super) type Basis = wsts::Basis<System>;

impl System {
    /// Brings a configuration into normal form. Calls `stripped` for each message that is dropped; returns, for each
    /// position now, where it was, if threads changed places.
    pub(super) fn normalized(
        &self,
        config: &mut Config,
        stripped: impl FnMut(usize, super::config::Message),
    ) -> Option<Vec<usize>> {
        config.strip(&self.shape, stripped);
        config.drop_copies(&self.shape, |local| self.starts_of_copies.contains(&local));
        config.sort(&self.shape)
    }
}

impl WellStructured for System {
    type Unit = u16;

    /// For each group, how many threads are unconstrained, and how many copies are listed.
    type Pattern = Vec<u8>;

    fn is_below(&self, small: &[u16], large: &[u16]) -> bool {
        is_below(&self.shape, View::new(small, &self.shape), View::new(large, &self.shape))
    }

    fn predecessor_basis(&self, config: &[u16], emit: &mut impl FnMut(Vec<u16>)) {
        self.predecessors(View::new(config, &self.shape), &mut |_, before| {
            if self.is_possible(before.view(&self.shape)) {
                emit(before.0);
            }
        });
    }

    fn normalize(&self, config: &mut Vec<u16>) {
        let mut whole = Config(std::mem::take(config));
        self.normalized(&mut whole, |_, _| ());
        *config = whole.0;
    }

    fn weight(&self, config: &[u16]) -> u32 {
        let view = View::new(config, &self.shape);
        (view.messages() + view.copies().len()) as u32
    }

    fn key(&self, config: &[u16]) -> u64 {
        key(&self.shape, View::new(config, &self.shape), 0)
    }

    fn pattern(&self, config: &[u16]) -> Vec<u8> {
        pattern(&self.shape, View::new(config, &self.shape), 0)
    }

    /// A configuration below this one has the same states of threads, or leaves some unconstrained. Of the copies, it
    /// lists some.
    fn keys_below(&self, config: &[u16], patterns: &FxHashSet<Vec<u8>>, mut is_found: impl FnMut(u64) -> bool) -> bool {
        let (shape, view) = (&self.shape, View::new(config, &self.shape));
        let can_be_open = |thread: usize| {
            let has_own = || view.buffer(thread).iter().any(|&message| is_own(message));
            let is_copy = thread >= shape.threads;
            view.local(thread) != ANY && !view.is_holder(thread) && (is_copy || !has_own())
        };
        let open: Vec<usize> = (0..view.threads()).filter(|&thread| can_be_open(thread)).collect();
        if open.len() > MOST_OPEN {
            return is_found(key(shape, view, 0));
        }
        // Where no threads are symmetric, a pattern says which threads are unconstrained. Often few patterns occur.
        if shape.groups.iter().all(|group| group.len() == 1)
            && view.copies().is_empty()
            && patterns.len() >> open.len() == 0
        {
            let is_free = |thread: usize| view.local(thread) == ANY;
            return patterns.iter().any(|pattern| {
                let mut mask: Mask = 0;
                let fits = |(group, &count): (&Vec<usize>, &u8)| {
                    let opens = count > 0 && !is_free(group[0]);
                    mask |= if opens { 1 << group[0] } else { 0 };
                    if opens { open.contains(&group[0]) } else { (count > 0) == is_free(group[0]) }
                };
                let copies = pattern.last().is_some_and(|&listed| listed > 0);
                !copies && shape.groups.iter().zip(pattern).all(fits) && is_found(key(shape, view, mask))
            });
        }
        (0..1u32 << open.len()).any(|choice| {
            let mask =
                (0..open.len()).filter(|bit| choice >> bit & 1 == 1).fold(0, |mask: Mask, bit| mask | 1 << open[bit]);
            patterns.contains(&pattern(shape, view, mask)) && is_found(key(shape, view, mask))
        })
    }

    /// Only where no threads are symmetric: then a pattern says which threads are unconstrained.
    fn all_keys_below(
        &self,
        config: &[u16],
        patterns: &FxHashSet<Vec<u8>>,
        mut is_found: impl FnMut(u64) -> bool,
    ) -> bool {
        let (shape, view) = (&self.shape, View::new(config, &self.shape));
        let is_alone = shape.groups.iter().all(|group| group.len() == 1) && view.copies().is_empty();
        assert!(is_alone, "each thread is a group of its own");
        patterns.iter().any(|pattern| {
            let open = shape.groups.iter().zip(pattern).filter(|&(_, &count)| count > 0);
            is_found(key(shape, view, open.fold(0, |mask: Mask, (group, _)| mask | 1 << group[0])))
        })
    }
}

/// For each group how many threads are unconstrained, those of the mask included, and how many copies are listed, except
/// those of the mask.
fn pattern(shape: &Shape, view: View<'_>, mask: Mask) -> Vec<u8> {
    let is_masked = |thread: usize| is_in(mask, thread);
    let is_open = |thread: usize| is_masked(thread) || view.local(thread) == ANY;
    let count = |group: &Vec<usize>| group.iter().filter(|&&thread| is_open(thread)).count() as u8;
    let listed = view.copies().filter(|&copy| !is_masked(copy)).count() as u8;
    shape.groups.iter().map(count).chain([listed]).collect()
}

/// What two configurations have in common if one is below the other, once the threads of the mask are unconstrained and
/// its copies left out.
fn key(shape: &Shape, view: View<'_>, mask: Mask) -> u64 {
    let mut hasher = FxHasher::default();
    (view.lock() == FREE).hash(&mut hasher);
    // The order of threads within a group does not matter.
    let sum = |threads: &mut dyn Iterator<Item = usize>| {
        threads.fold(0u64, |sum, thread| sum.wrapping_add(thread_key(view, mask, thread)))
    };
    for group in &shape.groups {
        sum(&mut group.iter().copied()).hash(&mut hasher);
    }
    sum(&mut view.copies().filter(|&copy| !is_in(mask, copy))).hash(&mut hasher);
    hasher.finish()
}

/// Sets are empty wherever there are more threads than bits.
fn is_in(mask: Mask, thread: usize) -> bool {
    mask != 0 && mask >> thread & 1 == 1
}

fn thread_key(view: View<'_>, mask: Mask, thread: usize) -> u64 {
    let mut hasher = FxHasher::default();
    if is_in(mask, thread) {
        ANY.hash(&mut hasher);
        return hasher.finish();
    }
    view.local(thread).hash(&mut hasher);
    for &message in view.buffer(thread).iter().filter(|&&message| is_own(message)) {
        message.hash(&mut hasher);
    }
    hasher.finish()
}
