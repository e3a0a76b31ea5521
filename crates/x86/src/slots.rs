//! The stack of a thread as registers.
//!
//! Nobody else sees the stack, so that accesses to it are local steps. Bytes that are always accessed together are one
//! register; bytes that are accessed in several ways are parts of one, of at most 8 bytes.

use std::collections::BTreeMap;

use weir_ir::{BinaryOp, Expr, RegExpr, RegId, Value};

use crate::ops::{binary, cut, mask, shift_right};

/// Bytes of the stack that are one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) address: Value,
    pub(crate) size: u32,
}

/// A part of an access within one slot.
struct Piece {
    slot: Slot,
    /// Where in the slot, in bytes.
    at: u32,
    /// Where in the value, in bytes.
    from: u32,
    size: u32,
}

/// The slots of a stack, by address; apart from each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slots: BTreeMap<Value, u32>,
}

impl Slots {
    /// The slots for these accesses: address and size.
    pub(crate) fn new(accesses: impl IntoIterator<Item = (Value, u32)>) -> Self {
        let mut sorted: Vec<(Value, u32)> = accesses.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut slots = BTreeMap::new();
        let mut group: Option<(Value, Value)> = None;
        for (address, size) in sorted {
            let end = address + Value::from(size);
            match &mut group {
                Some((_, last)) if address < *last => *last = end.max(*last),
                _ => {
                    divide(group, &mut slots);
                    group = Some((address, end));
                }
            }
        }
        divide(group, &mut slots);
        Self { slots }
    }

    /// What an access touches.
    fn pieces(&self, address: Value, size: u32) -> Vec<Piece> {
        let end = address + Value::from(size);
        let near = self.slots.range(address - 8..end);
        let touched = near.filter(|&(&at, &length)| at + Value::from(length) > address);
        touched
            .map(|(&at, &length)| {
                let (start, stop) = (at.max(address), (at + Value::from(length)).min(end));
                Piece {
                    slot: Slot { address: at, size: length },
                    at: (start - at) as u32,
                    from: (start - address) as u32,
                    size: (stop - start) as u32,
                }
            })
            .collect()
    }

    /// The value of some bytes, given the register of each slot.
    pub(crate) fn load(&self, address: Value, size: u32, register: &mut impl FnMut(Slot) -> RegId) -> RegExpr {
        let mut value = Expr::Const(0);
        for piece in self.pieces(address, size) {
            let whole = Expr::Leaf(register(piece.slot));
            let part =
                if piece.size == piece.slot.size { whole } else { cut(shift_right(whole, 8 * piece.at), piece.size) };
            let moved = binary(BinaryOp::ShiftLeft, part, Expr::Const((8 * piece.from).into()));
            value = if piece.from == 0 { moved } else { binary(BinaryOp::BitOr, value, moved) };
        }
        value
    }

    /// The registers to assign, and what, to store a value.
    pub(crate) fn store(
        &self,
        address: Value,
        size: u32,
        value: &RegExpr,
        register: &mut impl FnMut(Slot) -> RegId,
    ) -> Vec<(RegId, RegExpr)> {
        let assignment = |piece: Piece| {
            let id = register(piece.slot);
            let part = cut(shift_right(value.clone(), 8 * piece.from), piece.size);
            if piece.size == piece.slot.size {
                return (id, part);
            }
            let ones = mask(piece.size) << (8 * piece.at);
            let kept = binary(BinaryOp::BitAnd, Expr::Leaf(id), Expr::Const(!ones));
            let moved = binary(BinaryOp::ShiftLeft, part, Expr::Const((8 * piece.at).into()));
            (id, binary(BinaryOp::BitOr, kept, moved))
        };
        self.pieces(address, size).into_iter().map(assignment).collect()
    }
}

/// Bytes that are accessed together: one slot, or as many of 8 bytes as it takes.
fn divide(group: Option<(Value, Value)>, slots: &mut BTreeMap<Value, u32>) {
    let Some((start, end)) = group else { return };
    if end - start <= 8 {
        slots.insert(start, (end - start) as u32);
        return;
    }
    let mut at = start;
    while at < end {
        let next = (at - at.rem_euclid(8) + 8).min(end);
        slots.insert(at, (next - at) as u32);
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads give what was stored, byte by byte, for every pair of accesses near each other.
    #[test]
    fn parts_fit_together() {
        let sizes = [1, 2, 4, 8];
        let base = 0x7000_0000;
        for (first, second) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
            for (one, other) in sizes.into_iter().flat_map(|a| sizes.map(|b| (a, b))) {
                let accesses = [(base + first, one), (base + second, other)];
                let slots = Slots::new(accesses);
                let mut names: Vec<Slot> = Vec::new();
                let mut values: Vec<Value> = Vec::new();
                let mut bytes = [0_u8; 24];
                for (round, &(address, size)) in accesses.iter().enumerate() {
                    let value = 0x1122_3344_5566_7788_i64.wrapping_mul(round as i64 + 3) & mask(size);
                    let start = (address - base) as usize;
                    bytes[start..start + size as usize].copy_from_slice(&value.to_le_bytes()[..size as usize]);
                    let mut register = |slot: Slot| {
                        let at = names.iter().position(|known| *known == slot).unwrap_or_else(|| {
                            names.push(slot);
                            names.len() - 1
                        });
                        RegId::new(at)
                    };
                    let assigned = slots.store(address, size, &Expr::Const(value), &mut register);
                    values.resize(names.len(), 0);
                    let new: Vec<(RegId, Value)> =
                        assigned.iter().map(|(id, expr)| (*id, expr.eval(&mut |reg| values[reg.index()]))).collect();
                    new.into_iter().for_each(|(id, value)| values[id.index()] = value);
                }
                for (address, size) in accesses {
                    let start = (address - base) as usize;
                    let expected =
                        bytes[start..start + size as usize].iter().rev().fold(0, |v, &b| v << 8 | i64::from(b));
                    let mut register = |slot: Slot| {
                        RegId::new(names.iter().position(|known| *known == slot).expect("a slot that was stored to"))
                    };
                    let loaded = slots.load(address, size, &mut register);
                    assert_eq!(loaded.eval(&mut |reg| values[reg.index()]), expected, "{first} {one} {second} {other}");
                }
            }
        }
    }
}
