//! Programs with loops without bound, with their answers, and their fences where they are written.

use weir::Verdict;
use weir::fences::{Fences, LoopCosts, Options, Place, fences, unit_cost};
use weir_ir::Source;
use weir_syntax::weir::fence_places::{fence_places, write_fences};
use weir_testkit::traces::{Bounds, is_robust};

use crate::reference::{Count, METHODS, judge, report, session};
use crate::shapes::parse;

/// So many things each thread does in the runs that are listed; that is enough for each of the violations here.
const BOUNDED: Bounds = Bounds { instructions: 7, ways: 20_000 };

/// All methods say so; so does the definition if the program is not robust, and nothing it lists contradicts if it is.
fn say(threads: &str, expected: bool) {
    let program = parse(&format!("shared x, y, z, w;\n{threads}"));
    judge(&program, BOUNDED, &mut Count::default()).unwrap_or_else(|why| panic!("{threads}\n{why}"));
    if !expected {
        assert_eq!(is_robust(&program, BOUNDED), Some(false), "{threads}");
    }
    for method in METHODS {
        let report = report(&program, method, 1).expect("no failure").expect("room");
        let said = match report.verdict {
            Verdict::Holds => Some(true),
            Verdict::Violated(_) => Some(false),
            Verdict::Unknown(_) => None,
        };
        assert_eq!(said, Some(expected), "{method:?}: {threads}");
    }
}

const CHECKER: &str = "thread C { y = 1; fence; let s = x; }";

#[test]
fn the_load_of_an_attack_may_be_in_a_loop() {
    say(&format!("thread A {{ x = 1; while y == 0 {{ skip; }} }} {CHECKER}"), false);
    say(&format!("thread A {{ x = 1; fence; while y == 0 {{ skip; }} }} {CHECKER}"), true);
    say(&format!("thread A {{ x = 1; while y == 0 {{ fence; }} }} {CHECKER}"), false);
    say(&format!("thread A {{ x = 1; loop {{ fence; let r = y; }} }} {CHECKER}"), true);
    say(&format!("thread A {{ x = 1; loop {{ let r = y; fence; }} }} {CHECKER}"), false);
    say(&format!("thread A {{ fence; loop {{ let r = y; fence; x = 1; }} }} {CHECKER}"), false);
    say(&format!("thread A {{ loop {{ let r = y; x = 1; fence; }} }} {CHECKER}"), true);
}

#[test]
fn the_store_of_an_attack_may_be_in_a_loop() {
    say(&format!("thread A {{ while y == 0 {{ x = 1; }} }} {CHECKER}"), false);
    say(&format!("thread A {{ loop {{ x = 1; choose {{ break; }} or {{ skip; }} }} let r = y; }} {CHECKER}"), false);
    say(
        &format!("thread A {{ loop {{ x = 1; choose {{ break; }} or {{ skip; }} }} fence; let r = y; }} {CHECKER}"),
        true,
    );
    say(
        &format!("thread A {{ loop {{ x = 1; fence; choose {{ break; }} or {{ skip; }} }} let r = y; }} {CHECKER}"),
        true,
    );
    say(&format!("thread A {{ loop {{ w = 1; fence; let r = y; }} }} {CHECKER}"), true);
    say("thread A { loop { x = 1; let r = y; } } thread C { loop { y = 1; fence; let s = x; } }", false);
    say("thread A { loop { x = 1; fence; let r = y; } } thread C { loop { y = 1; fence; let s = x; } }", true);
}

