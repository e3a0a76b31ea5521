//! The checker against the definition: the same steps, from all states; and the same judgement on sets that are
//! certificates, nearly are, or are not at all.

use weir_ir::PropertyId;
use weir_testkit::{Drained, FinalState, drained_states};

use super::super::steps::Interpreter;
use super::naive::steps;
use super::reference::{closure, is_certificate, shows};
use super::*;
use crate::testing::family;

pub(super) const ALL: [Buffering; 6] = [
    Buffering::Coherence(0),
    Buffering::Coherence(1),
    Buffering::Coherence(2),
    Buffering::Multiset(0),
    Buffering::Multiset(1),
    Buffering::Multiset(2),
];

/// More stores to one cell than the family has, so that buffers forget in the ways that there are.
fn storing() -> Vec<Program> {
    let bodies = [
        vec![store(X, 1), store(X, 2), store(X, 1), load(0, X)],
        vec![store(X, 1), store(X, 1), store(X, 1), store(X, 0)],
        vec![store(X, 1), store(Y, 1), store(X, 2), load(0, X), Instruction::Fence],
        vec![store(X, 1), store(Y, 1), load(0, Y), snapshot(X, Y)],
        vec![store(X, 1), store(X, 0), exchange(0, X, 2)],
    ];
    let reader = || sequence(vec![load(0, X), load(1, Y)]);
    bodies.into_iter().map(|body| family::with_data(program(vec![sequence(body), reader()]))).collect()
}

/// Loops, in which buffers would grow forever.
fn looping() -> Vec<Program> {
    let bodies = [
        vec![(0, 0, store(X, 1))],
        vec![(0, 1, store(X, 1)), (1, 0, store(X, 2)), (1, 2, load(0, X))],
        vec![(0, 1, store(X, 1)), (1, 0, Instruction::Fence), (1, 2, store(Y, 1))],
    ];
    let partner = || sequence(vec![load(0, X), store(X, 2), Instruction::Fence]);
    bodies.into_iter().map(|body| family::with_data(program(vec![body, partner()]))).collect()
}

pub(super) fn sample() -> Vec<Program> {
    let chosen = family::programs().into_iter().step_by(4);
    chosen.chain(storing()).chain(looping()).collect()
}

fn goals_not_shown(program: &Program, buffering: Buffering, states: &[AbstractState]) -> Vec<Goal> {
    let properties = (0..program.properties.len()).map(|id| Goal::Property(PropertyId::new(id)));
    let goals = properties.chain(program.thread_ids().map(Goal::Assertion));
    goals.filter(|&goal| states.iter().all(|state| shows(program, buffering, state, goal) == Some(false))).collect()
}

#[test]
fn steps_lead_where_the_definition_says() {
    let mut compared = 0;
    for program in sample() {
        for buffering in ALL {
            for state in closure(&program, buffering, 2_000).expect("a small set") {
                let expected = steps(&program, buffering, &state).expect("all registers are listed");
                for (thread, edge, expected) in expected {
                    let interpreter =
                        Interpreter { program: &program, buffering, state: &state, thread, place: thread.index() };
                    let choices = |_, range: weir_ir::Range| Ok((range.low..=range.high).collect());
                    let found = match edge {
                        None => interpreter.flushes(),
                        Some(edge) => interpreter
                            .execute(program.body(thread).edge(edge), choices)
                            .expect("all registers are listed"),
                    };
                    assert_eq!(found, expected, "{thread:?} {edge:?} {state:?}");
                    compared += expected.len();
                }
            }
        }
    }
    assert!(compared > 50_000, "{compared} steps");
}

/// A state with empty buffers, as the reference interpreter has it.
fn drained(program: &Program, state: &AbstractState) -> Option<Drained> {
    if state.threads.iter().any(|own| own.buffer != AbstractBuffer::default()) {
        return None;
    }
    let threads = || program.thread_ids().zip(&state.threads);
    let values = FinalState {
        memory: state.memory.clone(),
        registers: threads().map(|(thread, own)| (thread, own.registers.clone())).collect(),
    };
    let locations = threads().map(|(thread, own)| (thread, own.location)).collect();
    Some(Drained { locations, values, holder: state.lock_holder })
}

