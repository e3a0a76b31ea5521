//! Copies of a thread that store, compare and index by their numbers: with and without symmetry reduction the explicit
//! engine finds exactly what the reference does. Random bodies, some of which are *almost* symmetric: one comparison by
//! order, one constant that equals a number, one copy named in a property.

use std::collections::BTreeSet;

use weir::reach::{Options, Reduction, Report, all_goals, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::{EdgeId, Program, ThreadId};
use weir_testkit::Rng;
use weir_testkit::reference::{self, Outcome, explore};
use weir_witness::{Goal, Model};

use crate::families::parse;
use crate::was_seen;

/// Statements that do not tell the copies apart. `@` is another block.
const SYMMETRIC: [&str; 34] = [
    "owner = i + 1;",
    "owner = 0;",
    "r = owner;",
    "r = owner; if r == i + 1 { @ }",
    "r = owner; if r != 0 { @ } else { @ }",
    "if r == owner { @ }",
    "flag[i] = 1;",
    "flag[i] = s;",
    "s = flag[i];",
    "turn = i;",
    "q = turn; s = flag[q];",
    "q = turn; flag[q] = 0;",
    "if turn == i { @ }",
    "next[i + 1] = r;",
    "if r != 0 { next[r] = i + 1; }",
    "r = next[i + 1];",
    "r = next[r];",
    "r = xchg(owner, i + 1);",
    "s = cas(owner, 0, i + 1);",
    "s = cas(owner, i + 1, 0);",
    "r = cmpxchg(owner, i + 1, r);",
    "s = fetch_add(plain, 1) & 1;",
    "q = any 0..N - 1; s = flag[q];",
    "q = r - 1; if r != 0 { s = flag[q]; }",
    "fence;",
    "membarrier;",
    "lock; @ unlock;",
    "plain = s;",
    "s = plain;",
    "await owner == 0;",
    "await owner != i + 1;",
    "s, r = plain, owner;",
    "assert r != i + 1;",
    "choose { @ } or { @ }",
];

/// Statements that do.
const ASYMMETRIC: [&str; 12] = [
    "if r < i + 1 { @ }",
    "if i == 0 { @ }",
    "owner = 1;",
    "if r == N { @ }",
    "s = flag[0];",
    "flag[1] = 1;",
    "turn = 0;",
    "r = r + 1; if r > N { r = 0; }",
    "plain = i;",
    "assert r != 2;",
    "q = any 0..0; s = flag[q];",
    "s = r * 0;",
];

/// Statements about all other copies, in any order. `#` is a name that is free.
const OTHERS: [&str; 10] = [
    "for each other # { s = flag[#]; @ }",
    "for each other # { if flag[#] == 1 { @ } }",
    "for each other # { flag[#] = 1; }",
    "for each other # { owner = # + 1; }",
    "for each other # { if owner == # + 1 { @ } }",
    "for each other # { r = # + 1; }",
    "for each other # { @ break; }",
    "for each other # { if r == # + 1 { continue; } @ }",
    "for each other # { s = cas(owner, # + 1, i + 1); }",
    "for each other # { plain = 1; } plain = 0;",
];

/// Statements about them that tell copies apart.
const SOME_OTHERS: [&str; 5] = [
    "for each other # { if # < i { @ } }",
    "for each other # { if # == 0 { @ } }",
    "for each other # { if # == i + 1 { @ } }",
    "for each other # { owner = 1; }",
    "for each other # { plain = #; }",
];

const CLOSED: [&str; 9] = [
    "forbid count(P at critical) >= 2;",
    "forbid owner == 0 && count(P at end) == N;",
    "forbid deadlock;",
    "forbid plain == 1 && P at end;",
    "forbid P[0] at end && owner == 2; forbid P[1] at end && owner == 1;",
    "forbid P[0] at critical && P[0].r == 1 || P[1] at critical && P[1].r == 2;",
    "always owner == 0;",
    "exists owner != 0;",
    "forbid flag[0] == 1 && flag[1] == 1;",
];

const OPEN: [&str; 8] = [
    "forbid owner == 1;",
    "forbid P[0] at end && owner == 1;",
    "forbid P[1] at critical && !(P[0] at critical);",
    "forbid P[0] at end && P[0].r == 2;",
    "always owner != 2;",
    "exists flag[0] == 1 && flag[1] == 0;",
    "forbid turn == 1 && owner == 2;",
    "forbid next[1] == 2;",
];

const BESIDE: [&str; 6] = [
    "owner = 0;",
    "let z = owner; owner = z;",
    "plain = 1;",
    "let z = owner; next[z] = 0;",
    "owner = 1;",
    "let z = turn; if z == 1 { plain = 1; }",
];

fn block(rng: &mut Rng, statements: usize, asymmetric: u32, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..statements {
        let from: &[&str] = if rng.chance(asymmetric) { &ASYMMETRIC } else { &SYMMETRIC };
        let mut statement = (*rng.pick(from)).to_owned();
        while let Some(at) = statement.find('@') {
            let inner = if depth == 0 { "skip;".to_owned() } else { block(rng, 1, asymmetric, depth - 1) };
            statement.replace_range(at..=at, &inner);
        }
        text += &format!("    {statement}\n");
    }
    text
}

pub(crate) fn text(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let asymmetric = *rng.pick(&[0, 0, 0, 15]);
    let (copies, statements) = *rng.pick(&[(2, 5), (2, 4), (2, 3), (3, 3), (3, 2), (3, 2)]);
    let before = rng.between(1, statements - 1);
    let (first, second) = (block(&mut rng, before, asymmetric, 1), block(&mut rng, statements - before, asymmetric, 1));
    program(&mut rng, copies, &format!("{first}critical:\n{second}"))
}

/// A program with a `for each other`, and sometimes another inside.
pub(crate) fn text_about_others(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let asymmetric = *rng.pick(&[0, 0, 15]);
    let copies = *rng.pick(&[2, 2, 3]);
    let mut asks = |name: &str| {
        let from: &[&str] = if rng.chance(asymmetric) { &SOME_OTHERS } else { &OTHERS };
        rng.pick(from).replace('#', name)
    };
    let (outer, inner) = (asks("j"), asks("k"));
    let inner = if rng.chance(20) { inner } else { block(&mut rng, 1, asymmetric, 0) };
    let outer = outer.replace('@', &inner).replace('@', "skip;");
    let other = block(&mut rng, if copies == 2 { 2 } else { 1 }, asymmetric, 0);
    let body = if rng.chance(50) {
        format!("{other}{outer}\ncritical: skip;\n")
    } else {
        format!("{outer}\ncritical: {other}")
    };
    program(&mut rng, copies, &body)
}

/// A program of copies with this body.
fn program(rng: &mut Rng, copies: usize, body: &str) -> String {
    let body = if rng.chance(20) { format!("loop {{\n{body}}}\n") } else { body.to_owned() };
    let range = *rng.pick(&["", "", "", ": 0..N", ": 0..2", ": u8"]);
    let turn = *rng.pick(&["turn", "turn = 9", "turn = 1"]);
    let beside = if rng.chance(25) { format!("thread Q {{ {} }}\n", rng.pick(&BESIDE)) } else { String::new() };
    let mut properties = String::new();
    for _ in 0..rng.between(1, 2) {
        properties += *if rng.chance(15) { rng.pick::<&str>(&OPEN) } else { rng.pick::<&str>(&CLOSED) };
    }
    format!(
        "const N = {copies};\nshared owner{range}, {turn}, flag[N + 9]: 0..1, next[N + 1], plain: 0..1;\n\
         thread P(i)[N] {{\n    let q, r, s;\n{body}}}\n{beside}{properties}\n"
    )
}

fn ask(program: &Program, model: Model, goals: &[Goal], symmetry: bool) -> Report {
    let options = Options { model, goals: goals.to_vec(), symmetry, ..Options::default() };
    let limits = Limits { states: Some(30_000), ..Limits::default() };
    reach(program, &options, &Session::new(limits)).expect("the engine handles it")
}

/// The length of the run that was found, or that there is none.
fn length(report: &Report) -> Option<usize> {
    match &report.verdict {
        Verdict::Holds => None,
        Verdict::Violated(found) => Some(found.run().steps.len()),
        Verdict::Unknown(limit) => panic!("stopped: {limit:?}"),
    }
}

/// What the reference says about one of these goals.
fn expected(outcome: &Outcome, goals: &[Goal]) -> Option<usize> {
    let least = |goal: &Goal| match goal {
        Goal::Property(property) => outcome.goals.get(&reference::Goal::Property(*property)),
        Goal::Assertion(thread) => outcome.goals.get(&reference::Goal::Assertion(*thread)),
        Goal::NotRobust => None,
    };
    goals.iter().filter_map(least).min().copied()
}

fn compare_coverage(program: &Program, outcome: &Outcome, report: &Report, context: &str) {
    let edges = |thread: ThreadId| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    let all: BTreeSet<_> = program.running_threads().flat_map(edges).collect();
    let unexecuted: BTreeSet<_> = report.coverage.unexecuted.iter().copied().collect();
    assert_eq!(unexecuted, &all - &outcome.executed, "executed: {context}");
    let blocked: BTreeSet<_> = report.coverage.out_of_range.iter().copied().collect();
    assert_eq!(blocked, outcome.blocked, "blocked: {context}");
}

#[derive(Default, Debug)]
struct Tally {
    asked: u32,
    reduced: u32,
    reached: u32,
    apart: u32,
}

fn compare(text: &str, tally: &mut Tally) {
    let program = parse(text);
    for (model, reference) in [(Model::Sc, reference::Model::Sc), (Model::Tso, reference::Model::Tso)] {
        let outcome = explore(&program, reference, 6_000).expect("the reference handles it");
        if !outcome.complete {
            continue;
        }
        let all = all_goals(&program);
        let single = all.iter().map(std::slice::from_ref);
        for goals in single.chain([all.as_slice(), &[]]) {
            // Without goals the engine takes all of them.
            let context = format!("{model:?}, {goals:?}\n{text}");
            let asked = if goals.is_empty() { &all } else { goals };
            let (with, without) = (ask(&program, model, goals, true), ask(&program, model, goals, false));
            assert_eq!(length(&with), expected(&outcome, asked), "with symmetry: {context}");
            assert_eq!(length(&without), expected(&outcome, asked), "without symmetry: {context}");
            assert!(with.statistics.states <= without.statistics.states, "{context}");
            assert!(!with.symmetry.threads.is_empty() || with.statistics.states == without.statistics.states);
            if let Verdict::Violated(found) = &with.verdict {
                assert!(asked.contains(&found.goal()) && was_seen(&outcome, found.goal()), "{context}");
                tally.reached += 1;
            } else {
                compare_coverage(&program, &outcome, &with, &context);
            }
            compare_fused(&program, &outcome, (model, goals), &with, &context);
            tally.asked += 1;
            tally.reduced += u32::from(with.statistics.states < without.statistics.states);
            tally.apart += u32::from(!with.symmetry.obstacles.is_empty());
        }
    }
}

/// With local steps fused, verdicts and coverage are the same, and there are no more states.
fn compare_fused(
    program: &Program,
    outcome: &Outcome,
    (model, goals): (Model, &[Goal]),
    plain: &Report,
    context: &str,
) {
    for symmetry in [false, true] {
        let options =
            Options { model, goals: goals.to_vec(), symmetry, reduction: Reduction::Local, ..Options::default() };
        let report = reach(program, &options, &Session::default()).expect("the engine handles it");
        match &report.verdict {
            Verdict::Holds => {
                assert!(matches!(plain.verdict, Verdict::Holds), "fused: {context}");
                assert!(!symmetry || report.statistics.states <= plain.statistics.states, "fused: {context}");
                compare_coverage(program, outcome, &report, context);
            }
            Verdict::Violated(found) => assert!(was_seen(outcome, found.goal()), "fused: {context}"),
            Verdict::Unknown(limit) => panic!("stopped: {limit:?}"),
        }
        assert_eq!(length(&report).is_some(), length(plain).is_some(), "fused: {context}");
    }
}

/// Compares the programs of so many seeds, or of as many as the environment says.
fn compare_random(count: u64, text: fn(u64) -> String) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tally = Tally::default();
    (0..count).for_each(|seed| compare(&text(seed), &mut tally));
    let Tally { asked, reduced, reached, apart } = tally;
    let enough = 3 * reduced > asked && 5 * reached > asked && 10 * apart > asked;
    assert!(enough, "too few are reduced, reached or kept apart: {tally:?}");
}

