//! What each instruction does, as steps.

use weir_ir::{BinaryRmw, Diagnostic, Expr, Instruction as Step, RegExpr, RegId, Rmw, Value};

use super::super::Refused;
use super::super::mnemonic::{Binary, Operation, Unary};
use super::super::register::{Base, Flag, Part};
use super::super::tree::{Instruction, Operand, OperandKind};
use super::access::{bytes, part};
use super::bits::signed;
use super::flags::{Cause, condition};
use super::operand::Target;
use super::registers::Registers;
use super::thread::Lowering;

impl Lowering<'_> {
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let size = self.context.size(instruction)?;
        match (instruction.operation, instruction.operands.as_slice()) {
            (Operation::Fence, _) => self.chain.push(Step::Fence),
            (Operation::Move, [to, from]) => self.move_to(to, from, size)?,
            (Operation::LoadAddress, [to, from]) => {
                let OperandKind::Memory(memory) = &from.kind else { return Ok(()) };
                let address = signed(self.address(memory), size);
                self.write_register(to, size, address);
            }
            (Operation::Binary(operation), [to, from]) => self.combine(instruction, operation, to, from, size)?,
            (Operation::Compare(operation), [left, right]) => {
                let left = self.value(left, size)?;
                let right = self.value(right, size)?;
                self.set_flags(&Cause::Binary(operation, left, right), size, instruction)?;
            }
            (Operation::Unary(operation), [to]) => self.change(instruction, operation, to, size)?,
            (Operation::Shift(shift), [to, by]) => {
                let OperandKind::Immediate(constant) = &by.kind else { return Ok(()) };
                let count = self.context.cells.value(constant) & if size == 8 { 63 } else { 31 };
                if count == 0 || count >= Value::from(8 * size) {
                    return Err(bad_shift(by, size).into());
                }
                let cause = |value| Cause::Shift(shift, value, count as u32);
                self.modify(instruction, to, size, cause)?;
            }
            (Operation::Exchange, [left, right]) => self.exchange(left, right, size, true)?,
            (Operation::UnlockedExchange, [left, right]) => self.exchange(left, right, size, false)?,
            (Operation::ExchangeAdd, [to, register]) => self.exchange_add(instruction, to, register, size)?,
            (Operation::CompareExchange, [to, new]) => self.compare_exchange(instruction, to, new, size)?,
            (Operation::Read, [from]) => {
                self.value(from, size)?;
            }
            (Operation::Set(test), [to]) => {
                let value = condition(test, &self.registers);
                self.write(to, size, value)?;
            }
            (Operation::MoveIf(test), [to, from]) => {
                let value = self.value(from, size)?;
                let test = condition(test, &self.registers);
                let OperandKind::Register(register) = &to.kind else { return Ok(()) };
                // A 32-bit register is written back even if the condition does not hold, which clears the upper half.
                let kept = self.registers.read(&register.base, part(register, size));
                let (then, otherwise) = (self.assignment(register, size, value), self.assignment(register, size, kept));
                self.chain.branch(&test, then, otherwise);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn move_to(&mut self, to: &Operand, from: &Operand, size: u32) -> Result<(), Refused> {
        if let (OperandKind::Register(register), OperandKind::Memory(_)) = (&to.kind, &from.kind)
            && let Some(id) = self.registers.direct(&register.base, part(register, size))
        {
            let target = self.target(from, size)?;
            self.chain.push(Step::Load { register: id, address: target.address });
            return Ok(());
        }
        let value = self.value(from, size)?;
        self.write(to, size, value)
    }

    pub(super) fn combine(
        &mut self,
        instruction: &Instruction,
        operation: Binary,
        to: &Operand,
        from: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        // `XOR EAX,EAX` is how zero is written.
        if let (OperandKind::Register(left), OperandKind::Register(right)) = (&to.kind, &from.kind)
            && left == right
            && matches!(operation, Binary::Xor | Binary::Subtract)
        {
            let cause = Cause::Binary(operation, Expr::Const(0), Expr::Const(0));
            self.set_flags(&cause, size, instruction)?;
            return self.write(to, size, Expr::Const(0));
        }
        let source = self.value(from, size)?;
        self.modify(instruction, to, size, |old| Cause::Binary(operation, old, source.clone()))
    }

    pub(super) fn change(
        &mut self,
        instruction: &Instruction,
        operation: Unary,
        to: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        self.modify(instruction, to, size, |old| Cause::Unary(operation, old))
    }

    /// Reads the destination, works out the result, sets flags, and writes it back; in one step if it is locked.
    pub(super) fn modify(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        size: u32,
        cause: impl Fn(RegExpr) -> Cause,
    ) -> Result<(), Refused> {
        let OperandKind::Memory(_) = &to.kind else {
            let cause = cause(self.value(to, size)?);
            self.set_flags_of(instruction, &cause, size)?;
            return self.write(to, size, cause.result(size));
        };
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = cause(Expr::Leaf(old));
        if instruction.is_locked {
            self.modify_atomically(&target, old, &cause);
            return self.set_flags_of(instruction, &cause, size);
        }
        self.chain.push(Step::Load { register: old, address: target.address.clone() });
        self.set_flags_of(instruction, &cause, size)?;
        self.chain.push(Step::Store { address: target.address, value: cause.result(size) });
        Ok(())
    }

    /// What the cell held goes to `old`.
    pub(super) fn modify_atomically(&mut self, target: &Target, old: RegId, cause: &Cause) {
        let fetch = match cause {
            Cause::Binary(Binary::And, _, value) => Some((BinaryRmw::And, value.clone())),
            Cause::Binary(Binary::Or, _, value) => Some((BinaryRmw::Or, value.clone())),
            Cause::Binary(Binary::Xor, _, value) => Some((BinaryRmw::Xor, value.clone())),
            Cause::Unary(Unary::Not, _) => Some((BinaryRmw::Xor, Expr::Const(-1))),
            Cause::Binary(Binary::Add, _, value) => Some((BinaryRmw::Add, value.clone())),
            Cause::Binary(Binary::Subtract, _, value) => Some((BinaryRmw::Subtract, value.clone())),
            Cause::Unary(Unary::Increment, _) => Some((BinaryRmw::Add, Expr::Const(1))),
            Cause::Unary(Unary::Decrement, _) => Some((BinaryRmw::Subtract, Expr::Const(1))),
            Cause::Unary(Unary::Negate, _) | Cause::Shift(..) => None,
        };
        let adds = matches!(fetch, Some((BinaryRmw::Add | BinaryRmw::Subtract, _)));
        self.adds_atomically |= adds;
        let address = target.address.clone();
        match fetch.filter(|_| !(adds && self.context.locks_additions)) {
            Some((operation, value)) => {
                let operation = Rmw::Fetch(operation, value);
                self.chain.push(Step::ReadModifyWrite { register: Some(old), address, operation });
            }
            None => {
                self.chain.push(Step::Lock);
                self.chain.push(Step::Load { register: old, address: address.clone() });
                self.chain.push(Step::Store { address, value: cause.result(target.size) });
                self.chain.push(Step::Unlock);
            }
        }
    }

    pub(super) fn set_flags_of(&mut self, instruction: &Instruction, cause: &Cause, size: u32) -> Result<(), Refused> {
        if instruction.operation.sets_flags() { self.set_flags(cause, size, instruction) } else { Ok(()) }
    }

    /// Sets those flags that anything looks at.
    pub(super) fn set_flags(&mut self, cause: &Cause, size: u32, instruction: &Instruction) -> Result<(), Refused> {
        for flag in [Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow] {
            let base = Base::Flag(flag);
            if self.registers.direct_flag(&base).is_none() {
                continue;
            }
            let value = cause.flag(flag, size, instruction.span)?;
            let Some((register, value)) = value.and_then(|value| self.registers.write(&base, Part::Quad, value)) else {
                continue;
            };
            self.chain.push(Step::Assign { register, value });
        }
        Ok(())
    }
}

impl Registers {
    /// The register of a flag, if anything looks at it.
    fn direct_flag(&self, base: &Base) -> Option<RegId> {
        self.write(base, Part::Quad, Expr::Const(0)).map(|(register, _)| register)
    }
}

fn bad_shift(by: &Operand, size: u32) -> Diagnostic {
    let most = 8 * size - 1;
    Diagnostic::error("wrong-shift", format!("the shift count for {} must be 1 to {most}", bytes(size)), by.span)
        .help("remove the instruction, or move 0 into the register")
}
