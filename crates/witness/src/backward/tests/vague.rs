//! Threads whose states are listed vaguely: proofs may be lost that way, but what can be reached still has none.

use weir_testkit::{Rng, dump, explore};

use super::exact::{LARGEST, storing};
use super::forger::{Forger, Outcome};
use super::*;
use crate::testing::family;

/// The same threads with states of one class put together and registers left out, at random.
fn blurred(program: &Program, proof: &BackwardProof, rng: &mut Rng) -> BackwardProof {
    let mut proof = proof.clone();
    for (place, classes) in proof.classes.iter_mut().enumerate() {
        let body = &program.threads[place].body;
        let hidden: BTreeSet<(LocId, RegId)> = body
            .location_ids()
            .flat_map(|at| (0..body.registers.len()).map(move |register| (at, RegId::new(register))))
            .filter(|_| rng.chance(25))
            .collect();
        let mut merged: BTreeMap<LocalState, usize> = BTreeMap::new();
        let mut fresh: Vec<Vec<LocalState>> = Vec::new();
        for mut state in classes.iter().flatten().cloned() {
            let at = state.location;
            state.registers.retain(|register, _| !hidden.contains(&(at, *register)));
            if merged.contains_key(&state) {
                continue;
            }
            let like = fresh.iter().position(|class| class[0].holds_lock == state.holds_lock && rng.chance(10));
            let class = like.unwrap_or(fresh.len());
            if class == fresh.len() {
                fresh.push(Vec::new());
            }
            fresh[class].push(state.clone());
            merged.insert(state, class);
        }
        *classes = fresh;
    }
    proof
}

#[test]
fn threads_seen_vaguely_prove_nothing_that_is_not_so() {
    let mut rng = Rng::new(1);
    let (mut refused, mut accepted) = (0, 0);
    for program in family::programs().into_iter().step_by(5).chain(storing().into_iter().map(family::with_data)) {
        let outcome = explore(&program, weir_testkit::Model::Tso, 3_000).expect("supported");
        for goal in (0..11).map(PropertyId) {
            let is_reached = outcome.goals.contains_key(&weir_testkit::Goal::Property(goal));
            let whole = Forger::new(&program, vec![Goal::Property(goal)], 60).expect("few states").proof;
            let proof = blurred(&program, &whole, &mut rng);
            let Some(mut forger) = Forger::with(&program, proof) else { continue };
            match forger.run(LARGEST) {
                Outcome::Accepted => {
                    assert!(!is_reached, "{goal:?} {:?}\n{}", forger.proof, dump(&program));
                    accepted += 1;
                }
                _ => refused += 1,
            }
        }
    }
    assert!(refused > 80 && accepted > 100, "{refused} refused, {accepted} accepted");
}
