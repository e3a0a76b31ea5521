//! The engines compared with coverability by its definition, on all tiny nets of a shape and on random ones.

use weir_ir::net::{Count, Net};
use weir_testkit::Rng;
use weir_testkit::nets::{Shape, coverable, random_net, successors, tiny_nets};
use weir_witness::net::FiringStep;

use super::*;
use crate::session::Limits;

/// The answer of an engine with so many states.
fn answer(net: &Net, engine: Engine, states: u64) -> Option<bool> {
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    let report = cover(net, engine, &session).unwrap_or_else(|error| panic!("{}: {net:?}", error.message));
    match report.verdict {
        Verdict::Holds => {
            assert!(report.proof.is_some());
            Some(false)
        }
        Verdict::Violated(firing) => {
            follow(net, &firing);
            Some(true)
        }
        Verdict::Unknown(_) => None,
    }
}

/// Checks every step of a run by the definition.
fn follow(net: &Net, firing: &CheckedFiring) {
    let configurations: Vec<_> = firing.configurations(net).collect();
    assert_eq!(configurations.len(), firing.firing().steps.len() + 1);
    for (step, pair) in firing.firing().steps.iter().zip(configurations.windows(2)) {
        let transition = net.transition(step.transition);
        assert_eq!((transition.from, transition.to), (pair[0].0, pair[1].0), "{net:#?}");
        assert!(successors(transition, &pair[0].1).contains(&pair[1].1), "{step:?}: {pair:?} of {net:#?}");
    }
    let (control, marking) = configurations.last().expect("the initial one at least");
    let target = &net.targets[firing.target()];
    assert!(target.control.is_none_or(|wanted| wanted == *control));
    assert!(target.at_least.iter().all(|&(place, count)| marking[place.index()] >= count));
}

/// Compares all engines with the definition; returns the answer.
fn compare(net: &Net, name: &str) -> Option<bool> {
    let expected = coverable(net)?;
    for engine in [Engine::Auto, Engine::Backward] {
        assert_eq!(answer(net, engine, u64::MAX), Some(expected), "{name}, {engine:?}: {net:#?}");
    }
    for engine in [Engine::Facts, Engine::Forward, Engine::Enlarge] {
        if let Some(found) = answer(net, engine, 200) {
            assert_eq!(found, expected, "{name}, {engine:?}: {net:#?}");
        }
    }
    Some(expected)
}

fn seeds(usual: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(usual)
}

fn random(shape: Shape, from: u64) {
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for seed in from..from + seeds(800) {
        let net = random_net(&mut Rng::new(seed), shape);
        match compare(&net, &format!("seed {seed}")) {
            Some(true) => yes += 1,
            Some(false) => no += 1,
            None => unknown += 1,
        }
    }
    assert!(yes > 100 && no > 100 && unknown < 100, "{yes} coverable, {no} not, {unknown} too large");
}

#[test]
fn random_plain_nets_are_answered_as_the_definition_says() {
    random(Shape { places: 3, controls: 1, transitions: 5, tokens: 2, moves: false }, 0);
}

#[test]
fn random_nets_with_control_are_answered_as_the_definition_says() {
    random(Shape { places: 3, controls: 3, transitions: 7, tokens: 1, moves: false }, 100_000);
}

#[test]
fn random_nets_with_transfers_and_resets_are_answered_as_the_definition_says() {
    random(Shape { places: 3, controls: 2, transitions: 5, tokens: 1, moves: true }, 200_000);
}

#[test]
fn tiny_nets_are_answered_as_the_definition_says() {
    let questions = [([1, 0], [0, 1]), ([1, 1], [2, 0]), ([9, 0], [1, 1]), ([0, 1], [1, 1]), ([2, 0], [1, 2])];
    for (number, (initial, target)) in questions.into_iter().enumerate() {
        // One question per net: all questions for all nets with WEIR_TINY.
        let is_all = std::env::var_os("WEIR_TINY").is_some();
        let nets = tiny_nets(initial, target).enumerate();
        for (at, net) in nets.filter(|(at, _)| is_all || at % questions.len() == number) {
            assert!(compare(&net, &format!("net {at} of question {number}")).is_some());
        }
    }
}

/// A net that can do a little more than another.
fn variant(net: &Net, rng: &mut Rng, shape: Shape) -> Net {
    let mut net = net.clone();
    match rng.below(4) {
        0 => {
            let other = random_net(rng, shape);
            let fits = |list: &[(weir_ir::PlaceId, u64)]| list.iter().all(|entry| entry.0.index() < net.places.len());
            let fitting = other.transitions.into_iter().filter(|transition| {
                let moves = transition.moves.iter().flat_map(|step| step.to.iter().chain([&step.from]));
                let is_known = |control: weir_ir::ControlId| control.index() < net.controls.len();
                fits(&transition.needs)
                    && fits(&transition.gives)
                    && moves.into_iter().all(|place| place.index() < net.places.len())
                    && is_known(transition.from)
                    && is_known(transition.to)
            });
            let fitting: Vec<_> = fitting.collect();
            net.transitions.extend(fitting);
        }
        1 => {
            let place = rng.below(net.places.len());
            let count = &mut net.initial.counts[place];
            *count = Count { low: count.low, high: count.high.map(|high| high + 1).filter(|_| rng.chance(70)) };
        }
        2 => {
            let at = rng.below(net.targets.len());
            net.targets[at].at_least.pop();
        }
        _ => {
            let at = rng.below(net.transitions.len());
            let transition = &mut net.transitions[at];
            transition.needs.pop();
            let needs = transition.needs.clone();
            transition.takes.retain(|take| needs.iter().any(|need| need.0 == take.0));
        }
    }
    net
}

