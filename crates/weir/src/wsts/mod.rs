//! Backward coverability in well-structured transition systems.
//!
//! After P. A. Abdulla, K. Čerāns, B. Jonsson, Y.-K. Tsay, "General decidability theorems for infinite-state systems",
//! 1996. Configurations have a well-quasi-order, and larger ones can do whatever smaller ones can. Then the set of
//! configurations from which a goal can be covered is upward-closed, and has a finite *minimal basis*: its minimal
//! configurations. The search computes that basis backwards from the goals, until saturation (no predecessor adds
//! anything) or until the initial configuration is in the upward closure.
//!
//! [`WellStructured`] is all that the search knows about a system; [`basis`] keeps the minimal basis, and [`backward`]
//! is the saturation loop. The load-buffer semantics of TSO (`reach::dual`) and Petri nets (`petri`) are instances; the
//! tests have another, vector addition systems.
//!
//! Direction of error: none, if the predecessors are exact.

pub(crate) mod backward;
pub(crate) mod basis;

use std::hash::Hash;

use rustc_hash::FxHashSet;

pub(crate) use backward::{BackwardSearch, Outcome};
pub(crate) use basis::{Basis, Id};

/// A well-structured transition system. Its configurations are rows of numbers.
pub(crate) trait WellStructured {
    /// What rows consist of.
    type Unit: Copy;

    /// What of a stored configuration decides which index keys can lead to it; `()` if nothing does. See
    /// [`keys_below`](Self::keys_below).
    type Pattern: Eq + Hash;

    /// The order: whether the upward closure of `small` contains `large`.
    fn is_below(&self, small: &[Self::Unit], large: &[Self::Unit]) -> bool;

    /// Calls `emit` for configurations whose upward closures together are the predecessors of the upward closure of
    /// `config`.
    fn predecessor_basis(&self, config: &[Self::Unit], emit: &mut impl FnMut(Vec<Self::Unit>));

    /// Brings a configuration into normal form, which has the same upward closure up to symmetry.
    fn normalize(&self, config: &mut Vec<Self::Unit>);

    /// Small configurations are expanded first.
    fn weight(&self, config: &[Self::Unit]) -> u32;

    /// The index key under which a configuration is stored.
    fn key(&self, config: &[Self::Unit]) -> u64;

    /// The pattern under which a configuration is stored.
    fn pattern(&self, config: &[Self::Unit]) -> Self::Pattern;

    /// What must agree exactly if one configuration is below another, as a small number: patterns are kept apart by it.
    fn class(&self, _config: &[Self::Unit]) -> usize {
        0
    }

    /// Calls `visit` on the keys, other than its own, under which configurations above this one may be stored, given
    /// the patterns of its class. May leave keys out: then covered configurations stay in the basis.
    fn keys_above(&self, _config: &[Self::Unit], _patterns: &FxHashSet<Self::Pattern>, _visit: impl FnMut(u64)) {}

    /// Calls `is_found` on the keys under which configurations below this one may be stored, given the patterns of
    /// its class, until one is found. May leave keys out: then the basis is larger than need be.
    fn keys_below(
        &self,
        config: &[Self::Unit],
        patterns: &FxHashSet<Self::Pattern>,
        is_found: impl FnMut(u64) -> bool,
    ) -> bool;

    /// The same, but leaves no key out.
    fn all_keys_below(
        &self,
        config: &[Self::Unit],
        patterns: &FxHashSet<Self::Pattern>,
        is_found: impl FnMut(u64) -> bool,
    ) -> bool;
}

#[cfg(test)]
mod tests;
