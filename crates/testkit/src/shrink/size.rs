//! What makes one program smaller than another.

use weir_ir::{Expr, Instruction, Program, Thread, Value};

use crate::sketch::operands;

/// How large a program is: compared part by part, the first that differs decides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Size {
    threads: usize,
    edges: usize,
    properties: usize,
    locations: usize,
    registers: usize,
    declarations: usize,
    ranges: usize,
    /// Instructions other than `skip`, and results that are kept.
    actions: usize,
    nodes: usize,
    /// The sum of all constants, without their signs.
    constants: u128,
}

impl Size {
    pub(super) fn of(program: &Program) -> Self {
        let over_threads = |count: &dyn Fn(&Thread) -> usize| program.threads.iter().map(count).sum();
        let mut size = Self {
            threads: program.threads.len(),
            edges: over_threads(&|thread| thread.body.edges().len()),
            properties: program.properties.len(),
            locations: over_threads(&|thread| thread.body.locations.len()),
            registers: over_threads(&|thread| thread.body.registers.len()),
            declarations: program.shared.len(),
            ranges: program.shared.iter().filter(|shared| shared.range.is_some()).count(),
            actions: 0,
            nodes: 0,
            constants: 0,
        };
        program.shared.iter().flat_map(|shared| &shared.initial).for_each(|&value| size.add_constant(value));
        program.threads.iter().flat_map(|thread| thread.body.edges()).for_each(|edge| size.add(&edge.instruction));
        for property in &program.properties {
            property.kind.condition().into_iter().for_each(|condition| size.add_expr(condition));
        }
        size
    }

    fn add(&mut self, instruction: &Instruction) {
        self.actions += usize::from(*instruction != Instruction::Skip);
        self.actions += usize::from(matches!(instruction, Instruction::ReadModifyWrite { register: Some(_), .. }));
        if let Instruction::Havoc { range, .. } = instruction {
            self.constants += u128::from(range.extent());
            self.add_constant(range.low);
        }
        operands(instruction).iter().for_each(|operand| self.add_expr(operand));
    }

    fn add_expr<L>(&mut self, expr: &Expr<L>) {
        match expr {
            Expr::Const(value) => {
                self.nodes += 1;
                self.add_constant(*value);
            }
            Expr::Leaf(_) => self.nodes += 2,
            Expr::Unary(_, operand) => {
                self.nodes += 1;
                self.add_expr(operand);
            }
            Expr::Binary(_, left, right) => {
                self.nodes += 1;
                self.add_expr(left);
                self.add_expr(right);
            }
        }
    }

    fn add_constant(&mut self, value: Value) {
        self.constants += u128::from(value.unsigned_abs());
    }
}
