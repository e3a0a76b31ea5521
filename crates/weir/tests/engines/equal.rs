//! Equal threads: engines may take one for the other only where no property tells them apart. Two and three copies of a
//! body, with properties that are symmetric, half so, or not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use weir::{Limits, Session, Verdict, reach};
use weir_ir::Program;
use weir_testkit::dump;
use weir_witness::{AbstractState, Buffering, Goal};

use crate::exactly::{Tallies, check, compare};
use crate::families::parse;
use crate::ways::{Answer, Way, ask};

/// What each copy does; each has a register `r`.
const BODIES: [&str; 9] = [
    "let r = any 0..1; x = r;",
    "x = 1; let r = y;",
    "let r = x; x = (r + 1) % 4;",
    "let r = xchg(x, 1); y = r;",
    "lock; let r = x; if r == 0 { x = 1; } unlock; y = r;",
    "lock; x = 1; let r = y;",
    "let r = 0; choose { r = 1; x = 2; } or { y = 1; }",
    "let r, s; x = 1; r, s = y, x; y = s;",
    "let r = any 0..1; x = r; let s = y; y = r; assert s + r < 2;",
];

/// What can be said of copies P and Q.
const OF_TWO: [&str; 12] = [
    "forbid P at end && Q at end && P.r == 1 && Q.r == 0",
    "forbid P at end && Q at end && P.r == 1 && Q.r == 1",
    "forbid P at end && Q at end && P.r == Q.r",
    "forbid P at end && Q at end && P.r < Q.r",
    "forbid P at end && P.r == 1",
    "forbid Q at end && Q.r == 1 && x == 0",
    "forbid P at end && !(Q at end)",
    "forbid Q at end && !(P at end) && x == 1",
    "forbid P at end && Q at end && (P.r == 1 || Q.r == 1) && x == 1",
    "exists P.r == 1 && Q.r == 0",
    "always P.r >= Q.r",
    "always P.r == 0 || Q.r == 0",
];

/// What can be said of copies P, Q and R.
const OF_THREE: [&str; 7] = [
    "forbid P at end && Q at end && R at end && P.r == 1 && Q.r == 0",
    "forbid P at end && Q at end && R at end && R.r == 1 && P.r == 0 && Q.r == 0",
    "forbid Q at end && R.r == 1",
    "forbid P.r == 1 && Q.r == 1 && R.r == 1",
    "forbid P at end && R at end && Q.r == 1 && x == 1",
    "exists P.r < Q.r && Q.r < R.r + 1",
    "always P.r + Q.r + R.r < 2",
];

fn program(body: &str, names: &[&str], properties: &[&str]) -> Program {
    // Names and weights tell nobody apart.
    let weights = ["", " weight 3", ""];
    let threads: String =
        names.iter().zip(weights).map(|(name, weight)| format!("thread {name}{weight} {{ {body} }} ")).collect();
    let properties: String = properties.iter().map(|property| format!("{property}; ")).collect();
    parse(&format!("shared x, y; {threads}{properties}"))
}

const WAYS: [Way; 14] = [
    Way::Tso,
    Way::Workers,
    Way::KeepDead,
    Way::DepthFirst,
    Way::Lazy,
    Way::LazyFirst,
    Way::Dual,
    Way::Set,
    Way::Multiset,
    Way::Queue(1),
    Way::Queue(3),
    Way::Counting(1),
    Way::Coherence,
    Way::Portfolio,
];

/// Asks for each goal by itself, then for all goals at once: together they may tell no copies apart where one does.
fn agree(bodies: &[&str], names: &[&str], properties: &[&str]) -> Tallies {
    let mut tallies = Tallies::new();
    for &body in bodies {
        let program = program(body, names, properties);
        check(body, &program, &WAYS, &mut tallies);
        let mut truth = crate::exactly::Truth::new(&program);
        let goals: Vec<Goal> = weir::reach::all_goals(&program);
        for part in [goals.as_slice(), &goals[..2], &goals[1..4]] {
            let reached = part.iter().any(|&goal| truth.is_reachable(weir_testkit::Model::Tso, goal) == Some(true));
            for way in WAYS {
                let answer = ask(&program, way, part.to_vec(), 20_000);
                let is_right = match answer {
                    Answer::Holds => !reached,
                    Answer::Reached => reached,
                    Answer::Alarm => way.is_approximate() && !reached,
                    Answer::Refused(code) => code == "several-loads",
                    Answer::Stopped(_) => false,
                };
                assert!(is_right, "{way:?} says {answer:?} of {part:?}; reachable: {reached}\n{}", dump(&program));
            }
        }
    }
    tallies
}

