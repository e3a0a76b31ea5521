//! String moves: `movs` and `stos`, alone and repeated.
//!
//! The direction flag is clear, as the calling convention says; `std` is refused like every unknown instruction. The
//! processor may make the stores of a repeated move in any order ("fast strings"), so that they are only supported where
//! nobody else can see it.

use iced_x86::{Mnemonic, OpKind, Register};
use weir_ir::BinaryOp;

use super::Lifter;
use crate::ops::{Next, Op, Reg, Shape, binary, constant, cut, register};
use crate::refusal::Refusal;

impl Lifter<'_> {
    /// A string move; `None` if it is something else.
    pub(super) fn string(&mut self) -> Result<Option<Next>, Refusal> {
        let (size, is_move) = match self.instruction.mnemonic() {
            Mnemonic::Stosb => (1, false),
            Mnemonic::Stosw => (2, false),
            Mnemonic::Stosd => (4, false),
            Mnemonic::Stosq => (8, false),
            Mnemonic::Movsb => (1, true),
            Mnemonic::Movsw => (2, true),
            Mnemonic::Movsq => (8, true),
            // There is a vector instruction of the same name.
            Mnemonic::Movsd if self.instruction.is_string_instruction() => (4, true),
            _ => return Ok(None),
        };
        let is_repeated = self.instruction.has_rep_prefix();
        // Addresses of 32 bits, other segments and the other prefix: no compiler emits them.
        let has_segment = self.instruction.segment_prefix() != Register::None;
        if self.instruction.has_repne_prefix() || has_segment || self.has_short_addresses() {
            return Err(self.unsupported());
        }
        let advance = |reg| Op::Set(reg, binary(BinaryOp::Add, register(reg), constant(size.into())));
        let mut ops = Vec::new();
        let value = if is_move {
            let loaded = self.own();
            ops.push(Op::Load { to: loaded, address: register(Reg::SI), size });
            register(loaded)
        } else {
            cut(register(Reg::AX), size)
        };
        ops.push(Op::Store { address: register(Reg::DI), value, size });
        if is_move {
            ops.push(advance(Reg::SI));
        }
        ops.push(advance(Reg::DI));
        if !is_repeated {
            self.ops = ops;
            return Ok(Some(Next::Fall));
        }
        self.shape = Shape::Unordered;
        ops.push(Op::Set(Reg::CX, binary(BinaryOp::Subtract, register(Reg::CX), constant(1))));
        Ok(Some(Next::Repeat(ops)))
    }

    fn has_short_addresses(&self) -> bool {
        (0..self.instruction.op_count())
            .any(|operand| matches!(self.instruction.op_kind(operand), OpKind::MemoryESEDI | OpKind::MemorySegESI))
    }
}
