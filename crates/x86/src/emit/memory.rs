//! Accesses to memory: to the private stack, to cells, to parts of cells and to several at once.

use weir_ir::{BinaryOp, Expr, Instruction, RegExpr, Rmw, Value};

use super::{Emitter, Place};
use crate::accesses::{is_constant, of};
use crate::cells::{Cells, Kind};
use crate::graph::Entries;
use crate::heap;
use crate::known::{Known, State, is_private};
use crate::limit::LimitKind;
use crate::ops::{Change, E, Op, Reg, balanced, binary, cut, mask, shift_right};
use crate::simplify::simplify;
use crate::transfer::upper_half;

/// The part of a cell that an access touches.
#[derive(Clone, Copy)]
struct Piece {
    cell: Value,
    cell_size: u32,
    /// Where in the cell, in bytes.
    at: u32,
    /// Where in the value, in bytes.
    from: u32,
    size: u32,
}

impl Piece {
    fn is_whole(self) -> bool {
        self.size == self.cell_size
    }

    /// The value of the cell with these bytes replaced.
    fn merged(self, old: RegExpr, part: RegExpr) -> RegExpr {
        let ones = mask(self.size) << (8 * self.at);
        let kept = binary(BinaryOp::BitAnd, old, Expr::Const(!ones & mask(self.cell_size)));
        let moved = binary(BinaryOp::ShiftLeft, part, Expr::Const((8 * self.at).into()));
        binary(BinaryOp::BitOr, kept, moved)
    }
}

