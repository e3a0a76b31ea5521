//! What stores and flushes do to a buffer that forgets.
//!
//! From the definitions: a buffer of TSO is matched by one that has the same newest store to each cell, a queue that is
//! its beginning, and of all later stores at least as many as there are. A store or flush of the one is matched by one
//! of the other, which is why a set that is closed under these steps misses nothing that TSO can do.

use weir_ir::{Address, Value};

use super::{AbstractBuffer, Buffering, Waiting};

impl AbstractBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn newest(&self, address: Address) -> Option<Value> {
        let queued = || self.queue.iter().rev().find(|store| store.0 == address).map(|store| store.1);
        self.waiting.get(&address).map(|waiting| waiting.newest).or_else(queued)
    }

    /// After one more store.
    pub(crate) fn with(&self, buffering: Buffering, address: Address, value: Value) -> Self {
        let mut next = self.clone();
        match buffering {
            Buffering::Coherence(most) if self.waiting.is_empty() && (self.queue.len() as u64) < u64::from(most) => {
                next.queue.push((address, value));
                return next;
            }
            _ => {}
        }
        let entry = next.waiting.entry(address);
        match buffering {
            Buffering::Coherence(_) => {
                let waiting = entry.or_insert_with(|| Waiting::only(value));
                waiting.older.insert(value, None);
                waiting.newest = value;
            }
            Buffering::Multiset(most) => {
                entry.and_modify(|waiting| waiting.overtake(value, most)).or_insert_with(|| Waiting::only(value));
            }
        }
        next
    }

    /// Each store that can reach memory now, with the buffer after it.
    pub(super) fn flushes(&self) -> Vec<((Address, Value), Self)> {
        if let Some(&oldest) = self.queue.first() {
            let mut next = self.clone();
            next.queue.remove(0);
            return vec![(oldest, next)];
        }
        let mut flushes = Vec::new();
        for (&address, waiting) in &self.waiting {
            let mut landed = self.clone();
            landed.waiting.remove(&address);
            flushes.push(((address, waiting.newest), landed));
            for &value in waiting.older.keys() {
                let mut next = self.clone();
                if let Some(left) = next.waiting.get_mut(&address) {
                    left.lose(value);
                }
                flushes.push(((address, value), next));
            }
        }
        flushes
    }
}

impl Waiting {
    fn only(newest: Value) -> Self {
        Self { newest, older: [].into() }
    }

    fn overtake(&mut self, value: Value, most: u32) {
        let count = self.older.entry(self.newest).or_insert(Some(0));
        *count = count.filter(|&count| count < most).map(|count| count + 1);
        self.newest = value;
    }

    fn lose(&mut self, value: Value) {
        match self.older.get(&value) {
            Some(Some(count)) if *count > 1 => {
                let left = count - 1;
                self.older.insert(value, Some(left));
            }
            Some(Some(_)) => {
                self.older.remove(&value);
            }
            Some(None) | None => {}
        }
    }
}
