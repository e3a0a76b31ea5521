//! Fences put into a program: it does what it did, but for waiting.

use std::collections::BTreeSet;

use weir::fences::at_locations;
use weir::translate::{insert_fences, insert_fences_after};
use weir_ir::{EdgeId, Instruction, LocId, Multiplicity, Program, ThreadId};
use weir_testkit::reference::{Model, explore};
use weir_testkit::traces::is_robust;
use weir_testkit::{Rng, cycles, dump};

use super::fenced;
use crate::reference::LIMITS;
use crate::shapes::parse;

const CONFIG: cycles::Config = cycles::Config { helpers: 1, noise: 1, loops: 20, locks: 20, data: 20 };

/// Every location that a step leads to and that another instruction than a fence leaves, with all steps that lead
/// there.
#[test]
fn a_fence_can_stand_before_every_instruction_that_is_none() {
    for seed in 0..40 {
        let mut program = cycles::program(seed, &CONFIG);
        if seed % 4 == 0 {
            program.threads[0].multiplicity = Multiplicity::Spawned;
        }
        let found: Vec<_> =
            at_locations(&program).into_iter().map(|at| (at.thread, at.location, at.place.after)).collect();
        let mut expected: Vec<(ThreadId, LocId, Vec<_>)> = Vec::new();
        for thread in program.thread_ids() {
            let body = program.body(thread);
            for location in body.location_ids() {
                let leaves =
                    body.edges().iter().any(|edge| edge.from == location && edge.instruction != Instruction::Fence);
                let leads = |index: &usize| body.edges()[*index].to == location;
                let after: Vec<_> =
                    (0..body.edges().len()).filter(leads).map(|index| (thread, EdgeId::new(index))).collect();
                if leaves && !after.is_empty() && program.thread(thread).multiplicity == Multiplicity::One {
                    expected.push((thread, location, after));
                }
            }
        }
        assert_eq!(found, expected, "seed {seed}");
        assert!(at_locations(&program).iter().all(|at| at.place.cost == 1));
    }
}

#[test]
fn both_ways_to_put_fences_in_mean_the_same() {
    let mut mended = 0;
    for seed in 0..60 {
        let program = cycles::program(seed, &cycles::Config { loops: 0, ..CONFIG });
        let at = at_locations(&program);
        let places: Vec<_> = at.iter().map(|at| at.place.clone()).collect();
        let mut rng = Rng::new(seed);
        let set: BTreeSet<usize> = (0..places.len()).filter(|_| rng.chance(40)).collect();
        let before =
            insert_fences(&program, &set.iter().map(|&place| (at[place].thread, at[place].location)).collect()).program;
        let steps = set.iter().flat_map(|&place| places[place].after.iter().copied()).collect();
        let after = insert_fences_after(&program, &steps).program;
        let expected = fenced(&program, &places, &set);
        assert_eq!(ends(&after), ends(&expected), "seed {seed}\n{}", dump(&program));
        assert_eq!(ends(&before), ends(&expected), "seed {seed}\n{}", dump(&program));
        let robust = is_robust(&expected, LIMITS);
        assert_eq!((is_robust(&after, LIMITS), is_robust(&before, LIMITS)), (robust, robust), "seed {seed}");
        mended += usize::from(robust == Some(true) && is_robust(&program, LIMITS) == Some(false));
        for thread in program.thread_ids() {
            let (old, new) = (program.body(thread).edges(), after.body(thread).edges());
            let is_kept = |(old, new): (&weir_ir::Edge, &weir_ir::Edge)| {
                (old.from, &old.instruction, old.span) == (new.from, &new.instruction, new.span)
            };
            assert!(new.len() >= old.len() && old.iter().zip(new).all(is_kept), "steps keep their numbers");
        }
    }
    assert!(mended > 5, "{mended} programs were mended");
}

fn ends(program: &Program) -> (usize, BTreeSet<weir_testkit::FinalState>) {
    let outcome = explore(program, Model::Tso, 100_000).expect("the reference can");
    assert!(outcome.complete);
    (outcome.final_states.len(), outcome.final_states)
}

/// A thread that waits at a fence is where the step before it leads: so it is always at one of its labels.
#[test]
fn a_waiting_thread_is_where_the_step_leads() {
    let text = "shared x, y;\nthread A { a: x = 1; b: let r = y; c: skip; d: }\n\
                forbid !(A at a) && !(A at b) && !(A at c) && !(A at d);\nforbid A at b && x == 1;\nforbid A at b && x == 2;";
    let program = parse(text);
    let all = (0..program.body(ThreadId(0)).edges().len()).map(|edge| (ThreadId(0), EdgeId::new(edge))).collect();
    let goals = |program: &Program| {
        let outcome = explore(program, Model::Tso, 1_000).expect("the reference can");
        outcome.goals.keys().copied().collect::<Vec<_>>()
    };
    let expected = goals(&program);
    assert_eq!(expected.len(), 1);
    assert_eq!(goals(&insert_fences_after(&program, &all).program), expected);
    // Of another thread nothing changes.
    let other =
        parse(&text.replace("forbid A at b && x == 2", "thread B { e: y = 1; f: }\nforbid !(B at e) && !(B at f)"));
    assert_eq!(goals(&insert_fences_after(&other, &all).program).len(), 1);
}
