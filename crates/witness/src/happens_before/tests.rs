use weir_ir::{Instruction, Program};

use super::*;
use crate::run::Model;
use crate::testing::*;

mod definition;
mod naive;
mod traces;

fn trace(program: &Program, model: Model, script: &str) -> HappensBefore {
    HappensBefore::new(&accept(program, model, script))
}

/// The edges as `from relation to`, by node numbers.
fn edges(graph: &HappensBefore) -> Vec<String> {
    let short = |relation| match relation {
        Relation::ProgramOrder => "po",
        Relation::StoreOrder => "st",
        Relation::Source => "src",
        Relation::Conflict => "cf",
        Relation::Section => "section",
        Relation::Start => "start",
    };
    graph.edges().iter().map(|(from, relation, to)| format!("{} {} {}", from.0, short(*relation), to.0)).collect()
}

#[test]
fn a_store_and_its_flush_are_one_node() {
    let program = program(vec![sequence(vec![store(X, 1), load(0, Y)])]);
    let graph = trace(&program, Model::Tso, "0 0 0f");
    assert_eq!(graph.nodes().len(), 2);
    assert_eq!((graph.nodes()[0].step, graph.nodes()[0].landed), (StepId(0), Some(StepId(2))));
    let sc = trace(&program, Model::Sc, "0 0");
    assert_eq!((sc.nodes()[0].step, sc.nodes()[0].landed), (StepId(0), Some(StepId(0))));
    assert_eq!(edges(&graph), edges(&sc));
}

#[test]
fn message_passing_has_a_source_and_a_conflict() {
    let program = program(vec![sequence(vec![store(X, 1), store(Y, 1)]), sequence(vec![load(0, Y), load(1, X)])]);
    let graph = trace(&program, Model::Sc, "0 0 1 1");
    assert_eq!(edges(&graph), ["0 po 1", "0 src 3", "1 src 2", "2 po 3"]);
    let graph = trace(&program, Model::Sc, "1 0 0 1");
    assert_eq!(edges(&graph), ["0 po 3", "0 cf 2", "1 po 2", "1 src 3"]);
}

#[test]
fn local_steps_are_no_nodes_but_fences_and_locks_are() {
    let locals = vec![Instruction::Skip, Instruction::Fence, assign(0, number(1)), Instruction::Lock, store(X, 1)];
    let rest = vec![Instruction::Unlock, havoc(0, 0, 1), Instruction::Terminate];
    let program = program(vec![sequence(locals.into_iter().chain(rest).collect())]);
    let graph = trace(&program, Model::Sc, "0 0 0 0 0 0 0 0");
    let kinds: Vec<_> = graph.nodes().iter().map(|node| (node.kind.name(), node.section)).collect();
    assert_eq!(kinds, [("fence", None), ("lock", Some(0)), ("store", Some(0)), ("unlock", Some(0))]);
    assert_eq!(edges(&graph), ["0 po 1", "1 po 2", "2 po 3"]);
}

#[test]
fn store_order_is_the_order_of_flushes() {
    let program = program(vec![sequence(vec![store(X, 1)]), sequence(vec![store(X, 2)])]);
    assert_eq!(trace(&program, Model::Tso, "0 1 1f 0f").stores(X), [NodeId(1), NodeId(0)]);
    assert_eq!(trace(&program, Model::Tso, "0 1 0f 1f").stores(X), [NodeId(0), NodeId(1)]);
    assert_eq!(trace(&program, Model::Tso, "0 1 1f 0f").stores(Y), []);
}

#[test]
fn a_load_from_the_own_buffer_has_its_source_there_and_conflicts_with_what_lands_next() {
    let program = program(vec![sequence(vec![store(X, 1), load(0, X)]), sequence(vec![store(X, 2)])]);
    let graph = trace(&program, Model::Tso, "0 0 1 0f 1f");
    assert_eq!(edges(&graph), ["0 po 1", "0 st 2", "0 src 1", "1 cf 2"]);
    let graph = trace(&program, Model::Tso, "0 0 1 1f 0f");
    assert_eq!(edges(&graph), ["0 po 1", "0 src 1", "2 st 0"]);
}

#[test]
fn stores_that_never_land_come_last() {
    let program = program(vec![sequence(vec![store(X, 1), store(X, 2)]), sequence(vec![store(X, 3), store(X, 4)])]);
    let graph = trace(&program, Model::Tso, "0 1 0 1 1f");
    let values: Vec<_> = graph.stores(X).iter().map(|&store| graph.node(store).written).collect();
    assert_eq!(values, [3, 1, 2, 4].map(Some));
    assert_eq!(graph.nodes().iter().filter(|node| node.landed.is_none()).count(), 3);
}

#[test]
fn of_the_stores_that_never_land_those_of_the_holder_of_the_lock_come_first() {
    let holder = sequence(vec![Instruction::Lock, store(X, 2)]);
    let program = program(vec![sequence(vec![store(X, 1)]), holder]);
    let graph = trace(&program, Model::Tso, "0 1 1");
    assert_eq!(graph.stores(X), [NodeId(2), NodeId(0)]);
}

#[test]
fn a_read_modify_write_is_one_node_that_loads_and_stores() {
    let program = program(vec![sequence(vec![exchange(0, X, 1)]), sequence(vec![exchange(0, X, 2), load(0, X)])]);
    let graph = trace(&program, Model::Tso, "0 1 1");
    assert_eq!(edges(&graph), ["0 st 1", "0 src 1", "1 po 2", "1 src 2"]);
}

#[test]
fn a_failed_comparison_only_loads() {
    let swap = compare_and_swap(0, X, 5, 9);
    let program = program(vec![sequence(vec![swap]), sequence(vec![store(X, 1)])]);
    let graph = trace(&program, Model::Tso, "0 1");
    assert_eq!(edges(&graph), ["0 cf 1"]);
    assert_eq!(graph.stores(X), [NodeId(1)]);
    assert_eq!(graph.nodes()[0].written, None);
}

/// Programs in which the thread that delays its store needs both others for a cycle.
fn three_threads() -> Vec<Program> {
    let delayer = || sequence(vec![store(X, 1), load(0, Y)]);
    let helpers = [
        [vec![store(Y, 1)], vec![load(0, Y), load(1, X)]],
        [vec![load(0, X)], vec![store(Y, 1), Instruction::Fence, load(0, X)]],
        [vec![exchange(0, Y, 1)], vec![load(0, Y), store(X, 2)]],
        [vec![snapshot(X, Y)], vec![store(Y, 1)]],
    ];
    helpers.map(|[second, third]| program(vec![delayer(), sequence(second), sequence(third)])).to_vec()
}
