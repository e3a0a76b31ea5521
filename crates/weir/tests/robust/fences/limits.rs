//! Fences when a limit is reached, and when no fence helps.

use weir::Limit;
use weir::fences::{Aim, Fences, Options, Place, Recheck, Report, at_locations, fences, recheck};
use weir_ir::Program;

use crate::reference::{session, within};
use crate::shapes::parse;

const SB: &str = "shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; let s = x; }\n";

fn all_places(program: &Program) -> Vec<Place> {
    at_locations(program).into_iter().map(|at| at.place).collect()
}

fn ask(program: &Program, aim: Aim, states: u64) -> Report {
    let options = Options { aim, all: true, ..Options::default() };
    fences(program, &all_places(program), &options, &within(states)).expect("an answer")
}

/// Whatever the budget: the answer, or none.
#[test]
fn a_budget_of_states_gives_the_answer_or_none() {
    for aim in [Aim::Robust, Aim::RaceFree, Aim::Safe] {
        let text = SB.to_owned() + "always !(P.r == 0 && Q.s == 0);";
        let program = parse(&text);
        let whole = ask(&program, aim, 100_000);
        assert_eq!(whole.cost, 2, "{aim:?}");
        let (mut stopped, mut answered) = (0, 0);
        for states in (0..100).map(|step| step * step / 4) {
            let report = ask(&program, aim, states);
            let stored = report.statistics.states;
            // The exact engine looks at the limit once it has listed what it searches for.
            let is_kept = stored <= states || aim == Aim::Safe && stored <= states + 4;
            assert!(is_kept, "{aim:?}: {stored} states of all searches together, {states} allowed");
            match report.fences {
                Fences::Stopped(limit) => {
                    assert_eq!(limit, Limit::States);
                    stopped += 1;
                }
                other => {
                    assert_eq!(other, whole.fences, "{aim:?} within {states} states");
                    answered += 1;
                }
            }
        }
        assert!(stopped > 3 && answered > 3, "{aim:?}: {stopped} stopped, {answered} answered");
    }
}

#[test]
fn a_recheck_stops_at_the_budget() {
    let robust = parse(&(SB.replace("let", "fence; let") + "always !(P.r == 0 && Q.s == 0);"));
    for aim in [Aim::Robust, Aim::RaceFree, Aim::Safe] {
        let options = Options { aim, ..Options::default() };
        let outcome = recheck(&robust, [], &options, &session()).expect("it is enough");
        assert_eq!(outcome, Recheck::Confirmed, "{aim:?}");
    }
    let open = parse("shared x, y, z;\nthread P { x = 1; let r = y; }\nthread Q { let s = x; fence; y = 1; }\n");
    let none = within(1);
    for aim in [Aim::Robust, Aim::RaceFree] {
        let options = Options { aim, ..Options::default() };
        assert_eq!(recheck(&open, [], &options, &none).expect("a limit"), Recheck::Stopped(Limit::States));
        assert_eq!(
            recheck(&robust, [open.clone()], &options, &none).expect("a limit"),
            Recheck::Stopped(Limit::States)
        );
    }
}

#[test]
fn what_happens_without_buffers_is_hopeless() {
    let not_by_fences = ask(&parse(&(SB.to_owned() + "always !(P.r == 1 && Q.s == 1);")), Aim::Safe, 100_000);
    assert!(matches!(not_by_fences.fences, Fences::NotByFences(_)), "{:?}", not_by_fences.fences);
    let safe = ask(&parse(&(SB.to_owned() + "always !(P.r == 2);")), Aim::Safe, 100_000);
    assert_eq!((safe.fences, safe.cost), (Fences::Cheapest(vec![[].into()]), 0));
    // Only one of both fences is needed for what only one thread sees.
    let program = parse(&(SB.to_owned() + "always !(P.r == 0 && Q.s == 0);"));
    let places: Vec<Place> = all_places(&program).into_iter().skip(1).collect();
    let options = Options { aim: Aim::Safe, ..Options::default() };
    let report = fences(&program, &places, &options, &session()).expect("an answer");
    assert!(matches!(report.fences, Fences::NoPlace(_)), "{:?}", report.fences);
    let report = fences(&program, &places, &Options::default(), &session()).expect("an answer");
    assert!(matches!(report.fences, Fences::Nowhere(attack) if attack.thread.0 == 0), "{:?}", report.fences);
}

/// A cost of nothing counts as one, else fences could be put anywhere.
#[test]
fn every_fence_costs_something() {
    let program = parse(SB);
    let mut places = all_places(&program);
    places.iter_mut().for_each(|place| place.cost = 0);
    let report =
        fences(&program, &places, &Options { all: true, ..Options::default() }, &session()).expect("an answer");
    let Fences::Cheapest(sets) = report.fences else { panic!("{:?}", report.fences) };
    assert_eq!((report.cost, sets.len(), sets[0].len()), (2, 1, 2));
}

#[test]
fn a_robust_program_needs_nothing_and_one_search() {
    for aim in [Aim::Robust, Aim::RaceFree, Aim::Safe] {
        let text =
            "shared x, y, z;\nthread P { x = 1; let r = y; }\nthread Q { z = 1; fence; let s = x; }\nforbid x == 7;";
        let report = ask(&parse(text), aim, 100_000);
        // A property that is false at a glance leaves nothing to visit, and neither does a cell that nobody writes.
        assert!(report.statistics.states > 0 || aim != Aim::RaceFree, "{aim:?}");
        let found = (report.fences, report.cost, report.searches, report.seen_feasible.len());
        assert_eq!(found, (Fences::Cheapest(vec![[].into()]), 0, 1, 0), "{aim:?}");
    }
}

/// None, one, two: each set that is tried takes a search, and what they take is added up.
#[test]
fn searches_are_counted() {
    let program = parse(&(SB.to_owned() + "always !(P.r == 0 && Q.s == 0);"));
    for aim in [Aim::Robust, Aim::RaceFree, Aim::Safe] {
        let whole = ask(&program, aim, 100_000);
        assert_eq!(whole.searches, 3, "{aim:?}");
        assert_eq!(whole.seen_feasible.len(), if aim == Aim::Safe { 0 } else { 2 }, "{aim:?}");
        let mended = parse(&(SB.replace("let", "fence; let") + "forbid x == 7;"));
        let last = ask(&mended, aim, 100_000).statistics;
        assert!(whole.statistics.states > 2 * last.states, "{aim:?}: {:?}", whole.statistics);
    }
}
