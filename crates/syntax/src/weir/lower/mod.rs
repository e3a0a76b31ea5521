//! Syntax trees to programs: names are resolved, threads replicated, procedures inlined, statements
//! turned into steps.
//!
//! Everything that is wrong is reported, and lowering goes on with something harmless in its place, so
//! that one run shows all errors. What cannot be lowered is refused; nothing is approximated.

mod builder;
mod calls;
mod check;
mod conditions;
mod constants;
mod costs;
mod elements;
mod expressions;
mod graph;
mod inlined_size;
mod memory;
mod name_errors;
mod names;
mod others;
mod places;
mod properties;
mod registers;
mod scopes;
mod silent;
mod size;
mod snapshot;
mod statements;
mod threads;
mod unused;
mod wait;

use std::collections::HashSet;

use weir_ir::{Poll, Program, Source};

use super::Options;
use super::ast::File;
use super::sink::Sink;
use builder::Budget;
use names::{Globals, Used};
use properties::Observer;

/// Lowers a file. Only if nothing was reported as an error, and the poll is not over, is the program of any use.
pub(super) fn lower<'a>(
    file: &'a File<'a>,
    source: &Source,
    options: &Options,
    marks_fence_places: bool,
    reserved: &HashSet<&'a str>,
    sink: &mut Sink,
    poll: &Poll<'_>,
) -> Program {
    let mut used = Used::default();
    let mut globals = Globals::collect(file, sink);
    globals.marks_fence_places = marks_fence_places;
    constants::evaluate(file, options, &mut globals, &mut used, sink);
    memory::lay_out(file, &mut globals, &mut used, sink);
    threads::prepare(file, &mut globals, &mut used, sink);
    let budget = if inlined_size::fits(&globals, sink) { Budget::default() } else { Budget::exhausted() };
    let bodies = threads::lower(&globals, reserved, budget, &mut used, sink, poll);
    let thread_labels = costs::thread_labels(&globals);
    let mut observer =
        Observer { globals: &globals, views: &bodies.views, sink, used: &mut used, thread_labels, observations: 0 };
    let properties = file.properties.iter().take_while(|_| !poll.is_over());
    let properties = properties.flat_map(|property| observer.property(property)).collect();
    let costs = file.costs.iter().filter_map(|cost| observer.cost(cost)).collect();
    unused::warn(file, &globals, &used, sink);
    let constants = globals.constants.iter();
    Program {
        source: source.clone(),
        constants: constants
            .map(|&(name, value)| (name.text.to_string(), value.unwrap_or(0)))
            .chain(globals.given_copies.iter().flatten().cloned())
            .collect(),
        options: Vec::new(),
        shared: globals.shared,
        threads: bodies.threads,
        procedures: bodies.procedures,
        properties,
        costs,
    }
}
