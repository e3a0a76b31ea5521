//! The checker against the definition: what can be reached under TSO has no proof, however it is repaired; what cannot
//! be reached has one.

use weir_ir::{BinaryRmw, Rmw};
use weir_testkit::random::{self, Config};
use weir_testkit::tiny::{self, Alphabet};
use weir_testkit::{dump, explore};

use super::forger::{Forger, Outcome, reached};
use super::*;
use crate::testing::family;

/// Configurations that a proof may have.
pub(super) const LARGEST: usize = 1_500;

#[derive(Default, Debug)]
struct Tally {
    accepted: usize,
    refused: usize,
    gave_up: usize,
}

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Accepted => self.accepted += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::GaveUp => self.gave_up += 1,
        }
    }

    /// Asks about each goal that can be reached by itself, and about all others at once.
    fn ask_goals(&mut self, program: &Program) {
        if explore(program, weir_testkit::Model::Tso, 3_000).expect("supported").complete {
            self.ask_found(program, 3_000);
        }
    }

    /// The same of a program of which so many states show everything.
    fn ask_found(&mut self, program: &Program, limit: usize) {
        let outcome = explore(program, weir_testkit::Model::Tso, limit).expect("supported");
        let is_deadlock = |id: usize| program.properties[id].kind == PropertyKind::ForbidDeadlock;
        let properties = (0..program.properties.len()).filter(|&id| !is_deadlock(id)).map(PropertyId::new);
        let properties = properties.map(|id| (Goal::Property(id), weir_testkit::Goal::Property(id)));
        let assertions = program.thread_ids().map(|id| (Goal::Assertion(id), weir_testkit::Goal::Assertion(id)));
        let is_reached = |goal: &(Goal, weir_testkit::Goal)| outcome.goals.contains_key(&goal.1);
        let (reached, others): (Vec<_>, Vec<_>) = properties.chain(assertions).partition(is_reached);
        for (goal, _) in reached {
            self.check(program, vec![goal], Outcome::Refused);
        }
        if !others.is_empty() {
            self.check(program, others.into_iter().map(|(goal, _)| goal).collect(), Outcome::Accepted);
        }
    }

    fn check(&mut self, program: &Program, goals: Vec<Goal>, expected: Outcome) {
        let Some(mut forger) = Forger::new(program, goals.clone(), 60) else { return self.count(Outcome::GaveUp) };
        let outcome = forger.run(LARGEST);
        assert!(outcome == expected || outcome == Outcome::GaveUp, "{goals:?}: {outcome:?}\n{}", dump(program));
        self.count(outcome);
    }

    /// Asks about every state with empty buffers that there might be.
    fn ask_states(&mut self, program: &Program) {
        let Some(states) = reached(program, 2_000) else { return };
        let none = |forger: &mut Forger<'_>| forger.proof.goals = vec![Goal::Assertion(ThreadId(0))];
        let Some(mut forger) = Forger::new(program, Vec::new(), 60) else { return };
        none(&mut forger);
        let find = |state| forger.configuration(state).expect("a state that the thread can be in by itself");
        let possible: BTreeSet<Configuration> = states.iter().map(find).collect();
        for configuration in &possible {
            let mut forger = Forger::new(program, forger.proof.goals.clone(), 60).expect("as before");
            forger.add(configuration.clone());
            let outcome = forger.run(LARGEST);
            assert_ne!(outcome, Outcome::Accepted, "{configuration:?}\n{}", dump(program));
            self.count(outcome);
        }
        for configuration in forger.all_drained().into_iter().filter(|other| !possible.contains(other)) {
            forger.add(configuration);
        }
        let outcome = forger.run(10 * LARGEST);
        assert_ne!(outcome, Outcome::Refused, "{}", dump(program));
        self.count(outcome);
    }
}

