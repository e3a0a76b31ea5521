//! Programs that try the limits, and what is said when one is reached.

use weir::robust::{Method, Options, robust, triangular_races};
use weir::{Limit, Limits, Session, Verdict};

use crate::reference::{METHODS, within};
use crate::shapes::parse;

#[test]
fn long_runs_overflow_no_stack() {
    let text = "shared x, y;\nthread P0 { let i = 0; while i < 20000 { i = i + 1; } x = 1; let r = y; }\n\
                thread P1 { y = 1; let s = x; }\n";
    let report = robust(&parse(text), &Options::default(), &within(1_000_000)).expect("an answer");
    assert!(matches!(report.verdict, Verdict::Violated(_)));
}

#[test]
fn endless_data_ends_at_the_budget() {
    // Only the count keeps P0 from what it would take.
    let text = "shared x, y, z;\n\
                thread P0 { let i = 0; loop { x = 1; i = i + 1; if i == -1 { let q = y; q = z; } } }\n\
                thread P1 { z = 1; let r = y; }\nthread P2 { y = 1; }\n";
    let program = parse(text);
    for method in METHODS {
        let options = Options { method, ..Options::default() };
        let report = robust(&program, &options, &within(2_000)).expect("an answer");
        assert!(matches!(report.verdict, Verdict::Unknown(Limit::States)), "{method:?}");
        assert_eq!((report.attacks.total, report.attacks.open.len()), (3, 3), "{method:?}");
        assert!(report.statistics.states <= 2_100, "{method:?}: {}", report.statistics.states);
        assert!(report.coverage.is_none());
    }
    // The race is found before the limit; without the write there is none to find.
    let racy = triangular_races(&program, std::num::NonZeroUsize::MIN, &within(2_000)).expect("an answer");
    assert!(matches!(racy.verdict, Verdict::Violated(_)));
    let calm = parse(&text.replace("thread P2 { y = 1; }\n", ""));
    let calm = triangular_races(&calm, std::num::NonZeroUsize::MIN, &within(2_000)).expect("an answer");
    assert!(matches!(calm.verdict, Verdict::Unknown(Limit::States)));
}

/// The budget is that of all searches together.
#[test]
fn searches_one_by_one_share_the_budget() {
    let text = "shared x, y, z, w;\nthread P0 { x = 1; z = 1; let r = y; let s = w; }\n\
                thread P1 { let a = y; let b = w; let c = x; y = 1; w = 1; }\n";
    let program = parse(text);
    let options = Options { method: Method::Instrumented, ..Options::default() };
    let whole = robust(&program, &options, &within(1_000_000)).expect("an answer");
    assert!(matches!(whole.verdict, Verdict::Holds), "{:?}", whole.verdict);
    let states = whole.statistics.states;
    let enough = robust(&program, &options, &within(states)).expect("an answer");
    assert!(matches!(enough.verdict, Verdict::Holds));
    let short = robust(&program, &options, &within(states - states / 4)).expect("an answer");
    assert!(matches!(short.verdict, Verdict::Unknown(Limit::States)));
}

/// States of one word, of two, of up to eight and of more are kept in different ways.
#[test]
fn large_states_have_the_same_answers() {
    for words in [1usize, 2, 5, 12] {
        let cells: Vec<String> = (0..words).map(|number| format!("p{number}")).collect();
        // The values matter, so that they are kept.
        let store = |cell: &String| format!("{cell} = {}; assume {cell} > 3;\n", 1u64 << 61);
        let stores: String = cells.iter().map(store).collect();
        for (fence, expected) in [("", false), ("fence;", true)] {
            let text = format!(
                "shared x, y, {};\nthread P {{ {stores} fence; x = 1; {fence} let r = y; }}\nthread Q {{ y = 1; fence; let s = x; }}",
                cells.join(", ")
            );
            let program = parse(&text);
            let report = robust(&program, &Options::default(), &within(100_000)).expect("an answer");
            assert_eq!(matches!(report.verdict, Verdict::Holds), expected, "{words} words");
            let bytes = report.statistics.state_bytes;
            assert!(
                bytes.is_multiple_of(8) && (expected || bytes >= 8 * words as u64),
                "{words} words in {bytes} bytes"
            );
            assert!(report.coverage.is_none_or(|coverage| coverage.unexecuted.is_empty()));
            let races = triangular_races(&program, std::num::NonZeroUsize::MIN, &within(100_000)).expect("an answer");
            assert_eq!(matches!(races.verdict, Verdict::Holds), expected, "{words} words, races");
            // With a lock the search for attacks is asked as well.
            let text = text.replace("y = 1; fence; let s = x;", "lock; let q = x; if q == 0 { y = 1; } unlock;");
            let races = triangular_races(&parse(&text), std::num::NonZeroUsize::MIN, &within(100_000));
            let races = races.expect("an answer");
            assert_eq!(matches!(races.verdict, Verdict::Holds), expected, "{words} words, races with a lock");
        }
    }
}

