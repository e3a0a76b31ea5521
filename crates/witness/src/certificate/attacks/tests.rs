use weir_ir::{Instruction, Uninterrupted};
use weir_testkit::traces::{Bounds, is_robust};

use super::*;
use crate::testing::*;

/// All registers, everywhere.
fn everything(program: &Program) -> ListedRegisters {
    let all = |thread: ThreadId| {
        let body = program.body(thread);
        let registers: Vec<RegId> = (0..body.registers.len()).map(RegId::new).collect();
        body.location_ids().map(|_| registers.clone()).collect()
    };
    program.thread_ids().map(all).collect()
}

fn closure(program: &Program) -> Result<PackedStates, Fault> {
    let found = attack_closure(program, everything(program), 10_000, &Uninterrupted);
    found.map(|states| states.expect("few states")).map_err(|error| error.fault)
}

fn fault(program: &Program, states: &PackedStates) -> Option<Fault> {
    check_attack_proof(program, states, &Uninterrupted).err().map(|error| error.fault)
}

fn without(states: &PackedStates, at: usize) -> PackedStates {
    let mut packer = Packer::new(states.listed().clone());
    states.iter().enumerate().filter(|&(number, _)| number != at).for_each(|(_, state)| packer.add(&state));
    packer.finish()
}

fn with(states: &PackedStates, other: &AbstractState) -> PackedStates {
    let mut packer = Packer::new(states.listed().clone());
    states.iter().for_each(|state| packer.add(&state));
    packer.add(other);
    packer.finish()
}

/// Each thread stores to one cell and loads from the other, with this in between.
fn store_buffering(between: &[Instruction]) -> Program {
    let thread = |mine, other| {
        let whole = [vec![store(mine, 1)], between.to_vec(), vec![load(0, other)]];
        sequence(whole.concat())
    };
    program(vec![thread(X, Y), thread(Y, X)])
}

#[test]
fn a_proof_is_whole_or_none() {
    let fenced = store_buffering(&[Instruction::Fence]);
    let states = closure(&fenced).expect("robust");
    assert_eq!(fault(&fenced, &states), None);
    for at in 0..states.len() {
        let left = fault(&fenced, &without(&states, at));
        assert!(matches!(left, Some(Fault::NoStart | Fault::Leaves(..))), "without {at}: {left:?}");
    }
    assert!(fault(&store_buffering(&[]), &states).is_some());
}

#[test]
fn what_is_not_robust_has_no_proof() {
    for between in [vec![], vec![store(X, 2)], vec![load(1, X)]] {
        assert_eq!(closure(&store_buffering(&between)), Err(Fault::ShowsGoal(Goal::NotRobust)), "{between:?}");
    }
}

/// Attacks that begin and cannot succeed leave states of all three phases.
fn halfway() -> Program {
    program(vec![sequence(vec![store(X, 1), store(Z, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(0, UNUSED)])])
}

/// A cell that nobody stores to.
const UNUSED: Address = 9;

#[test]
fn buffers_say_what_the_monitor_would_say_or_nothing() {
    let program = halfway();
    let states = closure(&program).expect("robust");
    let marks: BTreeSet<Value> = states
        .iter()
        .flat_map(|state| state.threads.into_iter().flat_map(|thread| thread.buffer.queue))
        .map(|(_, mark)| mark)
        .collect();
    assert_eq!(marks, BTreeSet::from([DELAYS, HALTED, ON_PATH]));
    let forged: [fn(&mut AbstractThread); 3] = [
        |thread| thread.buffer.queue.push((X, 7)),
        |thread| thread.buffer.queue.iter_mut().for_each(|mark| mark.1 += 3),
        |thread| {
            let waiting = Waiting { newest: 3, older: BTreeMap::from([(1, None)]) };
            thread.buffer.waiting.insert(X, waiting);
        },
    ];
    for (number, forge) in forged.iter().enumerate() {
        for (at, state) in states.iter().enumerate() {
            let mut other = state.clone();
            forge(&mut other.threads[at % 2]);
            if other != state {
                let set = with(&states, &other);
                assert_eq!(fault(&program, &set), Some(Fault::Malformed), "forgery {number} of state {at}");
            }
        }
    }
}

#[test]
fn levels_are_written_as_they_are_read() {
    let read: Vec<Option<Value>> = (-1..12).map(|number| Level::read(number).map(Level::number)).collect();
    let valid = |number: &Value| (0..=10).contains(number) && number % 4 < 3 && *number != 0;
    assert_eq!(read, (-1..12).map(|number| Some(number).filter(valid)).collect::<Vec<_>>());
}

#[test]
fn sections_of_others_count_as_one_access_and_the_lock_must_be_free() {
    let locked = |inner: Vec<Instruction>, end: Option<Instruction>| {
        let other = [vec![Instruction::Lock], inner, end.into_iter().collect()].concat();
        program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(other)])
    };
    // The section loads first what the path comes back to, and only then what puts it on the path.
    let inner = vec![load(0, X), store(Y, 1)];
    assert_eq!(closure(&locked(inner.clone(), Some(Instruction::Unlock))), Err(Fault::ShowsGoal(Goal::NotRobust)));
    assert!(closure(&locked(inner, None)).is_ok(), "the store can never land");
    assert!(closure(&locked(vec![load(0, X)], Some(Instruction::Unlock))).is_ok());
}

#[test]
fn proofs_end_at_their_limits() {
    let fenced = store_buffering(&[Instruction::Fence]);
    let most = closure(&fenced).expect("robust").len() as u64;
    let within = |most| attack_closure(&fenced, everything(&fenced), most, &Uninterrupted).expect("robust");
    assert!(within(most).is_some() && within(most - 1).is_none());
    let states = closure(&fenced).expect("robust");
    let check = |asked: &Asked| check_attack_proof(&fenced, &states, asked).map_err(|error| error.fault);
    assert!(refused_at_each_question(check, &Fault::Interrupted) > 0);
}

/// All programs of two threads with up to three of these instructions each, one of them always a store.
#[test]
fn there_is_a_proof_exactly_of_what_is_robust_by_definition() {
    let letters = [store(X, 1), store(Y, 1), load(0, X), load(1, Y), Instruction::Fence];
    let words: Vec<Vec<Instruction>> = (0..125usize)
        .map(|number| [number % 5, number / 5 % 5, number / 25].map(|at| letters[at].clone()).to_vec())
        .filter(|word| word[0].is_store())
        .collect();
    let mut robust = [0; 2];
    for (number, word) in words.iter().enumerate() {
        for other in words.iter().skip(number).step_by(7) {
            let program = program(vec![sequence(word.clone()), sequence(other.clone())]);
            let bounds = Bounds { instructions: 12, ways: 20_000 };
            let Some(expected) = is_robust(&program, bounds) else { continue };
            assert_eq!(closure(&program).is_ok(), expected, "{word:?} {other:?}");
            robust[usize::from(expected)] += 1;
        }
    }
    assert!(robust[0] > 10 && robust[1] > 100, "{robust:?}");
}
