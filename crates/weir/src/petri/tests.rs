//! The engines compared with coverability by its definition, on all tiny nets of a shape and on random ones.

use weir_ir::net::Net;
use weir_testkit::Rng;
use weir_testkit::nets::{Shape, coverable, random_net, tiny_nets};

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
        Verdict::Violated(_) => Some(true),
        Verdict::Unknown(_) => None,
    }
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
