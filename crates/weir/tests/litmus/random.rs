//! The final states that the engine collects are those of the naive interpreter: on random programs.

use std::collections::BTreeSet;

use weir::outcomes::{End, outcomes};
use weir::{Limits, Session};
use weir_ir::{Expr, Program, RegId, StateAtom, StateExpr, Value};
use weir_testkit::random::{self, Config};
use weir_testkit::{Goal, dump, explore};

use crate::own::values;
use crate::support::MODELS;

/// All registers and all cells of a program.
fn everything(program: &Program) -> Vec<StateExpr> {
    let registers = program.thread_ids().flat_map(|thread| {
        let count = program.body(thread).registers.len();
        (0..count).map(move |register| StateAtom::Register { thread, register: RegId::new(register) })
    });
    let cells = program.shared.iter().flat_map(|shared| shared.addresses()).map(StateAtom::Cell);
    registers.chain(cells).map(Expr::Leaf).collect()
}

#[test]
fn final_states_of_random_programs_are_those_of_the_naive_interpreter() {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(150);
    let (mut compared, mut ends) = (0, 0);
    for config in [Config::acyclic(), Config::cyclic(), Config::locking(), Config::crowded(), Config::wild_data()] {
        for seed in 0..seeds {
            let program = random::program(seed, &config);
            let observed = everything(&program);
            for (model, judge) in MODELS {
                let Ok(judged) = explore(&program, judge, 3_000) else { continue };
                // Buffers can grow forever; and after a failed assertion the engine stops.
                if !judged.complete || judged.goals.keys().any(|goal| matches!(goal, Goal::Assertion(_))) {
                    continue;
                }
                let expected: BTreeSet<Vec<Value>> =
                    judged.final_states.iter().map(|state| values(&program, state, &observed)).collect();
                let report = outcomes(&program, &observed, model, &Session::default()).expect("supported");
                assert_eq!(report.end, End::Complete, "seed {seed}\n{}", dump(&program));
                assert_eq!(report.outcomes, expected, "seed {seed}, {model:?}\n{}", dump(&program));
                compared += 1;
                ends += expected.len();
            }
        }
    }
    assert!(compared > 5 * seeds as usize && ends > compared, "{compared} programs, {ends} final states");
}

#[test]
fn a_limit_leaves_a_part_of_the_final_states_and_says_so() {
    let program = random::program(1, &Config::crowded());
    let observed = everything(&program);
    let all = outcomes(&program, &observed, weir_witness::Model::Tso, &Session::default()).expect("supported");
    let session = Session::new(Limits { states: Some(all.states / 2), ..Limits::default() });
    let some = outcomes(&program, &observed, weir_witness::Model::Tso, &session).expect("supported");
    assert_eq!(some.end, End::Stopped(weir::Limit::States));
    assert!(some.outcomes.is_subset(&all.outcomes));
    let session = Session::new(Limits { states: Some(all.states), ..Limits::default() });
    let exact = outcomes(&program, &observed, weir_witness::Model::Tso, &session).expect("supported");
    assert_eq!((exact.end, exact.outcomes), (End::Complete, all.outcomes));
}
