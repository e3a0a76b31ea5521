//! Sets of rows of words, exact, with a cheap hash: traces are looked up by the million.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of rows.
pub(super) type Seen = HashSet<Vec<u64>, BuildHasherDefault<Mix>>;

/// Multiplies and rotates, word by word.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_ne_bytes(*word)));
        rest.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