/// Exactly one of two copies reads 1. If properties of different kinds are about different copies, exchanging the copies
/// changes the question.
#[test]
fn properties_of_different_kinds_tell_copies_apart() {
    for (one, other) in [("P", "Q"), ("Q", "P")] {
        let exists = format!("exists {one}.r == 1 && {other}.r == 0");
        let always = format!("always {other}.r == 1 && {one}.r == 0");
        let program = program("let r = xchg(x, 1);", &["P", "Q"], &[&exists, &always]);
        for way in WAYS {
            let answer = ask(&program, way, weir::reach::all_goals(&program), 20_000);
            assert_eq!(answer, Answer::Reached, "{way:?}, {exists}");
        }
    }
}

/// Only one copy gets the lock, in any run; in different runs it is each of them.
#[test]
fn what_one_copy_executes_others_execute_in_other_runs() {
    let program = program("lock; x = 1;", &["P", "Q"], &["forbid x == 2"]);
    for engine in reach::Engine::ALL {
        let options = reach::Options { engine, ..reach::Options::default() };
        let report = reach::reach(&program, &options, &Session::default()).expect("it can be handled");
        assert!(matches!(report.verdict, Verdict::Holds), "{engine:?}");
        assert_eq!(report.coverage.unexecuted, [], "{engine:?}");
    }
}

fn all_is_answered(tallies: &Tallies, refused: u64) {
    let reached = tallies[&Way::Tso].reached;
    for (way, tally) in tallies {
        let expected = if matches!(way, Way::Lazy | Way::LazyFirst) { refused } else { 0 };
        assert_eq!(tally.refused, expected, "{way:?}: {tally:?}");
        assert_eq!(tally.answered() + tally.alarms + tally.refused, tally.asked, "{way:?}: {tally:?}");
        assert!(expected > 0 || tally.reached == reached, "{way:?}: {tallies:?}");
    }
}

#[test]
fn two_copies() {
    all_is_answered(&agree(&BODIES, &["P", "Q"], &OF_TWO), 0);
}

#[test]
fn three_copies() {
    all_is_answered(&agree(&BODIES[..7], &["P", "Q", "R"], &OF_THREE), 0);
}

/// What a state looks like up to the order of threads: of all orders, the least.
fn orbit(state: &AbstractState) -> AbstractState {
    fn orders(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let longer = |order: Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, count - 1);
                order
            })
        };
        orders(count - 1).into_iter().flat_map(longer).collect()
    }
    let permuted = |order: Vec<usize>| {
        let place = |thread: weir_ir::ThreadId| order.iter().position(|&other| other == thread.index());
        AbstractState {
            threads: order.iter().map(|&from| state.threads[from].clone()).collect(),
            memory: state.memory.clone(),
            lock_holder: state.lock_holder.and_then(place).map(weir_ir::ThreadId::new),
        }
    };
    orders(state.threads.len()).into_iter().map(permuted).min().expect("there is an order")
}

/// Where no property tells copies apart, as many states are visited as there are orbits, in every search.
#[test]
fn one_state_of_each_orbit_is_visited() {
    for (copies, bodies) in [(2, &BODIES[..8]), (3, &BODIES[..8]), (4, &BODIES[..4])] {
        for body in bodies {
            let program = program(body, &["P", "Q", "R", "S"][..copies], &["forbid x == 9"]);
            for (way, buffering) in [(Way::Set, Buffering::Coherence(0)), (Way::Queue(2), Buffering::Coherence(2))] {
                let options = way.options(weir::reach::all_goals(&program));
                let all = weir::reach::certify(&program, &options, buffering, &Session::default()).expect("no limit");
                let orbits: BTreeSet<AbstractState> = all.states.iter().map(orbit).collect();
                let report = weir::reach::reach(&program, &options, &Session::default()).expect("no fault");
                assert_eq!(report.verdict, Verdict::Holds);
                assert_eq!(report.statistics.states, orbits.len() as u64, "{way:?}: {copies} of {body}");
                assert!(orbits.len() < all.states.len(), "{way:?}: {copies} of {body}");
            }
        }
    }
}

