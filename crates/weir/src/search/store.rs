//! The exact set of visited states.
//!
//! States are kept in the order they came, in chunks that never move, so that a range of numbers is a
//! breadth-first level and no frontier has to be kept beside the set. An index of one-byte tags and 4-byte
//! numbers finds them: a bucket is one cache line of twelve slots. States are compared in full, always:
//! the tag only saves looking at most of the states that differ.
//!
//! States come in batches. The first passes over a batch touch the buckets, then the states they name, in
//! loops whose iterations do not depend on each other, so that the processor waits for many cache misses
//! at once. The index is rebuilt from the states when it grows, after the old one is gone: at no time
//! are there two.

use super::pages::Pages;
use crate::semantics::state::FlatState;

/// A hash that every part of the search agrees on. The bucket comes from the top bits, the tag from the
/// bottom ones, the shard from the middle.
#[inline]
pub(crate) fn hash(words: &[u64]) -> u64 {
    const START: u64 = 0x9E37_79B9_7F4A_7C15;
    const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
    let mut hash = START;
    for &word in words {
        let wide = u128::from(hash ^ word).wrapping_mul(u128::from(FACTOR));
        hash = (wide >> 64) as u64 ^ wide as u64;
    }
    // The product of one word reaches all bits; what several words make of each other takes one more round.
    if words.len() == 1 {
        return hash;
    }
    let wide = u128::from(hash ^ (hash >> 32)).wrapping_mul(u128::from(START));
    (wide >> 64) as u64 ^ wide as u64
}

const SLOTS: usize = 12;

/// Words of a bucket: a cache line.
const BUCKET: usize = 8;

/// One cache line of the index: twelve tags of a byte, three bytes unused, one byte that counts the slots taken, then
/// twelve numbers of four bytes. Slots are filled from the first; the tag of a free slot is 0.
#[derive(Clone, Copy)]
struct Bucket<'a>(&'a [u64; BUCKET]);

#[inline]
fn tag(hash: u64) -> u8 {
    (hash as u8).max(1)
}

