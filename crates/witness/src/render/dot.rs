//! The trace of a run as a graph in DOT, and its cycle in one line.

use std::fmt::Write as _;

use weir_ir::{Program, ThreadId};

use super::step_text::step_texts;
use crate::cycle::Cycle;
use crate::happens_before::{HappensBefore, NodeId, Relation};
use crate::replay::Replay;

/// The happens-before graph of a replayed run in DOT: a cluster for each thread, an arrow for each relation,
/// those of `cycle` highlighted. `program` must be the one that was replayed, `graph` its trace.
pub fn dot(program: &Program, replay: &Replay, graph: &HappensBefore, cycle: Option<&Cycle>) -> String {
    let texts = step_texts(program, replay);
    let mut out = String::from("digraph happens_before {\n    node [shape=box, fontname=\"monospace\"];\n");
    for (index, nodes) in graph.threads().iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
        let thread = ThreadId::new(index);
        let name = escape(&program.thread(thread).name);
        let _ = writeln!(out, "    subgraph cluster_{index} {{\n        label=\"{name}\";");
        for &node in nodes {
            let step = graph.node(node).step;
            let text = texts.get(step.index()).map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "        n{} [label=\"{}: {}\"];", node.0, step.number(), escape(&text));
        }
        out.push_str("    }\n");
    }
    for (from, relation, to, is_in_cycle) in edges(graph, cycle) {
        let _ = writeln!(out, "    n{} -> n{} [{}];", from.0, to.0, attributes(relation, is_in_cycle));
    }
    out.push_str("}\n");
    out
}

/// A cycle in one line: `P0 store x → P0 load y → … → P0 store x`.
pub fn cycle_text(program: &Program, graph: &HappensBefore, cycle: &Cycle) -> String {
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

/// The edges to draw: those that generate the graph, and those of the cycle that follow from them.
fn edges(graph: &HappensBefore, cycle: Option<&Cycle>) -> Vec<(NodeId, Relation, NodeId, bool)> {
    let on_cycle: Vec<_> = cycle.into_iter().flat_map(Cycle::edges).collect();
    let mut edges: Vec<_> =
        graph.edges().into_iter().map(|edge| (edge.0, edge.1, edge.2, on_cycle.contains(&edge))).collect();
    let derived = on_cycle.into_iter().map(|(from, relation, to)| (from, relation, to, true));
    edges.extend(derived);
    edges.sort();
    edges.dedup();
    edges
}

fn attributes(relation: Relation, is_in_cycle: bool) -> String {
    let (color, style) = match relation {
        Relation::ProgramOrder => ("black", "solid"),
        Relation::StoreOrder => ("blue", "dashed"),
        Relation::Source => ("darkgreen", "solid"),
        Relation::Conflict => ("darkorange", "dotted"),
        Relation::Section => ("purple", "dashed"),
    };
    let highlight = if is_in_cycle { ", color=red, fontcolor=red, penwidth=2.5" } else { "" };
    let color = if is_in_cycle { String::new() } else { format!(", color={color}, fontcolor={color}") };
    format!("label=\"{}\", style={style}{color}{highlight}", relation.name())
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