#[test]
fn helpers_may_loop() {
    let attacker = "thread A { x = 1; let r = y; }";
    say(&format!("{attacker} thread C {{ loop {{ let s = x; y = 1; }} }}"), false);
    say(&format!("{attacker} thread C {{ loop {{ let s = x; }} }}"), true);
    say(&format!("{attacker} thread C {{ loop {{ lock; let s = x; y = 1; unlock; }} }}"), false);
    say(&format!("{attacker} thread C {{ loop {{ lock; y = 1; }} }}"), true);
    say(&format!("{attacker} thread C {{ y = 1; w = 1; }} thread D {{ while w == 0 {{ skip; }} let s = x; }}"), false);
    // A thread that runs in circles by itself starves nobody.
    say(&format!("{attacker} {CHECKER} thread L {{ let i = 0; loop {{ i = 1 - i; }} }}"), false);
    say(&format!("{attacker} {CHECKER} thread L {{ lock; unlock; loop {{ skip; }} }}"), false);
    // Over and over it sees what is on the path.
    let sees = "let p = 0; let q = 0; loop { p, q = y, w; }";
    say(&format!("{attacker} thread C {{ y = 1; fence; {sees} }}"), true);
    say(&format!("{attacker} thread C {{ y = 1; fence; {} }}", sees.replace('w', "x")), false);
    say(&format!("{attacker} thread C {{ loop {{ y = 1; xchg(y, 1); lock; w = 1; unlock; let s = w; }} }}"), true);
    // While it holds the lock it does: the store cannot land.
    say("thread A { x = 1; let r = y; } thread C { y = 1; fence; lock; let s = x; loop { skip; } }", true);
}

/// The source with its cheapest fences, and what they cost.
fn mended(text: &str, by_loops: bool) -> (u64, String) {
    let marked = fence_places(&Source::new("test.weir", text), &weir_syntax::weir::Options::default());
    let marked = marked.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let loops = LoopCosts::new(&marked.program);
    let place = |place: &weir_syntax::weir::fence_places::FencePlace| {
        let cost = if by_loops { loops.cost(&place.steps) } else { unit_cost(&place.steps) };
        Place { after: place.steps.clone(), cost }
    };
    let places: Vec<_> = marked.places.iter().map(place).collect();
    let report = fences(&marked.program, &places, &Options::default(), &session()).expect("an answer");
    let Fences::Cheapest(sets) = report.fences else { panic!("{:?}", report.fences) };
    (report.cost, write_fences(text, sets[0].iter().map(|&place| marked.places[place].offset)))
}

#[test]
fn fences_stand_where_they_cost_the_least() {
    for (text, unit, by_loops) in [
        ("shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; let s = x; }\n", 2, 2),
        ("shared x, y;\nthread P { while y == 0 { x = 1; } }\nthread Q { y = 1; fence; let s = x; }\n", 1, 10),
        ("shared x, y;\nthread P { x = 1; while y == 0 { skip; } }\nthread Q { y = 1; fence; let s = x; }\n", 1, 1),
        ("shared x, y;\nthread P { x = 1; loop { let r = y; } }\nthread Q { loop { y = 1; let s = x; } }\n", 2, 11),
        // One text that two threads run.
        ("shared f[2];\nthread P(i)[2] { f[i] = 1; let r = f[1 - i]; }\n", 2, 2),
        ("shared f[2];\nthread P(i)[2] { loop { f[i] = 1; let r = f[1 - i]; } }\n", 2, 20),
    ] {
        let (cost, fenced) = mended(text, false);
        assert_eq!(cost, unit, "{fenced}");
        assert_eq!(crate::reference::verdict(&parse(&fenced), 1), Some(true), "{fenced}");
        let (cost, fenced) = mended(text, true);
        assert_eq!(cost, by_loops, "{fenced}");
        assert_eq!(crate::reference::verdict(&parse(&fenced), 1), Some(true), "{fenced}");
    }
}

#[test]
fn a_fence_before_a_loop_is_cheaper_than_one_inside() {
    let text = "shared x, y;\nthread A { x = 1; while y == 0 { x = 1; } x = 2; }\n";
    let marked =
        fence_places(&Source::new("test.weir", text), &weir_syntax::weir::Options::default()).expect("correct");
    let costs = LoopCosts::new(&marked.program);
    let cost_before = |word: &str| {
        let offset = text.rfind(word).expect("it is there") as u32;
        let place = marked.places.iter().find(|place| place.offset == offset).expect("a place");
        costs.cost(&place.steps)
    };
    let found = ["while", "x = 1", "} x", "x = 2"].map(cost_before);
    assert_eq!(found, [1, 10, 10, 1]);
}
