//! Syntax trees to programs: each process is a thread, each statement one or a few steps.
//!
//! Everything that is wrong is reported, and lowering goes on with something harmless in its place.

mod atomic;
mod memory;
mod pointers;
mod process;
mod ranges;
mod start;
mod statements;

use std::collections::{HashMap, HashSet};

use weir_ir::{
    BinaryOp, Diagnostic, Expr, LocId, Multiplicity, Poll, Program, Property, PropertyKind, Source, Span, StateAtom,
    StateExpr, Thread, ThreadId, nearest,
};

use self::memory::Memory;
use self::process::Builder;
use super::ast::{File, Name, Process, Row};
use crate::limits::{MAX_EDGES, MAX_THREADS};
use crate::sink::Sink;

/// Lowers a file. Only if nothing was reported as an error, and the poll is not over, is the program of any use.
pub(super) fn lower<'s>(file: &File<'s>, source: &Source, sink: &mut Sink, poll: &Poll<'_>) -> Program {
    let mut program = Program { source: source.clone(), ..Program::default() };
    let Some(processes) = instances(file, sink) else { return program };
    if let Some(span) = file.predicates {
        let message = "`predicates` are hints for Memorax's abstraction; Weir ignores them";
        sink.warning(Diagnostic::warning("no-meaning", message, span));
    }
    let memory = Memory::new(file, &processes);
    let mut labels: Vec<HashMap<&str, LocId>> = Vec::new();
    let mut noted = HashSet::new();
    let mut steps = 0;
    for (number, process) in processes.iter().enumerate().take_while(|_| !poll.is_over()) {
        let (body, places) = Builder::lower(&memory, number, process, &mut noted, sink, poll);
        steps += body.edges().len();
        if steps > MAX_EDGES {
            let message = format!("the program is too large: more than {MAX_EDGES} steps");
            sink.error(Diagnostic::error("program-too-large", message, process.span).help("make it smaller"));
            return program;
        }
        let name = format!("P{number}");
        let family = (name.clone(), None);
        let span = process.span;
        program.threads.push(Thread { name, family, multiplicity: Multiplicity::One, weight: 1, body, span });
        labels.push(places);
    }
    let rows = file.forbidden.iter().filter_map(|row| property(row, &labels, sink));
    program.properties = rows.collect();
    program.threads.extend(start::thread(&memory, sink));
    program.shared = memory.into_shared();
    program
}

/// The processes one by one.
fn instances<'f, 's>(file: &'f File<'s>, sink: &mut Sink) -> Option<Vec<&'f Process<'s>>> {
    let count = file.processes.iter().fold(0, |sum: usize, process| sum.saturating_add(process.count));
    let span = file.processes.first().map_or(Span::default(), |process| process.span);
    if count == 0 || count >= MAX_THREADS {
        let message = format!("the program has {count} processes");
        let help = format!("there must be at least one process, and fewer than {MAX_THREADS}");
        sink.error(Diagnostic::error("number-of-processes", message, span).help(help));
        return None;
    }
    Some(file.processes.iter().flat_map(|process| std::iter::repeat_n(process, process.count)).collect())
}

/// A combination of labels as a property.
fn property(row: &Row<'_>, labels: &[HashMap<&str, LocId>], sink: &mut Sink) -> Option<Property> {
    if row.labels.len() != labels.len() {
        let message = format!("expected one label per process ({}), found {}", labels.len(), row.labels.len());
        let error = Diagnostic::error("wrong-arity", message, row.span);
        sink.error(error.help("give one label per process; `*` stands for any place"));
        return None;
    }
    let mut places = Vec::new();
    for (number, (label, known)) in row.labels.iter().zip(labels).enumerate() {
        let Some(label) = label else { continue };
        match known.get(label.text) {
            Some(&loc) => places.push(StateAtom::At { thread: ThreadId::new(number), locations: vec![loc] }),
            None => sink.error(unknown_label(*label, number, known)),
        }
    }
    let all = places.into_iter().map(StateExpr::Leaf);
    let all = all.reduce(|left, right| Expr::binary(BinaryOp::And, left, right)).unwrap_or(Expr::Const(1));
    Some(Property { kind: PropertyKind::Forbid(all), span: row.span })
}

fn unknown_label(label: Name<'_>, number: usize, known: &HashMap<&str, LocId>) -> Diagnostic {
    let message = format!("process P{number} has no label `{}`", label.text);
    let error = Diagnostic::error("unknown-label", message, label.span);
    let help = match nearest(label.text, known.keys().copied()) {
        Some(guess) => format!("did you mean `{guess}`?"),
        None => "labels are listed in the order in which the processes are declared, from P0".to_string(),
    };
    error.help(help)
}
