//! Arithmetic, logic, shifts and comparisons.

use iced_x86::Mnemonic;
use weir_ir::{BinaryOp, Value};

use super::Lifter;
use super::flags::{Cause, bit, complement};
use crate::ops::{E, Op, Reg, binary, constant, cut, register, shift_right, signed};
use crate::refusal::Refusal;

impl Lifter<'_> {
    pub(super) fn arithmetic(&mut self) -> Result<bool, Refusal> {
        let mnemonic = self.instruction.mnemonic();
        if self.instruction.has_lock_prefix() {
            return Ok(false);
        }
        match mnemonic {
            Mnemonic::Cmp => {
                let (left, right) = self.operands()?;
                self.flags(&Cause::Subtract(left, right))?;
            }
            Mnemonic::Test => {
                let (left, right) = self.operands()?;
                let both = if left == right { left } else { binary(BinaryOp::BitAnd, left, right) };
                self.flags(&Cause::Logic(both))?;
            }
            Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => {
                let (left, right) = self.operands()?;
                let cause = self.combined(mnemonic, left, right);
                self.apply(&cause)?;
            }
            Mnemonic::Adc | Mnemonic::Sbb => {
                let (left, right) = self.operands()?;
                let cause = match mnemonic {
                    Mnemonic::Adc => Cause::AddCarry(left, right),
                    _ => Cause::SubtractBorrow(left, right),
                };
                // The result needs the carry from before.
                let (result, size) = (self.own(), self.size(0)?);
                self.ops.push(Op::Set(result, cause.result(size)));
                self.flags(&cause)?;
                self.write(0, register(result))?;
            }
            Mnemonic::Inc | Mnemonic::Dec | Mnemonic::Neg => {
                let value = self.read(0)?;
                let cause = match mnemonic {
                    Mnemonic::Inc => Cause::Increment(value),
                    Mnemonic::Dec => Cause::Decrement(value),
                    _ => Cause::Subtract(constant(0), value),
                };
                self.apply(&cause)?;
            }
            Mnemonic::Not => {
                let (value, size) = (self.read(0)?, self.size(0)?);
                self.write(0, complement(value, size))?;
            }
            Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shr | Mnemonic::Sar => self.shift(mnemonic)?,
            Mnemonic::Rol | Mnemonic::Ror => self.rotate(mnemonic == Mnemonic::Rol)?,
            Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc => return self.bit_test(mnemonic),
            Mnemonic::Bswap => {
                let (value, size) = (self.read(0)?, self.size(0)?);
                let swapped = (0..size).map(|at| {
                    let byte = binary(BinaryOp::BitAnd, shift_right(value.clone(), 8 * at), constant(0xFF));
                    binary(BinaryOp::ShiftLeft, byte, constant(Value::from(8 * (size - 1 - at))))
                });
                let swapped = swapped.reduce(|all, byte| binary(BinaryOp::BitOr, all, byte)).unwrap_or(value.clone());
                self.write(0, swapped)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Both operands, in the size of the first.
    pub(super) fn operands(&mut self) -> Result<(E, E), Refusal> {
        let size = self.size(0)?;
        let right = self.read_as(1, size)?;
        Ok((self.read(0)?, right))
    }

    pub(super) fn flags(&mut self, cause: &Cause) -> Result<(), Refusal> {
        let size = self.size(0)?;
        self.ops.extend(cause.ops(size));
        Ok(())
    }

    /// Sets the flags and writes the result to the first operand.
    fn apply(&mut self, cause: &Cause) -> Result<(), Refusal> {
        self.flags(cause)?;
        let result = cause.result(self.size(0)?);
        self.write(0, result)
    }

    pub(super) fn combined(&self, mnemonic: Mnemonic, left: E, right: E) -> Cause {
        let same = left == right;
        match mnemonic {
            // How zero is written.
            Mnemonic::Xor | Mnemonic::Sub if same && !self.is_memory(0) => Cause::Logic(constant(0)),
            Mnemonic::Add => Cause::Add(left, right),
            Mnemonic::Sub => Cause::Subtract(left, right),
            Mnemonic::And => Cause::Logic(binary(BinaryOp::BitAnd, left, right)),
            Mnemonic::Or => Cause::Logic(binary(BinaryOp::BitOr, left, right)),
            _ => Cause::Logic(binary(BinaryOp::BitXor, left, right)),
        }
    }

    fn shift(&mut self, mnemonic: Mnemonic) -> Result<(), Refusal> {
        let size = self.size(0)?;
        if !self.is_immediate(1) {
            return self.shift_by_register(mnemonic, size);
        }
        let count = self.instruction.immediate(1) as u32 & if size == 8 { 63 } else { 31 };
        if count == 0 {
            // Only the upper half of the register changes.
            let value = self.read(0)?;
            return self.write(0, value);
        }
        if count >= 8 * size {
            return Err(self.unsupported());
        }
        let value = self.read(0)?;
        let cause = match mnemonic {
            Mnemonic::Shr => Cause::ShiftRight(value, count),
            Mnemonic::Sar => Cause::ArithmeticRight(value, count),
            _ => Cause::ShiftLeft(value, count),
        };
        self.apply(&cause)
    }

    /// A shift by a number of bits that is only known at run time. If it is 0, flags stay as they are; here they are
    /// undefined in any case.
    fn shift_by_register(&mut self, mnemonic: Mnemonic, size: u32) -> Result<(), Refusal> {
        let modulus = if size == 8 { 63 } else { 31 };
        let count = binary(BinaryOp::BitAnd, register(Reg::CX), constant(modulus));
        let value = self.read(0)?;
        let result = match mnemonic {
            Mnemonic::Shr if size < 8 => binary(BinaryOp::ShiftRight, value, count),
            Mnemonic::Shr => {
                let shifted = binary(BinaryOp::ShiftRight, value, count.clone());
                // Ones where the sign was shifted in.
                let signs = binary(BinaryOp::ShiftRight, constant(Value::MIN), count);
                let signs = binary(BinaryOp::ShiftLeft, signs, constant(1));
                let kept = binary(BinaryOp::BitXor, signs, constant(-1));
                binary(BinaryOp::BitAnd, shifted, kept)
            }
            Mnemonic::Sar => cut(binary(BinaryOp::ShiftRight, signed(value, size), count), size),
            _ => cut(binary(BinaryOp::ShiftLeft, value, count), size),
        };
        self.flags(&Cause::Undefined)?;
        self.write(0, result)
    }

    fn rotate(&mut self, is_left: bool) -> Result<(), Refusal> {
        let size = self.size(0)?;
        let bits = 8 * size;
        if !self.is_immediate(1) {
            return Err(self.unsupported());
        }
        let count = self.instruction.immediate(1) as u32 % bits;
        let left = if is_left { count } else { (bits - count) % bits };
        let value = self.read(0)?;
        let result = if left == 0 {
            value
        } else {
            let up = cut(binary(BinaryOp::ShiftLeft, value.clone(), constant(left.into())), size);
            binary(BinaryOp::BitOr, up, shift_right(value, bits - left))
        };
        // It changes the carry and the overflow flag only. Nothing that compilers emit looks at flags after it.
        self.flags(&Cause::Undefined)?;
        self.write(0, result)
    }

    /// Tests a bit, and changes it.
    fn bit_test(&mut self, mnemonic: Mnemonic) -> Result<bool, Refusal> {
        let size = self.size(0)?;
        // With a register, the number of the bit reaches beyond the operand in memory.
        if self.is_memory(0) && !self.is_immediate(1) {
            return Ok(false);
        }
        let value = self.read(0)?;
        let at = self.read_as(1, size)?;
        let at = binary(BinaryOp::BitAnd, at, constant(Value::from(8 * size - 1)));
        let moved = binary(BinaryOp::ShiftRight, value.clone(), at.clone());
        let carry = binary(BinaryOp::BitAnd, moved, constant(1));
        let one = binary(BinaryOp::ShiftLeft, constant(1), at);
        let result = match mnemonic {
            Mnemonic::Bts => Some(binary(BinaryOp::BitOr, value, one)),
            Mnemonic::Btr => Some(binary(BinaryOp::BitAnd, value, complement(one, size))),
            Mnemonic::Btc => Some(binary(BinaryOp::BitXor, value, one)),
            _ => None,
        };
        self.flags(&Cause::Carry(carry))?;
        if let Some(result) = result {
            self.write(0, result)?;
        }
        Ok(true)
    }

    /// Multiplication and division.
    pub(super) fn multiply(&mut self) -> Result<bool, Refusal> {
        match (self.instruction.mnemonic(), self.instruction.op_count()) {
            (Mnemonic::Imul, 2) => {
                let (left, right) = self.operands()?;
                self.product(left, right)?;
            }
            (Mnemonic::Imul, 3) => {
                let size = self.size(0)?;
                let left = self.read(1)?;
                let right = self.read_as(2, size)?;
                self.product(left, right)?;
            }
            (Mnemonic::Imul, 1) => self.wide_product(true)?,
            (Mnemonic::Mul, 1) => self.wide_product(false)?,
            (Mnemonic::Div, 1) => self.divide(false)?,
            (Mnemonic::Idiv, 1) => self.divide(true)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The low half of a product with sign.
    fn product(&mut self, left: E, right: E) -> Result<(), Refusal> {
        let size = self.size(0)?;
        let (left, right) = (signed(left, size), signed(right, size));
        let (low, overflow) = if size < 8 {
            let whole = binary(BinaryOp::Multiply, left, right);
            let low = cut(whole.clone(), size);
            (low.clone(), binary(BinaryOp::NotEqual, whole, signed(low, size)))
        } else {
            let low = binary(BinaryOp::Multiply, left.clone(), right.clone());
            let high = self.high_half(left, right, true);
            let sign = binary(BinaryOp::ShiftRight, low.clone(), constant(63));
            (low, binary(BinaryOp::NotEqual, high, sign))
        };
        self.flags(&Cause::Multiply(overflow))?;
        self.write(0, low)
    }

    /// The whole product of the accumulator and the operand.
    fn wide_product(&mut self, is_signed: bool) -> Result<(), Refusal> {
        let size = self.size(0)?;
        let right = self.read(0)?;
        let left = cut(register(Reg::AX), size);
        if size == 1 {
            return self.byte_product(left, right, is_signed);
        }
        let (low, high) = if size < 8 {
            let extend = |value| if is_signed { signed(value, size) } else { value };
            let whole = binary(BinaryOp::Multiply, extend(left), extend(right));
            (cut(whole.clone(), size), cut(shift_right(whole, 8 * size), size))
        } else {
            let low = binary(BinaryOp::Multiply, left.clone(), right.clone());
            (low, self.high_half(left, right, is_signed))
        };
        let (to_low, to_high) = (self.own(), self.own());
        self.ops.push(Op::Set(to_low, low));
        self.ops.push(Op::Set(to_high, high));
        let expected = if is_signed {
            cut(binary(BinaryOp::ShiftRight, signed(register(to_low), size), constant(63)), size)
        } else {
            constant(0)
        };
        self.flags(&Cause::Multiply(binary(BinaryOp::NotEqual, register(to_high), expected)))?;
        self.write_part(Reg::AX, size, register(to_low));
        self.write_part(Reg::DX, size, register(to_high));
        Ok(())
    }

    /// A product of bytes: both halves go to the accumulator.
    fn byte_product(&mut self, left: E, right: E, is_signed: bool) -> Result<(), Refusal> {
        let extend = |value| if is_signed { signed(value, 1) } else { value };
        let product = self.own();
        self.ops.push(Op::Set(product, binary(BinaryOp::Multiply, extend(left), extend(right))));
        let fitting = extend(cut(register(product), 1));
        self.flags(&Cause::Multiply(binary(BinaryOp::NotEqual, register(product), fitting)))?;
        self.write_part(Reg::AX, 2, cut(register(product), 2));
        Ok(())
    }

    /// The upper 64 bits of a product of two values of 64 bits, by products of halves.
    fn high_half(&mut self, left: E, right: E, is_signed: bool) -> E {
        let low = |value: &E| cut(value.clone(), 4);
        let high = |value: &E| shift_right(value.clone(), 32);
        let times = |a: E, b: E| binary(BinaryOp::Multiply, a, b);
        let plus = |a: E, b: E| binary(BinaryOp::Add, a, b);
        let (first, second) = (self.own(), self.own());
        self.ops.push(Op::Set(first, times(low(&left), high(&right))));
        self.ops.push(Op::Set(second, times(high(&left), low(&right))));
        let (first, second) = (register(first), register(second));
        let middle = self.own();
        let sum = plus(shift_right(times(low(&left), low(&right)), 32), plus(low(&first), low(&second)));
        self.ops.push(Op::Set(middle, sum));
        let upper = plus(times(high(&left), high(&right)), plus(high(&first), high(&second)));
        let upper = plus(upper, high(&register(middle)));
        if !is_signed {
            return upper;
        }
        let if_negative =
            |sign: E, value: E| binary(BinaryOp::BitAnd, binary(BinaryOp::ShiftRight, sign, constant(63)), value);
        let minus = |a: E, b: E| binary(BinaryOp::Subtract, a, b);
        minus(minus(upper, if_negative(left.clone(), right.clone())), if_negative(right, left))
    }

    /// Quotient and remainder. An exception is a failed check.
    fn divide(&mut self, is_signed: bool) -> Result<(), Refusal> {
        let size = self.size(0)?;
        let divisor = self.read(0)?;
        let divisor = if is_signed { signed(divisor, size) } else { divisor };
        self.ops.push(Op::Check(binary(BinaryOp::NotEqual, divisor.clone(), constant(0))));
        if size == 1 {
            return self.divide_bytes(divisor, is_signed);
        }
        let low = cut(register(Reg::AX), size);
        let high = cut(register(Reg::DX), size);
        let dividend = match (size, is_signed) {
            (8, _) => low.clone(),
            (_, true) => {
                let whole = binary(
                    BinaryOp::BitOr,
                    binary(BinaryOp::ShiftLeft, high.clone(), constant((8 * size).into())),
                    low.clone(),
                );
                signed(whole, 2 * size)
            }
            (_, false) => low.clone(),
        };
        // The upper half is what compilers put there: the sign, or zero.
        let expected = match is_signed {
            true => cut(binary(BinaryOp::ShiftRight, signed(low, size), constant(63)), size),
            false => constant(0),
        };
        if size == 8 || !is_signed {
            self.ops.push(Op::Check(binary(BinaryOp::Equal, high, expected)));
        }
        let (quotient, remainder) = match (size, is_signed) {
            (8, false) => self.unsigned_quotient(dividend, divisor),
            _ => {
                let quotient = binary(BinaryOp::Divide, dividend.clone(), divisor.clone());
                (quotient, binary(BinaryOp::Remainder, dividend, divisor))
            }
        };
        let (to_quotient, to_remainder) = (self.own(), self.own());
        self.ops.push(Op::Set(to_quotient, cut(quotient.clone(), size)));
        self.ops.push(Op::Set(to_remainder, cut(remainder, size)));
        if is_signed && size < 8 {
            let fits = binary(BinaryOp::Equal, signed(register(to_quotient), size), quotient);
            self.ops.push(Op::Check(fits));
        }
        self.flags(&Cause::Undefined)?;
        self.write_part(Reg::AX, size, register(to_quotient));
        self.write_part(Reg::DX, size, register(to_remainder));
        Ok(())
    }

    /// A division by a byte: quotient and remainder go to the accumulator.
    fn divide_bytes(&mut self, divisor: E, is_signed: bool) -> Result<(), Refusal> {
        let extend = |value, size| if is_signed { signed(value, size) } else { value };
        let dividend = extend(cut(register(Reg::AX), 2), 2);
        let (quotient, remainder) = (self.own(), self.own());
        self.ops.push(Op::Set(quotient, binary(BinaryOp::Divide, dividend.clone(), divisor.clone())));
        self.ops.push(Op::Set(remainder, binary(BinaryOp::Remainder, dividend, divisor)));
        let fitting = extend(cut(register(quotient), 1), 1);
        self.ops.push(Op::Check(binary(BinaryOp::Equal, register(quotient), fitting)));
        self.flags(&Cause::Undefined)?;
        let upper = binary(BinaryOp::ShiftLeft, cut(register(remainder), 1), constant(8));
        self.write_part(Reg::AX, 2, binary(BinaryOp::BitOr, upper, cut(register(quotient), 1)));
        Ok(())
    }

    /// Division of values of 64 bits without sign, by division with sign.
    fn unsigned_quotient(&mut self, dividend: E, divisor: E) -> (E, E) {
        let at_least = |a: E, b: E| crate::ops::not(crate::ops::below(a, b, 8));
        let times = |a: E, b: E| binary(BinaryOp::Multiply, a, b);
        // Half of the dividend has no sign. Twice its quotient is right, or one too small.
        let estimate = self.own();
        let halved = binary(BinaryOp::Divide, shift_right(dividend.clone(), 1), divisor.clone());
        self.ops.push(Op::Set(estimate, binary(BinaryOp::ShiftLeft, halved, constant(1))));
        let rest = self.own();
        let covered = times(register(estimate), divisor.clone());
        self.ops.push(Op::Set(rest, binary(BinaryOp::Subtract, dividend.clone(), covered)));
        let small = binary(BinaryOp::Add, register(estimate), at_least(register(rest), divisor.clone()));
        // A divisor with the highest bit set fits once or not at all.
        let large = at_least(dividend.clone(), divisor.clone());
        let is_large = binary(BinaryOp::Less, divisor.clone(), constant(0));
        let quotient = self.own();
        let chosen = binary(BinaryOp::Add, times(is_large.clone(), large), times(crate::ops::not(is_large), small));
        self.ops.push(Op::Set(quotient, chosen));
        let remainder = binary(BinaryOp::Subtract, dividend, times(register(quotient), divisor));
        (register(quotient), remainder)
    }

    /// The value of one bit, as a carry.
    pub(super) fn carry_of(value: E, at: u32) -> Cause {
        Cause::Carry(bit(value, at))
    }
}
