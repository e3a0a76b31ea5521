//! What one instruction does to the ranges of registers and cells.

use super::env::Env;
use super::interval::binary;
use super::memory::{Memory, Target, Write};
use crate::expr::{BinaryOp, Value};
use crate::ids::RegId;
use crate::program::{Instruction, Range, RegExpr, Rmw};

/// Enough to see through the value of a store; see [`Env::narrow`].
const NARROWING_DEPTH: u32 = 8;

/// What a step may change in memory, and to what.
pub(super) type Effects = Vec<(Target, Range)>;

/// Changes `env` as the instruction does, and says what it may do to memory; nothing if no run can take the
/// step. An `assert` is taken to hold; [`Env::assume`] tells of the other way.
pub(super) fn step(instruction: &Instruction, env: &mut Env, memory: &Memory) -> Option<Effects> {
    match instruction {
        Instruction::Load { register, address } => {
            let seen = memory.load(env.eval(address));
            env.set(*register, seen);
        }
        Instruction::Snapshot(loads) => {
            let seen: Vec<Range> = loads.iter().map(|(_, address)| memory.load(env.eval(address))).collect();
            loads.iter().zip(seen).for_each(|((register, _), seen)| env.set(*register, seen));
        }
        Instruction::Await { loads, condition } => {
            let seen: Vec<Range> = loads.iter().map(|(_, address)| memory.load(env.eval(address))).collect();
            loads.iter().zip(seen).for_each(|((register, _), seen)| env.set(*register, seen));
            return env.assume(condition, true).then(Vec::new);
        }
        Instruction::Store { address, value } => return store(address, value, env, memory),
        Instruction::Assign { register, value } => {
            let value = env.eval(value);
            env.set(*register, value);
        }
        Instruction::Assume(condition) | Instruction::Assert(condition) => {
            return env.assume(condition, true).then(Vec::new);
        }
        Instruction::ReadModifyWrite { register, address, operation } => {
            return read_modify_write(*register, address, operation, env, memory);
        }
        Instruction::Havoc { register, range } => env.set(*register, *range),
        // A procedure may return anything. What it may do to thread-local variables, the caller
        // knows.
        Instruction::Call { register: Some(register), .. } => env.set(*register, Range::FULL),
        Instruction::Call { register: None, .. }
        | Instruction::Skip
        | Instruction::Fence
        | Instruction::Membarrier
        | Instruction::Lock
        | Instruction::Unlock
        | Instruction::Return(_)
        | Instruction::Spawn(_)
        | Instruction::Terminate => {}
    }
    Some(Vec::new())
}

/// A store that happens tells that its value was allowed.
fn store(address: &RegExpr, value: &RegExpr, env: &mut Env, memory: &Memory) -> Option<Effects> {
    let addresses = env.eval(address);
    let effects = memory.effects(addresses, &Write::Store(env.eval(value)));
    let happens = !effects.is_empty() && env.narrow(value, memory.allowed(addresses), NARROWING_DEPTH);
    happens.then_some(effects)
}

fn read_modify_write(
    register: Option<RegId>,
    address: &RegExpr,
    operation: &Rmw,
    env: &mut Env,
    memory: &Memory,
) -> Option<Effects> {
    let addresses = env.eval(address);
    let held = memory.load(addresses);
    let (result, effects) = match operation {
        Rmw::Exchange(value) => (held, store(address, value, env, memory)?),
        Rmw::Fetch(how, operand) => {
            let effects = memory.effects(addresses, &Write::Fetch(how.operator(), env.eval(operand)));
            (held, (!effects.is_empty()).then_some(effects)?)
        }
        Rmw::CompareAndSwap { expected, new } => {
            let (succeeds, effects) = swap(addresses, held, env.eval(expected), env.eval(new), memory)?;
            (succeeds, effects)
        }
        Rmw::CompareExchange { expected, new } => {
            let (_, effects) = swap(addresses, held, env.eval(expected), env.eval(new), memory)?;
            (held, effects)
        }
    };
    if let Some(register) = register {
        env.set(register, result);
    }
    Some(effects)
}

/// Whether a compare-and-swap can succeed and fail (as the range of its truth value), and what it does.
fn swap(addresses: Range, held: Range, expected: Range, new: Range, memory: &Memory) -> Option<(Range, Effects)> {
    let effects = memory.effects(addresses, &Write::Swap { expected, new });
    let can_succeed = !effects.is_empty();
    let equal = binary(BinaryOp::Equal, held, expected);
    let can_fail = equal.low == 0;
    (can_succeed || can_fail).then(|| {
        let succeeds = Range { low: Value::from(!can_fail), high: Value::from(can_succeed) };
        (succeeds, effects)
    })
}
