//! Recursion of one thread under SC is decided whatever its depth, and in agreement with bounded stacks.

use weir::check::{Judgement, Member, Options};
use weir::dynamic::{self, Decided};
use weir::{Bound, Failure, Limit, Limits, Session, Verdict, check, reach};
use weir_ir::Program;
use weir_testkit::Rng;
use weir_testkit::calls::program as random_text;
use weir_testkit::reference::Depth;
use weir_witness::Model;

use super::compare::{dynamic_program, expected, parse};

/// A session in which stacks are searched up to two calls only.
fn session() -> Session {
    let limits = Limits { states: Some(300_000), ..Limits::default() };
    Session::new(limits).with_bound(Bound::StackFrames, 2).with_bound(Bound::SummaryStates, 20_000)
}

fn checked(program: &Program, model: Model) -> Decided<check::Report> {
    dynamic::check(program, &Options { model, ..Options::default() }, &session()).expect("supported")
}

/// What was decided agrees with the reference for small stacks; how much the bounds alone would have left open.
fn compare(program: &Program, text: &str, model: Model) -> Option<usize> {
    let mut reached = Vec::new();
    for frames in 2..=5 {
        let (goals, beyond) = expected(program, model, Depth { frames, spawned: 0 })?;
        reached.push((goals, beyond));
        if !beyond {
            break;
        }
    }
    let (most, beyond) = reached.last().expect("one depth at least");
    let mut decided = 0;
    for one in checked(program, model).report.properties {
        let context = || format!("{model:?} {:?}: {}\n{text}", one.goal, one.judgement.name());
        match &one.judgement {
            Judgement::Holds | Judgement::NotMet => {
                let is_exists = check::is_exists(program, one.goal);
                assert_eq!(one.judgement == Judgement::NotMet, is_exists, "{}", context());
                assert!(!most.contains(&one.goal), "{}", context());
            }
            // It was replayed, with calls and returns.
            Judgement::Violated(_) | Judgement::Met(_) => {
                assert!(*beyond || most.contains(&one.goal), "{}", context());
            }
            // The first depth is searched anyway.
            Judgement::Unknown(_) => assert!(!reached[0].0.contains(&one.goal) && reached[0].1, "{}", context()),
        }
        decided += usize::from(one.member == Some(Member::Summaries));
    }
    Some(decided)
}

const SC: Model = Model::Sc;

/// All procedures of a small shape: something, maybe a call of itself with something behind it, something.
#[test]
fn small_recursive_procedures_agree() {
    let parts = ["skip;", "x = 1;", "x = 0;", "assume x == 1;", "r = x; assert r == 0;", "y = x;"];
    let (mut decided, mut compared) = (0, 0);
    let step = std::env::var("WEIR_TINY").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    for number in (0..parts.len().pow(4)).step_by(step) {
        let part = |place: u32| parts[number / parts.len().pow(place) % parts.len()];
        let text = format!(
            "shared x, y; proc f() {{ let r; {} choose {{ f(); {} }} or {{ }} {} }} \
             thread P {{ f(); x = 0; done: skip; }} thread Q {{ let r; {} }} \
             forbid P at done && y == 1; forbid deadlock; exists y == 0;",
            part(0),
            part(1),
            part(2),
            part(3)
        );
        let Some(more) = compare(&parse(&text), &text, SC) else { continue };
        compared += 1;
        decided += more;
        // Data is finite, so nothing is open.
        let open = checked(&parse(&text), SC).report.properties;
        assert!(open.iter().all(|one| !matches!(one.judgement, Judgement::Unknown(_))), "{text}");
    }
    assert!(compared > 200 && decided > compared, "{decided} of {compared}");
}

/// Under TSO, where store buffers change nothing; wherever they do, bounds decide.
#[test]
fn small_procedures_agree_under_tso() {
    let parts = ["skip;", "x = 1;", "r = xchg(x, 0);", "fence;", "r = y; assert r == 0;"];
    let (mut decided, mut compared) = (0, 0);
    let step = std::env::var("WEIR_TINY").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    for number in (0..parts.len().pow(4)).step_by(step) {
        let part = |place: u32| parts[number / parts.len().pow(place) % parts.len()];
        let text = format!(
            "shared x, y; proc f() {{ let r; {} choose {{ f(); {} }} or {{ }} {} }} \
             thread P {{ f(); done: skip; }} thread Q {{ let r; y = 1; {} }} \
             forbid P at done && y == 0 && x == 1; exists y == 0;",
            part(0),
            part(1),
            part(2),
            part(3)
        );
        let Some(more) = compare(&parse(&text), &text, Model::Tso) else { continue };
        compared += 1;
        decided += more;
    }
    assert!(compared > 40 && decided > 10, "{decided} of {compared}");
}

#[test]
fn random_recursive_programs_agree() {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    let (mut decided, mut compared) = (0, 0);
    for seed in 0..count {
        let text = random_text(&mut Rng::new(seed), false);
        let Some(program) = dynamic_program(&text) else { continue };
        if let Some(more) = compare(&program, &format!("seed {seed}\n{text}"), SC) {
            compared += 1;
            decided += more;
        }
    }
    assert!(3 * compared > count && decided > 0, "{decided} in {compared} of {count}");
}

fn reached(program: &Program, model: Model) -> Result<Verdict<()>, Failure> {
    let options = reach::Options { model, ..reach::Options::default() };
    dynamic::reach(program, &options, &session()).map(|decided| decided.report.verdict.map(|_| ()))
}

