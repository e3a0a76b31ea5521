//! Operands: registers and their parts, constants, memory.

use iced_x86::{OpKind, Register};
use weir_ir::BinaryOp;

use super::Lifter;
use crate::ops::{E, Op, Reg, binary, constant, cut, mask, register};
use crate::refusal::Refusal;

/// Where a thread finds the value that guards its stack, as an offset from the segment FS.
const GUARD: u64 = 0x28;

impl Lifter<'_> {
    /// A register of the instruction's own.
    pub(super) fn own(&mut self) -> Reg {
        self.owned += 1;
        Reg::own(self.owned - 1)
    }

    pub(super) fn is_immediate(&self, operand: u32) -> bool {
        !matches!(self.instruction.op_kind(operand), OpKind::Register | OpKind::Memory)
    }

    pub(super) fn is_memory(&self, operand: u32) -> bool {
        self.instruction.op_kind(operand) == OpKind::Memory
    }

    /// How many bytes an operand has.
    pub(super) fn size(&self, operand: u32) -> Result<u32, Refusal> {
        let instruction = self.instruction;
        let size = match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            OpKind::Immediate8 | OpKind::Immediate8_2nd => 1,
            OpKind::Immediate16 | OpKind::Immediate8to16 => 2,
            OpKind::Immediate32 | OpKind::Immediate8to32 => 4,
            OpKind::Immediate64 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => 8,
            _ => return Err(self.unsupported()),
        };
        if [1, 2, 4, 8, 16].contains(&size) { Ok(size as u32) } else { Err(self.unsupported()) }
    }

    /// The general register, whether the operand is its second byte, and its size.
    fn general(&self, operand: u32) -> Result<(Reg, bool, u32), Refusal> {
        let which = self.instruction.op_register(operand);
        if !which.is_gpr() {
            return Err(self.unsupported());
        }
        let is_high = matches!(which, Register::AH | Register::BH | Register::CH | Register::DH);
        Ok((general(which), is_high, which.size() as u32))
    }

    /// The value of an operand, of its size. Memory is loaded first.
    pub(super) fn read(&mut self, operand: u32) -> Result<E, Refusal> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let (reg, is_high, size) = self.general(operand)?;
                let whole = register(reg);
                let value = if is_high { binary(BinaryOp::ShiftRight, whole, constant(8)) } else { whole };
                Ok(cut(value, size))
            }
            OpKind::Memory => {
                let size = self.size(operand)?;
                if size > 8 {
                    return Err(self.unsupported());
                }
                if let Some(value) = self.guard() {
                    return Ok(value);
                }
                let (to, address) = (self.own(), self.memory_address()?);
                self.ops.push(Op::Load { to, address, size });
                Ok(register(to))
            }
            _ => {
                let size = self.size(operand)?;
                Ok(cut(constant(self.instruction.immediate(operand) as i64), size))
            }
        }
    }

    /// The constant operand in the size of another one.
    pub(super) fn read_as(&mut self, operand: u32, size: u32) -> Result<E, Refusal> {
        if self.is_immediate(operand) {
            return Ok(cut(constant(self.instruction.immediate(operand) as i64), size));
        }
        self.read(operand)
    }

    /// The value that guards the stack. Any value would do, since the code only compares it with itself.
    fn guard(&self) -> Option<E> {
        let instruction = self.instruction;
        let is_plain = instruction.memory_base() == Register::None && instruction.memory_index() == Register::None;
        let is_guard = instruction.memory_segment() == Register::FS && instruction.memory_displacement64() == GUARD;
        (is_plain && is_guard).then(|| constant(0x5AFE))
    }

    /// Writes a value of the operand's size.
    pub(super) fn write(&mut self, operand: u32, value: E) -> Result<(), Refusal> {
        if self.is_memory(operand) {
            let (address, size) = (self.memory_address()?, self.size(operand)?);
            self.ops.push(Op::Store { address, value, size });
            return Ok(());
        }
        let (reg, merged) = self.merged(operand, value)?;
        self.ops.push(Op::Set(reg, merged));
        Ok(())
    }

    /// The whole register after a value was written to the operand.
    pub(super) fn merged(&self, operand: u32, value: E) -> Result<(Reg, E), Refusal> {
        let (reg, is_high, size) = self.general(operand)?;
        if !is_high {
            return Ok((reg, merge(reg, size, value)));
        }
        let kept = binary(BinaryOp::BitAnd, register(reg), constant(!0xFF00));
        Ok((reg, binary(BinaryOp::BitOr, kept, binary(BinaryOp::ShiftLeft, value, constant(8)))))
    }

    /// Writes the low bytes of a register.
    pub(super) fn write_part(&mut self, reg: Reg, size: u32, value: E) {
        self.ops.push(Op::Set(reg, merge(reg, size, value)));
    }

    /// The address of the operand in memory.
    pub(super) fn memory_address(&self) -> Result<E, Refusal> {
        match self.instruction.memory_segment() {
            Register::FS => Ok(binary(BinaryOp::Add, register(Reg::FS), self.effective_address()?)),
            Register::GS => Err(Refusal::new("segment", "memory relative to `gs` is not supported")
                .help("on Linux, thread-local variables are relative to `fs`")),
            _ => self.effective_address(),
        }
    }

    /// What the operand in memory computes.
    pub(super) fn effective_address(&self) -> Result<E, Refusal> {
        let instruction = self.instruction;
        if instruction.is_ip_rel_memory_operand() {
            return Ok(constant(instruction.ip_rel_memory_address() as i64));
        }
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let size = [base, index].into_iter().find(|&which| which != Register::None).map_or(8, Register::size);
        if ![base, index].into_iter().all(|which| which == Register::None || which.is_gpr()) {
            return Err(self.unsupported());
        }
        let mut address = constant(instruction.memory_displacement64() as i64);
        if index != Register::None {
            let scale = constant(i64::from(instruction.memory_index_scale()));
            let scaled = match instruction.memory_index_scale() {
                1 => register(general(index)),
                _ => binary(BinaryOp::Multiply, register(general(index)), scale),
            };
            address = binary(BinaryOp::Add, scaled, address);
        }
        if base != Register::None {
            address = match address {
                address if address == constant(0) => register(general(base)),
                address => binary(BinaryOp::Add, register(general(base)), address),
            };
        }
        Ok(cut(address, size as u32))
    }
}

fn general(which: Register) -> Reg {
    Reg(which.full_register().number() as u8)
}

/// A register after its low bytes were written. Writing 4 bytes clears the others.
fn merge(reg: Reg, size: u32, value: E) -> E {
    match size {
        4 | 8 => value,
        size => {
            let kept = binary(BinaryOp::BitAnd, register(reg), constant(!mask(size)));
            binary(BinaryOp::BitOr, kept, value)
        }
    }
}
