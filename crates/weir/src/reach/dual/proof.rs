//! The minimal basis in terms of the program: a proof that `weir-witness` can check.

use weir_ir::sort::sort_by_key;
use weir_ir::{Address, Gather, RegId, ThreadId, Value};
use weir_witness::{BackwardProof, Configuration, Goal, LocalState, Message, ThreadView};

use super::config::{ANY, View, is_own};
use super::local_graph::{Cell, Graph, LocalGraphs, Val};
use super::predecessors::System;
use super::well_structured::Search;

/// The minimal basis of the configurations from which a goal can be reached.
pub(super) fn proof(search: &Search<'_>, local_graphs: &LocalGraphs, goals: &[Goal]) -> BackwardProof {
    let roster = Roster::new(search.system, local_graphs);
    let shape = &search.system.shape;
    let configurations =
        search.basis.minimal().map(|row| configuration(search, local_graphs, &roster, View::new(row, shape)));
    BackwardProof {
        goals: goals.to_vec(),
        configurations: configurations.collect(),
        classes: roster.threads.into_iter().map(|(_, classes)| classes).collect(),
    }
}

/// The threads that run, in the order of the program, each with the states of its automaton.
struct Roster {
    threads: Vec<(ThreadId, Vec<Vec<LocalState>>)>,
    /// For each state of copies the place of its thread, and the number of the state among those of that thread.
    copies: Vec<(usize, usize)>,
}

impl Roster {
    fn new(system: &System, local_graphs: &LocalGraphs) -> Self {
        let single = (0..local_graphs.threads.len()).map(|thread| {
            let (graph, automaton) = (local_graphs.of(thread), system.automaton(thread));
            (local_graphs.threads[thread], classes(graph, &automaton.class_of))
        });
        let mut threads: Vec<(ThreadId, Vec<Vec<LocalState>>)> = single.collect();
        // The states of all copies are numbered one thread after the other.
        let (mut first_state, mut first_class) = (0, 0);
        for &(thread, graph) in &local_graphs.templates {
            let graph = &local_graphs.graphs[graph];
            let of_all = &system.automaton(local_graphs.threads.len()).class_of;
            let class_of = of_all[first_state..first_state + graph.states.len()].iter();
            let classes = classes(graph, &class_of.map(|class| class - first_class).collect::<Vec<_>>());
            first_state += graph.states.len();
            first_class += classes.len() as u16;
            threads.push((thread, classes));
        }
        sort_by_key(&mut threads, |&(thread, _)| thread);
        let mut copies = Vec::new();
        for &(template, _) in &local_graphs.templates {
            let place = threads.iter().position(|&(thread, _)| thread == template).unwrap_or_default();
            copies.extend((0..threads[place].1.len()).map(|class| (place, class)));
        }
        Self { threads, copies }
    }
}

fn classes(graph: &Graph, class_of: &[u16]) -> Vec<Vec<LocalState>> {
    let count = class_of.iter().max().map_or(0, |&last| usize::from(last) + 1);
    let mut classes = vec![Vec::new(); count];
    for (state, &class) in class_of.iter().enumerate() {
        classes[usize::from(class)].push(local(graph, state));
    }
    classes
}

fn local(graph: &Graph, state: usize) -> LocalState {
    let local = &graph.states[state];
    let live = &graph.live[local.location.index()];
    let registers = live.iter().map(|register: RegId| (register, local.registers[register.index()]));
    LocalState { location: local.location, registers: registers.gather(), holds_lock: local.holds }
}

fn configuration(search: &Search<'_>, local_graphs: &LocalGraphs, roster: &Roster, view: View<'_>) -> Configuration {
    let (shape, cells) = (&search.system.shape, &local_graphs.cells);
    let message = |&message: &u16| {
        let part = |&(cell, value): &(Cell, Val)| {
            let (cell, value) = (usize::from(cell), usize::from(value));
            (cells.addresses[cell], cells.values[cell][value])
        };
        let mut parts: Vec<(Address, Value)> = shape.parts(message).iter().map(part).collect();
        parts.sort_unstable();
        if is_own(message) { Message::Own(parts[0].0, parts[0].1) } else { Message::Memory(parts) }
    };
    let copy = |copy: usize| roster.copies[usize::from(view.local(copy))];
    let class = |thread: usize| match view.local(thread) {
        ANY => None,
        _ if view.copies().contains(&thread) => Some(copy(thread).1),
        local => Some(usize::from(local)),
    };
    let thread = |thread: usize| ThreadView {
        class: class(thread),
        messages: view.buffer(thread).iter().map(message).collect(),
    };
    let fixed = view.memory().iter().enumerate().filter(|&(_, &value)| value != ANY);
    Configuration {
        threads: (0..view.threads()).map(thread).collect(),
        copies: view.copies().map(|at| copy(at).0).collect(),
        memory: fixed.map(|(cell, &value)| (cells.addresses[cell], cells.values[cell][usize::from(value)])).gather(),
    }
}
