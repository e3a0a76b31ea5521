//! Figures worked out by hand, and the paper's example.

use weir::prob::{
    Almost, Certainty, Fraction, Question, Rational, Settings, UpdatePolicy, almost, cost, curve, exact_cost,
    exact_probability, frequencies, probability,
};
use weir::prob::{Simulation, simulate, simulated_frequencies};
use weir::{Limits, Session};

use crate::targets::{read, register};

fn exact(text: &str) -> Rational {
    let (program, target) = read(text);
    let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
    let answer = exact_probability(&program, &question, &Session::default()).expect("it can be handled");
    answer.known().expect("it is small").probability
}

fn fraction(numerator: i64, denominator: u64) -> Rational {
    format!("{numerator}/{denominator}").parse().expect("a fraction")
}

#[test]
fn a_store_is_flushed_in_one_half_of_all_cases() {
    // After the store of P there are two sequences of flushes: none, and one. Q reads first in one half of all cases;
    // if it comes second, it sees the store in one half, and the store that it does not see stays unseen.
    let text = "shared x; thread P { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    assert_eq!(exact(text), fraction(1, 4));
}

#[test]
fn weights_count() {
    let text = "shared x; thread P weight 2 { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    assert_eq!(exact(text), fraction(1, 3));
}

#[test]
fn sequences_are_counted_not_outcomes() {
    // With one store in each of two buffers there are five sequences (none, x, y, xy, yx), and x has left in three of
    // them. P first: x has left at once with 1/2, else after the store of Q with 3/5: 4/5. Q first: then P must come
    // before the load, 1/2, and x leaves with 3/5 if y still waits, else with 1/2: 11/40.
    let text = "shared x, y; thread P { x = 1; } thread Q { y = 1; let r = x; } forbid Q at end && Q.r == 1;";
    assert_eq!(exact(text), fraction(43, 80));
}

#[test]
fn waiting_costs_nothing_and_ends() {
    let text = "cost fence = 20; cost store = 3; shared x; thread P { x = 1; fence; } forbid P at end;";
    let (program, target) = read(text);
    let answer = exact_cost(&program, &target, &Settings::default(), &Session::default());
    assert_eq!(answer.expect("it can be handled").known().expect("it is small").cost, Some(fraction(23, 1)));
}

#[test]
fn the_paper_reads_a_one_almost_surely() {
    let (program, _) =
        read("shared x; thread L { loop { x = 1; } } thread R { let a; loop { x = 2; a = x; } } forbid R.a == 1;");
    let target = weir_testkit::sketch::equal(register(&program, 1, "a"), 1);
    for repeated in [false, true] {
        let question = Question { target: target.clone().into(), repeated, settings: Settings::default() };
        let answer = probability(&program, &question, 1e-9, &Session::default()).expect("it can be handled");
        assert!(answer.interval.lower > 1.0 - 1e-9 && answer.interval.upper == 1.0, "{answer:?}");
    }
}

/// An answer rests on drained configurations, and these are told in full: places, registers that are still read, cells
/// that change.
#[test]
fn the_drained_configurations_are_reported_in_full() {
    let text = "shared x, y = 5; thread P { let r = y; first: x = r; } thread Q { low: skip; }
        forbid P at end && Q at end && x == 5;";
    let (program, target) = read(text);
    let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
    let answer = almost(&program, &question, Almost::Surely, &Session::default()).expect("it can be handled");
    let Certainty::Holds { drained, mut shown } = answer.certainty else { panic!("{answer:?}") };
    assert_eq!(drained, shown.len());
    shown.sort();
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, at)| format!("{name} {at}")).collect::<Vec<_>>();
    let values =
        |pairs: &[(String, i64)]| pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    let told: Vec<String> = shown
        .iter()
        .map(|state| [names(&state.places), values(&state.registers), values(&state.cells)].concat().join(", "))
        .collect();
    // The store of P has landed once it is done. That is all in line 1.
    assert_eq!(
        told,
        [
            "P first, Q line 1, P.r=5, x=0",
            "P first, Q low, P.r=5, x=0",
            "P line 1, Q line 1, x=0",
            "P line 1, Q line 1, x=5",
            "P line 1, Q low, x=0",
            "P line 1, Q low, x=5",
        ]
    );
}

