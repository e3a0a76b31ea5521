//! What chance is given: how stores leave buffers, who is scheduled how often, what steps cost.

use dashu_ratio::RBig;
use weir_ir::{CostSubject, Instruction, Program};

use super::ThreadEdge;

/// How stores leave the buffers after each step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Updates {
    /// Every sequence of flushes that is possible, the empty one included, is equally likely.
    Uniform,
    /// Again and again: with this probability one more store is flushed, from any buffer that can, all equally likely.
    Geometric(RBig),
    /// One buffer is picked in proportion to its length, and any number of its stores is flushed, all equally likely.
    Single,
}

/// The odds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Odds {
    /// By how much likelier the thread that stepped last is to step again; 1 is no memory.
    pub stickiness: RBig,
    /// How stores leave the buffers.
    pub updates: Updates,
}

impl Default for Odds {
    fn default() -> Self {
        Self { stickiness: RBig::ONE, updates: Updates::Uniform }
    }
}

/// What taking an edge costs: the last rule that mentions it; 1 if none does.
pub fn price(program: &Program, (thread, edge): ThreadEdge) -> u64 {
    let body = program.body(thread);
    let edge = body.edge(edge);
    let mut price = 1;
    for rule in &program.costs {
        let speaks_of_it = match (&rule.subject, &edge.instruction) {
            (CostSubject::Label(label), _) => body.locations[edge.from.index()].labels.contains(label),
            (CostSubject::Load, Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. }) => {
                true
            }
            (CostSubject::Store, Instruction::Store { .. }) => true,
            (CostSubject::Fence, Instruction::Fence | Instruction::Membarrier) => true,
            (CostSubject::ReadModifyWrite, Instruction::ReadModifyWrite { .. }) => true,
            (CostSubject::Lock, Instruction::Lock | Instruction::Unlock) => true,
            (
                CostSubject::Local,
                Instruction::Skip
                | Instruction::Assign { .. }
                | Instruction::Assume(_)
                | Instruction::Assert(_)
                | Instruction::Havoc { .. }
                | Instruction::Terminate,
            ) => true,
            _ => false,
        };
        if speaks_of_it {
            price = rule.cost as u64;
        }
    }
    price
}
