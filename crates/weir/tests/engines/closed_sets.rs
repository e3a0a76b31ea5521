//! Closed sets of states are accepted as proofs, nothing less is, and none proves anything about an unsafe program.

use weir::reach::{Options, closed_set};
use weir::{Limits, Session};
use weir_ir::{Program, Uninterrupted};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::{self, explore};
use weir_testkit::{Rng, dump, variants};
use weir_witness::{Buffering, ClosedSet, Goal, Model, PackedStates, Packer, check_closed_set};

use crate::state_goals;

const WAYS: [(Model, Buffering); 4] = [
    (Model::Tso, Buffering::EXACT),
    (Model::Sc, Buffering::EXACT),
    (Model::Tso, Buffering::Coherence(0)),
    (Model::Tso, Buffering::Multiset(1)),
];

/// All states of a program, if they are few.
fn states(program: &Program, (model, buffering): (Model, Buffering)) -> Option<ClosedSet> {
    let goals = state_goals(program);
    if goals.is_empty() {
        return None;
    }
    let session = Session::new(Limits { states: Some(400), ..Limits::default() });
    closed_set(program, &Options { model, goals, ..Options::default() }, buffering, &session).ok()
}

fn accepts(program: &Program, set: &ClosedSet) -> bool {
    check_closed_set(program, set, &Uninterrupted).is_ok()
}

fn random(seed: u64) -> Program {
    let configs = [Config::acyclic(), Config::cyclic(), Config::locking(), Config::crowded()];
    program(seed, &configs[seed as usize % 4].clone().weighing(Statement::Fence, 12))
}

/// Whether the reference interpreter finds a run to one of the goals.
fn is_unsafe(program: &Program, model: Model, goals: &[Goal]) -> bool {
    let model = if model == Model::Sc { reference::Model::Sc } else { reference::Model::Tso };
    let reached = explore(program, model, 2_000).expect("the reference can").goals;
    goals.iter().any(|goal| match *goal {
        Goal::Property(id) => reached.contains_key(&reference::Goal::Property(id)),
        Goal::Assertion(thread) => reached.contains_key(&reference::Goal::Assertion(thread)),
        Goal::NotRobust => false,
    })
}

fn without(set: &ClosedSet, at: usize) -> ClosedSet {
    let mut packer = Packer::new(set.states.listed().clone());
    set.states.iter().enumerate().filter(|&(number, _)| number != at).for_each(|(_, state)| packer.add(&state));
    ClosedSet { states: packer.finish(), ..set.clone() }
}

#[test]
fn a_closed_set_is_accepted_exactly_if_it_is_whole_and_shows_nothing() {
    let (mut accepted, mut shown) = (0, 0);
    for seed in 0..120 {
        let program = random(seed);
        for way in WAYS {
            let Some(set) = states(&program, way) else { continue };
            let is_exact = way.1 == Buffering::EXACT;
            let expected = !is_unsafe(&program, way.0, &set.goals);
            let found = accepts(&program, &set);
            assert!(!found || expected, "seed {seed} {way:?}\n{}", dump(&program));
            assert!(found || !expected || !is_exact, "seed {seed} {way:?}\n{}", dump(&program));
            accepted += usize::from(found);
            shown += usize::from(!found);
            if found && !set.states.is_empty() {
                let at = Rng::new(seed).below(set.states.len());
                assert!(!accepts(&program, &without(&set, at)), "seed {seed} {way:?} without {at}\n{}", dump(&program));
            }
        }
    }
    assert!(accepted > 80 && shown > 20, "{accepted} accepted, {shown} not");
}

#[test]
fn a_set_survives_being_written_down() {
    for seed in 0..60 {
        let Some(set) = states(&random(seed), WAYS[seed as usize % 4]) else { continue };
        let (listed, count) = (set.states.listed().clone(), set.states.len());
        let again = PackedStates::read(listed, count, set.states.bytes().to_vec());
        assert_eq!(again.as_ref(), Ok(&set.states));
        let mut packer = Packer::new(set.states.listed().clone());
        set.states.iter().for_each(|state| packer.add(&state));
        assert_eq!(packer.finish(), set.states, "seed {seed}");
    }
}

/// One byte is changed, removed, doubled, or two are swapped.
fn mutated(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len().max(1));
        match rng.below(4) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => {
                let other = rng.below(bytes.len());
                bytes.swap(at, other);
            }
        }
    }
    bytes
}

#[test]
#[allow(clippy::print_stdout, reason = "how many attacks there were is worth knowing")]
fn no_changed_set_proves_an_unsafe_program_safe() {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    let (mut attacks, mut read) = (0, 0);
    for seed in 0..seeds {
        let (program, way) = (random(seed), WAYS[seed as usize % 4]);
        let Some(set) = states(&program, way) else { continue };
        let mut rng = Rng::new(seed);
        for variant in variants(&program).into_iter().chain([program]) {
            if !is_unsafe(&variant, way.0, &set.goals) {
                continue;
            }
            assert!(!accepts(&variant, &set), "seed {seed}\n{}", dump(&variant));
            for _ in 0..20 {
                let bytes = mutated(&mut rng, set.states.bytes());
                let count = set.states.len() + 1 - rng.below(3).min(set.states.len());
                attacks += 1;
                let Ok(states) = PackedStates::read(set.states.listed().clone(), count, bytes) else { continue };
                read += 1;
                let forged = ClosedSet { states, ..set.clone() };
                assert!(!accepts(&variant, &forged), "seed {seed}\n{}", dump(&variant));
            }
            for at in 0..set.states.len().min(20) {
                attacks += 1;
                assert!(!accepts(&variant, &without(&set, at)), "seed {seed} without {at}\n{}", dump(&variant));
            }
        }
    }
    println!("{attacks} attacks, {read} of them on bytes that can be read");
    assert!(attacks > 1_000, "{attacks} attacks");
}
