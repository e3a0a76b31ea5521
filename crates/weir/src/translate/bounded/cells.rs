//! Which cells a thread loads and stores: of these it needs copies.

use std::collections::BTreeSet;

use weir_ir::flow::Ranges;
use weir_ir::{Address, Diagnostic, Edge, EdgeId, Gather, Instruction, Program, Range};

use super::{Owner, RunBound};
use crate::verdict::Failure;

/// The most cells that one computed address may name: each of them has its copies.
pub(crate) const MOST_CELLS: u64 = 1_024;

/// The cells of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Those it loads other than by read-modify-writes.
    pub(super) loaded: BTreeSet<Address>,
    /// Those it stores to other than by read-modify-writes.
    pub(super) stored: BTreeSet<Address>,
    /// Those it accesses in any way.
    accessed: BTreeSet<Address>,
    /// How many rounds after the current one a store can wait for; 0 if the thread does not store.
    pub(super) copies: u32,
    /// Whether some load, or some store, has a computed address.
    pub(super) computes: Computes,
}

/// What has a computed address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Computes {
    pub(super) loads: bool,
    pub(super) stores: bool,
}

impl Cells {
    /// The cells of a thread, or of a procedure.
    ///
    /// # Errors
    /// If a computed address may name too many of them.
    pub(super) fn of(program: &Program, owner: Owner, ranges: &Ranges, bound: RunBound) -> Result<Self, Failure> {
        let mut cells = Self::default();
        for (id, edge) in (0..).map(EdgeId).zip(owner.body(program).edges()) {
            let computed = edge.instruction.accesses().any(|address| address.constant().is_none());
            for &addresses in owner.addresses_of(ranges, id) {
                if addresses.extent() >= MOST_CELLS {
                    return Err(too_many(edge, bound, matches!(owner, Owner::Procedure(_))));
                }
                cells.add(edge, addresses);
            }
            cells.computes.loads |= computed && edge.instruction.is_load();
            cells.computes.stores |= computed && edge.instruction.is_store();
        }
        cells.copies = if cells.stored.is_empty() { 0 } else { bound.copies() };
        Ok(cells)
    }

    /// What threads need that share procedures: the cells of all their code.
    pub(super) fn together<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut together = Self::default();
        for one in all {
            together.loaded.extend(&one.loaded);
            together.stored.extend(&one.stored);
            together.accessed.extend(&one.accessed);
            together.copies = together.copies.max(one.copies);
            together.computes.loads |= one.computes.loads;
            together.computes.stores |= one.computes.stores;
        }
        together
    }

    /// The copies that one of the bodies mentions: of what others load, whoever accesses it changes the view.
    pub(super) fn within(self, all: &Self) -> Self {
        let loaded = self.accessed.intersection(&all.loaded).copied().gather();
        Self { loaded, copies: all.copies, ..self }
    }

    /// Every cell that is accessed in any way.
    pub(super) fn accessed(&self) -> impl Iterator<Item = Address> {
        self.accessed.iter().copied()
    }

    fn add(&mut self, edge: &Edge, addresses: Range) {
        let all = || addresses.low..=addresses.high;
        self.accessed.extend(all());
        match edge.instruction {
            Instruction::Store { .. } => self.stored.extend(all()),
            Instruction::ReadModifyWrite { .. } => {}
            _ => self.loaded.extend(all()),
        }
    }

    /// Whether the thread accesses the cell.
    pub(super) fn contains(&self, address: Address) -> bool {
        self.accessed.contains(&address)
    }
}

fn too_many(edge: &Edge, bound: RunBound, is_in_procedure: bool) -> Failure {
    let what = format!(
        "`{}` copies every cell that this address may name, and these are more than {MOST_CELLS}, as far as the value \
         analysis can tell",
        bound.name()
    );
    let unroll =
        "unroll the procedure, with `weir translate --pass unroll=N --to weir`, which makes its arguments known, ";
    let help = format!(
        "{}bound the index before it is used, as in `assume i >= 0 && i < 4;`, or declare a range for the cell it comes \
         from; other engines have no such limit",
        if is_in_procedure { unroll } else { "" }
    );
    Failure::Refused(Box::new(Diagnostic::error("computed-address", what, edge.span).help(help)))
}
