//! Compact sets of states, in the form used in files (docs/evidence.md).
//!
//! Each state is a row of bytes; rows are sorted, and each is written as the difference from the one before it. Every
//! sixteenth row is written in full, so that any row is found by binary search and a short scan: the bytes of the file
//! are also the index in which states are looked up.

use rustc_hash::FxHashSet;

use super::AbstractState;
use super::rows::{ListedRegisters, decode, decode_shared, decode_thread, encode, get, put, skip_thread};

/// The distance from one row that is written in full to the next.
const BLOCK: usize = 16;

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
        let mut rows = Rows::new(&listed, &bytes);
        let mut canonical = CanonicalParts::new(&listed);
        for number in 0..count {
            if number % BLOCK == 0 {
                heads.push(rows.at);
            }
            let first = rows.next_checked(number % BLOCK == 0).ok_or(MalformedRow(number))?;
            if !(first..=listed.len()).all(|part| canonical.holds(part, rows.part(part))) {
                return Err(MalformedRow(number));
            }
        }
        if rows.at != bytes.len() {
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

    /// All rows, in their order.
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.listed, &self.bytes)
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

/// Goes through rows, and divides each into its parts: one for each thread, and one for memory and the lock.
pub(super) struct Rows<'a> {
    listed: &'a ListedRegisters,
    bytes: &'a [u8],
    at: usize,
    row: Vec<u8>,
    /// Where each part ends.
    ends: Vec<usize>,
}

impl<'a> Rows<'a> {
    fn new(listed: &'a ListedRegisters, bytes: &'a [u8]) -> Self {
        Self { listed, bytes, at: 0, row: Vec::new(), ends: Vec::new() }
    }

    /// The next row: the number of the first part that may differ from that of the row before.
    pub(super) fn next(&mut self) -> Option<usize> {
        let (shared, suffix) = entry(self.bytes, &mut self.at)?;
        self.enter(shared, suffix)
    }

    /// As [`Rows::next`], if the row comes after the one before, and shares as much with it as it can, or, at the
    /// beginning of a block, nothing.
    fn next_checked(&mut self, is_head: bool) -> Option<usize> {
        let (shared, suffix) = entry(self.bytes, &mut self.at)?;
        let is_next = match is_head {
            true => shared == 0 && (self.row.as_slice() < suffix || self.ends.is_empty()),
            // The first byte that is not shared differs, and is greater.
            false => shared <= self.row.len() && self.row.get(shared) < suffix.first(),
        };
        if is_next { self.enter(shared, suffix) } else { None }
    }

    fn enter(&mut self, shared: usize, suffix: &[u8]) -> Option<usize> {
        self.row.truncate(shared);
        self.row.extend_from_slice(suffix);
        let first = self.ends.iter().take_while(|&&end| end <= shared).count().min(self.listed.len());
        self.ends.truncate(first);
        let mut at = self.ends.last().copied().unwrap_or(0);
        for listed in &self.listed[first..] {
            skip_thread(listed, &self.row, &mut at)?;
            self.ends.push(at);
        }
        self.ends.push(self.row.len());
        Some(first)
    }

    /// A part of the row.
    pub(super) fn part(&self, number: usize) -> &[u8] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.row[begin..self.ends[number]]
    }
}

/// Whether parts are what would be written for what they say. The same parts occur again and again.
struct CanonicalParts<'a> {
    listed: &'a ListedRegisters,
    known: Vec<FxHashSet<Box<[u8]>>>,
    /// How many bytes the known parts have.
    held: usize,
}

impl<'a> CanonicalParts<'a> {
    /// How many bytes are remembered: memory must not grow with the number of states.
    const MOST: usize = 1 << 20;

    fn new(listed: &'a ListedRegisters) -> Self {
        Self { listed, known: vec![FxHashSet::default(); listed.len() + 1], held: 0 }
    }

    fn holds(&mut self, number: usize, part: &[u8]) -> bool {
        if self.known[number].contains(part) {
            return true;
        }
        let is_canonical = match self.listed.get(number) {
            Some(listed) => decode_thread(listed, part).is_some(),
            None => decode_shared(part).is_some(),
        };
        if is_canonical {
            if self.held > Self::MOST {
                self.known.iter_mut().for_each(FxHashSet::clear);
                self.held = 0;
            }
            self.held += part.len();
            self.known[number].insert(part.into());
        }
        is_canonical
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