/// A proof for a net that cannot cover its targets does not pass for one that can and is nearly the same.
#[test]
fn proofs_do_not_pass_for_nets_that_can_do_more() {
    let shape = Shape { places: 3, controls: 2, transitions: 5, tokens: 1, moves: true };
    let mut rejected = [0; 2];
    for seed in 300_000..300_000 + seeds(1_500) {
        let mut rng = Rng::new(seed);
        let net = random_net(&mut rng, shape);
        for (kind, engine) in [Engine::Backward, Engine::Enlarge].into_iter().enumerate() {
            let session = Session::new(Limits { states: Some(200), ..Limits::default() });
            let report = cover(&net, engine, &session).unwrap_or_else(|error| panic!("{}", error.message));
            let Some(proof) = report.proof else { continue };
            for _ in 0..4 {
                let variant = variant(&net, &mut rng, shape);
                if coverable(&variant) == Some(true) {
                    let checked = check_cover_proof(&variant, &proof, &session);
                    assert!(checked.is_err(), "seed {seed}: {proof:#?} for {variant:#?}");
                    rejected[kind] += 1;
                }
            }
        }
    }
    assert!(rejected.iter().all(|&count| count > 100), "{rejected:?}");
}

/// A run that was changed is only accepted if it is a run all the same.
#[test]
fn runs_that_were_changed_are_followed_step_by_step() {
    let shape = Shape { places: 3, controls: 2, transitions: 5, tokens: 1, moves: true };
    let (mut accepted, mut refused) = (0, 0);
    for seed in 400_000..400_000 + seeds(1_000) {
        let mut rng = Rng::new(seed);
        let net = random_net(&mut rng, shape);
        let session = Session::new(Limits { states: Some(500), ..Limits::default() });
        let report = cover(&net, Engine::Auto, &session).unwrap_or_else(|error| panic!("{}", error.message));
        let Verdict::Violated(found) = report.verdict else { continue };
        let mut firing = found.firing().clone();
        match rng.below(3) {
            0 if !firing.steps.is_empty() => drop(firing.steps.remove(rng.below(firing.steps.len()))),
            1 => {
                let at = rng.below(net.places.len());
                firing.initial[at] += 1;
            }
            _ => {
                let transition = weir_ir::NetTransitionId::new(rng.below(net.transitions.len()));
                firing.steps.insert(rng.below(firing.steps.len() + 1), FiringStep { transition, sent: Vec::new() });
            }
        }
        match check_firing(&net, firing) {
            Ok(firing) => {
                let fits = |(&count, bounds): (&u64, &Count)| {
                    count >= bounds.low && bounds.high.is_none_or(|high| count <= high)
                };
                assert!(firing.firing().initial.iter().zip(&net.initial.counts).all(fits));
                follow(&net, &firing);
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 30 && refused > 30, "{accepted} accepted, {refused} refused");
}

/// Nets with finitely many configurations and targets with upper bounds: compared with a plain search.
#[test]
fn targets_with_upper_bounds_are_decided_for_finite_nets() {
    let shape = Shape { places: 3, controls: 2, transitions: 4, tokens: 1, moves: true };
    let (mut yes, mut no) = (0, 0);
    for seed in 500_000..500_000 + seeds(1_500) {
        let mut rng = Rng::new(seed);
        let mut net = random_net(&mut rng, shape);
        for count in &mut net.initial.counts {
            count.high = Some(count.low);
        }
        for target in &mut net.targets {
            target.at_most = (0..net.places.len()).map(|place| (weir_ir::PlaceId::new(place), 1)).collect();
            target.at_least.iter_mut().for_each(|entry| entry.1 = 1);
        }
        let Some(expected) = reachable(&net) else { continue };
        let session = Session::new(Limits { states: Some(2_000), ..Limits::default() });
        let report = cover(&net, Engine::Auto, &session).unwrap_or_else(|error| panic!("{}", error.message));
        match report.verdict {
            Verdict::Violated(_) => assert!(expected, "seed {seed}: {net:#?}"),
            Verdict::Holds => assert!(!expected, "seed {seed}: {net:#?}"),
            Verdict::Unknown(limit) => panic!("seed {seed}: {limit}: {net:#?}"),
        }
        if expected { yes += 1 } else { no += 1 }
    }
    assert!(yes > 100 && no > 100, "{yes} reachable, {no} not");
}

/// Whether a target can be reached, upper bounds included; `None` if there are many configurations.
fn reachable(net: &Net) -> Option<bool> {
    let initial: Vec<u64> = net.initial.counts.iter().map(|count| count.low).collect();
    let mut seen = std::collections::BTreeSet::from([(net.initial.control, initial.clone())]);
    let mut open = vec![(net.initial.control, initial)];
    while let Some((control, marking)) = open.pop() {
        for transition in net.transitions.iter().filter(|transition| transition.from == control) {
            for after in successors(transition, &marking) {
                if seen.insert((transition.to, after.clone())) {
                    open.push((transition.to, after));
                }
            }
        }
        if seen.len() > 200 {
            return None;
        }
    }
    Some(seen.iter().any(|(control, marking)| {
        net.targets.iter().any(|target| {
            target.control.is_none_or(|wanted| wanted == *control)
                && target.at_least.iter().all(|&(place, count)| marking[place.index()] >= count)
                && target.at_most.iter().all(|&(place, count)| marking[place.index()] <= count)
        })
    }))
}