#[test]
fn goals_of_tiny_programs_have_a_proof_exactly_if_they_cannot_be_reached() {
    let mut tally = Tally::default();
    for (alphabet, step) in [
        (Alphabet::Core, 97),
        (Alphabet::Extended, 389),
        (Alphabet::Snapshots, 41),
        (Alphabet::Membarriers, 37),
        (Alphabet::Awaits, 83),
    ] {
        // Whoever adds may add without end, as far as the values of single cells can tell.
        let finite = tiny::programs(alphabet).filter(|(name, _)| !name.contains("fetch_add"));
        finite.step_by(step).for_each(|(_, program)| tally.ask_goals(&program));
    }
    assert!(tally.accepted > 300 && tally.refused > 1_000 && tally.gave_up == 0, "{tally:?}");
}

#[test]
fn goals_of_programs_with_every_instruction_have_a_proof_exactly_if_they_cannot_be_reached() {
    let mut tally = Tally::default();
    for program in family::programs().into_iter().step_by(2) {
        tally.ask_goals(&program);
    }
    assert!(tally.accepted > 300 && tally.refused > 300 && tally.gave_up < 20, "{tally:?}");
}

#[test]
fn goals_of_random_programs_have_a_proof_exactly_if_they_cannot_be_reached() {
    let mut tally = Tally::default();
    let configs = [Config::acyclic(), Config::cyclic(), Config::locking(), Config::crowded()];
    for seed in 0..160 {
        let config = Config { statements: (1, 3), absent_threads: 30, ..configs[seed as usize % 4].clone() };
        tally.ask_goals(&random::program(seed, &config));
    }
    assert!(tally.accepted > 60 && tally.refused > 60, "{tally:?}");
}

/// Programs in which stores wait, are read early, overtake, and are waited for.
pub(super) fn storing() -> Vec<Program> {
    let bodies = [
        [vec![store(X, 1), load(0, X), load(1, Y)], vec![store(Y, 1), load(0, X)]],
        [vec![store(X, 1), store(X, 2), load(0, Y)], vec![load(0, X), store(Y, 1)]],
        [vec![store(X, 1), store(Y, 1)], vec![load(0, Y), load(1, X)]],
        [vec![store(X, 1), Instruction::Fence, load(0, Y)], vec![store(Y, 1), exchange(0, X, 2)]],
        [vec![store(X, 1), snapshot(X, Y)], vec![store(Y, 1), snapshot(X, Y)]],
        [vec![Instruction::Lock, store(X, 1), load(0, Y), Instruction::Unlock], vec![store(Y, 1), load(0, X)]],
        [vec![Instruction::Lock, store(X, 1), store(X, 0), Instruction::Unlock], vec![snapshot(X, Y), store(Y, 1)]],
        [vec![store(X, 1), Instruction::Lock, load(0, X)], vec![load(0, X), store(X, 2)]],
        [
            vec![Instruction::Lock, load(0, X), store(X, 1), Instruction::Unlock],
            vec![Instruction::Lock, load(0, X), store(X, 2), Instruction::Unlock],
        ],
        [vec![compare_and_swap(0, X, 0, 1), store(Y, 1)], vec![compare_and_swap(0, X, 0, 1), load(1, Y)]],
        [vec![store(X, 1), store(Y, 1), store(X, 2), load(0, X)], vec![load(0, X), load(1, X)]],
    ];
    bodies.into_iter().map(|bodies| program(bodies.map(sequence).to_vec())).collect()
}

