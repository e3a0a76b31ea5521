//! Functions whose addresses memory holds: where calls of pointers can go.
//!
//! Which pointers code really calls is not followed through shared memory. What is found here is a guess, and a run
//! that calls anything else gets to where the model ends.

use std::collections::BTreeSet;

use weir_ir::Gather;

use crate::graph::Flow;
use crate::image::{Image, Region};
use crate::known::is_private;
use crate::ops::{Change, E, Op};
use crate::transfer::apply;

/// A call of a pointer is followed to so many functions at most.
const MOST_FUNCTIONS: usize = 64;
/// Constants of this size and more are no tables of functions.
const LARGEST_TABLE: usize = 4096;

/// The functions whose addresses are in memory that can be written, in what threads store, and in tables of constants
/// that either points to.
pub(crate) fn functions(image: &Image, stored: &BTreeSet<u64>) -> Vec<u64> {
    let known = all(image);
    let mut found = BTreeSet::new();
    let writable = image.regions.iter().filter(|region| region.is_writable);
    let mut work: Vec<u64> = writable.flat_map(|region| words(&region.bytes)).chain(stored.iter().copied()).collect();
    let mut tables = BTreeSet::new();
    while let Some(word) = work.pop() {
        if known.contains(&word) || image.externals.contains_key(&word) {
            found.insert(word);
        } else if let Some(region) = image.region(word, 8)
            && may_be_table(region)
            && tables.insert(region.base)
        {
            work.extend(words(&region.bytes));
        }
    }
    found.into_iter().take(MOST_FUNCTIONS).collect()
}

/// The words of tables of constants that hold addresses of functions.
pub(crate) fn tables(image: &Image) -> Vec<u64> {
    let known = all(image);
    let tables = image.regions.iter().filter(|region| may_be_table(region));
    let tables = tables.filter(|region| words(&region.bytes).any(|word| known.contains(&word)));
    tables.flat_map(|region| (0..region.bytes.len() as u64 / 8).map(|at| region.base + 8 * at)).collect()
}

fn all(image: &Image) -> BTreeSet<u64> {
    image.functions().map(|symbol| symbol.address).gather()
}

fn may_be_table(region: &Region) -> bool {
    !region.is_writable && !region.is_executable && region.bytes.len() < LARGEST_TABLE
}

/// The words in memory that can be addresses.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let words = bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
    words.filter(|&word| word != 0)
}

/// The constants that a thread stores in shared memory.
pub(crate) fn stored(image: &Image, flow: &Flow) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for node in &flow.nodes {
        let mut state = node.state.clone();
        for op in &node.lifted.ops {
            let (address, values): (&E, Vec<&E>) = match op {
                Op::Store { address, value, size: 8 } => (address, vec![value]),
                Op::Change { address, change, size: 8, .. } => match change {
                    Change::Exchange(new) | Change::CompareExchange(_, new) => (address, vec![new]),
                    Change::Fetch(..) => continue,
                },
                Op::ChangePair { address, new, .. } => (address, vec![&new.0, &new.1]),
                _ => continue,
            };
            if !state.value(address).constant().is_some_and(is_private) {
                found.extend(values.into_iter().filter_map(|value| state.value(value).constant()).map(|it| it as u64));
            }
            if apply(image, op, &mut state).is_err() {
                break;
            }
        }
    }
    found
}
