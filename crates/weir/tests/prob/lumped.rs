//! Chains up to the numbering of interchangeable threads give the same fractions, intervals and curves as whole chains.

use weir::prob::{Fraction, Question, Settings, Target, UpdatePolicy, curve, exact_probability, probability};
use weir::{Limits, Session};
use weir_ir::Program;
use weir_testkit::random::{Config, Statement, condition, program};
use weir_testkit::{Rng, dump};

use crate::targets::read;

/// How much was compared.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    compared: usize,
    /// Of these, those with fewer configurations.
    fewer: usize,
    /// Of these, those whose target is neither certain nor impossible.
    open: usize,
}

const POLICIES: [UpdatePolicy; 3] =
    [UpdatePolicy::Uniform, UpdatePolicy::Geometric(Fraction { numerator: 4, denominator: 5 }), UpdatePolicy::Single];

fn settings(updates: UpdatePolicy, symmetry: bool) -> Settings {
    Settings { updates, symmetry, ..Settings::default() }
}

fn session() -> Session {
    Session::new(Limits { states: Some(4_000), ..Limits::default() })
}

/// Compares the two chains of a program, once for each policy.
fn check(name: &str, program: &Program, target: &Target, tally: &mut Tally) {
    for (updates, repeated) in POLICIES.into_iter().flat_map(|policy| [(policy, false), (policy, true)]) {
        let context = || format!("{name}, {updates:?}, repeated: {repeated}, {target:?}\n{}", dump(program));
        let question = |symmetry| Question { target: target.clone(), repeated, settings: settings(updates, symmetry) };
        let exact = |symmetry| {
            let answer = exact_probability(program, &question(symmetry), &session()).expect("it can be handled");
            answer.known()
        };
        let Some(whole) = exact(false) else { continue };
        let lumped = exact(true).unwrap_or_else(|| panic!("no answer: {}", context()));
        assert_eq!(whole.probability, lumped.probability, "{}", context());
        assert!(!whole.up_to_symmetry, "{}", context());
        if lumped.up_to_symmetry {
            assert!(lumped.configurations <= whole.configurations, "{}", context());
        } else {
            assert_eq!(lumped.configurations, whole.configurations, "{}", context());
        }
        tally.compared += 1;
        tally.fewer += usize::from(lumped.configurations < whole.configurations);
        tally.open += usize::from(!["0", "1"].contains(&whole.probability.to_string().as_str()));
        let found = probability(program, &question(true), 1e-6, &session()).expect("it can be handled").interval;
        let known = whole.probability.interval();
        assert!(found.lower <= known.upper && known.lower <= found.upper, "{found:?}, {known:?}: {}", context());
        if !repeated {
            let points = |symmetry| {
                let found = curve(program, target.clone(), &settings(updates, symmetry), 12, &session());
                found.expect("it can be handled").points
            };
            for (one, other) in points(false).iter().zip(&points(true)) {
                let apart = (one.lower - other.lower).abs().max((one.upper - other.upper).abs());
                assert!(apart < 1e-9, "{one:?}, {other:?}: {}", context());
            }
        }
    }
}

fn random(name: &str, config: &Config, count: u64, [compared, fewer, open]: [usize; 3]) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let mut program = program(seed, config);
        // Threads of different weights are not interchangeable, even if they do the same.
        if seed % 4 == 0 {
            program.threads[0].weight = 2;
        }
        let target = condition(&program, &mut rng);
        check(&format!("{name}, seed {seed}"), &program, &target.into(), &mut tally);
    }
    let Tally { compared: all, fewer: small, open: uncertain } = tally;
    assert!(all >= compared && small >= fewer && uncertain >= open, "{name}: {tally:?}");
}

/// Threads do the same as the one before them.
fn equal(config: Config) -> Config {
    Config { equal_threads: 80, statements: (1, 3), ..config }.weighing(Statement::Havoc, 4)
}

#[test]
fn chains_of_equal_threads() {
    random("acyclic", &equal(Config::acyclic()), 60, [1, 1, 1]);
}

#[test]
fn chains_of_equal_threads_with_loops() {
    random("cyclic", &equal(Config::cyclic()), 60, [1, 1, 1]);
}

#[test]
fn chains_of_equal_threads_with_locks() {
    random("locking", &equal(Config::locking()), 40, [1, 1, 1]);
}

/// Replicated threads that store their numbers, ask for those of others, and are named in the target or not.
#[test]
fn chains_of_threads_that_store_their_numbers() {
    let bodies = [
        "x = i + 1; let r = x; if r == i + 1 { critical: skip; }",
        "let o = xchg(x, i + 1); critical: skip;",
        "a[i] = 1; let r = x; if r == 0 { x = i + 1; critical: skip; }",
        "let r = any 0..1; x = r; critical: skip;",
        "loop { let r = cas(x, 0, i + 1); if r { critical: skip; x = 0; break; } }",
    ];
    let targets = ["count(T at critical) >= 2", "T[0] at critical && T[1] at critical", "T[0] at critical", "x == 2"];
    let mut tally = Tally::default();
    for (body, target) in bodies.into_iter().flat_map(|body| targets.map(|target| (body, target))) {
        for count in [2, 3] {
            let text = format!("shared x, a[{count}]; thread T(i)[{count}] {{ {body} }} forbid {target};");
            let (program, target) = read(&text);
            check(&text, &program, &target.into(), &mut tally);
        }
    }
    assert!(tally.compared >= 1 && tally.fewer >= 1 && tally.open >= 1, "{tally:?}");
}

#[test]
fn who_stepped_last_is_not_lumped() {
    let text = "shared x; thread T(i)[3] { x = 1; let r = x; critical: skip; } forbid count(T at critical) >= 2;";
    let (program, target) = read(text);
    let stickiness = Some(Fraction { numerator: 3, denominator: 1 });
    let ask = |stickiness, symmetry| {
        let settings = Settings { stickiness, symmetry, ..Settings::default() };
        let question = Question { target: target.clone().into(), repeated: false, settings };
        probability(&program, &question, 1e-6, &session()).expect("it can be handled")
    };
    assert!(!ask(stickiness, true).up_to_symmetry);
    let (lumped, whole) = (ask(None, true), ask(None, false));
    assert!(lumped.up_to_symmetry && !whole.up_to_symmetry && lumped.configurations * 2 < whole.configurations);
}
