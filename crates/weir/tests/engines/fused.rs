//! Partial order reductions: their traps, and programs that are only feasible with them.

use weir::reach::{Options, Reduction, Report, reach};
use weir::{Session, Verdict};
use weir_witness::Model;

use crate::families::parse;

fn fused(text: &str, model: Model) -> Report {
    reduced(text, model, Reduction::Local)
}

fn reduced(text: &str, model: Model, reduction: Reduction) -> Report {
    let options = Options { model, reduction, symmetry: false, ..Options::default() };
    reach(&parse(text), &options, &Session::default()).expect("the engine handles it")
}

/// Each can be reached, and is missed if local steps are favoured without care.
const TRAPS: [(&str, &str); 26] = [
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
    (
        "a thread that stores to its own cell forever does not starve others",
        "shared x, y; thread P { loop { y = 1; y = 2; } } thread Q { x = 1; } forbid x == 1;",
    ),
    (
        "what others store is seen in between",
        "shared x; thread P { x = 1; x = 2; } thread Q { let r = x; } forbid Q.r == 1;",
    ),
    (
        "so is what they would store only later",
        "shared x, y; thread P { let r = x; } thread Q { y = 1; y = 2; x = 1; } forbid P.r == 1;",
    ),
    (
        "so are cells that a property observes, though no thread reads them",
        "shared x, y; thread P { x = 1; x = 2; } thread Q { y = 1; y = 2; } forbid x == 1 && y == 1;",
    ),
    (
        "and registers, though no thread depends on them",
        "shared x, y; thread P { let r = 1; x = r; r = 2; } thread Q { let s = 1; y = s; s = 2; }
         forbid P.r == 1 && Q.s == 1 && x == 1 && y == 1;",
    ),
    (
        "a place is left only once the other thread has been there, too",
        "shared x, y; thread P { x = 1; here: x = 2; x = 3; } thread Q { y = 1; there: y = 2; y = 3; }
         forbid P at here && Q at there;",
    ),
    (
        "and entered only once the other thread has been elsewhere",
        "shared x, y; thread P { x = 1; x = 2; here: x = 3; } thread Q { y = 1; there: y = 2; y = 3; }
         forbid !(P at here) && Q at there;",
    ),
    (
        "what is read from the own buffer can be replaced once it is in memory",
        "shared x; thread P { x = 1; let r = x; } thread Q { x = 2; } forbid P.r == 2;",
    ),
    (
        "a lock is taken by the one and by the other",
        "shared x; thread P { lock; x = 1; unlock; } thread Q { let r; lock; r = x; unlock; } forbid Q.r == 1;",
    ),
    (
        "a store that waits for the lock to be released keeps a state from being drained",
        "shared x; thread H { lock; let r = x; critical: skip; unlock; } thread P { x = 1; }
         forbid H at critical && H.r == 0;",
    ),
    (
        "also if it is never released",
        "shared x; thread H { lock; let r = x; } thread P { skip; x = 1; } forbid H at end && H.r == 0;",
    ),
    (
        "what is accessed below a state that was met before",
        "shared x, y, go; thread R { choose { x = 2; } or { x = 3; } go = 1; } thread P { await go == 1; x = 1; let r = y; }
         thread Q { await go == 1; y = 1; let s = x; } forbid Q.s == 2;",
    ),
    (
        "whichever of them was met first",
        "shared x, y, go; thread R { choose { x = 2; } or { x = 3; } go = 1; } thread P { await go == 1; x = 1; let r = y; }
         thread Q { await go == 1; y = 1; let s = x; } forbid Q.s == 3;",
    ),
    (
        "what is accessed below a state that is still being searched",
        "shared x, y; thread P { loop { let r = y; if r == 1 { break; } x = 1; x = 0; } } thread Q { y = 1; let s = x; }
         forbid Q.s == 1;",
    ),
    (
        "a store that is flushed before its thread goes on",
        "shared x, y; thread P { x = 1; let r = y; assert r == 0; }
         thread Q { let s = x; if s == 1 { y = 1; } lock; unlock; }",
    ),
    (
        "a thread that waits for the stores of all others, one of which waits for a lock",
        "shared x; thread P { membarrier; } thread Q { x = 1; } thread H { lock; } forbid deadlock;",
    ),
    (
        "one address is computed",
        "shared x[2]; thread P { let i = any 0..1; x[i] = 1; } thread Q { let r = x[1]; } forbid Q.r == 1;",
    ),
];

