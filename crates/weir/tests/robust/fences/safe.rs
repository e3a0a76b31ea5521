//! Fences as far as the properties need them, compared with trying all sets in the reference interpreter.

use std::collections::BTreeSet;

use weir::fences::{Aim, Fences, Options, fences};
use weir_ir::{
    BinaryOp, Body, Edge, Expr, Instruction, LocId, Location, Program, Property, PropertyKind, RegId, Register, Span,
    ThreadId, UnaryOp,
};
use weir_testkit::reference::{Model, explore, violated_liveness};
use weir_testkit::sketch::{all_of, cell_value, equal, register_of};
use weir_testkit::{FinalState, Rng, cycles, dump};

use super::{certified, fenced, places, tried};
use crate::reference::session;

const CONFIG: cycles::Config = cycles::Config { helpers: 1, noise: 1, loops: 0, locks: 25, data: 10 };

fn ends(program: &Program, model: Model) -> Option<BTreeSet<FinalState>> {
    let outcome = explore(program, model, 20_000).expect("the reference can");
    outcome.complete.then_some(outcome.final_states)
}

/// The property that the program does not end so.
fn never(program: &Program, end: &FinalState) -> Property {
    let registers = end.registers.iter().flat_map(|(thread, registers)| {
        registers.iter().map(|(register, value)| equal(register_of(thread.0, register.0), *value))
    });
    let cells = program.shared.iter().map(|shared| {
        let value = end.memory.get(&shared.address).copied().unwrap_or(shared.initial[0]);
        equal(cell_value(shared.address), value)
    });
    let it = all_of(registers.chain(cells));
    Property { kind: PropertyKind::Always(Expr::unary(UnaryOp::Not, it)), span: Span::default() }
}

#[test]
fn every_cheapest_set_for_safety_is_found() {
    let (mut none, mut one, mut several, mut not_by_fences, mut nowhere) = (0, 0, 0, 0, 0);
    for seed in 0..150 {
        let mut program = cycles::program(seed, &CONFIG);
        let (Some(sc), Some(tso)) = (ends(&program, Model::Sc), ends(&program, Model::Tso)) else { continue };
        let mut rng = Rng::new(seed);
        let only_late: Vec<_> = tso.difference(&sc).collect();
        let bad = match only_late.first() {
            Some(end) if seed % 8 > 0 => (*end).clone(),
            _ if seed % 8 < 2 && !sc.is_empty() => sc.first().expect("some").clone(),
            _ => continue,
        };
        let property = never(&program, &bad);
        program.properties.push(property);
        let places = places(&program, &mut rng, 1 + (seed % 3) as usize);
        if places.len() > 9 {
            continue;
        }
        let achieves = |set: &super::Set| Some(!ends(&fenced(&program, &places, set), Model::Tso)?.contains(&bad));
        let expected = tried(&places, achieves);
        let options = Options { aim: Aim::Safe, all: true, ..Options::default() };
        let report = fences(&program, &places, &options, &session()).unwrap_or_else(|failure| panic!("{failure}"));
        match (expected, report.fences) {
            (None, Fences::NotByFences(_)) if sc.contains(&bad) => not_by_fences += 1,
            (None, Fences::NoPlace(_)) if !sc.contains(&bad) => nowhere += 1,
            (Some(expected), Fences::Cheapest(sets)) => {
                *(match (expected.0, expected.1.len()) {
                    (0, _) => &mut none,
                    (_, 1) => &mut one,
                    _ => &mut several,
                }) += 1;
                let options = Options { aim: Aim::Safe, ..Options::default() };
                let one = fences(&program, &places, &options, &session()).unwrap_or_else(|failure| panic!("{failure}"));
                let Fences::Cheapest(chosen) = &one.fences else { panic!("seed {seed}: {:?}", one.fences) };
                certified(&program, &places, &one, &chosen[0], &options)
                    .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", dump(&program)));
                let count = sets.len();
                let found = (report.cost, sets.into_iter().collect::<BTreeSet<_>>());
                assert_eq!((&found, count), (&expected, expected.1.len()), "seed {seed}\n{}", dump(&program));
            }
            (expected, said) => panic!("seed {seed}: {expected:?}, but {said:?} is said\n{}", dump(&program)),
        }
    }
    let counts = [none, one, several, not_by_fences, nowhere];
    assert!(one > 25 && several > 8 && not_by_fences > 20, "{counts:?}");
}

/// Where each thread says at its end how it ended: 1, or 2 if it ended as in the bad state.
const RESULTS: i64 = 100;

/// The program in which the first thread waits for the others and cannot go on if all ended as in this state.
fn stuck_with(program: &Program, end: &FinalState) -> Program {
    let ended_so = |thread: ThreadId| {
        let registers = end.registers[&thread].iter();
        all_of(registers.map(|(register, value)| equal(Expr::Leaf(*register), *value)))
    };
    let mut changed = program.clone();
    for thread in program.thread_ids().skip(1) {
        let value = Expr::binary(BinaryOp::Add, Expr::Const(1), ended_so(thread));
        let address = Expr::Const(RESULTS + i64::from(thread.0));
        append(&mut changed, thread, vec![Instruction::Store { address, value }]);
    }
    let first = ThreadId(0);
    let others = program.threads.len() - 1;
    let registers = &mut changed.threads[0].body.registers;
    let own = registers.len();
    for at in 0..others {
        let name = format!("result{at}");
        registers.push(Register { name, is_temporary: false, is_thread_local: false, span: Span::default() });
    }
    let result = |at: usize| Expr::Leaf(RegId::new(own + at));
    let loads = (0..others).map(|at| (RegId::new(own + at), Expr::Const(RESULTS + 1 + at as i64))).collect();
    let condition = all_of((0..others).map(result));
    let all_so = all_of((0..others).map(|at| equal(result(at), 2)).chain([ended_so(first)]));
    let test = Instruction::Assume(Expr::unary(UnaryOp::Not, all_so));
    append(&mut changed, first, vec![Instruction::Await { loads, condition }, test]);
    changed.properties = vec![Property { kind: PropertyKind::ForbidStuck, span: Span::default() }];
    changed
}

