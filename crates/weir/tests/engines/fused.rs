//! Fusing of local steps: the traps of partial order reduction, and programs that are only feasible with it.

use weir::reach::{Options, Reduction, Report, reach};
use weir::{Session, Verdict};
use weir_witness::Model;

use crate::families::parse;

fn fused(text: &str, model: Model) -> Report {
    let options = Options { model, reduction: Reduction::Local, symmetry: false, ..Options::default() };
    reach(&parse(text), &options, &Session::default()).expect("the engine handles it")
}

/// Each can be reached, and is missed if local steps are favoured without care.
const TRAPS: [(&str, &str); 9] = [
    (
        "a thread that loops forever does not starve others",
        "shared x; thread P { loop { skip; } } thread Q { x = 1; } forbid x == 1;",
    ),
    (
        "nor does one that counts forever",
        "shared x; thread P { let n = 0; loop { n = n + 1; } } thread Q { x = 1; } forbid x == 1;",
    ),
    (
        "nor one that goes round in a large circle",
        "shared x; thread P { let n = 0; loop { n = (n + 1) % 1000; } } thread Q { x = 1; } forbid x == 1;",
    ),
    ("places on the way are seen", "shared x; thread P { let n = 1; here: n = 2; n = 3; x = n; } forbid P at here;"),
    ("and the registers there", "shared x; thread P { let n = 1; n = 2; n = 3; x = n; } forbid P.n == 2;"),
    (
        "together with those of others",
        "shared x; thread P { let n = 1; here: n = 2; x = n; } thread Q { x = 1; there: let m = 2; x = m; }
         forbid P at here && Q at there;",
    ),
    (
        "a local step before the lock is given back",
        "shared x; thread P { let n; lock; n = 1; n = 2; unlock; } thread Q { lock; x = 1; unlock; } forbid x == 1;",
    ),
    ("assertions fail on the way", "shared x; thread P { let n = 1; assert n == 2; n = 3; x = n; }"),
    (
        "a thread that waits for a choice of its own",
        "shared x; thread P { let n = any 0..3; assume n == 2; n = 5; x = n; } forbid x == 5;",
    ),
];

#[test]
fn nothing_is_missed() {
    for (what, text) in TRAPS {
        for model in [Model::Sc, Model::Tso] {
            assert!(matches!(fused(text, model).verdict, Verdict::Violated(_)), "{what}, {model:?}");
        }
    }
}

#[test]
fn nothing_is_made_up() {
    for text in [
        "shared x; thread P { let n = 1; if n == 2 { x = 1; } } forbid x == 1;",
        "shared x; thread P { loop { skip; } x = 1; } forbid x == 1;",
        "shared x; thread P { let n = 0; while n < 100 { n += 1; } assert n == 100; x = n; } forbid x == 99;",
    ] {
        assert!(matches!(fused(text, Model::Tso).verdict, Verdict::Holds), "{text}");
    }
}

/// Without fusing these take 10^8 states and more.
#[test]
fn local_steps_of_threads_are_not_interleaved() {
    let steps = "r = r ^ 1; ".repeat(10_000);
    let straight = format!("thread P {{ let r; {steps} x = r; }} thread Q {{ let r; {steps} x = r; }}");
    let counter = "let n = 0; while n < 10000 { n += 1; } x = n & 1;";
    let counting = format!("thread P {{ {counter} }} thread Q {{ {counter} }}");
    for (threads, most) in [(straight, 20), (counting, 20)] {
        for model in [Model::Sc, Model::Tso] {
            let report = fused(&format!("shared x; {threads} forbid x == 5;"), model);
            assert!(matches!(report.verdict, Verdict::Holds));
            assert!(report.statistics.states <= most, "{:?}", report.statistics);
        }
    }
}

/// Steps that others need not have taken are left out of the run.
#[test]
fn runs_are_trimmed() {
    let text = "shared x; thread P { let n = 0; while n < 100 { n += 1; } x = n; } thread Q { x = 1; } forbid x == 1;";
    let Verdict::Violated(found) = fused(text, Model::Sc).verdict else { panic!("it can be reached") };
    assert_eq!(found.run().steps.len(), 1);
}
