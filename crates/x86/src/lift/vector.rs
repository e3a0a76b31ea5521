//! Vector instructions that only copy or clear. A vector register is two halves of 64 bits.

use iced_x86::{Mnemonic, OpKind, Register};
use weir_ir::BinaryOp;

use super::Lifter;
use crate::ops::{Op, Reg, Shape, binary, constant, cut, register};
use crate::refusal::Refusal;

impl Lifter<'_> {
    pub(super) fn vector(&mut self) -> Result<bool, Refusal> {
        let instruction = self.instruction;
        match instruction.mnemonic() {
            Mnemonic::Movups
            | Mnemonic::Movaps
            | Mnemonic::Movupd
            | Mnemonic::Movapd
            | Mnemonic::Movdqu
            | Mnemonic::Movdqa => self.copy_whole()?,
            Mnemonic::Movq | Mnemonic::Movd => self.copy_low()?,
            Mnemonic::Movhps | Mnemonic::Movhpd => return self.copy_half(true),
            Mnemonic::Movlps | Mnemonic::Movlpd => return self.copy_half(false),
            Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd => {
                // How zero is written.
                if instruction.op_kind(1) != OpKind::Register
                    || instruction.op_register(0) != instruction.op_register(1)
                {
                    return Ok(false);
                }
                let (low, high) = self.halves(0)?;
                self.ops.push(Op::Set(low, constant(0)));
                self.ops.push(Op::Set(high, constant(0)));
            }
            Mnemonic::Punpcklqdq | Mnemonic::Unpcklpd | Mnemonic::Movlhps
                if instruction.op_kind(1) == OpKind::Register =>
            {
                let ((_, high), (other, _)) = (self.halves(0)?, self.halves(1)?);
                self.ops.push(Op::Set(high, register(other)));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The halves of a vector register.
    fn halves(&self, operand: u32) -> Result<(Reg, Reg), Refusal> {
        let which = self.instruction.op_register(operand);
        if self.instruction.op_kind(operand) != OpKind::Register || !(Register::XMM0..=Register::XMM15).contains(&which)
        {
            return Err(self.unsupported());
        }
        let low = Reg::FIRST_VECTOR + 2 * which.number() as u8;
        Ok((Reg(low), Reg(low + 1)))
    }

    /// 8 bytes between memory and one half of a vector register; the other half stays.
    fn copy_half(&mut self, is_high: bool) -> Result<bool, Refusal> {
        let half = |(low, high): (Reg, Reg)| if is_high { high } else { low };
        if self.is_memory(0) {
            let from = half(self.halves(1)?);
            self.write(0, register(from))?;
        } else if self.is_memory(1) {
            let (to, value) = (half(self.halves(0)?), self.read(1)?);
            self.ops.push(Op::Set(to, value));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// 16 bytes, as two accesses of 8. The processor may make them one, or make either first.
    fn copy_whole(&mut self) -> Result<(), Refusal> {
        self.shape = Shape::Wide;
        if [0, 1].into_iter().any(|operand| self.is_memory(operand))
            && matches!(self.instruction.mnemonic(), Mnemonic::Movaps | Mnemonic::Movapd | Mnemonic::Movdqa)
        {
            let rest = binary(BinaryOp::BitAnd, self.memory_address()?, constant(15));
            self.ops.push(Op::Check(binary(BinaryOp::Equal, rest, constant(0))));
        }
        if self.is_memory(0) {
            let (low, high) = self.halves(1)?;
            let address = self.memory_address()?;
            self.ops.push(Op::Store { address: address.clone(), value: register(low), size: 8 });
            let address = binary(BinaryOp::Add, address, constant(8));
            self.ops.push(Op::Store { address, value: register(high), size: 8 });
        } else if self.is_memory(1) {
            let (low, high) = self.halves(0)?;
            let address = self.memory_address()?;
            self.ops.push(Op::Load { to: low, address: address.clone(), size: 8 });
            let address = binary(BinaryOp::Add, address, constant(8));
            self.ops.push(Op::Load { to: high, address, size: 8 });
        } else {
            let ((low, high), (from_low, from_high)) = (self.halves(0)?, self.halves(1)?);
            self.ops.push(Op::Set(low, register(from_low)));
            self.ops.push(Op::Set(high, register(from_high)));
        }
        Ok(())
    }

    /// The low 4 or 8 bytes; the rest of a vector register becomes 0.
    fn copy_low(&mut self) -> Result<(), Refusal> {
        let size = if self.instruction.mnemonic() == Mnemonic::Movq { 8 } else { 4 };
        let is_vector = |operand| {
            self.instruction.op_kind(operand) == OpKind::Register && !self.instruction.op_register(operand).is_gpr()
        };
        let value = if is_vector(1) { cut(register(self.halves(1)?.0), size) } else { self.read(1)? };
        if is_vector(0) {
            let (low, high) = self.halves(0)?;
            self.ops.push(Op::Set(low, value));
            self.ops.push(Op::Set(high, constant(0)));
            return Ok(());
        }
        self.write(0, value)
    }
}
