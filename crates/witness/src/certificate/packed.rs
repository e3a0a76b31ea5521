//! Compact sets of states, in the form used in files (docs/evidence.md).
//!
//! Each state is a row of bytes; rows are sorted, and each is written as the difference from the one before it. Every
//! sixteenth row is written in full, so that any row is found by binary search and a short scan: the bytes of the file
//! are also the index in which states are looked up.

use std::collections::BTreeMap;

use weir_ir::{LocId, RegId, ThreadId, Value};

use super::{AbstractBuffer, AbstractState, AbstractThread, Waiting};

/// The distance from one row that is written in full to the next.
const BLOCK: usize = 16;

/// Which registers states record: for each thread that runs, for each of its locations, in ascending order.
pub type ListedRegisters = Vec<Vec<Vec<RegId>>>;

/// A set of states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedStates {
    listed: ListedRegisters,
    count: usize,
    bytes: Vec<u8>,
    /// Where blocks begin.
    heads: Vec<usize>,
}

/// Collects states, in any order.
pub struct Packer {
    listed: ListedRegisters,
    arena: Vec<u8>,
    rows: Vec<(usize, u32)>,
}

impl Packer {
    /// No states yet.
    pub fn new(listed: ListedRegisters) -> Self {
        Self { listed, arena: Vec::new(), rows: Vec::new() }
    }

    /// Adds a state, if its threads and locations are those of the listed registers.
    pub fn add(&mut self, state: &AbstractState) {
        let begin = self.arena.len();
        if encode(&self.listed, state, &mut self.arena).is_some() {
            self.rows.push((begin, (self.arena.len() - begin) as u32));
        }
    }

    /// How many bytes are in use.
    pub fn held(&self) -> u64 {
        (self.arena.len() + self.rows.len() * size_of::<(usize, u32)>()) as u64
    }

    /// The set.
    pub fn finish(mut self) -> PackedStates {
        let row = |&(begin, length): &(usize, u32)| &self.arena[begin..begin + length as usize];
        self.rows.sort_unstable_by(|left, right| row(left).cmp(row(right)));
        self.rows.dedup_by(|left, right| row(left) == row(right));
        let mut set = PackedStates { listed: self.listed, count: 0, bytes: Vec::new(), heads: Vec::new() };
        let mut before: &[u8] = &[];
        for &(begin, length) in &self.rows {
            let row = &self.arena[begin..begin + length as usize];
            set.append(before, row);
            before = row;
        }
        set
    }
}

/// What is wrong with the bytes of a set: the place of the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MalformedRow(pub usize);

impl PackedStates {
    /// A set as a file holds it.
    ///
    /// # Errors
    /// If the bytes are not rows of such states in ascending order, each in canonical form.
    pub fn read(listed: ListedRegisters, count: usize, bytes: Vec<u8>) -> Result<Self, MalformedRow> {
        let mut heads = Vec::with_capacity(count.min(bytes.len()) / BLOCK + 1);
        let (mut at, mut row, mut before) = (0, Vec::new(), Vec::new());
        for number in 0..count {
            let bad = || MalformedRow(number);
            if number % BLOCK == 0 {
                heads.push(at);
            }
            let (shared, suffix) = entry(&bytes, &mut at).ok_or_else(bad)?;
            let is_head = number % BLOCK == 0;
            if shared > row.len() || (is_head && shared != 0) {
                return Err(bad());
            }
            row.truncate(shared);
            row.extend_from_slice(suffix);
            let expected = if is_head { 0 } else { common(&before, &row) };
            let state = decode(&listed, &row).ok_or_else(bad)?;
            let mut again = Vec::with_capacity(row.len());
            encode(&listed, &state, &mut again).ok_or_else(bad)?;
            if (number > 0 && row <= before) || shared != expected || again != row {
                return Err(bad());
            }
            before.clone_from(&row);
        }
        if at != bytes.len() {
            return Err(MalformedRow(count));
        }
        Ok(Self { listed, count, bytes, heads })
    }

    /// The bytes, as a file holds them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which registers the states record.
    pub fn listed(&self) -> &ListedRegisters {
        &self.listed
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All states, in order of their rows.
    pub fn iter(&self) -> impl Iterator<Item = AbstractState> + '_ {
        let (mut at, mut row) = (0, Vec::new());
        (0..self.count).map_while(move |_| {
            let (shared, suffix) = entry(&self.bytes, &mut at)?;
            row.truncate(shared);
            row.extend_from_slice(suffix);
            decode(&self.listed, &row)
        })
    }

    /// Whether the state is one of them; it records the listed registers.
    pub(super) fn contains(&self, state: &AbstractState) -> bool {
        self.place(state).is_some()
    }

    /// Which of them the state is.
    pub(super) fn place(&self, state: &AbstractState) -> Option<usize> {
        let mut row = Vec::new();
        encode(&self.listed, state, &mut row)?;
        self.find(&row)
    }

