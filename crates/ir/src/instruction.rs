//! Facts about instructions that analyses share: what drains the store buffer, what only its own thread can notice, and
//! which cells are accessed.
//!
//! Each `match` names every instruction, so that a new one cannot be forgotten here.

use crate::ids::RegId;
use crate::program::{Body, Instruction, Program, RegExpr};

/// What may keep a thread from executing an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hindrance {
    /// It can always be executed.
    Nothing,
    /// The value may be outside the range of the cell.
    Range,
    /// A condition may not hold.
    Condition,
    /// The thread may hold the lock itself.
    Held,
    /// The thread may not hold the lock.
    NotHeld,
    /// It depends on other bodies.
    Elsewhere,
}

impl Instruction {
    /// Whether the instruction waits until the buffer of its thread is empty, so that no store is delayed past it.
    pub fn drains(&self) -> bool {
        match self {
            Self::Fence | Self::Membarrier | Self::ReadModifyWrite { .. } | Self::Lock | Self::Unlock => true,
            Self::Skip
            | Self::Load { .. }
            | Self::Snapshot(_)
            | Self::Await { .. }
            | Self::Store { .. }
            | Self::Assign { .. }
            | Self::Assume(_)
            | Self::Assert(_)
            | Self::Havoc { .. }
            | Self::Call { .. }
            | Self::Return(_)
            | Self::Spawn(_)
            | Self::Terminate => false,
        }
    }

    /// Whether the instruction is invisible to all other threads under every memory model: it accesses neither memory
    /// nor the lock, does not depend on the buffer, and stays in its body.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Skip
            | Self::Assign { .. }
            | Self::Assume(_)
            | Self::Assert(_)
            | Self::Havoc { .. }
            | Self::Terminate => true,
            Self::Load { .. }
            | Self::Snapshot(_)
            | Self::Await { .. }
            | Self::Store { .. }
            | Self::Fence
            | Self::Membarrier
            | Self::ReadModifyWrite { .. }
            | Self::Lock
            | Self::Unlock
            | Self::Call { .. }
            | Self::Return(_)
            | Self::Spawn(_) => false,
        }
    }

    /// Whether control leaves the body, or another thread starts: a path through one body cannot contain it.
    pub fn leaves_body(&self) -> bool {
        matches!(self, Self::Call { .. } | Self::Return(_) | Self::Spawn(_) | Self::Terminate)
    }

    /// What may keep a thread from executing the instruction, apart from stores in buffers and another thread that
    /// holds the lock.
    pub fn hindrance(&self) -> Hindrance {
        match self {
            Self::Skip
            | Self::Load { .. }
            | Self::Snapshot(_)
            | Self::Fence
            | Self::Membarrier
            | Self::Assign { .. }
            // It is executed even if it fails.
            | Self::Assert(_)
            | Self::Terminate => Hindrance::Nothing,
            Self::Havoc { range, .. } if range.low <= range.high => Hindrance::Nothing,
            Self::Store { .. } | Self::ReadModifyWrite { .. } => Hindrance::Range,
            Self::Havoc { .. } | Self::Assume(_) | Self::Await { .. } => Hindrance::Condition,
            Self::Lock => Hindrance::Held,
            Self::Unlock => Hindrance::NotHeld,
            Self::Call { .. } | Self::Return(_) | Self::Spawn(_) => Hindrance::Elsewhere,
        }
    }

    /// Whether the instruction puts a store into the buffer.
    pub fn is_store(&self) -> bool {
        matches!(self, Self::Store { .. })
    }

    /// Whether the instruction loads without draining the buffer. A snapshot is one load, of several cells, and so is
    /// an await.
    pub fn is_load(&self) -> bool {
        matches!(self, Self::Load { .. } | Self::Snapshot(_) | Self::Await { .. })
    }

    /// The loads of a snapshot or an await, which are made in one step; none for any other instruction.
    pub fn loads_at_once(&self) -> Option<&[(RegId, RegExpr)]> {
        match self {
            Self::Snapshot(loads) | Self::Await { loads, .. } => Some(loads),
            _ => None,
        }
    }

    /// A snapshot or an await with other loads in place of its own; any other instruction as it is.
    #[must_use]
    pub fn with_loads_at_once(&self, loads: Vec<(RegId, RegExpr)>) -> Self {
        match self {
            Self::Snapshot(_) => Self::Snapshot(loads),
            Self::Await { condition, .. } => Self::Await { loads, condition: condition.clone() },
            other => other.clone(),
        }
    }

    /// The addresses of the cells the instruction accesses: one or none, but for a snapshot or an await.
    pub fn accesses(&self) -> impl Iterator<Item = &RegExpr> {
        let (one, several) = match self {
            Self::Load { address, .. } | Self::Store { address, .. } | Self::ReadModifyWrite { address, .. } => {
                (Some(address), &[][..])
            }
            Self::Snapshot(loads) | Self::Await { loads, .. } => (None, loads.as_slice()),
            Self::Skip
            | Self::Fence
            | Self::Membarrier
            | Self::Assign { .. }
            | Self::Assume(_)
            | Self::Assert(_)
            | Self::Lock
            | Self::Unlock
            | Self::Havoc { .. }
            | Self::Call { .. }
            | Self::Return(_)
            | Self::Spawn(_)
            | Self::Terminate => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|(_, address)| address))
    }
}