fn certainty(text: &str, which: Almost, repeated: bool) -> Option<bool> {
    let (program, target) = read(text);
    let question = Question { target: target.into(), repeated, settings: Settings::default() };
    match almost(&program, &question, which, &Session::default()).expect("it can be handled").certainty {
        Certainty::Holds { .. } => Some(true),
        Certainty::Fails(_) => Some(false),
        Certainty::Unknown(_) => None,
    }
}

const PAPER: &str =
    "shared x; thread L { loop { x = 1; } } thread R { let a; loop { x = 2; a = x; } } forbid R.a == 1;";

#[test]
fn the_paper_is_almost_sure_once_and_forever() {
    for repeated in [false, true] {
        assert_eq!(certainty(PAPER, Almost::Surely, repeated), Some(true), "repeated: {repeated}");
        assert_eq!(certainty(PAPER, Almost::Never, repeated), Some(false), "repeated: {repeated}");
    }
}

#[test]
fn what_can_go_wrong_once_is_not_almost_sure() {
    // The first thread decides: P may end up where it never reads a 1.
    let text = "shared x; thread P { let r = x; if r == 1 { hit: skip; } } thread Q { x = 1; } forbid P at hit;";
    assert_eq!(certainty(text, Almost::Surely, false), Some(false));
    assert_eq!(certainty(text, Almost::Never, false), Some(false));
    assert_eq!(certainty(text, Almost::Never, true), Some(true));
    assert_eq!(certainty(text, Almost::Surely, true), Some(false));
}

#[test]
fn what_is_out_of_reach_is_almost_never_met_even_with_endless_buffers() {
    let text = "shared x; thread L { loop { x = 1; } } thread R { let a; loop { a = x; } } forbid R.a == 2;";
    assert_eq!(certainty(text, Almost::Never, false), Some(true));
    let (program, target) = read(text);
    let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
    let answer = probability(&program, &question, 1e-9, &Session::default()).expect("it can be handled");
    assert_eq!((answer.interval.lower, answer.interval.upper), (0.0, 0.0));
}

/// Messages are announced after they were written, without end; `then` is what a reader does that has seen an
/// announcement but no message. Only the order of stores in a buffer rules that out.
fn announced(then: &str) -> String {
    format!(
        "shared message, announced;
        thread W {{ loop {{ message = 1; announced = 1; }} }}
        thread R {{ let a, b; loop {{ a = announced; b = message; if a == 1 && b == 0 {{ {then} }} if a == 1 {{ seen: skip; }} }} }}"
    )
}

#[test]
fn the_order_of_stores_in_endless_buffers_counts() {
    let stuck = announced("loop { missed: skip; }");
    for repeated in [false, true] {
        let ask = |target: &str, which| certainty(&format!("{stuck} forbid {target};"), which, repeated);
        assert_eq!(ask("R at seen", Almost::Surely), Some(true), "repeated: {repeated}");
        assert_eq!(ask("R at seen", Almost::Never), Some(false), "repeated: {repeated}");
        assert_eq!(ask("R at missed", Almost::Surely), Some(false), "repeated: {repeated}");
        assert_eq!(ask("R at missed", Almost::Never), Some(true), "repeated: {repeated}");
        let both = "R at missed && (W at end || message == 1)";
        assert_eq!(ask(both, Almost::Never), Some(true), "repeated: {repeated}");
    }
    for (target, value) in [("R at missed", 0.0), ("R at seen", 1.0)] {
        for repeated in [false, true] {
            let (program, target) = read(&format!("{stuck} forbid {target};"));
            let question = Question { target: target.into(), repeated, settings: Settings::default() };
            let answer = probability(&program, &question, 1e-6, &Session::default()).expect("it can be handled");
            assert!(answer.obstacle.is_none() && answer.interval.width() <= 1e-6, "{answer:?}");
            assert!(answer.interval.lower <= value && value <= answer.interval.upper, "{answer:?}");
        }
    }
}

