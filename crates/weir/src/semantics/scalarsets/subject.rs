//! The program as this analysis sees it.

use weir_ir::flow::{Ranges, RegisterSet, Webs, observed_registers};
use weir_ir::{Address, Body, Edge, EdgeId, Program, Range, ThreadId};

use crate::semantics::compile::Compiled;
use crate::semantics::layout::{Cells, Target};

/// A program, and what is known about it.
pub(super) struct Subject<'a> {
    pub(super) program: &'a Program,
    /// The threads that run, by position.
    pub(super) threads: &'a [ThreadId],
    pub(super) ranges: &'a Ranges,
    /// The live ranges of registers, by position.
    pub(super) webs: Vec<Webs>,
    /// The registers that properties observe, by position.
    pub(super) observed: Vec<RegisterSet>,
    cells: &'a Cells,
    /// First and last address of each declaration, and its number; ascending.
    extents: Vec<(Address, Address, usize)>,
}

/// The declarations that an access may touch.
pub(super) struct Touched {
    pub(super) declarations: Vec<usize>,
    /// Whether it may also touch addresses that no declaration names.
    pub(super) undeclared: bool,
}

impl<'a> Subject<'a> {
    pub(super) fn new(program: &'a Program, compiled: &'a Compiled) -> Self {
        let webs = |position: usize| compiled.webs(program.body(compiled.threads[position]), position);
        let extent = |(number, shared): (usize, &weir_ir::Shared)| {
            let last = shared.address.wrapping_add(shared.initial.len() as Address - 1);
            (shared.address, last, number)
        };
        let mut extents: Vec<_> =
            program.shared.iter().enumerate().filter(|(_, shared)| !shared.initial.is_empty()).map(extent).collect();
        extents.sort_unstable();
        Self {
            program,
            threads: &compiled.threads,
            ranges: &compiled.ranges,
            webs: (0..compiled.threads.len()).map(webs).collect(),
            observed: compiled.threads.iter().map(|&thread| observed_registers(program, thread)).collect(),
            cells: &compiled.machine.layout.cells,
            extents,
        }
    }

    pub(super) fn body(&self, position: usize) -> &'a Body {
        self.program.body(self.threads[position])
    }

    pub(super) fn edge(&self, position: usize, edge: usize) -> &'a Edge {
        &self.body(position).edges()[edge]
    }

    /// Whether the thread may ever execute the edge.
    pub(super) fn can_take(&self, position: usize, edge: usize) -> bool {
        self.ranges.can_take(self.threads[position], EdgeId::new(edge))
    }

    /// The addresses that an edge may access, for each cell that it accesses; none if it is never executed.
    pub(super) fn addresses(&self, position: usize, edge: usize, access: usize) -> Option<Range> {
        self.ranges.addresses_of(self.threads[position], EdgeId::new(edge)).get(access).copied()
    }

    /// What lies at these addresses.
    pub(super) fn touched(&self, range: Range) -> Touched {
        let first = self.extents.partition_point(|&(_, last, _)| last < range.low);
        let inside = self.extents[first..].iter().take_while(|&&(base, _, _)| base <= range.high);
        let mut touched = Touched { declarations: Vec::new(), undeclared: false };
        // The first address that is not known to be declared so far.
        let mut next = Some(range.low);
        for &(base, last, number) in inside {
            touched.declarations.push(number);
            touched.undeclared |= next.is_none_or(|next| base > next);
            next = last.checked_add(1);
        }
        touched.undeclared |= next.is_some_and(|next| next <= range.high);
        touched
    }

    /// Whether all cells of these regions, for so many threads, have bits of their own.
    pub(super) fn has_cells(&self, regions: &[Address], count: usize) -> bool {
        let addresses =
            regions.iter().flat_map(|base| (0..count).map(move |number| base.wrapping_add(number as Address)));
        addresses.into_iter().all(|address| matches!(self.cells.target(address), Target::Cell(_)))
    }

    /// The declaration that covers an address.
    pub(super) fn declaration(&self, address: Address) -> Option<usize> {
        self.touched(Range::single(address)).declarations.first().copied()
    }
}
