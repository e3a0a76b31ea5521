//! Two-thread programs with up to two instructions a thread over two cells: some of them, each with some of the bounds.
//!
//! With `WEIR_TINY=1`, all of them, each with all bounds; with `WEIR_TINY=N`, one in N.

use weir::translate::bounded::RunBound;
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};

use crate::compare::{Tally, compare, supported};

const BOUNDS: [RunBound; 6] = [
    RunBound::Rounds(1),
    RunBound::Rounds(2),
    RunBound::Rounds(3),
    RunBound::Age(0),
    RunBound::Age(1),
    RunBound::Age(2),
];

fn tiny_programs_agree(alphabet: Alphabet) {
    let mut tallies = [Tally::default(); BOUNDS.len()];
    let each = std::env::var("WEIR_TINY").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    for (number, (name, program)) in programs_up_to_renaming(alphabet).enumerate() {
        let program = supported(program);
        for (at, (&bound, tally)) in BOUNDS.iter().zip(&mut tallies).enumerate() {
            if (number + at) % each != 0 {
                continue;
            }
            tally.add(compare(&program, bound, 20_000).unwrap_or_else(|what| panic!("{name}: {what}")));
        }
    }
    assert!(tallies.iter().all(|tally| tally.compared > 0 && tally.large + tally.refused == 0), "{tallies:?}");
    // One round each, and stores that never wait: nothing that SC could not do.
    assert_eq!((tallies[0].beyond_sc, tallies[3].beyond_sc), (0, 0));
    assert!(each > 1 || [1, 2, 4, 5].iter().all(|&at: &usize| tallies[at].beyond_sc > 0), "{tallies:?}");
}

/// One thread's store waits while the other one runs: two rounds, or one round of waiting.
#[test]
fn store_buffering_takes_a_second_round() {
    let (_, program) = programs_up_to_renaming(Alphabet::Core)
        .find(|(name, _)| ["x=1;r=y | y=1;r=x", "y=1;r=x | x=1;r=y", "x=2;r=y | y=2;r=x"].contains(&name.as_str()))
        .expect("it is among them");
    let beyond_sc = |bound| compare(&supported(program.clone()), bound, 20_000).map(|tally| tally.beyond_sc);
    assert_eq!(BOUNDS.map(beyond_sc), [0, 1, 1, 0, 1, 1].map(Ok));
}

#[test]
fn tiny_programs_agree_on_the_core() {
    tiny_programs_agree(Alphabet::Core);
}

#[test]
fn tiny_programs_agree_on_snapshots() {
    tiny_programs_agree(Alphabet::Snapshots);
}

#[test]
fn tiny_programs_agree_on_membarriers() {
    tiny_programs_agree(Alphabet::Membarriers);
}

#[test]
fn tiny_programs_agree_on_awaits() {
    tiny_programs_agree(Alphabet::Awaits);
}
