//! Every node and every arrow of the graph against the trace.

use std::collections::BTreeSet;

use super::*;
use crate::testing::{Random, family, random_program, random_run};
use weir::run_text::step_texts;
use weir_witness::replay;

/// An arrow of the text: from, how, to, and whether it is of the cycle.
fn arrow(line: &str) -> Option<(u32, String, u32, bool)> {
    let (nodes, attributes) = line.trim().strip_suffix("];")?.split_once(" [label=\"")?;
    let (from, to) = nodes.split_once(" -> ")?;
    let number = |node: &str| node.strip_prefix('n')?.parse().ok();
    let (label, style) = attributes.split_once('"')?;
    Some((number(from)?, label.to_owned(), number(to)?, style.contains("color=red") && style.contains("penwidth")))
}

fn compare(program: &weir_ir::Program, model: Model, random: &mut Random) -> bool {
    let replay = replay(program, &random_run(program, model, random, 12)).expect("the run is possible");
    let graph = HappensBefore::new(&replay);
    let cycle = graph.cycle();
    let text = dot(program, &replay, &graph, cycle.as_ref());
    let on_cycle: BTreeSet<_> = cycle.iter().flat_map(Cycle::edges).collect();
    let all: BTreeSet<_> = graph.edges().into_iter().chain(on_cycle.iter().copied()).collect();
    let expected: BTreeSet<_> =
        all.iter().map(|edge| (edge.0.0, edge.1.name().to_owned(), edge.2.0, on_cycle.contains(edge))).collect();
    let arrows: Vec<_> = text.lines().filter_map(arrow).collect();
    assert_eq!(arrows.iter().cloned().collect::<BTreeSet<_>>(), expected, "\n{text}");
    assert_eq!(arrows.len(), expected.len(), "each arrow once\n{text}");
    let texts = step_texts(program, &replay);
    let mut thread = None;
    let mut nodes = 0;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("subgraph cluster_") {
            thread = rest.strip_suffix(" {").and_then(|number| number.parse::<u32>().ok());
        } else if line.starts_with('n') && !line.contains("->") && !line.starts_with("node") {
            let (name, label) = line.split_once(" [label=\"").expect("a node");
            let node = graph.node(NodeId(name[1..].parse().expect("a number")));
            assert_eq!(Some(node.thread.0), thread, "\n{text}");
            let step = node.step.number();
            assert_eq!(label, format!("{step}: {}\"];", texts[node.step.index()]), "\n{text}");
            nodes += 1;
        } else if let Some(label) = line.strip_prefix("label=\"") {
            let thread = ThreadId(thread.expect("a cluster"));
            assert_eq!(label, format!("{}\";", program.thread(thread).name));
        }
    }
    assert_eq!(nodes, graph.nodes().len(), "\n{text}");
    let movers = graph.threads().iter().filter(|nodes| !nodes.is_empty()).count();
    assert_eq!(text.matches("subgraph").count(), movers, "\n{text}");
    cycle.is_some()
}

#[test]
fn every_node_and_every_relation_is_drawn_and_nothing_else() {
    let mut random = Random(8);
    let mut cyclic = 0;
    for (number, program) in family::programs().into_iter().step_by(4).enumerate() {
        compare(&program, [Model::Sc, Model::Tso][number % 2], &mut random);
    }
    for _ in 0..400 {
        let program = random_program(&mut random);
        cyclic += usize::from(compare(&program, Model::Tso, &mut random));
    }
    assert!(cyclic > 5, "{cyclic} cycles");
}