    fn find(&self, wanted: &[u8]) -> Option<usize> {
        let head = |&at: &usize| entry(&self.bytes, &mut { at }).is_some_and(|(_, row)| row <= wanted);
        let block = self.heads.partition_point(head).checked_sub(1)?;
        let (mut at, mut row) = (self.heads[block], Vec::with_capacity(wanted.len()));
        for number in block * BLOCK..self.count.min((block + 1) * BLOCK) {
            let (shared, suffix) = entry(&self.bytes, &mut at)?;
            row.truncate(shared);
            row.extend_from_slice(suffix);
            if row.as_slice() >= wanted {
                return (row == wanted).then_some(number);
            }
        }
        None
    }

    fn append(&mut self, before: &[u8], row: &[u8]) {
        let is_head = self.count.is_multiple_of(BLOCK);
        if is_head {
            self.heads.push(self.bytes.len());
        }
        let shared = if is_head { 0 } else { common(before, row) };
        put(&mut self.bytes, shared as u64);
        put(&mut self.bytes, (row.len() - shared) as u64);
        self.bytes.extend_from_slice(&row[shared..]);
        self.count += 1;
    }
}

/// How many bytes two rows have in common.
fn common(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// What an entry shares with the row before, and what it adds.
fn entry<'a>(bytes: &'a [u8], at: &mut usize) -> Option<(usize, &'a [u8])> {
    let shared = usize::try_from(get(bytes, at)?).ok()?;
    let length = usize::try_from(get(bytes, at)?).ok()?;
    let suffix = bytes.get(*at..at.checked_add(length)?)?;
    *at += length;
    Some((shared, suffix))
}

/// Writes a number, seven bits per byte, the lowest first; all bytes but the last have their highest bit set.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || (shift == 63 && bits > 1) {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Values of either sign: 0, -1, 1, -2, … become 0, 1, 2, 3, …
fn put_value(bytes: &mut Vec<u8>, value: Value) {
    put(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

fn get_value(bytes: &[u8], at: &mut usize) -> Option<Value> {
    let number = get(bytes, at)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// The row of a state; `None` if it does not have these threads and locations, or does not record a listed register.
fn encode(listed: &ListedRegisters, state: &AbstractState, to: &mut Vec<u8>) -> Option<()> {
    let begin = to.len();
    let encoded = (|| {
        if state.threads.len() != listed.len() {
            return None;
        }
        for (own, listed) in state.threads.iter().zip(listed) {
            put(to, u64::from(own.location.0));
            for register in listed.get(own.location.index())? {
                put_value(to, *own.registers.get(register)?);
            }
            put_buffer(to, &own.buffer);
        }
        put(to, state.memory.len() as u64);
        for (&address, &value) in &state.memory {
            put_value(to, address);
            put_value(to, value);
        }
        put(to, state.lock_holder.map_or(0, |holder| u64::from(holder.0) + 1));
        Some(())
    })();
    if encoded.is_none() {
        to.truncate(begin);
    }
    encoded
}

fn put_buffer(to: &mut Vec<u8>, buffer: &AbstractBuffer) {
    put(to, buffer.queue.len() as u64);
    for &(address, value) in &buffer.queue {
        put_value(to, address);
        put_value(to, value);
    }
    put(to, buffer.waiting.len() as u64);
    for (&address, waiting) in &buffer.waiting {
        put_value(to, address);
        put_value(to, waiting.newest);
        put(to, waiting.older.len() as u64);
        for (&value, &count) in &waiting.older {
            put_value(to, value);
            put(to, count.map_or(0, |count| u64::from(count) + 1));
        }
    }
}

/// The state of a row.
fn decode(listed: &ListedRegisters, row: &[u8]) -> Option<AbstractState> {
    let mut at = 0;
    let mut threads = Vec::with_capacity(listed.len());
    for listed in listed {
        let location = LocId(u32::try_from(get(row, &mut at)?).ok()?);
        let mut registers = BTreeMap::new();
        for &register in listed.get(location.index())? {
            registers.insert(register, get_value(row, &mut at)?);
        }
        threads.push(AbstractThread { location, registers, buffer: get_buffer(row, &mut at)? });
    }
    let mut memory = BTreeMap::new();
    for _ in 0..get(row, &mut at)? {
        memory.insert(get_value(row, &mut at)?, get_value(row, &mut at)?);
    }
    let holder = get(row, &mut at)?.checked_sub(1).map(u32::try_from);
    let lock_holder = holder.transpose().ok()?.map(ThreadId);
    (at == row.len()).then_some(AbstractState { threads, memory, lock_holder })
}

fn get_buffer(row: &[u8], at: &mut usize) -> Option<AbstractBuffer> {
    let mut buffer = AbstractBuffer::default();
    for _ in 0..get(row, at)? {
        buffer.queue.push((get_value(row, at)?, get_value(row, at)?));
    }
    for _ in 0..get(row, at)? {
        let (address, newest) = (get_value(row, at)?, get_value(row, at)?);
        let mut older = BTreeMap::new();
        for _ in 0..get(row, at)? {
            let (value, count) = (get_value(row, at)?, get(row, at)?.checked_sub(1));
            older.insert(value, count.map(u32::try_from).transpose().ok()?);
        }
        buffer.waiting.insert(address, Waiting { newest, older });
    }
    Some(buffer)
}
