//! The checker on small nets by hand: what is right passes, and what is nearly right does not.

use weir_ir::net::{Count, CoverTarget, InitialMarkings, Move, Net, NetTransition, Place, Tokens};
use weir_ir::{ControlId, NetTransitionId, PlaceId, Uninterrupted};

use super::*;

const IDLE: PlaceId = PlaceId(0);
const USING: PlaceId = PlaceId(1);
const PERMITS: PlaceId = PlaceId(2);

fn transition(takes: &[Tokens], gives: &[Tokens]) -> NetTransition {
    NetTransition { needs: takes.to_vec(), takes: takes.to_vec(), gives: gives.to_vec(), ..NetTransition::default() }
}

/// Any number of clients share a permit; two of them use it.
fn semaphore() -> Net {
    let acquire = transition(&[(IDLE, 1), (PERMITS, 1)], &[(USING, 1)]);
    let release = transition(&[(USING, 1)], &[(IDLE, 1), (PERMITS, 1)]);
    let count = |low, high| Count { low, high };
    Net {
        controls: vec![String::new()],
        places: vec![Place::default(); 3],
        transitions: vec![acquire, release],
        initial: InitialMarkings {
            counts: vec![count(0, None), count(0, Some(0)), count(1, Some(1))],
            ..InitialMarkings::default()
        },
        targets: vec![CoverTarget { at_least: vec![(USING, 2)], ..CoverTarget::default() }],
        ..Net::default()
    }
}

fn check(net: &Net, proof: &CoverProof) -> Result<(), ProofFault> {
    check_cover_proof(net, proof, &Uninterrupted)
}

fn backward(facts: Vec<LinearFact>, basis: Vec<MinimalMarking>) -> CoverProof {
    CoverProof::Backward { never: NeverMarked::default(), facts, basis }
}

fn weights(places: &[(PlaceId, u64)]) -> LinearFact {
    LinearFact { places: places.to_vec(), ..LinearFact::default() }
}

fn marking(counts: &[Tokens]) -> MinimalMarking {
    MinimalMarking { control: ControlId(0), counts: counts.to_vec() }
}

#[test]
fn a_weighted_sum_must_not_grow_and_must_exclude_the_target() {
    let net = semaphore();
    let proof = |places: &[(PlaceId, u64)]| backward(vec![weights(places)], Vec::new());
    assert_eq!(check(&net, &proof(&[(USING, 1), (PERMITS, 1)])), Ok(()));
    assert_eq!(check(&net, &proof(&[(USING, 2), (PERMITS, 2)])), Ok(()));
    assert_eq!(check(&net, &proof(&[(USING, 2), (PERMITS, 1)])), Err(ProofFault::Fact(0)), "acquiring increases it");
    assert_eq!(check(&net, &proof(&[(USING, 1)])), Err(ProofFault::Fact(0)));
    assert_eq!(
        check(&net, &proof(&[(IDLE, 1), (USING, 1), (PERMITS, 1)])),
        Err(ProofFault::Fact(0)),
        "it is unbounded"
    );
    assert_eq!(check(&net, &proof(&[(PlaceId(9), 1)])), Err(ProofFault::Fact(0)));
    assert_eq!(check(&net, &proof(&[])), Err(ProofFault::Target(0)));
    let mut more = net.clone();
    more.initial.counts[2].high = Some(2);
    assert_eq!(check(&more, &proof(&[(USING, 1), (PERMITS, 1)])), Err(ProofFault::Target(0)));
}

