//! Programs that once were, or elsewhere are, judged wrongly; and programs that try the limits.

use weir::fences::{Fences, LoopCosts, Options, fences, unit_cost};
use weir::robust::robust;
use weir::{Budget, Control, Limit, Verdict};
use weir_ir::{Program, Source};
use weir_syntax::weir::fences::{fence_places, write_fences};

use crate::verdict;

fn parse(text: &str) -> Program {
    let parsed = weir_syntax::weir::parse(&Source::new("test.weir", text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:#?}")).program
}

/// The source with its cheapest fences, and how many there are.
fn mended(text: &str) -> (u64, String) {
    let marked = fence_places(&Source::new("test.weir", text), &weir_syntax::weir::Options::default());
    let marked = marked.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let place = |place: &weir_syntax::weir::fences::FencePlace| weir::fences::Place {
        after: place.steps.clone(),
        cost: unit_cost(&place.steps),
    };
    let places: Vec<_> = marked.places.iter().map(place).collect();
    let report = fences(&marked.program, &places, &Options::default(), &Control::default()).expect("an answer");
    let Fences::Cheapest(sets) = report.fences else { panic!("{:?}", report.fences) };
    (report.cost, write_fences(text, sets[0].iter().map(|&place| marked.places[place].offset)))
}

const SB: &str = "shared x, y;\nthread P0 { x = 1; let r = y; }\nthread P1 { y = 1; let s = x; }\n";

#[test]
fn store_buffering_needs_two_fences() {
    assert_eq!(verdict(&parse(SB), 1), Some(false));
    let (cost, text) = mended(SB);
    assert_eq!(cost, 2);
    assert_eq!(text.matches("fence;").count(), 2);
    assert_eq!(verdict(&parse(&text), 1), Some(true), "{text}");
}

#[test]
fn a_store_at_the_end_of_a_loop_is_fenced_before_the_next_turn() {
    let text = "shared x, y;\nthread P0 {\n    while y == 0 {\n        x = 1;\n    }\n}\nthread P1 { y = 1; fence; let s = x; }\n";
    assert_eq!(verdict(&parse(text), 1), Some(false));
    let (cost, text) = mended(text);
    assert_eq!(cost, 1, "{text}");
    assert_eq!(verdict(&parse(&text), 1), Some(true), "{text}");
}

/// A peer favours the thread whose last step before `unlock` is local for ever, and calls this robust.
#[test]
fn a_local_step_before_unlock_starves_nobody() {
    let text = "shared x, y;\nthread L { lock; let i = 1; i = i + 1; unlock; }\nthread P0 { x = 1; let r = y; }\n\
                thread P1 { y = 1; let s = x; }\n";
    assert_eq!(verdict(&parse(text), 1), Some(false));
}

#[test]
fn a_thread_that_runs_in_circles_by_itself_starves_nobody() {
    let text = "shared x, y;\nthread L { let i = 0; loop { i = 1 - i; } }\nthread P0 { x = 1; let r = y; }\n\
                thread P1 { y = 1; let s = x; }\n";
    assert_eq!(verdict(&parse(text), 1), Some(false));
}

/// The section is entered after and left before what P1 does, so it counts as one access.
#[test]
fn a_locked_section_is_one_access() {
    let text = "shared y, z;\nthread P0 { lock; let a = z; y = 1; unlock; }\nthread P1 { z = 1; let r = y; }\n";
    assert_eq!(verdict(&parse(text), 1), Some(false));
    let apart = "shared y, z;\nthread P0 { let a = z; y = 1; }\nthread P1 { z = 1; let r = y; }\n";
    assert_eq!(verdict(&parse(apart), 1), Some(true));
}

/// The lock is never given back, so the delayed store can never land.
#[test]
fn a_store_that_cannot_land_shows_nothing() {
    let text = "shared x, y;\nthread P0 { x = 1; let r = y; }\nthread P1 { lock; y = 1; let s = x; }\n";
    assert_eq!(verdict(&parse(text), 1), Some(true));
}

#[test]
fn deep_loops_overflow_no_stack() {
    let text = "shared x, y;\nthread P0 { let i = 0; while i < 100000 { i = i + 1; } x = 1; let r = y; }\n\
                thread P1 { y = 1; let s = x; }\n";
    let report = robust(&parse(text), &weir::robust::Options::default(), &Control::default()).expect("an answer");
    assert!(matches!(report.verdict, Verdict::Violated(_)));
    assert_eq!(mended(&text.replace("100000", "1000")).0, 2);
}

#[test]
fn endless_data_ends_at_the_budget() {
    let text = "shared x, y, z;\nthread P0 { loop { x = x + 1; } }\nthread P1 { z = 1; let r = y; }\n";
    let control = Control { budget: Budget { states: Some(5000), ..Budget::default() }, ..Control::default() };
    let report = robust(&parse(text), &weir::robust::Options::default(), &control).expect("an answer");
    assert!(matches!(report.verdict, Verdict::Unknown(Limit::States)));
    assert!(!report.attacks.open.is_empty());
}

#[test]
fn a_fence_before_a_loop_is_cheaper_than_one_inside() {
    let text = "shared x, y;\nthread A { x = 1; while y == 0 { x = 1; } }\n";
    let marked =
        fence_places(&Source::new("test.weir", text), &weir_syntax::weir::Options::default()).expect("correct");
    let costs = LoopCosts::new(&marked.program);
    let cost_before = |word: &str| {
        let offset = text.rfind(word).expect("it is there") as u32;
        let place = marked.places.iter().find(|place| place.offset == offset).expect("a place");
        costs.cost(&place.steps)
    };
    assert_eq!((cost_before("while"), cost_before("x = 1"), cost_before("} }")), (1, 10, 10));
}
