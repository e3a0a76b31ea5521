//! The size of states: the one place that picks it.
//!
//! States are arrays of words whose length is known at compile time, so that the hot paths of a search neither allocate
//! nor branch on it. The layout of a program says how many words it needs; the smallest size that is large enough is
//! used.

/// The largest state, in words.
pub(crate) const MOST_WORDS: usize = 256;

/// Evaluates an expression with a constant that is the smallest size of states with room for so many words:
/// `with_state_size!(words, N => search(&System::<Tso, N>::new(machine)))`.
///
/// `from 16` leaves out smaller states. It is for analyses in which the size of a state hardly matters: each size is
/// compiled by itself, and that takes long.
macro_rules! with_state_size {
    ($words:expr, $n:ident => $with:expr) => {
        match $words {
            ..=1 => {
                const $n: usize = 1;
                $with
            }
            2 => {
                const $n: usize = 2;
                $with
            }
            words => $crate::semantics::size::with_state_size!(words, from 16, $n => $with),
        }
    };
    ($words:expr, from 16, $n:ident => $with:expr) => {
        if $words <= 16 {
            const $n: usize = 16;
            $with
        } else {
            const $n: usize = $crate::semantics::size::MOST_WORDS;
            $with
        }
    };
}

pub(crate) use with_state_size;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_size_with_room_is_used() {
        let size = |words: usize| with_state_size!(words, N => N);
        let from_sixteen = |words: usize| with_state_size!(words, from 16, N => N);
        for words in 0..=MOST_WORDS {
            let expected = [1, 2, 16, MOST_WORDS].into_iter().find(|&size| size >= words);
            assert_eq!(Some(size(words)), expected);
            assert_eq!(from_sixteen(words), size(words).max(16));
        }
    }
}
