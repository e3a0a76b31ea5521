//! Paths from a delayed store to a load that need not be searched, since what they lead to is known already.
//!
//! The ways are words over edges; covered are all parts of some given words. A suffix automaton tells parts from other
//! words, step by step, in a size linear in that of the words.

use std::collections::BTreeMap;

use weir_ir::Value;

/// How much of a way is covered: a state of the automaton, or [`OFF`].
pub(crate) type Mark = Value;

/// No step has been taken.
pub(super) const NOTHING_YET: Mark = 0;

/// The way is not covered, and will not be.
pub(super) const OFF: Mark = -1;

/// What an edge means for the way it is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    Keep,
    /// One more letter.
    Read(u32),
    /// The way is as if the word of this number had been read up to this letter.
    Reset(usize, usize),
}

/// The words that are covered, and what each edge of a thread means for them.
#[derive(Debug)]
pub(crate) struct Covered {
    automaton: Automaton,
    /// For each edge what it means.
    effects: Vec<Effect>,
    /// For each word, the states along it.
    states: Vec<Vec<u32>>,
}

impl Covered {
    /// Covers all parts of these words.
    pub(crate) fn new(words: &[Vec<u32>], effects: Vec<Effect>) -> Self {
        let automaton = Automaton::new(words);
        let states = words.iter().map(|word| automaton.walk(word)).collect();
        Self { automaton, effects, states }
    }

    /// Whether a word is covered.
    pub(crate) fn contains(&self, word: &[u32]) -> bool {
        self.automaton.walk(word).len() == word.len()
    }

    /// How much is covered after one more edge.
    #[inline]
    pub(super) fn after(&self, mark: Mark, edge: u32) -> Mark {
        if mark == OFF {
            return OFF;
        }
        match self.effects[edge as usize] {
            Effect::Keep => mark,
            Effect::Read(letter) => self.automaton.next(mark as u32, letter).map_or(OFF, Mark::from),
            Effect::Reset(word, letter) => Mark::from(self.states[word][letter]),
        }
    }
}

/// The smallest automaton of all parts of some words, built letter by letter (Blumer et al.).
#[derive(Debug)]
struct Automaton {
    next: Vec<BTreeMap<u32, u32>>,
    link: Vec<Option<u32>>,
    length: Vec<usize>,
}

impl Automaton {
    fn new(words: &[Vec<u32>]) -> Self {
        let mut automaton = Self { next: vec![BTreeMap::new()], link: vec![None], length: vec![0] };
        // Between two words stands a letter that occurs nowhere else.
        let mut last = 0;
        for (number, word) in words.iter().enumerate() {
            for &letter in word {
                last = automaton.append(last, letter);
            }
            last = automaton.append(last, u32::MAX - number as u32);
        }
        automaton
    }

    fn next(&self, state: u32, letter: u32) -> Option<u32> {
        self.next[state as usize].get(&letter).copied()
    }

    /// The states after each letter, as far as the word is a part.
    fn walk(&self, word: &[u32]) -> Vec<u32> {
        let mut state = 0;
        let step = |&letter: &u32| {
            state = self.next(state, letter)?;
            Some(state)
        };
        word.iter().map_while(step).collect()
    }

    fn state(&mut self, length: usize, next: BTreeMap<u32, u32>, link: Option<u32>) -> u32 {
        self.next.push(next);
        self.link.push(link);
        self.length.push(length);
        (self.next.len() - 1) as u32
    }

