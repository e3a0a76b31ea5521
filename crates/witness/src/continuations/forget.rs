//! The program without the values on which nothing depends: a counter that no thread waits for, branches on or uses as
//! an address.
//!
//! What is *needed* are the registers in conditions, assertions and addresses, those in values that a range may block,
//! what the claim mentions, and whatever these are loaded or computed from. All else is replaced by constants; every
//! location, edge and access stays. So the result takes the same steps as the program, one by one, if their states
//! agree on locations, the lock, the cells of the stores that wait, and all values that are needed. Direction of
//! error: none.
//!
//! A computed address may be any that its expression allows, whatever its registers hold (`2 + (r & 1)` is 2 or 3).
//! That is coarser than the engines' value analysis, and does not rely on it.

use std::collections::BTreeSet;

use weir_ir::flow::possible_values;
use weir_ir::{
    Address, Edge, Expr, Instruction, Program, Range, RegExpr, RegId, Rmw, Shared, StateAtom, StateExpr, ThreadId,
};

/// A program with the same steps, and the values that it keeps.
pub(super) struct Forgetful {
    pub(super) program: Program,
    needed: Needed,
}

impl Forgetful {
    /// The program reduced to what matters for `claim` and for locations. None if everything is needed.
    pub(super) fn of(program: &Program, claim: Option<&StateExpr>) -> Option<Self> {
        let needed = Needed::of(program, claim)?;
        let mut forgetful = program.clone();
        for thread in program.running_threads() {
            let body = &mut forgetful.threads[thread.index()].body;
            *body = body.map_edges(|edge| Edge {
                instruction: needed.left_of(program, thread, &edge.instruction),
                ..edge.clone()
            });
        }
        let edges = |thread: ThreadId| forgetful.body(thread).edges() != program.body(thread).edges();
        let forgets = program.running_threads().any(edges);
        forgets.then_some(Self { program: forgetful, needed })
    }

    /// Whether the values of a cell are those of the program.
    pub(super) fn has_cell(&self, address: Address) -> bool {
        self.needed.has_cell(address)
    }
}

/// An address that may be one of more cells than this may be any.
const MOST_CELLS: u64 = 1024;

/// The values that are needed.
#[derive(Default)]
struct Needed {
    registers: BTreeSet<(ThreadId, RegId)>,
    cells: BTreeSet<Address>,
    all_cells: bool,
}

impl Needed {
    /// None if a thread does something that is not handled here.
    fn of(program: &Program, claim: Option<&StateExpr>) -> Option<Self> {
        let mut needed = Self::default();
        claim.into_iter().for_each(|claim| needed.add_claim(claim));
        loop {
            let before = needed.size();
            for thread in program.running_threads() {
                for edge in program.body(thread).edges() {
                    needed.add_instruction(program, thread, &edge.instruction)?;
                }
            }
            if needed.size() == before {
                return Some(needed);
            }
        }
    }

    fn size(&self) -> (usize, usize, bool) {
        (self.registers.len(), self.cells.len(), self.all_cells)
    }

    fn add_claim(&mut self, claim: &StateExpr) {
        claim.for_each_leaf(&mut |atom| {
            match atom {
                StateAtom::At { .. } => false,
                StateAtom::Register { thread, register } => self.registers.insert((*thread, *register)),
                StateAtom::Cell(address) => self.cells.insert(*address),
            };
        });
    }

    fn add_instruction(&mut self, program: &Program, thread: ThreadId, instruction: &Instruction) -> Option<()> {
        instruction.accesses().for_each(|address| self.add_uses(thread, address));
        for (register, address) in instruction.loads_at_once().unwrap_or_default() {
            self.add_load(thread, *register, address);
        }
        match instruction {
            Instruction::Assume(condition) | Instruction::Assert(condition) | Instruction::Await { condition, .. } => {
                self.add_uses(thread, condition);
            }
            Instruction::Load { register, address } => self.add_load(thread, *register, address),
            Instruction::Store { address, value } => {
                if self.writes_needed(program, address) {
                    self.add_uses(thread, value);
                }
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                if let Some(register) = register {
                    self.add_load(thread, *register, address);
                }
                if self.writes_needed(program, address) {
                    self.add_cell(address);
                    operation.for_each_operand(&mut |operand| self.add_uses(thread, operand));
                }
            }
            Instruction::Assign { register, value } => {
                if self.registers.contains(&(thread, *register)) {
                    self.add_uses(thread, value);
                }
            }
            Instruction::Skip
            | Instruction::Snapshot(_)
            | Instruction::Fence
            | Instruction::Membarrier
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Havoc { .. }
            | Instruction::Terminate => {}
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => return None,
        }
        Some(())
    }

    fn add_uses(&mut self, thread: ThreadId, expr: &RegExpr) {
        expr.for_each_leaf(&mut |&register| {
            self.registers.insert((thread, register));
        });
    }

    fn add_load(&mut self, thread: ThreadId, register: RegId, address: &RegExpr) {
        if self.registers.contains(&(thread, register)) {
            self.add_cell(address);
        }
    }

    fn add_cell(&mut self, address: &RegExpr) {
        let Range { low, high } = possible_values(address);
        if (Range { low, high }).extent() < MOST_CELLS {
            self.cells.extend(low..=high);
        } else {
            self.all_cells = true;
        }
    }

    fn has_cell(&self, address: Address) -> bool {
        self.all_cells || self.cells.contains(&address)
    }

    /// Whether what is written to this address matters: the cell is needed, or its range may block the step.
    fn writes_needed(&self, program: &Program, address: &RegExpr) -> bool {
        let addresses = possible_values(address);
        let may_block = |shared: &Shared| shared.range.is_some() && shared.addresses().any(|at| addresses.contains(at));
        self.all_cells
            || self.cells.range(addresses.low..=addresses.high).next().is_some()
            || program.shared.iter().any(may_block)
    }

    /// The instruction without the values that are not needed.
    fn left_of(&self, program: &Program, thread: ThreadId, instruction: &Instruction) -> Instruction {
        let is_needed = |register: &RegId| self.registers.contains(&(thread, *register));
        let neutral = |address: &RegExpr| {
            // Cells without a range can hold any value.
            Expr::Const(address.constant().map_or(0, |address| program.initial_value(address)))
        };
        match instruction {
            Instruction::Store { address, .. } if !self.writes_needed(program, address) => {
                Instruction::Store { address: address.clone(), value: neutral(address) }
            }
            Instruction::ReadModifyWrite { register, address, .. } if !self.writes_needed(program, address) => {
                let operation = Rmw::Exchange(neutral(address));
                Instruction::ReadModifyWrite { register: *register, address: address.clone(), operation }
            }
            Instruction::Assign { register, .. } if !is_needed(register) => {
                Instruction::Assign { register: *register, value: Expr::Const(0) }
            }
            Instruction::Havoc { register, range } if !is_needed(register) && range.low <= range.high => {
                Instruction::Havoc { register: *register, range: Range::single(range.low) }
            }
            _ => instruction.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
