//! Control-flow graphs as DOT, for Graphviz: one cluster a thread or procedure, edges labelled with their
//! instructions, labels in bold, an arrow to where control starts, a double ring where it is done, a dashed
//! edge for an assertion that fails. What no path reaches is grey.

use std::fmt::Write as _;

use weir_ir::{Body, Instruction, LocId, Multiplicity, Program, body_instruction_text};

/// The control-flow graphs of a program.
pub fn print(program: &Program) -> String {
    let mut text = String::from("digraph program {\n");
    text.push_str("    node [shape=circle, fontname=\"Helvetica\", fontsize=11];\n");
    text.push_str("    edge [fontname=\"Courier\", fontsize=10];\n");
    for (at, thread) in program.threads.iter().enumerate() {
        let title = match thread.multiplicity {
            Multiplicity::One => format!("thread {}", thread.name),
            Multiplicity::Spawned => format!("thread {}[0]", thread.name),
            Multiplicity::Arbitrary => format!("thread {}[*]", thread.name),
        };
        text.push_str(&cluster(program, &thread.body, &format!("t{at}"), &title));
    }
    for (at, procedure) in program.procedures.iter().enumerate() {
        let title = format!("proc {}", procedure.name);
        text.push_str(&cluster(program, &procedure.body, &format!("p{at}"), &title));
    }
    text.push_str("}\n");
    text
}

/// One body; `id` keeps its nodes apart from those of others.
fn cluster(program: &Program, body: &Body, id: &str, title: &str) -> String {
    let mut text = format!("    subgraph cluster_{id} {{\n        label={};\n", quoted(title));
    let reached = reached(body);
    let _ = writeln!(text, "        {id}_start [shape=point];");
    for loc in body.location_ids() {
        let _ = writeln!(text, "        {id}_{} [{}];", loc.0, node(body, loc, reached[loc.index()]));
    }
    let _ = writeln!(text, "        {id}_start -> {id}_{};", body.entry.0);
    for edge in body.edges() {
        let label = quoted(&body_instruction_text(program, body, &edge.instruction));
        let grey = if reached[edge.from.index()] { "" } else { ", color=gray, fontcolor=gray" };
        let _ = writeln!(text, "        {id}_{} -> {id}_{} [label={label}{grey}];", edge.from.0, edge.to.0);
        if let (Instruction::Assert(_), Some(failed)) = (&edge.instruction, body.failed) {
            let _ = writeln!(text, "        {id}_{} -> {id}_{} [style=dashed, color=red];", edge.from.0, failed.0);
        }
    }
    text.push_str("    }\n");
    text
}

/// The attributes of a location.
fn node(body: &Body, loc: LocId, is_reached: bool) -> String {
    let labels = &body.locations[loc.index()].labels;
    let name = if labels.is_empty() {
        quoted(&loc.0.to_string())
    } else {
        let lines: Vec<String> = labels.iter().map(|label| format!("<b>{}</b>", escaped(label))).collect();
        format!("<{}>", lines.join("<br/>"))
    };
    let shape = if body.failed == Some(loc) {
        ", shape=octagon, color=red, xlabel=\"assertion failed\""
    } else if body.is_done(loc) {
        ", shape=doublecircle"
    } else {
        ""
    };
    let grey = if is_reached { "" } else { ", color=gray, fontcolor=gray" };
    format!("label={name}{shape}{grey}")
}

/// Which locations some path leads to. A failed assertion leads to its place.
fn reached(body: &Body) -> Vec<bool> {
    let mut reached = vec![false; body.locations.len()];
    let mut open = vec![body.entry];
    while let Some(loc) = open.pop() {
        if !std::mem::replace(&mut reached[loc.index()], true) {
            open.extend(body.edges_from(loc).map(|(_, edge)| edge.to));
        }
    }
    if let Some(failed) = body.failed {
        reached[failed.index()] = true;
    }
    reached
}

/// A string of DOT.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Text within an HTML-like label.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use weir_ir::{Edge, Location, Program, Source, Span, Thread};

    use super::*;

    /// One thread: `start` –fence→ done, and a place that nothing leads to.
    fn program(label: &str) -> Program {
        let place = |labels: &[&str]| Location {
            labels: labels.iter().map(ToString::to_string).collect(),
            span: Span::default(),
        };
        let edge =
            |from, to, instruction| Edge { from: LocId(from), to: LocId(to), instruction, span: Span::default() };
        let edges = vec![edge(0, 1, Instruction::Fence), edge(2, 1, Instruction::Skip)];
        let locations = vec![place(&[label]), place(&[]), place(&[])];
        let thread = Thread {
            name: "P\"0".to_string(),
            family: ("P".to_string(), None),
            multiplicity: Multiplicity::One,
            weight: 1,
            body: Body::new(vec![], locations, LocId(0), None, edges),
            span: Span::default(),
        };
        Program { source: Source::default(), threads: vec![thread], ..Program::default() }
    }

    #[test]
    fn a_graph_shows_labels_instructions_start_end_and_dead_code() {
        let expected = r#"digraph program {
    node [shape=circle, fontname="Helvetica", fontsize=11];
    edge [fontname="Courier", fontsize=10];
    subgraph cluster_t0 {
        label="thread P\"0";
        t0_start [shape=point];
        t0_0 [label=<<b>a&lt;b</b>>];
        t0_1 [label="1", shape=doublecircle];
        t0_2 [label="2", color=gray, fontcolor=gray];
        t0_start -> t0_0;
        t0_0 -> t0_1 [label="fence"];
        t0_2 -> t0_1 [label="skip", color=gray, fontcolor=gray];
    }
}
"#;
        assert_eq!(print(&program("a<b")), expected);
    }
}
