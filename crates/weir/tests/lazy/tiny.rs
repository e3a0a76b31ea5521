//! Every two-thread program with up to two instructions a thread over two cells: always answered, always rightly.

use weir_testkit::tiny::{Alphabet, programs};

use crate::compare::{FORMS, compare};

#[test]
fn every_tiny_program_is_decided() {
    let mut only_tso = [0, 0];
    for (name, program) in programs(Alphabet::Core) {
        // Each program comes with its mirror image.
        let (left, right) = name.split_once(" | ").expect("two threads");
        if left > right {
            continue;
        }
        for (form, only_tso) in FORMS.into_iter().zip(&mut only_tso) {
            let tally = compare(&program, form, (10_000, 100_000)).unwrap_or_else(|what| panic!("{name}: {what}"));
            assert_eq!(tally.asked, tally.answered, "{name}: {form:?} does not know");
            *only_tso += tally.only_tso;
        }
    }
    assert!(only_tso[0] > 10, "final states that only TSO reaches: {only_tso:?}");
}
