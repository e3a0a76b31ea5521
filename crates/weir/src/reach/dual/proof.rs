//! The minimal basis in terms of the program: a proof that `weir-witness` can check.

use weir_ir::{Address, RegId, Value};
use weir_witness::{BackwardProof, Configuration, Goal, LocalState, Message, ThreadView};

use super::config::{ANY, View, is_own};
use super::local_graph::{Cell, Graph, LocalGraphs, Val};
use super::well_structured::Search;

/// The minimal basis of the configurations from which a goal can be reached.
pub(super) fn proof(search: &Search<'_>, local_graphs: &LocalGraphs, goals: &[Goal]) -> BackwardProof {
    let classes = (0..local_graphs.threads.len()).map(|thread| {
        let graph = local_graphs.of(thread);
        let automaton = search.system.automaton(thread);
        let mut classes = vec![Vec::new(); automaton.holds.len()];
        for (state, &class) in automaton.class_of.iter().enumerate() {
            classes[usize::from(class)].push(local(graph, state));
        }
        classes
    });
    let shape = &search.system.shape;
    let configurations = search.basis.minimal().map(|row| configuration(search, local_graphs, View::new(row, shape)));
    BackwardProof { goals: goals.to_vec(), classes: classes.collect(), configurations: configurations.collect() }
}

fn local(graph: &Graph, state: usize) -> LocalState {
    let local = &graph.states[state];
    let live = &graph.live[local.location.index()];
    let registers = live.iter().map(|register: RegId| (register, local.registers[register.index()]));
    LocalState { location: local.location, registers: registers.collect(), holds_lock: local.holds }
}

fn configuration(search: &Search<'_>, local_graphs: &LocalGraphs, view: View<'_>) -> Configuration {
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
    let thread = |thread: usize| ThreadView {
        class: Some(view.local(thread)).filter(|&local| local != ANY).map(usize::from),
        messages: view.buffer(thread).iter().map(message).collect(),
    };
    let fixed = view.memory().iter().enumerate().filter(|&(_, &value)| value != ANY);
    Configuration {
        threads: (0..local_graphs.threads.len()).map(thread).collect(),
        memory: fixed.map(|(cell, &value)| (cells.addresses[cell], cells.values[cell][usize::from(value)])).collect(),
    }
}
