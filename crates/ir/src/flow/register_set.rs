//! Sets of registers of one body, one bit each.

use crate::ids::RegId;

/// A set of registers.
#[derive(Clone, Default, Debug)]
pub struct RegisterSet {
    words: Vec<u64>,
}

impl RegisterSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first `count` registers of a body.
    pub fn first(count: usize) -> Self {
        (0..count).map(RegId::new).collect()
    }

    /// Whether the register is in the set.
    pub fn contains(&self, register: RegId) -> bool {
        let (word, bit) = place(register);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds a register; whether it was not there yet.
    pub fn insert(&mut self, register: RegId) -> bool {
        let (word, bit) = place(register);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Takes a register out; whether it was there.
    pub fn remove(&mut self, register: RegId) -> bool {
        let (word, bit) = place(register);
        let Some(word) = self.words.get_mut(word) else { return false };
        let was_there = *word & bit != 0;
        *word &= !bit;
        was_there
    }

    /// Adds all of `other`; whether that changed anything.
    pub fn union_with(&mut self, other: &Self) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many registers it holds.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The registers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = RegId> + '_ {
        let bits = |word: u64| {
            std::iter::successors(Some(word), |rest| Some(rest & (rest - 1))).take(word.count_ones() as usize)
        };
        let words = self.words.iter().enumerate();
        words.flat_map(move |(at, &word)| {
            bits(word).map(move |rest| RegId::new(at * 64 + rest.trailing_zeros() as usize))
        })
    }
}

/// The word and the bit of a register.
fn place(register: RegId) -> (usize, u64) {
    (register.index() / 64, 1 << (register.index() % 64))
}

/// Sets are equal if they hold the same registers, however much room they take.
impl PartialEq for RegisterSet {
    fn eq(&self, other: &Self) -> bool {
        let common = self.words.len().min(other.words.len());
        let rest = self.words[common..].iter().chain(&other.words[common..]);
        self.words[..common] == other.words[..common] && rest.into_iter().all(|&word| word == 0)
    }
}

impl Eq for RegisterSet {}

impl FromIterator<RegId> for RegisterSet {
    fn from_iter<I: IntoIterator<Item = RegId>>(registers: I) -> Self {
        let mut set = Self::new();
        for register in registers {
            set.insert(register);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(registers: &[u32]) -> RegisterSet {
        registers.iter().copied().map(RegId).collect()
    }

    #[test]
    fn it_behaves_like_a_set() {
        let mut some = set(&[0, 63, 64, 200]);
        assert_eq!(some.iter().map(|register| register.0).collect::<Vec<_>>(), [0, 63, 64, 200]);
        assert_eq!(some.len(), 4);
        assert!(some.contains(RegId(64)) && !some.contains(RegId(65)) && !some.contains(RegId(9999)));
        assert!(some.remove(RegId(200)) && !some.remove(RegId(200)) && !some.remove(RegId(9999)));
        assert!(!some.insert(RegId(0)) && some.insert(RegId(1)));
        assert!(!set(&[1]).is_empty() && RegisterSet::new().is_empty());
        assert_eq!(RegisterSet::first(3), set(&[2, 1, 0]));
    }

    #[test]
    fn equality_ignores_room() {
        let mut some = set(&[3, 200]);
        some.remove(RegId(200));
        assert_eq!(some, set(&[3]));
        assert_eq!(set(&[3]), some);
        assert_ne!(set(&[3, 200]), set(&[3]));
    }

    #[test]
    fn union_says_whether_it_changed() {
        let mut some = set(&[1]);
        assert!(some.union_with(&set(&[100])));
        assert!(!some.union_with(&set(&[1, 100])));
        assert!(!some.union_with(&RegisterSet::new()));
        assert_eq!(some, set(&[1, 100]));
    }
}
