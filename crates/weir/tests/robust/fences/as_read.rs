//! Programs that need no fences are searched once, as they were read; for all others, the answer is that of the search
//! with a step for each place. What properties take, once the program is known to be robust, is what they take anyway.

use weir::fences::text::Sites;
use weir::fences::{Aim, Fences, Options, Report, fences, needs, needs_of_robust};
use weir::robust::{self, Method};
use weir::{Language, Session};
use weir_ir::{Program, Source};
use weir_testkit::random::program;

use crate::random::accesses;

fn sets(report: &Report) -> Option<Vec<usize>> {
    let Fences::Cheapest(sets) = &report.fences else { return None };
    Some(sets.iter().map(std::collections::BTreeSet::len).collect())
}

/// The program as text in Weir's own language, read again.
fn read(seed: u64) -> Program {
    let text = weir_syntax::weir::print::print(&program(seed, &accesses()));
    Language::Weir.parse(&Source::new("test.weir", text.as_str()), &[]).expect("a program").program
}

#[test]
fn a_robust_program_is_searched_once() {
    let (session, options) = (Session::default(), Options::default());
    let (mut robust_ones, mut others, mut safe) = (0, 0, 0);
    for seed in 0..200 {
        let program = read(seed);
        let sites = Sites::of(&program, Language::Weir, &[], &session).expect("places");
        let report = sites.cheapest(&program, &options, &session).expect("an answer");
        let marked = fences(&sites.program, &sites.places(), &options, &session).expect("an answer");
        assert_eq!(sets(&report), sets(&marked), "seed {seed}");
        if sets(&report) == Some(vec![0]) {
            let alone = robust::robust(&program, &robust::Options::default(), &session).expect("an answer");
            assert_eq!((report.searches, report.statistics.states), (1, alone.statistics.states), "seed {seed}");
            assert!(report.is_as_read && sites.unchanged(&program).text == program.source.text());
            robust_ones += 1;
            let short = needs_of_robust(&program, &session).expect("an answer");
            let long = needs(&sites.program, &sites.places(), &options, &session).expect("an answer");
            if let Some(short) = short {
                let kinds = |needs: &[weir::fences::Need]| {
                    let kind = |need: &weir::fences::Need| (need.aim, std::mem::discriminant(&need.fences), need.cost);
                    needs.iter().map(kind).collect::<Vec<_>>()
                };
                assert_eq!(kinds(&short), kinds(&long), "seed {seed}: {short:?} {long:?}");
                safe += short.len();
            }
        } else {
            assert_eq!(report.searches, marked.searches + u32::from(!report.is_as_read), "seed {seed}");
            others += 1;
        }
    }
    assert!(robust_ones > 20 && others > 10 && safe > 10, "{robust_ones} {others} {safe}");
}

/// Where no place is a step of its own, the first question about fences is whether the program is robust.
#[test]
fn without_steps_for_places_nothing_is_searched_before() {
    let text = "X86 mp\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n MOV [y],$1 | MOV EBX,[x] ;\n\
                exists (1:EAX=1 /\\ 1:EBX=0)\n";
    let (session, options) = (Session::default(), Options::default());
    let program = Language::Litmus.parse(&Source::new("mp.litmus", text), &[]).expect("a program").program;
    let sites = Sites::of(&program, Language::Litmus, &[], &session).expect("places");
    let report = sites.cheapest(&program, &options, &session).expect("an answer");
    assert!(report.is_as_read && report.searches == 1, "{report:?}");
    for (aim, method) in [(Aim::Safe, Method::Attacks), (Aim::Robust, Method::Single)] {
        let robust = robust::Options { method, ..robust::Options::default() };
        let options = Options { aim, robust, all: false };
        let source = "shared x, y; thread P { x = 1; y = 1; } thread Q { let r = y; } forbid y == 2;";
        let program = Language::Weir.parse(&Source::new("test.weir", source), &[]).expect("a program").program;
        let sites = Sites::of(&program, Language::Weir, &[], &session).expect("places");
        let report = sites.cheapest(&program, &options, &session).expect("an answer");
        assert!(!report.is_as_read && sets(&report) == Some(vec![0]), "{report:?}");
    }
}