#[test]
fn the_exact_engine_is_asked_about_many_threads_too() {
    // Stores of P wait while it looks; L makes the chain infinite; the others do nothing.
    let mut text = "shared x[8], f, g, h; thread L { loop { g = 1; h = 1; g = 0; h = 0; } }
        thread P { let r; x[0] = 1; x[1] = 1; x[2] = 1; x[3] = 1; x[4] = 1; x[5] = 1; x[6] = 1; x[7] = 1; r = f; seen: skip; }
        thread Q { let s; f = 1; fence; s = x[0]; seen: skip; }"
        .to_owned();
    (0..15).for_each(|number| text += &format!("thread T{number} {{ assume 0; }}"));
    text += "forbid P at seen && P.r == 0 && Q at seen && Q.s == 0;";
    assert_ne!(certainty(&text, Almost::Never, false), Some(true));
    let (program, target) = read(&text);
    let question = Question { target: target.into(), repeated: false, settings: Settings::default() };
    let limits = Limits { states: Some(20_000), ..Limits::default() };
    let answer = probability(&program, &question, 1e-9, &Session::new(limits));
    assert!(answer.expect("it can be handled").interval.upper > 0.0);
}

#[test]
fn a_target_that_counts_when_drained_does_not_end_a_thread_before() {
    // Nobody writes z, but what mentions a cell counts at drained configurations only: P can pass `l` with its store
    // under way.
    let text = "shared message, announced, y, z;
        thread W { loop { message = 1; announced = 1; announced = 0; message = 0; } }
        thread R { let a, b; loop { a, b = announced, message; seen: skip; } }
        thread P { y = 1; l: skip; m: skip; }
        forbid (P at l && z == 0) || (R at seen && R.a == 1 && R.b == 0);";
    assert_ne!(certainty(text, Almost::Surely, false), Some(true));
}

#[test]
fn a_lock_that_is_given_back_lets_buffers_drain() {
    let text = "shared x; thread L { loop { x = 1; } }
        thread R { let a; loop { lock; a = x; if a == 1 { x = 2; } unlock; x = 3; } } forbid R.a == 1;";
    for repeated in [false, true] {
        assert_eq!(certainty(text, Almost::Surely, repeated), Some(true), "repeated: {repeated}");
        assert_eq!(certainty(text, Almost::Never, repeated), Some(false), "repeated: {repeated}");
    }
    let (program, target) = read(text);
    let answer = cost(&program, &target, &Settings::default(), 1e-3, &Session::default()).expect("it can be handled");
    assert!(answer.obstacle.is_none() && answer.cost.is_some_and(|cost| cost.width() <= 1e-3), "{answer:?}");
}

#[test]
fn nothing_is_claimed_where_a_lock_may_be_held_forever() {
    // Once R has the lock, the stores of L never arrive.
    let text = "shared x; thread L { loop { x = 1; } }
        thread R { let a; lock; loop { a = x; } } forbid R.a == 1;";
    assert_eq!(certainty(text, Almost::Surely, false), Some(false));
    // An assertion that fails ends a thread with the lock.
    let text = "shared x; thread L { loop { x = 1; } }
        thread R { let a; loop { lock; a = x; assert a == 0; unlock; } } forbid R.a == 7;";
    assert_ne!(certainty(text, Almost::Surely, false), Some(true));
}

