//! Limits, and what cannot be handled: the answer says which came first, and what it still tells is true.

use std::num::NonZeroUsize;
use std::time::Duration;

use dashu_ratio::RBig;
use weir::prob::{
    Almost, Certainty, Fraction, Obstacle, Question, Settings, Simulation, UpdatePolicy, almost, cost, curve,
    exact_probability, frequencies, probability, simulate, simulated_frequencies,
};
use weir::{Limit, Limits, Session};

use crate::naive::{big, holds};
use crate::targets::read;

fn states(most: u64) -> Session {
    Session::new(Limits { states: Some(most), ..Limits::default() })
}

fn no_time() -> Session {
    Session::new(Limits { time: Some(Duration::ZERO), ..Limits::default() })
}

/// Q reads a 1 with probability 1/4, and that takes a few configurations to find out.
const MESSAGE: &str = "shared x; thread P { x = 1; } thread Q { let r = x; read: skip; } forbid Q at read && Q.r == 1;";

fn ask(text: &str) -> (weir_ir::Program, Question) {
    let (program, target) = read(text);
    (program, Question { target: target.into(), repeated: false, settings: Settings::default() })
}

#[test]
fn a_limit_on_states_is_kept_and_reported() {
    let (program, asked) = ask(MESSAGE);
    let quarter = RBig::ONE / RBig::from(4);
    let limit = Some(Obstacle::Limit(Limit::States));
    let found = probability(&program, &asked, 1e-6, &states(3)).expect("it can be handled");
    assert!(found.obstacle == limit && holds(found.interval, &quarter) && !found.is_complete, "{found:?}");
    let exact = exact_probability(&program, &asked, &states(3)).expect("it can be handled");
    assert_eq!(exact.obstacle(), limit);
    let found = cost(&program, &asked.target, &asked.settings, 1e-6, &states(3)).expect("it can be handled");
    assert_eq!((found.obstacle, found.is_complete), (limit, false));
    assert!(found.cost.is_some_and(|cost| cost.lower <= 2.0 && 2.0 <= cost.upper), "{found:?}");
    let found = curve(&program, &asked.target, &asked.settings, 5, &states(3)).expect("it can be handled");
    assert!(found.obstacle == limit && (1..6).contains(&found.points.len()), "{found:?}");
    let found = frequencies(&program, &asked.settings, 5, 1 << 20, &states(3)).expect("it can be handled");
    assert_eq!(found, None);
    for which in [Almost::Surely, Almost::Never] {
        let found = almost(&program, &asked, which, &states(1)).expect("it can be handled").certainty;
        assert_eq!(found, Certainty::Unknown(Obstacle::Limit(Limit::States)), "{which:?}");
    }
}

/// A limit that is just large enough changes nothing.
#[test]
fn as_many_states_as_are_needed_are_enough() {
    let (program, asked) = ask(MESSAGE);
    let free = probability(&program, &asked, 1e-6, &Session::default()).expect("it can be handled");
    assert!(free.obstacle.is_none() && free.configurations > 3);
    let enough = states(free.configurations as u64);
    assert_eq!(probability(&program, &asked, 1e-6, &enough).expect("it can be handled"), free);
    let few = states(free.configurations as u64 - 2);
    let found = probability(&program, &asked, 1e-6, &few).expect("it can be handled");
    assert_eq!(found.obstacle, Some(Obstacle::Limit(Limit::States)));
}

/// A run that needs more waiting stores than are tried out comes from the exact engine.
#[test]
fn a_run_with_many_waiting_stores_is_found() {
    let stores = "y = 1; ".repeat(20);
    // Z keeps the chain from being looked through as a whole.
    let text = format!(
        "shared x, y, z, w; thread P {{ x = 1; {stores} let r = z; }} thread Q {{ z = 1; fence; let s = x; }}
         thread Z {{ loop {{ w = 1; w = 2; w = 3; }} }} forbid P at end && Q at end && P.r == 0 && Q.s == 0;"
    );
    let (program, asked) = ask(&text);
    let found = almost(&program, &asked, Almost::Never, &Session::default()).expect("it can be handled").certainty;
    let Certainty::Fails(run) = found else { panic!("{found:?}") };
    let before_flushes = run.events().iter().take_while(|event| event.edge.is_some()).count();
    assert!(before_flushes > 10, "{before_flushes} steps before the first store leaves");
}

#[test]
fn time_comes_to_an_end() {
    let (program, asked) = ask(MESSAGE);
    let limit = Some(Obstacle::Limit(Limit::Time));
    assert_eq!(probability(&program, &asked, 1e-6, &no_time()).expect("it can be handled").obstacle, limit);
    assert_eq!(exact_probability(&program, &asked, &no_time()).expect("it can be handled").obstacle(), limit);
    assert_eq!(cost(&program, &asked.target, &asked.settings, 1e-6, &no_time()).expect("as before").obstacle, limit);
    let simulation = Simulation { runs: 500, seed: 1, most_steps: 100, doubt: 0.001, jobs: NonZeroUsize::MIN };
    let found = simulate(&program, &asked.target, &asked.settings, &simulation, &no_time()).expect("as before");
    assert_eq!((found.runs, found.limit), (0, Some(Limit::Time)));
    assert_eq!((found.probability.lower, found.probability.upper), (0.0, 1.0));
}

