//! Fences that are there and not needed, by definition: of all sets of them, those that can go, each tried.

use std::collections::BTreeSet;

use weir::fences::text::Existing;
use weir::fences::{Aim, Fences, Options, Place, Recheck, at_locations, fences};
use weir::{Language, Session, Verdict, robust};
use weir_ir::{Edge, Instruction, Program, Rmw, Source, Span};
use weir_testkit::Rng;
use weir_testkit::random::{Statement, program};

use super::{Set, fenced, tried};
use crate::random::accesses;

fn read(text: &str) -> Program {
    Language::Weir.parse(&Source::new("test.weir", text), &[]).expect("a program").program
}

/// The program without the fences of these statements.
fn without(program: &Program, spans: &BTreeSet<Span>) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        thread.body = thread.body.map_edges(|edge| {
            let instruction = match &edge.instruction {
                Instruction::Fence => Instruction::Skip,
                Instruction::ReadModifyWrite { address, operation: Rmw::Exchange(value), .. } => {
                    Instruction::Store { address: address.clone(), value: value.clone() }
                }
                other => other.clone(),
            };
            if spans.contains(&edge.span) { Edge { instruction, ..edge.clone() } } else { edge.clone() }
        });
    }
    program
}

/// The program with fences at most of its locations.
fn with_fences(seed: u64, program: &Program) -> Program {
    let mut rng = Rng::new(seed);
    let places: Vec<Place> = at_locations(program).into_iter().map(|at| at.place).collect();
    let set = (0..places.len()).filter(|_| rng.chance(60)).collect();
    fenced(program, &places, &set)
}

fn is_robust(program: &Program) -> Option<bool> {
    match robust::robust(program, &robust::Options::default(), &Session::default()).expect("it is supported").verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn what_stays_is_the_least_that_is_enough() {
    let config = accesses().weighing(Statement::ReadModifyWrite, 10).weighing(Statement::Branch, 10);
    let options = Options { all: true, ..Options::default() };
    let (mut short, mut some, mut exchanges) = (0, 0, 0);
    for seed in 0..150 {
        // Statements are told apart by their place in the text.
        let text = weir_syntax::weir::print::print(&with_fences(seed, &program(seed, &config)));
        let program = read(&text);
        let existing = Existing::of(&program, Language::Weir, &[], Aim::Robust);
        let count = existing.sites.list.len();
        if count == 0 || count > 8 {
            continue;
        }
        let answer = existing.unless_enough(&options, &Session::default()).expect("it is supported");
        if is_robust(&program) == Some(false) {
            assert_eq!(answer.map(|report| report.fences), Some(Fences::TooFew), "seed {seed}\n{text}");
            short += 1;
            continue;
        }
        assert_eq!(answer, None, "seed {seed}\n{text}");
        let places = existing.sites.places();
        let achieves = |set: &Set| {
            let gone = existing.others(set).into_iter().map(|number| existing.span(number)).collect();
            is_robust(&without(&program, &gone))
        };
        let Some((cost, sets)) = tried(&places, achieves) else { continue };
        let report = fences(&existing.sites.program, &places, &options, &Session::default()).expect("it is supported");
        let Fences::Cheapest(found) = report.fences else { panic!("seed {seed}: {:?}\n{text}", report.fences) };
        assert_eq!((report.cost, found.iter().cloned().collect()), (cost, sets), "seed {seed}\n{text}");
        some += usize::from(!found[0].is_empty() && found[0].len() < count);
        exchanges += existing.others(&found[0]).iter().filter(|&&number| existing.is_exchange(number)).count();
        for set in &found {
            let written = existing.write(set, &options, &Session::default()).expect("it can be written");
            assert_eq!(written.recheck, Recheck::Confirmed, "seed {seed}\n{text}");
            assert_eq!(is_robust(&read(&written.text)), Some(true), "seed {seed}\n{}", written.text);
        }
    }
    assert!(short >= 2 && some >= 5 && exchanges >= 5, "{short} {some} {exchanges}");
}