#[test]
fn costs_with_endless_buffers_are_enclosed() {
    let (program, target) = read(PAPER);
    let answer = cost(&program, &target, &Settings::default(), 1e-4, &Session::default()).expect("it can be handled");
    let interval = answer.cost.expect("it is reached");
    assert!(answer.obstacle.is_none() && interval.width() <= 1e-4, "{answer:?}");
    let jobs = std::num::NonZeroUsize::MIN;
    let simulation = Simulation { runs: 20_000, seed: 3, most_steps: 100_000, doubt: 0.001, jobs };
    let runs = simulate(&program, &target, &Settings::default(), &simulation, &Session::default()).expect("as before");
    let (_, estimate) = runs.cost.expect("it is reached");
    assert!(estimate.lower <= interval.upper && interval.lower <= estimate.upper, "{interval:?} {estimate:?}");
}

#[test]
fn labels_are_counted() {
    let text = "shared x; thread P { let i = 0; while i < 3 { again: skip; i = i + 1; } } forbid P at end;";
    let (program, target) = read(text);
    let answer = cost(&program, &target, &Settings::default(), 1e-9, &Session::default()).expect("it can be handled");
    let (label, visits) = &answer.visits[0];
    assert_eq!(label, "P at again");
    assert!(visits.lower <= 3.0 && 3.0 <= visits.upper && visits.width() < 1e-9, "{visits:?}");
}

#[test]
fn the_curve_ends_at_the_probability() {
    let text = "shared x; thread P { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    let (program, target) = read(text);
    let found = curve(&program, &target, &Settings::default(), 3, &Session::default()).expect("it can be handled");
    let bounds: Vec<(f64, f64)> = found.points.iter().map(|point| (point.lower, point.upper)).collect();
    let values = [0.0, 0.0, 0.25, 0.25];
    assert_eq!(bounds.len(), values.len());
    for ((lower, upper), value) in bounds.into_iter().zip(values) {
        assert!(lower <= value && value <= upper && upper - lower < 1e-12, "{lower} {value} {upper}");
    }
}

#[test]
fn odds_can_be_chosen() {
    let text = "shared x; thread P { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    let (program, target) = read(text);
    let with = |settings| {
        let question = Question { target: target.clone().into(), repeated: false, settings };
        exact_probability(&program, &question, &Session::default())
            .expect("it can be handled")
            .known()
            .expect("small")
            .probability
    };
    let geometric = UpdatePolicy::Geometric(Fraction::parse("0.9").expect("a number"));
    assert_eq!(with(Settings { updates: geometric, ..Settings::default() }), fraction(9, 20));
    assert_eq!(with(Settings { updates: UpdatePolicy::Single, ..Settings::default() }), fraction(1, 4));
    // Nobody stepped before the first step, and the second has only one candidate: memory changes nothing here.
    assert_eq!(with(Settings { stickiness: Fraction::parse("5"), ..Settings::default() }), fraction(1, 4));
}

#[test]
fn a_scheduler_with_memory_stays_with_a_thread() {
    let text = "thread P { skip; skip; } thread Q { skip; } forbid P at end && !(Q at end);";
    let (program, target) = read(text);
    let settings = Settings { stickiness: Fraction::parse("3"), ..Settings::default() };
    let question = Question { target: target.into(), repeated: false, settings };
    let answer =
        exact_probability(&program, &question, &Session::default()).expect("it can be handled").known().expect("small");
    // P first: one half; P again: three quarters.
    assert_eq!(answer.probability, fraction(3, 8));
}

#[test]
fn loops_are_taken_more_often_than_what_surrounds_them() {
    let (program, _) = read("shared x; thread P { x = 1; loop { let r = x; } } forbid x == 7;");
    let jobs = std::num::NonZeroUsize::MIN;
    let simulation = Simulation { runs: 10, seed: 1, most_steps: 100, doubt: 0.001, jobs };
    let found = simulated_frequencies(&program, &Settings::default(), &simulation, &Session::default())
        .expect("it can be handled");
    assert_eq!(found[0].1, 1.0);
    assert_eq!(found.iter().map(|(_, times)| times).sum::<f64>(), 100.0);
}