#[test]
fn the_states_with_empty_buffers_are_those_of_the_dissertation_and_hold_those_of_tso() {
    use weir_testkit::Model;
    let models = [
        (Buffering::Coherence(0), Model::Set),
        (Buffering::Coherence(1), Model::Coherence(1)),
        (Buffering::Coherence(2), Model::Coherence(2)),
        (Buffering::Multiset(9), Model::Multiset),
    ];
    let mut compared = 0;
    for (number, program) in sample().into_iter().enumerate().filter(|(number, _)| number.is_multiple_of(2)) {
        let tso = drained_states(&program, Model::Tso, 5_000).expect("supported");
        for (buffering, model) in models {
            let Some(reference) = drained_states(&program, model, 5_000).expect("supported") else { continue };
            let states = closure(&program, buffering, 20_000).expect("a small set");
            let found: BTreeSet<Drained> = states.iter().filter_map(|state| drained(&program, state)).collect();
            assert_eq!(found, reference, "program {number}, {buffering:?}");
            assert!(tso.iter().flatten().all(|state| found.contains(state)), "program {number}, {buffering:?}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

/// Everything that can be changed in a state, one thing at a time.
fn changed(program: &Program, state: &AbstractState) -> Vec<AbstractState> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut AbstractState)| {
        let mut next = state.clone();
        change(&mut next);
        if next != *state {
            found.push(next);
        }
    };
    for holder in [None, Some(ThreadId(0)), Some(ThreadId(1))] {
        with(&|state| state.lock_holder = holder);
    }
    for (address, value) in [(X, 0), (X, 1), (X, 2), (Y, 1), (77, 1)] {
        with(&|state| {
            state.memory.insert(address, value);
        });
        with(&|state| {
            state.memory.remove(&address);
        });
    }
    with(&|state| {
        state.threads.pop();
    });
    for place in 0..state.threads.len() {
        for location in 0..=program.threads[place].body.locations.len() {
            with(&|state| state.threads[place].location = LocId::new(location));
        }
        for register in 0..4 {
            with(&|state| {
                state.threads[place].registers.remove(&RegId(register));
            });
            for value in 0..2 {
                with(&|state| {
                    state.threads[place].registers.insert(RegId(register), value);
                });
            }
        }
        with(&|state| state.threads[place].buffer = AbstractBuffer::default());
        with(&|state| state.threads[place].buffer.queue.push((X, 1)));
        with(&|state| state.threads[place].buffer.queue.insert(0, (Y, 2)));
        with(&|state| {
            state.threads[place].buffer.queue.pop();
        });
        with(&|state| state.threads[place].buffer.queue.reverse());
        let waiting =
            |newest, older: &[(Value, Option<u32>)]| Waiting { newest, older: older.iter().copied().collect() };
        for other in [waiting(1, &[]), waiting(2, &[(1, None)]), waiting(1, &[(1, None)]), waiting(2, &[(1, Some(1))])]
        {
            with(&|state| {
                state.threads[place].buffer.waiting.insert(X, other.clone());
            });
        }
        with(&|state| state.threads[place].buffer.waiting.values_mut().for_each(|waiting| waiting.newest += 1));
        with(&|state| state.threads[place].buffer.waiting.values_mut().for_each(|waiting| waiting.older.clear()));
    }
    found
}

/// Whether the checker and the definition agree; and what they say. Where a register is not listed, the checker may ask
/// for it although nothing depends on it.
fn agree(program: &Program, certificate: &Certificate) -> bool {
    let found = fault(program, certificate);
    let is_needless = matches!(found, Some(Fault::UnknownRegister(..)));
    let is_right = found.is_none() == is_certificate(program, certificate) || is_needless;
    assert!(is_right, "{found:?}: {:?}", certificate.states.last());
    found.is_none()
}

#[test]
fn whatever_is_changed_is_checked_by_the_definition() {
    let (mut accepted, mut refused) = (0, 0);
    let mut count = |is_accepted: bool| if is_accepted { accepted += 1 } else { refused += 1 };
    for (number, program) in sample().into_iter().enumerate().filter(|(number, _)| number % 5 == 0) {
        let buffering = ALL[number / 5 % ALL.len()];
        let states = closure(&program, buffering, 2_000).expect("a small set");
        let goals = goals_not_shown(&program, buffering, &states);
        if states.len() > 60 || goals.is_empty() {
            continue;
        }
        let whole = Certificate { model: crate::Model::Tso, buffering, goals, states };
        assert!(agree(&program, &whole));
        for at in 0..whole.states.len() {
            let mut part = whole.clone();
            part.states.remove(at);
            assert!(!agree(&program, &part), "without state {at}");
            if at % 7 != number % 7 {
                continue;
            }
            for other in changed(&program, &whole.states[at]) {
                let mut more = whole.clone();
                more.states.push(other.clone());
                count(agree(&program, &more));
                part.states.push(other);
                count(agree(&program, &part));
                part.states.pop();
            }
        }
    }
    assert!(accepted > 150 && refused > 3_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn the_goal_is_looked_for_in_every_state() {
    // A state that no step leads to may be there; with the goal in it, the set proves nothing.
    let claim = messages(PropertyKind::Forbid(cell_is(X, 2)));
    let mut certificate = closed(&claim, Buffering::Coherence(0));
    let is_end = |state: &&AbstractState| state.threads.iter().all(|own| own.location == LocId(2));
    let is_drained = |state: &&AbstractState| drained(&claim.0, state).is_some();
    let end = certificate.states.iter().filter(is_end).find(is_drained).expect("an end").clone();
    certificate.states.push(AbstractState { memory: BTreeMap::from([(X, 2)]), ..end });
    assert_eq!(fault(&claim.0, &certificate), Some(Fault::ShowsGoal(claim.1)));
    let error = check_certificate(&claim.0, &certificate).expect_err("it shows the goal");
    assert_eq!(error.state, Some(certificate.states.len() - 1));
    assert_eq!(
        error.to_string(),
        format!("state {}: it violates a property that the certificate claims to prove", certificate.states.len())
    );
    assert!(!is_certificate(&claim.0, &certificate));
}
