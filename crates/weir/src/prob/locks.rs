//! Is the global lock always given back?
//!
//! While a thread holds it, stores of the others cannot leave their buffers; if it is held for ever, they pile up, and nothing that rests on drained
//! configurations is certain. A thread gives it back if what it does meanwhile never goes round in a circle and never has to
//! wait for others. This looks at the text only, so it may say no where the lock is given back all the same.

use weir_ir::{Body, Expr, Instruction, LocId, Program};

use crate::semantics::compile::present;

/// The most steps that a thread makes from taking the lock to giving it back; 0 if nobody takes it. None if that may take for ever.
pub(super) fn longest_section(program: &Program) -> Option<usize> {
    let mut longest = 0;
    for thread in present(program) {
        let body = program.body(thread);
        let mut walk = Walk { program, body, known: vec![Visit::Not; body.locations.len()] };
        for edge in body.edges().iter().filter(|edge| matches!(edge.instruction, Instruction::Lock)) {
            longest = longest.max(1 + walk.steps_from(edge.to)?);
        }
    }
    Some(longest)
}

#[derive(Clone, Copy)]
enum Visit {
    Not,
    /// On the way to the location that is looked at now.
    UnderWay,
    Done(usize),
}

struct Walk<'a> {
    program: &'a Program,
    body: &'a Body,
    known: Vec<Visit>,
}

impl Walk<'_> {
    /// The most steps from a location up to giving the lock back.
    fn steps_from(&mut self, location: LocId) -> Option<usize> {
        match self.known[location.index()] {
            Visit::Done(steps) => return Some(steps),
            Visit::UnderWay => return None,
            Visit::Not => self.known[location.index()] = Visit::UnderWay,
        }
        if !self.never_blocks(location) {
            return None;
        }
        let body = self.body;
        let mut most = 0;
        for (_, edge) in body.edges_from(location) {
            let after = if matches!(edge.instruction, Instruction::Unlock) { 0 } else { self.steps_from(edge.to)? };
            most = most.max(1 + after);
        }
        self.known[location.index()] = Visit::Done(most);
        Some(most)
    }

    /// Whether a thread that holds the lock can go on from here, once its own stores have left its buffer.
    fn never_blocks(&self, location: LocId) -> bool {
        let instructions: Vec<&Instruction> =
            self.body.edges_from(location).map(|(_, edge)| &edge.instruction).collect();
        match instructions[..] {
            [Instruction::Assume(one), Instruction::Assume(other)] => {
                one.negated() == *other || other.negated() == *one
            }
            [] => false,
            _ => instructions.iter().all(|instruction| self.goes_on(instruction)),
        }
    }

    fn goes_on(&self, instruction: &Instruction) -> bool {
        match instruction {
            Instruction::Load { .. }
            | Instruction::Snapshot(_)
            | Instruction::Assign { .. }
            | Instruction::Fence
            | Instruction::Unlock
            | Instruction::Skip => true,
            Instruction::Havoc { range, .. } => range.low <= range.high,
            Instruction::Store { address: Expr::Const(address), value: Expr::Const(value) } => {
                self.program.admits(*address, *value)
            }
            Instruction::Store { .. } | Instruction::ReadModifyWrite { .. } => {
                self.program.shared.iter().all(|shared| shared.range.is_none())
            }
            // A thread that fails an assertion ends there, with the lock.
            _ => false,
        }
    }
}
