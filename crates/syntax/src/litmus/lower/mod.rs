//! From a litmus test as it is written to a program and its question.

mod access;
mod bits;
mod cells;
mod chain;
mod context;
mod exchange;
mod flags;
mod initial;
mod instruction;
mod names;
mod operand;
mod question;
mod registers;
mod thread;
mod usage;

use weir_ir::flow::Ranges;
use weir_ir::{Diagnostic, Poll, Program, Property, Range, Source, Span, validate};

use super::tree::{Constant, OperandKind, Test};
use super::{Litmus, Refused};
use crate::sink::Sink;
use cells::{Cells, cell_text};
use context::Context;
use initial::InitialRegisters;
use question::{View, observed_registers, property};
use thread::Lowered;

/// Makes a program of a test.
pub(super) fn lower(source: &Source, test: Test, poll: &Poll<'_>) -> Result<Litmus, Vec<Diagnostic>> {
    let only = |error: Refused| vec![*error];
    let initial = InitialRegisters::new(&test).map_err(only)?;
    let written: Vec<_> = test.threads.iter().map(access::written).collect();
    let cells = Cells::new(&test, &initial, &written).map_err(only)?;
    check_addresses(&test, &cells).map_err(only)?;
    let context =
        Context { architecture: test.header.architecture, cells: &cells, registers: &initial, locks_additions: false };
    let (litmus, may_leave_cells) = assemble(source, &test, context, poll)?;
    if !may_leave_cells {
        return Ok(litmus);
    }
    let locking = Context { locks_additions: true, ..context };
    assemble(source, &test, locking, poll).map(|(litmus, _)| litmus)
}

/// The test, and whether an atomic addition may give a value that its cell cannot hold.
fn assemble(
    source: &Source,
    test: &Test,
    context: Context<'_>,
    poll: &Poll<'_>,
) -> Result<(Litmus, bool), Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let mut threads = Vec::new();
    for column in &test.threads {
        if poll.is_over() {
            return Err(Vec::new());
        }
        match thread::lower(context, column, observed_registers(&test.question, column.number)) {
            Ok(thread) => threads.push(thread),
            Err(error) => sink.error(*error),
        }
    }
    sink.finish()?;
    asked(source, test, context, threads).map_err(|error| vec![*error])
}

/// The test with its threads made ready.
fn asked(source: &Source, test: &Test, context: Context<'_>, threads: Vec<Lowered>) -> Result<(Litmus, bool), Refused> {
    let view = View { test, cells: context.cells, initial: context.registers, threads: &threads };
    let condition = view.condition(&test.question.condition)?;
    let filter = test.question.filter.as_ref().map(|filter| view.condition(filter)).transpose()?;
    let observed = view.observed()?;
    let condition_text = view.text(&test.question.condition);
    let kind = property(test.question.quantifier, &condition, filter.as_ref());
    let program = Program {
        source: source.clone(),
        shared: context.cells.shared(),
        properties: vec![Property { kind, span: question_span(test) }],
        threads: threads.iter().map(|lowered| lowered.thread.clone()).collect(),
        ..Program::default()
    };
    if let Some(error) = validate(&program).into_iter().find(Diagnostic::is_error) {
        return Err(error.into());
    }
    let may_leave_cells = may_leave_cells(&program, context.cells, &threads);
    let header = &test.header;
    let litmus = Litmus {
        name: header.name.clone(),
        name_span: header.name_span,
        architecture: header.architecture,
        info: header.info.clone(),
        program,
        quantifier: test.question.quantifier,
        condition,
        condition_text,
        filter,
        observed,
        addresses: addresses(context.cells),
    };
    Ok((litmus, may_leave_cells))
}

/// A test without a condition has its name to point at.
fn question_span(test: &Test) -> Span {
    let span = test.question.span;
    if span.start == span.end { test.header.name_span } else { span }
}

/// Whether an atomic addition may give a value that its cell cannot hold.
fn may_leave_cells(program: &Program, cells: &Cells, threads: &[Lowered]) -> bool {
    if !threads.iter().any(|lowered| lowered.adds_atomically) {
        return false;
    }
    let ranges = Ranges::of(program);
    cells.iter().any(|cell| {
        let fits = Range { low: bits::least(cell.kind.size), high: bits::greatest(cell.kind.size) };
        fits.hull(ranges.cell(cell.address)) != fits
    })
}

fn addresses(cells: &Cells) -> Vec<(i64, String)> {
    if !cells.are_values {
        return Vec::new();
    }
    let mut addresses: Vec<_> = cells.iter().map(|cell| (cell.address, cell_text(&cell.name))).collect();
    addresses.sort_unstable();
    addresses
}

/// Elements that do not exist have no address.
fn check_addresses(test: &Test, cells: &Cells) -> Result<(), Refused> {
    let initial = test.initial.iter().flat_map(|initial| initial.values.iter().map(|value| (value, initial.span)));
    let operands = test.threads.iter().flat_map(|column| &column.instructions).flat_map(|found| &found.operands);
    let immediates = operands.filter_map(|operand| match &operand.kind {
        OperandKind::Immediate(constant) => Some((constant, operand.span)),
        _ => None,
    });
    for (constant, span) in initial.chain(immediates) {
        if let Constant::Address(name) = constant
            && cells.find(name).is_none()
        {
            let message = format!("there is no cell `{}`", cell_text(name));
            let error = Diagnostic::error("unknown-cell", message, span);
            return Err(error.help("elements are numbered from 0; declare an array as in `int x[2]`").into());
        }
    }
    Ok(())
}
