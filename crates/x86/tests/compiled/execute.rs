//! Executes a program of one thread, step by step. Nothing is shared with the engines.

use std::collections::BTreeMap;

use weir_ir::{Instruction, Program, RegExpr, Rmw, ThreadId};

/// The memory in the end: the cells that were written.
pub(crate) fn execute(program: &Program, most: usize) -> BTreeMap<i64, i64> {
    let body = program.body(ThreadId(0));
    let mut registers = vec![0_i64; body.registers.len()];
    let mut memory: BTreeMap<i64, i64> = BTreeMap::new();
    let mut at = body.entry;
    for _ in 0..most {
        if body.is_done(at) {
            return memory;
        }
        let value = |expr: &RegExpr, registers: &[i64]| expr.eval(&mut |reg| registers[reg.index()]);
        let load = |memory: &BTreeMap<i64, i64>, at: i64| memory.get(&at).copied().unwrap_or(program.initial_value(at));
        let edges: Vec<_> = body.edges_from(at).map(|(_, edge)| edge).collect();
        let taken = edges.iter().find(|edge| match &edge.instruction {
            Instruction::Assume(condition) => value(condition, &registers) != 0,
            _ => true,
        });
        let edge = taken.unwrap_or_else(|| panic!("stuck at {at:?}"));
        match &edge.instruction {
            Instruction::Skip
            | Instruction::Fence
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Assume(_) => {}
            Instruction::Snapshot(loads) => {
                let loaded: Vec<_> =
                    loads.iter().map(|(to, address)| (*to, load(&memory, value(address, &registers)))).collect();
                loaded.into_iter().for_each(|(to, value)| registers[to.index()] = value);
            }
            Instruction::Load { register, address } => {
                registers[register.index()] = load(&memory, value(address, &registers));
            }
            Instruction::Store { address, value: stored } => {
                let address = value(address, &registers);
                memory.insert(address, program.stored(address, value(stored, &registers)));
            }
            Instruction::Assign { register, value: assigned } => {
                registers[register.index()] = value(assigned, &registers);
            }
            Instruction::Assert(condition) => assert_ne!(value(condition, &registers), 0, "an assertion fails"),
            Instruction::ReadModifyWrite { register, address, operation } => {
                let address = value(address, &registers);
                let old = load(&memory, address);
                let new = match operation {
                    Rmw::Exchange(new) => value(new, &registers),
                    Rmw::CompareExchange { expected, new } => {
                        if value(expected, &registers) == old {
                            value(new, &registers)
                        } else {
                            old
                        }
                    }
                    Rmw::Fetch(kind, with) => kind.operator().apply(old, value(with, &registers)),
                    Rmw::CompareAndSwap { .. } => panic!("never emitted"),
                };
                memory.insert(address, program.stored(address, new));
                if let Some(register) = register {
                    registers[register.index()] = old;
                }
            }
            other => panic!("never emitted: {other:?}"),
        }
        at = edge.to;
    }
    panic!("it does not end");
}
