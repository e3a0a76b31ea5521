//! What looks wrong although the program is well formed: a model can be right by accident, say because it
//! never gets far enough to be wrong. Warnings are probably mistakes; notes are worth knowing.
//!
//! Reports come from flow facts, so what is called impossible is impossible in every run under SC and TSO;
//! what is said to be possible may still never happen. A statement that was copied (replicated threads,
//! inlined procedures) counts as impossible only if every copy of it is.

mod locks;
mod reach;
mod registers;
mod statements;
#[cfg(test)]
mod tests;
mod values;

use self::statements::Statements;
use crate::diagnostic::Diagnostic;
use crate::flow::{BodyRanges, Cfg, Ranges, RegisterSet, observed_registers};
use crate::ids::{ProcId, ThreadId};
use crate::interrupt::{Interrupt, Uninterrupted};
use crate::program::{Body, Instruction, Multiplicity, Program};
use crate::sort::sort_by;
use crate::span::Span;

/// Everything that looks wrong with a program that [`validate`](crate::validate()) has no errors for, in order
/// of the source.
pub fn lint(program: &Program) -> Vec<Diagnostic> {
    lint_until(program, &Uninterrupted)
}

/// As [`lint`]. If it ends early, nothing is reported.
pub fn lint_until(program: &Program, interrupt: &dyn Interrupt) -> Vec<Diagnostic> {
    let ranges = Ranges::of_until(program, interrupt);
    if interrupt.is_over() {
        return Vec::new();
    }
    let units = units(program, &ranges);
    let statements = Statements::of(&units);
    let mut found = threads(program);
    found.extend(registers::read_before_set(&units));
    found.extend(registers::unused(&units));
    found.extend(reach::unreachable(&units, &statements));
    found.extend(reach::never_taken(&units, &statements));
    found.extend(values::divisors(&units, &statements));
    found.extend(values::array_bounds(program, &units, &statements));
    found.extend(values::blocked_stores(program, &ranges, &units, &statements));
    found.extend(locks::misuse(program, &units));
    sort_by(&mut found, |a, b| sort_key(a).cmp(&sort_key(b)));
    found.dedup();
    found
}

fn sort_key(diagnostic: &Diagnostic) -> (Span, &'static str, &str) {
    (diagnostic.primary.span, diagnostic.code, &diagnostic.message)
}

/// A body with what is known about it.
struct Unit<'p> {
    body: &'p Body,
    cfg: Cfg,
    ranges: &'p BodyRanges,
    /// Registers that properties observe.
    observed: RegisterSet,
    /// Registers that hold arguments at the entry.
    parameters: RegisterSet,
}

/// The bodies of all threads, and of the procedures they call.
fn units<'p>(program: &'p Program, ranges: &'p Ranges) -> Vec<Unit<'p>> {
    let thread = |id: ThreadId| {
        let body = program.body(id);
        let observed = observed_registers(program, id);
        Unit { body, cfg: Cfg::of(body), ranges: ranges.thread(id), observed, parameters: RegisterSet::new() }
    };
    let procedure = |at: usize| {
        let procedure = &program.procedures[at];
        let (body, ranges) = (&procedure.body, ranges.procedure(ProcId::new(at))?);
        let parameters = procedure.parameters.iter().copied().collect();
        Some(Unit { body, cfg: Cfg::of(body), ranges, observed: RegisterSet::new(), parameters })
    };
    program.thread_ids().map(thread).chain((0..program.procedures.len()).filter_map(procedure)).collect()
}

/// Threads that do nothing at all.
fn threads(program: &Program) -> Vec<Diagnostic> {
    let bodies = program.threads.iter().map(|thread| &thread.body);
    let bodies = bodies.chain(program.procedures.iter().map(|procedure| &procedure.body));
    let mut is_spawned = vec![false; program.threads.len()];
    for edge in bodies.flat_map(Body::edges) {
        if let Instruction::Spawn(thread) = edge.instruction {
            is_spawned[thread.index()] = true;
        }
    }
    let mut found = Vec::new();
    for (thread, is_spawned) in program.threads.iter().zip(is_spawned) {
        let name = &thread.family.0;
        if thread.body.edges_from(thread.body.entry).len() == 0 {
            let message = format!("thread `{name}` does nothing");
            found.push(Diagnostic::warning("empty-thread", message, thread.span).help("give it a body, or remove it"));
        }
        if thread.multiplicity == Multiplicity::Spawned && !is_spawned {
            let message = format!("thread `{name}` never starts: nothing spawns it");
            let help = format!("start it with `spawn {name};`, or declare it without `[0]`");
            found.push(Diagnostic::warning("never-spawned", message, thread.span).help(help));
        }
    }
    found
}
