//! The set is exact, whatever its size, the size of its states and the order of what comes.

use std::collections::HashMap;

use weir_testkit::Rng;

use super::*;
use crate::semantics::state::Packed;

#[test]
fn holds_what_was_put_in_and_nothing_twice() {
    let mut store = Store::new(2);
    let mut scratch = Scratch::default();
    let state = |i: u64| Packed([i % 5000, (i % 5000) << 40]);
    let states: Vec<Packed<2>> = (0..20_000).map(state).collect();
    let mut new = 0;
    for batch in states.chunks(777) {
        assert_eq!(store.reserve(batch.len()), Ok(()));
        store.insert_batch(batch, &mut scratch, |_| {
            new += 1;
            true
        });
    }
    assert_eq!((new, store.len()), (5000, 5000));
    assert!((0..5000).all(|i| store.state::<Packed<2>>(i) == state(u64::from(i))));
    assert!(!store.insert(&state(17)));
    assert!(store.insert(&Packed([17, 17])));
}

/// A state of `N` words, of which `stride` are in use, from a small set that has many near equals.
fn drawn<const N: usize>(rng: &mut Rng, stride: usize, spread: usize) -> Packed<N> {
    let mut state = Packed([0; N]);
    let word = rng.below(stride);
    state.0[word] = rng.below(spread) as u64;
    state.0[stride - 1] |= (rng.below(spread) as u64) << 50;
    state
}

/// Does the same with a map, which knows each state's number.
fn like_a_map<const N: usize>(stride: usize, spread: usize, rounds: usize) {
    let mut rng = Rng::new((stride * spread) as u64);
    let mut store = Store::new(stride);
    let mut scratch = Scratch::default();
    let mut known: HashMap<Packed<N>, u32> = HashMap::new();
    for _ in 0..rounds {
        let count = *rng.pick(&[1, 2, 60, 128, 300]);
        let batch: Vec<Packed<N>> = (0..count).map(|_| drawn(&mut rng, stride, spread)).collect();
        assert_eq!(store.reserve(batch.len()), Ok(()));
        if rng.chance(30) {
            for state in &batch {
                let number = known.len() as u32;
                assert_eq!(store.contains(state), known.contains_key(state));
                let is_new = store.insert(state);
                assert_eq!(is_new, !known.contains_key(state));
                known.entry(*state).or_insert(number);
            }
        } else {
            // Some are refused, and may come again.
            let wanted = |state: &Packed<N>| state.0[0] % 7 != 3;
            store.insert_batch(&batch, &mut scratch, |state| {
                assert!(!known.contains_key(state), "asked about a state that is there");
                if wanted(state) {
                    known.insert(*state, known.len() as u32);
                }
                wanted(state)
            });
        }
        assert_eq!(store.len() as usize, known.len());
    }
    for (state, &number) in &known {
        assert!(store.contains(state) && store.state::<Packed<N>>(number) == *state);
    }
    assert!((0..2000).all(|_| {
        let state = drawn::<N>(&mut rng, stride, 2 * spread);
        store.contains(&state) == known.contains_key(&state)
    }));
}

#[test]
fn is_like_a_map_for_states_of_every_size() {
    like_a_map::<1>(1, 300, 150);
    like_a_map::<2>(2, 60, 150);
    like_a_map::<8>(3, 40, 100);
    like_a_map::<8>(8, 30, 100);
    like_a_map::<256>(200, 10, 30);
}

/// More states than a chunk holds, and than the first index.
#[test]
fn states_stay_where_they_are_when_chunks_and_index_grow() {
    let stride = 64;
    let per_chunk = Store::CHUNK_WORDS / stride;
    let count = 2 * per_chunk as u64 + 10;
    let state = |i: u64| {
        let mut state = Packed([0; 64]);
        (state.0[0], state.0[63]) = (i, !i);
        state
    };
    let mut store = Store::new(stride);
    for i in 0..count {
        assert_eq!(store.reserve(1), Ok(()));
        assert!(store.insert(&state(i)));
    }
    assert_eq!(u64::from(store.len()), count);
    assert!((0..count).all(|i| store.state::<Packed<64>>(i as u32) == state(i) && !store.insert(&state(i))));
    let held = (count as usize * stride * size_of::<u64>()) as u64;
    assert!(store.bytes() >= held && store.bytes() < 2 * held, "{} bytes for {held}", store.bytes());
}