#[test]
fn small_chains_are_known_as_a_whole() {
    let (program, asked) = ask("thread P { skip; hit: skip; skip; } forbid P at hit;");
    let found = probability(&program, &asked, 1e-6, &Session::default()).expect("it can be handled");
    assert_eq!((found.configurations, found.is_complete), (2, true));
    assert!(found.interval.lower > 1.0 - 1e-12 && found.interval.upper == 1.0, "{found:?}");
    let again = Question { repeated: true, ..asked };
    let found = probability(&program, &again, 1e-6, &Session::default()).expect("it can be handled");
    assert_eq!((found.configurations, found.is_complete), (4, true));
    assert!(found.interval.lower == 0.0 && found.interval.upper < 1e-12, "{found:?}");
}

#[test]
fn drained_configurations_are_listed_once_each() {
    let listed = |text: &str, which, repeated| {
        let (program, asked) = ask(text);
        let settings = Settings { stickiness: Fraction::parse("9"), ..Settings::default() };
        let asked = Question { repeated, settings, ..asked };
        match almost(&program, &asked, which, &Session::default()).expect("it can be handled").certainty {
            Certainty::Holds { drained, shown } => (drained, shown.len()),
            other => panic!("{other:?}"),
        }
    };
    // Up to where P is: not past the target, if that is reached once.
    assert_eq!(listed("thread P { skip; hit: skip; skip; } forbid P at hit;", Almost::Surely, false), (2, 2));
    assert_eq!(listed("thread P { skip; hit: skip; skip; } forbid P at hit;", Almost::Never, true), (4, 4));
    // Both threads step once, in either order; who stepped last is of no interest.
    assert_eq!(
        listed("thread P { skip; } thread Q { skip; } forbid P at end && Q at end;", Almost::Surely, false),
        (4, 4)
    );
    // Where a store is on its way, nothing is listed.
    assert_eq!(listed("shared x; thread P { x = 1; } forbid x == 2;", Almost::Never, false), (2, 2));
}

#[test]
fn odds_that_cannot_be_counted_are_reported() {
    let (program, asked) =
        ask("shared x; thread P { x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; } thread Q { let r = x; }
        forbid Q at end && Q.r == 1;");
    let fine = Fraction { numerator: 750_000_001, denominator: 1_000_000_000 };
    let settings = Settings { updates: UpdatePolicy::Geometric(fine), ..Settings::default() };
    let asked = Question { settings, ..asked };
    let found = probability(&program, &asked, 1e-12, &Session::default()).expect("it can be handled");
    assert_eq!((found.obstacle, found.is_complete), (Some(Obstacle::Odds), false), "{found:?}");
    let exact = exact_probability(&program, &asked, &Session::default()).expect("it can be handled");
    assert_eq!(exact.obstacle(), Some(Obstacle::Fractions));
}

#[test]
fn arithmetic_has_a_precision() {
    let (program, asked) = ask("shared x; thread P { x = 1; } thread Q { let r = 0; while r == 0 { r = x; choose { skip; break; } or { skip; } } }
        forbid Q at end && Q.r == 1;");
    let found = probability(&program, &asked, 1e-18, &Session::default()).expect("it can be handled");
    assert_eq!((found.obstacle, found.is_complete), (Some(Obstacle::Precision), true));
    let exact =
        exact_probability(&program, &asked, &Session::default()).expect("it can be handled").known().expect("small");
    assert!(found.interval.width() < 1e-12 && holds(found.interval, &big(&exact.probability)), "{found:?}");
}

#[test]
fn runs_that_are_too_long_stay_undecided() {
    let (program, target) =
        read("thread P { let r = 0; while r == 0 { r = any 0..1; } done: skip; skip; } forbid P at done;");
    let runs = |runs, most_steps| {
        let simulation = Simulation { runs, seed: 3, most_steps, doubt: 0.001, jobs: NonZeroUsize::MIN };
        simulate(&program, &target, &Settings::default(), &simulation, &Session::default()).expect("it can be handled")
    };
    // An assignment, a test and a value at the least, and the test that ends the loop.
    let none = runs(50, 3);
    assert_eq!((none.hits, none.undecided, none.steps), (0, 50, 150));
    assert_eq!((none.probability.lower, none.probability.upper), (0.0, 1.0));
    assert_eq!(none.cost, None);
    let some = runs(50, 4);
    assert!(some.hits > 10 && some.undecided > 10 && some.hits + some.undecided == 50, "{some:?}");
    assert_eq!((some.steps, some.cost.map(|(mean, _)| mean)), (200, Some(4.0)));
    assert!(some.probability.upper == 1.0 && some.probability.lower > 0.1, "{some:?}");
}

#[test]
fn simulated_runs_end_where_nothing_can_happen() {
    let (program, target) = read("shared x; thread P { x = 1; x = 2; } forbid x == 3;");
    let simulation = Simulation { runs: 20, seed: 3, most_steps: 1_000, doubt: 0.001, jobs: NonZeroUsize::MIN };
    let found = simulate(&program, &target, &Settings::default(), &simulation, &Session::default());
    let found = found.expect("it can be handled");
    assert_eq!((found.hits, found.undecided, found.runs), (0, 0, 20));
    let counts = simulated_frequencies(&program, &Settings::default(), &simulation, &Session::default());
    assert_eq!(counts.expect("as before").iter().map(|(_, count)| *count).collect::<Vec<f64>>(), [1.0, 1.0]);
}

#[test]
fn frequencies_are_counted_within_so_many_moves() {
    // Two steps with one transition each; then nothing is left to follow.
    let (program, _) = read("thread P { skip; skip; } forbid P at end;");
    let count = |moves| frequencies(&program, &Settings::default(), 10, moves, &Session::default()).expect("handled");
    assert_eq!(count(1), None);
    let found = count(20).expect("enough");
    assert!(found.iter().all(|(_, times)| times.lower > 0.999_999 && times.upper < 1.000_001), "{found:?}");
}
