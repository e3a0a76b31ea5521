//! Fences as far as the properties need them, compared with trying all sets in the reference interpreter.

use std::collections::BTreeSet;

use weir::fences::{Aim, Fences, Options, fences};
use weir_ir::{Program, Property, PropertyKind, Span};
use weir_testkit::reference::{Model, explore};
use weir_testkit::sketch::{all_of, cell_value, equal, register_of};
use weir_testkit::{FinalState, Rng, cycles, dump};

use super::{fenced, places, tried};
use crate::judge::control;

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
    Property { kind: PropertyKind::Exists(all_of(registers.chain(cells))), span: Span::default() }
}

#[test]
fn every_cheapest_set_for_safety_is_found() {
    let (mut none, mut one, mut several, mut hopeless, mut nowhere) = (0, 0, 0, 0, 0);
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
        let report = fences(&program, &places, &options, &control()).unwrap_or_else(|failure| panic!("{failure}"));
        match (expected, report.fences) {
            (None, Fences::Hopeless(_)) if sc.contains(&bad) => hopeless += 1,
            (None, Fences::NoPlace(_)) if !sc.contains(&bad) => nowhere += 1,
            (Some(expected), Fences::Cheapest(sets)) => {
                *(match (expected.0, expected.1.len()) {
                    (0, _) => &mut none,
                    (_, 1) => &mut one,
                    _ => &mut several,
                }) += 1;
                let count = sets.len();
                let found = (report.cost, sets.into_iter().collect::<BTreeSet<_>>());
                assert_eq!((&found, count), (&expected, expected.1.len()), "seed {seed}\n{}", dump(&program));
            }
            (expected, said) => panic!("seed {seed}: {expected:?}, but {said:?} is said\n{}", dump(&program)),
        }
    }
    let counts = [none, one, several, hopeless, nowhere];
    assert!(one > 25 && several > 8 && hopeless > 20, "{counts:?}");
}