/// The word whose hash is that.
#[test]
fn full_buckets_overflow_into_the_next_and_round_the_end() {
    for buckets in 1..5 {
        let mut store = Store::new(1);
        store.set_buckets(buckets);
        // As many as there are slots but one: a search for one more must end.
        let count = (buckets * SLOTS - 1) as u64;
        for word in 0..count {
            assert!(!store.contains(&Packed([word])));
            assert!(store.insert(&Packed([word])));
            assert!(!store.insert(&Packed([word])));
        }
        assert!((0..count).all(|word| store.contains(&Packed([word]))));
        assert!(!store.contains(&Packed([count])));
    }
}

#[test]
fn states_in_one_bucket_are_kept_apart() {
    // All in one bucket: only full comparison tells them apart.
    let mut store = Store::new(1);
    store.set_buckets(1);
    for word in 0..10 {
        assert!(store.insert(&Packed([word])));
        assert!(!store.insert(&Packed([word])));
    }
    assert_eq!(store.len(), 10);
}

#[test]
fn refused_states_are_left_out() {
    let mut store = Store::new(1);
    let batch = [1, 1, 2, 3, 4].map(|word| Packed([word]));
    store.insert_batch(&batch, &mut Scratch::default(), |state| state.0[0] != 2);
    assert_eq!(store.len(), 3);
    assert!(!store.contains(&Packed([2])));
}

#[test]
fn growth_is_told_before_it_happens() {
    let mut store = Store::new(1);
    let mut grown = 0;
    for word in 0..20_000 {
        let (before, growth) = (store.index.words().len() as u64 * 8, store.growth(1));
        assert_eq!(store.reserve(1), Ok(()));
        let after = store.index.words().len() as u64 * 8;
        assert_eq!(after - before, growth, "at {word}");
        grown += u64::from(growth > 0);
        store.insert(&Packed([word]));
        assert!(store.len() <= store.grow_at);
    }
    assert!((3..20).contains(&grown), "grown {grown} times");
    assert_eq!(store.reserve(u32::MAX as usize), Err(Full));
}

#[test]
fn the_size_to_grow_to_is_enough() {
    for buckets in [1, 2, 7, 64, 1000] {
        assert!(capacity(buckets) as usize <= buckets * SLOTS - 2, "{buckets}");
        for needed in [1, 5, 12, 100, 640, 10_000, 1_000_000] {
            let grown = grown(buckets, needed);
            assert!(capacity(grown) as usize >= needed, "{buckets} to {grown} for {needed}");
            assert!(grown >= buckets * 18 / 10);
        }
    }
}

#[test]
fn a_byte_that_matches_is_found_wherever_it_is() {
    let mut rng = Rng::new(1);
    for _ in 0..2000 {
        let byte = 1 + rng.below(255) as u8;
        let bytes: [u8; 8] = std::array::from_fn(|_| if rng.chance(30) { byte } else { rng.below(256) as u8 });
        let found = matching_bytes(u64::from_le_bytes(bytes), byte);
        let first = (0..8).find(|&at| bytes[at] == byte);
        for at in 0..8 {
            let is_named = found >> at & 1 == 1;
            assert!(bytes[at] != byte || is_named, "{bytes:?} {byte} {found:b}");
            // Below the first match, nothing is named wrongly.
            assert!(!is_named || first.is_some_and(|first| first <= at), "{bytes:?} {byte} {found:b}");
        }
    }
}

#[test]
fn every_bit_of_a_state_matters_to_its_hash() {
    for words in 1..4 {
        let row = vec![5u64; words];
        let mut buckets = std::collections::HashSet::new();
        for bit in 0..64 * words {
            let mut other = row.clone();
            other[bit / 64] ^= 1 << (bit % 64);
            let changed = hash(&other) ^ hash(&row);
            assert!((10..55).contains(&changed.count_ones()), "bit {bit} of {words} words: {changed:x}");
            buckets.insert(hash(&other) >> 48);
        }
        assert!(buckets.len() > 60 * words);
    }
    assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
}