#[test]
fn a_basis_contains_targets_and_predecessors_and_no_initial_marking() {
    let net = semaphore();
    let (two, one, none) =
        (&[(USING, 2)][..], &[(IDLE, 1), (USING, 1), (PERMITS, 1)][..], &[(IDLE, 2), (PERMITS, 2)][..]);
    let proof = |basis: &[&[Tokens]]| backward(Vec::new(), basis.iter().map(|counts| marking(counts)).collect());
    assert_eq!(check(&net, &proof(&[two, one, none])), Ok(()));
    assert_eq!(check(&net, &proof(&[two, one])), Err(ProofFault::NotClosed(1)));
    assert_eq!(check(&net, &proof(&[two, none])), Err(ProofFault::NotClosed(0)));
    assert_eq!(check(&net, &proof(&[one, none])), Err(ProofFault::Target(0)));
    assert_eq!(check(&net, &proof(&[two, one, none, &[(IDLE, 7)]])), Err(ProofFault::Initial(3)));
    assert_eq!(check(&net, &proof(&[&[(PlaceId(3), 1)]])), Err(ProofFault::Malformed));
    assert_eq!(check(&net, &proof(&[&[(USING, 1), (IDLE, 1)]])), Err(ProofFault::Malformed), "not sorted");
}

#[test]
fn ideals_contain_initial_markings_and_successors_and_no_target() {
    let net = semaphore();
    let ideal = |counts: [Option<u64>; 3]| Ideal { control: ControlId(0), counts: counts.to_vec() };
    let (free, used) = (ideal([None, Some(0), Some(1)]), ideal([None, Some(1), Some(0)]));
    let proof = |ideals: &[&Ideal]| CoverProof::Forward(ideals.iter().map(|&ideal| ideal.clone()).collect());
    assert_eq!(check(&net, &proof(&[&free, &used])), Ok(()));
    assert_eq!(check(&net, &proof(&[&free])), Err(ProofFault::NotClosed(0)));
    assert_eq!(check(&net, &proof(&[&used])), Err(ProofFault::Initial(0)));
    assert_eq!(check(&net, &proof(&[&free, &used, &ideal([None, None, None])])), Err(ProofFault::Target(0)));
    assert_eq!(check(&net, &proof(&[&ideal([Some(9), Some(0), Some(1)]), &used])), Err(ProofFault::Initial(0)));
}

#[test]
fn what_is_never_marked_must_stay_unmarked() {
    let mut net = semaphore();
    net.initial.counts[2] = Count { low: 0, high: Some(0) };
    let proof = |places: &[PlaceId]| CoverProof::Backward {
        never: NeverMarked { places: places.to_vec(), controls: Vec::new() },
        facts: Vec::new(),
        basis: Vec::new(),
    };
    assert_eq!(check(&net, &proof(&[USING, PERMITS])), Ok(()));
    assert_eq!(check(&net, &proof(&[USING])), Err(ProofFault::Marked), "a permit would do");
    assert_eq!(check(&net, &proof(&[IDLE, USING, PERMITS])), Err(ProofFault::Marked), "there are idle ones initially");
    net.transitions
        .push(NetTransition { moves: vec![Move { from: IDLE, to: vec![USING] }], ..NetTransition::default() });
    assert_eq!(check(&net, &proof(&[USING, PERMITS])), Err(ProofFault::Marked), "tokens are moved there");
}

/// One token goes round in the trap; the target leaves none for it.
#[test]
fn a_trap_must_be_marked_and_keep_a_token() {
    let mut net = semaphore();
    net.transitions = vec![transition(&[(IDLE, 1)], &[(USING, 1)]), transition(&[(USING, 1)], &[(IDLE, 1)])];
    let one = |low| Count { low, high: Some(1) };
    net.initial.counts = vec![one(1), Count { low: 0, high: Some(0) }, one(1)];
    net.targets[0].at_least = vec![(PERMITS, 2)];
    let trap = |places: &[PlaceId]| Trap { places: places.to_vec(), controls: Vec::new() };
    let proof =
        |trap: Trap| backward(vec![LinearFact { traps: vec![(trap, 1)], ..weights(&[(PERMITS, 1)]) }], Vec::new());
    assert_eq!(check(&net, &proof(trap(&[IDLE, USING]))), Ok(()));
    assert_eq!(check(&net, &proof(trap(&[IDLE]))), Err(ProofFault::Fact(0)), "it can lose its token");
    net.initial.counts[0] = one(0);
    assert_eq!(check(&net, &proof(trap(&[IDLE, USING]))), Err(ProofFault::Fact(0)), "it may not be marked");
}