#[test]
fn random_programs() {
    compare_random(120, text);
}

#[test]
fn random_programs_that_ask_all_others_in_any_order() {
    compare_random(60, text_about_others);
}

/// The sets of interchangeable threads, by name, and what keeps others apart.
fn recognised(text: &str) -> (Vec<String>, Vec<String>) {
    let program = parse(text);
    let report = ask(&program, Model::Tso, &[], true);
    let name = |thread: &ThreadId| program.thread(*thread).name.clone();
    let sets = report.symmetry.threads.iter().map(|set| set.iter().map(name).collect::<Vec<_>>().join(" "));
    (sets.collect(), report.symmetry.obstacles.into_iter().map(|obstacle| obstacle.message).collect())
}

/// Three copies with this body after `let q, r, s;`, and this property.
fn three(body: &str, property: &str) -> (Vec<String>, Vec<String>) {
    recognised(&format!("shared owner, flag[3], other[4], plain; thread P(i)[3] {{ let q, r, s; {body} }} {property}"))
}

const COUNT: &str = "forbid count(P at end) >= 4;";

#[test]
fn numbers_may_be_stored_compared_shifted_and_used_as_indices() {
    for body in [
        "owner = i + 1; r = owner; if r == i + 1 { owner = 0; }",
        "flag[i] = 1; other[i + 1] = 2; s = flag[i];",
        "other[i + 1] = i + 5; r = other[i + 1]; q = r - 5; s = flag[q];",
        "r = xchg(owner, i + 1); if r != 0 { other[r] = i + 1; }",
        "q = any 0..2; s = flag[q]; if q != i { flag[i] = 1; }",
        "let me = i + 1; owner = me; await owner != me;",
        "r = owner; if !r { owner = i + 1; }",
        "plain = 1; s = plain + 1;",
        "atomic { if owner == 0 { owner = i + 7; } }",
        // In any order.
        "for each other j { s = flag[j]; if owner == j + 1 { owner = i + 1; } }",
        "for each other j { for each other k { if j == k { plain = 1; } } }",
        "for each other j { plain = 1; } for each other j { r = j + 4; other[j + 1] = r; }",
        // Sets that are made by hand.
        "let left = 7 ^ 1 << i; q = any 0..2; if !(1 << q & left) { left = left | 1 << q; } if left == 7 { plain = 1; }",
        "q = any 0..2; flag[i] = 1; s = flag[q]; s = 0; s = s | 1 << q; if s { plain = 1; } if s & 1 << q { plain = 2; }",
    ] {
        assert_eq!(three(body, COUNT), (vec!["P[0] P[1] P[2]".to_owned()], Vec::new()), "{body}");
    }
}

