//! Cells of arrays by constant index.

use weir_ir::{Address, Diagnostic, Shared, Span, Value};

use super::super::ast::Name;
use super::super::sink::Sink;

/// The address of a cell of an array, by a constant index; an error if there is no such cell.
pub(super) fn element_address(
    shared: &Shared,
    name: Name,
    index: Value,
    span: Span,
    sink: &mut Sink,
) -> Option<Address> {
    if !shared.is_array {
        sink.error(not_an_array(shared, name));
        return None;
    }
    let inside = usize::try_from(index).is_ok_and(|index| index < shared.initial.len());
    if !inside {
        let message = format!("index {index} is outside `{}[{}]`", shared.name, shared.initial.len());
        let error = Diagnostic::error("index-out-of-range", message, span).also(shared.span, "declared here");
        sink.error(error.help(format!("valid indices are 0 to {}", shared.initial.len() - 1)));
        return None;
    }
    Some(shared.address.wrapping_add(index))
}

/// The error for an index on a single cell.
pub(super) fn not_an_array(shared: &Shared, name: Name) -> Diagnostic {
    Diagnostic::error("not-an-array", format!("`{}` is not an array", name.text), name.span)
        .also(shared.span, "declared here")
        .help(format!("declare `shared {0}[…]`, or access neighbouring cells with `mem[&{0} + e]`", name.text))
}
