//! Buffers are first in, first out, and equal ones have equal numbers.

use std::collections::{HashMap, VecDeque};

use weir_testkit::Rng;

use super::*;

fn filled(buffers: &Buffers, entries: &[Entry]) -> u64 {
    entries.iter().fold(0, |number, &entry| buffers.push(number, entry).unwrap_or(0))
}

#[test]
fn buffers_are_first_in_first_out() {
    let buffers = Buffers::new();
    let mut number = filled(&buffers, &[(1, 10), (2, 20), (1, 11)]);
    assert_eq!(buffers.newest(number, 1), Some(11));
    assert_eq!(buffers.newest(number, 2), Some(20));
    assert_eq!(buffers.newest(number, 3), None);
    for oldest in [(1, 10), (2, 20), (1, 11)] {
        assert_eq!(buffers.oldest(number), Some(oldest));
        number = buffers.flush(number).unwrap_or(u64::MAX);
    }
    assert_eq!((number, buffers.oldest(0)), (0, None));
}

#[test]
fn equal_buffers_have_equal_numbers_however_they_came_about() {
    let buffers = Buffers::new();
    let long = filled(&buffers, &[(1, 1), (2, 2), (3, 3)]);
    let short = filled(&buffers, &[(2, 2), (3, 3)]);
    assert_eq!(buffers.flush(long), Some(short));
    assert_eq!(buffers.flush(long), Some(short));
    assert_ne!(filled(&buffers, &[(3, 3), (2, 2)]), short);
    assert_eq!(buffers.entries(long).collect::<Vec<_>>(), [(3, 3), (2, 2), (1, 1)]);
}

#[test]
fn a_long_buffer_takes_memory_in_proportion() {
    let buffers = Buffers::new();
    let number = (0..10_000).fold(0, |number, i| buffers.push(number, (1, i)).unwrap_or(0));
    assert_eq!(buffers.bytes(), 10_000 * NODE_BYTES);
    assert!((16 + 16..100).contains(&NODE_BYTES), "a node holds two stores");
    assert_eq!(buffers.flush(number).and_then(|number| buffers.oldest(number)), Some((1, 1)));
}

/// The same with queues.
#[test]
fn buffers_are_like_queues() {
    let mut rng = Rng::new(3);
    let buffers = Buffers::new();
    let mut known: HashMap<Vec<Entry>, u64> = HashMap::from([(Vec::new(), 0)]);
    for _ in 0..300 {
        let (mut number, mut queue) = (0, VecDeque::new());
        for _ in 0..rng.between(1, 14) {
            if rng.chance(60) {
                let entry = (rng.below(3) as Address - 1, rng.below(2) as Value);
                queue.push_back(entry);
                number = buffers.push(number, entry).expect("few");
            } else {
                queue.pop_front();
                number = buffers.flush(number).expect("few");
            }
            assert_eq!(buffers.oldest(number), queue.front().copied());
            assert!(buffers.entries(number).eq(queue.iter().rev().copied()));
            for address in -2..3 {
                let newest = queue.iter().rev().find(|entry| entry.0 == address).map(|entry| entry.1);
                assert_eq!(buffers.newest(number, address), newest);
            }
            let content: Vec<Entry> = queue.iter().copied().collect();
            assert_eq!(*known.entry(content).or_insert(number), number);
        }
    }
    let mut numbers: Vec<u64> = known.values().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), known.len(), "different buffers have different numbers");
}

#[test]
fn workers_agree_on_numbers() {
    let buffers = Buffers::new();
    let work = || {
        let long = (0..500).fold(0, |number, i| buffers.push(number, (i % 3, i)).unwrap_or(0));
        (0..400)
            .scan(long, |number, _| {
                *number = buffers.flush(*number)?;
                Some(*number)
            })
            .collect::<Vec<_>>()
    };
    let (left, right) = std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        (work(), worker.join())
    });
    assert_eq!(Some(&left), right.ok().as_ref());
    let last = left.last().copied().unwrap_or(0);
    let content: Vec<Entry> = buffers.entries(last).collect();
    assert_eq!(content, (400..500).rev().map(|i| (i % 3, i)).collect::<Vec<_>>());
}