/// Two copies choose, and it takes one that chose 1 and one that chose 0, in this order.
#[test]
fn copies_that_chose_differently_are_distinguished() {
    let program = program(BODIES[0], &["P", "Q"], &OF_TWO[..1]);
    for way in Way::ALL {
        assert_eq!(ask(&program, way, Vec::new(), 20_000), Answer::Reached, "{way:?}");
    }
    // No copy can have chosen 2.
    let text = "forbid P at end && Q at end && P.r == 2 && Q.r == 0";
    let program = self::program(BODIES[0], &["P", "Q"], &[text]);
    for way in Way::ALL {
        assert_eq!(ask(&program, way, Vec::new(), 20_000), Answer::Holds, "{way:?}");
    }
}

/// So many threads that the exact engine does not try all ways to leave some of them open: it ends all the same.
#[test]
fn many_copies() {
    let copies = (0..16).map(|copy| format!("V[{copy}] at a")).collect::<Vec<_>>().join(" && ");
    for (value, expected) in [(0, Answer::Holds), (1, Answer::Reached)] {
        let program = parse(&format!(
            "shared y; thread V[16] {{ loop {{ a: fence; }} }} thread W {{ loop {{ fence; b: fence; }} }}
            thread Z {{ y = 1; fence; let r = y; assume r == {value}; bad: skip; }}
            forbid Z at bad && W at b && {copies};"
        ));
        assert_eq!(ask(&program, Way::Dual, Vec::new(), 500), expected, "{value}");
    }
}

/// Replicated threads that know their number are not equal, whatever they look like.
#[test]
fn replicated_threads() {
    let table = [
        ("thread W[2] { x = 1; let r = y; } forbid W[0] at end && W[1] at end && x == 0;", false),
        ("thread W[3] { let r = fetch_add(x, 1); } exists W[0].r == 2 && W[1].r == 0;", true),
        ("thread W[3] { let r = fetch_add(x, 1); } exists W[0].r == 2 && W[1].r == 2;", false),
        ("thread W(i)[2] { let r = i; x = r; } exists W[0].r == 1;", false),
        ("thread W(i)[2] { let r = i; x = r; } exists W[1].r == 1 && x == 0;", true),
        ("thread W(i)[2] { a[i] = 1; let r = a[1 - i]; } exists W[0].r == 0 && W[1].r == 0;", true),
        ("thread W(i)[2] { a[i] = 1; fence; let r = a[1 - i]; } exists W[0].r == 0 && W[1].r == 0;", false),
    ];
    for (text, is_reachable) in table {
        let program = parse(&format!("shared x: 0..3, y, a[2]; {text}"));
        compare(&program, &Way::ALL).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        let expected = if is_reachable { Answer::Reached } else { Answer::Holds };
        for way in [Way::Tso, Way::Lazy, Way::LazyFirst, Way::Dual, Way::Coherence, Way::Portfolio] {
            assert_eq!(ask(&program, way, Vec::new(), 20_000), expected, "{way:?}: {text}");
        }
    }
}

/// Pairing up the threads of two configurations takes polynomial time: there are 17! pairings here.
#[test]
fn many_equal_threads_take_the_exact_engine_no_time() {
    let program = parse("thread W[17] { loop { fence; a: fence; } } forbid count(W at a) == 17;");
    let options = reach::Options { engine: reach::Engine::Dual, ..reach::Options::default() };
    let session = Session::new(Limits { time: Some(Duration::from_secs(20)), ..Limits::default() });
    let report = reach::reach(&program, &options, &session).expect("it is supported");
    assert!(matches!(report.verdict, Verdict::Violated(_)), "{:?}", report.verdict);
}
