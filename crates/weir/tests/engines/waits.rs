//! Waiting loops whose loads are fused with their tests reach what they reached before, and runs map back.

use weir::check::{self, Judgement};
use weir::reach::{Options, all_goals, reach};
use weir::translate::Translation;
use weir::translate::fuse_waits::fuse_waits;
use weir::translate::slice::Slicer;
use weir::{Limits, Session, Verdict};
use weir_ir::{Program, ThreadId};
use weir_testkit::reference::{Outcome, explore};
use weir_testkit::{Model, dump};
use weir_witness::Checked;

use crate::families::parse;
use crate::was_seen;

const MOST_STATES: usize = 5_000;

/// What threads do, beside waiting; `N` is the number of the thread.
const STATEMENTS: [&str; 9] = [
    "x = 1;",
    "y = 1;",
    "x = 2;",
    "fence;",
    "rN = x;",
    "rN = y;",
    "if x == 1 { y = 2; }",
    "rN = xchg(y, 1);",
    "assert rN != 2;",
];

/// How threads wait.
const WAITS: [&str; 9] = [
    "while x == 0 { }",
    "while x != 1 && y == 0 { }",
    "while y != 1 || x == 2 { }",
    "loop { if y == 1 { break; } }",
    "loop { rN = x; if rN != 0 { break; } }",
    "w: while y == 0 { }",
    "while x == 1 { let q = y; }",
    "while x == 0 { if y == 2 { break; } }",
    "loop { assume y != 2; if x != 0 { break; } }",
];

/// What is asked.
const PROPERTIES: [&str; 6] = [
    "forbid A.r0 == 1 && B.r1 == 0 && A at end;",
    "forbid x == 2 && y == 1;",
    "exists A.r0 == 1 && B.r1 == 1;",
    "always B.r1 != 1 || x == 1;",
    "forbid A at end && !(B at end);",
    "forbid A at end && x == 1 && B.r1 == 0;",
];

/// Numbers that are the same in every run (a linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most as u64) as usize
    }
}

fn thread(numbers: &mut Numbers, number: usize) -> String {
    let mut body = String::new();
    let wait = numbers.below(4);
    for at in 0..4 {
        let from: &[&str] = if at == wait { &WAITS } else { &STATEMENTS };
        body += from[numbers.below(from.len())];
        body += " ";
    }
    let name = ["A", "B", "C"][number];
    format!("thread {name} {{ let r{number} = 0; {} }}\n", body.replace('N', &number.to_string()))
}

fn random_text(seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let threads: String = (0..2 + numbers.below(2)).map(|number| thread(&mut numbers, number)).collect();
    let properties = [numbers.below(PROPERTIES.len()), numbers.below(PROPERTIES.len())];
    format!("shared x, y;\n{threads}{}\n{}\n", PROPERTIES[properties[0]], PROPERTIES[properties[1]])
}

/// Of how many programs loops were fused, and how many goals were compared, in how many of which something is reached.
#[derive(Default, Debug)]
struct Tally {
    fused: usize,
    fewer: usize,
    compared: usize,
    reached: usize,
}

fn compare(text: &str, tally: &mut Tally) {
    let program = parse(text);
    let goals = all_goals(&program);
    let Some(fused) = fuse_waits(&program, &goals) else { return };
    tally.fused += 1;
    for model in Model::ALL {
        let context = || format!("{model:?}\n{text}\n{}", dump(fused.program()));
        let whole = explore(&program, model, MOST_STATES).expect("the reference can");
        let part = explore(fused.program(), model, MOST_STATES).expect("the reference can");
        if !whole.complete || !part.complete {
            continue;
        }
        assert!(part.states <= whole.states, "{}", context());
        tally.fewer += usize::from(part.states < whole.states);
        for &goal in &goals {
            assert_eq!(was_seen(&whole, goal), was_seen(&part, goal), "{goal:?} {}", context());
            tally.compared += 1;
            tally.reached += usize::from(was_seen(&whole, goal));
        }
        maps_back(&program, &fused, model, &context);
    }
    check_agrees(&program, &explore(&program, Model::Tso, MOST_STATES).expect("the reference can"));
}

fn maps_back(program: &Program, fused: &impl Translation, model: Model, context: &dyn Fn() -> String) {
    let model = if model == Model::Sc { weir_witness::Model::Sc } else { weir_witness::Model::Tso };
    for goal in all_goals(program) {
        let options = Options { model, goals: vec![goal], ..Options::default() };
        let report = reach(fused.program(), &options, &Session::default()).expect("the engine can");
        if let Verdict::Violated(found) = report.verdict {
            let run = fused.map_back(program, found.run());
            assert!(Checked::new(program, run, goal).is_ok(), "{goal:?} {}", context());
        }
    }
}

