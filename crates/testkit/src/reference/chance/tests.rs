use dashu_ratio::RBig;
use weir_ir::{Instruction, LocId, Program, ThreadId};

use super::super::state::State;
use super::updates::update;
use super::{Chain, Odds, Updates};
use crate::sketch::{all_of, at, cell, equal, load, program, register_of, store, straight};

fn fraction(numerator: i64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

/// The state of two threads with so many stores in their buffers.
fn buffered(lengths: [usize; 2]) -> (Program, State) {
    let thread = |name: &str| straight(name, [store(1, 1)]);
    let program = program(vec![cell("x", 1)], vec![thread("P"), thread("Q")], Vec::new());
    let mut state = State::initial(&program);
    for (own, length) in state.threads.values_mut().zip(lengths) {
        std::rc::Rc::make_mut(own).buffer = vec![(1, 1); length];
    }
    (program, state)
}

/// The probability that an update leaves buffers of these lengths.
fn chance(updates: &Updates, from: [usize; 2], to: [usize; 2]) -> RBig {
    let (program, state) = buffered(from);
    let ends = update(&program, updates, &state).into_iter();
    let lengths = |state: &State| state.threads.values().map(|own| own.buffer.len()).collect::<Vec<_>>();
    ends.filter(|(end, _)| lengths(end) == to).fold(RBig::ZERO, |sum, (_, p)| sum + p)
}

#[test]
fn uniform_updates_count_sequences() {
    // None, x, y, xy, yx.
    assert_eq!(chance(&Updates::Uniform, [1, 1], [1, 1]), fraction(1, 5));
    assert_eq!(chance(&Updates::Uniform, [1, 1], [0, 0]), fraction(2, 5));
    // None, p, q, pp, pq, qp, ppq, pqp, qpp.
    assert_eq!(chance(&Updates::Uniform, [2, 1], [1, 0]), fraction(2, 9));
    assert_eq!(chance(&Updates::Uniform, [2, 1], [0, 0]), fraction(3, 9));
}

#[test]
fn geometric_updates_go_on_with_their_probability() {
    let updates = Updates::Geometric(fraction(3, 4));
    assert_eq!(chance(&updates, [1, 1], [1, 1]), fraction(1, 4));
    assert_eq!(chance(&updates, [1, 1], [0, 1]), fraction(3, 32));
    assert_eq!(chance(&updates, [1, 1], [0, 0]), fraction(9, 16));
    assert_eq!(chance(&updates, [2, 0], [0, 0]), fraction(9, 16));
}

#[test]
fn single_updates_prefer_long_buffers() {
    assert_eq!(chance(&Updates::Single, [2, 1], [0, 1]), fraction(2, 9));
    assert_eq!(chance(&Updates::Single, [2, 1], [2, 0]), fraction(1, 6));
    assert_eq!(chance(&Updates::Single, [2, 1], [2, 1]), fraction(2, 9) + fraction(1, 6));
    assert_eq!(chance(&Updates::Single, [0, 0], [0, 0]), RBig::ONE);
}

#[test]
fn a_thread_that_is_locked_out_keeps_its_stores() {
    let (program, mut state) = buffered([1, 1]);
    state.holder = Some(ThreadId(0));
    for updates in [Updates::Uniform, Updates::Geometric(fraction(1, 2)), Updates::Single] {
        for (end, _) in update(&program, &updates, &state) {
            assert_eq!(end.threads[&ThreadId(1)].buffer.len(), 1, "{updates:?}");
        }
    }
}

/// P stores, Q reads: with uniform updates, Q reads a 1 in one quarter of all cases.
fn message() -> Program {
    let threads = vec![straight("P", [store(1, 1)]), straight("Q", [load(0, 1)])];
    program(vec![cell("x", 1)], threads, Vec::new())
}

#[test]
fn a_message_is_seen_in_one_quarter_of_all_cases() {
    let target = all_of([at(1, LocId(1)), equal(register_of(1, 0), 1)]);
    let chain = Chain::new(&message(), &target, &Odds::default(), 100).expect("it is finite");
    assert_eq!(chain.probability(), fraction(1, 4));
    assert_eq!(chain.again_and_again(), fraction(1, 4));
    assert_eq!(chain.cost(), Some(fraction(2, 1)));
    assert_eq!(chain.curve(2), [RBig::ZERO, RBig::ZERO, fraction(1, 4)]);
    let counts = chain.frequencies(1);
    assert!(counts.values().all(|count| *count == fraction(1, 2)) && counts.len() == 2);
}

#[test]
fn a_loop_left_by_choice_goes_round_once_on_the_average() {
    let mut sketch = crate::sketch::ThreadSketch::new("P");
    let (start, end) = (sketch.entry(), sketch.location());
    sketch.edge(start, start, Instruction::Skip);
    sketch.edge(start, end, Instruction::Skip);
    let program = program(Vec::new(), vec![sketch.finish()], Vec::new());
    let chain = Chain::new(&program, &at(0, end), &Odds::default(), 100).expect("it is finite");
    assert_eq!((chain.probability(), chain.cost()), (RBig::ONE, Some(fraction(2, 1))));
    let around = Chain::new(&program, &at(0, start), &Odds::default(), 100).expect("it is finite");
    assert_eq!((around.probability(), around.again_and_again()), (RBig::ONE, RBig::ZERO));
}
