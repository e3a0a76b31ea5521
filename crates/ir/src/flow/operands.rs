//! What an instruction reads and sets among the registers of its body.

use crate::expr::Expr;
use crate::ids::RegId;
use crate::program::{Instruction, RegExpr, Rmw};

impl Instruction {
    /// Calls `visit` on each expression the instruction evaluates, in order of the source text.
    pub fn for_each_operand<'a>(&'a self, visit: &mut impl FnMut(&'a RegExpr)) {
        match self {
            Self::Load { address, .. } => visit(address),
            Self::Snapshot(loads) => loads.iter().for_each(|(_, address)| visit(address)),
            Self::Await { loads, condition } => {
                loads.iter().for_each(|(_, address)| visit(address));
                visit(condition);
            }
            Self::Store { address, value } => {
                visit(address);
                visit(value);
            }
            Self::Assign { value, .. } => visit(value),
            Self::Assume(condition) | Self::Assert(condition) => visit(condition),
            Self::ReadModifyWrite { address, operation, .. } => {
                visit(address);
                operation.for_each_operand(visit);
            }
            Self::Call { arguments, .. } => arguments.iter().for_each(visit),
            Self::Return(value) => visit(value),
            Self::Skip
            | Self::Fence
            | Self::Membarrier
            | Self::Lock
            | Self::Unlock
            | Self::Havoc { .. }
            | Self::Spawn(_)
            | Self::Terminate => {}
        }
    }

    /// The same instruction over other registers.
    #[must_use]
    pub fn renamed(&self, rename: &mut impl FnMut(RegId) -> RegId) -> Self {
        match self {
            Self::Load { register, address } => {
                Self::Load { register: rename(*register), address: renamed(address, rename) }
            }
            Self::Snapshot(loads) => Self::Snapshot(renamed_loads(loads, rename)),
            Self::Await { loads, condition } => {
                Self::Await { loads: renamed_loads(loads, rename), condition: renamed(condition, rename) }
            }
            Self::Store { address, value } => {
                Self::Store { address: renamed(address, rename), value: renamed(value, rename) }
            }
            Self::Assign { register, value } => {
                Self::Assign { register: rename(*register), value: renamed(value, rename) }
            }
            Self::Assume(condition) => Self::Assume(renamed(condition, rename)),
            Self::Assert(condition) => Self::Assert(renamed(condition, rename)),
            Self::ReadModifyWrite { register, address, operation } => Self::ReadModifyWrite {
                register: register.map(&mut *rename),
                address: renamed(address, rename),
                operation: operation.renamed(rename),
            },
            Self::Havoc { register, range } => Self::Havoc { register: rename(*register), range: *range },
            Self::Call { procedure, arguments, register } => Self::Call {
                procedure: *procedure,
                arguments: arguments.iter().map(|argument| renamed(argument, rename)).collect(),
                register: register.map(&mut *rename),
            },
            Self::Return(value) => Self::Return(renamed(value, rename)),
            Self::Skip
            | Self::Fence
            | Self::Membarrier
            | Self::Lock
            | Self::Unlock
            | Self::Spawn(_)
            | Self::Terminate => self.clone(),
        }
    }

    /// Calls `visit` on each register the instruction reads; on some more than once. The condition of an await reads
    /// what was just loaded, not what its registers held before.
    pub fn uses(&self, visit: &mut impl FnMut(RegId)) {
        if let Self::Await { loads, condition } = self {
            let is_loaded = |register: RegId| loads.iter().any(|(loaded, _)| *loaded == register);
            loads.iter().for_each(|(_, address)| address.for_each_leaf(&mut |&register| visit(register)));
            return condition.for_each_leaf(&mut |&register| {
                if !is_loaded(register) {
                    visit(register);
                }
            });
        }
        self.for_each_operand(&mut |operand| operand.for_each_leaf(&mut |&register| visit(register)));
    }

    /// The registers the instruction sets: one or none, but for a snapshot or an await.
    pub fn defines(&self) -> impl Iterator<Item = RegId> + '_ {
        let one = match self {
            Self::Load { register, .. } | Self::Assign { register, .. } | Self::Havoc { register, .. } => {
                Some(*register)
            }
            Self::ReadModifyWrite { register, .. } | Self::Call { register, .. } => *register,
            _ => None,
        };
        one.into_iter().chain(self.loads_at_once().unwrap_or_default().iter().map(|(register, _)| *register))
    }
}

