//! Shared cells: sizes, addresses, ranges, initial values.

use weir_ir::sort::sort_by_key;
use weir_ir::{Address, Diagnostic, Shared, Span, Value};

use super::super::ast::{Expr, File, Initial, SharedDecl};
use super::super::limits::MAX_CELLS;
use super::super::sink::Sink;
use super::constants::Constants;
use super::names::{Globals, Used};

/// The address of the first declared cell: 0 is left free to mean "no pointer".
const FIRST_ADDRESS: Address = 1;

/// Lays the shared cells out. Addresses first: ranges and initial values may use them.
pub(super) fn lay_out<'a>(file: &'a File<'a>, globals: &mut Globals<'a>, used: &mut Used, sink: &mut Sink) {
    used.shared = vec![false; file.shared.len()];
    let mut shared = Vec::with_capacity(file.shared.len());
    let (mut next, mut cells) = (Some(FIRST_ADDRESS), 0usize);
    for declaration in &file.shared {
        let mut constants = Constants { globals, parameter: None, registers: None, sink, used };
        let size = size(declaration, MAX_CELLS.saturating_sub(cells), &mut constants);
        let address = match &declaration.address {
            Some(address) => constants.value(address),
            None => next.or_else(|| out_of_addresses(declaration, sink)),
        };
        let address = address.unwrap_or(FIRST_ADDRESS);
        cells += size;
        next = address.checked_add(size as Address);
        if next.is_none() && address.checked_add(size as Address - 1).is_none() {
            out_of_addresses(declaration, sink);
        }
        shared.push(Shared {
            name: declaration.name.text.to_string(),
            address,
            is_array: declaration.size.is_some(),
            initial: vec![0; size],
            range: None,
            width: declaration.width.map(|(width, _)| width),
            span: declaration.span,
        });
    }
    if !sink.failed() {
        refuse_overlap(&shared, file, sink);
    }
    globals.shared = shared;
    let filled: Vec<_> =
        file.shared.iter().enumerate().map(|(at, one)| contents(one, at, globals, used, sink)).collect();
    for (shared, (range, initial)) in globals.shared.iter_mut().zip(filled) {
        shared.range = range;
        shared.initial = initial;
    }
}

fn out_of_addresses(declaration: &SharedDecl, sink: &mut Sink) -> Option<Address> {
    let message = format!("`{}` extends beyond the highest address", declaration.name.text);
    let error = Diagnostic::error("out-of-addresses", message, declaration.span);
    sink.error(error.help("choose a lower address with `@`"));
    None
}

/// How many cells a declaration has; 1 if that is in error.
fn size(declaration: &SharedDecl, left: usize, constants: &mut Constants) -> usize {
    let Some(written) = &declaration.size else {
        if left == 0 {
            too_many_cells(declaration.span, constants.sink);
        }
        return 1;
    };
    let Some(size) = constants.value(written) else { return 1 };
    match usize::try_from(size) {
        Ok(size) if (1..=left).contains(&size) => return size,
        Ok(size) if size > left => too_many_cells(written.span, constants.sink),
        _ => {
            let message = format!("an array cannot have {size} cells");
            let error = Diagnostic::error("bad-size", message, written.span);
            constants.sink.error(error.help("use at least one"));
        }
    }
    1
}

fn too_many_cells(span: Span, sink: &mut Sink) {
    let message = format!("the program has more than {MAX_CELLS} shared cells");
    let error = Diagnostic::error("too-many-cells", message, span);
    sink.error(error.help("use `mem[e]` for cells that need no declaration; they take no space until used"));
}

fn refuse_overlap(shared: &[Shared], file: &File, sink: &mut Sink) {
    let mut order: Vec<usize> = (0..shared.len()).collect();
    sort_by_key(&mut order, |&at| (shared[at].address, at));
    // The declaration that reaches furthest so far, and its last address.
    let mut furthest: Option<(usize, Address)> = None;
    for at in order {
        let last = shared[at].address.saturating_add(shared[at].initial.len() as Address - 1);
        if let Some((other, end)) = furthest.filter(|&(_, end)| end >= shared[at].address) {
            let (first, second) = (other.min(at), other.max(at));
            let message = format!("`{}` overlaps `{}` in memory", shared[second].name, shared[first].name);
            let error = Diagnostic::error("overlap", message, file.shared[second].span)
                .also(file.shared[first].span, format!("occupies addresses up to {end}"))
                .help("choose another address with `@`");
            sink.error(error);
        }
        if furthest.is_none_or(|(_, end)| end < last) {
            furthest = Some((at, last));
        }
    }
}

/// The range and the initial values of a declaration.
fn contents<'a>(
    declaration: &SharedDecl<'a>,
    at: usize,
    globals: &Globals<'a>,
    used: &mut Used,
    sink: &mut Sink,
) -> (Option<weir_ir::Range>, Vec<Value>) {
    let size = globals.shared[at].initial.len();
    let mut constants = Constants { globals, parameter: None, registers: None, sink, used };
    let range = declaration.range.as_ref().and_then(|range| constants.range(range));
    let admitted = |constants: &mut Constants<'_, 'a>, value: &Expr<'a>| {
        let number = constants.value(value)?;
        if let Some((width, span)) = declaration.width.filter(|(width, _)| !width.range().contains(number)) {
            let name = declaration.name.text;
            let message = format!("the initial value {number} of `{name}` does not fit in {}", width.name());
            let error = Diagnostic::error("initial-out-of-range", message, value.span).also(span, "the width");
            let wrapped = width.wrap(number);
            constants.sink.error(
                error.help(format!("a store of it would leave {wrapped}: write that, or choose a larger width")),
            );
        }
        if range.is_some_and(|range| !range.contains(number)) {
            let message = format!("the initial value {number} of `{}` is outside its range", declaration.name.text);
            let error = Diagnostic::error("initial-out-of-range", message, value.span);
            constants.sink.error(match &declaration.range {
                Some(range) => error.also(range.span, "the range"),
                None => error,
            });
        }
        Some(number)
    };
    let initial = match &declaration.initial {
        Some(Initial::All(value)) => vec![admitted(&mut constants, value).unwrap_or(0); size],
        Some(Initial::Each(values, span)) => {
            let mut all: Vec<Value> = values.iter().map(|value| admitted(&mut constants, value).unwrap_or(0)).collect();
            if values.len() != size {
                wrong_number_of_values(declaration, values.len(), size, *span, constants.sink);
                all.resize(size, 0);
            }
            all
        }
        None => {
            if let Some(range) = range.filter(|range| !range.contains(0)) {
                no_initial_value(declaration, range, constants.sink);
            }
            vec![0; size]
        }
    };
    (range, initial)
}

fn wrong_number_of_values(declaration: &SharedDecl, given: usize, size: usize, span: Span, sink: &mut Sink) {
    let name = declaration.name.text;
    let message =
        format!("the number of initial values ({given}) differs from the number of cells of `{name}` ({size})");
    let error = Diagnostic::error("wrong-number-of-values", message, span);
    sink.error(error.help(if declaration.size.is_none() {
        format!("declare an array: `shared {name}[{given}] = …`")
    } else {
        format!("give {size} values, or a single value without braces for all cells")
    }));
}

fn no_initial_value(declaration: &SharedDecl, range: weir_ir::Range, sink: &mut Sink) {
    let name = declaration.name.text;
    let message = format!("`{name}` starts at 0, which is outside its range {}..{}", range.low, range.high);
    let error = Diagnostic::error("initial-out-of-range", message, declaration.span);
    sink.error(error.help(format!("give it an initial value: `= {}`", range.low)));
}
