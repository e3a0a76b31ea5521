//! Every two-thread program with up to two instructions a thread over two cells.

use weir_testkit::tiny::{Alphabet, programs};

use crate::reference::{Count, LIMITS, judge};

/// Values do not matter to straight programs, so those of all stores are 1, and of the read-modify-writes that always write one is
/// enough; of each program with its mirror images, with threads or cells exchanged, one is looked at.
fn is_wanted(name: &str) -> bool {
    let (left, right) = name.split_once(" | ").expect("two threads");
    let renamed = name.replace("xchg", "X").replace('x', "-").replace('y', "x").replace('-', "y").replace('X', "xchg");
    let (renamed_left, renamed_right) = renamed.split_once(" | ").expect("two threads");
    let images = [(right, left), (renamed_left, renamed_right), (renamed_right, renamed_left)];
    let is_plain = !["=2", ",2)", "fetch_add"].iter().any(|part| name.contains(part));
    is_plain && images.into_iter().all(|image| (left, right) <= image)
}

fn agree_on_all(alphabet: Alphabet) -> Count {
    let mut count = Count::default();
    for (name, program) in programs(alphabet).filter(|(name, _)| is_wanted(name)) {
        judge(&program, LIMITS, &mut count).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    assert_eq!((count.decided, count.feasible, count.answered), (count.programs, count.programs, [count.programs; 3]));
    count
}

#[test]
fn every_tiny_program_agrees_with_the_definition() {
    let count = agree_on_all(Alphabet::Extended);
    assert_eq!((count.programs, count.not_robust, count.races), (2118, 12, [48, 2070]));
}

#[test]
fn every_tiny_program_with_snapshots_agrees_with_the_definition() {
    let count = agree_on_all(Alphabet::Snapshots);
    assert_eq!((count.programs, count.not_robust, count.races), (628, 5, [25, 603]));
}