/// Each can be reached under TSO only, and is missed if flushes are favoured without care.
const DELAYED: [&str; 4] = [
    "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; }
     forbid P at end && Q at end && P.r == 0 && Q.s == 0;",
    "shared x, y; thread P { x = 1; let p = x; let r = y; } thread Q { y = 1; let q = y; let s = x; }
     forbid P.p == 1 && Q.q == 1 && P at end && Q at end && P.r == 0 && Q.s == 0;",
    "shared x, y, z; thread P { z = 1; x = 1; let r = y; } thread Q { y = 1; fence; let s = x; }
     forbid P at end && Q at end && P.r == 0 && Q.s == 0;",
    "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; membarrier; let s = x; } thread R { membarrier; }
     thread S { y = 2; let t = x; }
     forbid P at end && S at end && P.r == 0 && S.t == 0;",
];

#[test]
fn nothing_is_missed() {
    for (what, text) in TRAPS {
        for (model, reduction) in all_ways() {
            let verdict = reduced(text, model, reduction).verdict;
            assert!(matches!(verdict, Verdict::Violated(_)), "{what}, {model:?}, {reduction:?}");
        }
    }
    for text in DELAYED {
        for (model, reduction) in all_ways() {
            let is_found = matches!(reduced(text, model, reduction).verdict, Verdict::Violated(_));
            assert_eq!(is_found, model == Model::Tso, "{text}, {reduction:?}");
        }
    }
}

fn all_ways() -> impl Iterator<Item = (Model, Reduction)> {
    [Model::Sc, Model::Tso].into_iter().flat_map(|model| Reduction::ALL.map(|reduction| (model, reduction)))
}

#[test]
fn nothing_is_made_up() {
    for text in [
        "shared x; thread P { let n = 1; if n == 2 { x = 1; } } forbid x == 1;",
        "shared x; thread P { loop { skip; } x = 1; } forbid x == 1;",
        "shared x; thread P { let n = 0; while n < 100 { n += 1; } assert n == 100; x = n; } forbid x == 99;",
    ] {
        for (model, reduction) in all_ways().filter(|(_, reduction)| *reduction != Reduction::None) {
            assert!(matches!(reduced(text, model, reduction).verdict, Verdict::Holds), "{text}, {reduction:?}");
        }
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

/// Threads that only access cells of their own, then one that all share.
#[test]
fn steps_of_threads_that_cannot_meet_are_not_interleaved() {
    let threads: String = (0..5)
        .map(|number| {
            format!("thread T{number} {{ a[{number}] = 1; let r = a[{number}]; a[{number}] = r + 1; s = 1; }}\n")
        })
        .collect();
    let text = format!("shared a[5], s; {threads} forbid s == 2;");
    for (model, most) in [(Model::Sc, 60), (Model::Tso, 500)] {
        let report = reduced(&text, model, Reduction::Persistent);
        assert!(matches!(report.verdict, Verdict::Holds));
        assert!(report.statistics.states <= most, "{model:?}: {:?}", report.statistics);
    }
}

/// One thread owns the lock at a time, and nobody else reads or writes meanwhile.
#[test]
fn locked_sections_are_not_interleaved() {
    let section = "lock; x = 1; y = 1; let r = x; assert r == 1; x = 0; y = 0; unlock;";
    let threads: String = (0..4).map(|number| format!("thread T{number} {{ {section} }}\n")).collect();
    let states = |reduction| {
        let report = reduced(&format!("shared x, y; {threads}"), Model::Tso, reduction);
        assert!(matches!(report.verdict, Verdict::Holds));
        report.statistics.states
    };
    assert!(5 * states(Reduction::Persistent) < 3 * states(Reduction::Local));
}

/// Steps that others need not have taken are left out of the run.
#[test]
fn runs_are_trimmed() {
    let text = "shared x; thread P { let n = 0; while n < 100 { n += 1; } x = n; } thread Q { x = 1; } forbid x == 1;";
    let Verdict::Violated(found) = fused(text, Model::Sc).verdict else { panic!("it can be reached") };
    assert_eq!(found.run().steps.len(), 1);
}