/// Loops of one or two steps, some of which lead from a place to itself.
fn looping() -> Vec<Program> {
    let loose =
        |address, operation| Instruction::ReadModifyWrite { register: None, address: number(address), operation };
    let flip = || loose(X, Rmw::Fetch(BinaryRmw::Xor, number(1)));
    let writers = [
        vec![(0, 0, store(X, 1)), (0, 1, store(Y, 1))],
        vec![(0, 0, loose(X, Rmw::Exchange(number(1)))), (0, 1, store(Y, 1))],
        vec![(0, 0, flip()), (0, 1, store(Y, 1))],
        vec![
            (0, 0, loose(X, Rmw::CompareAndSwap { expected: number(1), new: number(0) })),
            (0, 1, store(X, 1)),
            (1, 0, Instruction::Skip),
        ],
        vec![(0, 1, Instruction::Lock), (1, 1, flip()), (1, 0, Instruction::Unlock)],
        vec![(0, 1, store(X, 1)), (1, 0, Instruction::Fence), (1, 0, store(X, 2)), (1, 2, load(0, Y))],
        vec![(0, 1, Instruction::Lock), (1, 2, store(X, 1)), (2, 3, store(X, 0)), (3, 0, Instruction::Unlock)],
        vec![(0, 0, load(0, Y)), (0, 1, store(X, 1)), (1, 1, snapshot(X, Y))],
    ];
    let readers = [
        vec![(0, 1, load(0, X)), (1, 2, load(1, Y))],
        vec![(0, 1, snapshot(X, Y)), (1, 2, store(X, 2))],
        vec![(0, 1, exchange(0, X, 2)), (1, 2, load(1, X))],
    ];
    let pairs =
        writers.iter().flat_map(|writer| readers.iter().map(move |reader| vec![writer.clone(), reader.clone()]));
    pairs.map(|threads| family::with_data(program(threads))).collect()
}

#[test]
fn goals_of_loops_have_a_proof_exactly_if_they_cannot_be_reached() {
    let mut tally = Tally::default();
    for program in looping() {
        // Stores may wait in any number, but a few of them show all that there is to see.
        tally.ask_found(&program, 3_000);
    }
    assert!(tally.accepted > 20 && tally.refused > 60 && tally.gave_up == 0, "{tally:?}");
}

#[test]
fn a_thread_that_no_goal_names_may_hold_the_lock() {
    // Only while P1 holds the lock is x 1, or are x and y different.
    let brief = [
        store(X, 1),
        Instruction::Fence,
        store(Y, 1),
        Instruction::Fence,
        store(X, 0),
        Instruction::Fence,
        store(Y, 0),
    ];
    let locked = [Instruction::Lock].into_iter().chain(brief).chain([Instruction::Fence, Instruction::Unlock]);
    let locked = sequence(locked.collect());
    let seen = |x, y| PropertyKind::Forbid(family::both(cell_is(X, x), cell_is(Y, y)));
    let mut tally = Tally::default();
    for bystander in [
        vec![],
        vec![Instruction::Skip],
        vec![load(0, X)],
        vec![Instruction::Lock, Instruction::Unlock],
        vec![store(Z, 1)],
    ] {
        let mut program = program(vec![sequence(bystander.clone()), locked.clone()]);
        for kind in [PropertyKind::Forbid(cell_is(X, 1)), seen(1, 0), seen(1, 1), seen(0, 1), seen(1, 2)] {
            program = with_property(program, kind).0;
        }
        // Where the bystander holds the lock itself, this cannot be.
        let beside = family::both(family::at(0, vec![LocId(1)]), cell_is(X, 1));
        program = with_property(program, PropertyKind::Forbid(beside)).0;
        let at_end = family::at(0, vec![LocId::new(bystander.len())]);
        program = with_property(program, PropertyKind::Forbid(family::both(at_end, cell_is(X, 1)))).0;
        tally.ask_goals(&program);
        // What the other one loads, it loads before or after, and never in between.
        let read = family::both(family::register_is(0, 0, 1), cell_is(X, 1));
        tally.ask_goals(&with_property(program, PropertyKind::Forbid(read)).0);
    }
    assert!(tally.refused >= 30 && tally.accepted >= 5 && tally.gave_up == 0, "{tally:?}");
}

