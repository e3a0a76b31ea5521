//! A state as a row of words, and fields of bits within it.

use weir_ir::{Range, Value};

/// What a store of states needs of them.
pub(crate) trait FlatState: Copy + Eq + Send + Sync {
    fn words(&self) -> &[u64];
    fn from_words(words: &[u64]) -> Self;
}

/// A state of at most `N` words. Words beyond those in use are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Packed<const N: usize>(pub(crate) [u64; N]);

impl<const N: usize> FlatState for Packed<N> {
    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline]
    fn from_words(words: &[u64]) -> Self {
        let mut state = Self([0; N]);
        state.0[..words.len()].copy_from_slice(words);
        state
    }
}

impl<const N: usize> Packed<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    #[inline]
    pub(crate) fn raw(&self, field: Field) -> u64 {
        (self.0[field.word as usize] >> field.shift) & field.mask
    }

    #[inline]
    pub(crate) fn set_raw(&mut self, field: Field, raw: u64) {
        let word = &mut self.0[field.word as usize];
        *word = (*word & !(field.mask << field.shift)) | (raw << field.shift);
    }

    #[inline]
    pub(crate) fn get(&self, field: Field) -> Value {
        field.low.wrapping_add(self.raw(field) as Value)
    }

    /// Stores a value; `false`, and no change, if the field cannot hold it.
    #[inline]
    #[must_use]
    pub(crate) fn set(&mut self, field: Field, value: Value) -> bool {
        let raw = value.wrapping_sub(field.low) as u64;
        let fits = raw <= field.mask;
        if fits {
            self.set_raw(field, raw);
        }
        fits
    }
}

/// Some bits of one word that hold the values from `low` upwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub(crate) word: u16,
    pub(crate) shift: u8,
    pub(crate) mask: u64,
    pub(crate) low: Value,
}

impl Field {
    /// The same bits, read as values from `low` upwards.
    pub(crate) fn based_at(self, low: Value) -> Self {
        Self { low, ..self }
    }

    /// The field's bits within its word.
    pub(crate) fn bits(self) -> u64 {
        self.mask << self.shift
    }
}

/// How many bits tell the values of a range apart.
pub(crate) fn width(range: Range) -> u32 {
    64 - range.extent().leading_zeros()
}

/// A change of some words: first clear, then set bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch(Vec<WordPatch>);

#[derive(Clone, Copy, Debug)]
struct WordPatch {
    word: u16,
    keep: u64,
    set: u64,
}

impl Patch {
    /// Clears the field.
    pub(crate) fn clear(&mut self, field: Field) {
        self.put(field, 0);
    }

    /// Gives the field these bits.
    pub(crate) fn put(&mut self, field: Field, raw: u64) {
        let known = self.0.iter().position(|patch| patch.word == field.word);
        let at = known.unwrap_or_else(|| {
            self.0.push(WordPatch { word: field.word, keep: u64::MAX, set: 0 });
            self.0.len() - 1
        });
        let patch = &mut self.0[at];
        patch.keep &= !field.bits();
        patch.set = (patch.set & !field.bits()) | (raw << field.shift);
    }

    #[inline]
    pub(crate) fn apply<const N: usize>(&self, state: &Packed<N>) -> Packed<N> {
        let mut next = *state;
        for patch in &self.0 {
            let word = &mut next.0[patch.word as usize];
            *word = (*word & patch.keep) | patch.set;
        }
        next
    }
}

/// Fields that are all zero, tested at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZeroTest(Vec<(u16, u64)>);

impl ZeroTest {
    pub(crate) fn new(fields: impl IntoIterator<Item = Field>) -> Self {
        let mut masks: Vec<(u16, u64)> = Vec::new();
        for field in fields {
            match masks.iter_mut().find(|(word, _)| *word == field.word) {
                Some((_, mask)) => *mask |= field.bits(),
                None => masks.push((field.word, field.bits())),
            }
        }
        Self(masks)
    }

    #[inline]
    pub(crate) fn holds<const N: usize>(&self, state: &Packed<N>) -> bool {
        self.0.iter().all(|&(word, mask)| state.0[word as usize] & mask == 0)
    }
}

#[cfg(test)]
mod tests;
