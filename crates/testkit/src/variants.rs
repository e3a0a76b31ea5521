//! Programs that are nearly the same: one instruction is changed so that what was safe may be so no longer.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, Program};

/// The program with one instruction changed, in each of the ways that there are.
pub fn variants(program: &Program) -> Vec<Program> {
    let mut variants = Vec::new();
    for thread in program.thread_ids() {
        for (changed, edge) in program.body(thread).edges().iter().enumerate() {
            for substitute in substitutes(&edge.instruction) {
                let mut at = 0..;
                let body = program.body(thread).map_edges(|edge| {
                    let is_this = at.next() == Some(changed);
                    let instruction = if is_this { substitute.clone() } else { edge.instruction.clone() };
                    Edge { instruction, ..edge.clone() }
                });
                let mut variant = program.clone();
                variant.threads[thread.index()].body = body;
                variants.push(variant);
            }
        }
    }
    variants
}

/// A fence, lock, guard or access becomes `skip`; a stored value changes; what is atomic is no more.
fn substitutes(instruction: &Instruction) -> Vec<Instruction> {
    match instruction {
        Instruction::Fence
        | Instruction::Membarrier
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::Assume(_)
        | Instruction::Load { .. } => vec![Instruction::Skip],
        Instruction::Store { address, value } => {
            let other = Expr::binary(BinaryOp::BitXor, value.clone(), Expr::Const(1));
            vec![Instruction::Store { address: address.clone(), value: other }, Instruction::Skip]
        }
        Instruction::ReadModifyWrite { address, .. } => {
            vec![Instruction::Skip, Instruction::Store { address: address.clone(), value: Expr::Const(1) }]
        }
        // The wait is over at once.
        Instruction::Await { loads, .. } => {
            vec![Instruction::Skip, Instruction::Await { loads: loads.clone(), condition: Expr::Const(1) }]
        }
        Instruction::Snapshot(loads) => {
            vec![Instruction::Load { register: loads[0].0, address: loads[0].1.clone() }]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump;
    use crate::sketch::{cell, exchange, load, program, snapshot, store, straight};

    #[test]
    fn each_variant_differs_in_one_instruction() {
        let body = vec![store(1, 1), Instruction::Fence, load(0, 2), exchange(0, 1, 2), snapshot([(0, 1), (1, 2)])];
        let whole = program(vec![cell("x", 1), cell("y", 2)], vec![straight("P", body)], vec![]);
        let variants = variants(&whole);
        assert_eq!(variants.len(), 2 + 1 + 1 + 2 + 1);
        for variant in &variants {
            let (before, after) = (dump(&whole), dump(variant));
            let differing = before.lines().zip(after.lines()).filter(|(before, after)| before != after).count();
            assert_eq!(differing, 1, "{after}");
        }
    }
}