#[test]
fn whatever_else_sees_a_number_keeps_copies_apart_and_is_named() {
    for (body, sets, why) in [
        ("owner = i + 1; r = owner; if r < i + 1 { skip; }", &[][..], "by order"),
        ("owner = i; r = owner * 2; s = r;", &[], "computation"),
        ("if i == 0 { plain = 1; } else { skip; }", &["P[1] P[2]"], "different code"),
        ("plain = i; s = plain; if s > 1 { skip; }", &[], "by order"),
        // A loop over all copies is in the order of their numbers.
        ("flag[i] = 1; q = 0; while q < 3 { s = flag[q]; q += 1; }", &[], "by order"),
        // One constant is the number of a copy.
        ("owner = i + 1; r = owner; if r == 2 { skip; }", &["P[0] P[2]"], "constant"),
        ("flag[i] = 1; s = flag[2];", &["P[0] P[1]"], "constant"),
        // What is added differs from copy to copy.
        ("owner = i + 1; r = owner; owner = r + i;", &[], ""),
        ("owner = i + 1; if plain == 0 { owner = i + 2; }", &[], "different offsets"),
        ("q = any 0..1; s = flag[q]; if q == i { skip; }", &["P[0] P[1]"], "constant"),
        ("for each other j { if j < i { skip; } }", &[], "by order"),
        ("for each other j { if j == 1 { skip; } }", &["P[0] P[2]"], "constant"),
        ("for each other j { plain = j; s = plain; if s * 2 == 4 { skip; } }", &[], "computation"),
        ("for each other j { plain = j; s = plain; if s == 0 { skip; } }", &["P[1] P[2]"], "constant"),
        // Sets that are not.
        ("flag[i] = 1; let left = 6; q = any 0..2; if left & 1 << q { flag[q] = 1; }", &["P[1] P[2]"], "constant"),
        ("let left = 7 ^ 1 << i; q = any 0..2; left = left ^ 1 << q; plain = left; s = plain; if s { skip; }", &[], ""),
        ("let left = 7 ^ 1 << i; q = any 0..2; left = left ^ 1 << q; if left > 1 { skip; }", &[], ""),
        ("let left = 7 ^ 1 << i; q = any 0..1; left = left ^ 1 << q; if left { skip; }", &["P[0] P[1]"], "constant"),
        ("let left = 7 ^ 1 << i; q = any 0..64; left = left ^ 1 << q; if left { skip; }", &[], ""),
        ("let left = 7 ^ 1 << i; q = any 0..2; left = left ^ 2 << q; if left { skip; }", &[], ""),
        // Cells start as the number of the first copy.
        ("owner = i; r = owner; s = flag[r];", &["P[1] P[2]"], "starts as"),
    ] {
        let (found, obstacles) = three(body, COUNT);
        assert_eq!(found, sets, "{body}: {obstacles:?}");
        assert!(obstacles.iter().any(|obstacle| obstacle.contains(why)), "{body}: {obstacles:?}");
    }
}