    fn append(&mut self, last: u32, letter: u32) -> u32 {
        let new = self.state(self.length[last as usize] + 1, BTreeMap::new(), Some(0));
        let mut at = Some(last);
        while let Some(state) = at
            && self.next(state, letter).is_none()
        {
            self.next[state as usize].insert(letter, new);
            at = self.link[state as usize];
        }
        let Some(state) = at else { return new };
        let Some(target) = self.next(state, letter) else { return new };
        if self.length[target as usize] == self.length[state as usize] + 1 {
            self.link[new as usize] = Some(target);
            return new;
        }
        let (next, link) = (self.next[target as usize].clone(), self.link[target as usize]);
        let copy = self.state(self.length[state as usize] + 1, next, link);
        while let Some(state) = at
            && self.next(state, letter) == Some(target)
        {
            self.next[state as usize].insert(letter, copy);
            at = self.link[state as usize];
        }
        self.link[target as usize] = Some(copy);
        self.link[new as usize] = Some(copy);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_parts_are_covered() {
        let words = [vec![1, 2, 1, 2, 3], vec![2, 2, 1]];
        let covered = Covered::new(&words, Vec::new());
        let is_part = |word: &[u32]| words.iter().any(|whole| whole.windows(word.len()).any(|part| part == word));
        for length in 1..=5u32 {
            for number in 0..3u32.pow(length) {
                let word: Vec<u32> = (0..length).map(|at| 1 + number / 3u32.pow(at) % 3).collect();
                assert_eq!(covered.contains(&word), is_part(&word), "{word:?}");
            }
        }
    }

    #[test]
    fn a_way_that_is_off_stays_off() {
        let effects = vec![Effect::Read(1), Effect::Read(7), Effect::Keep, Effect::Reset(0, 1)];
        let covered = Covered::new(&[vec![1, 2, 3]], effects);
        let first = covered.after(NOTHING_YET, 0);
        assert_ne!(first, OFF);
        assert_eq!((covered.after(first, 1), covered.after(first, 2)), (OFF, first));
        assert_eq!(covered.after(OFF, 3), OFF);
        assert_ne!(covered.after(NOTHING_YET, 3), OFF);
    }

    /// After a reset to a letter of a word, what is covered is what is covered after the word up to that letter.
    #[test]
    fn a_reset_stands_for_the_beginning_of_a_word() {
        let words = [vec![1, 2, 1, 3], vec![2, 2, 3]];
        let resets: Vec<(usize, usize)> =
            (0..2).flat_map(|word| (0..words[word].len()).map(move |at| (word, at))).collect();
        let mut effects: Vec<Effect> = (0..4).map(Effect::Read).collect();
        effects.extend(resets.iter().map(|&(word, at)| Effect::Reset(word, at)));
        let covered = Covered::new(&words, effects);
        let after =
            |start: Mark, letters: &[u32]| letters.iter().fold(start, |mark, &letter| covered.after(mark, letter));
        for (number, &(word, at)) in resets.iter().enumerate() {
            let reset = covered.after(NOTHING_YET, 4 + number as u32);
            let begun = after(NOTHING_YET, &words[word][..=at]);
            for letters in [[1, 2], [2, 1], [2, 3], [1, 3], [2, 2], [3, 3]] {
                assert_eq!(after(reset, &letters) == OFF, after(begun, &letters) == OFF, "{word}, {at}, {letters:?}");
            }
        }
    }

    /// At most two states for each letter, one of which separates the words: and a state for each word that can be
    /// distinguished.
    #[test]
    fn the_automaton_is_linear_and_smallest() {
        for seed in 0..50 {
            let mut rng = weir_testkit::Rng::new(seed);
            let word = |rng: &mut weir_testkit::Rng| (0..rng.between(1, 6)).map(|_| rng.below(2) as u32).collect();
            let words: Vec<Vec<u32>> = (0..2).map(|_| word(&mut rng)).collect();
            let automaton = Automaton::new(&words);
            let whole: Vec<u32> =
                (0..).zip(&words).flat_map(|(number, word)| word.iter().copied().chain([u32::MAX - number])).collect();
            // Parts that end at the same places are in the same state.
            let ends = |from: usize, to: usize| -> Vec<usize> {
                let part = &whole[from..to];
                (part.len()..=whole.len()).filter(|&end| &whole[end - part.len()..end] == part).collect()
            };
            let parts = (0..=whole.len()).flat_map(|to| (0..=to).map(move |from| (from, to)));
            let classes: std::collections::BTreeSet<Vec<usize>> = parts.map(|(from, to)| ends(from, to)).collect();
            assert_eq!(automaton.next.len(), classes.len(), "{words:?}");
            assert!(automaton.next.len() < 2 * whole.len(), "{words:?}");
        }
    }
}
