//! Which registers instructions write, and how many bytes they work on.

use std::collections::BTreeSet;

use weir_ir::Diagnostic;

use super::super::Refused;
use super::super::mnemonic::Operation;
use super::super::register::{ACCUMULATOR, Base, Flag, Part, RegisterName};
use super::super::tree::{Column, Instruction, Memory, Operand, OperandKind};

/// The registers that a thread writes.
pub(super) fn written(column: &Column) -> BTreeSet<Base> {
    let mut written = BTreeSet::new();
    for instruction in &column.instructions {
        written.extend(written_operands(instruction).into_iter().map(|register| register.base.clone()));
        if instruction.operation == Operation::CompareExchange {
            written.insert(Base::General(ACCUMULATOR));
        }
        if instruction.operation.sets_flags() {
            written.extend([Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow].map(Base::Flag));
        }
    }
    written
}

/// The registers among the operands that an instruction writes.
pub(super) fn written_operands(instruction: &Instruction) -> Vec<&RegisterName> {
    let count = match instruction.operation {
        Operation::Exchange | Operation::UnlockedExchange | Operation::ExchangeAdd => 2,
        Operation::Compare(_) | Operation::Read | Operation::Nothing | Operation::CompareExchange => 0,
        _ => 1,
    };
    instruction.operands.iter().take(count).filter_map(register).collect()
}

fn register(operand: &Operand) -> Option<&RegisterName> {
    match &operand.kind {
        OperandKind::Register(register) => Some(register),
        _ => None,
    }
}

/// The place in memory that an instruction reads or writes.
pub(super) fn memory(instruction: &Instruction) -> Option<(&Memory, &Operand)> {
    // `LEA` computes an address and leaves memory alone, and so does `NOP`.
    if matches!(instruction.operation, Operation::LoadAddress | Operation::Nothing) {
        return None;
    }
    instruction.operands.iter().find_map(|operand| match &operand.kind {
        OperandKind::Memory(memory) => Some((memory, operand)),
        _ => None,
    })
}

/// Bytes that the instruction works on, if its name or its registers say so.
pub(super) fn explicit_size(instruction: &Instruction) -> Result<Option<u32>, Refused> {
    let registers = instruction.operands.iter().filter_map(|operand| Some((operand, register(operand)?)));
    let sized = registers.filter_map(|(operand, register)| Some((operand, register.part?.size())));
    let sized: Vec<(&Operand, u32)> = sized.collect();
    if let (Operation::Set(_), true) = (instruction.operation, sized.is_empty()) {
        return Ok(Some(1));
    }
    let Some(&(first, size)) = sized.first() else { return Ok(instruction.suffix) };
    if let Some(&(other, _)) = sized.iter().find(|(_, other)| *other != size) {
        let error = Diagnostic::error("operand-sizes", "the registers have different sizes", instruction.span);
        return Err(error
            .also(first.span, "one")
            .also(other.span, "the other")
            .help("use registers of the same size")
            .into());
    }
    match instruction.suffix {
        None => Ok(Some(size)),
        Some(suffix) if suffix == size => Ok(Some(size)),
        // `movl (x),%rax`: herd7 takes it for `%eax`.
        Some(4) if size == 8 => Ok(Some(4)),
        Some(suffix) => {
            let message =
                format!("the instruction operates on {}, but the register has {}", bytes(suffix), bytes(size));
            Err(Diagnostic::error("operand-sizes", message, instruction.span)
                .also(first.span, "the register")
                .help("use the suffix that matches the register: `b` for 1 byte, `w` for 2, `l` for 4, `q` for 8")
                .into())
        }
    }
}

/// `1 byte`, `4 bytes`.
pub(super) fn bytes(size: u32) -> String {
    if size == 1 { "1 byte".to_owned() } else { format!("{size} bytes") }
}

/// Which part of a register an instruction of this size works on.
pub(super) fn part(register: &RegisterName, size: u32) -> Part {
    match register.part {
        Some(part) if part.size() == size => part,
        _ => Part::of_size(size),
    }
}
