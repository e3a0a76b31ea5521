//! Exchanges and locked instructions.

use iced_x86::Mnemonic;
use weir_ir::{BinaryOp, BinaryRmw};

use super::Lifter;
use super::flags::Cause;
use crate::ops::{Change, E, Op, Reg, Test, binary, constant, cut, mask, register, shift_right};
use crate::refusal::Refusal;

impl Lifter<'_> {
    pub(super) fn atomic(&mut self) -> Result<bool, Refusal> {
        let mnemonic = self.instruction.mnemonic();
        let is_locked = self.instruction.has_lock_prefix();
        match mnemonic {
            Mnemonic::Xchg => self.exchange()?,
            Mnemonic::Xadd => self.exchange_add(is_locked)?,
            Mnemonic::Cmpxchg => self.compare_exchange(is_locked)?,
            _ if !is_locked => return Ok(false),
            Mnemonic::Cmpxchg8b => self.compare_exchange_halves()?,
            Mnemonic::Cmpxchg16b => self.compare_exchange_pair()?,
            Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => {
                let size = self.size(0)?;
                let value = self.read_as(1, size)?;
                let kind = match mnemonic {
                    Mnemonic::Add => BinaryRmw::Add,
                    Mnemonic::Sub => BinaryRmw::Subtract,
                    Mnemonic::And => BinaryRmw::And,
                    Mnemonic::Or => BinaryRmw::Or,
                    _ => BinaryRmw::Xor,
                };
                let old = self.change(Change::Fetch(kind, value.clone()))?;
                let cause = self.combined(mnemonic, register(old), value);
                self.flags(&cause)?;
            }
            Mnemonic::Inc | Mnemonic::Dec => {
                let kind = if mnemonic == Mnemonic::Inc { BinaryRmw::Add } else { BinaryRmw::Subtract };
                let old = register(self.change(Change::Fetch(kind, constant(1)))?);
                let cause = if mnemonic == Mnemonic::Inc { Cause::Increment(old) } else { Cause::Decrement(old) };
                self.flags(&cause)?;
            }
            Mnemonic::Not => {
                let size = self.size(0)?;
                self.change(Change::Fetch(BinaryRmw::Xor, constant(mask(size))))?;
            }
            Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc if self.is_immediate(1) => {
                let size = self.size(0)?;
                let at = self.instruction.immediate(1) as u32 % (8 * size);
                let one = constant(1 << at);
                let change = match mnemonic {
                    Mnemonic::Bts => Change::Fetch(BinaryRmw::Or, one),
                    Mnemonic::Btr => Change::Fetch(BinaryRmw::And, constant(mask(size) & !(1 << at))),
                    _ => Change::Fetch(BinaryRmw::Xor, one),
                };
                let old = self.change(change)?;
                self.flags(&Self::carry_of(register(old), at))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Changes the first operand in one step; the register holds what it held.
    fn change(&mut self, change: Change) -> Result<Reg, Refusal> {
        let (to, size, address) = (self.own(), self.size(0)?, self.memory_address()?);
        if size > 8 {
            return Err(self.unsupported());
        }
        self.ops.push(Op::Change { to, address, size, change });
        Ok(to)
    }

    fn exchange(&mut self) -> Result<(), Refusal> {
        let (cell, other) = match (self.is_memory(0), self.is_memory(1)) {
            (true, _) => (0, 1),
            (_, true) => (1, 0),
            _ => {
                let old = self.own();
                let left = self.read(0)?;
                self.ops.push(Op::Set(old, left));
                let right = self.read(1)?;
                self.write(0, right)?;
                return self.write(1, register(old));
            }
        };
        let value = self.read(other)?;
        let (to, size, address) = (self.own(), self.size(cell)?, self.memory_address()?);
        // With memory it is locked, whether it says so or not.
        self.ops.push(Op::Change { to, address, size, change: Change::Exchange(value) });
        self.write(other, register(to))
    }

    fn exchange_add(&mut self, is_locked: bool) -> Result<(), Refusal> {
        let (added, size) = (self.own(), self.size(0)?);
        let value = self.read(1)?;
        self.ops.push(Op::Set(added, value));
        if is_locked {
            let old = self.change(Change::Fetch(BinaryRmw::Add, register(added)))?;
            self.flags(&Cause::Add(register(old), register(added)))?;
            return self.write(1, register(old));
        }
        let old = self.own();
        let value = self.read(0)?;
        self.ops.push(Op::Set(old, value));
        let cause = Cause::Add(register(old), register(added));
        self.flags(&cause)?;
        self.write(1, register(old))?;
        self.write(0, cause.result(size))
    }

    /// Writes the second operand if the first holds what the accumulator does; else the accumulator takes it.
    fn compare_exchange(&mut self, is_locked: bool) -> Result<(), Refusal> {
        let size = self.size(0)?;
        let expected = self.own();
        self.ops.push(Op::Set(expected, cut(register(Reg::AX), size)));
        let new = self.read(1)?;
        let is_equal = |old: &E| binary(BinaryOp::Equal, register(expected), old.clone());
        let old = if is_locked {
            register(self.change(Change::CompareExchange(register(expected), new.clone()))?)
        } else {
            self.read(0)?
        };
        self.flags(&Cause::Subtract(register(expected), old.clone()))?;
        let accumulator = match size {
            8 => old.clone(),
            // If they are equal the accumulator is not written, and keeps its upper half.
            4 => {
                let upper = binary(BinaryOp::BitAnd, register(Reg::AX), constant(!mask(4)));
                binary(BinaryOp::BitOr, binary(BinaryOp::Multiply, upper, is_equal(&old)), old.clone())
            }
            size => {
                let kept = binary(BinaryOp::BitAnd, register(Reg::AX), constant(!mask(size)));
                binary(BinaryOp::BitOr, kept, old.clone())
            }
        };
        if !is_locked {
            self.unlocked_write(&old, new, is_equal(&old))?;
        }
        self.ops.push(Op::Set(Reg::AX, accumulator));
        Ok(())
    }

    /// Compares 8 bytes with the halves in `edx:eax`, and exchanges them for those in `ecx:ebx`.
    fn compare_exchange_halves(&mut self) -> Result<(), Refusal> {
        let whole = |high: Reg, low: Reg| {
            let high = binary(BinaryOp::ShiftLeft, register(high), constant(32));
            binary(BinaryOp::BitOr, high, cut(register(low), 4))
        };
        let expected = self.own();
        self.ops.push(Op::Set(expected, whole(Reg::DX, Reg::AX)));
        let new = whole(Reg::CX, Reg::BX);
        let old = register(self.change(Change::CompareExchange(register(expected), new))?);
        let is_equal = binary(BinaryOp::Equal, old.clone(), register(expected));
        self.only_zero_flag(is_equal.clone());
        // If they are equal the registers are not written, and keep their upper halves.
        for (reg, half) in [(Reg::AX, cut(old.clone(), 4)), (Reg::DX, shift_right(old.clone(), 32))] {
            let upper = binary(BinaryOp::BitAnd, register(reg), constant(!mask(4)));
            let kept = binary(BinaryOp::Multiply, upper, is_equal.clone());
            self.ops.push(Op::Set(reg, binary(BinaryOp::BitOr, kept, half)));
        }
        Ok(())
    }

    /// Compares 16 bytes with those in `rdx:rax`, and exchanges them for those in `rcx:rbx`.
    fn compare_exchange_pair(&mut self) -> Result<(), Refusal> {
        let address = self.memory_address()?;
        let last = binary(BinaryOp::BitAnd, address.clone(), constant(15));
        self.ops.push(Op::Check(binary(BinaryOp::Equal, last, constant(0))));
        let to = (self.own(), self.own());
        let expected = (register(Reg::AX), register(Reg::DX));
        let new = (register(Reg::BX), register(Reg::CX));
        self.ops.push(Op::ChangePair { to, address, expected, new });
        let is_low = binary(BinaryOp::Equal, register(to.0), register(Reg::AX));
        let is_high = binary(BinaryOp::Equal, register(to.1), register(Reg::DX));
        self.only_zero_flag(binary(BinaryOp::BitAnd, is_low, is_high));
        self.ops.push(Op::Set(Reg::AX, register(to.0)));
        self.ops.push(Op::Set(Reg::DX, register(to.1)));
        Ok(())
    }

    /// Of the flags, only the one for "equal" changes. Nothing that compilers emit looks at tests that combine it with
    /// others.
    fn only_zero_flag(&mut self, is_equal: E) {
        self.ops.push(Op::Flag(Test::BelowOrEqual, None));
        self.ops.push(Op::Flag(Test::LessOrEqual, None));
        self.ops.push(Op::Flag(Test::Equal, Some(is_equal)));
    }

    /// Without a lock the processor writes in any case: what was there, if the comparison failed.
    fn unlocked_write(&mut self, old: &E, new: E, is_equal: E) -> Result<(), Refusal> {
        let written = self.own();
        self.ops.push(Op::Set(written, old.clone()));
        self.ops.push(Op::SetIf(is_equal, written, new));
        self.write(0, register(written))
    }
}
