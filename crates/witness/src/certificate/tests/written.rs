//! Sets of states as files hold them: read again as they were written, and in no other form.

use weir_testkit::Rng;

use super::collapsed::packed;
use super::reference::closure;
use super::*;

/// Two threads with values that take from one to ten bytes, and more states than a block has.
fn wide() -> (Program, Vec<AbstractState>) {
    let first = sequence(vec![store(X, Value::MIN), store(Y, 300), load(0, X), store(X, -65)]);
    let second = sequence(vec![load(0, X), store(Y, Value::MAX), load(1, Y), Instruction::Lock]);
    let program = family::with_data(program(vec![first, second]));
    let states = closure(&program, Buffering::Multiset(1), 5_000).expect("a small set");
    (program, states)
}

/// The set that has these bytes.
fn read(set: &PackedStates, count: usize, bytes: Vec<u8>) -> Result<PackedStates, MalformedRow> {
    PackedStates::read(set.listed().clone(), count, bytes)
}

fn repacked(set: &PackedStates) -> PackedStates {
    let mut packer = Packer::new(set.listed().clone());
    set.iter().for_each(|state| packer.add(&state));
    packer.finish()
}

#[test]
fn what_is_written_is_read_again() {
    let (program, states) = wide();
    let set = packed(&program, &states);
    assert!(set.len() == states.len() && set.len() > 100, "{} states", set.len());
    assert!(!set.is_empty() && packed(&program, &[]).is_empty());
    assert_eq!(read(&set, set.len(), set.bytes().to_vec()), Ok(set.clone()));
    assert_eq!(set.iter().collect::<BTreeSet<_>>(), states.iter().cloned().collect());
    let again = read(&set, set.len(), set.bytes().to_vec()).expect("as it was written");
    assert!(states.iter().all(|state| again.contains(state)));
    let places: BTreeSet<_> = states.iter().filter_map(|state| again.place(state)).collect();
    assert_eq!(places, (0..states.len()).collect());
}

#[test]
fn what_is_not_in_canonical_form_is_refused() {
    let (program, states) = wide();
    let set = packed(&program, &states);
    let (mut rng, mut accepted, mut refused) = (Rng::new(1), 0, 0);
    for _ in 0..20_000 {
        let mut bytes = set.bytes().to_vec();
        let at = rng.below(bytes.len());
        match rng.below(4) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, [0, 0x80, 1, 0xff][rng.below(4)]),
            _ => {
                // A number in more bytes than it needs.
                bytes[at] |= 0x80;
                bytes.insert(at + 1, 0);
            }
        }
        match read(&set, set.len(), bytes.clone()) {
            Ok(other) => {
                assert!(repacked(&other).bytes() == bytes, "byte {at} of {}", bytes.len());
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    // A value that is changed may leave the rows in order.
    assert!(accepted > 100 && refused > 10_000, "{accepted} accepted, {refused} refused");
    for count in [0, 1, set.len() - 1, set.len() + 1, usize::MAX] {
        assert!(read(&set, count, set.bytes().to_vec()).is_err(), "{count} states");
    }
}

#[test]
fn a_state_with_another_place_is_left_out_without_a_trace() {
    let (program, states) = wide();
    let set = packed(&program, &states);
    let mut packer = Packer::new(set.listed().clone());
    for state in &states {
        let mut elsewhere = state.clone();
        elsewhere.threads[1].location = LocId(99);
        packer.add(&elsewhere);
        packer.add(state);
        let mut fewer = state.clone();
        fewer.threads.pop();
        packer.add(&fewer);
    }
    // Nor does it matter that a state is added twice.
    states.iter().for_each(|state| packer.add(state));
    assert_eq!(packer.finish(), set);
}
