use super::*;
use crate::run::cycle_text::cycle_text;
use crate::testing::*;
use weir_witness::Model;

mod edges;

#[test]
fn store_buffering_is_drawn_with_its_cycle_highlighted() {
    let program = program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(1, X)])]);
    let replay = accept(&program, Model::Tso, "0 0 1 1f 1 0f");
    let graph = HappensBefore::new(&replay);
    let cycle = graph.cycle();
    let expected = r#"digraph happens_before {
    node [shape=box, fontname="monospace"];
    subgraph cluster_0 {
        label="P0";
        n0 [label="1: x = 1"];
        n1 [label="2: r = y  reads 0"];
    }
    subgraph cluster_1 {
        label="P1";
        n2 [label="3: y = 1"];
        n3 [label="5: s = x  reads 0"];
    }
    n0 -> n1 [label="program order", style=solid, color=red, fontcolor=red, penwidth=2.5];
    n1 -> n2 [label="conflict", style=dotted, color=red, fontcolor=red, penwidth=2.5];
    n2 -> n3 [label="program order", style=solid, color=red, fontcolor=red, penwidth=2.5];
    n3 -> n0 [label="conflict", style=dotted, color=red, fontcolor=red, penwidth=2.5];
}
"#;
    assert_eq!(dot(&program, &replay, &graph, cycle.as_ref()), expected);
}

#[test]
fn every_relation_has_a_style_and_edges_of_the_cycle_that_follow_from_others_are_added() {
    let first = sequence(vec![store(X, 1), load(0, Z), load(0, Y)]);
    let program = program(vec![first, sequence(vec![store(Y, 1), load(1, X), store(X, 2), load(0, X)])]);
    let replay = accept(&program, Model::Tso, "0 0 0 1 1 1 1f 0f 1f 1");
    let graph = HappensBefore::new(&replay);
    let cycle = graph.cycle().unwrap();
    let text = dot(&program, &replay, &graph, Some(&cycle));
    assert_eq!(cycle_text(&program, &graph, &cycle), "P0 store x → P0 load y → P1 store y → P1 load x → P0 store x");
    for line in [
        "n0 -> n1 [label=\"program order\", style=solid, color=black, fontcolor=black];",
        "n0 -> n2 [label=\"program order\", style=solid, color=red, fontcolor=red, penwidth=2.5];",
        "n0 -> n5 [label=\"store order\", style=dashed, color=blue, fontcolor=blue];",
        "n5 -> n6 [label=\"source\", style=solid, color=darkgreen, fontcolor=darkgreen];",
        "n4 -> n0 [label=\"conflict\", style=dotted, color=red, fontcolor=red, penwidth=2.5];",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn names_cannot_break_out_of_their_quotes() {
    let mut program = program(vec![sequence(vec![store(X, 1)])]);
    program.threads[0].name = "a\"];\n\\".into();
    let replay = accept(&program, Model::Sc, "0");
    let text = dot(&program, &replay, &HappensBefore::new(&replay), None);
    assert!(text.contains("label=\"a\\\"];\\n\\\\\";"), "{text}");
}
