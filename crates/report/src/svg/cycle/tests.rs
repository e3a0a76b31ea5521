use super::layout::{Arrow, Layout};
use super::*;
use weir_ir::Instruction;
use weir_witness::Model;

use crate::testing::{Random, X, Y, Z, accept, load, program, random_program, random_run, sequence, store};

/// The contents of all `text` elements.
fn words(picture: &str) -> Vec<&str> {
    let texts = picture.split("<text ").skip(1);
    texts.filter_map(|text| text.split_once('>')?.1.split_once("</text>").map(|(text, _)| text)).collect()
}

fn store_buffering() -> Program {
    let thread = |mine, other| sequence(vec![store(mine, 1), load(0, other)]);
    program(vec![thread(X, Y), thread(Y, X)])
}

fn picture(program: &Program) -> String {
    let replay = accept(program, Model::Tso, "0 0 1 1f 1 0f");
    let graph = HappensBefore::new(&replay);
    svg(program, &replay, &graph, &graph.cycle().expect("a cycle"))
}

#[test]
fn store_buffering_is_drawn_with_the_store_that_waits() {
    let picture = picture(&store_buffering());
    let words = words(&picture);
    assert_eq!(words[..2], ["P0", "P1"]);
    for part in ["1: x = 1", "line 1, stays in the buffer until step 6", "2: r = y  reads 0", "3: y = 1", "conflict"] {
        assert!(words.contains(&part), "{part} in {words:?}");
    }
    assert_eq!(picture.matches("stroke-width=\"3\"").count(), 1, "one box is marked");
    assert_eq!(picture.matches("url(#alarm)").count(), 1, "one arrow is marked");
    assert_eq!(picture.matches("marker-end").count(), 4);
}

/// Pictures are data: `WEIR_BLESS=1` accepts what is drawn now; look at them before you commit.
fn assert_picture(name: &str, program: &Program, script: &str) {
    let replay = accept(program, Model::Tso, script);
    let graph = HappensBefore::new(&replay);
    let picture = svg(program, &replay, &graph, &graph.cycle().expect("a cycle"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/svg/cycle/tests").join(name);
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&path, &picture).expect("it can be written");
    }
    assert_eq!(picture, std::fs::read_to_string(&path).expect("the picture is there"), "{name}");
}

#[test]
fn pictures_look_as_they_did() {
    assert_picture("store-buffering.svg", &store_buffering(), "0 0 1 1f 1 0f");
    let reader = sequence(vec![load(0, Y), load(1, X)]);
    let three = program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1)]), reader]);
    assert_picture("three-threads.svg", &three, "0 0 1 1f 2 2");
    let section = sequence(vec![Instruction::Lock, load(0, Z), store(Y, 1), Instruction::Unlock]);
    let locked = program(vec![section, sequence(vec![store(Z, 1), load(0, Y)])]);
    assert_picture("section.svg", &locked, "1 1 0 0 0 0f 0 1f");
}

#[test]
fn letters_that_may_be_wide_are_given_room_for_two() {
    assert_eq!(text_width("abc", 100), 3 * 64);
    assert_eq!(text_width("aé字", 100), 5 * 64);
}

#[test]
fn names_cannot_break_the_picture() {
    let mut program = store_buffering();
    program.threads[0].name = "</text><script>&\"\u{1}\u{ffff}\n".into();
    program.threads[1].name = "é".repeat(1000);
    let picture = picture(&program);
    assert_eq!(words(&picture)[0], "&lt;/text&gt;&lt;script&gt;&amp;&quot;\u{fffd}\u{fffd}\u{fffd}");
    assert!(!picture.contains("<script") && picture.len() < 10_000);
    assert_eq!(picture.matches("<text ").count(), picture.matches("</text>").count());
}

/// Whether a stretch of an arrow runs through the inside of a box. Slanted ones stay between two columns, which is
/// enough: nothing is drawn there.
fn hits((from, to): ((i64, i64), (i64, i64)), (x, y, width): (i64, i64, i64)) -> bool {
    let overlaps = |a: i64, b: i64, low: i64, high: i64| a.min(b) < high && a.max(b) > low;
    overlaps(from.0, to.0, x, x + width) && overlaps(from.1, to.1, y, y + BOX_HEIGHT)
}

fn check(layout: &Layout) {
    let boxes: Vec<(i64, i64, i64)> = layout.cards().map(|(x, y, width, _)| (x, y, width)).collect();
    for (at, one) in boxes.iter().enumerate() {
        assert!(one.0 >= 0 && one.1 >= 0 && one.0 + one.2 <= layout.width && one.1 + BOX_HEIGHT <= layout.height);
        for other in &boxes[..at] {
            let apart = one.0 + one.2 <= other.0 || other.0 + other.2 <= one.0 || (one.1 - other.1).abs() >= BOX_HEIGHT;
            assert!(apart, "{one:?} {other:?}");
        }
    }
    for Arrow { points, label, .. } in &layout.arrows {
        assert!(points.len() >= 2);
        for (x, y) in points.iter().chain([label]) {
            assert!((0..=layout.width).contains(x) && (0..=layout.height).contains(y), "({x}, {y})");
        }
        for stretch in points.windows(2) {
            let crossed = boxes.iter().find(|&&found| hits((stretch[0], stretch[1]), found));
            assert!(crossed.is_none(), "{points:?} {crossed:?}");
        }
    }
}

