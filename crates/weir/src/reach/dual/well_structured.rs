//! The load-buffer semantics as a [well-structured transition system](crate::wsts): order, predecessors and index keys.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::config::{ANY, Config, FREE, Shape, View, is_below, is_own};
use super::predecessors::System;
use crate::wsts::{self, WellStructured};

/// With more threads whose state may be unconstrained than this, only configurations that constrain all of them are
/// looked up.
const MOST_OPEN: usize = 16;

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
        config.sort(&self.shape)
    }
}

impl WellStructured for System {
    type Unit = u16;

    /// For each group, how many threads are unconstrained.
    type Pattern = Vec<u8>;

    fn is_below(&self, small: &[u16], large: &[u16]) -> bool {
        is_below(&self.shape, View::new(small, &self.shape), View::new(large, &self.shape))
    }

    fn predecessor_basis(&self, config: &[u16], emit: &mut impl FnMut(Vec<u16>)) {
        self.predecessors(View::new(config, &self.shape), &mut |_, before| emit(before.0));
    }

    fn normalize(&self, config: &mut Vec<u16>) {
        let mut whole = Config(std::mem::take(config));
        self.normalized(&mut whole, |_, _| ());
        *config = whole.0;
    }

    fn weight(&self, config: &[u16]) -> u32 {
        View::new(config, &self.shape).messages() as u32
    }

    fn key(&self, config: &[u16]) -> u64 {
        key(&self.shape, View::new(config, &self.shape), 0)
    }

    fn pattern(&self, config: &[u16]) -> Vec<u8> {
        pattern(&self.shape, View::new(config, &self.shape), 0)
    }

    /// A configuration below this one has the same states of threads, or leaves some unconstrained.
    fn keys_below(&self, config: &[u16], patterns: &FxHashSet<Vec<u8>>, mut is_found: impl FnMut(u64) -> bool) -> bool {
        let (shape, view) = (&self.shape, View::new(config, &self.shape));
        let can_be_open = |thread: usize| {
            view.local(thread) != ANY
                && usize::from(view.lock()) != thread + 1
                && !view.buffer(thread).iter().any(|&message| is_own(message))
        };
        let open: Vec<usize> = (0..shape.threads).filter(|&thread| can_be_open(thread)).collect();
        if open.len() > MOST_OPEN {
            return is_found(key(shape, view, 0));
        }
        (0..1u32 << open.len()).any(|choice| {
            let mask = (0..open.len()).filter(|bit| choice >> bit & 1 == 1).fold(0, |mask, bit| mask | 1 << open[bit]);
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
        assert!(shape.groups.iter().all(|group| group.len() == 1), "each thread is a group of its own");
        patterns.iter().any(|pattern| {
            let open = shape.groups.iter().zip(pattern).filter(|&(_, &count)| count > 0);
            is_found(key(shape, view, open.fold(0, |mask, (group, _)| mask | 1 << group[0])))
        })
    }
}

/// For each group how many threads are unconstrained, those of the mask included.
fn pattern(shape: &Shape, view: View<'_>, mask: u64) -> Vec<u8> {
    let is_open = |thread: usize| mask >> thread & 1 == 1 || view.local(thread) == ANY;
    let count = |group: &Vec<usize>| group.iter().filter(|&&thread| is_open(thread)).count() as u8;
    shape.groups.iter().map(count).collect()
}

/// What two configurations have in common if one is below the other, once the threads of the mask are unconstrained.
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
