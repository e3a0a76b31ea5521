//! What the values of registers give away: divisors that are 0, indices outside their array, stores that
//! always block.

use super::Unit;
use super::statements::{Place, Statements};
use crate::diagnostic::{Diagnostic, Severity};
use crate::expr::{BinaryOp, Expr, Value};
use crate::flow::{Env, Ranges, eval};
use crate::gather::Gather;
use crate::program::{Address, Edge, Instruction, Program, Range, RegExpr, Rmw, Shared};
use crate::span::Span;
use std::collections::BTreeMap;

/// Divisors that are 0 (a warning), or that may be (a note, if enough is known about them to be informative).
pub(super) fn divisors(units: &[Unit], statements: &Statements) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (span, places) in statements.iter() {
        let divisors: Vec<Range> = places.iter().flat_map(|&place| divisors_at(place, units)).collect();
        let suspect = |divisor: &&Range| divisor.contains(0) && divisor.low > Value::MIN && divisor.high < Value::MAX;
        let zero = Range::single(0);
        if !divisors.is_empty() && divisors.iter().all(|&divisor| divisor == zero) {
            let warning = Diagnostic::warning("division-by-zero", "the divisor is always 0", span);
            found.push(warning.help("division by 0 gives 0, and so does the remainder"));
        } else if let Some(divisor) = divisors.iter().find(suspect) {
            let message = match *divisor == zero {
                true => "the divisor is 0 in some copies of this instruction".to_owned(),
                false => format!("the divisor may be 0: its range is {}..{}", divisor.low, divisor.high),
            };
            let note = Diagnostic::new(Severity::Note, "division-by-zero", message, span);
            found.push(note.help("division by 0 gives 0, and so does the remainder"));
        }
    }
    found
}

/// The ranges of all divisors that a run may evaluate at an edge.
fn divisors_at(place: Place, units: &[Unit]) -> Vec<Range> {
    let (unit, edge) = (place.unit(units), place.edge(units));
    let mut divisors = Vec::new();
    if let Some(row) = unit.ranges.row(edge.from) {
        edge.instruction.for_each_operand(&mut |operand| collect_divisors(operand, row, &mut divisors));
    }
    divisors
}

fn has_division(expr: &RegExpr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => false,
        Expr::Unary(_, operand) => has_division(operand),
        Expr::Binary(op, left, right) => is_division(*op) || has_division(left) || has_division(right),
    }
}

fn is_division(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
}

fn collect_divisors(expr: &RegExpr, row: &[Range], divisors: &mut Vec<Range>) {
    match expr {
        Expr::Const(_) | Expr::Leaf(_) => {}
        Expr::Unary(_, operand) => collect_divisors(operand, row, divisors),
        // `r != 0 && 10 / r > 2` is fine: if the left side decides, the right side does not matter.
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if has_division(right) => {
            collect_divisors(left, row, divisors);
            let mut env = Env::default();
            env.load(row);
            if env.assume(left, *op == BinaryOp::And) {
                collect_divisors(right, env.row(), divisors);
            }
        }
        Expr::Binary(op, left, right) => {
            divisors.extend(is_division(*op).then(|| eval(row, right)));
            collect_divisors(left, row, divisors);
            collect_divisors(right, row, divisors);
        }
    }
}

/// Array accesses whose index is outside the array in every run.
pub(super) fn array_bounds(program: &Program, units: &[Unit], statements: &Statements) -> Vec<Diagnostic> {
    let arrays = program.shared.iter().filter(|shared| shared.is_array && !shared.initial.is_empty());
    let arrays: BTreeMap<Address, &Shared> = arrays.map(|shared| (shared.address, shared)).gather();
    let mut found = Vec::new();
    if arrays.is_empty() {
        return found;
    }
    for (span, places) in statements.iter() {
        let source = program.source.slice(span);
        let accesses = places.iter().flat_map(|&place| indexed(place, units, &arrays));
        // `mem[1 + r]` looks the same as an access to an array at 1, but does not mention it.
        let accesses = accesses.filter(|(shared, _)| source.is_empty() || source.contains(&shared.name));
        let accesses: Vec<(&Shared, Range)> = accesses.collect();
        let is_outside = |(shared, index): &(&Shared, Range)| index.meet(indices(shared)).is_none();
        if let Some((shared, index)) = accesses.first().filter(|_| accesses.iter().all(is_outside)) {
            let (name, last) = (&shared.name, indices(shared).high);
            let message = format!("the index of `{name}` is always out of bounds: {}", shown(*index));
            let warning = Diagnostic::warning("index-outside", message, span);
            let help = format!("valid indices of `{name}` are 0 to {last}");
            found.push(warning.also(shared.span, "declared here").help(help));
        }
    }
    found
}

