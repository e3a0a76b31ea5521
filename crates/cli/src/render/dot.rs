//! Answers as graphs for Graphviz. An answer without a run is a graph without nodes that says so.

use weir_ir::Program;
use weir_witness::render::dot;

use super::reach::{first_line, plain};
use crate::commands::reach::{Conclusion, Finding};
use crate::evidence::Evidence;

/// The answer of `weir reach`.
pub(crate) fn reach(finding: &Finding<'_>) -> String {
    match &finding.conclusion {
        Conclusion::Reachable(evidence) => run(finding.program, evidence),
        _ => remark(&plain(&first_line(finding))),
    }
}

/// A run as its happens-before graph.
pub(crate) fn run(program: &Program, evidence: &Evidence) -> String {
    let checked = &evidence.checked;
    dot(program, checked.replay(), checked.happens_before(), evidence.cycle.as_ref())
}

/// A graph that only says something.
pub(crate) fn remark(text: &str) -> String {
    let text = text.trim_end().replace('\\', "\\\\").replace('"', "\\\"");
    format!("digraph answer {{\n    label=\"{text}\";\n}}\n")
}
