//! Whether a program is well formed, whichever front end, pass or file it came from. What has no errors
//! here can be handed to any analysis: no index is out of bounds, no expression is too deep for recursion,
//! and control flow is what the instructions promise.
//!
//! Errors point at the source where there is one. Passes that make programs up use this as their check.

mod bodies;
#[cfg(test)]
mod tests;

use self::bodies::check_bodies;
use crate::diagnostic::Diagnostic;
use crate::expr::{Expr, Value};
use crate::program::{Multiplicity, Program, Range, Shared, StateAtom};
use crate::sort::sort_by_key;
use crate::span::Span;
use std::collections::HashMap;

/// How deep an expression may be, so that recursion over it is safe on any thread's stack.
pub const MAX_EXPRESSION_DEPTH: usize = 512;

/// Everything that is wrong with a program, in order of the source.
pub fn validate(program: &Program) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    check_names(program, &mut errors);
    check_shared(program, &mut errors);
    check_threads(program, &mut errors);
    check_bodies(program, &mut errors);
    check_properties(program, &mut errors);
    sort_by_key(&mut errors, |error| error.primary.span);
    errors
}

/// Two things of one kind must not share a name: messages, properties and files tell them apart by it.
fn check_names(program: &Program, errors: &mut Vec<Diagnostic>) {
    let shared = program.shared.iter().map(|shared| (shared.name.as_str(), shared.span));
    let threads = program.threads.iter().map(|thread| (thread.name.as_str(), thread.span));
    let procedures = program.procedures.iter().map(|procedure| (procedure.name.as_str(), procedure.span));
    let constants = program.constants.iter().map(|(name, _)| (name.as_str(), Span::default()));
    unique("shared cells", shared, errors);
    unique("threads", threads, errors);
    unique("procedures", procedures, errors);
    unique("constants", constants, errors);
}

/// Reports every name that was there before.
fn unique<'p>(kind: &str, names: impl Iterator<Item = (&'p str, Span)>, errors: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for (name, span) in names {
        if let Some(&first) = seen.get(name) {
            let error = Diagnostic::error("duplicate-name", format!("two {kind} have the same name `{name}`"), span);
            errors.push(error.also(first, "the first one").help("rename one of them"));
        } else {
            seen.insert(name, span);
        }
    }
}

fn check_shared(program: &Program, errors: &mut Vec<Diagnostic>) {
    for shared in &program.shared {
        check_cells(shared, errors);
        if let Some(range) = shared.range {
            check_range(range, shared.span, errors);
            check_initial(shared, range, errors);
        }
        if let Some(width) = shared.width {
            check_initial(shared, width.range(), errors);
            if shared.range.is_some() {
                let message = format!("`{}` has a range and a width", shared.name);
                errors.push(Diagnostic::error("range-and-width", message, shared.span).help("remove one of the two"));
            }
        }
    }
    check_overlap(&program.shared, errors);
}

fn check_cells(shared: &Shared, errors: &mut Vec<Diagnostic>) {
    let name = &shared.name;
    if shared.initial.is_empty() {
        let error = Diagnostic::error("no-cells", format!("`{name}` has no cells"), shared.span);
        errors.push(error.help("give it at least one cell, or remove it"));
    } else if !shared.is_array && shared.initial.len() > 1 {
        let message = format!("`{name}` is not an array, but has {} cells", shared.initial.len());
        errors.push(Diagnostic::error("not-an-array", message, shared.span).help("declare it as an array"));
    } else if last_address(shared).is_none() {
        let message = format!("`{name}` extends beyond the highest address");
        errors.push(Diagnostic::error("out-of-addresses", message, shared.span).help("choose a lower address"));
    }
}

/// The address of the last cell, if the cells fit.
fn last_address(shared: &Shared) -> Option<Value> {
    let beyond_first = Value::try_from(shared.initial.len().checked_sub(1)?).ok()?;
    shared.address.checked_add(beyond_first)
}

fn check_range(range: Range, span: Span, errors: &mut Vec<Diagnostic>) {
    if range.low > range.high {
        let message = format!("the range {}..{} is empty", range.low, range.high);
        errors.push(Diagnostic::error("empty-range", message, span).help("write the smaller value first"));
    }
}

