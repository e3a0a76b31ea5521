//! What a thread does with its registers, and how many bytes its instructions work on.

use std::collections::BTreeSet;

use super::super::Refused;
use super::super::mnemonic::Operation;
use super::super::register::{ACCUMULATOR, Base, Part, RegisterName};
use super::super::tree::{Column, Memory, OperandKind};
use super::access::{part, written, written_operands};
use super::context::Context;
use super::registers::Usage;

/// Looks through the instructions. `observed` are the registers that the question looks at.
pub(super) fn usage(context: Context<'_>, column: &Column, observed: BTreeSet<Base>) -> Result<Usage, Refused> {
    let mut usage = Usage { written: written(column), observed, ..Usage::default() };
    let address_size = context.architecture.address_size();
    for base in &usage.observed {
        // All 64 bits are shown, so all are kept.
        if context.registers.declared(column.number, base).is_some_and(|kind| kind.size == 8) {
            usage.parts.entry(base.clone()).or_default().insert(Part::Quad);
        }
    }
    for instruction in &column.instructions {
        let size = context.size(instruction)?;
        let mut note = |base: &Base, part: Part| {
            usage.parts.entry(base.clone()).or_default().insert(part);
        };
        for operand in &instruction.operands {
            match &operand.kind {
                OperandKind::Register(register) => note(&register.base, part(register, size)),
                OperandKind::Memory(Memory::Computed { base, index, .. }) => {
                    note(&base.base, pointer_part(base, address_size));
                    if let Some((index, _)) = index {
                        note(&index.base, pointer_part(index, address_size));
                    }
                }
                _ => {}
            }
        }
        if instruction.operation == Operation::CompareExchange {
            note(&Base::General(ACCUMULATOR), Part::of_size(size));
            usage.note_write(&Base::General(ACCUMULATOR), size);
        }
        for register in written_operands(instruction) {
            usage.note_write(&register.base, size);
        }
        if let Operation::Set(test) | Operation::MoveIf(test) | Operation::JumpIf(test) = instruction.operation {
            usage.observed.extend(test.test.flags().iter().map(|flag| Base::Flag(*flag)));
        }
    }
    Ok(usage)
}

impl Usage {
    fn note_write(&mut self, base: &Base, size: u32) {
        let widest = self.widest_write.entry(base.clone()).or_insert(size);
        *widest = size.max(*widest);
    }
}

/// The part of a register that is used as an address.
pub(super) fn pointer_part(register: &RegisterName, address_size: u32) -> Part {
    register.part.unwrap_or(Part::of_size(address_size))
}
