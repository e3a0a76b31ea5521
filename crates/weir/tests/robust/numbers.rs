//! The numbers in a report: what the searches took, all together.

use weir::robust::{Method, Options, attacks, robust, triangular_races};
use weir::translate::instrument::{Instrumented, instrument, instrument_all};
use weir::{Session, Verdict, reach};
use weir_ir::PropertyId;
use weir_testkit::cycles;
use weir_testkit::traces::feasible;
use weir_witness::{Goal, Model};

use crate::reference::{LIMITS, session};
use crate::shapes::parse;

fn searched(instrumented: &Instrumented) -> reach::Report {
    let goals = vec![Goal::Property(PropertyId(0))];
    let options = reach::Options { model: Model::Sc, goals, ..reach::Options::default() };
    reach::reach(&instrumented.program, &options, &session()).expect("an answer")
}

/// The search for each attack up to the first that succeeds, and the search for all at once.
#[test]
fn searches_in_instrumented_programs_are_added_up() {
    let config = cycles::Config { helpers: 1, noise: 2, loops: 10, locks: 20, data: 10 };
    let mut violated = 0;
    for seed in 0..40 {
        let program = cycles::program(seed, &config);
        let by = |method| robust(&program, &Options { method, ..Options::default() }, &session()).expect("an answer");
        let open = attacks(&program, &Session::default()).expect("no limit").open;
        let (mut states, mut transitions, mut depth, mut found) = (0, 0, 0, false);
        let by_definition = feasible(&program, LIMITS, false);
        for &attack in &open {
            let report = searched(&instrument(&program, attack).expect("room"));
            let succeeds = matches!(report.verdict, Verdict::Violated(_));
            let is_feasible = by_definition.attacks.contains(&(attack.thread, attack.store, attack.load));
            assert!(succeeds == is_feasible || !by_definition.is_complete, "seed {seed}: {attack:?} by itself");
            if found {
                continue;
            }
            states += report.statistics.states;
            transitions += report.statistics.transitions;
            depth = depth.max(report.statistics.depth);
            found = succeeds;
        }
        let one_by_one = by(Method::Instrumented).statistics;
        assert_eq!(
            (one_by_one.states, one_by_one.transitions, one_by_one.depth),
            (states, transitions, depth),
            "seed {seed}"
        );
        violated += usize::from(found);
        let single = by(Method::Single).statistics;
        let all = (!open.is_empty()).then(|| searched(&instrument_all(&program, &open).expect("room")).statistics);
        assert_eq!(single.states, all.map_or(0, |all| all.states), "seed {seed}");
        let fast = by(Method::Attacks).statistics;
        // What other threads access may rule out all attacks before the search.
        assert!(fast.states == 0 || !open.is_empty(), "seed {seed}");
        assert!(!found || (fast.states > 0 && fast.transitions > 0), "seed {seed}");
    }
    assert!(violated > 10, "{violated} are not robust");
}

/// Where control flow rules all attacks out nothing is searched; else a tiny program takes a few states, so that a
/// reduction that is lost is noticed.
#[test]
fn searches_visit_no_more_than_they_must() {
    for (threads, states) in [
        ("thread P { x = 1; fence; let r = y; } thread Q { y = 1; fence; let s = x; }", 0),
        ("thread P { let r = y; x = 1; } thread Q { xchg(y, 1); let s = x; }", 0),
        ("thread P { x = 1; let r = y; } thread Q { let s = x; fence; let t = cas(y, 5, 1); }", 18),
    ] {
        let program = parse(&format!("shared x, y;\n{threads}"));
        let report = robust(&program, &Options::default(), &session()).expect("an answer");
        assert!(matches!(report.verdict, Verdict::Holds), "{threads}");
        assert_eq!(report.statistics.states, states, "{threads}");
        let races = triangular_races(&program, std::num::NonZeroUsize::MIN, &session()).expect("an answer");
        assert!(matches!(races.verdict, Verdict::Holds), "{threads}");
        assert_eq!(races.statistics.states > 0, states > 0, "{threads}");
    }
}
