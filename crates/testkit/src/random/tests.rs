use std::collections::{BTreeMap, BTreeSet};

use weir_ir::Instruction;

use super::*;
use crate::dump;
use crate::reference::{Model, explore};

fn configs() -> Vec<Config> {
    vec![
        Config::acyclic(),
        Config::cyclic(),
        Config::locking(),
        Config::crowded(),
        Config::wild_data(),
        Config::everything(),
    ]
}

#[test]
fn a_seed_names_one_program() {
    for config in configs() {
        assert_eq!(dump(&program(5, &config)), dump(&program(5, &config)));
        let different: BTreeSet<String> = (0..50).map(|seed| dump(&program(seed, &config))).collect();
        assert!(different.len() >= 49);
    }
}

#[test]
fn programs_are_valid_and_their_edges_have_spans_of_their_own() {
    for config in configs() {
        for seed in 0..200 {
            let program = program(seed, &config);
            assert!(crate::shrink::is_valid(&program), "{}", dump(&program));
            let edges = program.threads.iter().flat_map(|thread| thread.body.edges());
            let spans: Vec<Span> = edges.map(|edge| edge.span).collect();
            assert_eq!(spans.iter().collect::<BTreeSet<_>>().len(), spans.len());
        }
    }
}

#[test]
fn declarations_do_not_overlap_and_start_within_their_range() {
    for seed in 0..500 {
        let program = program(seed, &Config::wild_data());
        let addresses: Vec<Address> = program.shared.iter().flat_map(Shared::addresses).collect();
        assert_eq!(addresses.iter().collect::<BTreeSet<_>>().len(), addresses.len());
        for address in addresses {
            assert!(program.admits(address, program.initial_value(address)));
        }
    }
}

#[test]
fn every_kind_of_instruction_and_property_turns_up() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..300 {
        let program = program(seed, &Config::cyclic());
        for edge in program.threads.iter().flat_map(|thread| thread.body.edges()) {
            *seen.entry(first_word(&format!("{:?}", edge.instruction))).or_default() += 1;
        }
        for property in &program.properties {
            *seen.entry(first_word(&format!("{:?}", property.kind))).or_default() += 1;
        }
    }
    let kinds = ["Load", "Store", "Fence", "Assign", "Assume", "Assert", "ReadModifyWrite", "Lock", "Unlock", "Havoc"];
    let rest = ["Skip", "Terminate", "Forbid", "ForbidDeadlock", "Exists", "Always"];
    for kind in kinds.iter().chain(&rest) {
        assert!(seen.get(*kind).is_some_and(|&count| count >= 10), "{kind} in {seen:?}");
    }
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphabetic()).collect()
}

#[test]
fn searches_mostly_end_and_are_not_trivial() {
    for (config, least_complete) in configs().into_iter().zip([90, 70, 90, 90, 90, 70]) {
        let outcomes: Vec<_> =
            (0..100).map(|seed| explore(&program(seed, &config), Model::Tso, 2000).unwrap()).collect();
        let complete = outcomes.iter().filter(|outcome| outcome.complete).count();
        assert!(complete >= least_complete, "{complete} of 100 are complete");
        assert!(outcomes.iter().filter(|outcome| outcome.states >= 20).count() >= 60);
    }
}

#[test]
fn sequentially_consistent_states_are_finitely_many() {
    for config in configs() {
        for seed in 0..100 {
            let program = program(seed, &config);
            assert!(explore(&program, Model::Sc, 100_000).unwrap().complete, "{}", dump(&program));
        }
    }
}

#[test]
fn weights_of_zero_leave_a_statement_out() {
    let config = Config::acyclic().weighing(Statement::Store, 0);
    let is_store = |edge: &weir_ir::Edge| matches!(edge.instruction, Instruction::Store { .. });
    let stores = (0..100).any(|seed| {
        let program = program(seed, &config);
        program.threads.iter().any(|thread| thread.body.edges().iter().any(is_store))
    });
    assert!(!stores);
}