fn check_initial(shared: &Shared, range: Range, errors: &mut Vec<Diagnostic>) {
    let outside = shared.initial.iter().find(|&&value| range.low <= range.high && !range.contains(value));
    if let Some(value) = outside {
        let message = format!(
            "the initial value of `{}` is {value}, outside its range {}..{}",
            shared.name, range.low, range.high
        );
        errors.push(Diagnostic::error("initial-value", message, shared.span).help("change the range or the value"));
    }
}

fn check_overlap(shared: &[Shared], errors: &mut Vec<Diagnostic>) {
    let mut placed: Vec<(Value, Value, &Shared)> =
        shared.iter().filter_map(|shared| Some((shared.address, last_address(shared)?, shared))).collect();
    sort_by_key(&mut placed, |&(first, last, _)| (first, last));
    let mut furthest: Option<(Value, &Shared)> = None;
    for (first, last, shared) in placed {
        if let Some((_, other)) = furthest.filter(|&(end, _)| end >= first) {
            let message = format!("`{}` and `{}` overlap at address {first}", other.name, shared.name);
            let error = Diagnostic::error("overlap", message, shared.span);
            errors.push(error.also(other.span, "the other one").help("choose another address for one of them"));
        }
        if furthest.is_none_or(|(end, _)| end < last) {
            furthest = Some((last, shared));
        }
    }
}

fn check_threads(program: &Program, errors: &mut Vec<Diagnostic>) {
    if program.threads.iter().all(|thread| thread.multiplicity == Multiplicity::Spawned) {
        let span = program.threads.first().map_or(Span::default(), |thread| thread.span);
        let error = Diagnostic::error("no-thread", "no thread runs at the start", span);
        errors.push(error.help("declare at least one thread without `[0]`"));
    }
    for thread in program.threads.iter().filter(|thread| thread.weight == 0) {
        let message = format!("thread `{}` has weight 0, so it would never be scheduled", thread.name);
        errors.push(Diagnostic::error("weight", message, thread.span).help("the smallest weight is 1"));
    }
}

fn check_properties(program: &Program, errors: &mut Vec<Diagnostic>) {
    for property in &program.properties {
        let Some(condition) = property.kind.condition() else { continue };
        if is_too_deep(condition) {
            errors.push(too_deep(property.span));
            continue;
        }
        condition.for_each_leaf(&mut |atom| {
            if let Some(message) = unknown_in(program, atom) {
                errors.push(Diagnostic::error("unknown-observation", message, property.span));
            }
        });
    }
}

/// What an observation names that the program does not have.
fn unknown_in(program: &Program, atom: &StateAtom) -> Option<String> {
    let (StateAtom::At { thread, .. } | StateAtom::Register { thread, .. }) = atom else { return None };
    let Some(thread) = program.threads.get(thread.index()) else {
        return Some(format!("the property observes thread number {}, which does not exist", thread.0));
    };
    let name = &thread.name;
    match atom {
        StateAtom::At { locations, .. } if !locations.iter().all(|loc| loc.index() < thread.body.locations.len()) => {
            Some(format!("the property observes a location that thread `{name}` does not have"))
        }
        StateAtom::At { locations, .. } if !locations.is_sorted_by(|a, b| a < b) => {
            Some(format!("the property lists locations of thread `{name}` out of order"))
        }
        StateAtom::Register { register, .. } if register.index() >= thread.body.registers.len() => {
            Some(format!("the property observes a register that thread `{name}` does not have"))
        }
        _ => None,
    }
}

/// Whether an expression is deeper than [`MAX_EXPRESSION_DEPTH`]; recursion stops there.
fn is_too_deep<L>(expr: &Expr<L>) -> bool {
    exceeds(expr, MAX_EXPRESSION_DEPTH)
}

fn exceeds<L>(expr: &Expr<L>, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return true };
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => false,
        Expr::Unary(_, operand) => exceeds(operand, below),
        Expr::Binary(_, left, right) => exceeds(left, below) || exceeds(right, below),
    }
}

fn too_deep(span: Span) -> Diagnostic {
    let message = format!("an expression is nested more than {MAX_EXPRESSION_DEPTH} deep");
    Diagnostic::error("too-deep", message, span).help("split it, and keep intermediate results in registers")
}
