//! Exchanges: what reads and writes a cell in one instruction, and keeps what was read.

use weir_ir::{BinaryOp, Expr, Instruction as Step, RegId, Rmw};

use super::super::Refused;
use super::super::mnemonic::Binary;
use super::super::register::{ACCUMULATOR, Base, Part, RegisterName};
use super::super::tree::{Instruction, Operand, OperandKind};
use super::access::part;
use super::bits::binary;
use super::flags::Cause;
use super::thread::Lowering;

impl Lowering<'_> {
    pub(super) fn exchange(
        &mut self,
        left: &Operand,
        right: &Operand,
        size: u32,
        is_atomic: bool,
    ) -> Result<(), Refused> {
        let (cell, other) = match (&left.kind, &right.kind) {
            (OperandKind::Memory(_), _) => (left, right),
            (_, OperandKind::Memory(_)) => (right, left),
            _ => return self.exchange_registers(left, right, size),
        };
        let value = self.value(other, size)?;
        let target = self.target(cell, size)?;
        let direct = self.direct(other, size);
        let old = direct.filter(|_| is_atomic).unwrap_or_else(|| self.registers.temporary(cell.span));
        if is_atomic {
            let operation = Rmw::Exchange(value);
            self.chain.push(Step::ReadModifyWrite { register: Some(old), address: target.address, operation });
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            self.chain.push(Step::Store { address: target.address, value });
        }
        if Some(old) == direct {
            return Ok(());
        }
        self.write(other, size, Expr::Leaf(old))
    }

    /// The register, if a value of this size can be put there as it is.
    pub(super) fn direct(&self, operand: &Operand, size: u32) -> Option<RegId> {
        let OperandKind::Register(register) = &operand.kind else { return None };
        self.registers.direct(&register.base, part(register, size))
    }

    pub(super) fn exchange_registers(&mut self, left: &Operand, right: &Operand, size: u32) -> Result<(), Refused> {
        let old = self.registers.temporary(left.span);
        let value = self.value(left, size)?;
        self.chain.push(Step::Assign { register: old, value });
        let value = self.value(right, size)?;
        self.write(left, size, value)?;
        self.write(right, size, Expr::Leaf(old))
    }

    pub(super) fn exchange_add(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        register: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        let added = self.registers.temporary(instruction.span);
        let value = self.value(register, size)?;
        self.chain.push(Step::Assign { register: added, value });
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = Cause::Binary(Binary::Add, Expr::Leaf(old), Expr::Leaf(added));
        if instruction.is_locked {
            self.modify_atomically(&target, old, &cause);
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            self.chain.push(Step::Store { address: target.address, value: cause.result(size) });
        }
        self.set_flags(&cause, size, instruction)?;
        self.write(register, size, Expr::Leaf(old))
    }

    /// Writes `new` if the cell holds what the accumulator does; else the accumulator takes what the cell holds.
    pub(super) fn compare_exchange(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        new: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        let accumulator = RegisterName { base: Base::General(ACCUMULATOR), part: Some(Part::of_size(size)) };
        let expected = self.registers.read(&accumulator.base, Part::of_size(size));
        let new = self.value(new, size)?;
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = Cause::Binary(Binary::Subtract, expected.clone(), Expr::Leaf(old));
        let equal = binary(BinaryOp::Equal, expected.clone(), Expr::Leaf(old));
        let mut then = Vec::new();
        if instruction.is_locked {
            let operation = Rmw::CompareExchange { expected, new };
            self.chain.push(Step::ReadModifyWrite { register: Some(old), address: target.address, operation });
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            then.push(Step::Store { address: target.address, value: new });
        }
        self.set_flags(&cause, size, instruction)?;
        let otherwise = self.assignment(&accumulator, size, Expr::Leaf(old));
        match self.registers.direct(&accumulator.base, Part::of_size(size)) {
            // If they are equal, the accumulator holds it already.
            Some(_) if then.is_empty() => otherwise.into_iter().for_each(|step| self.chain.push(step)),
            _ => self.chain.branch(&equal, then, otherwise),
        }
        Ok(())
    }
}