#[test]
fn properties_that_name_a_copy_keep_it_apart() {
    let body = "owner = i + 1; r = owner;";
    let all = "P[0] P[1] P[2]";
    for (property, sets) in [
        ("forbid P[1] at end && owner == 0;", &["P[0] P[2]"][..]),
        ("forbid P[0] at end && P[1] at end && owner == 0;", &["P[0] P[1]"]),
        ("forbid owner == 3;", &["P[0] P[1]"]),
        ("forbid owner == 4;", &[all]),
        ("forbid owner >= 1;", &[]),
        ("forbid P[0].r == 2 && P[1].r == 1;", &["P[0] P[1]"]),
        ("forbid P[0].r == 1 || P[2].r == 3 || P[1].r == 2;", &[all]),
        ("forbid P[2].r == 1 || P[0].r == 2 || P[1].r == 3;", &[]),
        (
            "forbid P[0] at end && owner == 9; forbid P[2] at end && owner == 9; forbid owner == 9 && P[1] at end;",
            &[all],
        ),
        ("always owner == 1 || owner == 2 || owner == 3;", &[all]),
        ("exists other[0] == 0; forbid deadlock;", &[all]),
    ] {
        assert_eq!(three(body, property).0, sets, "{property}");
    }
}

#[test]
fn properties_may_speak_of_sets() {
    let body = "let left = 7 ^ 1 << i; q = any 0..2; left = left ^ 1 << q; if left == 0 { plain = 1; }";
    let all = "P[0] P[1] P[2]";
    for (property, sets) in [
        ("forbid P[0].left == 6;", &["P[1] P[2]"][..]),
        ("forbid P[0].left == 6 || P[1].left == 5 || P[2].left == 3;", &[all]),
        ("forbid P[0].left == 5 || P[1].left == 6 || P[2].left == 3;", &["P[0] P[1]"]),
        ("forbid P[0].left == 7 && P[1].left == 7 && P[2].left == 7;", &[all]),
        ("forbid P[0].left && P[1].left && !P[2].left;", &["P[0] P[1]"]),
        ("forbid P[0].left > 6 || P[1].left > 6 || P[2].left > 6;", &[]),
    ] {
        assert_eq!(three(body, property).0, sets, "{property}");
    }
}

