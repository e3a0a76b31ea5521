//! A cycle of happens-before as a picture: one column per thread, its events from top to bottom in program order, an
//! arrow for each step of the cycle, and the store that waited marked.
//!
//! The picture needs no other files: one generic font, no scripts, and its own white ground. Widths of texts are
//! estimated, so columns are made a little wider than needed.

mod layout;

use std::fmt::Write as _;

use weir_ir::Program;
use weir_witness::{Cycle, HappensBefore, NodeId, Relation, Replay};

use self::layout::{Arrow, BOX_HEIGHT, Card, LARGE, Layout, MARGIN, PADDING, SMALL, text_width};
use crate::run::Evidence;
use crate::wording::clean::shorten;
use weir::run_text::step_texts;

/// Longest text in a box, in characters.
const LONGEST: usize = 36;
const INK: &str = "#222222";
const ALARM: &str = "#b00020";

/// The picture of the cycle that makes a run impossible under SC; none if it is possible. `program` must be the one
/// that was replayed.
pub fn cycle(program: &Program, evidence: &Evidence) -> Option<String> {
    let (checked, cycle) = (&evidence.checked, evidence.cycle.as_ref()?);
    Some(svg(program, checked.replay(), checked.happens_before(), cycle))
}

/// The picture of a cycle. `program` must be the one that was replayed, `graph` its trace, `cycle` a cycle of it.
fn svg(program: &Program, replay: &Replay, graph: &HappensBefore, cycle: &Cycle) -> String {
    let texts = step_texts(program, replay);
    let delayed: Vec<(NodeId, NodeId)> =
        cycle.delays(graph).filter(|&(store, load)| graph.is_overtaken(store, load)).collect();
    let card = |id: NodeId| {
        let node = graph.node(id);
        let text = texts.get(node.step.index()).map(ToString::to_string).unwrap_or_default();
        let line = replay.events().get(node.step.index()).map_or(0, |event| event.line(program));
        let waits = delayed.iter().any(|&(store, _)| store == id);
        let remark = match (waits, node.landed) {
            (true, Some(landed)) => format!("line {line}, stays in the buffer until step {}", landed.number()),
            (true, None) => format!("line {line}, stays in the buffer"),
            (false, _) => format!("line {line}"),
        };
        Card { title: format!("{}: {}", node.step.number(), shorten(&text, LONGEST)), remark, is_marked: waits }
    };
    let layout = Layout::new(graph, cycle, card);
    let names = layout.columns.iter().map(|column| shorten(&program.thread(column.thread).name, LONGEST));
    draw(&layout, &names.collect::<Vec<_>>())
}

fn draw(layout: &Layout, names: &[String]) -> String {
    let legend = legend(layout);
    let height = layout.height + 20 * legend.len() as i64 + MARGIN;
    let legend_width = legend.iter().map(|line| text_width(line, SMALL)).max().unwrap_or(0) + 2 * MARGIN;
    let (width, mut out) = (layout.width.max(legend_width), String::new());
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"{LARGE}\" fill=\"{INK}\">\n\
         <title>a happens-before cycle</title>\n\
         <defs>{}{}</defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>",
        marker("arrow", INK),
        marker("alarm", ALARM)
    );
    for (column, name) in layout.columns.iter().zip(names) {
        text(&mut out, column.middle(), MARGIN + 14, "text-anchor=\"middle\" font-weight=\"bold\"", name);
    }
    layout.arrows.iter().for_each(|arrow| path(&mut out, arrow));
    layout.cards().for_each(|(x, y, width, card)| draw_card(&mut out, (x, y), width, card));
    layout.arrows.iter().for_each(|arrow| label(&mut out, arrow));
    for (line, words) in legend.iter().enumerate() {
        text(&mut out, MARGIN, layout.height + 20 * (line as i64 + 1), &format!("font-size=\"{SMALL}\""), words);
    }
    out.push_str("</svg>\n");
    out
}

fn marker(id: &str, color: &str) -> String {
    format!(
        "<marker id=\"{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0L10 5L0 10z\" fill=\"{color}\"/></marker>"
    )
}

fn path(out: &mut String, arrow: &Arrow) {
    let mut points = String::new();
    for (index, (x, y)) in arrow.points.iter().enumerate() {
        let _ = write!(points, "{}{x} {y}", if index == 0 { "M" } else { " L" });
    }
    let (color, marker) = if arrow.is_broken { (ALARM, "alarm") } else { (INK, "arrow") };
    let dashes = if arrow.relation == Relation::ProgramOrder { "" } else { " stroke-dasharray=\"6 4\"" };
    let _ = writeln!(
        out,
        "<path d=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dashes} marker-end=\"url(#{marker})\"/>"
    );
}

/// The name of the relation, on a patch of the ground so that lines do not run through it.
fn label(out: &mut String, arrow: &Arrow) {
    let ((x, y), name) = (arrow.label, arrow.relation.name());
    let width = text_width(name, SMALL) + 4;
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"18\" fill=\"#ffffff\"/>",
        x - width / 2,
        y - 9
    );
    let color = if arrow.is_broken { ALARM } else { INK };
    text(out, x, y + 4, &format!("text-anchor=\"middle\" font-size=\"{SMALL}\" fill=\"{color}\""), name);
}

fn draw_card(out: &mut String, (x, y): (i64, i64), width: i64, card: &Card) {
    let (stroke, fill, thickness) = if card.is_marked { (ALARM, "#fdecee", 3) } else { (INK, "#f6f6f6", 1) };
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\" fill=\"{fill}\" stroke=\"{stroke}\" \
         stroke-width=\"{thickness}\"/>"
    );
    text(out, x + PADDING, y + 20, "", &card.title);
    text(out, x + PADDING, y + 38, &format!("font-size=\"{SMALL}\" fill=\"{stroke}\""), &card.remark);
}

fn text(out: &mut String, x: i64, y: i64, attributes: &str, content: &str) {
    let space = if attributes.is_empty() { "" } else { " " };
    let _ =
        writeln!(out, "<text x=\"{x}\" y=\"{y}\"{space}{attributes} xml:space=\"preserve\">{}</text>", escape(content));
}

/// What the arrows mean, of those that occur.
fn legend(layout: &Layout) -> Vec<&'static str> {
    let mut relations: Vec<Relation> = layout.arrows.iter().map(|arrow| arrow.relation).collect();
    relations.sort_unstable();
    relations.dedup();
    let mut lines = vec!["each happens before the next, so without store buffers none of them could come first"];
    lines.extend(relations.into_iter().map(|relation| match relation {
        Relation::ProgramOrder => "program order: the thread executes it earlier (red: the store was delayed)",
        Relation::StoreOrder => "store order: both store to the same cell, and this one reaches memory earlier",
        Relation::Source => "source: the load reads what the store wrote",
        Relation::Conflict => "conflict: the load reads what the store then overwrites",
        Relation::Section => "one step: a locked section or a snapshot, as seen by all other threads",
        Relation::Start => "start: the thread is started by it",
    }));
    lines
}

/// The text as XML allows it: markup spelled out, control characters and other characters that XML forbids replaced.
fn escape(content: &str) -> String {
    let mut safe = String::with_capacity(content.len());
    for character in content.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other if other.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
