//! The relations and the cycles against the definition, on runs of all kinds.

use super::naive::{Naive, naive, origin};
use super::*;
use crate::cycle::Cycle;
use crate::replay::replay;
use crate::testing::family;

fn assert_same_relations(replay: &Replay, graph: &HappensBefore, trace: &Naive) {
    assert_eq!(graph.nodes(), trace.nodes);
    for address in [X, Y, Z, family::A] {
        assert_eq!(graph.stores(address), trace.stores(replay, address));
    }
    for id in trace.ids() {
        let source = trace.source(replay, id);
        assert_eq!(graph.source(id), source, "{id:?}");
        assert_eq!(graph.conflict(id), trace.conflict(replay, id), "{id:?}");
        let after =
            |relation| trace.pairs.iter().filter(move |pair| pair.0 == id && pair.1 == relation).map(|pair| pair.2);
        let readers: Vec<NodeId> = after(Relation::Source).collect();
        assert_eq!(graph.readers(id), readers, "{id:?}");
        let in_one_step = after(Relation::Section).filter(|&to| to > id && trace.node(to).step == trace.node(id).step);
        let mut later: Vec<NodeId> = after(Relation::ProgramOrder).chain(in_one_step).collect();
        later.sort_unstable();
        assert_eq!(graph.later_in_thread(id), later, "{id:?}");
        let position =
            |id: &NodeId| graph.stores(trace.node(id.to_owned()).address.unwrap_or(0)).iter().position(|s| s == id);
        let mut stores: Vec<NodeId> = after(Relation::StoreOrder).collect();
        stores.sort_by_key(position);
        assert_eq!(graph.later_stores(id), stores, "{id:?}");
        for loaded in replay.events()[trace.node(id).step.index()].effect.loads() {
            if trace.node(id).address == Some(loaded.address) {
                assert_eq!(loaded.from, origin(trace, id, source));
            }
        }
    }
}

/// The edges that are listed generate all others, and none can be left out.
fn generating(graph: &HappensBefore, trace: &Naive) -> Vec<(NodeId, Relation, NodeId)> {
    let next =
        |list: &[NodeId], at: NodeId| list.iter().position(|&id| id == at).and_then(|at| list.get(at + 1)).copied();
    let mut edges = Vec::new();
    for from in trace.ids() {
        let thread = &graph.threads()[trace.node(from).thread.index()];
        if let Some(to) = next(thread, from) {
            let is_one_step = trace.node(from).step == trace.node(to).step;
            edges.push((from, if is_one_step { Relation::Section } else { Relation::ProgramOrder }, to));
        }
        let stores = trace.node(from).address.map_or(&[][..], |address| graph.stores(address));
        edges.extend(next(stores, from).map(|to| (from, Relation::StoreOrder, to)));
        let given = |pair: &&(NodeId, Relation, NodeId)| matches!(pair.1, Relation::Source | Relation::Conflict);
        edges.extend(trace.pairs.iter().filter(given).filter(|pair| pair.0 == from));
    }
    edges.sort_unstable();
    edges
}

fn assert_is_shortest_cycle(graph: &HappensBefore, trace: &Naive, cycle: &Cycle, shortest: usize) {
    let edges: Vec<_> = cycle.edges().collect();
    assert_eq!(edges.len(), cycle.links().len());
    for (index, edge) in edges.iter().enumerate() {
        assert_eq!((edge.0, edge.1), cycle.links()[index]);
        assert_eq!(edge.2, edges[(index + 1) % edges.len()].0, "each leads to the next");
        assert!(trace.pairs.contains(edge), "{edge:?}");
        let within = trace.block(edge.0) == trace.block(edge.2);
        let is_later = trace.node(edge.0).step < trace.node(edge.2).step;
        let inside = if is_later { Relation::ProgramOrder } else { Relation::Section };
        assert!(!within || edge.1 == inside, "{edge:?}");
    }
    let blocks = edges.iter().filter(|edge| trace.block(edge.0) != trace.block(edge.2)).count();
    assert_eq!(blocks, shortest, "{edges:?}");
    assert_eq!(edges.iter().map(|edge| edge.0).min(), Some(edges[0].0), "starts with what is executed first");
    let mut nodes: Vec<NodeId> = edges.iter().map(|edge| edge.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), edges.len(), "comes by no node twice: {edges:?}");
    let delays: Vec<_> = cycle.delays(graph).collect();
    let delayed = |edge: &&(NodeId, Relation, NodeId)| {
        let (from, to) = (trace.node(edge.0), trace.node(edge.2));
        let kinds = from.kind == NodeKind::Store && to.kind == NodeKind::Load;
        edge.1 == Relation::ProgramOrder && kinds && trace.block(edge.0) != trace.block(edge.2)
    };
    assert_eq!(delays, edges.iter().filter(delayed).map(|edge| (edge.0, edge.2)).collect::<Vec<_>>());
    // Some store of the cycle was overtaken: else all of it would lead forward in time.
    assert!(edges.iter().any(|&(from, relation, to)| {
        let overtaken = trace.node(from).landed.is_none_or(|landed| landed > trace.node(to).step);
        assert_eq!(graph.is_overtaken(from, to), overtaken);
        relation == Relation::ProgramOrder && trace.node(from).kind == NodeKind::Store && overtaken
    }));
}

/// What was seen of runs.
#[derive(Default, Debug)]
struct Tally {
    runs: usize,
    cyclic: usize,
    relations: BTreeMap<Relation, usize>,
}

impl Tally {
    fn look(&mut self, program: &Program, run: &crate::run::Run) {
        let replay = replay(program, run).expect("the run is possible");
        let (graph, trace) = (HappensBefore::new(&replay), naive(&replay));
        assert_same_relations(&replay, &graph, &trace);
        let mut edges = graph.edges();
        edges.sort_unstable();
        assert_eq!(edges, generating(&graph, &trace));
        self.runs += 1;
        let (cycle, shortest) = (graph.cycle(), trace.shortest_cycle());
        assert_eq!(cycle.is_some(), shortest.is_some(), "{run:?}");
        assert_eq!(graph.is_cyclic(), shortest.is_some(), "{run:?}");
        if let (Some(cycle), Some(shortest)) = (cycle, shortest) {
            assert_is_shortest_cycle(&graph, &trace, &cycle, shortest);
            self.cyclic += 1;
            cycle.links().iter().for_each(|(_, relation)| *self.relations.entry(*relation).or_default() += 1);
        }
    }
}

#[test]
fn relations_and_cycles_are_those_of_the_definition() {
    let mut tally = Tally::default();
    let mut random = Random(5);
    for program in family::programs() {
        for model in [Model::Sc, Model::Tso] {
            tally.look(&program, &random_run(&program, model, &mut random, 12));
        }
    }
    for _ in 0..1_500 {
        let program = random_program(&mut random);
        let length = 6 + random.below(20);
        tally.look(&program, &random_run(&program, Model::Tso, &mut random, length));
    }
    for program in three_threads() {
        for _ in 0..200 {
            tally.look(&program, &random_run(&program, Model::Tso, &mut random, 12));
        }
    }
    assert!(tally.runs > 3_000 && tally.cyclic > 150, "{tally:?}");
    for relation in
        [Relation::ProgramOrder, Relation::StoreOrder, Relation::Source, Relation::Conflict, Relation::Section]
    {
        assert!(tally.relations.get(&relation).is_some_and(|&count| count > 10), "{relation:?}: {tally:?}");
    }
}
