//! Answers as graphs for Graphviz. An answer without a run is a graph without nodes that says so.

use weir_ir::Program;
use weir_witness::render::dot;

use super::text::plain;
use crate::commands::analysis::Conclusion;
use crate::commands::{reach, robust};
use crate::evidence::Evidence;

/// The answer of `weir reach`.
pub(crate) fn reach(finding: &reach::Finding<'_>) -> String {
    answer(finding.program, &finding.conclusion, || super::reach::first_line(finding))
}

/// The answer of `weir robust`.
pub(crate) fn robust(finding: &robust::Finding<'_>) -> String {
    answer(finding.program, &finding.conclusion, || super::robust::first_line(finding))
}

pub(crate) fn answer(program: &Program, conclusion: &Conclusion, first_line: impl FnOnce() -> String) -> String {
    conclusion.evidence().map_or_else(|| remark(&plain(&first_line())), |evidence| run(program, evidence))
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
