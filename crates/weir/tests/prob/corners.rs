//! Where things are large, awkward or both.

use weir::prob::{
    Alternative, Interval, Obstacle, Question, Settings, Simulation, Target, UpdatePolicy, cost, exact_probability,
    probability, simulate,
};
use weir::{Bound, Failure, Session};

use crate::targets::read;

#[test]
fn alternatives_are_looked_for_by_themselves() {
    // That one of them mentions a cell, and is judged at drained configurations, changes nothing for the other.
    let chance = |target: &str| {
        let text = format!(
            "shared x, y; thread P {{ x = 1; mid: let r = y; }} thread Q {{ y = 1; mid: let s = x; }} forbid {target};"
        );
        let (program, target) = read(&text);
        let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
        let answer = exact_probability(&program, &question, &Session::default()).expect("it can be handled");
        answer.known().expect("it is small").probability
    };
    let alone = chance("P at mid && Q at mid");
    assert_eq!(alone, chance("P at mid && Q at mid || x == 7"));
    assert_eq!(alone, chance("x == 7 || P at mid && Q at mid || y == 9"));
    assert!(alone > chance("P at mid && Q at mid && x != 7"));
}

#[test]
fn too_many_choices_in_one_place_do_not_keep_it_going_elsewhere() {
    let text = "shared y;
        thread P {
            let r;
            choose { skip; r = any 0..100000; } or { skip; loop { y = 1; choose { skip; break; } or { skip; } } done: skip; }
        }
        thread Q { let q; loop { q = y; y = 0; } }
        forbid P.r == 5 || P at done;";
    let (program, target) = read(text);
    let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
    let answer = probability(&program, &question, 1e-6, &Session::default()).expect("it can be handled");
    assert_eq!(answer.obstacle, Some(Obstacle::Choices));
    assert!(answer.interval.width() < 0.6, "{answer:?}");
}

#[test]
fn buffers_with_a_bound_need_no_other() {
    // No bound is known for how long buffers take with this policy, and none is needed.
    let text = "shared x, y, z;
        thread A { x = 1; y = 1; z = 1; x = 2; y = 2; }
        thread B { y = 3; x = 3; z = 3; let b = z; }
        thread C { z = 5; x = 5; let c = y; }
        forbid A at end && B at end && C at end;";
    let (program, target) = read(text);
    let settings = Settings { updates: UpdatePolicy::Single, ..Settings::default() };
    let answer = cost(&program, &target, &settings, 1e-6, &Session::default()).expect("it can be handled");
    let interval = answer.cost.expect("all threads end");
    assert!(answer.configurations > 2_000 && answer.obstacle.is_none(), "{answer:?}");
    assert!(interval.lower <= 12.0 && 12.0 <= interval.upper && interval.width() <= 1e-5, "{interval:?}");
    let question = Question { target: target.into(), repeated: false, settings };
    let exact = exact_probability(&program, &question, &Session::default()).expect("it can be handled");
    assert_eq!(exact.known().map(|exact| exact.probability), Some("1".parse().expect("a number")));
}

#[test]
fn threads_without_number_and_recursion_are_refused() {
    for text in [
        "shared x; thread P[*] { x = 1; } forbid x == 1;",
        "shared x; proc f(a) { if a > 0 { f(a - 1); x = a; } } thread P { f(3); } forbid x == 1;",
        "shared x; thread Q { x = 1; } thread P { spawn Q; } forbid x == 1;",
    ] {
        let (program, target) = read(text);
        let answer = cost(&program, &target, &Settings::default(), 1e-6, &Session::default());
        assert!(matches!(answer, Err(Failure::Refused(_))), "{text}: {answer:?}");
    }
}

#[test]
fn large_costs_are_refused_where_they_are_stated() {
    let text = "cost fence = 2000000000; shared x; thread P { x = 1; fence; } forbid P at end;";
    let (program, target) = read(text);
    let answer = cost(&program, &target, &Settings::default(), 1e-6, &Session::default());
    assert!(matches!(answer, Err(Failure::Refused(error)) if error.code == "cost-too-large"));
}

#[test]
fn means_of_large_costs_are_not_rounded_away() {
    let text = "cost fence = 1000000000; shared x;
        thread P { let r = 1; fence; fence; fence; while r == 1 { r = any 0..1; } } forbid P at end;";
    let (program, target) = read(text);
    let jobs = std::num::NonZeroUsize::MIN;
    let simulation = Simulation { runs: 2_000, seed: 1, most_steps: 1_000, doubt: 0.001, jobs };
    let runs = simulate(&program, &target, &Settings::default(), &simulation, &Session::default());
    let (_, interval) = runs.expect("it can be handled").cost.expect("it is reached");
    // Beside the fences: an assignment, two turns of the loop on the average, and the test that ends it.
    let truth = 3_000_000_006.0;
    assert!(interval.lower <= truth && truth <= interval.upper, "{interval:?}");
}

#[test]
fn every_label_of_a_place_is_counted() {
    let text = "shared x; thread P { one: two: x = 1; } forbid P at end;";
    let (program, target) = read(text);
    let answer = cost(&program, &target, &Settings::default(), 1e-9, &Session::default()).expect("it can be handled");
    let names: Vec<&str> = answer.visits.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["P at one", "P at two"]);
}

/// A program whose probability of getting stuck is asked for.
fn stuck(text: &str) -> Result<Interval, Failure> {
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let program = parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program;
    let target = Target::any_of([Alternative::Stuck]);
    let question = Question { target, repeated: false, settings: Settings::default() };
    let session = Session::default().with_bound(Bound::ProbStuckStates, 5_000);
    probability(&program, &question, 1e-9, &session).map(|found| found.interval)
}

#[test]
fn how_likely_threads_are_to_be_stuck() {
    let is = |text: &str, value: f64| {
        let found = stuck(text).expect("it can be handled");
        assert!(found.lower <= value && value <= found.upper && found.width() <= 1e-9, "{found:?}: {text}");
    };
    is("shared x; thread P { while x == 0 { } }", 1.0);
    is("shared x; thread P { while x == 0 { } } thread Q { x = 1; }", 0.0);
    is("shared x; thread P { choose { while x == 0 { } } or { skip; } }", 0.5);
    is("shared x; thread P { let r = any 0..3; assume r != 2; }", 0.25);
    // A loop without an exit may be what is wanted.
    is("shared x; thread P { loop { skip; } }", 0.0);
    // Buffers grow without bound, and yet there is a proof that P always gets on.
    is("shared x, y; thread P { while y == 0 { x = 1; } } thread Q { y = 1; }", 0.0);
}

#[test]
fn stuck_threads_need_finitely_many_states() {
    let refused = stuck("shared x, y; thread P { loop { x = 1; } } thread Q { while x == 0 { } await y == 1; }");
    let Err(Failure::Refused(why)) = refused else { panic!("{refused:?}") };
    assert_eq!(why.code, "too-many-states");
}