/// Pinned, so that a weaker reduction shows. Without it there are 7,118 and 253,656 states.
#[test]
fn lamport_has_few_states_up_to_symmetry() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mutex/lamport.weir");
    let text = std::fs::read_to_string(file).expect("the example is there");
    for (copies, states) in [(3, 1_223), (4, 11_332)] {
        let program = parse(&text.replace("const N = 3;", &format!("const N = {copies};")));
        assert_eq!(ask(&program, Model::Sc, &[], true).statistics.states, states);
    }
}

/// Buffers that grow without bound end at the limit and are not searched in vain, and runs are found past long ones.
#[test]
fn long_buffers_are_left_as_they_are() {
    let text = "shared x[2], y; thread P(i)[2] { let n = 0; while n < 20 { x[i] = n & 1; n += 1; } y = 1; \
                let r = y; } forbid count(P at end) == 2 && x[0] == 0;";
    let program = parse(text);
    let limits = Limits { states: Some(20_000), ..Limits::default() };
    let options = Options { search: weir::reach::Search::DepthFirst, ..Options::default() };
    let report = reach(&program, &options, &Session::new(limits)).expect("the engine handles it");
    assert_eq!(report.symmetry.threads.len(), 0, "the property names one cell");
    let closed = parse(&text.replace("&& x[0] == 0", ""));
    let report = reach(&closed, &options, &Session::default()).expect("the engine handles it");
    assert!(matches!(report.verdict, Verdict::Violated(_)) && report.symmetry.threads.len() == 1);
}
