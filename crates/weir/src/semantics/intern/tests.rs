//! Rows of values, each stored once.

use std::collections::HashMap;

use weir_testkit::Rng;

use super::*;

#[test]
fn equal_rows_share_a_number() {
    let interner = Interner::new();
    assert_eq!(interner.number(&[]), Some(0));
    let first = interner.number(&[1, 2]);
    assert_eq!(interner.number(&[1, 2]), first);
    assert_ne!(interner.number(&[2, 1]), first);
    assert_eq!(interner.row(first.unwrap_or_default()), [1, 2]);
}

#[test]
fn numbers_stand_for_rows_and_memory_is_reported() {
    let mut rng = Rng::new(5);
    let interner = Interner::new();
    let mut known: HashMap<Vec<Value>, u64> = HashMap::from([(Vec::new(), 0)]);
    for _ in 0..3000 {
        let row: Vec<Value> = (0..rng.below(4)).map(|_| rng.below(6) as Value - 3).collect();
        let number = interner.number(&row).expect("few");
        assert_eq!(*known.entry(row.clone()).or_insert(number), number);
        assert_eq!(interner.row(number), row);
    }
    let mut numbers: Vec<u64> = known.values().copied().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..known.len() as u64), "numbers are given one after the other");
    let content: usize = known.keys().map(|row| 8 * row.len()).sum();
    let (least, most) = ((content + 16 * known.len()) as u64, (content + 40 * known.len()) as u64);
    assert!((least..=most).contains(&interner.bytes()), "{} bytes", interner.bytes());
}

#[test]
fn workers_agree_on_numbers() {
    let interner = Interner::new();
    let number_all = || (0..1000).map(|i| interner.number(&[i % 100, i % 7])).collect::<Vec<_>>();
    let (left, right) = std::thread::scope(|scope| {
        let worker = scope.spawn(number_all);
        (number_all(), worker.join())
    });
    assert_eq!(Some(left), right.ok());
}

/// Where `add` makes nothing, nothing is found later either.
#[test]
fn an_index_holds_what_was_added() {
    let index = Index::new();
    let find = |hash: u64, wanted: u32, made: Option<u32>| {
        index.find_or_add(hash, |number| number == wanted, |number| u64::from(number) << 32, || made)
    };
    assert_eq!(find(7 << 32, 7, None), None);
    assert_eq!(find(7 << 32, 7, Some(7)), Some(7));
    assert_eq!(find(7 << 32, 7, None), Some(7));
    // As many of one shard as make its table grow.
    for number in 0..500u32 {
        let wanted = number * 64 + 3;
        assert_eq!(find(u64::from(wanted) << 32, wanted, Some(wanted)), Some(wanted));
    }
    assert!((0..500).all(|number| find(u64::from(number * 64 + 3) << 32, number * 64 + 3, None).is_some()));
}