/// `check`, which fuses, gives the right answers, and lists no instruction as unexecuted that some run executes.
fn check_agrees(program: &Program, outcome: &Outcome) {
    if !outcome.complete {
        return;
    }
    let limits = Limits { states: Some(1_000_000), ..Limits::default() };
    let report = check::check(program, &check::Options::default(), &Session::new(limits)).expect("it can");
    for property in &report.properties {
        let is_reached = matches!(property.judgement, Judgement::Violated(_) | Judgement::Met(_));
        assert_eq!(is_reached, was_seen(outcome, property.goal), "{:?}\n{}", property.goal, dump(program));
    }
    let Some(coverage) = report.coverage else { return };
    for step in &coverage.unexecuted {
        assert!(!outcome.executed.contains(step), "{step:?} is executed\n{}", dump(program));
    }
    let idles = |thread: &ThreadId| !outcome.executed.iter().any(|(of, _)| of == thread);
    let examined = program.running_threads().filter(|thread| !coverage.unexamined.contains(thread));
    let idle: Vec<ThreadId> = examined.filter(idles).collect();
    assert!(coverage.immobile == idle || coverage.approximate, "{:?} {idle:?}\n{}", coverage.immobile, dump(program));
    assert!(coverage.immobile.iter().all(idles), "{:?}\n{}", coverage.immobile, dump(program));
}

#[test]
fn fused_loops_reach_what_they_reached_before() {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut tally = Tally::default();
    for seed in 0..count {
        compare(&random_text(seed), &mut tally);
    }
    let enough = tally.fused >= 100 && tally.fewer >= 150 && tally.compared >= 300 && tally.reached >= 50;
    assert!(enough, "{tally:?}");
}

/// A thread that waits forever from its first step on moves, although its `await` does not.
#[test]
fn threads_that_wait_forever_are_not_immobile() {
    // The value 1 lies between those that are stored, and is not stored itself.
    for first in ["", "let r = x; assume r == 1;", "await x == 1;"] {
        let stores = "thread B { x = 0; x = 2; }";
        let text = format!("shared x, y; thread A {{ {first} while x != 1 {{ }} y = 1; }} {stores} forbid y == 1;");
        let program = parse(&text);
        assert!(fuse_waits(&program, &all_goals(&program)).is_some());
        check_agrees(&program, &explore(&program, Model::Tso, MOST_STATES).expect("the reference can"));
    }
}

/// The loops of these threads are fused, or not.
#[test]
fn loops_that_can_be_told_from_awaits_are_left_alone() {
    let cases = [
        ("thread A { while x == 0 { } } forbid y == 1;", true),
        ("thread A { while x == 0 && y == 0 { } } forbid y == 1;", true),
        // The place in between can be told from the beginning.
        ("thread A { w: while x == 0 { } } forbid A at w && y == 1;", false),
        ("thread A { let r; loop { r = x; if r != 0 { break; } } } forbid A.r == 1;", false),
        ("thread A { let r; loop { r = x; if r != 0 { break; } } y = r; } forbid y == 1;", true),
        // An await would block.
        ("thread A { while x == 0 { } } forbid deadlock;", false),
        ("thread A { while x == 0 { } } forbid stuck;", false),
        ("thread A { while x == 0 { } } live A at end;", false),
        // It counts.
        ("thread A { let r; while x == 0 { r = r + 1; } y = r; } forbid y == 1;", false),
        ("thread A { while x == 0 { y = 1; } } forbid y == 1;", false),
    ];
    for (text, expected) in cases {
        let program = parse(&format!("shared x, y; {text}"));
        let goals = all_goals(&program);
        let slicer = Slicer::new(&program, &Session::default());
        assert_eq!(fuse_waits(&program, &goals).is_some(), expected, "{text}");
        assert!(expected || fuse_waits(slicer.slice(&goals).program(), &goals).is_none(), "{text}");
    }
}

/// A loop that never ends is still not the end of its thread.
#[test]
fn a_loop_without_a_way_out_keeps_its_edges() {
    let program = parse("shared x; thread A { loop { if x == 5 { } } } exists x == 0;");
    let fused = fuse_waits(&program, &all_goals(&program)).expect("there is a loop");
    assert!(!fused.program().threads[0].body.edges().is_empty());
    let outcome = explore(fused.program(), Model::Tso, MOST_STATES).expect("the reference can");
    assert!(outcome.complete && outcome.goals.is_empty());
}
