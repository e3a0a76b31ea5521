//! Instructions of the extended program, each with what it does in the original one.

use weir_ir::{BodyBuilder, Instruction, Program, RegExpr, RegId, ThreadId};

use super::{Note, Origin};

/// One thread of the extended program under construction: its own code, to which more is added.
pub(super) type Builder = BodyBuilder<Origin>;

/// An instruction, and what it does in the original program.
pub(super) type Traced = (Instruction, Origin);

/// An instruction that does nothing in the original program.
pub(super) fn auxiliary(instruction: Instruction) -> Traced {
    (instruction, Origin::default())
}

/// An auxiliary instruction that leads onto the path or away from it.
pub(super) fn noted(instruction: Instruction, note: Note) -> Traced {
    (instruction, Origin { note, ..Origin::default() })
}

/// `register = value`, auxiliary.
pub(super) fn set(register: RegId, value: RegExpr) -> Traced {
    auxiliary(Instruction::Assign { register, value })
}

/// Goes on only if the condition holds.
pub(super) fn test(condition: RegExpr) -> Traced {
    auxiliary(Instruction::Assume(condition))
}

/// Starts from the code of a thread as it is.
pub(super) fn builder(program: &Program, thread: ThreadId, origins: &[Origin]) -> Builder {
    let shared = program.shared.iter().map(|shared| shared.name.clone());
    let constants = program.constants.iter().map(|(name, _)| name.clone());
    Builder::of(program.body(thread), origins.iter().copied(), shared.chain(constants))
}