#[test]
fn expected_numbers_of_executions_are_those_of_random_runs() {
    // The loop ends when the store has arrived: after each of its steps with one half, and P comes by in one half of
    // all steps.
    let (program, _) = read("shared x; thread P { x = 1; skip; } thread Q { while x == 0 { skip; } } forbid x == 7;");
    let (settings, session) = (Settings::default(), Session::default());
    let certain =
        frequencies(&program, &settings, 1_000, 1 << 20, &session).expect("it can be handled").expect("small");
    let jobs = std::num::NonZeroUsize::MIN;
    let simulation = Simulation { runs: 20_000, seed: 1, most_steps: 1_000, doubt: 0.001, jobs };
    let simulated = simulated_frequencies(&program, &settings, &simulation, &session).expect("it can be handled");
    for ((edge, interval), (same, times)) in certain.into_iter().zip(simulated) {
        assert_eq!(edge, same);
        assert!(interval.width() < 1e-6, "{interval:?}");
        assert!((interval.lower - times).abs() < 0.05 * times.max(1.0), "{edge:?} {interval:?} {times}");
    }
    assert_eq!(frequencies(&program, &settings, 1_000, 3, &session), Ok(None));
}

#[test]
fn simulations_do_not_depend_on_the_number_of_workers() {
    let (program, target) = read(PAPER);
    let with = |jobs| {
        let simulation = Simulation {
            runs: 300,
            seed: 5,
            most_steps: 1_000,
            doubt: 0.001,
            jobs: std::num::NonZeroUsize::new(jobs).expect("not zero"),
        };
        simulate(&program, &target, &Settings::default(), &simulation, &Session::default()).expect("it can be handled")
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn every_kind_of_step_costs_what_its_rule_says() {
    let kinds = "cost load = 2; cost store = 3; cost fence = 5; cost rmw = 7; cost lock = 11; cost local = 13;";
    let cost_of = |rules: &str, steps: &str| {
        let text = format!("{rules} shared x, y; thread P {{ let r, s; {steps} }} forbid P at end;");
        let (program, target) = read(&text);
        let answer =
            exact_cost(&program, &target, &Settings::default(), &Session::default()).expect("it can be handled");
        answer.known().expect("it is small").cost.expect("it is reached")
    };
    for (steps, cost) in [
        ("r = x;", 2),
        ("r, s = x, y;", 2),
        ("await x == 0;", 2),
        ("x = 1;", 3),
        ("fence;", 5),
        ("membarrier;", 5),
        ("r = cas(x, 0, 1);", 7),
        ("xchg(x, 1);", 7),
        ("fetch_add(x, 1);", 7),
        ("r = cmpxchg(x, 0, 1);", 7),
        ("lock; unlock;", 22),
        ("skip;", 13),
        ("r = 1;", 13),
        ("r = any 0..1;", 13),
        ("assume r < 2;", 13),
        ("assert r < 2;", 13),
        ("terminate;", 13),
        ("x = 1; fence; skip;", 21),
    ] {
        assert_eq!(cost_of(kinds, steps), fraction(cost, 1), "{steps}");
        // Without rules, each step costs 1.
        assert_eq!(cost_of("", steps), fraction(steps.matches(';').count() as i64, 1), "{steps}");
    }
    // The last rule that applies counts, whether it names a kind or a label.
    assert_eq!(cost_of("cost store = 3; cost here = 17;", "here: x = 1;"), fraction(17, 1));
    assert_eq!(cost_of("cost here = 17; cost store = 3;", "here: x = 1;"), fraction(3, 1));
    assert_eq!(cost_of("cost fence = 5; cost fence = 0;", "fence; skip;"), fraction(1, 1));
}
