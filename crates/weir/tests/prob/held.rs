//! Locks that are kept, and locks that are given back: while one is held, stores of others wait, and what mentions
//! cells is judged at drained configurations only.
//!
//! P stores 1 to x forever, L locks. L is as likely to step as P, so before it locks for the first time nothing of P
//! has left with probability √e − 1: see
//! [`endless`](super::endless).

use weir::prob::{Almost, Certainty, Obstacle, Probability, Question, almost, probability};
use weir::{Limits, Session};

use crate::endless::{check_almost, check_probability};
use crate::odds::{BothOdds, Policy, UNIFORM};
use crate::targets::read;

fn beside(locking: &str, target: &str) -> String {
    format!("shared x; thread L {{ {locking} }} thread P {{ loop {{ x = 1; }} }} forbid {target};")
}

/// What is found within a few configurations.
fn within(text: &str, odds: &BothOdds, repeated: bool) -> Probability {
    let (program, target) = read(text);
    let limits = Limits { states: Some(2_200), ..Limits::default() };
    let asked = Question { target: target.into(), repeated, settings: odds.settings() };
    probability(&program, &asked, 1e-8, &Session::new(limits)).expect("it can be handled")
}

const ALL: [BothOdds; 3] = [
    UNIFORM,
    BothOdds { updates: Policy::Geometric(4, 5), ..UNIFORM },
    BothOdds { updates: Policy::Single, ..UNIFORM },
];

#[test]
fn a_lock_that_is_kept_ends_all_draining() {
    // At some time L locks, almost surely; after that P stores once more, and its buffer is never empty again.
    for kept in ["lock; loop { skip; }", "lock;", "lock; assert 0 == 1; unlock;", "skip; lock; assume 0 == 1; unlock;"]
    {
        let text = beside(kept, "x < 2");
        check_probability(&text, &UNIFORM, true, 0.0);
        for odds in ALL {
            let found = within(&text, &odds, true);
            assert!(found.interval.lower == 0.0 && found.interval.upper < 0.2, "{found:?} {odds:?} {text}");
            // At first, nothing waits.
            let once = within(&text, &odds, false).interval;
            assert_eq!((once.lower, once.upper), (1.0, 1.0), "{odds:?} {text}");
            let (program, target) = read(&text);
            let asked = Question { target: target.into(), repeated: true, settings: odds.settings() };
            let ask =
                |which| almost(&program, &asked, which, &Session::default()).expect("it can be handled").certainty;
            assert!(matches!(ask(Almost::Surely), Certainty::Fails(_)), "{odds:?} {text}");
            // It is almost never reached again and again, but nothing that is known of such locks says so.
            assert_eq!(ask(Almost::Never), Certainty::Unknown(Obstacle::Unbounded), "{odds:?} {text}");
        }
    }
}

#[test]
fn a_lock_that_is_given_back_lets_buffers_drain_forever() {
    for given_back in [
        "lock; skip; unlock;",
        "loop { lock; skip; unlock; }",
        "loop { lock; let r = x; if r == 1 { skip; } unlock; }",
        "loop { atomic { x = 0; x = 1; } }",
    ] {
        let text = beside(given_back, "x == 1");
        check_probability(&text, &UNIFORM, true, 1.0);
        check_almost(&text, &UNIFORM, false, true, false);
        check_almost(&beside(given_back, "x < 2"), &UNIFORM, true, true, false);
    }
}

#[test]
fn whether_the_lock_is_given_back_may_depend_on_what_is_read() {
    let missed = std::f64::consts::E.sqrt() - 1.0;
    let waits = "let r; lock; r = x; assume r == 1; unlock;";
    for section in [waits, "let r; lock; while r == 0 { r = x; } unlock;"] {
        // A thread that reads 0 with the lock held reads 0 forever.
        check_probability(&beside(section, "L at end"), &UNIFORM, false, 1.0 - missed);
        check_almost(&beside(section, "L at end"), &UNIFORM, false, false, false);
    }
    // For repeated targets, only lost configurations are reported.
    let found = within(&beside(waits, "x < 2"), &UNIFORM, true);
    let upper = found.interval.upper;
    assert!(found.interval.lower <= 1.0 - missed && 1.0 - missed <= upper && upper < 1.0 - missed + 1e-3, "{found:?}");
    assert!(found.obstacle.is_some(), "{found:?}");
}

#[test]
fn what_drains_before_the_lock_is_taken_counts() {
    // From n waiting stores without the lock: with 1/2 L locks, and it is too late; else any number from 0 to n + 1 is
    // left.
    let mut chances = vec![0.0; 42];
    for _ in 0..200 {
        for length in 0..40 {
            let next = 1.0 + chances[1..=length + 1].iter().sum::<f64>();
            chances[length] = 0.5 * next / (length + 2) as f64;
        }
    }
    check_probability(&beside("lock; loop { skip; }", "x == 1"), &UNIFORM, false, chances[0]);
    check_almost(&beside("lock; loop { skip; }", "x == 1"), &UNIFORM, false, false, false);
}

/// Every drained configuration can still reach the target, and yet it is not reached almost surely: with a store
/// waiting for the lock that L keeps, P never gets past its fence, and that configuration is never drained. That L
/// never reads a 1 shows only where buffers are exact.
#[test]
fn hope_at_drained_configurations_is_not_enough_where_nothing_drains() {
    let text = "shared g, x, a; thread P { g = 1; choose { skip; } or { x = 1; fence; } there: skip; }
        thread L { let s; while g == 0 { } lock; loop { a = 1; a = 2; s = a; if s == 1 { never: skip; } } }
        forbid P at there || L at never;";
    for odds in ALL {
        let (program, target) = read(text);
        let asked = Question { target: target.into(), repeated: false, settings: odds.settings() };
        let limits = Limits { states: Some(60_000), ..Limits::default() };
        let session = Session::new(limits);
        let found = almost(&program, &asked, Almost::Surely, &session).expect("it can be handled").certainty;
        assert!(!matches!(found, Certainty::Holds { .. }), "{odds:?}");
    }
}

/// P stores nine times as often as L steps. While L holds the lock, P's stores pile up. With geometric updates, fewer
/// of them leave between two sections than came during one, so that with positive probability the buffer is never empty
/// again, though it can be emptied from everywhere. With uniform ones any number leaves, and the buffer is emptied
/// almost surely. The exact engine knows what is possible, so it must not be asked unless buffers surely drain.
#[test]
fn reaching_a_target_can_stay_possible_without_being_almost_sure_if_stores_pile_up() {
    let section = "skip; ".repeat(20);
    let text = format!(
        "shared x; thread P weight 9 {{ loop {{ x = 1; }} }} thread L {{ loop {{ lock; {section} unlock; }} }}
        forbid x == 1;"
    );
    for repeated in [false, true] {
        check_almost(&text, &UNIFORM, repeated, true, false);
        for odds in &ALL[1..] {
            let (program, target) = read(&text);
            let asked = Question { target: target.into(), repeated, settings: odds.settings() };
            let found = almost(&program, &asked, Almost::Surely, &Session::default()).expect("it can be handled");
            assert_eq!(found.certainty, Certainty::Unknown(Obstacle::Unbounded), "{repeated} {odds:?}");
        }
    }
}
