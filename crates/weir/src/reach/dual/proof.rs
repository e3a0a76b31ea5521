//! What the search found, in terms of the program: a proof that `weir-witness` can check.

use weir_ir::{Address, RegId, Value};
use weir_witness::{BackwardProof, Configuration, Goal, LocalState, Message, ThreadView};

use super::config::{ANY, View, is_own};
use super::search::Search;
use super::unfold::{Cell, Graph, Unfolded, Val};

/// The least configurations that lead to a goal.
pub(super) fn proof(search: &Search<'_>, unfolded: &Unfolded, goals: &[Goal]) -> BackwardProof {
    let classes = (0..unfolded.threads.len()).map(|thread| {
        let graph = &unfolded.graphs[unfolded.group_of[thread]];
        let automaton = search.system.automaton(thread);
        let mut classes = vec![Vec::new(); automaton.holds.len()];
        for (state, &class) in automaton.class_of.iter().enumerate() {
            classes[usize::from(class)].push(local(graph, state));
        }
        classes
    });
    let shape = &search.system.shape;
    let configurations = search.found.least().map(|row| configuration(search, unfolded, View::new(row, shape)));
    BackwardProof { goals: goals.to_vec(), classes: classes.collect(), configurations: configurations.collect() }
}

fn local(graph: &Graph, state: usize) -> LocalState {
    let local = &graph.states[state];
    let live = &graph.live[local.location.index()];
    let told = live.iter().map(|register: RegId| (register, local.registers[register.index()]));
    LocalState { location: local.location, registers: told.collect(), holds_lock: local.holds }
}

fn configuration(search: &Search<'_>, unfolded: &Unfolded, view: View<'_>) -> Configuration {
    let (shape, cells) = (&search.system.shape, &unfolded.cells);
    let message = |&message: &u16| {
        let part = |&(cell, value): &(Cell, Val)| {
            let (cell, value) = (usize::from(cell), usize::from(value));
            (cells.addresses[cell], cells.values[cell][value])
        };
        let mut parts: Vec<(Address, Value)> = shape.parts(message).iter().map(part).collect();
        parts.sort_unstable();
        if is_own(message) { Message::Own(parts[0].0, parts[0].1) } else { Message::Memory(parts) }
    };
    let thread = |thread: usize| ThreadView {
        class: Some(view.local(thread)).filter(|&local| local != ANY).map(usize::from),
        messages: view.buffer(thread).iter().map(message).collect(),
    };
    let fixed = view.memory().iter().enumerate().filter(|&(_, &value)| value != ANY);
    Configuration {
        threads: (0..unfolded.threads.len()).map(thread).collect(),
        memory: fixed.map(|(cell, &value)| (cells.addresses[cell], cells.values[cell][usize::from(value)])).collect(),
    }
}