/// What runs execute is reported within the budget, or not at all.
#[test]
fn coverage_keeps_to_the_budget() {
    let program =
        parse("shared x, y;\nthread P { x = 1; fence; y = 1; }\nthread Q { let s = x; assume s == 2; let t = y; }");
    let covered = |states| {
        let session = Session::new(Limits { states, ..Limits::default() });
        let report = robust(&program, &Options::default(), &session).expect("an answer");
        assert!(matches!(report.verdict, Verdict::Holds));
        report.coverage
    };
    assert_eq!(covered(Some(2)), None);
    let coverage = covered(None).expect("few states");
    assert_eq!((coverage.unexecuted.len(), coverage.immobile.len(), coverage.approximate), (2, 0, false));
    assert_eq!(covered(Some(1_000)), Some(coverage));
}

/// Also where no attack would have to be asked about.
#[test]
fn arbitrarily_many_threads_are_refused() {
    for text in ["shared x;\nthread W[*] { x = 1; }", "shared x, y;\nthread W[*] { x = 1; let r = y; }"] {
        let program = parse(text);
        let is_refused = |outcome: Result<(), weir::Failure>| matches!(outcome, Err(weir::Failure::Refused(_)));
        for method in METHODS {
            let options = Options { method, ..Options::default() };
            assert!(is_refused(robust(&program, &options, &within(1_000)).map(|_| ())), "{method:?}: {text}");
        }
        let races = triangular_races(&program, std::num::NonZeroUsize::MIN, &within(1_000));
        assert!(is_refused(races.map(|_| ())), "{text}");
        let options = weir::fences::Options::default();
        assert!(is_refused(weir::fences::fences(&program, &[], &options, &within(1_000)).map(|_| ())), "{text}");
        let feasible = weir::fences::feasible_attacks(&program, &Options::default(), &within(1_000));
        assert!(is_refused(feasible.map(|_| ())), "{text}");
    }
}

/// Listing the attacks takes time in proportion to the text where there are few of them.
#[test]
fn long_threads_are_listed_in_no_time() {
    let stores = "x = 1; ".repeat(40_000);
    let session = || Session::new(Limits { time: Some(std::time::Duration::from_secs(20)), ..Limits::default() });
    let program = parse(&format!("shared x, y; thread P {{ {stores} }}"));
    let report = robust(&program, &Options::default(), &session()).expect("an answer");
    assert_eq!((report.verdict, report.attacks.total), (Verdict::Holds, 0));
    let program = parse(&format!("shared x, y; thread P {{ {stores} let r = y; }}"));
    let attacks = weir::robust::attacks(&program, &session()).expect("no limit");
    assert_eq!((attacks.total, attacks.open.len()), (40_000, 40_000));
    let program = parse(&format!("shared x, y; thread P {{ {stores} fence; let r = y; }}"));
    let attacks = weir::robust::attacks(&program, &session()).expect("no limit");
    assert_eq!((attacks.total, attacks.open.len()), (40_000, 0));
    let none = Session::new(Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() });
    assert_eq!(weir::robust::attacks(&program, &none).err(), Some(Limit::Time));
}
