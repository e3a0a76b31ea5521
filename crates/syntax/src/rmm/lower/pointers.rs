//! Memory locations as statements name them.

use weir_ir::{Address, Diagnostic, Expr, Instruction, LocId, Range, RegExpr, Span, nearest};

use super::super::ast::{Cell, Name};
use super::memory::Place;
use super::process::Builder;
use super::ranges;

/// A memory location that a step goes to.
pub(super) struct Target {
    /// The place from which the step can be taken.
    pub(super) from: LocId,
    pub(super) address: RegExpr,
    /// The values it can hold; nothing if it can be any.
    pub(super) domain: Option<Range>,
}

impl<'c, 's> Builder<'c, 's> {
    /// Finds a memory location, with a check before it if it goes by a pointer that may point nowhere.
    pub(super) fn target(&mut self, cell: &Cell<'s>, from: LocId, span: Span) -> Option<Target> {
        if let Some((address, domain)) = self.fixed(cell)? {
            return Some(Target { from, address: Expr::Const(address), domain });
        }
        let Cell::Pointer(pointer, bracket) = cell else { return None };
        let address = self.expr(pointer);
        let count = self.memory.global_end;
        let range = self.range(&address);
        let valid = Range { low: 0, high: count.max(1) - 1 };
        let reached = range.map_or(Some(valid), |range| range.meet(valid)).filter(|_| count > 0);
        let Some(reached) = reached else {
            self.sink.error(points_nowhere(*bracket));
            return None;
        };
        let from = match ranges::within(&address, range, valid) {
            Some(condition) => self.step(from, Instruction::Assume(condition), span),
            None => from,
        };
        self.needs_memory_set_up = true;
        let domains = self.memory.globals()[reached.low as usize..=reached.high as usize].iter();
        let domain = domains.map(|place| place.shared.range).reduce(|left, right| Some(left?.hull(right?)))?;
        Some(Target { from, address, domain })
    }

    /// The address and domain of a memory location, if they are known beforehand. Nothing at all if it is in error.
    #[allow(clippy::option_option)] // Unknown beforehand and in error are two things.
    pub(super) fn fixed(&mut self, cell: &Cell<'s>) -> Option<Option<(Address, Option<Range>)>> {
        let place = match cell {
            Cell::Global(name) => self.memory.global(name.text).or_else(|| self.unknown_global(*name)),
            Cell::Own(name) => self.local(*name, self.number),
            Cell::Other(name, other) => {
                // Others are counted without the process itself.
                let owner = other.saturating_add(usize::from(*other >= self.number));
                self.local(*name, owner)
            }
            Cell::Pointer(pointer, span) => {
                let Some(number) = pointer.constant() else { return Some(None) };
                let place = usize::try_from(number).ok().and_then(|number| self.memory.globals().get(number));
                if place.is_none() {
                    self.sink.error(points_nowhere(*span));
                }
                place
            }
        }?;
        self.needs_memory_set_up |= place.starts_anywhere;
        Some(Some((place.shared.address, place.shared.range)))
    }

    fn unknown_global<T>(&mut self, name: Name<'s>) -> Option<T> {
        let message = format!("there is no global memory location `{}`", name.text);
        let error = Diagnostic::error("unknown-name", message, name.span);
        let is_local = (0..self.memory.processes).any(|process| self.memory.local(process, name.text).is_some());
        let help = match nearest(name.text, self.memory.global_names()) {
            _ if is_local => {
                format!("each process has its own: write `{0}[my]`, or `{0}[0]` for that of another process", name.text)
            }
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("declare it before the processes: `data {} = 0`", name.text),
        };
        self.sink.error(error.help(help));
        None
    }

    fn local(&mut self, name: Name<'s>, owner: usize) -> Option<&'c Place> {
        if owner >= self.memory.processes {
            let message = format!(
                "there is no such process: the number of processes other than P{} is {}",
                self.number,
                self.memory.processes - 1
            );
            let error = Diagnostic::error("unknown-process", message, name.span);
            let help = format!("`{}[N]` belongs to the N-th other process, counted from 0", name.text);
            self.sink.error(error.help(help));
            return None;
        }
        let found = self.memory.local(owner, name.text);
        if found.is_none() {
            let message = format!("process P{owner} has no memory location `{}`", name.text);
            let mut error = Diagnostic::error("unknown-name", message, name.span);
            if self.memory.global(name.text).is_some() {
                error = error.help(format!("`{}` is global: write it without brackets", name.text));
            }
            self.sink.error(error);
        }
        found
    }
}

fn points_nowhere(span: Span) -> Diagnostic {
    let error = Diagnostic::error("bad-pointer", "this pointer cannot point to any memory location", span);
    error.help("a pointer is the number of a global memory location, in order of declaration from 0")
}
