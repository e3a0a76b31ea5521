//! Sets of tuples of small numbers.
//!
//! A tuple is packed into 64-bit words. If it takes more than one, each word is numbered, and the tuple of these numbers
//! is packed in turn, until one word is left: tree compression (A. Laarman, J. van de Pol, M. Weber, *Parallel Recursive
//! State Compression for Free*, 2011).
//!
//! The last words are sorted. Where tuples are looked up in an order that resembles that of the set, each is found near
//! the one before it, in memory that is in the cache; hashing would spread them over all of it.

use rustc_hash::FxHashMap;

/// Collects tuples of the same length.
pub(super) struct TuplesBuilder {
    levels: Vec<Vec<Word>>,
    last: Fields,
    keys: Vec<u64>,
}

/// A set of tuples of the same length.
pub(super) struct Tuples {
    levels: Vec<Vec<Word>>,
    last: Fields,
    keys: Vec<u64>,
}

/// Where a tuple was last found, or would have been.
#[derive(Clone, Copy, Default)]
pub(super) struct Finger(usize);

/// Some of the numbers of a tuple, and where each is in a word.
type Fields = Vec<(usize, u32)>;

/// A word of a tuple that takes several.
struct Word {
    fields: Fields,
    numbers: FxHashMap<u64, u32>,
}

/// How many bits the number of a word takes.
const NUMBER: u32 = u32::BITS;

impl TuplesBuilder {
    /// No tuples yet; each number of a tuple is at most the one given for it, and there will be about `count`.
    pub(super) fn new(most: &[u32], count: usize) -> Self {
        let mut widths: Vec<u32> = most.iter().map(|most| (u32::BITS - most.leading_zeros()).max(1)).collect();
        let mut levels = Vec::new();
        let last = loop {
            let mut words = packed(&widths);
            if words.len() <= 1 {
                break words.pop().unwrap_or_default();
            }
            widths = vec![NUMBER; words.len()];
            levels.push(words.into_iter().map(|fields| Word { fields, numbers: FxHashMap::default() }).collect());
        };
        Self { levels, last, keys: Vec::with_capacity(count) }
    }

    /// Adds a tuple. `None` if it cannot be kept: there are too many.
    pub(super) fn insert(&mut self, tuple: &[u32]) -> Option<()> {
        let mut above: Vec<u32>;
        let mut numbers = tuple;
        for words in &mut self.levels {
            let number = |word: &mut Word| {
                let next = u32::try_from(word.numbers.len()).ok()?;
                Some(*word.numbers.entry(key(&word.fields, numbers)).or_insert(next))
            };
            above = words.iter_mut().map(number).collect::<Option<_>>()?;
            numbers = &above;
        }
        self.keys.push(key(&self.last, numbers));
        Some(())
    }

    /// The set.
    pub(super) fn finish(mut self) -> Tuples {
        self.keys.sort_unstable();
        Tuples { levels: self.levels, last: self.last, keys: self.keys }
    }
}

impl Tuples {
    /// Whether the tuple is one of them. It is looked for near the finger first.
    pub(super) fn contains(&self, tuple: &[u32], finger: &mut Finger) -> bool {
        let mut above: Vec<u32>;
        let mut numbers = tuple;
        for words in &self.levels {
            let number = |word: &Word| word.numbers.get(&key(&word.fields, numbers)).copied();
            let Some(found) = words.iter().map(number).collect::<Option<Vec<u32>>>() else { return false };
            above = found;
            numbers = &above;
        }
        finger.0 = place(&self.keys, key(&self.last, numbers), finger.0);
        self.keys.get(finger.0) == Some(&key(&self.last, numbers))
    }
}

