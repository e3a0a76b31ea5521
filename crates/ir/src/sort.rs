//! Sorting with little code.
//!
//! The sorts of the standard library are fast, and some kilobytes for each type of element and each way to compare.
//! Here, the sort is compiled once: it sees positions only, and compares them through a pointer. It is for lists that
//! are short, or sorted once.

use std::cmp::Ordering;

/// Sorts a list by a key; elements with the same key stay in their order.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

/// Sorts a list; elements that compare as equal stay in their order.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if list.is_sorted_by(|one, next| compare(one, next).is_le()) {
        return;
    }
    for (one, other) in exchanges(list.len(), &|one, other| compare(&list[one], &list[other])) {
        list.swap(one, other);
    }
}

/// Which positions to exchange, one pair after the other, to sort a list of this length.
fn exchanges(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&one, &other| compare(one, other));
    let mut exchanges = Vec::new();
    for start in 0..length {
        // Along a cycle of the permutation, each exchange puts an element where it belongs.
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            exchanges.push((at, from));
            at = from;
        }
        order[at] = at;
    }
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_short_lists_are_sorted_and_equal_elements_keep_their_order() {
        for length in 0..7_u32 {
            for number in 0..4_u32.pow(length) {
                let list: Vec<(u32, u32)> = (0..length).map(|at| (number / 4_u32.pow(at) % 4, at)).collect();
                let (mut sorted, mut expected) = (list.clone(), list);
                sort_by_key(&mut sorted, |&(key, _)| key);
                expected.sort_by_key(|&(key, _)| key);
                assert_eq!(sorted, expected);
                sort_by(&mut sorted, |one, other| other.cmp(one));
                expected.sort_by(|one, other| other.cmp(one));
                assert_eq!(sorted, expected);
            }
        }
    }
}
