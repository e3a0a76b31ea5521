//! Buffers that forget order, rule by rule as G. Calin's dissertation (*Verification techniques for TSO-relaxed
//! programs*, 2016) has them: Figures 3.6 (set), 3.8 (multiset) and 3.10 (partial coherence).
//!
//! Figure 3.10 as printed has no rule for a store that finds a non-empty set and a queue that is not full, and lets
//! stores of the set pass those of the queue. Here a store goes to the set if the set is not empty or the queue is
//! full, and only with an empty queue does anything leave the set.

use std::collections::BTreeMap;

use weir_ir::{Address, Value};

/// Stores without order, and the newest value for each address that has some.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct UnorderedBuffer {
    /// How many of each; in a set, always one.
    entries: BTreeMap<(Address, Value), usize>,
    last: BTreeMap<Address, Value>,
}

impl UnorderedBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn last(&self, address: Address) -> Option<Value> {
        self.last.get(&address).copied()
    }

    /// Rule LS of Figure 3.6.
    pub(super) fn add_to_set(&mut self, address: Address, value: Value) {
        self.entries.insert((address, value), 1);
        self.last.insert(address, value);
    }

    /// Rule LS of Figure 3.8.
    pub(super) fn add_to_multiset(&mut self, address: Address, value: Value) {
        *self.entries.entry((address, value)).or_default() += 1;
        self.last.insert(address, value);
    }

    /// Rules WM-D and WM-ND of Figure 3.6: what is flushed, and what is left.
    pub(super) fn flush_set(&self) -> Vec<((Address, Value), Self)> {
        let mut flushes = Vec::new();
        for &(address, value) in self.entries.keys() {
            let mut rest = self.clone();
            rest.remove(address, value);
            if self.last(address) != Some(value) || !rest.has(address) {
                flushes.push(((address, value), rest));
            }
            flushes.push(((address, value), self.clone()));
        }
        flushes
    }

    /// Rule WM of Figure 3.8.
    pub(super) fn flush_multiset(&self) -> Vec<((Address, Value), Self)> {
        let mut flushes = Vec::new();
        for &(address, value) in self.entries.keys() {
            let mut rest = self.clone();
            rest.remove(address, value);
            let another = rest.entries.contains_key(&(address, value));
            if self.last(address) != Some(value) || another || !rest.has(address) {
                flushes.push(((address, value), rest));
            }
        }
        flushes
    }

    fn has(&self, address: Address) -> bool {
        self.entries.keys().any(|entry| entry.0 == address)
    }

    fn remove(&mut self, address: Address, value: Value) {
        let count = self.entries.remove(&(address, value)).unwrap_or_default();
        if count > 1 {
            self.entries.insert((address, value), count - 1);
        }
        if !self.has(address) {
            self.last.remove(&address);
        }
    }
}
