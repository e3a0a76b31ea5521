//! Programs with `spawn` and recursive procedures, against runs within the bound by their definition.

use std::collections::BTreeSet;

use weir::reach::{Engine, Options, all_goals};
use weir::translate::bounded::{RunBound, bounded};
use weir::{Bound, Failure, Limit, Limits, Session, Verdict, dynamic};
use weir_ir::{Program, Source};
use weir_testkit::Rng;
use weir_testkit::calls::program as random_text;
use weir_testkit::reference::{self, Depth, bounded_states_within};
use weir_witness::Goal;

use crate::compare::{Tally, compare, compare_within, reference_bound, supported};
use crate::engine::engine;

const BOUNDS: [RunBound; 6] = [
    RunBound::Rounds(2),
    RunBound::Age(1),
    RunBound::Rounds(1),
    RunBound::Age(2),
    RunBound::Rounds(3),
    RunBound::Age(0),
];

fn seeds(few: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Whether all bounds are tried, which takes minutes: with `WEIR_TINY=1`.
fn is_long() -> bool {
    std::env::var("WEIR_TINY").is_ok_and(|text| text == "1")
}

fn parse(text: &str) -> Option<Program> {
    let source = Source::new("calls.weir", text.to_owned());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    parsed.ok().map(|parsed| supported(parsed.program))
}

fn valid(text: &str) -> Program {
    parse(text).unwrap_or_else(|| panic!("not a program:\n{text}"))
}

/// Small programs that start threads, each for a reason.
const SPAWNING: [&str; 12] = [
    // What a started thread keeps back has not reached memory, and in the middle of a round it is nowhere else.
    "shared x; thread P { spawn T; } thread T[0] { x = 1; done: skip; } forbid T at done && x == 0; \
     forbid x == 1 && count(T at done) + count(T at end) == 0;",
    // The store may wait when the other one looks.
    "shared x; thread P { x = 1; spawn T; } thread T[0] { let r = x; assert r == 1; }",
    "shared x; thread P { x = 1; fence; spawn T; } thread T[0] { let r = x; assert r == 1; }",
    // Both are instances of the same thread.
    "shared x, y; thread P { spawn T; spawn T; } thread T[0] { let r; let k = fetch_add(y, 1); \
     if k == 0 { x = 1; } else { r = x; assert r == 0; } }",
    // Store buffering between a thread and the one that it starts.
    "shared x, y; thread P { spawn T; x = 1; let r = y; exists0: skip; } \
     thread T[0] { y = 1; let s = x; if s == 0 { zero: skip; } } forbid P.r == 0 && T at zero;",
    // A started thread is several rounds behind.
    "shared x, y; thread P { let r, s; spawn T; x = 1; r = y; s = y; } thread T[0] { y = 1; y = 2; let k = x; \
     if k == 0 { zero: skip; } } forbid P.r == 1 && P.s == 2 && T at zero;",
    // Started inside a locked section.
    "shared x, y; thread P { atomic { x = 1; spawn T; y = 1; } } thread T[0] { let r = x; x = 2; r = y; \
     assert r == 1; }",
    // A barrier waits for whoever was started.
    "shared x, y; thread P { let r; spawn T; await y == 1; membarrier; r = x; } thread T[0] { x = 1; y = 1; } \
     exists P.r == 1; exists P.r == 0;",
    "shared x, y; thread P { let r; spawn T; membarrier; r = x; } thread T[0] { x = 1; y = 1; here: skip; } \
     forbid P at end && P.r == 0 && T at here;",
    // A thread that runs from the start, and is started again.
    "shared x, y; thread P { let r = x; if r == 0 { x = 1; spawn P; y = 1; } else { r = y; assert r == 1; } }",
    // Started before a locked section of the same round.
    "shared x; thread P { spawn T; atomic { x = 2; here: skip; } } thread T[0] { fence; there: skip; } \
     forbid P at here && T at there; forbid P at end && x == 0;",
    // Who is done, and how many.
    "shared x; thread P { spawn T; x = 1; spawn T; } thread T[0] { let r = x; x = r + 1; } \
     always x == 2; exists x == 3; exists x == 1; forbid count(T at end) == 2 && x == 1;",
];

#[test]
fn small_programs_that_start_threads_agree() {
    let mut tally = Tally::default();
    for (number, text) in SPAWNING.iter().enumerate() {
        let program = valid(text);
        for bound in BOUNDS.iter().copied().cycle().skip(number % 2).take(if is_long() { 6 } else { 1 }) {
            let depth = Depth { frames: 0, spawned: 2 };
            tally.add(compare_within(&program, bound, 3_000, depth).unwrap_or_else(|what| panic!("{what}\n{text}")));
        }
    }
    assert!(tally.compared >= 11 && tally.beyond_sc >= 3 && tally.refused + tally.large == 0, "{tally:?}");
}

/// States of random programs with `spawn`, all of them.
#[test]
fn random_programs_that_start_threads_agree() {
    let (mut tally, mut tried) = (Tally::default(), 0);
    for seed in 0..seeds(60) {
        let text = random_text(&mut Rng::new(seed), true);
        let Some(program) = parse(&text).filter(|program| program.spawns() && !program.calls()) else { continue };
        tried += 1;
        let bound = BOUNDS[(seed % 6) as usize];
        let depth = Depth { frames: 0, spawned: 1 + (seed % 2) as usize };
        let compared = compare_within(&program, bound, 2_500, depth);
        tally.add(compared.unwrap_or_else(|what| panic!("seed {seed} {depth:?}: {what}\n{text}")));
    }
    assert!(2 * tally.compared > tried && tally.refused == 0, "{tally:?} of {tried}");
}

/// The goals that the engine finds within bounds on stacks and threads, and those of the definition.
fn goals_agree(program: &Program, bound: RunBound, depth: Depth) -> Result<Option<usize>, String> {
    let states = |spawned| {
        let depth = Depth { spawned, ..depth };
        bounded_states_within(program, reference_bound(bound), 6_000, depth).map_err(|error| error.what.to_owned())
    };
    // The engine also runs the instance that tells that there are too many.
    let (Some(least), Some(most)) = (states(depth.spawned)?, states(depth.spawned + 1)?) else { return Ok(None) };
    let mut reached = 0;
    for goal in all_goals(&program.linked(0)) {
        let named = match goal {
            Goal::Property(property) => reference::Goal::Property(property),
            Goal::Assertion(thread) => reference::Goal::Assertion(thread),
            Goal::NotRobust => continue,
        };
        let options =
            Options { engine: engine(bound), bound: Some(bound.number()), goals: vec![goal], ..Options::default() };
        let session = Session::new(Limits { states: Some(1_000_000), ..Limits::default() })
            .with_bound(Bound::StackFrames, depth.frames as u64)
            .with_bound(Bound::SpawnedThreads, depth.spawned as u64);
        let verdict = match dynamic::reach(program, &options, &session) {
            Ok(decided) => decided.report.verdict.map(|_| ()),
            Err(Failure::TooLarge(_)) => return Ok(None),
            Err(failure) => return Err(failure.to_string()),
        };
        match verdict {
            Verdict::Violated(()) if !most.all_goals.contains(&named) => {
                return Err(format!("{bound:?}: {goal:?} is out of reach"));
            }
            Verdict::Violated(()) => reached += 1,
            Verdict::Holds | Verdict::Unknown(_) if least.goals.contains(&named) => {
                return Err(format!("{bound:?}: {goal:?} was not found: {verdict:?}"));
            }
            Verdict::Holds => {
                let all = reference::explore_within(program, reference::Model::Tso, 100_000, depth);
                let goals: BTreeSet<_> = all.map(|all| all.outcome.goals.into_keys().collect()).unwrap_or_default();
                if goals.contains(&named) {
                    return Err(format!("{bound:?}: {goal:?} was called unreachable"));
                }
            }
            Verdict::Unknown(Limit::Rounds(_) | Limit::Age(_) | Limit::Frames(_) | Limit::Spawned(_)) => {}
            Verdict::Unknown(limit) => return Err(format!("{bound:?}: {goal:?}: {limit}")),
        }
    }
    Ok(Some(reached))
}

/// What the engine finds is mapped back, with the steps that start threads.
#[test]
fn engines_find_what_started_threads_do() {
    let mut reached = 0;
    for (number, text) in SPAWNING.iter().enumerate() {
        let bound = BOUNDS[number % 2];
        let found = goals_agree(&valid(text), bound, Depth { frames: 0, spawned: 2 });
        reached += found.unwrap_or_else(|what| panic!("{what}\n{text}")).unwrap_or(0);
    }
    assert!(reached >= 8, "{reached}");
}

fn verdict(text: &str, engine: Engine, bound: Option<u32>) -> Verdict<()> {
    let options = Options { engine, bound, ..Options::default() };
    let session = Session::new(Limits { states: Some(100_000), ..Limits::default() }).with_bound(Bound::StackFrames, 2);
    dynamic::reach(&valid(text), &options, &session).expect("supported").report.verdict.map(|_| ())
}

/// A bound that was too small proves nothing.
#[test]
fn nothing_within_a_bound_is_unknown() {
    let flags = "shared flag[2]; proc enter(me) { flag[me] = 1; if flag[1 - me] == 1 { flag[me] = 0; enter(me); } } \
                 thread P { enter(0); critical: skip; } thread Q { enter(1); critical: skip; } \
                 forbid P at critical && Q at critical;";
    assert!(matches!(verdict(flags, Engine::Rounds, Some(1)), Verdict::Unknown(_)));
    assert_eq!(verdict(flags, Engine::Rounds, Some(2)), Verdict::Violated(()));
    let ends = "shared x, y; proc f(n) { x = n + 1; if n > 0 { f(n - 1); } } thread P { f(1); let r = y; } \
                thread Q { y = 1; let s = x; } forbid P at end && P.r == 0 && Q at end && Q.s == 0;";
    assert_eq!(verdict(ends, Engine::Rounds, Some(1)), Verdict::Unknown(Limit::Rounds(1)));
    assert_eq!(verdict(ends, Engine::Rounds, Some(2)), Verdict::Violated(()));
    // A thread that steps before the section ends in which it was started is not covered.
    let section = "shared x; thread P { atomic { spawn T; here: skip; x = 1; } } thread T[0] { let r = 1; there: skip; } \
                   forbid P at here && T at there;";
    assert_eq!(verdict(section, Engine::Explicit, None), Verdict::Violated(()));
    assert_ne!(verdict(section, Engine::Rounds, Some(12)), Verdict::Holds);
}

#[test]
fn random_programs_with_procedures_agree() {
    let (mut reached, mut compared, mut tried) = (0, 0, 0);
    for seed in 0..seeds(60) {
        let rng = &mut Rng::new(seed);
        let text = random_text(rng, seed % 3 == 0);
        let Some(program) = parse(&text).filter(Program::calls) else { continue };
        tried += 1;
        let bound = BOUNDS[(seed % 6) as usize];
        let depth = Depth { frames: rng.between(1, 3), spawned: 1 };
        match goals_agree(&program, bound, depth) {
            Ok(Some(more)) => (reached, compared) = (reached + more, compared + 1),
            Ok(None) => {}
            Err(what) => panic!("seed {seed} {depth:?}: {what}\n{text}"),
        }
    }
    assert!(2 * compared > tried && 2 * reached > compared, "{reached} in {compared} of {tried}");
}

/// A store waits for several rounds of its thread: exactly as many as the thread looks elsewhere in between.
#[test]
fn long_waits_need_exactly_their_bound() {
    for looks in 2..=4_u32 {
        let numbers: Vec<String> = (1..=looks).map(|number| number.to_string()).collect();
        let own: String = numbers.iter().map(|number| format!("r{number} = y; ")).collect();
        let seen: Vec<String> = numbers.iter().map(|number| format!("P.r{number} == {number}")).collect();
        let others: String = numbers.iter().map(|number| format!("y = {number}; fence; ")).collect();
        let text = format!(
            "shared x, y; thread P {{ let {}; x = 1; {own} }} thread Q {{ let s; {others} s = x; }} \
             forbid {} && P at end && Q at end && Q.s == 0;",
            numbers.iter().map(|number| format!("r{number}")).collect::<Vec<_>>().join(", "),
            seen.join(" && "),
        );
        let program = valid(&text);
        let finds = |bound| matches!(crate::engine::ask(&program, bound, Vec::new()), Ok(Verdict::Violated(())));
        // The first look can be in the round of the store; after the last one the store reaches memory.
        let (age, rounds) = (looks - 1, looks);
        assert!(finds(RunBound::Age(age)) && finds(RunBound::Rounds(rounds)), "{text}");
        assert!(!finds(RunBound::Age(age - 1)) && !finds(RunBound::Rounds(rounds - 1)), "{text}");
    }
}

/// Stores to several cells that wait for different numbers of rounds: every state agrees.
#[test]
fn stores_that_wait_for_different_rounds_agree() {
    let mut tally = Tally::default();
    for text in [
        "shared x, y, z; thread P { let r, s; x = 1; r = y; z = 1; s = y; } \
         thread Q { let a, b; y = 1; a = x; y = 2; b = z; } exists P.r + P.s + Q.a + Q.b > 9;",
        "shared x, y; thread P { let r, s; x = 1; r = y; x = 2; s = x; r = y; } \
         thread Q { let a, b; a = x; y = 1; b = x; } exists P.r + P.s + Q.a + Q.b > 9;",
        "shared x, y, z; thread P { let r; x = 1; z = 1; x = 2; r = y; r = y; z = 2; } \
         thread Q { let a, b; a = z; y = 1; b = x; a = z; } exists P.r + Q.a + Q.b > 9;",
        "shared x, z, y: 0..1; thread P { let r; x = 1; r = y; z = 1; r = y; fence; x = 2; r = y; } \
         thread Q { let a; y = 1; a = x; a = z; y = 0; a = x; } exists P.r + Q.a > 9;",
    ] {
        let program = valid(text);
        let bounds = [RunBound::Age(2), RunBound::Rounds(3), RunBound::Age(3), RunBound::Rounds(4)];
        for bound in bounds.into_iter().take(if is_long() { 4 } else { 2 }) {
            let depth = Depth { frames: 0, spawned: 0 };
            let one = compare_within(&program, bound, 20_000, depth);
            tally.add(one.unwrap_or_else(|what| panic!("{what}\n{text}")));
        }
    }
    assert_eq!((tally.compared, tally.beyond_sc), if is_long() { (16, 16) } else { (8, 8) }, "{tally:?}");
}

/// Small programs that call procedures, each for a reason.
const CALLING: [&str; 12] = [
    // Store buffering across calls: the store waits while procedures begin and end.
    "shared x, y; noinline proc put(n) { x = n; } noinline proc get() { return y; } \
     thread P { put(1); let r = get(); } thread Q { y = 1; let s = x; } forbid P at end && Q at end && P.r + Q.s == 0;",
    "shared x, y; noinline proc put(n) { x = n; fence; } noinline proc get() { return y; } \
     thread P { put(1); let r = get(); } thread Q { y = 1; fence; let s = x; } \
     forbid P at end && Q at end && P.r + Q.s == 0;",
    // What a caller kept back, a procedure must see, and drain.
    "shared x, y; noinline proc read() { return x; } noinline proc drain() { fence; } \
     thread P { x = 1; let r = read(); drain(); y = 1; } thread Q { let a = y; let b = x; } \
     forbid P.r == 0 && P at end; forbid Q.a == 1 && Q.b == 0;",
    // Both threads call the same procedure, and one of them loads what only the other one stores.
    "shared x, y; noinline proc look(n) { if n == 0 { return x; } return y; } \
     thread P { x = 1; let r = look(1); } thread Q { y = 1; let s = look(0); } \
     forbid P at end && Q at end && P.r + Q.s == 0;",
    // Recursion stores on its way down and loads on its way back.
    "shared x, y; proc f(n) { x = n; if n > 0 { f(n - 1); } let r = y; return r; } \
     thread P { let r = f(2); } thread Q { let s; y = 1; s = x; } forbid P at end && P.r == 0 && Q at end && Q.s == 0;",
    // A procedure ends the thread, with a store that waits.
    "shared x, y; noinline proc leave(n) { x = n; if y == 0 { terminate; } } \
     thread P { leave(1); end0: skip; } thread Q { y = 1; let s = x; } exists x == 1 && Q.s == 0; \
     forbid Q at end && Q.s == 0 && P at end0;",
    // Nobody who is in a procedure is at a place of the thread, however it is that rounds begin.
    "shared x; noinline proc store() { x = 1; } thread P { before: store(); after: skip; } \
     forbid x == 1 && !(P at after) && !(P at end); forbid P at before && x == 1; forbid x == 0 && P at after;",
    "shared x; noinline proc store() { x = 1; x = 2; } thread P { spawn T; } thread T[0] { store(); after: skip; } \
     forbid x == 2 && count(T at after) + count(T at end) == 0; forbid T at after && x == 0; forbid T at after && x == 1;",
    "shared x; noinline proc nothing(n) { return n; } thread P { spawn T; x = 1; } \
     thread T[0] { a: let r = x; b: r = nothing(r); c: r = x; } \
     forbid x == 1 && count(T at a) + count(T at b) + count(T at c) + count(T at end) == 0; forbid T at b && x == 1;",
    // An assertion that fails in a procedure, and one that fails only because a store waits.
    "shared x, y; noinline proc check(n) { let r = x; assert r != n; } \
     thread P { y = 1; check(0); } thread Q { x = 1; let s = y; if s == 0 { zero: skip; } } forbid Q at zero && x == 1;",
    // A lock that one procedure takes and another one gives back.
    "shared x; noinline proc enter() { lock; } noinline proc leave() { unlock; } \
     thread P { enter(); x = 1; x = 2; leave(); } thread Q { enter(); let r = x; leave(); } forbid Q.r == 1;",
    // Computed addresses, and a variable that is the program's own.
    "shared a[2]: 0..2; let own; noinline proc put(v) { a[own & 1] = v; } noinline proc get() { return a[1 - (own & 1)]; } \
     thread P { own = 0; put(1); let r = get(); } thread Q { own = 1; put(2); let s = get(); } \
     forbid P at end && Q at end && P.r + Q.s == 0; forbid P.own == 1; exists Q.own == 1 && P.own == 0;",
];

/// A program whose procedures are kept, against runs within the bound by their definition. What starts a round is in
/// procedures, too: stacks are up to two frames deeper.
fn kept_procedures_agree(text: &str, bound: RunBound, depth: Depth, limit: usize) -> Result<Option<usize>, String> {
    let program = valid(text);
    let made = match bounded(&program, bound, &Session::default()) {
        Ok(made) => made,
        Err(Failure::Refused(why)) if why.code == "computed-address" => return Ok(None),
        Err(failure) => return Err(failure.to_string()),
    };
    let deeper = Depth { frames: depth.frames + 2, ..depth };
    let states = |depth| {
        bounded_states_within(&program, reference_bound(bound), limit, depth).map_err(|error| error.what.to_owned())
    };
    let (Some(least), Some(most)) = (states(depth)?, states(deeper)?) else { return Ok(None) };
    let printed = weir_syntax::weir::print::print_with(&made.program, made.comments());
    let source = Source::new("again", printed.clone());
    let again = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let again = again.map_err(|errors| format!("{errors:#?}\n{printed}"))?.program;
    for translated in [&made.program, &again] {
        let outcome = reference::explore_within(translated, reference::Model::Sc, 60 * limit, deeper);
        let outcome = outcome.map_err(|error| error.what.to_owned())?.outcome;
        if !outcome.complete {
            return Ok(None);
        }
        let found: BTreeSet<_> = outcome.goals.into_keys().collect();
        if let Some(missed) = least.goals.difference(&found).next() {
            return Err(format!("{bound:?}: {missed:?} was not found:\n{printed}"));
        }
        let is_right = |goal: &&reference::Goal| match goal {
            reference::Goal::Property(_) => most.goals.contains(goal),
            reference::Goal::Assertion(_) => most.all_goals.contains(goal),
        };
        if let Some(wrong) = found.iter().find(|goal| !is_right(goal)) {
            return Err(format!("{bound:?}: {wrong:?} is out of reach:\n{printed}"));
        }
    }
    Ok(Some(least.goals.len()))
}

#[test]
fn small_programs_that_keep_their_procedures_agree() {
    let mut reached = 0;
    for (number, text) in CALLING.iter().enumerate() {
        for bound in BOUNDS.iter().copied().cycle().skip(number % 2).take(if is_long() { 6 } else { 1 }) {
            let found = kept_procedures_agree(text, bound, Depth { frames: 3, spawned: 1 }, 20_000);
            let found = found.unwrap_or_else(|what| panic!("{what}\n{text}"));
            reached += found.unwrap_or_else(|| panic!("{bound:?}: too large\n{text}"));
        }
    }
    assert!(reached >= 10, "{reached}");
}

#[test]
fn random_programs_that_keep_their_procedures_agree() {
    let (mut reached, mut compared, mut tried) = (0, 0, 0);
    for seed in 0..seeds(60) {
        let rng = &mut Rng::new(1_000_000 + seed);
        let text = random_text(rng, seed % 3 == 0);
        if parse(&text).filter(Program::calls).is_none() {
            continue;
        }
        tried += 1;
        let depth = Depth { frames: rng.between(1, 2), spawned: 1 };
        match kept_procedures_agree(&text, BOUNDS[(seed % 6) as usize], depth, 1_500) {
            Ok(Some(more)) => (reached, compared) = (reached + more, compared + 1),
            Ok(None) => {}
            Err(what) => panic!("seed {seed} {depth:?}: {what}\n{text}"),
        }
    }
    assert!(2 * compared > tried && 2 * reached > compared, "{reached} in {compared} of {tried}");
}

/// Two threads that store, and look at what the other one does in between: stores wait for several rounds.
#[test]
fn random_long_waits_agree() {
    let mut tally = Tally::default();
    for seed in 0..seeds(3) {
        let rng = &mut Rng::new(seed);
        let most = if is_long() { 3 } else { 2 };
        let mut text = String::from("shared x, y, z;\n");
        for (name, own, other) in [("P", ["x", "z"], "y"), ("Q", ["y", "z"], "x")] {
            let mut body = String::new();
            for register in 1..=rng.between(2, most) {
                body += &format!("{} = {}; r{register} = {other}; ", rng.pick(&own), rng.between(1, 2));
            }
            text += &format!("thread {name} {{ let r1, r2, r3; {body} }}\n");
        }
        let program = crate::compare::observing(valid(&text));
        let bound = [RunBound::Age(2), RunBound::Rounds(3), RunBound::Age(3)][(seed % 3) as usize];
        let compared = compare_within(&program, bound, 12_000, Depth { frames: 0, spawned: 0 });
        tally.add(compared.unwrap_or_else(|what| panic!("seed {seed}: {what}\n{text}")));
    }
    assert!(2 * tally.compared > seeds(3) && tally.beyond_sc > 0 && tally.refused == 0, "{tally:?}");
}

/// A thread that waits for good has not ended, even if it has nothing that it could ever do.
#[test]
fn threads_that_can_never_go_on_are_not_done() {
    let bounds = [RunBound::Rounds(1), RunBound::Rounds(2), RunBound::Age(0), RunBound::Age(2)];
    for text in [
        "shared x; thread P { skip; unlock; } always x == 1;",
        "shared x; thread P { x = 1; unlock; x = 2; } thread Q { x = 3; let r = x; } always x == 9; forbid P at end;",
        "shared x; thread P { lock; unlock; unlock; } always 0;",
        "shared x; thread P { x = 1; loop { assume 0; } } always 0;",
        "shared x; thread P { w: x = 1; unlock; } forbid deadlock;",
    ] {
        let program = supported(valid(text));
        for bound in bounds {
            compare(&program, bound, 1_000).unwrap_or_else(|what| panic!("{bound:?}: {what}\n{text}"));
        }
    }
}
