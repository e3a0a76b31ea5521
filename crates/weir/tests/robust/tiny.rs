//! Every two-thread program with up to two instructions a thread over two cells.

use weir_testkit::tiny::{Alphabet, programs};

use crate::definition::is_robust;
use crate::verdict;

/// How many are robust, and how many are not.
fn agree_on_all(alphabet: Alphabet) -> (u32, u32) {
    let (mut robust, mut not_robust) = (0, 0);
    for (name, program) in programs(alphabet) {
        // Each program comes with its mirror image, which is left to the other comparisons.
        let (left, right) = name.split_once(" | ").expect("two threads");
        if left > right {
            continue;
        }
        let expected = is_robust(&program, 100_000).expect("tiny programs have few traces");
        assert_eq!(verdict(&program, 1), Some(expected), "{name}");
        *(if expected { &mut robust } else { &mut not_robust }) += 1;
    }
    (robust, not_robust)
}

#[test]
fn every_tiny_program_agrees_with_the_definition() {
    let (robust, not_robust) = agree_on_all(Alphabet::Core);
    assert!(robust > 1000 && not_robust > 10, "{robust} robust, {not_robust} not");
}

#[test]
fn every_tiny_program_with_snapshots_agrees_with_the_definition() {
    let (robust, not_robust) = agree_on_all(Alphabet::Snapshots);
    assert!(robust > 1000 && not_robust > 10, "{robust} robust, {not_robust} not");
}
