//! The trace of a run as a graph in DOT.

use std::fmt::Write as _;

use weir_ir::{Program, ThreadId};
use weir_witness::{Cycle, HappensBefore, NodeId, Relation, Replay};

use weir::run_text::step_texts;

/// The happens-before graph of a replayed run in DOT: a cluster for each thread, an arrow for each relation,
/// those of `cycle` highlighted. `program` must be the one that was replayed, `graph` its trace.
pub(super) fn dot(program: &Program, replay: &Replay, graph: &HappensBefore, cycle: Option<&Cycle>) -> String {
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

/// The edges to draw: those that generate the graph, and those of the cycle that follow from them.
fn edges(graph: &HappensBefore, cycle: Option<&Cycle>) -> Vec<(NodeId, Relation, NodeId, bool)> {
    let on_cycle: Vec<_> = cycle.into_iter().flat_map(Cycle::edges).collect();
    let mut edges: Vec<_> =
        graph.edges().into_iter().map(|edge| (edge.0, edge.1, edge.2, on_cycle.contains(&edge))).collect();
    let derived = on_cycle.into_iter().map(|(from, relation, to)| (from, relation, to, true));
    edges.extend(derived);
    edges.sort_unstable();
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
        Relation::Start => ("gray40", "solid"),
    };
    let highlight = if is_in_cycle { ", color=red, fontcolor=red, penwidth=2.5" } else { "" };
    let color = if is_in_cycle { String::new() } else { format!(", color={color}, fontcolor={color}") };
    format!("label=\"{}\", style={style}{color}{highlight}", relation.name())
}

pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