fn indices(shared: &Shared) -> Range {
    Range { low: 0, high: shared.initial.len() as Value - 1 }
}

/// The arrays that an edge accesses as `array[index]`, and what the index may be; nothing if no run gets there.
fn indexed<'p>(place: Place, units: &[Unit], arrays: &BTreeMap<Address, &'p Shared>) -> Vec<(&'p Shared, Range)> {
    let (unit, edge) = (place.unit(units), place.edge(units));
    let Some(row) = unit.ranges.row(edge.from) else { return Vec::new() };
    let element = |address: &RegExpr| {
        let Expr::Binary(BinaryOp::Add, base, index) = address else { return None };
        let Expr::Const(base) = **base else { return None };
        Some((*arrays.get(&base)?, eval(row, index)))
    };
    edge.instruction.accesses().filter_map(element).collect()
}

/// Stores and read-modify-writes that always block, since what they write is outside the declared range.
pub(super) fn blocked_stores(
    program: &Program,
    ranges: &Ranges,
    units: &[Unit],
    statements: &Statements,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (span, places) in statements.iter() {
        let writes = |place: &&Place| writes_memory(&place.edge(units).instruction);
        let reached = |place: &&Place| place.unit(units).ranges.is_reachable(place.edge(units).from);
        let mut copies = places.iter().filter(writes).filter(reached).peekable();
        let Some(&first) = copies.peek() else { continue };
        if copies.all(|place| !place.unit(units).ranges.can_take(place.edge)) {
            found.extend(blocked(program, ranges, first.unit(units), first.edge(units), span));
        }
    }
    found
}

fn writes_memory(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Store { .. } | Instruction::ReadModifyWrite { .. })
}

fn blocked(program: &Program, ranges: &Ranges, unit: &Unit, edge: &Edge, span: Span) -> Option<Diagnostic> {
    let row = unit.ranges.row(edge.from)?;
    let addresses = eval(row, edge.instruction.accesses().next()?);
    let allowed = ranges.allowed(addresses);
    let (shared, _) = program.shared_at(addresses.low)?;
    let name = &shared.name;
    let text = match written(&edge.instruction) {
        Some(value) => format!("writes {}", shown(eval(row, value))),
        None => "never writes a value in that range".to_owned(),
    };
    let message = format!("this always blocks: the range of `{name}` is {}, and this {text}", shown(allowed));
    let warning = Diagnostic::warning("store-outside", message, span);
    Some(warning.also(shared.span, "the range is declared here").help("a store outside the range blocks forever"))
}

/// What an instruction writes, if one of its operands says so.
fn written(instruction: &Instruction) -> Option<&RegExpr> {
    match instruction {
        Instruction::Store { value, .. } => Some(value),
        Instruction::ReadModifyWrite { operation: Rmw::Exchange(new), .. } => Some(new),
        Instruction::ReadModifyWrite {
            operation: Rmw::CompareAndSwap { new, .. } | Rmw::CompareExchange { new, .. },
            ..
        } => Some(new),
        _ => None,
    }
}

/// A range as the source would write it.
fn shown(range: Range) -> String {
    match (range.low, range.high) {
        (low, high) if low == high => low.to_string(),
        (Value::MIN, Value::MAX) => "anything".to_owned(),
        (Value::MIN, high) => format!("at most {high}"),
        (low, Value::MAX) => format!("at least {low}"),
        (low, high) => format!("{low}..{high}"),
    }
}
