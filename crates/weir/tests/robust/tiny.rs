//! Every two-thread program with up to two instructions a thread over two cells.

use weir_ir::{Instruction, Program};
use weir_testkit::sketch::straight;
use weir_testkit::tiny::{Alphabet, programs};

use crate::reference::{Count, LIMITS, judge};

/// Values do not matter to straight programs, so those of all stores are 1, and of the read-modify-writes that always
/// write one is enough; of each program with its mirror images, with threads or cells exchanged, one is looked at.
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
    assert_eq!(count.proved, count.programs - count.not_robust);
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

#[test]
fn every_tiny_program_with_membarriers_agrees_with_the_definition() {
    let count = agree_on_all(Alphabet::Membarriers);
    assert_eq!((count.programs, count.not_robust, count.races), (496, 2, [12, 484]));
}

/// The program with a membarrier between the two instructions of a thread.
fn with_membarrier_between(program: &Program, thread: usize) -> Option<Program> {
    let instructions = program.threads[thread].body.edges().iter().map(|edge| edge.instruction.clone());
    let [first, second] = <[Instruction; 2]>::try_from(instructions.collect::<Vec<_>>()).ok()?;
    let mut longer = program.clone();
    longer.threads[thread] = straight(&program.threads[thread].name, [first, Instruction::Membarrier, second]);
    Some(longer)
}

/// One thread has a fence on behalf of both between its two instructions: that is enough for store buffering.
#[test]
fn every_tiny_program_with_a_membarrier_in_between_agrees_with_the_definition() {
    let mut count = Count::default();
    for (name, program) in programs(Alphabet::Core).filter(|(name, _)| is_wanted(name)) {
        for longer in [0, 1].into_iter().filter_map(|thread| with_membarrier_between(&program, thread)) {
            judge(&longer, LIMITS, &mut count).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
    assert_eq!((count.decided, count.feasible, count.answered), (count.programs, count.programs, [count.programs; 3]));
    assert_eq!(count.proved, count.programs - count.not_robust);
    assert_eq!((count.programs, count.not_robust, count.races), (1447, 0, [25, 1422]));
}

#[test]
fn every_tiny_program_with_awaits_agrees_with_the_definition() {
    let count = agree_on_all(Alphabet::Awaits);
    assert_eq!((count.programs, count.not_robust, count.races), (1702, 2, [17, 1685]));
}
