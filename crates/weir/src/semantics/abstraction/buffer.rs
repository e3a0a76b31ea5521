//! One approximated store buffer, as plain data.
//!
//! After G. Calin, *Verification techniques for TSO-relaxed programs* (2016), Figures 3.6, 3.8 and 3.10, with one
//! simplification that changes no drained state that can be reached: a store that waits out of order is never thrown
//! away by itself. It goes when the newest store to its cell lands, and with it all that still wait for that cell. That
//! is as good: they could have been flushed just before, and until then they may be flushed or not, so that holding
//! more of them never rules anything out.

use weir_ir::{Address, Value};
use weir_witness::Buffering;

use super::super::buffers::Entry;

/// Counts as far as anybody can.
pub(crate) const EXACT_MULTISET: Buffering = Buffering::Multiset(ANY - 1);

/// A number of stores that never runs out.
pub(crate) const ANY: u32 = u32::MAX;

/// An approximated buffer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Buffer {
    /// The oldest stores, the oldest first.
    pub(crate) queue: Vec<Entry>,
    /// All later ones, by ascending address.
    pub(crate) waiting: Vec<Waiting>,
}

/// Stores to one cell that wait out of order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Waiting {
    pub(crate) address: Address,
    pub(crate) newest: Value,
    /// What may reach memory before the newest store lands, by ascending value, and how often.
    pub(crate) older: Vec<(Value, u32)>,
}

/// A way in which a store can reach memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flush {
    pub(crate) entry: Entry,
    /// Whether it is the newest store to its cell that waits out of order, after which none is left.
    pub(crate) lands: bool,
}

impl Buffer {
    /// The newest value waiting for this address.
    pub(crate) fn newest(&self, address: Address) -> Option<Value> {
        let waiting = self.waiting.iter().find(|waiting| waiting.address == address).map(|waiting| waiting.newest);
        waiting.or_else(|| self.queue.iter().rev().find(|entry| entry.0 == address).map(|entry| entry.1))
    }

    /// The buffer after one more store.
    pub(crate) fn store(&self, buffering: Buffering, entry: Entry) -> Self {
        let mut next = self.clone();
        match buffering {
            Buffering::Coherence(most) if self.waiting.is_empty() && self.queue.len() < most as usize => {
                next.queue.push(entry);
            }
            Buffering::Coherence(_) => {
                let waiting = next.waiting_for(entry);
                // In a set the newest store, too, may stand for several.
                waiting.add(entry.1, 0);
                waiting.newest = entry.1;
            }
            Buffering::Multiset(most) => {
                let replaced = next.newest(entry.0);
                let waiting = next.waiting_for(entry);
                if let Some(replaced) = replaced {
                    waiting.add(replaced, most);
                }
                waiting.newest = entry.1;
            }
        }
        next
    }

    fn waiting_for(&mut self, (address, newest): Entry) -> &mut Waiting {
        let at = self.waiting.partition_point(|waiting| waiting.address < address);
        if self.waiting.get(at).is_none_or(|waiting| waiting.address != address) {
            self.waiting.insert(at, Waiting { address, newest, older: Vec::new() });
        }
        &mut self.waiting[at]
    }

    /// All ways in which a store can reach memory next, each with what is left of the buffer.
    pub(crate) fn flushes(&self) -> Vec<(Flush, Self)> {
        if let Some(&entry) = self.queue.first() {
            let rest = Self { queue: self.queue[1..].to_vec(), waiting: self.waiting.clone() };
            return vec![(Flush { entry, lands: false }, rest)];
        }
        let mut flushes = Vec::new();
        for (at, waiting) in self.waiting.iter().enumerate() {
            let mut rest = self.clone();
            rest.waiting.remove(at);
            flushes.push((Flush { entry: (waiting.address, waiting.newest), lands: true }, rest));
            for (which, &(value, _)) in waiting.older.iter().enumerate() {
                let mut rest = self.clone();
                rest.waiting[at].take(which);
                flushes.push((Flush { entry: (waiting.address, value), lands: false }, rest));
            }
        }
        flushes
    }

    /// The content as a row of values: equal buffers, and only they, have equal rows.
    pub(crate) fn canonical_form(&self) -> Vec<Value> {
        let mut row = vec![self.queue.len() as Value];
        row.extend(self.queue.iter().flat_map(|&(address, value)| [address, value]));
        for waiting in &self.waiting {
            row.extend([waiting.address, waiting.newest, waiting.older.len() as Value]);
            row.extend(waiting.older.iter().flat_map(|&(value, count)| [value, Value::from(count)]));
        }
        row
    }

