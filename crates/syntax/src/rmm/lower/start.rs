//! What happens before the text of a process: registers and memory get values that are not known beforehand.
//!
//! Registers start at 0 in Weir, and cells with one value. Registers that are read before they are set get
//! their value in the first steps of the process. Memory locations that may start with any value are set
//! by a thread of its own, in steps that bypass buffers; processes that use one wait for it.

use weir_ir::{
    Body, Diagnostic, Edge, Expr, Instruction, LocId, Location, Multiplicity, Range, RegId, Register, Rmw, Span,
    Thread, UnaryOp,
    flow::{RegisterSet, live_registers},
};

use super::super::ast::{Declaration, Process};
use super::memory::Memory;
use super::process::Builder;
use crate::sink::Sink;

impl Builder<'_, '_> {
    /// Adds the steps before the text of a process; gives the place where it starts.
    pub(super) fn prologue(&mut self, process: &Process<'_>, body: &Body, entry: LocId) -> LocId {
        let live = live_registers(body, &RegisterSet::new());
        let mut steps = Vec::new();
        for (at, declaration) in process.registers.iter().enumerate() {
            let register = RegId::new(at);
            if live.at(entry).contains(register) {
                steps.extend(first_value(declaration, register, self.sink).map(|step| (step, declaration.span)));
            }
        }
        let mut next = entry;
        for (instruction, span) in steps.into_iter().rev() {
            let before = self.node();
            self.edge(before, instruction, next, span);
            next = before;
        }
        if let Some(ready) = self.memory.ready.filter(|_| self.needs_memory_set_up) {
            next = wait_for(self, ready, next, process.span);
        }
        next
    }
}

/// The step that gives a register its first value, unless that is 0.
fn first_value(declaration: &Declaration<'_>, register: RegId, sink: &mut Sink) -> Option<Instruction> {
    let range = match (declaration.initial, declaration.domain) {
        (Some(value), _) => Range::single(value),
        (None, Some(domain)) => domain,
        (None, None) => any_value(declaration.name.text, declaration.span, sink),
    };
    match range {
        Range { low: 0, high: 0 } => None,
        Range { low, high } if low == high => Some(Instruction::Assign { register, value: Expr::Const(low) }),
        range => Some(Instruction::Havoc { register, range }),
    }
}

/// Every value that there is.
fn any_value(name: &str, span: Span, sink: &mut Sink) -> Range {
    let message = format!("`{name}` may start with any 64-bit integer, which is too many to try");
    sink.warning(Diagnostic::warning("open-start", message, span).help("give it a domain: `[0:1]`"));
    Range::FULL
}

/// Waits until memory is set up.
fn wait_for(builder: &mut Builder<'_, '_>, ready: i64, next: LocId, span: Span) -> LocId {
    let seen = builder.temporary(0);
    let start = builder.node();
    let read = builder.step(start, Instruction::Load { register: seen, address: Expr::Const(ready) }, span);
    builder.edge(read, Instruction::Assume(Expr::Leaf(seen)), next, span);
    let not_yet = Expr::unary(UnaryOp::Not, Expr::Leaf(seen));
    builder.edge(read, Instruction::Assume(not_yet), start, span);
    start
}

/// The thread that sets memory up, if that takes one.
pub(super) fn thread(memory: &Memory<'_>, sink: &mut Sink) -> Option<Thread> {
    let ready = memory.ready?;
    let value = RegId(0);
    let write = |address, value| Instruction::ReadModifyWrite {
        register: None,
        address: Expr::Const(address),
        operation: Rmw::Exchange(value),
    };
    let mut steps = Vec::new();
    for cell in memory.open_cells() {
        let range = cell.range.unwrap_or_else(|| any_value(&cell.name, cell.span, sink));
        steps.push((Instruction::Havoc { register: value, range }, cell.span));
        steps.push((write(cell.address, Expr::Leaf(value)), cell.span));
    }
    let span = steps.first().map_or(Span::default(), |(_, span)| *span);
    steps.push((write(ready, Expr::Const(1)), span));
    let locations = vec![Location { labels: Vec::new(), span }; steps.len() + 1];
    let edge = |(at, (instruction, span)): (usize, (Instruction, Span))| Edge {
        from: LocId::new(at),
        to: LocId::new(at + 1),
        instruction,
        span,
    };
    let edges = steps.into_iter().enumerate().map(edge).collect();
    let registers = vec![Register { name: "$value".into(), is_temporary: true, is_thread_local: false, span }];
    let body = Body::new(registers, locations, LocId(0), None, edges);
    let family = ("init".to_string(), None);
    Some(Thread { name: "init".into(), family, multiplicity: Multiplicity::One, weight: 1, body, span })
}
