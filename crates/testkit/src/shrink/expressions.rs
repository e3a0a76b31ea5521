//! Smaller expressions, and instructions with smaller expressions in them.

use weir_ir::{Expr, Instruction, Range, RegExpr, RegId, Rmw, Value};

/// The expressions that are one edit smaller.
pub(super) fn smaller<L: Clone>(expr: &Expr<L>) -> Vec<Expr<L>> {
    match expr {
        Expr::Const(value) => smaller_constants(*value).map(Expr::Const).collect(),
        Expr::Leaf(_) => vec![Expr::Const(0), Expr::Const(1)],
        Expr::Unary(op, operand) => {
            let mut results = vec![Expr::Const(0), Expr::Const(1), (**operand).clone()];
            results.extend(smaller(operand).into_iter().map(|operand| Expr::unary(*op, operand)));
            results
        }
        Expr::Binary(op, left, right) => {
            let mut results = vec![Expr::Const(0), Expr::Const(1), (**left).clone(), (**right).clone()];
            results.extend(smaller(left).into_iter().map(|left| Expr::binary(*op, left, (**right).clone())));
            results.extend(smaller(right).into_iter().map(|right| Expr::binary(*op, (**left).clone(), right)));
            results
        }
    }
}

fn smaller_constants(value: Value) -> impl Iterator<Item = Value> {
    let candidates = [0, 1, value / 2, value - value.signum()];
    candidates.into_iter().filter(move |candidate| candidate.unsigned_abs() < value.unsigned_abs())
}

/// The instructions that are one edit smaller.
pub(super) fn smaller_instructions(instruction: &Instruction) -> Vec<Instruction> {
    let mut results = vec![Instruction::Skip];
    match instruction {
        Instruction::Load { register, address } => {
            let load = |address| Instruction::Load { register: *register, address };
            results.extend(smaller(address).into_iter().map(load));
            results.push(Instruction::Assign { register: *register, value: Expr::Const(0) });
        }
        Instruction::Snapshot(loads) => {
            for (at, (register, address)) in loads.iter().enumerate() {
                results.push(Instruction::Load { register: *register, address: address.clone() });
                let replaced = |smaller| {
                    let mut loads = loads.clone();
                    loads[at].1 = smaller;
                    Instruction::Snapshot(loads)
                };
                results.extend(smaller(address).into_iter().map(replaced));
            }
        }
        Instruction::Await { loads, condition } => {
            let wait = |loads: &[(RegId, RegExpr)], condition: RegExpr| Instruction::Await {
                loads: loads.to_vec(),
                condition,
            };
            results.push(Instruction::Load { register: loads[0].0, address: loads[0].1.clone() });
            results.extend((loads.len() > 1).then(|| wait(&loads[1..], condition.clone())));
            results.extend((loads.len() > 1).then(|| wait(&loads[..1], condition.clone())));
            results.extend(smaller(condition).into_iter().map(|condition| wait(loads, condition)));
        }
        Instruction::Store { address, value } => {
            let store = |address: RegExpr, value: RegExpr| Instruction::Store { address, value };
            results.extend(smaller(address).into_iter().map(|address| store(address, value.clone())));
            results.extend(smaller(value).into_iter().map(|value| store(address.clone(), value)));
        }
        Instruction::Assign { register, value } => {
            let assign = |value| Instruction::Assign { register: *register, value };
            results.extend(smaller(value).into_iter().map(assign));
        }
        Instruction::Assume(condition) => {
            results.extend(smaller(condition).into_iter().map(Instruction::Assume));
        }
        Instruction::Assert(condition) => {
            results.extend(smaller(condition).into_iter().map(Instruction::Assert));
        }
        Instruction::ReadModifyWrite { register, address, operation } => {
            let rmw =
                |register, address: RegExpr, operation| Instruction::ReadModifyWrite { register, address, operation };
            results.push(rmw(None, address.clone(), operation.clone()));
            results.extend(smaller(address).into_iter().map(|address| rmw(*register, address, operation.clone())));
            let operations = smaller_operations(operation);
            results.extend(operations.into_iter().map(|operation| rmw(*register, address.clone(), operation)));
        }
        Instruction::Havoc { register, range } => {
            let havoc = |low, high| Instruction::Havoc { register: *register, range: Range { low, high } };
            let middle = range.low.wrapping_add((range.extent() / 2) as Value);
            results.extend([havoc(range.low, range.low), havoc(0, 0), havoc(range.low, middle)]);
        }
        // What the reference does not interpret is not shrunk further than to `skip`.
        _ => {}
    }
    results
}

fn smaller_operations(operation: &Rmw) -> Vec<Rmw> {
    let pairs = |expected: &RegExpr, new: &RegExpr| {
        let mut pairs: Vec<(RegExpr, RegExpr)> = Vec::new();
        pairs.extend(smaller(expected).into_iter().map(|expected| (expected, new.clone())));
        pairs.extend(smaller(new).into_iter().map(|new| (expected.clone(), new)));
        pairs
    };
    match operation {
        Rmw::CompareAndSwap { expected, new } => {
            let pairs = pairs(expected, new).into_iter();
            pairs.map(|(expected, new)| Rmw::CompareAndSwap { expected, new }).collect()
        }
        Rmw::CompareExchange { expected, new } => {
            let pairs = pairs(expected, new).into_iter();
            pairs.map(|(expected, new)| Rmw::CompareExchange { expected, new }).collect()
        }
        Rmw::Exchange(value) => smaller(value).into_iter().map(Rmw::Exchange).collect(),
        Rmw::Fetch(combine, value) => smaller(value).into_iter().map(|value| Rmw::Fetch(*combine, value)).collect(),
    }
}
