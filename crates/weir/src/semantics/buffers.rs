//! Store buffers, shared by their beginnings.
//!
//! A buffer is known by a number and stands for another buffer with one newer store behind it; number 0 is the
//! empty one. So a store costs one entry however long the buffer is, and a thread that stores forever
//! fills memory in proportion to the stores, not to their square. What is left of a buffer when its oldest
//! store leaves is remembered with it, which makes a flush as cheap, too, from the second time on.
//!
//! Numbers depend on the order in which workers come by; see [`intern`](super::intern).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weir_ir::{Address, Value};

use super::intern::{Index, hash};

/// A waiting store: where to, and what.
pub(crate) type Entry = (Address, Value);

/// A node, and its share of an index that is between half full and full.
const NODE_BYTES: u64 = (size_of::<Node>() + 8) as u64;

/// The set of all buffers met so far.
pub(crate) struct Buffers {
    nodes: boxcar::Vec<Node>,
    index: Index,
    bytes: AtomicU64,
}

struct Node {
    /// The buffer without its newest store.
    older: u32,
    newest: Entry,
    oldest: Entry,
    /// The buffer without its oldest store, plus one; 0 while that is not known.
    flushed: AtomicU32,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        Self { nodes: boxcar::Vec::new(), index: Index::new(), bytes: AtomicU64::new(0) }
    }

    /// Buffer 0 is empty and has no node.
    #[inline]
    fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get((number as usize).checked_sub(1)?)
    }

    /// The store that reaches memory next.
    #[inline]
    pub(crate) fn oldest(&self, number: u64) -> Option<Entry> {
        self.node(number).map(|node| node.oldest)
    }

    /// The newest value waiting for this address.
    #[inline]
    pub(crate) fn newest(&self, number: u64, address: Address) -> Option<Value> {
        let mut node = self.node(number)?;
        while node.newest.0 != address {
            node = self.node(u64::from(node.older))?;
        }
        Some(node.newest.1)
    }

    /// The buffer with one more store; `None` if there are more buffers than numbers.
    pub(crate) fn push(&self, number: u64, entry: Entry) -> Option<u64> {
        let older = number as u32;
        let node = |number: u32| self.node(u64::from(number));
        let same = |number| node(number).is_some_and(|node| node.older == older && node.newest == entry);
        let hash_of = |number| node(number).map_or(0, |node| hash(&(node.older, node.newest)));
        let add = || {
            let oldest = self.oldest(number).unwrap_or(entry);
            let at = self.nodes.push(Node { older, newest: entry, oldest, flushed: AtomicU32::new(0) });
            self.bytes.fetch_add(NODE_BYTES, Ordering::Relaxed);
            // Less than the greatest, so that `flushed` can hold it plus one.
            u32::try_from(at + 1).ok().filter(|&number| number < u32::MAX)
        };
        self.index.find_or_add(hash(&(older, entry)), same, hash_of, add).map(u64::from)
    }

    /// The buffer without its oldest store; `None` if there are more buffers than numbers.
    pub(crate) fn flush(&self, number: u64) -> Option<u64> {
        // Down to a buffer for which the answer is known, or that holds one store; then up again.
        let mut above = Vec::new();
        let mut at = number;
        let mut flushed = loop {
            let Some(node) = self.node(at) else { break 0 };
            match node.flushed.load(Ordering::Relaxed) {
                0 if node.older == 0 => break 0,
                0 => above.push(node),
                known => break u64::from(known - 1),
            }
            at = u64::from(node.older);
        };
        for node in above.into_iter().rev() {
            flushed = self.push(flushed, node.newest)?;
            node.flushed.store(flushed as u32 + 1, Ordering::Relaxed);
        }
        Some(flushed)
    }

    /// All stores, the newest first.
    pub(crate) fn entries(&self, number: u64) -> impl Iterator<Item = Entry> {
        let older = |node: &&Node| self.node(u64::from(node.older));
        std::iter::successors(self.node(number), older).map(|node| node.newest)
    }

    /// Bytes held, to within what the allocator adds.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