#[test]
fn what_summaries_decide() {
    // What a level leaves behind for the level below it, and for others.
    let nested = |broken: &str| {
        format!(
            "shared s: 0..1; proc f() {{ let old = s; s = 1 - old; choose {{ f(); }} or {{ }} {broken} s = old; }} \
             thread P {{ loop {{ f(); assert s == 0; }} }}"
        )
    };
    assert_eq!(reached(&parse(&nested("")), SC), Ok(Verdict::Holds));
    assert_eq!(reached(&parse(&nested("choose { terminate; } or { }")), SC), Ok(Verdict::Holds));
    assert_eq!(reached(&parse(&nested("old = 1;")), SC), Ok(Verdict::Violated(())));
    // Under TSO, stores wait; that matters only if somebody else runs, and loads follow before a fence.
    let nested_beside = nested("") + " thread Q { let r = s; }";
    assert_eq!(reached(&parse(&nested_beside), SC), Ok(Verdict::Holds));
    assert!(matches!(reached(&parse(&nested_beside), Model::Tso), Ok(Verdict::Unknown(_))));
    assert_eq!(reached(&parse(&nested("")), Model::Tso), Ok(Verdict::Holds));
    assert_eq!(reached(&parse(&nested("old = 1;")), Model::Tso), Ok(Verdict::Violated(())));
    let fenced = nested_beside.replace("s = old;", "s = old; fence;").replace("s = 1 - old;", "s = 1 - old; fence;");
    assert_eq!(reached(&parse(&fenced), Model::Tso), Ok(Verdict::Holds));
    // The load behind the store is in the caller, or in the callee.
    for (store, call, load) in [("x = 1;", "f();", "r = y;"), ("", "x = 1; f();", ""), ("x = 1;", "f(); f();", "")] {
        let body = if load.is_empty() { "r = y;" } else { "" };
        let text = format!(
            "shared x, y, z; proc f() {{ let r; {body} choose {{ f(); }} or {{ }} {store} }} \
             thread P {{ let r; {call} {load} }} thread Q {{ y = 1; }} forbid z == 1;"
        );
        assert!(matches!(reached(&parse(&text), Model::Tso), Ok(Verdict::Unknown(_))), "{text}");
    }
    // Without stores, they cannot.
    let atomic = "shared s: 0..1; proc f() { let old = xchg(s, 1); choose { f(); } or { } old = xchg(s, old); } \
                  thread P { loop { f(); assert s == 0; } }";
    assert_eq!(reached(&parse(atomic), Model::Tso), Ok(Verdict::Holds));
    let wrong = atomic.replace("assert s == 0", "assert s == 1");
    assert_eq!(reached(&parse(&wrong), Model::Tso), Ok(Verdict::Violated(())));
    // The result of a call, and what the thread's own registers hold meanwhile.
    let value = "shared x: 0..1; proc f(n) { let r = 0; choose { r = f(1 - n); } or { } return 1 - r; } \
                 thread P { let a = 1; let b = f(0); x = b; end_: skip; } forbid P.a == 0 && P at end_;";
    assert_eq!(reached(&parse(value), SC), Ok(Verdict::Holds));
    assert_eq!(reached(&parse(&value.replace("P.a == 0", "P.b == 0")), SC), Ok(Verdict::Violated(())));
    // What the thread's own registers hold while it is in a procedure, and where it is then.
    let inside = "shared x: 0..1; proc f() { x = 1; choose { f(); } or { } x = 0; } \
                  thread P { let a = 1; f(); end_: skip; } forbid P.a == 0 && x == 1; forbid P at end_ && x == 1;";
    assert_eq!(reached(&parse(inside), SC), Ok(Verdict::Holds));
    assert_eq!(reached(&parse(&inside.replace("P.a == 0", "P.a == 1")), SC), Ok(Verdict::Violated(())));
    // Deep stacks only: the violation needs ten calls that have not returned.
    let deep = "shared x: 0..10; proc f() { x = x + 1; choose { f(); } or { } x = x - 1; } \
                thread P { f(); } forbid x == 10;";
    assert_eq!(reached(&parse(deep), SC), Ok(Verdict::Violated(())));
}

/// Two recursive threads, and threads that are started, are beyond summaries.
#[test]
fn what_summaries_do_not_decide() {
    let endless = "proc f() { choose { f(); } or { } }";
    for text in [
        format!("shared x; {endless} thread P {{ f(); }} thread Q {{ f(); }} forbid x == 1;"),
        format!("shared x; {endless} thread P {{ f(); }} thread Q {{ spawn P; }} forbid x == 1;"),
    ] {
        let verdict = reached(&parse(&text), SC).expect("supported");
        assert!(matches!(verdict, Verdict::Unknown(Limit::Frames(2) | Limit::Spawned(_))), "{verdict:?}\n{text}");
    }
}

/// Infinite data ends within the limits.
#[test]
fn infinite_data_ends() {
    let text = "shared x; proc f(n) { x = n; f(n + 1); } thread P { f(0); } forbid x == -1;";
    let options = reach::Options { model: SC, ..reach::Options::default() };
    let decided = dynamic::reach(&parse(text), &options, &session()).expect("supported");
    assert_eq!(decided.report.verdict.map(|_| ()), Verdict::Unknown(Limit::Frames(2)));
}