#[test]
fn listed_configurations_are_all_there_are() {
    let mut net = semaphore();
    net.initial.counts[0] = Count { low: 1, high: Some(1) };
    net.targets[0].at_least = vec![(USING, 1)];
    net.targets[0].at_most = vec![(PERMITS, 0), (IDLE, 0)];
    net.targets[0].at_most.sort_unstable();
    let (free, used) = ((ControlId(0), vec![1, 0, 1]), (ControlId(0), vec![0, 1, 0]));
    let listed = |all: &[&(ControlId, Vec<u64>)]| CoverProof::Listed(all.iter().map(|&one| one.clone()).collect());
    assert_eq!(check(&net, &listed(&[&free, &used])), Err(ProofFault::Target(0)));
    net.targets[0].at_least = vec![(IDLE, 1), (USING, 1)];
    assert_eq!(check(&net, &listed(&[&free, &used])), Ok(()));
    assert_eq!(check(&net, &listed(&[&free])), Err(ProofFault::NotClosed(0)));
    assert_eq!(check(&net, &listed(&[&used])), Err(ProofFault::Initial(0)));
    net.initial.counts[0].high = None;
    assert_eq!(check(&net, &listed(&[&free, &used])), Err(ProofFault::Malformed), "there are more initial ones");
}

#[test]
fn firing_sequences_are_replayed_step_by_step() {
    let mut net = semaphore();
    net.initial.counts[2].high = Some(2);
    let fire = |initial: [u64; 3], steps: &[u32]| {
        let step = |&transition: &u32| FiringStep { transition: NetTransitionId(transition), sent: Vec::new() };
        check_firing(&net, Firing { initial: initial.to_vec(), steps: steps.iter().map(step).collect() })
    };
    let checked = fire([2, 0, 2], &[0, 1, 0, 0]).expect("a run");
    assert_eq!(checked.configurations(&net).last(), Some((ControlId(0), vec![0, 2, 0])));
    assert_eq!(fire([2, 0, 2], &[0]), Err(FiringError::NoTarget));
    assert_eq!(fire([2, 0, 3], &[0, 0]), Err(FiringError::Start));
    assert_eq!(fire([2, 2, 2], &[]), Err(FiringError::Start));
    assert!(matches!(fire([1, 0, 2], &[0, 0]), Err(FiringError::Step(1, _))));
    assert!(matches!(fire([1, 0, 2], &[7]), Err(FiringError::Step(0, _))));
}

#[test]
fn moved_tokens_go_where_they_can() {
    let mut net = semaphore();
    let moves = vec![Move { from: IDLE, to: vec![USING, PERMITS] }];
    net.transitions = vec![NetTransition { moves, ..NetTransition::default() }];
    let fire = |sent: &[(PlaceId, PlaceId, u64)]| {
        let steps = vec![FiringStep { transition: NetTransitionId(0), sent: sent.to_vec() }];
        check_firing(&net, Firing { initial: vec![3, 0, 1], steps })
    };
    let after = |sent: &[(PlaceId, PlaceId, u64)]| {
        fire(sent).map(|checked| checked.configurations(&net).last().expect("one").1)
    };
    assert_eq!(after(&[]), Ok(vec![0, 3, 1]));
    assert_eq!(after(&[(IDLE, PERMITS, 1)]), Ok(vec![0, 2, 2]));
    assert_eq!(after(&[(IDLE, PERMITS, 3)]), Err(FiringError::NoTarget));
    assert!(matches!(after(&[(IDLE, PERMITS, 4)]), Err(FiringError::Step(0, _))));
    assert!(matches!(after(&[(IDLE, IDLE, 1)]), Err(FiringError::Step(0, _))));
    assert!(matches!(after(&[(USING, PERMITS, 1)]), Err(FiringError::Step(0, _))));
}
