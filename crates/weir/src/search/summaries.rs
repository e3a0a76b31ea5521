//! Summaries: sets as rows of words, each stored once and known by a number, with their unions remembered.

use rustc_hash::FxHashMap;

/// Rows, by number. Number 0 is the empty set.
pub(super) struct Summaries {
    rows: Vec<Box<[u64]>>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    words: usize,
}

impl Summaries {
    /// Of rows with so many words.
    pub(super) fn new(words: usize) -> Self {
        let mut summaries =
            Self { rows: Vec::new(), numbers: FxHashMap::default(), unions: FxHashMap::default(), words };
        summaries.number(&vec![0; words]);
        summaries
    }

    pub(super) fn row(&self, number: u32) -> &[u64] {
        &self.rows[number as usize]
    }

    pub(super) fn number(&mut self, row: &[u64]) -> u32 {
        if let Some(&number) = self.numbers.get(row) {
            return number;
        }
        let number = self.rows.len() as u32;
        self.rows.push(row.into());
        self.numbers.insert(row.into(), number);
        number
    }

    pub(super) fn union(&mut self, left: u32, right: u32) -> u32 {
        let pair = (left.min(right), left.max(right));
        if pair.0 == 0 || pair.0 == pair.1 {
            return pair.1;
        }
        if let Some(&known) = self.unions.get(&pair) {
            return known;
        }
        let union: Vec<u64> = self.row(left).iter().zip(self.row(right)).map(|(left, right)| left | right).collect();
        let number = self.number(&union);
        self.unions.insert(pair, number);
        number
    }

    /// Bytes held, to within what the allocator adds.
    pub(super) fn bytes(&self) -> u64 {
        const PAIR: usize = 2 * size_of::<(u32, u32, u32)>();
        (self.rows.len() * (2 * self.words * size_of::<u64>() + 48) + self.unions.len() * PAIR) as u64
    }
}
