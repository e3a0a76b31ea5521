//! Facts about SC and TSO that were worked out by hand.

mod counts;
mod litmus;
mod rules;

use std::collections::BTreeSet;

use weir_ir::{Address, Instruction, Program, PropertyId, PropertyKind, Value};

use super::{Goal, Model, Outcome, explore};
use crate::sketch::{cell, program, straight};

/// Two cells of every litmus test.
const X: Address = 1;
const Y: Address = 2;

/// A program of straight threads over `x` and `y`.
fn threads<const N: usize>(bodies: [Vec<Instruction>; N]) -> Program {
    with_properties(bodies, vec![])
}

fn with_properties<const N: usize>(bodies: [Vec<Instruction>; N], properties: Vec<PropertyKind>) -> Program {
    let threads = bodies.into_iter().enumerate().map(|(index, body)| straight(&format!("P{index}"), body));
    program(vec![cell("x", X), cell("y", Y)], threads.collect(), properties)
}

/// A complete search.
fn run(program: &Program, model: Model) -> Outcome {
    let outcome = explore(program, model, 100_000).expect("nothing unsupported");
    assert!(outcome.complete);
    outcome
}

/// The values of all registers, thread by thread, in each final state.
fn reads(program: &Program, model: Model) -> BTreeSet<Vec<Value>> {
    let finals = run(program, model).final_states;
    finals.iter().map(|state| state.registers.values().flat_map(|own| own.values().copied()).collect()).collect()
}

/// The values of the cells, in each final state.
fn memories<const N: usize>(program: &Program, model: Model, cells: [Address; N]) -> BTreeSet<[Value; N]> {
    let finals = run(program, model).final_states;
    let value = |memory: &std::collections::BTreeMap<Address, Value>, address| {
        memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
    };
    finals.iter().map(|state| cells.map(|address| value(&state.memory, address))).collect()
}

/// The least number of steps to the first property's goal, if it can be reached.
fn first_goal(program: &Program, model: Model) -> Option<usize> {
    run(program, model).goals.get(&Goal::Property(PropertyId(0))).copied()
}