/// One column for each thread, with its events from top to bottom; each arrow from the box of its event to that of the
/// next.
fn assert_boxes_and_arrows_belong_together(graph: &HappensBefore, cycle: &Cycle, layout: &Layout) {
    let cards: Vec<(i64, i64, i64, NodeId)> = layout
        .cards()
        .map(|(x, y, width, card)| (x, y, width, NodeId(card.title.parse().expect("a number"))))
        .collect();
    assert_eq!(cards.len(), cycle.links().len());
    for one in &cards {
        let thread = graph.node(one.3).thread;
        let column = layout.columns.iter().find(|column| column.thread == thread).expect("a column");
        assert_eq!(column.middle(), one.0 + one.2 / 2);
        for other in cards.iter().filter(|other| graph.node(other.3).thread == thread) {
            assert_eq!(one.0, other.0, "one column for a thread");
            assert_eq!(one.1 < other.1, one.3 < other.3, "in program order");
        }
    }
    let card = |id: NodeId| cards.iter().find(|card| card.3 == id).expect("a box");
    let touches = |(x, y): (i64, i64), &(left, top, width, _): &(i64, i64, i64, NodeId)| {
        let on_side = (x == left || x == left + width) && (top..=top + BOX_HEIGHT).contains(&y);
        on_side || (y == top || y == top + BOX_HEIGHT) && (left..=left + width).contains(&x)
    };
    for ((from, relation, to), arrow) in cycle.edges().zip(&layout.arrows) {
        let (first, last) = (arrow.points[0], arrow.points[arrow.points.len() - 1]);
        assert!(touches(first, card(from)) && touches(last, card(to)), "{from:?} {to:?} {:?}", arrow.points);
        assert_eq!(arrow.relation, relation);
        let is_delay = cycle.delays(graph).any(|delay| delay == (from, to));
        assert_eq!(arrow.is_broken, is_delay && graph.is_overtaken(from, to));
    }
}

#[test]
fn every_event_of_a_cycle_is_told_and_every_store_that_waited_is_marked() {
    let mut random = Random(9);
    let mut cycles = 0;
    for _ in 0..1_500 {
        let program = random_program(&mut random);
        let run = random_run(&program, Model::Tso, &mut random, 16);
        let replay = weir_witness::replay(&program, &run).expect("the steps are possible");
        let graph = HappensBefore::new(&replay);
        let Some(cycle) = graph.cycle() else { continue };
        cycles += 1;
        let picture = svg(&program, &replay, &graph, &cycle);
        let (words, texts) = (words(&picture), step_texts(&program, &replay));
        let delays: Vec<_> = cycle.delays(&graph).filter(|&(store, load)| graph.is_overtaken(store, load)).collect();
        let stores: std::collections::BTreeSet<_> = delays.iter().map(|delay| delay.0).collect();
        assert_eq!(picture.matches("stroke-width=\"3\"").count(), stores.len());
        assert_eq!(picture.matches("url(#alarm)").count(), delays.len());
        for &(id, relation) in cycle.links() {
            let node = graph.node(id);
            let title = format!("{}: {}", node.step.number(), shorten(&texts[node.step.index()].to_string(), LONGEST));
            let at =
                words.iter().position(|word| *word == escape(&title)).unwrap_or_else(|| panic!("{title}: {words:?}"));
            let line = replay.events()[node.step.index()].line(&program);
            let remark = match node.landed.filter(|_| stores.contains(&id)) {
                Some(landed) => format!("line {line}, stays in the buffer until step {}", landed.number()),
                None if stores.contains(&id) => format!("line {line}, stays in the buffer"),
                None => format!("line {line}"),
            };
            assert_eq!(words[at + 1], remark, "{words:?}");
            assert!(words.contains(&relation.name()), "{words:?}");
            let explained = format!("{}: ", relation.name());
            assert!(words.iter().any(|word| word.starts_with(&explained)), "{words:?}");
            assert!(words.contains(&program.thread(node.thread).name.as_str()));
        }
        let relations: std::collections::BTreeSet<_> = cycle.links().iter().map(|(_, relation)| *relation).collect();
        let legend =
            words.iter().filter(|word| word.contains(": ") && !word.starts_with(|first: char| first.is_ascii_digit()));
        assert_eq!(legend.count(), relations.len(), "{words:?}");
    }
    assert!(cycles > 30, "only {cycles} cycles");
}

#[test]
fn boxes_lie_apart_and_arrows_go_around_them() {
    let mut random = Random(7);
    let mut cycles = 0;
    for _ in 0..3_000 {
        let program = random_program(&mut random);
        let run = random_run(&program, Model::Tso, &mut random, 40);
        let replay = weir_witness::replay(&program, &run).expect("the steps are possible");
        let graph = HappensBefore::new(&replay);
        let Some(cycle) = graph.cycle() else { continue };
        cycles += 1;
        let card = |_| Card { title: "a title".into(), remark: "a remark".into(), is_marked: false };
        let layout = Layout::new(&graph, &cycle, card);
        assert_eq!(layout.arrows.len(), cycle.links().len());
        assert!(layout.arrows.iter().any(|arrow| arrow.is_broken), "some order was lost");
        check(&layout);
        let numbered =
            Layout::new(&graph, &cycle, |id| Card { title: id.0.to_string(), remark: String::new(), is_marked: false });
        assert_boxes_and_arrows_belong_together(&graph, &cycle, &numbered);
    }
    assert!(cycles > 100, "only {cycles} cycles");
}