/// One bit for each byte of `word` that is `byte`, as the lowest eight bits. A byte above one that matches may be named
/// wrongly.
#[inline]
fn matching_bytes(word: u64, byte: u8) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    let top_bits = zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7);
    // The product gathers the top bits of the bytes in the top byte.
    ((top_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

impl Bucket<'_> {
    #[inline]
    fn number(self, slot: usize) -> u32 {
        (self.0[2 + slot / 2] >> (slot % 2 * 32)) as u32
    }

    /// The slots whose tag may be `tag`, one bit each. A few others may be among them: states are compared anyway.
    #[inline]
    fn candidates(self, tag: u8) -> u32 {
        (matching_bytes(self.0[0], tag) | matching_bytes(self.0[1], tag) << 8) & ((1 << SLOTS) - 1)
    }

    /// How many slots are taken.
    #[inline]
    fn len(self) -> usize {
        (self.0[1] >> 56) as usize
    }
}

/// A set of states, each with a number in the order of arrival.
pub(crate) struct Store {
    /// Words of a state.
    stride: usize,
    /// States in a chunk, as a power of two.
    chunk_bits: u32,
    chunks: Vec<Pages>,
    len: u32,
    index: Pages,
    bucket_count: usize,
    /// The index grows when it holds this many.
    grow_at: u32,
}

/// The store is full, or a limit forbids it to grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

impl Store {
    /// Words in a chunk, about. The first chunk grows up to this size, since most programs are small.
    const CHUNK_WORDS: usize = 1 << 19;
    const FIRST_BUCKETS: usize = 64;

    pub(crate) fn new(stride: usize) -> Self {
        let stride = stride.max(1);
        let chunk_bits = (Self::CHUNK_WORDS / stride).max(1).ilog2();
        let mut store = Self { stride, chunk_bits, ..Self::vacant() };
        store.set_buckets(Self::FIRST_BUCKETS);
        store
    }

    /// A store that takes no memory, to stand where another one was taken from.
    pub(crate) fn vacant() -> Self {
        let index = Pages::Plain(Vec::new());
        Self { stride: 1, chunk_bits: 0, chunks: Vec::new(), len: 0, index, bucket_count: 0, grow_at: 0 }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline(always)]
    fn words(&self, number: u32) -> &[u64] {
        let (chunk, at) = self.position(number);
        &self.chunks[chunk].words()[at..at + self.stride]
    }

    /// The chunk of a state, and its place there.
    #[inline(always)]
    fn position(&self, number: u32) -> (usize, usize) {
        let within = number & ((1 << self.chunk_bits) - 1);
        ((number >> self.chunk_bits) as usize, within as usize * self.stride)
    }

    /// Whether the state of this number is the one with these words. Most states are one word, and comparing that
    /// without a call is much faster.
    #[inline(always)]
    fn holds(&self, number: u32, words: &[u64]) -> bool {
        let own = self.words(number);
        if let ([own], [word]) = (own, words) { own == word } else { own == words }
    }

    /// The state of a number below [`Store::len`].
    #[inline]
    pub(crate) fn state<S: FlatState>(&self, number: u32) -> S {
        S::from_words(self.words(number))
    }

    #[inline(always)]
    fn bucket(&self, at: usize) -> Bucket<'_> {
        bucket(self.index.words(), at)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        let words: usize = self.chunks.iter().map(|chunk| chunk.words().len()).sum();
        ((words + self.index.words().len()) * size_of::<u64>()) as u64
    }

    /// Bytes that the next growth of the index will add to what is held, if `more` states may come now.
    pub(crate) fn growth(&self, more: usize) -> u64 {
        let needed = self.len as usize + more;
        if needed <= self.grow_at as usize {
            return 0;
        }
        ((grown(self.bucket_count, needed) - self.bucket_count) * BUCKET * size_of::<u64>()) as u64
    }

    /// Makes room for `more` states.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Full> {
        let needed = self.len as usize + more;
        if needed >= u32::MAX as usize {
            return Err(Full);
        }
        if needed > self.grow_at as usize {
            self.rebuild(grown(self.bucket_count, needed));
        }
        Ok(())
    }

    fn set_buckets(&mut self, count: usize) {
        // The old index goes before the new one comes.
        self.index = Pages::Plain(Vec::new());
        self.index = Pages::zeroed(count * BUCKET);
        self.bucket_count = count;
        self.grow_at = capacity(count);
    }

    fn rebuild(&mut self, count: usize) {
        const BATCH: usize = 256;
        self.set_buckets(count);
        let mut homes = Vec::with_capacity(BATCH);
        for start in (0..self.len).step_by(BATCH) {
            let batch = start..self.len.min(start + BATCH as u32);
            homes.clear();
            let mut touched = 0;
            for number in batch.clone() {
                let hash = hash(self.words(number));
                let home = self.home(hash);
                touched |= self.bucket(home).0[0];
                homes.push((home, tag(hash)));
            }
            std::hint::black_box(touched);
            for (number, &(home, tag)) in batch.zip(&homes) {
                let at = self.with_room(home);
                self.place(at, tag, number);
            }
        }
    }

    /// The bucket in which a state belongs, if it has room.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.bucket_count as u128) >> 64) as usize
    }

    /// Puts a number into a bucket that has room.
    fn place(&mut self, at: usize, tag: u8, number: u32) {
        let slot = self.bucket(at).len();
        let words = &mut self.index.words_mut()[at * BUCKET..][..BUCKET];
        words[slot / 8] |= u64::from(tag) << (slot % 8 * 8);
        words[1] += 1 << 56;
        words[2 + slot / 2] |= u64::from(number) << (slot % 2 * 32);
    }

    /// The first bucket from `home` on that has room.
    fn with_room(&self, home: usize) -> usize {
        let mut at = home;
        while self.bucket(at).len() == SLOTS {
            at = self.after(at);
        }
        at
    }

    /// The bucket in which to go on when one is full.
    #[inline]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 == self.bucket_count { 0 } else { bucket + 1 }
    }

    /// The number of a state, or the bucket that has room for it.
    #[inline]
    fn locate(&self, home: usize, tag: u8, words: &[u64]) -> Result<u32, usize> {
        let mut at = home;
        loop {
            let bucket = self.bucket(at);
            let mut candidates = bucket.candidates(tag);
            while candidates != 0 {
                let number = bucket.number(candidates.trailing_zeros() as usize);
                if self.holds(number, words) {
                    return Ok(number);
                }
                candidates &= candidates - 1;
            }
            if bucket.len() < SLOTS {
                return Err(at);
            }
            at = self.after(at);
        }
    }

    fn push(&mut self, words: &[u64]) -> u32 {
        let number = self.len;
        let (chunk, at) = self.position(number);
        let whole = self.stride << self.chunk_bits;
        if chunk == self.chunks.len() {
            let first = (16 * self.stride).min(whole);
            self.chunks.push(Pages::zeroed(if chunk == 0 { first } else { whole }));
        }
        if let Pages::Plain(small) = &mut self.chunks[chunk]
            && small.len() < at + self.stride
        {
            small.resize((2 * small.len()).min(whole), 0);
        }
        self.chunks[chunk].words_mut()[at..at + self.stride].copy_from_slice(words);
        self.len += 1;
        number
    }

    /// Adds one state, for which there must be room; `true` if it is new.
    pub(crate) fn insert<S: FlatState>(&mut self, state: &S) -> bool {
        let words = &state.words()[..self.stride];
        let hash = hash(words);
        let (home, tag) = (self.home(hash), tag(hash));
        let Err(at) = self.locate(home, tag, words) else { return false };
        let number = self.push(words);
        self.place(at, tag, number);
        true
    }

    /// Whether the state is in the set.
    pub(crate) fn contains<S: FlatState>(&self, state: &S) -> bool {
        let words = &state.words()[..self.stride];
        let hash = hash(words);
        self.locate(self.home(hash), tag(hash), words).is_ok()
    }

    /// The number of the state, if it is in the set.
    pub(crate) fn find<S: FlatState>(&self, state: &S) -> Option<u32> {
        let words = &state.words()[..self.stride];
        let hash = hash(words);
        self.locate(self.home(hash), tag(hash), words).ok()
    }

    /// Asks `visit` about each state of a batch that is not in the set, in order, and adds those that it wants. There
    /// must be room for all.
    pub(crate) fn insert_batch<S: FlatState>(
        &mut self,
        batch: &[S],
        scratch: &mut Scratch,
        mut visit: impl FnMut(&S) -> bool,
    ) {
        self.find_batch(batch, scratch);
        for (state, probe) in batch.iter().zip(&scratch.probes) {
            if probe.known {
                continue;
            }
            // Full look-up: the batch may hold a state twice, and the passes look at one candidate only.
            let words = &state.words()[..self.stride];
            if let Err(at) = self.locate(probe.home, probe.tag, words)
                && visit(state)
            {
                let number = self.push(words);
                self.place(at, probe.tag, number);
            }
        }
    }

    /// For each state of the batch: its bucket, and whether the first candidate there is the state itself.
    ///
    /// No branch may depend on what was just loaded: a wrong guess would stop the loads behind it. So a state
    /// without a candidate is compared with whatever the last slot names, state 0 if nothing.
    fn find_batch<S: FlatState>(&self, batch: &[S], scratch: &mut Scratch) {
        let probes = &mut scratch.probes;
        probes.clear();
        probes.extend(batch.iter().map(|state| {
            let hash = hash(&state.words()[..self.stride]);
            Probe { home: self.home(hash), tag: tag(hash), candidate: 0, known: false }
        }));
        if self.len == 0 {
            return;
        }
        let index = self.index.words();
        // First just touch the buckets: the shorter the loop, the more misses are under way at once.
        let mut touched = 0;
        for probe in probes.iter() {
            touched |= index[probe.home * BUCKET];
        }
        std::hint::black_box(touched);
        for probe in probes.iter_mut() {
            let bucket = bucket(index, probe.home);
            let candidates = bucket.candidates(probe.tag) | 1 << (SLOTS - 1);
            probe.candidate = bucket.number(candidates.trailing_zeros() as usize);
        }
        for (state, probe) in batch.iter().zip(probes) {
            probe.known = self.holds(probe.candidate, &state.words()[..self.stride]);
        }
    }
}

struct Probe {
    home: usize,
    tag: u8,
    candidate: u32,
    known: bool,
}

#[inline(always)]
fn bucket(index: &[u64], at: usize) -> Bucket<'_> {
    const NONE: &[u64; BUCKET] = &[0; BUCKET];
    Bucket(index[at * BUCKET..].first_chunk().unwrap_or(NONE))
}

/// Room for the passes over a batch, kept between batches.
#[derive(Default)]
pub(crate) struct Scratch {
    probes: Vec<Probe>,
}

/// How many states an index of `buckets` may hold before it grows. Beyond five sixths, runs of full buckets
/// become long.
fn capacity(buckets: usize) -> u32 {
    u32::try_from(buckets * SLOTS / 6 * 5).unwrap_or(u32::MAX)
}

/// The size to grow to: by 85 %, or as far as needed. More would hold more than twenty bytes for a state of
/// eight just after growing; less would rebuild more often.
fn grown(buckets: usize, needed: usize) -> usize {
    let enough = needed.div_ceil(5) * 6 / SLOTS + 2;
    enough.max(buckets * 37 / 20)
}

#[cfg(test)]
mod tests;