fn renamed(expr: &RegExpr, rename: &mut impl FnMut(RegId) -> RegId) -> RegExpr {
    expr.map(&mut |&register| Expr::Leaf(rename(register)))
}

fn renamed_loads(loads: &[(RegId, RegExpr)], rename: &mut impl FnMut(RegId) -> RegId) -> Vec<(RegId, RegExpr)> {
    loads.iter().map(|(register, address)| (rename(*register), renamed(address, rename))).collect()
}

impl Rmw {
    fn renamed(&self, rename: &mut impl FnMut(RegId) -> RegId) -> Self {
        match self {
            Self::CompareAndSwap { expected, new } => {
                Self::CompareAndSwap { expected: renamed(expected, rename), new: renamed(new, rename) }
            }
            Self::CompareExchange { expected, new } => {
                Self::CompareExchange { expected: renamed(expected, rename), new: renamed(new, rename) }
            }
            Self::Exchange(value) => Self::Exchange(renamed(value, rename)),
            Self::Fetch(how, value) => Self::Fetch(*how, renamed(value, rename)),
        }
    }

    /// Calls `visit` on each expression the operation evaluates.
    pub fn for_each_operand<'a>(&'a self, visit: &mut impl FnMut(&'a RegExpr)) {
        match self {
            Self::CompareAndSwap { expected, new } | Self::CompareExchange { expected, new } => {
                visit(expected);
                visit(new);
            }
            Self::Exchange(value) | Self::Fetch(_, value) => visit(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::flow::testing::{assign, constant, havoc, load, reg, rmw, store};
    use crate::ids::{ProcId, RegId};
    use crate::program::{Instruction, Rmw};

    fn check(instruction: &Instruction, uses: &[u32], defines: &[u32]) {
        let mut seen = Vec::new();
        instruction.uses(&mut |register| seen.push(register.0));
        assert_eq!(seen, uses, "{instruction:?}");
        assert_eq!(instruction.defines().map(|register| register.0).collect::<Vec<_>>(), defines, "{instruction:?}");
    }

    #[test]
    fn every_instruction_names_what_it_reads_and_sets() {
        check(&load(0, reg(1)), &[1], &[0]);
        check(&store(reg(1), reg(2)), &[1, 2], &[]);
        check(&assign(0, reg(0)), &[0], &[0]);
        let swap = Rmw::CompareAndSwap { expected: reg(2), new: reg(3) };
        check(&rmw(Some(0), reg(1), swap), &[1, 2, 3], &[0]);
        check(&rmw(None, reg(1), Rmw::Exchange(reg(4))), &[1, 4], &[]);
        let call =
            Instruction::Call { procedure: ProcId(0), arguments: vec![reg(5), reg(6)], register: Some(RegId(7)) };
        check(&call, &[5, 6], &[7]);
        let snapshot = Instruction::Snapshot(vec![(RegId(0), reg(1)), (RegId(2), reg(0))]);
        check(&snapshot, &[1, 0], &[0, 2]);
        let condition = crate::expr::Expr::binary(crate::expr::BinaryOp::Equal, reg(0), reg(3));
        let wait = Instruction::Await { loads: vec![(RegId(0), reg(1)), (RegId(2), reg(0))], condition };
        check(&wait, &[1, 0, 3], &[0, 2]);
        check(&Instruction::Return(reg(3)), &[3], &[]);
        check(&Instruction::Assert(reg(3)), &[3], &[]);
        let silent = [
            Instruction::Fence,
            Instruction::Membarrier,
            Instruction::Skip,
            Instruction::Lock,
            Instruction::Unlock,
            Instruction::Spawn(crate::ids::ThreadId(0)),
            Instruction::Terminate,
        ];
        silent.iter().for_each(|instruction| check(instruction, &[], &[]));
        check(&Instruction::Assume(reg(2)), &[2], &[]);
        check(&havoc(3, 0, 1), &[], &[3]);
        let swap = Rmw::CompareExchange { expected: reg(2), new: reg(3) };
        check(&rmw(Some(1), reg(1), swap), &[1, 2, 3], &[1]);
        check(&rmw(Some(1), constant(7), Rmw::Fetch(crate::program::BinaryRmw::Xor, reg(4))), &[4], &[1]);
        let unwanted = Instruction::Call { procedure: ProcId(0), arguments: vec![reg(5)], register: None };
        check(&unwanted, &[5], &[]);
    }
}
