//! Registers and cells as the steps from one location of a thread see them.

use weir_ir::flow::Ranges;
use weir_ir::{LocId, Program, Range, RegExpr, RegId, ThreadId};

use super::cells::{Cells, index_of};
use super::expressions::Longs;
use crate::export::memory::{Access, Constraint, Memory, limit};
use crate::export::refusal::Refusal;
use crate::export::term::{Operators as _, Term, write};

/// What is needed to write expressions and cells.
pub(super) struct Scope<'a> {
    pub(super) program: &'a Program,
    pub(super) ranges: &'a Ranges,
    pub(super) memory: &'a Memory,
    pub(super) cells: &'a Cells,
    pub(super) thread: ThreadId,
    pub(super) registers: &'a [String],
    pub(super) from: LocId,
}

/// A cell that an instruction accesses.
pub(super) struct Cell {
    /// Its name, or how it is computed.
    pub(super) text: String,
    pub(super) constraint: Constraint,
    pub(super) segment: usize,
    pub(super) address: Term,
}

impl Scope<'_> {
    /// An expression, with other names for some registers.
    pub(super) fn expr(&self, longs: &mut Longs, expr: &RegExpr, instead: &[(RegId, String)]) -> Result<Term, Refusal> {
        let leaf = |register: &RegId| match instead.iter().find(|(replaced, _)| replaced == register) {
            Some((_, name)) => Ok(Term::simple(name, Range::FULL)),
            None => {
                let range = self.ranges.register_at(self.thread, self.from, *register).unwrap_or(Range::FULL);
                Ok(Term::simple(&self.registers[register.index()], range))
            }
        };
        write(longs, expr, &mut { leaf })
    }

    /// The cell at an address.
    pub(super) fn cell(&self, longs: &mut Longs, address: &RegExpr, access: Access) -> Result<Cell, Refusal> {
        let (program, memory, cells) = (self.program, self.memory, self.cells);
        let segment = memory.segment(access.segment);
        let constant = address.constant().or((segment.first == segment.last).then_some(segment.first));
        let (text, constraint, address) = match constant {
            Some(constant) => {
                let constraint = program.shared_at(constant).map_or(Constraint::Free, |(shared, _)| limit(shared));
                (cells.at(memory, access.segment, constant), constraint, longs.constant(constant)?)
            }
            None => {
                let computed = self.expr(longs, address, &[])?;
                let index = index_of(segment.first, address).map(|index| self.expr(longs, index, &[])).transpose()?;
                let text = cells.computed(memory, access.segment, &computed, index.as_ref());
                (text, segment.constraint(program), computed)
            }
        };
        Ok(Cell { text, constraint, segment: access.segment, address })
    }
}
