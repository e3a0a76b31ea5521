//! Sets of registers of one body, one bit each.

use crate::ids::RegId;

/// A set of registers. Most bodies have few: sets of the first 64 need no memory of their own.
#[derive(Clone, Default, Debug)]
pub struct RegisterSet {
    first: u64,
    rest: Vec<u64>,
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

    /// The word at a position, if there is room for it.
    fn word_mut(&mut self, at: usize) -> Option<&mut u64> {
        match at.checked_sub(1) {
            None => Some(&mut self.first),
            Some(at) => self.rest.get_mut(at),
        }
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// Whether the register is in the set.
    pub fn contains(&self, register: RegId) -> bool {
        let (at, bit) = place(register);
        let word = if at == 0 { self.first } else { self.rest.get(at - 1).copied().unwrap_or(0) };
        word & bit != 0
    }

    /// Adds a register; whether it was not there yet.
    pub fn insert(&mut self, register: RegId) -> bool {
        let (at, bit) = place(register);
        if at > self.rest.len() {
            self.rest.resize(at, 0);
        }
        let word = if at == 0 { &mut self.first } else { &mut self.rest[at - 1] };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes a register out; whether it was there.
    pub fn remove(&mut self, register: RegId) -> bool {
        let (at, bit) = place(register);
        let Some(word) = self.word_mut(at) else { return false };
        let was_there = *word & bit != 0;
        *word &= !bit;
        was_there
    }

    /// Adds all of `other`; whether that changed anything.
    pub fn union_with(&mut self, other: &Self) -> bool {
        if self.rest.len() < other.rest.len() {
            self.rest.resize(other.rest.len(), 0);
        }
        let mut changed = other.first & !self.first != 0;
        self.first |= other.first;
        for (mine, theirs) in self.rest.iter_mut().zip(&other.rest) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.words().all(|word| word == 0)
    }

    /// How many registers it holds.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// The registers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = RegId> + '_ {
        let bits = |word: u64| {
            std::iter::successors(Some(word), |rest| Some(rest & (rest - 1))).take(word.count_ones() as usize)
        };
        let words = self.words().enumerate();
        words.flat_map(move |(at, word)| {
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
        let common = self.rest.len().min(other.rest.len());
        let rest = self.rest[common..].iter().chain(&other.rest[common..]);
        let are_same = self.first == other.first && self.rest[..common] == other.rest[..common];
        are_same && rest.into_iter().all(|&word| word == 0)
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