/// Lets a thread do this at its end.
fn append(program: &mut Program, thread: ThreadId, instructions: Vec<Instruction>) {
    let body = &program.threads[thread.index()].body;
    let mut ends: Vec<LocId> = body.location_ids().filter(|&loc| body.is_done(loc)).collect();
    let (mut locations, mut edges) = (body.locations.clone(), body.edges().to_vec());
    for instruction in instructions {
        locations.push(Location::default());
        let to = LocId::new(locations.len() - 1);
        let edge = |from| Edge { from, to, instruction: instruction.clone(), span: Span::default() };
        edges.extend(ends.drain(..).map(edge));
        ends.push(to);
    }
    program.threads[thread.index()].body = Body::new(body.registers.clone(), locations, body.entry, body.failed, edges);
}

/// Fences that make a program live again.
#[test]
fn every_cheapest_set_against_hangs_is_found() {
    let (mut one, mut several, mut none) = (0, 0, 0);
    for seed in 0..120 {
        let program = cycles::program(seed, &CONFIG);
        let (Some(sc), Some(tso)) = (ends(&program, Model::Sc), ends(&program, Model::Tso)) else { continue };
        let Some(bad) = tso.difference(&sc).next().cloned() else { continue };
        let program = stuck_with(&program, &bad);
        let places = places(&program, &mut Rng::new(seed), 1 + (seed % 3) as usize);
        if places.len() > 8 {
            continue;
        }
        let achieves = |set: &super::Set| {
            let violated = violated_liveness(&fenced(&program, &places, set), Model::Tso, 20_000);
            violated.expect("the reference can").map(|violated| violated.is_empty())
        };
        let expected = tried(&places, achieves);
        let options = Options { aim: Aim::Safe, all: true, ..Options::default() };
        let report = fences(&program, &places, &options, &session()).unwrap_or_else(|failure| panic!("{failure}"));
        match (expected, report.fences) {
            (None, Fences::NotByFences(_) | Fences::NoPlace(_)) => none += 1,
            (Some(expected), Fences::Cheapest(sets)) => {
                *(if expected.1.len() == 1 { &mut one } else { &mut several }) += 1;
                let found = (report.cost, sets.into_iter().collect::<BTreeSet<_>>());
                assert_eq!(found, expected, "seed {seed}\n{}", dump(&program));
            }
            (expected, said) => panic!("seed {seed}: {expected:?}, but {said:?} is said\n{}", dump(&program)),
        }
    }
    assert!(one > 10 && several > 1 && none > 5, "{one} {several} {none}");
}

/// Whether no property is broken and no assertion fails, by the reference.
fn is_safe(program: &Program) -> Option<bool> {
    let outcome = explore(program, Model::Tso, 50_000).expect("the reference can");
    outcome.complete.then_some(outcome.goals.is_empty())
}

#[test]
fn fences_for_places_assertions_and_cells_are_the_cheapest() {
    for (text, cost) in [
        // Both must see the other's flag; what is read of `z` does not matter.
        (
            "shared x, y, z;\nthread P { x = 1; let t = z; let r = y; if r == 0 { c: skip; } }\n\
             thread Q { y = 1; z = 1; let s = x; if s == 0 { c: skip; } }\nforbid P at c && Q at c;",
            Some(2),
        ),
        (
            "shared x, y;\nthread P { x = 1; let r = y; assert r == 1 || r == 0; }\nthread Q { y = 1; let s = x; }",
            Some(0),
        ),
        (
            "shared x, y, n;\nthread P { x = 1; let r = y; if r == 0 { fetch_add(n, 1); } }\n\
             thread Q { xchg(y, 1); let s = x; if s == 0 { let k = fetch_add(n, 1); assert k == 0; } }",
            Some(1),
        ),
        (
            "shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; let s = x; }\nforbid x == 1 && y == 1;",
            None,
        ),
        (
            "shared x, y;\nthread P { x = 1; let r = y; e: }\nthread Q { y = 1; let s = x; e: }\n\
             always P.r == 1 || Q.s == 1;\nforbid P at e && Q at e && P.r == 0 && Q.s == 0;",
            Some(2),
        ),
    ] {
        let program = crate::shapes::parse(text);
        let mut rng = Rng::new(text.len() as u64);
        let places = places(&program, &mut rng, 1);
        let expected = tried(&places, |set| is_safe(&fenced(&program, &places, set)));
        assert_eq!(expected.as_ref().map(|(cost, _)| *cost), cost, "{text}");
        let options = Options { aim: Aim::Safe, all: true, ..Options::default() };
        let report = fences(&program, &places, &options, &session()).unwrap_or_else(|failure| panic!("{failure}"));
        match (expected, report.fences) {
            (Some(expected), Fences::Cheapest(sets)) => {
                assert_eq!((report.cost, sets.len()), (expected.0, expected.1.len()), "{text}");
                assert_eq!(sets.into_iter().collect::<BTreeSet<_>>(), expected.1, "{text}");
            }
            (None, Fences::NotByFences(_)) => {}
            (expected, said) => panic!("{text}: {expected:?}, but {said:?} is said"),
        }
    }
}