impl Emitter<'_> {
    /// The step that no run takes: there is no memory of that kind.
    fn fail(&mut self) {
        self.push(Instruction::Assert(Expr::Const(0)));
    }

    fn simplified(&self, value: &RegExpr) -> RegExpr {
        simplify(value, &|reg| self.bits[reg.index()])
    }

    /// What an access at a known address touches.
    fn pieces(&self, address: Value, size: u32) -> Option<Vec<Piece>> {
        let end = address + Value::from(size);
        let piece = |cell: &crate::cells::Cell| {
            let (start, stop) = (cell.address.max(address), cell.end().min(end));
            Piece {
                cell: cell.address,
                cell_size: cell.size,
                at: (start - cell.address) as u32,
                from: (start - address) as u32,
                size: (stop - start) as u32,
            }
        };
        Some(self.cells.covering(address, size)?.into_iter().map(piece).collect())
    }

    /// The same, if it can be written.
    fn writable(&self, address: Value, size: u32) -> Option<Vec<Piece>> {
        self.image.region(address as u64, size as usize).filter(|region| region.is_writable)?;
        self.pieces(address, size)
    }

    pub(super) fn load(&mut self, to: Reg, address: &E, size: u32, state: &State) {
        let register = self.register(Place::Reg(to));
        match state.value(address) {
            Known::Const(address) if is_private(address) => {
                let slots = self.slots.clone();
                let value = slots.load(address, size, &mut |slot| self.slot(slot));
                let value = self.simplified(&value);
                self.assign(register, value);
            }
            Known::Const(address) if is_constant(self.image, address, size) => {
                let value = self.image.value(address as u64, size).unwrap_or(0);
                self.assign(register, Expr::Const(value as Value));
                return;
            }
            Known::Const(address) => match self.pieces(address, size) {
                None => return self.fail(),
                Some(pieces) => match pieces[..] {
                    [piece] if piece.is_whole() => {
                        self.push(Instruction::Load { register, address: Expr::Const(piece.cell) });
                    }
                    _ => {
                        let value = self.loaded(&pieces);
                        self.assign(register, value);
                    }
                },
            },
            Known::Any { .. } => {
                let address = self.valid(address, size, Kind::Load, state);
                self.push(Instruction::Load { register, address });
            }
        }
        self.bits[register.index()] = (8 * size) as u8;
    }

    /// A load from a constant table, at one of these addresses.
    pub(super) fn look_up(&mut self, op: &Op, entries: &Entries, state: &State) {
        let Op::Load { to, address, size } = op else { return };
        let address = self.value(address, state);
        // The entry whose address it is; all other terms are 0.
        let terms: Vec<RegExpr> = entries
            .iter()
            .map(|(&at, &entry)| {
                let is_there = Expr::binary(BinaryOp::Equal, address.clone(), Expr::Const(at));
                Expr::binary(BinaryOp::Multiply, is_there, Expr::Const(entry))
            })
            .collect();
        let value = balanced(BinaryOp::BitOr, terms).unwrap_or(Expr::Const(0));
        let register = self.register(Place::Reg(*to));
        self.assign(register, value);
        self.bits[register.index()] = (8 * size) as u8;
    }

    /// Checks that what an instruction accesses has not been freed.
    pub(super) fn check_blocks(&mut self, op: &Op, state: &State) {
        if !self.checks_blocks {
            return;
        }
        for (address, ..) in of(op) {
            let address = self.value(&address, state);
            let is_block = self.simplified(&heap::is_block(&address));
            if is_block == Expr::Const(0) {
                continue;
            }
            let (from, joined, span) = (self.at, self.draft.location(), self.place);
            let register = self.register(Place::Freed);
            self.push(Instruction::Assume(is_block.clone()));
            let header = self.simplified(&heap::header_of(address));
            // An address between blocks is found by the access itself.
            let is_valid = self.cells.is_valid(&header, 8, Kind::Load);
            self.push(Instruction::Assert(is_valid));
            self.push(Instruction::Load { register, address: header });
            let is_live = Expr::binary(BinaryOp::Equal, Expr::Leaf(register), Expr::Const(0));
            self.push(Instruction::Assert(is_live));
            self.draft.edge(self.at, joined, Instruction::Skip, span, self.code);
            if is_block.constant().is_none() {
                self.draft.edge(from, joined, Instruction::Assume(is_block.negated()), span, self.code);
            }
            self.at = joined;
        }
    }

    /// Loads all cells of an access in one step; the value of the access.
    fn loaded(&mut self, pieces: &[Piece]) -> RegExpr {
        let mut loads = Vec::new();
        let mut value = Expr::Const(0);
        for (number, piece) in pieces.iter().enumerate() {
            let part = self.register(Place::Part(number));
            loads.push((part, Expr::Const(piece.cell)));
            let whole = Expr::Leaf(part);
            let bytes = if piece.is_whole() { whole } else { cut(shift_right(whole, 8 * piece.at), piece.size) };
            let moved = binary(BinaryOp::ShiftLeft, bytes, Expr::Const((8 * piece.from).into()));
            value = if piece.from == 0 { moved } else { binary(BinaryOp::BitOr, value, moved) };
        }
        match loads[..] {
            [(register, ref address)] => self.push(Instruction::Load { register, address: address.clone() }),
            _ => self.push(Instruction::Snapshot(loads)),
        }
        value
    }

    /// A computed address, after the steps that check it: that there is memory, and that it is a cell of this size. Where
    /// only the latter fails, the access is possible, but not modelled.
    fn valid(&mut self, address: &E, size: u32, kind: Kind, state: &State) -> RegExpr {
        let address = self.value(address, state);
        self.push(Instruction::Assert(Cells::is_memory(self.image, &address, size, kind)));
        let is_valid = self.cells.is_valid(&address, size, kind);
        self.limit(is_valid, LimitKind::Access(size));
        address
    }

    /// The model ends unless the condition holds.
    pub(super) fn limit(&mut self, holds: RegExpr, why: LimitKind) {
        let next = self.draft.location();
        self.draft.limit((self.at, next), holds, why, self.place, self.code);
        self.at = next;
    }

    pub(super) fn store(&mut self, address: &E, value: &RegExpr, size: u32, state: &State) {
        match state.value(address) {
            Known::Const(address) if is_private(address) => {
                let slots = self.slots.clone();
                let assigned = slots.store(address, size, value, &mut |slot| self.slot(slot));
                for (register, value) in assigned {
                    let value = self.simplified(&value);
                    self.assign(register, value);
                }
            }
            Known::Const(address) => match self.writable(address, size) {
                Some(pieces) => self.stored(&pieces, value),
                None => self.fail(),
            },
            Known::Any { .. } => {
                let address = self.valid(address, size, Kind::Store, state);
                self.push(Instruction::Store { address, value: value.clone() });
            }
        }
    }

    /// Stores to each cell of an access. There are several only while the bus is held.
    fn stored(&mut self, pieces: &[Piece], value: &RegExpr) {
        for piece in pieces {
            let part = match pieces.len() {
                1 => value.clone(),
                _ => cut(shift_right(value.clone(), 8 * piece.from), piece.size),
            };
            let value = if piece.is_whole() {
                part
            } else {
                let register = self.register(Place::Part(0));
                self.push(Instruction::Load { register, address: Expr::Const(piece.cell) });
                piece.merged(Expr::Leaf(register), cut(part, piece.size))
            };
            let value = self.simplified(&value);
            self.push(Instruction::Store { address: Expr::Const(piece.cell), value });
        }
    }

    pub(super) fn change(&mut self, to: Reg, (address, size): (&E, u32), change: &Change, state: &State) {
        let known = state.value(address);
        let at = match known {
            // A locked access to the own stack is a fence, since nobody sees the rest.
            Known::Const(at) if is_private(at) => {
                self.push(Instruction::Fence);
                self.load(to, address, size, state);
                let new = self.changed(to, change, state);
                return self.store(address, &cut(new, size), size, state);
            }
            Known::Const(at) => match self.writable(at, size).as_deref() {
                Some([piece]) if piece.is_whole() => Expr::Const(at),
                // Parts of a cell, or several, while the bus is held.
                Some(pieces) => {
                    self.push(Instruction::Lock);
                    let register = self.register(Place::Reg(to));
                    let old = self.loaded(pieces);
                    self.assign(register, old);
                    let new = self.changed(to, change, state);
                    self.stored(pieces, &cut(new, size));
                    return self.push(Instruction::Unlock);
                }
                None => return self.fail(),
            },
            Known::Any { .. } => self.valid(address, size, Kind::Change, state),
        };
        let operation = match change {
            Change::Exchange(value) => Rmw::Exchange(self.value(value, state)),
            Change::CompareExchange(expected, new) => {
                Rmw::CompareExchange { expected: self.value(expected, state), new: self.value(new, state) }
            }
            Change::Fetch(kind, value) => Rmw::Fetch(*kind, self.value(value, state)),
        };
        let register = Some(self.register(Place::Reg(to)));
        self.push(Instruction::ReadModifyWrite { register, address: at, operation });
    }

    /// What memory holds after a change, if the register has what it held before.
    fn changed(&mut self, from: Reg, change: &Change, state: &State) -> RegExpr {
        let old = Expr::Leaf(self.register(Place::Reg(from)));
        match change {
            Change::Exchange(value) => self.value(value, state),
            Change::CompareExchange(expected, new) => {
                // The new value where they are equal, else the old one.
                let is_equal = Expr::binary(BinaryOp::Equal, self.value(expected, state), old.clone());
                let difference = Expr::binary(BinaryOp::Subtract, self.value(new, state), old.clone());
                let change = Expr::binary(BinaryOp::Multiply, difference, is_equal);
                Expr::binary(BinaryOp::Add, old, change)
            }
            Change::Fetch(kind, value) => Expr::binary(kind.operator(), old, self.value(value, state)),
        }
    }

    /// Compares and exchanges 16 bytes while the bus is held; on the own stack, after a fence.
    pub(super) fn change_pair(&mut self, to: (Reg, Reg), address: &E, expected: &(E, E), new: &(E, E), state: &State) {
        let upper = upper_half(address);
        let is_own = state.value(address).constant().is_some_and(is_private);
        match state.value(address) {
            Known::Const(at) if !is_own && self.writable(at, 16).is_none() => return self.fail(),
            Known::Const(_) => {}
            Known::Any { .. } => {
                self.valid(address, 8, Kind::Change, state);
                self.valid(&upper, 8, Kind::Change, state);
            }
        }
        self.push(if is_own { Instruction::Fence } else { Instruction::Lock });
        self.load(to.0, address, 8, state);
        self.load(to.1, &upper, 8, state);
        let is_same = |emitter: &mut Self, reg, expected: &E| {
            let old = Expr::Leaf(emitter.register(Place::Reg(reg)));
            Expr::binary(BinaryOp::Equal, old, emitter.value(expected, state))
        };
        let (low, high) = (is_same(self, to.0, &expected.0), is_same(self, to.1, &expected.1));
        let is_equal = Expr::binary(BinaryOp::And, low, high);
        let (low, high) = (self.value(&new.0, state), self.value(&new.1, state));
        let (from, joined) = (self.at, self.draft.location());
        let span = self.place;
        self.push(Instruction::Assume(is_equal.clone()));
        self.store(address, &low, 8, state);
        self.store(&upper, &high, 8, state);
        self.draft.edge(self.at, joined, Instruction::Skip, span, self.code);
        self.draft.edge(from, joined, Instruction::Assume(is_equal.negated()), span, self.code);
        self.at = joined;
        if !is_own {
            self.push(Instruction::Unlock);
        }
    }
}
