//! Robustness by its definition: all traces under TSO, all traces under SC, and whether the former are among the latter.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use weir_ir::{Address, Program, Value};
use weir_witness::{HappensBefore, Model, NodeId, NodeKind, Run, enabled_steps, replay};

/// A node, named by its thread and its place there.
type Name = (u32, usize);

/// What a node does, where, what it reads, what it writes, and which store it reads from.
type Deed = (NodeKind, Option<Address>, Option<Value>, Option<Value>, Option<Name>);

/// What makes a trace, without anything that depends on the order of the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Trace {
    /// For each thread, in program order.
    threads: Vec<Vec<Deed>>,
    /// The stores to each address in order.
    stores: BTreeMap<Address, Vec<Name>>,
}

fn trace(graph: &HappensBefore) -> Trace {
    let mut names = vec![(0, 0); graph.nodes().len()];
    for chain in graph.threads() {
        for (place, node) in chain.iter().enumerate() {
            names[node.index()] = (graph.node(*node).thread.0, place);
        }
    }
    let describe = |id: &NodeId| {
        let node = graph.node(*id);
        let source = graph.source(*id).map(|store| names[store.index()]);
        (node.kind, node.address, node.read, node.written, source)
    };
    let addresses: BTreeSet<Address> = graph.nodes().iter().filter_map(|node| node.address).collect();
    let stores = |address| graph.stores(address).iter().map(|store| names[store.index()]).collect();
    Trace {
        threads: graph.threads().iter().map(|chain| chain.iter().map(describe).collect()).collect(),
        stores: addresses.into_iter().map(|address| (address, stores(address))).collect(),
    }
}

/// The traces of all runs that end drained; `None` if there are more than `limit` different ways to go.
fn traces(program: &Program, model: Model, limit: usize) -> Option<HashSet<Trace>> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut work = vec![Run { model, steps: Vec::new() }];
    while let Some(run) = work.pop() {
        let replayed = replay(program, &run).expect("enabled steps can be taken");
        let trace = trace(&HappensBefore::new(&replayed));
        let state = replayed.last();
        // What can still happen depends on the state alone, and what it adds to the trace on the trace.
        if !seen.insert((trace.clone(), format!("{state:?}"))) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        if state.is_drained() {
            found.insert(trace);
        }
        for step in enabled_steps(program, model, state).expect("no calls, no spawns") {
            let mut steps = run.steps.clone();
            steps.push(step);
            work.push(Run { model, steps });
        }
    }
    Some(found)
}

/// Whether the program is robust; `None` if that is too much work.
pub(crate) fn is_robust(program: &Program, limit: usize) -> Option<bool> {
    let under_sc = traces(program, Model::Sc, limit)?;
    Some(traces(program, Model::Tso, limit)?.is_subset(&under_sc))
}
