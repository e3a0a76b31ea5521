//! Ranges of cells: a store of any other value is blocked, so a `check` comes before it. It depends on
//! registers alone, so nothing can change between the two.

use weir_ir::{Range, RegExpr, Shared};

use super::{Refusal, ThreadPrinter};

/// The checks that a store of `value` to `address` has to pass, in order.
pub(super) fn checks(printer: &ThreadPrinter, address: &RegExpr, value: &RegExpr) -> Result<Vec<String>, Refusal> {
    let known = address.constant();
    if let (Some(address), Some(value)) = (known, value.constant()) {
        let is_admitted = printer.program.admits(address, value);
        return Ok(if is_admitted { Vec::new() } else { vec!["check 0".to_string()] });
    }
    let mut checks = Vec::new();
    for (shared, range) in concerned(printer, address) {
        let Some(within) = within(printer, range, value)? else { continue };
        checks.push(match known {
            Some(_) => format!("check {within}"),
            None => format!("check {}", elsewhere_or(printer, shared, address, &within)?),
        });
    }
    Ok(checks)
}

/// Whether a store to `address` is never blocked, whatever the value.
pub(super) fn is_free(printer: &ThreadPrinter, address: &RegExpr) -> bool {
    concerned(printer, address).next().is_none()
}

/// The declarations with a range that `address` may lie in.
fn concerned<'p>(printer: &ThreadPrinter<'p>, address: &RegExpr) -> impl Iterator<Item = (&'p Shared, Range)> {
    let known = address.constant();
    let may_hit = move |shared: &Shared| known.is_none_or(|address| shared.offset_of(address).is_some());
    let with_range = printer.program.shared.iter().filter_map(|shared| Some((shared, shared.range?)));
    with_range.filter(move |(shared, _)| may_hit(shared))
}

/// That a value lies in a range; nothing if every `int` does.
fn within(printer: &ThreadPrinter, range: Range, value: &RegExpr) -> Result<Option<String>, Refusal> {
    let value = printer.expr(value)?;
    let bound = |limit| printer.expr(&RegExpr::Const(limit));
    let mut conditions = Vec::new();
    if range.low > i64::from(i32::MIN) {
        conditions.push(format!("<= {} {value}", bound(range.low)?));
    }
    if range.high < i64::from(i32::MAX) {
        conditions.push(format!("<= {value} {}", bound(range.high)?));
    }
    Ok(conditions.into_iter().reduce(|low, high| format!("&& {low} {high}")))
}

/// That an address lies outside a declaration, or else `within`.
fn elsewhere_or(printer: &ThreadPrinter, shared: &Shared, address: &RegExpr, within: &str) -> Result<String, Refusal> {
    let address = printer.expr(address)?;
    let last = shared.address.wrapping_add(shared.initial.len() as i64 - 1);
    let first = printer.expr(&RegExpr::Const(shared.address))?;
    let last = printer.expr(&RegExpr::Const(last))?;
    Ok(format!("|| || < {address} {first} > {address} {last} {within}"))
}
