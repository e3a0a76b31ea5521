//! All engines together.

use weir::check::{Options, check};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::Program;
use weir_testkit::dump;
use weir_testkit::random::{Config, program};
use weir_testkit::reference::{self, explore};

use crate::{state_goals, was_seen};

/// The verdict of the portfolio, with who gave it and the run.
fn verdict(program: &Program) -> Option<(bool, Option<&'static str>, String)> {
    let session = Session::new(Limits { states: Some(20_000), ..Limits::default() });
    let answer = match check(program, &Options { goals: state_goals(program) }, &session) {
        Ok(answer) => answer,
        Err(Failure::Refused(_) | Failure::TooLarge(_)) => return None,
        Err(what) => panic!("{what}\n{}", dump(program)),
    };
    let winner = answer.winner.map(|winner| winner.name());
    match answer.verdict {
        Verdict::Holds => Some((true, winner, String::new())),
        Verdict::Violated(checked) => Some((false, winner, format!("{:?}", checked.run()))),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn the_portfolio_agrees_with_the_reference() {
    let (mut safe, mut broken) = (0, 0);
    for seed in 0..150 {
        let config = [Config::acyclic(), Config::cyclic(), Config::locking()][seed as usize % 3].clone();
        let program = program(seed, &config);
        let goals = state_goals(&program);
        if goals.is_empty() {
            continue;
        }
        let outcome = explore(&program, reference::Model::Tso, 3_000).expect("the reference can");
        let reached = goals.iter().any(|&goal| was_seen(&outcome, goal));
        if let Some((holds, winner, _)) = verdict(&program) {
            assert!(holds != reached || !reached && !outcome.complete, "seed {seed}: {winner:?} says {holds}");
            *if holds { &mut safe } else { &mut broken } += 1;
        }
    }
    assert!(safe > 20 && broken > 20, "{safe} safe, {broken} broken");
}

/// Who wins, and with which run, does not depend on who was faster.
#[test]
fn the_same_engine_wins_every_time() {
    for seed in 0..25 {
        let program = program(seed, &Config::cyclic());
        let first = verdict(&program);
        for _ in 0..3 {
            assert_eq!(verdict(&program), first, "seed {seed}");
        }
    }
}
