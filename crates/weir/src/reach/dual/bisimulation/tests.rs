//! A small automaton does what the graph does, and nothing else: move by move, from every state that belongs to a
//! class.

use std::collections::BTreeSet;

use weir_testkit::Rng;
use weir_testkit::random::{self, Config};

use super::super::local_graph::{Symmetry, build};
use super::*;
use crate::session::Session;

/// Whether a move that stays in its class can be left out.
fn is_idle(label: Label) -> bool {
    match label {
        Label::Silent | Label::Load(..) | Label::Snapshot(_) | Label::Fence | Label::Membarrier => true,
        Label::Rmw(_, old, new) => old == new,
        Label::Store(..) | Label::Lock | Label::Unlock => false,
    }
}

/// The states of the same class that silent moves lead to.
fn waiting(graph: &Graph, automaton: &Automaton, start: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        for step in graph.moves[state].iter().filter(|step| step.label == Label::Silent) {
            let to = step.to as usize;
            if automaton.class_of[to] == automaton.class_of[start] && seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

fn compare(graph: &Graph, observation: &[u32], automaton: &Automaton) {
    let class = |state: usize| automaton.class_of[state];
    assert_eq!(automaton.initial, class(0));
    for (state, moves) in graph.moves.iter().enumerate() {
        // Whatever can be observed is the same throughout a class.
        let member = automaton.member[usize::from(class(state))] as usize;
        assert_eq!((class(member), observation[member]), (class(state), observation[state]));
        assert_eq!(automaton.holds[usize::from(class(state))], graph.states[state].holds);
        for step in moves {
            let (from, to) = (class(state), class(step.to as usize));
            let is_there = automaton.into[usize::from(to)].contains(&(step.label, from));
            assert!(is_there || from == to && is_idle(step.label), "{:?} is lost", step.label);
        }
    }
    for (to, moves) in automaton.into.iter().enumerate() {
        for &(label, from) in moves {
            for state in (0..graph.states.len()).filter(|&state| class(state) == from) {
                let can = |at: &usize| {
                    graph.moves[*at]
                        .iter()
                        .any(|step| step.label == label && usize::from(class(step.to as usize)) == to)
                };
                assert!(waiting(graph, automaton, state).iter().any(can), "{label:?} comes from nowhere");
            }
        }
    }
}

#[test]
fn automata_do_what_graphs_do() {
    let session = Session::default();
    let (mut states, mut classes) = (0, 0);
    for seed in 0..120 {
        let config = [Config::cyclic(), Config::locking(), Config::acyclic()][seed as usize % 3].clone();
        let program = random::program(seed, &config);
        let Ok(local_graphs) = build(&program, Symmetry::Ignore, &session) else { continue };
        let mut rng = Rng::new(seed);
        for graph in &local_graphs.graphs {
            let seen = rng.between(1, 3);
            let observation: Vec<u32> = graph.states.iter().map(|_| rng.below(seen) as u32).collect();
            let automaton = bisimulation_quotient(graph, &observation, &session).expect("no limit").expect("small");
            compare(graph, &observation, &automaton);
            // Where nothing is observed, most is joined.
            let blind =
                bisimulation_quotient(graph, &vec![0; graph.states.len()], &session).expect("no limit").expect("small");
            compare(graph, &vec![0; graph.states.len()], &blind);
            states += graph.states.len();
            classes += blind.holds.len();
        }
    }
    assert!(classes * 10 < states * 8, "{classes} of {states}");
}

/// Steps that nobody sees are joined with what follows, also where they go round.
#[test]
fn waiting_is_left_out() {
    let text = "shared x; thread P { skip; skip; x = 1; loop { skip; skip; } }";
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let session = Session::default();
    let local_graphs = build(&program, Symmetry::Ignore, &session).unwrap_or_else(|_| panic!("small"));
    let graph = &local_graphs.graphs[0];
    let automaton =
        bisimulation_quotient(graph, &vec![0; graph.states.len()], &session).expect("no limit").expect("small");
    assert_eq!(automaton.holds.len(), 2, "before the store, and after");
    assert_eq!(automaton.into.iter().map(Vec::len).sum::<usize>(), 1);
}
