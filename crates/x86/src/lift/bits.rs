//! Searches for the highest and the lowest bit that is set.

use iced_x86::Mnemonic;
use weir_ir::BinaryOp;

use super::Lifter;
use super::flags::Cause;
use crate::ops::{E, Op, Reg, Test, binary, constant, cut, register};
use crate::refusal::Refusal;

impl Lifter<'_> {
    pub(super) fn scan(&mut self) -> Result<bool, Refusal> {
        let mnemonic = self.instruction.mnemonic();
        if !matches!(mnemonic, Mnemonic::Bsr | Mnemonic::Bsf | Mnemonic::Tzcnt) {
            return Ok(false);
        }
        let size = self.size(0)?;
        let value = self.own();
        let read = self.read(1)?;
        self.ops.push(Op::Set(value, read));
        let value = register(value);
        let zero = binary(BinaryOp::Equal, value.clone(), constant(0));
        let searched = match mnemonic {
            Mnemonic::Bsr => value.clone(),
            // Only the lowest bit.
            _ => {
                let negative = binary(BinaryOp::Subtract, constant(0), value.clone());
                cut(binary(BinaryOp::BitAnd, value.clone(), negative), size)
            }
        };
        let found = register(self.highest(searched));
        self.flags(&Cause::Undefined)?;
        if mnemonic == Mnemonic::Tzcnt {
            // All bits are 0.
            let found =
                binary(BinaryOp::Add, found, binary(BinaryOp::Multiply, zero.clone(), constant(8 * i64::from(size))));
            self.ops.push(Op::Flag(Test::Equal, Some(binary(BinaryOp::Equal, found.clone(), constant(0)))));
            self.ops.push(Op::Flag(Test::Below, Some(zero)));
            self.write(0, found)?;
            return Ok(true);
        }
        // Of no bit, processors leave the register as it is.
        let (reg, merged) = self.merged(0, found)?;
        self.ops.push(Op::SetIf(crate::ops::not(zero.clone()), reg, merged));
        self.ops.push(Op::Flag(Test::Equal, Some(zero)));
        Ok(true)
    }

    /// The number of the highest bit that is set, by halves; 0 if there is none.
    fn highest(&mut self, value: E) -> Reg {
        let (rest, number) = (self.own(), self.own());
        self.ops.push(Op::Set(rest, value));
        self.ops.push(Op::Set(number, constant(0)));
        for half in [32, 16, 8, 4, 2, 1] {
            let upper = crate::ops::shift_right(register(rest), half);
            let is_there = binary(BinaryOp::NotEqual, upper.clone(), constant(0));
            let more = binary(BinaryOp::Multiply, is_there.clone(), constant(half.into()));
            self.ops.push(Op::Set(number, binary(BinaryOp::Add, register(number), more)));
            self.ops.push(Op::SetIf(is_there, rest, upper));
        }
        number
    }
}