    /// Bytes held on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let older = self.waiting.iter().map(|waiting| size_of_val(waiting.older.as_slice())).sum::<usize>();
        size_of_val(self.queue.as_slice()) + size_of_val(self.waiting.as_slice()) + older
    }
}

impl Waiting {
    /// One more of this value, counted up to `most`.
    fn add(&mut self, value: Value, most: u32) {
        let at = self.older.partition_point(|older| older.0 < value);
        if self.older.get(at).is_none_or(|older| older.0 != value) {
            self.older.insert(at, (value, 0));
        }
        let count = &mut self.older[at].1;
        *count = if *count >= most { ANY } else { *count + 1 };
    }

    /// One less of those at this place, unless they never run out.
    fn take(&mut self, which: usize) {
        match self.older[which].1 {
            ANY => {}
            1 => {
                self.older.remove(which);
            }
            count => self.older[which].1 = count - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(buffering: Buffering, entries: &[Entry]) -> Buffer {
        entries.iter().fold(Buffer::default(), |buffer, &entry| buffer.store(buffering, entry))
    }

    /// What can reach memory next, and whether it lands.
    fn next(buffer: &Buffer) -> Vec<(Entry, bool)> {
        buffer.flushes().into_iter().map(|(flush, _)| (flush.entry, flush.lands)).collect()
    }

    #[test]
    fn a_set_repeats_even_its_newest_store() {
        let buffering = Buffering::Coherence(0);
        let buffer = filled(buffering, &[(1, 5), (1, 7)]);
        assert_eq!(buffer.newest(1), Some(7));
        assert_eq!(next(&buffer), [((1, 7), true), ((1, 5), false), ((1, 7), false)]);
        assert_eq!(buffer.flushes()[0].1, Buffer::default());
        assert_eq!(buffer.flushes()[1].1, buffer);
        assert_eq!(buffer.store(buffering, (1, 7)), buffer);
    }

    /// All that a few stores and flushes make of the empty buffer.
    fn small_buffers(buffering: Buffering) -> std::collections::BTreeSet<Buffer> {
        let mut all = std::collections::BTreeSet::from([Buffer::default()]);
        for _ in 0..4 {
            for buffer in all.clone() {
                let entries = [(1, 1), (1, 2), (2, 1), (2, 2)];
                all.extend(entries.map(|entry| buffer.store(buffering, entry)));
                all.extend(buffer.flushes().into_iter().map(|(_, rest)| rest));
            }
        }
        all
    }

    /// Whichever way they came about, and whichever kind they are.
    #[test]
    fn equal_buffers_and_only_they_have_equal_rows() {
        let kinds = [0, 1, 3].map(Buffering::Coherence).into_iter().chain([0, 1, 2].map(Buffering::Multiset));
        let all: std::collections::BTreeSet<Buffer> = kinds.flat_map(small_buffers).collect();
        let rows: std::collections::BTreeSet<Vec<Value>> = all.iter().map(Buffer::canonical_form).collect();
        assert!(all.len() > 500, "{}", all.len());
        assert_eq!(rows.len(), all.len());
    }

    #[test]
    fn a_multiset_counts() {
        let buffering = Buffering::Multiset(1);
        let once = filled(buffering, &[(1, 5)]);
        assert_eq!(next(&once), [((1, 5), true)]);
        let twice = once.store(buffering, (1, 5));
        assert_eq!(next(&twice), [((1, 5), true), ((1, 5), false)]);
        assert_eq!(twice.flushes()[1].1, once);
        let often = twice.store(buffering, (1, 5));
        assert_eq!(often.flushes()[1].1, often, "beyond the bound there is always one more");
        assert_ne!(often, twice);
    }

    #[test]
    fn coherence_keeps_the_oldest_in_order() {
        let buffering = Buffering::Coherence(2);
        let buffer = filled(buffering, &[(1, 5), (2, 6), (3, 7), (1, 8)]);
        assert_eq!(next(&buffer), [((1, 5), false)]);
        let rest = &buffer.flushes()[0].1;
        assert_eq!(next(rest), [((2, 6), false)]);
        // There is room in the queue, but what comes now is younger than what the set holds.
        let later = rest.store(buffering, (2, 9));
        assert_eq!((later.newest(2), later.newest(1)), (Some(9), Some(8)));
        assert_eq!(next(&later.flushes()[0].1).len(), 6);
    }
}
