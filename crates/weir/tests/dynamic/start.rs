//! Threads that wait until they are started do under SC what threads started at run time do.

use std::collections::BTreeSet;

use weir::Failure;
use weir::translate::start::{Sections, start};
use weir_ir::{Program, PropertyKind, Source};
use weir_testkit::Rng;
use weir_testkit::calls::program as random_text;
use weir_testkit::reference::{Depth, Goal, Model, explore, explore_within};

use super::compare::{dynamic_program, parse};

/// Which goals are reached: properties by their place in the text, assertions by the thread that was spawned.
type Reached = BTreeSet<(Option<u32>, Option<String>)>;

fn named(program: &Program, goal: &Goal) -> (Option<u32>, Option<String>) {
    match *goal {
        Goal::Property(property) => (Some(program.properties[property.index()].span.start), None),
        Goal::Assertion(thread) => (None, Some(program.thread(thread).family.0.clone())),
    }
}

/// Whether both do the same, if the reference can tell.
fn compare(program: &Program, text: &str, instances: u32) -> Option<bool> {
    let made = match start(program, instances, Sections::Own) {
        Ok(made) => made,
        Err(Failure::Refused(why)) => {
            assert_eq!(why.code, "spawn-and-lock", "{text}");
            return None;
        }
        Err(failure) => panic!("{failure}\n{text}"),
    };
    assert!(!made.program.spawns(), "{text}");
    let depth = Depth { frames: 0, spawned: instances as usize };
    let expected = explore_within(program, Model::Sc, 30_000, depth).expect("a supported program");
    let printed = weir_syntax::weir::print::print(&made.program);
    let source = Source::new("again.weir", printed.clone());
    let again = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    again.unwrap_or_else(|errors| panic!("{errors:#?}\n{printed}"));
    let found = explore(&made.program, Model::Sc, 300_000).expect("nothing unsupported");
    if !expected.outcome.complete || !found.complete {
        return None;
    }
    let is_kept = |kind: &PropertyKind| *kind != PropertyKind::ForbidDeadlock && !kind.is_liveness();
    let is_kept = |goal: &&Goal| match goal {
        Goal::Property(property) => is_kept(&program.properties[property.index()].kind),
        Goal::Assertion(_) => true,
    };
    let wanted: Reached = expected.outcome.goals.keys().filter(is_kept).map(|goal| named(program, goal)).collect();
    let seen: Reached = found.goals.keys().map(|goal| named(&made.program, goal)).collect();
    assert_eq!(seen, wanted, "{instances}\n{text}\n{printed}");
    Some(expected.goes_beyond)
}

#[test]
fn small_programs_agree() {
    for text in [
        "shared x; thread P { spawn T; } thread T[0] { x = 1; } exists x == 1; exists x == 0; always x == 1;",
        "shared x; thread P { choose { spawn T; } or { } x = 2; } thread T[0] { x = 1; } \
         exists x == 1; exists x == 2; exists x == 0; always x != 1; always x != 2;",
        "shared x; thread P { spawn T; spawn T; } thread T[0] { let r = x; x = r + 1; } always x == 2; exists x == 1; \
         forbid count(T at end) == 2; forbid count(T at end) == 3;",
        "shared x: 0..2; thread P { let r = x; if r < 2 { x = r + 1; spawn P; } } \
         always x == 2; forbid count(P at end) == 3; forbid count(P at end) == 4;",
        "shared x; thread P { spawn T; let r = x; assert r == 0; } thread T[0] { spawn U; x = 1; } \
         thread U[0] { let r = x; assert r == 0; }",
    ] {
        for instances in [1, 2, 3] {
            assert!(compare(&parse(text), text, instances).is_some(), "{text}");
        }
    }
}

#[test]
fn random_programs_agree() {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(200);
    let (mut compared, mut beyond) = (0, 0);
    for seed in 0..count {
        let text = random_text(&mut Rng::new(seed), true);
        let Some(program) = dynamic_program(&text).filter(|program| program.spawns() && !program.calls()) else {
            continue;
        };
        if let Some(more) = compare(&program, &format!("seed {seed}\n{text}"), 1 + (seed % 2) as u32) {
            compared += 1;
            beyond += u64::from(more);
        }
    }
    assert!(6 * compared > count && beyond > 0, "{compared} of {count}, {beyond}");
}
