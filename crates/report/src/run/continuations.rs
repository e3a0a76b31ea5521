//! What is left to happen after a run, for properties about what can still happen.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_ir::{Address, Gather, Instruction, LocId, Program, ThreadId, Value};
use weir_witness::Continuations;

use crate::wording::clean::clip;
use crate::wording::units::counted;

/// What holds in every state that can follow the last one, which is itself among them.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContinuationsRecord {
    /// The number of these states. All of them were visited by a separate interpreter.
    pub states: u64,
    /// Whether buffers were over-approximated as sets, since they can grow without bound.
    pub approximate: bool,
    /// Whether states that differ only in values on which nothing depends were counted as one, since they are too many
    /// otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_values: bool,
    /// The thread that is stuck, if the property is `forbid stuck`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// The line at which it waits, or at which the loop begins that it cannot leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where the threads are in these states.
    pub threads: Vec<ThreadPlaces>,
    /// Cells that threads access there, and that never change.
    pub cells: Vec<ConstantCell>,
}

/// Where a thread is in the states that can follow.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadPlaces {
    /// The thread.
    pub thread: String,
    /// Whether it is done in all of them.
    pub done: bool,
    /// The lines at which it is, ascending; none if it is done.
    pub lines: Vec<u32>,
    /// What it waits for, if it never moves: the instruction that it cannot execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// A cell that never changes.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConstantCell {
    /// The cell.
    pub cell: String,
    /// What it holds.
    pub value: Value,
}

impl ContinuationsRecord {
    /// In terms of the program.
    pub(crate) fn new(program: &Program, found: &Continuations) -> Self {
        let thread = |(&thread, visited): (&ThreadId, &BTreeSet<LocId>)| thread_places(program, thread, visited);
        let accessed: BTreeSet<Address> =
            found.visited.iter().flat_map(|(&thread, visited)| accessed(program, thread, visited)).gather();
        let cells = found.constant_cells.iter().filter(|(address, _)| accessed.contains(address));
        let region = found.region.as_ref();
        Self {
            states: found.states as u64,
            approximate: found.is_approximate,
            without_values: found.is_without_values,
            stuck: region.map(|region| program.thread(region.thread).name.clone()),
            line: region.map(|region| line(program, region.thread, region.entry)),
            threads: found.visited.iter().map(thread).collect(),
            cells: cells.map(|(&cell, &value)| ConstantCell { cell: program.cell_name(cell), value }).collect(),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = match (&self.stuck, self.line) {
            (Some(thread), Some(line)) => format!("\nno way out: {thread} never gets past line {line} again"),
            _ => "\nno way back: the condition can never hold again".to_owned(),
        };
        let buffers = if self.approximate { ", with buffers over-approximated as sets" } else { "" };
        let values = if self.without_values { ", up to values on which nothing depends" } else { "" };
        text += &match self.states {
            1 if !self.without_values => " (no other state can follow)\n".to_owned(),
            1 => " (all states that can follow are alike, up to values on which nothing depends)\n".to_owned(),
            states => format!(" (all {} that can follow were visited{buffers}{values})\n", counted(states, "state")),
        };
        let width = self.threads.iter().map(|one| one.thread.chars().count()).max().unwrap_or(0);
        for one in &self.threads {
            text += &format!("  {:width$}  {}\n", one.thread, one.text());
        }
        if !self.cells.is_empty() {
            let cells: Vec<String> = self.cells.iter().map(|cell| format!("{} = {}", cell.cell, cell.value)).collect();
            text += &format!("  from now on  {}\n", clip(&cells.join("  "), 200));
        }
        text
    }
}

impl ThreadPlaces {
    fn text(&self) -> String {
        match (&self.waits, &self.lines[..]) {
            _ if self.done => "is done".to_owned(),
            (Some(waits), [line]) => format!("waits at line {line}: `{waits}`"),
            (_, [line]) => format!("stays at line {line}"),
            (_, [first, .., last]) if self.lines.len() > 6 => format!("stays within lines {first} to {last}"),
            (_, lines) => {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                format!("stays at lines {}", lines.join(", "))
            }
        }
    }
}

fn thread_places(program: &Program, thread: ThreadId, visited: &BTreeSet<LocId>) -> ThreadPlaces {
    let body = program.body(thread);
    let done = visited.iter().all(|&loc| body.is_done(loc));
    let lines: BTreeSet<u32> = visited.iter().map(|&loc| line(program, thread, loc)).gather();
    let mut only = visited.iter().filter(|_| visited.len() == 1);
    let waits = only.next().and_then(|&loc| waits_for(program, thread, loc));
    let lines = if done { Vec::new() } else { lines.into_iter().collect() };
    ThreadPlaces { thread: program.thread(thread).name.clone(), done, lines, waits }
}

/// The instruction that a thread cannot execute at a location that it never leaves.
fn waits_for(program: &Program, thread: ThreadId, loc: LocId) -> Option<String> {
    let mut edges = program.body(thread).edges_from(loc);
    let (id, edge) = edges.find(|(_, edge)| edge.to != loc)?;
    let written = program.source.slice(edge.span).trim_end_matches(';');
    let is_short = !written.is_empty() && !written.contains('\n');
    Some(clip(&if is_short { written.to_owned() } else { program.instruction_text(thread, id) }, 80))
}

/// The line of what a thread does next at a location.
fn line(program: &Program, thread: ThreadId, loc: LocId) -> u32 {
    let body = program.body(thread);
    let span = body.edges_from(loc).next().map_or(body.locations[loc.index()].span, |(_, edge)| edge.span);
    program.source.line(span)
}

/// The cells with constant addresses that a thread accesses at these locations.
fn accessed(program: &Program, thread: ThreadId, visited: &BTreeSet<LocId>) -> Vec<Address> {
    let body = program.body(thread);
    let edges = visited.iter().flat_map(|&loc| body.edges_from(loc).map(|(_, edge)| &edge.instruction));
    edges.flat_map(Instruction::accesses).filter_map(weir_ir::Expr::constant).collect()
}
