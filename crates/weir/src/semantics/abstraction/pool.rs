//! Approximated buffers, each stored once and known by a number; 0 is the empty one.
//!
//! There are few of them beside the states that hold them, so what a store or a flush makes of each is worked out
//! once. Numbers depend on the order in which workers come by; see [`intern`](super::super::intern).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use weir_ir::{Address, Value};
use weir_witness::Buffering;

use super::super::buffers::Entry;
use super::super::intern::{Index, hash};
use super::buffer::{Buffer, Flush};

/// The set of all approximated buffers met so far.
pub(crate) struct Pool {
    buffering: Buffering,
    rows: boxcar::Vec<Row>,
    index: Index,
    bytes: AtomicU64,
}

struct Row {
    buffer: Buffer,
    flushes: OnceLock<Box<[Step<Flush>]>>,
    stores: RwLock<Vec<Step<Entry>>>,
}

/// What was done, and the number of what it leads to; `None` if there are more buffers than numbers.
type Step<T> = (T, Option<u64>);

impl Pool {
    pub(crate) fn new(buffering: Buffering) -> Self {
        let pool = Self { buffering, rows: boxcar::Vec::new(), index: Index::new(), bytes: AtomicU64::new(0) };
        let empty = pool.number(Buffer::default());
        assert_eq!(empty, Some(0));
        pool
    }

    fn row(&self, number: u64) -> &Row {
        &self.rows[number as usize]
    }

    /// The buffer of this number.
    pub(crate) fn buffer(&self, number: u64) -> &Buffer {
        &self.row(number).buffer
    }

    fn number(&self, buffer: Buffer) -> Option<u64> {
        let same = |number: u32| *self.buffer(u64::from(number)) == buffer;
        let hash_of = |number: u32| hash(self.buffer(u64::from(number)));
        let add = || {
            let bytes = size_of::<Row>() + 8 + buffer.bytes();
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            let row = Row { buffer: buffer.clone(), flushes: OnceLock::new(), stores: RwLock::default() };
            u32::try_from(self.rows.push(row)).ok()
        };
        self.index.find_or_add(hash(&buffer), same, hash_of, add).map(u64::from)
    }

    /// The newest value waiting for this address.
    pub(crate) fn newest(&self, number: u64, address: Address) -> Option<Value> {
        self.buffer(number).newest(address)
    }

    /// The buffer with one more store; `None` if there are more buffers than numbers.
    pub(crate) fn store(&self, number: u64, entry: Entry) -> Option<u64> {
        let row = self.row(number);
        if let Some(&(_, next)) = row.stores.read().iter().find(|(known, _)| *known == entry) {
            return next;
        }
        let next = self.number(row.buffer.store(self.buffering, entry));
        self.bytes.fetch_add(size_of::<Step<Entry>>() as u64, Ordering::Relaxed);
        row.stores.write().push((entry, next));
        next
    }

    /// All ways in which a store can reach memory next.
    pub(crate) fn flushes(&self, number: u64) -> &[Step<Flush>] {
        let row = self.row(number);
        row.flushes.get_or_init(|| {
            let flushes = row.buffer.flushes().into_iter();
            let steps: Box<[Step<Flush>]> = flushes.map(|(flush, rest)| (flush, self.number(rest))).collect();
            self.bytes.fetch_add(size_of_val(&*steps) as u64, Ordering::Relaxed);
            steps
        })
    }

    /// Bytes held, to within what the allocator adds.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