impl Body {
    /// Whether some edge takes the global lock.
    pub fn takes_lock(&self) -> bool {
        self.edges().iter().any(|edge| edge.instruction == Instruction::Lock)
    }
}

impl Program {
    /// Whether some thread that runs from the start takes the global lock.
    pub fn uses_lock(&self) -> bool {
        self.running_threads().any(|thread| self.body(thread).takes_lock())
    }
}

#[cfg(test)]
mod tests {
    use crate::flow::testing::{assign, havoc, load, reg, rmw, store};
    use crate::ids::RegId;
    use crate::program::{Instruction, RegExpr, Rmw};

    fn addresses(instruction: &Instruction) -> Vec<RegExpr> {
        instruction.accesses().cloned().collect()
    }

    #[test]
    fn every_access_names_its_cells() {
        assert_eq!(addresses(&load(0, reg(1))), [reg(1)]);
        assert_eq!(addresses(&store(reg(1), reg(2))), [reg(1)]);
        assert_eq!(addresses(&rmw(None, reg(3), Rmw::Exchange(reg(4)))), [reg(3)]);
        let snapshot = Instruction::Snapshot(vec![(RegId(0), reg(1)), (RegId(2), reg(0))]);
        assert_eq!(addresses(&snapshot), [reg(1), reg(0)]);
        for other in [
            assign(0, reg(1)),
            Instruction::Fence,
            Instruction::Membarrier,
            Instruction::Assume(reg(1)),
            havoc(0, 0, 1),
        ] {
            assert_eq!(addresses(&other), []);
        }
    }

    /// A local instruction neither accesses memory nor drains; the others do one of the two, or leave the body.
    #[test]
    fn local_means_no_access_no_drain_and_no_way_out() {
        let snapshot = Instruction::Snapshot(vec![(RegId(0), reg(1)), (RegId(2), reg(0))]);
        let all = [
            load(0, reg(1)),
            snapshot,
            Instruction::Await { loads: vec![(RegId(0), reg(1))], condition: reg(0) },
            store(reg(1), reg(2)),
            rmw(None, reg(3), Rmw::Exchange(reg(4))),
            assign(0, reg(1)),
            havoc(0, 0, 1),
            Instruction::Skip,
            Instruction::Fence,
            Instruction::Membarrier,
            Instruction::Lock,
            Instruction::Unlock,
            Instruction::Assume(reg(1)),
            Instruction::Assert(reg(1)),
            Instruction::Return(reg(1)),
            Instruction::Spawn(crate::ids::ThreadId(0)),
        ];
        for instruction in &all {
            let is_visible =
                instruction.accesses().next().is_some() || instruction.drains() || instruction.leaves_body();
            assert_eq!(instruction.is_local(), !is_visible, "{instruction:?}");
        }
        assert!(Instruction::Terminate.is_local() && Instruction::Terminate.leaves_body());
        assert_eq!(all.iter().filter(|instruction| instruction.drains()).count(), 5);
        assert_eq!(all.iter().filter(|instruction| instruction.is_load()).count(), 3);
        assert_eq!(all.iter().filter(|instruction| instruction.is_store()).count(), 1);
    }
}
