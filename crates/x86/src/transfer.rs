//! What is known after an operation, by what is known before it.

use weir_ir::{BinaryOp, Expr, Value};

use crate::image::{EXTERNAL_SIZE, Image};
use crate::known::{Known, State, is_private};
use crate::ops::{Change, E, Leaf, Op, Reg, binary, constant};
use crate::refusal::Refusal;

/// What is known after an operation.
pub(crate) fn apply(image: &Image, op: &Op, state: &mut State) -> Result<(), Refusal> {
    match op {
        Op::Set(to, value) => {
            no_offset(image, state, value)?;
            let value = state.value(value);
            if *to == Reg::SP && value.constant().is_none() {
                return Err(Refusal::new("stack-pointer", "the stack pointer is only known at run time")
                    .help("arrays of variable length and `alloca` are not supported: give the array a fixed size"));
            }
            if *to == Reg::SP && !value.is_private() {
                return Err(Refusal::new("stack-pointer", "the stack pointer does not point to the stack"));
            }
            state.set(*to, value);
        }
        Op::SetIf(condition, to, value) => match state.value(condition) {
            Known::Const(0) => {}
            Known::Const(_) => state.set(*to, state.value(value)),
            Known::Any { .. } => state.set(*to, state.register(*to).join(state.value(value))),
        },
        Op::Load { to, address, size } => {
            let value = loaded(image, state, address, *size)?;
            state.set(*to, value);
        }
        Op::Store { address, value, size } => stored(image, state, address, *size, state.value(value))?,
        Op::Change { to, address, size, change } => {
            let old = loaded(image, state, address, *size)?;
            let new = match change {
                Change::Exchange(value) | Change::CompareExchange(_, value) | Change::Fetch(_, value) => {
                    state.value(value)
                }
            };
            // What is there afterwards depends on what is there before.
            let new = Known::any((8 * size) as u8, old.is_private() || new.is_private());
            stored(image, state, address, *size, new)?;
            state.set(*to, old);
        }
        Op::ChangePair { to, address, new, .. } => {
            let halves = [(to.0, address.clone(), &new.0), (to.1, upper_half(address), &new.1)];
            for (to, address, new) in halves {
                let old = loaded(image, state, &address, 8)?;
                let known = Known::any(64, old.is_private() || state.value(new).is_private());
                stored(image, state, &address, 8, known)?;
                state.set(to, old);
            }
        }
        Op::Flag(test, value) => {
            let known = value.as_ref().map_or(Known::public(1), |value| state.value(value));
            state.flags[*test as usize] = known;
        }
        Op::Fence | Op::Membarrier | Op::Check(_) | Op::Limit(..) => {}
    }
    Ok(())
}

/// The address of the upper half of 16 bytes.
pub(crate) fn upper_half(address: &E) -> E {
    binary(BinaryOp::Add, address.clone(), constant(8))
}

fn loaded(image: &Image, state: &State, address: &E, size: u32) -> Result<Known, Refusal> {
    no_offset(image, state, address)?;
    let bits = (8 * size) as u8;
    match state.value(address) {
        Known::Const(address) if is_private(address) => Ok(state.load(address, size)),
        Known::Const(address) => {
            no_external(image, address)?;
            let bytes = address as u64..(address as u64).saturating_add(size.into());
            if let Some((_, reason)) = image.unsupported.range(bytes).next() {
                let message = format!("the code uses {reason}, which is not supported");
                return Err(Refusal::new("unsupported-relocation", message).help("use the object file"));
            }
            let constant = image.region(address as u64, size as usize).filter(|region| !region.is_writable);
            let value = constant.and_then(|_| image.value(address as u64, size));
            Ok(value.map_or(Known::public(bits), |value| Known::Const(value as Value)))
        }
        Known::Any { is_private: true, .. } => Err(computed_private()),
        Known::Any { .. } => Ok(Known::public(bits)),
    }
}

fn stored(image: &Image, state: &mut State, address: &E, size: u32, value: Known) -> Result<(), Refusal> {
    no_offset(image, state, address)?;
    match state.value(address) {
        Known::Const(address) if is_private(address) => state.store(address, size, value),
        Known::Any { is_private: true, .. } => return Err(computed_private()),
        _ if value.is_private() => {
            return Err(Refusal::new(
                "escaping-local",
                "the address of a local variable is stored in shared memory, and stacks are private in Weir",
            )
            .help("make the variable a global one, one for each thread, and pass its address as an argument"));
        }
        Known::Const(address) => no_external(image, address)?,
        Known::Any { .. } => {}
    }
    Ok(())
}

fn computed_private() -> Refusal {
    Refusal::new("computed-local", "the address of this access to the stack is only known at run time")
        .help("make the array a global one, one for each thread, and pass its address as an argument")
}

/// Refuses to compute with the address of something that is not in the file.
fn no_offset(image: &Image, state: &State, value: &E) -> Result<(), Refusal> {
    let mut found = Ok(());
    if !matches!(value, Expr::Const(_) | Expr::Leaf(_)) {
        value.for_each_leaf(&mut |leaf| {
            if let Leaf::Reg(reg) = leaf
                && let Some(address) = state.register(*reg).constant()
                && found.is_ok()
            {
                found = no_external(image, address);
            }
        });
    }
    found
}

fn no_external(image: &Image, address: Value) -> Result<(), Refusal> {
    match image.externals.range(..=address as u64).next_back() {
        Some((&at, name)) if (address as u64) < at + EXTERNAL_SIZE => {
            Err(Refusal::new("unknown-object", format!("the code uses `{name}`, which is not in the file"))
                .help("link the file that defines it: `ld -r -o all.o a.o b.o`"))
        }
        _ => Ok(()),
    }
}
