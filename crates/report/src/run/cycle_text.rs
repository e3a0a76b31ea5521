//! A cycle of happens-before in one line.

use weir_ir::Program;
use weir_witness::{Cycle, HappensBefore, NodeId, Relation};

/// A cycle in one line: `P0 store x → P0 load y → … → P0 store x`.
pub(crate) fn cycle_text(program: &Program, graph: &HappensBefore, cycle: &Cycle) -> String {
    let mut text = String::new();
    for (from, relation, _) in cycle.edges() {
        text.push_str(&node_text(program, graph, from));
        text.push_str(if relation == Relation::Section { " —in one step with→ " } else { " → " });
    }
    if let Some((first, _)) = cycle.links().first() {
        text.push_str(&node_text(program, graph, *first));
    }
    text
}

/// A node in words: `P0 store x`.
fn node_text(program: &Program, graph: &HappensBefore, node: NodeId) -> String {
    let node = graph.node(node);
    let (thread, what) = (&program.thread(node.thread).name, node.kind.name());
    match node.address {
        Some(address) => format!("{thread} {what} {}", program.cell_name(address)),
        None => format!("{thread} {what}"),
    }
}
