//! Any answer as a graph: the happens-before graph of its run. An answer without a run is a graph without nodes that
//! says so.

use weir_ir::Program;

use super::graph::{dot, escape};
use crate::answer::Answer;
use crate::text::{headline, plain};

/// The answer as a graph.
pub(crate) fn render(answer: &Answer<'_>) -> String {
    if let Some((program, evidence)) = program(answer).zip(answer.evidence()) {
        let checked = &evidence.checked;
        return dot(program, checked.replay(), checked.happens_before(), evidence.cycle.as_ref());
    }
    match answer {
        Answer::Replay(answer) => {
            let complaint = answer.origin.result.as_ref().err().map(|mismatch| mismatch.text("step"));
            remark(&format!("no: {}", complaint.unwrap_or_default()))
        }
        Answer::Certificate(answer) => {
            let complaint = answer.origin.complaint.as_ref();
            remark(&complaint.map_or_else(|| "ok".to_owned(), |complaint| format!("no: {complaint}")))
        }
        other => remark(&plain(&headline(other))),
    }
}

/// The program that a run is of.
fn program<'a>(answer: &'a Answer<'_>) -> Option<&'a Program> {
    match answer {
        Answer::Check(answer) => Some(answer.origin.subject.program),
        Answer::Reach(answer) => Some(answer.origin.subject.program),
        Answer::Robust(answer) => Some(answer.origin.subject.program),
        Answer::Replay(answer) => Some(answer.origin.program),
        _ => None,
    }
}

/// A graph that only says something.
fn remark(text: &str) -> String {
    format!("digraph answer {{\n    label=\"{}\";\n}}\n", escape(text.trim_end()))
}
