//! What all threads share while they are lowered.

use weir_ir::Diagnostic;

use super::super::Refused;
use super::super::header::Architecture;
use super::super::tree::{CellName, Instruction, Memory};
use super::access::{explicit_size, memory};
use super::cells::{Cells, implied_size};
use super::initial::InitialRegisters;

/// The test as a whole: its architecture, cells and registers.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) architecture: Architecture,
    pub(super) cells: &'a Cells,
    pub(super) registers: &'a InitialRegisters,
    /// Whether locked additions take the global lock, since their result may not fit the cell. An atomic step would
    /// keep what does not fit.
    pub(super) locks_additions: bool,
}

impl Context<'_> {
    /// Bytes that an instruction works on.
    pub(super) fn size(&self, instruction: &Instruction) -> Result<u32, Refused> {
        if let Some(size) = explicit_size(instruction)?.or(implied_size(self.architecture)) {
            return Ok(size);
        }
        match memory(instruction) {
            Some((Memory::Cell(name), _)) => {
                let name = CellName { name: name.clone(), index: None };
                Ok(self.cells.find(&name).map_or(4, |cell| cell.kind.size))
            }
            Some((Memory::Computed { .. }, operand)) => {
                let error = Diagnostic::error("operand-sizes", "the size of this access is unknown", operand.span);
                Err(error.help("add a size suffix to the instruction, as in `movl` or `movq`").into())
            }
            None => Ok(self.architecture.address_size()),
        }
    }
}