/// The place of the first key that is not less than the wanted one, or the end: in steps of doubling length from a
/// guess, then by binary search.
fn place(keys: &[u64], wanted: u64, guess: usize) -> usize {
    let is_less = |place: usize| keys[place] < wanted;
    let (mut low, mut high, mut step) = (guess.min(keys.len()), guess.min(keys.len()), 1);
    // Everything below `low` is less than what is wanted; nothing from `high` on is.
    while high < keys.len() && is_less(high) {
        low = high + 1;
        high = (high + step).min(keys.len());
        step *= 2;
    }
    while low > 0 && !is_less(low - 1) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    low + keys[low..high.max(low)].partition_point(|&key| key < wanted)
}

/// Divides numbers of these widths among as few words as their order permits. Earlier numbers are in higher bits, so that
/// words are in the order of their tuples.
fn packed(widths: &[u32]) -> Vec<Fields> {
    let mut words: Vec<Fields> = Vec::new();
    let mut used = 0;
    for (number, &width) in widths.iter().enumerate() {
        if words.is_empty() || used + width > u64::BITS {
            used = 0;
            words.push(Vec::new());
        }
        used += width;
        if let Some(word) = words.last_mut() {
            word.iter_mut().for_each(|(_, shift)| *shift += width);
            word.push((number, 0));
        }
    }
    words
}

fn key(fields: &[(usize, u32)], numbers: &[u32]) -> u64 {
    fields.iter().map(|&(number, shift)| u64::from(numbers[number]) << shift).fold(0, |key, field| key | field)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weir_testkit::Rng;

    use super::*;

    #[test]
    fn a_set_of_tuples_has_what_was_put_in_and_nothing_else() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let length = rng.below(12);
            // From numbers that are always 0 to those that fill a word together with another.
            let most: Vec<u32> = (0..length).map(|_| [0, 1, 2, 255, 1 << 20, u32::MAX][rng.below(6)]).collect();
            let small = |rng: &mut Rng, most: u32| (rng.below(4) as u32).min(most);
            let tuple = |rng: &mut Rng| -> Vec<u32> {
                let number = |&most: &u32| {
                    let number = small(rng, most);
                    if rng.below(3) == 0 { most - number } else { number }
                };
                most.iter().map(number).collect()
            };
            let mut builder = TuplesBuilder::new(&most, 10);
            let mut expected = BTreeSet::new();
            for _ in 0..rng.below(60) {
                let next = tuple(&mut rng);
                builder.insert(&next).expect("there is room");
                expected.insert(next);
            }
            let (set, mut finger) = (builder.finish(), Finger::default());
            for _ in 0..50 {
                let next = tuple(&mut rng);
                assert_eq!(set.contains(&next, &mut finger), expected.contains(&next), "seed {seed}");
            }
            assert!(expected.iter().all(|tuple| set.contains(tuple, &mut finger)), "seed {seed}");
        }
    }

    #[test]
    fn a_key_is_found_from_any_guess() {
        for length in 0..12 {
            let keys: Vec<u64> = (0..length).map(|key| 2 * key + 1).collect();
            for (wanted, guess) in (0..2 * length + 3).flat_map(|wanted| (0..20).map(move |guess| (wanted, guess))) {
                let expected = keys.iter().filter(|&&key| key < wanted).count();
                assert_eq!(place(&keys, wanted, guess), expected, "{wanted} among {length} from {guess}");
            }
        }
    }

    #[test]
    fn numbers_of_one_word_do_not_overlap() {
        for widths in [vec![32, 32], vec![32, 33, 0, 31], vec![64, 1], vec![1; 130], vec![0; 5], vec![]] {
            let words = packed(&widths);
            let mut seen = Vec::new();
            for fields in &words {
                let mut used = 0;
                for &(number, shift) in fields.iter().rev() {
                    assert_eq!(shift, used, "{widths:?}");
                    used += widths[number];
                }
                seen.extend(fields.iter().map(|&(number, _)| number));
                assert!(used <= 64, "{widths:?}");
            }
            assert_eq!(seen, (0..widths.len()).collect::<Vec<_>>());
        }
    }
}