#[test]
fn what_a_thread_does_under_the_lock_counts_although_no_goal_names_it() {
    let loose = |value| Instruction::ReadModifyWrite {
        register: None,
        address: number(X),
        operation: Rmw::Exchange(number(value)),
    };
    let sections = [
        vec![store(X, 1)],
        vec![store(X, 1), store(Y, 1)],
        vec![store(X, 2), store(X, 1)],
        vec![store(X, 1), store(X, 2)],
        vec![loose(1)],
        vec![load(0, Y), Instruction::Assume(equal(reg(0), number(0))), store(X, 1)],
    ];
    let mut tally = Tally::default();
    for section in sections {
        for is_closed in [true, false] {
            let section = [Instruction::Lock].into_iter().chain(section.clone());
            let locked = sequence(section.chain(is_closed.then_some(Instruction::Unlock)).collect());
            let reader = sequence(vec![load(0, X), Instruction::Assume(equal(reg(0), number(1))), Instruction::Skip]);
            let seen = PropertyKind::Forbid(family::at(0, vec![LocId(2)]));
            tally.ask_goals(&with_property(program(vec![reader, locked]), seen).0);
        }
    }
    assert!(tally.refused >= 5 && tally.accepted >= 6, "{tally:?}");
}

#[test]
fn stores_in_every_order_may_be_overtaken() {
    // The last load of P0 passes all its stores, also those that others hide. P1 looks after a fence.
    let letters = [store(X, 1), store(X, 2), store(Y, 1), load(1, X)];
    let words = (0..64).map(|word: usize| [word / 16, word / 4 % 4, word % 4].map(|letter| letters[letter].clone()));
    let mut tally = Tally::default();
    for word in words {
        for seen in [X, Y] {
            let first = word.iter().cloned().chain([load(0, Z)]).collect();
            let second = vec![store(Z, 1), Instruction::Fence, load(0, seen)];
            let mut program = program(vec![sequence(first), sequence(second)]);
            for value in 0..3 {
                let ends = family::both(family::at(0, vec![LocId(4)]), family::at(1, vec![LocId(3)]));
                let read = family::both(family::register_is(0, 0, 0), family::register_is(1, 0, value));
                program = with_property(program, PropertyKind::Forbid(family::both(ends, read))).0;
            }
            tally.ask_goals(&program);
        }
    }
    assert!(tally.accepted > 80 && tally.refused > 200 && tally.gave_up == 0, "{tally:?}");
}

#[test]
fn states_have_a_proof_exactly_if_they_cannot_be_reached() {
    let mut tally = Tally::default();
    for program in storing() {
        tally.ask_states(&program);
    }
    for program in family::programs().into_iter().step_by(29) {
        tally.ask_states(&program);
    }
    assert!(tally.accepted > 30 && tally.refused > 300 && tally.gave_up < 20, "{tally:?}");
}

#[test]
fn proofs_hold_no_more_than_they_need() {
    // One number for each program: how many configurations it takes to show that the threads do not end with values
    // they cannot end with. With fewer there would be no proof; if more were asked for, proofs that leave out what is
    // impossible anyway would be refused.
    let sizes: Vec<usize> = storing()
        .into_iter()
        .map(|mut program| {
            let at_end =
                |thread: u32| family::at(thread, vec![LocId::new(program.body(ThreadId(thread)).locations.len() - 1)]);
            let ends = family::both(at_end(0), at_end(1));
            for (first, second) in (0..3).flat_map(|first| (0..3).map(move |second| (first, second))) {
                let values = family::both(family::register_is(0, 0, first), family::register_is(1, 0, second));
                program = with_property(program, PropertyKind::Forbid(family::both(ends.clone(), values))).0;
            }
            let reached = explore(&program, weir_testkit::Model::Tso, 3_000).expect("supported").goals;
            let is_open = |id: &PropertyId| !reached.contains_key(&weir_testkit::Goal::Property(*id));
            let goals = (0..9).map(PropertyId).filter(is_open).map(Goal::Property).collect();
            let mut forger = Forger::new(&program, goals, 60).expect("few states");
            assert_eq!(forger.run(LARGEST), Outcome::Accepted);
            forger.proof.configurations.len()
        })
        .collect();
    assert_eq!(sizes, SIZES);
}

const SIZES: [usize; 11] = [128, 0, 0, 43, 85, 0, 36, 35, 105, 53, 150];
