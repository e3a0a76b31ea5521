//! Parts of a state that have no fixed size, each stored once and known by a number.
//!
//! Numbers depend on the order in which workers come by, so they never decide anything that is shown:
//! code that needs a stable order compares the content.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;
use parking_lot::RwLock;
use rustc_hash::FxHasher;
use weir_ir::Value;

const SHARDS: usize = 64;

/// Finds numbers by the content they stand for; made for many readers and few writers.
pub(crate) struct Index {
    shards: Vec<RwLock<HashTable<u32>>>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::new(HashTable::new())).collect() }
    }

    /// The number with this hash for which `same` holds, else the one that `add` makes, if it can. `hash_of` is the
    /// hash of a number that is in the index.
    #[inline]
    pub(crate) fn find_or_add(
        &self,
        hash: u64,
        same: impl Fn(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
        add: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        // hashbrown's tag comes from the top bits and its bucket from the bottom ones: take neither.
        let shard = &self.shards[(hash >> 32) as usize % SHARDS];
        if let Some(&number) = shard.read().find(hash, |&number| same(number)) {
            return Some(number);
        }
        let mut shard = shard.write();
        if let Some(&number) = shard.find(hash, |&number| same(number)) {
            return Some(number);
        }
        let number = add()?;
        shard.insert_unique(hash, number, |&number| hash_of(number));
        Some(number)
    }
}

/// The hash by which things are interned.
pub(crate) fn hash<T: Hash + ?Sized>(content: &T) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(content)
}

/// A set of rows of values. Row 0 is the empty one.
pub(crate) struct Interner {
    rows: boxcar::Vec<Box<[Value]>>,
    index: Index,
    bytes: AtomicU64,
}

impl Interner {
    pub(crate) fn new() -> Self {
        let interner = Self { rows: boxcar::Vec::new(), index: Index::new(), bytes: AtomicU64::new(0) };
        let empty = interner.number(&[]);
        assert_eq!(empty, Some(0));
        interner
    }

    /// The row of this number.
    #[inline]
    pub(crate) fn row(&self, number: u64) -> &[Value] {
        &self.rows[number as usize]
    }

    /// The number of this row; `None` if there are more rows than numbers.
    pub(crate) fn number(&self, row: &[Value]) -> Option<u64> {
        let same = |number: u32| self.row(u64::from(number)) == row;
        let hash_of = |number: u32| hash(self.row(u64::from(number)));
        let add = || {
            self.bytes.fetch_add(bytes_of(row), Ordering::Relaxed);
            u32::try_from(self.rows.push(row.into())).ok()
        };
        self.index.find_or_add(hash(row), same, hash_of, add).map(u64::from)
    }

    /// Bytes held, to within what the allocator adds.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The row, its fat pointer, and its share of an index that is between half full and full.
fn bytes_of(row: &[Value]) -> u64 {
    (size_of_val(row) + size_of::<Box<[Value]>>() + 8) as u64
}

#[cfg(test)]
mod tests;
