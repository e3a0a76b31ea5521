//! What holds of a robust program without store buffers holds with them: goals of `forbid`, `always`, `exists` and of
//! assertions are reached under TSO if and only if they are reached under SC, judged by the reference.

use weir::robust::{Options, robust};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Program, PropertyKind};
use weir_testkit::dump;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::{Goal, Model, explore};

use crate::exactly::questioned;

/// How many states the reference visits.
const MOST: usize = 4_000;

fn is_reached_state(program: &Program, goal: &Goal) -> bool {
    match goal {
        Goal::Property(id) => {
            let kind = &program.properties[id.index()].kind;
            matches!(kind, PropertyKind::Forbid(_) | PropertyKind::Always(_) | PropertyKind::Exists(_))
        }
        Goal::Assertion(_) => true,
    }
}

fn is_robust(program: &Program) -> bool {
    let session = Session::new(Limits { states: Some(20_000), ..Limits::default() });
    match robust(program, &Options::default(), &session) {
        Ok(report) => report.verdict == Verdict::Holds,
        Err(Failure::Refused(_) | Failure::TooLarge(_)) => false,
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn robust_programs_reach_the_same_goals_with_and_without_buffers() {
    let families = [
        Config::acyclic().weighing(Statement::Fence, 30).weighing(Statement::Assert, 10),
        Config::acyclic().weighing(Statement::Atomic, 30).weighing(Statement::StrayLock, 5),
        Config::cyclic().weighing(Statement::Fence, 40).weighing(Statement::Membarrier, 5),
    ];
    let (mut robust, mut reached) = (0, 0);
    for (family, config) in families.iter().enumerate() {
        let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
        for seed in 0..count {
            let plain = program(seed, config);
            let program = if seed % 2 == 0 { questioned(&plain, seed) } else { plain };
            if !is_robust(&program) {
                continue;
            }
            let goals = |model| {
                let found = explore(&program, model, MOST).expect("it is supported");
                let goals = found.goals.keys().filter(|goal| is_reached_state(&program, goal)).copied();
                found.complete.then(|| goals.collect::<Vec<_>>())
            };
            let (Some(without), Some(with)) = (goals(Model::Sc), goals(Model::Tso)) else { continue };
            assert_eq!(without, with, "family {family}, seed {seed}\n{}", dump(&program));
            robust += 1;
            reached += usize::from(!with.is_empty());
        }
    }
    assert!(robust >= 60 && reached >= 10, "{robust} robust, {reached} reach something");
}
