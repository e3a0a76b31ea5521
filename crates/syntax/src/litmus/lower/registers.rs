//! Where the registers of a thread are kept.
//!
//! A register that the thread never writes is a constant. One of which only the low 32 bits are ever used is kept as a
//! value of 4 bytes; any other as 64 bits, of which instructions read and write parts. So common programs read as they
//! would be written by hand.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{BinaryOp, Expr, Gather, RegExpr, RegId, Register, Span, Value};

use super::super::register::{Base, Part, RegisterName};
use super::bits::{binary, mask, signed, unsigned};

/// Where a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Storage {
    /// It always holds this.
    Constant(Value),
    /// A value of 4 bytes.
    Narrow(RegId),
    /// All 64 bits.
    Wide(RegId),
    /// A flag: 0 or 1.
    Flag(RegId),
}

/// What a thread does with its registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// The parts that instructions read or write.
    pub(super) parts: BTreeMap<Base, BTreeSet<Part>>,
    /// The most bytes that are written at once.
    pub(super) widest_write: BTreeMap<Base, u32>,
    /// Registers that are written.
    pub(super) written: BTreeSet<Base>,
    /// Flags and registers that the question or a conditional instruction looks at.
    pub(super) observed: BTreeSet<Base>,
}

/// The registers of a thread.
#[derive(Debug, Default)]
pub(super) struct Registers {
    storage: BTreeMap<Base, Storage>,
    pub(super) list: Vec<Register>,
    temporaries: u32,
}

impl Registers {
    /// Finds a place for each register. `initial` tells what one holds at first.
    pub(super) fn new(usage: &Usage, is_upper: bool, span: Span, initial: impl Fn(&Base) -> Value) -> Self {
        let mut registers = Self::default();
        let used: BTreeSet<&Base> = usage.parts.keys().chain(&usage.observed).gather();
        for base in used {
            if !usage.written.contains(base) {
                registers.storage.insert(base.clone(), Storage::Constant(initial(base)));
                continue;
            }
            let id = registers.declare(base_text(base, is_upper), false, span);
            let only_long = usage.parts.get(base).is_some_and(|parts| parts.iter().all(|part| *part == Part::Long));
            let storage = match base {
                Base::Flag(_) => Storage::Flag(id),
                _ if only_long => Storage::Narrow(id),
                _ => Storage::Wide(id),
            };
            registers.storage.insert(base.clone(), storage);
        }
        registers
    }

    fn declare(&mut self, name: String, is_temporary: bool, span: Span) -> RegId {
        self.list.push(Register { name, is_temporary, is_thread_local: false, span });
        RegId::new(self.list.len() - 1)
    }

    /// A register of our own.
    pub(super) fn temporary(&mut self, span: Span) -> RegId {
        self.temporaries += 1;
        self.declare(format!("_t{}", self.temporaries), true, span)
    }

    /// Where a register is. One that nothing mentions holds 0.
    pub(super) fn storage(&self, base: &Base) -> Storage {
        self.storage.get(base).copied().unwrap_or(Storage::Constant(0))
    }

    /// The value of a part, with its sign.
    pub(super) fn read(&self, base: &Base, part: Part) -> RegExpr {
        read(self.storage(base), part, Expr::Leaf)
    }

    /// The register, and what to assign to it so that a part of it takes a value of the part's size. `None` for
    /// constants.
    pub(super) fn write(&self, base: &Base, part: Part, value: RegExpr) -> Option<(RegId, RegExpr)> {
        match self.storage(base) {
            Storage::Constant(_) => None,
            Storage::Narrow(id) | Storage::Flag(id) => Some((id, value)),
            Storage::Wide(id) => {
                let keep = |bits: Value| binary(BinaryOp::BitAnd, Expr::Leaf(id), Expr::Const(!bits));
                let merged = match part {
                    Part::Quad => value,
                    // The processor clears the upper half.
                    Part::Long => unsigned(value, 4),
                    Part::Word | Part::Low => {
                        let low = unsigned(value, part.size());
                        binary(BinaryOp::BitOr, keep(mask(part.size())), low)
                    }
                    Part::High => {
                        let high = binary(BinaryOp::ShiftLeft, unsigned(value, 1), Expr::Const(8));
                        binary(BinaryOp::BitOr, keep(0xFF00), high)
                    }
                };
                Some((id, merged))
            }
        }
    }

    /// The register itself, if a value of the part's size can be put there as it is.
    pub(super) fn direct(&self, base: &Base, part: Part) -> Option<RegId> {
        match self.storage(base) {
            Storage::Narrow(id) if part == Part::Long => Some(id),
            Storage::Wide(id) if part == Part::Quad => Some(id),
            _ => None,
        }
    }
}

/// The value of a part of what is stored, with its sign.
pub(super) fn read<L>(storage: Storage, part: Part, leaf: impl FnOnce(RegId) -> Expr<L>) -> Expr<L> {
    match storage {
        Storage::Constant(value) => read_wide(Expr::Const(value), part),
        Storage::Narrow(id) if part.size() >= 4 => leaf(id),
        Storage::Flag(id) => leaf(id),
        Storage::Narrow(id) | Storage::Wide(id) => read_wide(leaf(id), part),
    }
}

fn read_wide<L>(value: Expr<L>, part: Part) -> Expr<L> {
    match part {
        Part::High => signed(binary(BinaryOp::ShiftRight, value, Expr::Const(8)), 1),
        part => signed(value, part.size()),
    }
}

fn base_text(base: &Base, is_upper: bool) -> String {
    let part = if is_upper { Part::Long } else { Part::Quad };
    let name = RegisterName { base: base.clone(), part: Some(part) }.text(is_upper);
    name.trim_start_matches('%').to_owned()
}
