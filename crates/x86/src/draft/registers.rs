//! Registers of an automaton under construction: those that occur, and sets of them.

use weir_ir::{Edge, Expr, Instruction, RegExpr, RegId, Register};

/// The same with only the registers that occur.
pub(super) fn without_unused(registers: Vec<Register>, mut edges: Vec<Edge>) -> (Vec<Register>, Vec<Edge>) {
    let mut is_used = vec![false; registers.len()];
    for edge in &edges {
        edge.instruction.uses(&mut |register| is_used[register.index()] = true);
        edge.instruction.defines().for_each(|register| is_used[register.index()] = true);
    }
    let mut numbers = vec![RegId(0); registers.len()];
    let mut kept = Vec::new();
    for (number, register) in registers.into_iter().enumerate().filter(|&(number, _)| is_used[number]) {
        numbers[number] = RegId::new(kept.len());
        kept.push(register);
    }
    for edge in &mut edges {
        edge.instruction = renamed(&edge.instruction, &|register| numbers[register.index()]);
    }
    (kept, edges)
}

/// The instruction over other registers.
fn renamed(instruction: &Instruction, to: &impl Fn(RegId) -> RegId) -> Instruction {
    let expr = |expr: &RegExpr| expr.map(&mut |register| Expr::Leaf(to(*register)));
    match instruction {
        Instruction::Load { register, address } => {
            Instruction::Load { register: to(*register), address: expr(address) }
        }
        Instruction::Store { address, value } => Instruction::Store { address: expr(address), value: expr(value) },
        Instruction::Assign { register, value } => Instruction::Assign { register: to(*register), value: expr(value) },
        Instruction::Assume(condition) => Instruction::Assume(expr(condition)),
        Instruction::Assert(condition) => Instruction::Assert(expr(condition)),
        Instruction::ReadModifyWrite { register, address, operation } => {
            use weir_ir::Rmw;
            let operation = match operation {
                Rmw::CompareAndSwap { expected, new } => {
                    Rmw::CompareAndSwap { expected: expr(expected), new: expr(new) }
                }
                Rmw::CompareExchange { expected, new } => {
                    Rmw::CompareExchange { expected: expr(expected), new: expr(new) }
                }
                Rmw::Exchange(value) => Rmw::Exchange(expr(value)),
                Rmw::Fetch(kind, value) => Rmw::Fetch(*kind, expr(value)),
            };
            Instruction::ReadModifyWrite { register: register.map(to), address: expr(address), operation }
        }
        Instruction::Snapshot(loads) => {
            Instruction::Snapshot(loads.iter().map(|(register, address)| (to(*register), expr(address))).collect())
        }
        // Nothing else is ever emitted that has operands.
        other => other.clone(),
    }
}

/// A set of registers.
#[derive(Clone, Debug)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub(super) fn new(registers: usize) -> Self {
        Self(vec![0; registers.div_ceil(64)])
    }

    /// One of the same registers with none in it.
    pub(super) fn emptied(&self) -> Self {
        Self(vec![0; self.0.len()])
    }

    pub(super) fn contains(&self, register: RegId) -> bool {
        self.0[register.index() / 64] >> (register.index() % 64) & 1 != 0
    }

    pub(super) fn insert(&mut self, register: RegId) {
        self.0[register.index() / 64] |= 1 << (register.index() % 64);
    }

    pub(super) fn remove(&mut self, register: RegId) {
        self.0[register.index() / 64] &= !(1 << (register.index() % 64));
    }

    /// Adds all of another set; whether that made a difference.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let mut is_new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            is_new |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        is_new
    }
}
