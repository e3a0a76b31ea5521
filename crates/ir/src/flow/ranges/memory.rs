//! One range for each shared cell, whatever the moment: it holds the initial value and every value that
//! any store or read-modify-write may put there.
//!
//! That covers TSO as well as SC: what a load sees in its own thread's buffer was stored to that address too. A store
//! outside a declared range blocks before it takes effect, so it adds nothing. Cells with a width hold what is left of
//! the values that are stored.
//!
//! Cells share a *slot* where telling them apart would cost too much: all that are not declared, those of
//! a long array, and any beyond a large number of declared cells. An access that may touch very many slots
//! is taken to touch all.

use super::interval::binary;
use super::widening::{Pace, Thresholds};
use crate::expr::{BinaryOp, Value};
use crate::flow::limits::{LONGEST_SPLIT_ARRAY, MOST_CELL_RANGES};
use crate::program::{Address, Program, Range, Shared, Width};
use crate::sort::sort_by_key;

/// What a write changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A place in [`Memory::slots`].
    Slot(usize),
    /// Any cell at all.
    Anywhere,
}

/// Cells that share a range.
#[derive(Clone, Debug)]
struct Slot {
    /// Which cells; of no meaning for the last slot.
    addresses: Range,
    /// The values a store may have.
    allowed: Range,
    /// What becomes of them: cells of a width keep the low bits.
    width: Option<Width>,
    /// Whether there are also cells that keep all bits.
    is_mixed: bool,
    /// What is there at the start.
    initial: Range,
    /// What is there at some time, but for writes that may go anywhere.
    value: Range,
    is_written: bool,
    growths: u32,
}

/// What a store or read-modify-write can do to memory.
pub(super) enum Write {
    /// Puts one of the values there.
    Store(Range),
    /// Puts one of the values of `new` there if one of `expected` is there.
    Swap { expected: Range, new: Range },
    /// Combines what is there.
    Fetch(BinaryOp, Range),
}

/// The ranges of all cells.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// By address; the last one is for all cells without a slot of their own.
    slots: Vec<Slot>,
    /// What writes that may go anywhere put there.
    anywhere: Option<Range>,
    anywhere_growths: u32,
    /// What any cell holds.
    all: Range,
}

impl Memory {
    /// Memory at the start.
    pub(super) fn new(program: &Program) -> Self {
        let mut elsewhere = Slot { is_mixed: true, ..Slot::new(Range::FULL, None, None, Range::single(0)) };
        let mut slots = Vec::new();
        for shared in &program.shared {
            let room = MOST_CELL_RANGES - slots.len();
            if shared.initial.len() <= LONGEST_SPLIT_ARRAY.min(room) {
                slots.extend(cells_of(shared));
            } else if let Some(whole) = whole(shared) {
                if room > 0 {
                    slots.push(whole);
                } else {
                    elsewhere.initial = elsewhere.initial.hull(whole.initial);
                    elsewhere.width = elsewhere.width.max(whole.width);
                }
            }
        }
        sort_by_key(&mut slots, |slot| slot.addresses);
        slots.push(elsewhere);
        Self::at_start(slots)
    }

    /// The same cells as they are at the start.
    pub(super) fn restarted(&self) -> Self {
        Self::at_start(self.slots.clone())
    }

    fn at_start(slots: Vec<Slot>) -> Self {
        let fresh = |slot: &Slot| Slot { value: slot.initial, is_written: false, growths: 0, ..slot.clone() };
        let slots: Vec<Slot> = slots.iter().map(fresh).collect();
        let all = slots.iter().map(|slot| slot.initial).reduce(Range::hull).unwrap_or(Range::single(0));
        Self { slots, anywhere: None, anywhere_growths: 0, all }
    }

    /// Whether the cells hold the same, and the same of them are written.
    pub(super) fn holds_the_same(&self, other: &Self) -> bool {
        let held = |slot: &Slot| (slot.value, slot.is_written);
        (self.anywhere, self.all) == (other.anywhere, other.all)
            && self.slots.iter().map(held).eq(other.slots.iter().map(held))
    }

    /// The slots that cells of these addresses may lie in; nothing if those are too many.
    fn touched(&self, addresses: Range) -> Option<impl Iterator<Item = usize> + use<>> {
        let (elsewhere, declared) = (self.slots.len() - 1, &self.slots[..self.slots.len() - 1]);
        let start = declared.partition_point(|slot| slot.addresses.high < addresses.low);
        let end = declared.partition_point(|slot| slot.addresses.low <= addresses.high).max(start);
        if end - start > LONGEST_SPLIT_ARRAY {
            return None;
        }
        let overlap = |slot: &Slot| slot.addresses.meet(addresses).map_or(0, |both| u128::from(both.extent()) + 1);
        let covered: u128 = declared[start..end].iter().map(overlap).sum();
        let is_covered = covered > u128::from(addresses.extent());
        Some((start..end).chain((!is_covered).then_some(elsewhere)))
    }

    fn slot_of(&self, address: Address) -> &Slot {
        let touched = self.touched(Range::single(address)).and_then(|mut slots| slots.next());
        &self.slots[touched.unwrap_or(self.slots.len() - 1)]
    }

    /// What the cells of a slot may hold.
    fn value(&self, slot: &Slot) -> Range {
        let strays = self.anywhere.and_then(|anywhere| slot.stored(anywhere));
        strays.map_or(slot.value, |strays| strays.hull(slot.value))
    }

    /// What a load from one of these addresses can see.
    pub(super) fn load(&self, addresses: Range) -> Range {
        let Some(touched) = self.touched(addresses) else { return self.all };
        touched.map(|slot| self.value(&self.slots[slot])).reduce(Range::hull).unwrap_or(Range::FULL)
    }

    /// The values that a store to one of these addresses may put there.
    pub(super) fn allowed(&self, addresses: Range) -> Range {
        let Some(touched) = self.touched(addresses) else { return Range::FULL };
        touched.map(|slot| self.slots[slot].allowed).reduce(Range::hull).unwrap_or(Range::FULL)
    }

    /// What a write may change, and to what. Nothing at all: it cannot happen.
    pub(super) fn effects(&self, addresses: Range, write: &Write) -> Vec<(Target, Range)> {
        let Some(touched) = self.touched(addresses) else {
            return write.result(self.all).map(|value| (Target::Anywhere, value)).into_iter().collect();
        };
        let effect = |at: usize| {
            let slot = &self.slots[at];
            Some((Target::Slot(at), slot.stored(write.result(self.value(slot))?)?))
        };
        touched.filter_map(effect).collect()
    }

    /// A write happens. Whether that changed any range.
    pub(super) fn grow(&mut self, target: Target, by: Range, thresholds: &Thresholds) -> bool {
        let changed = match target {
            Target::Anywhere => self.grow_anywhere(by, thresholds),
            Target::Slot(at) => {
                let known = self.value(&self.slots[at]);
                let slot = &mut self.slots[at];
                slot.is_written = true;
                let widened = || thresholds.widen(known, known.hull(by), Pace::after(slot.growths));
                known.hull(by) != known && slot.replace(widened())
            }
        };
        if changed {
            self.note(target);
        }
        changed
    }

    fn grow_anywhere(&mut self, by: Range, thresholds: &Thresholds) -> bool {
        let widen = |known: Range| thresholds.widen(known, known.hull(by), Pace::after(self.anywhere_growths));
        let grown = Some(self.anywhere.map_or(by, widen));
        let changed = grown != self.anywhere;
        self.anywhere = grown;
        self.anywhere_growths += u32::from(changed);
        changed
    }

    /// A write happens; the range grows by no more than it must.
    pub(super) fn add(&mut self, target: Target, value: Range) {
        match target {
            Target::Anywhere => self.anywhere = Some(self.anywhere.map_or(value, |known| known.hull(value))),
            Target::Slot(at) => {
                self.slots[at].is_written = true;
                self.slots[at].value = self.slots[at].value.hull(value);
            }
        }
        self.note(target);
    }

    /// Keeps [`Memory::all`] up to date with a target that has grown.
    fn note(&mut self, target: Target) {
        let grown = match target {
            Target::Anywhere => {
                let anywhere = self.anywhere.unwrap_or(self.all);
                let wrapped = self.slots.iter().filter_map(|slot| slot.width).map(|width| width.wrap_range(anywhere));
                wrapped.fold(anywhere, Range::hull)
            }
            Target::Slot(at) => self.slots[at].value,
        };
        self.all = self.all.hull(grown);
    }

    /// Gives up on ranges: every cell may hold whatever may be stored there.
    pub(super) fn give_up(&mut self) {
        self.anywhere = Some(Range::FULL);
        self.all = Range::FULL;
    }

    /// What the cell may hold.
    pub(super) fn cell(&self, address: Address) -> Range {
        self.value(self.slot_of(address))
    }

    /// What cells that are not declared may hold.
    pub(super) fn elsewhere(&self) -> Range {
        self.slots.last().map_or(Range::FULL, |slot| self.value(slot))
    }

    /// Whether some write may change the cell.
    pub(super) fn is_written(&self, address: Address) -> bool {
        self.anywhere.is_some() || self.slot_of(address).is_written
    }
}

impl Slot {
    fn new(addresses: Range, range: Option<Range>, width: Option<Width>, initial: Range) -> Self {
        let allowed = range.unwrap_or(Range::FULL);
        Self { addresses, allowed, width, is_mixed: false, initial, value: initial, is_written: false, growths: 0 }
    }

    /// What stores of these values can put there.
    fn stored(&self, values: Range) -> Option<Range> {
        match self.width {
            None => values.meet(self.allowed),
            Some(width) if self.is_mixed => Some(values.hull(width.range())),
            Some(width) => Some(width.wrap_range(values)),
        }
    }

    /// What can be there at any time.
    fn bound(&self) -> Range {
        let stored = self.width.filter(|_| !self.is_mixed).map_or(self.allowed, Width::range);
        stored.hull(self.initial)
    }

    /// Takes a larger range, cut to what can be there. Whether that changed anything.
    fn replace(&mut self, range: Range) -> bool {
        let range = range.meet(self.bound()).unwrap_or(self.value);
        let changed = range != self.value;
        self.value = range;
        self.growths += u32::from(changed);
        changed
    }
}

impl Write {
    /// What is there afterwards, if it holds a value of `old` before and the write changes it.
    fn result(&self, old: Range) -> Option<Range> {
        match self {
            Self::Store(value) => Some(*value),
            Self::Swap { expected, new } => old.meet(*expected).map(|_| *new),
            Self::Fetch(op, operand) => Some(binary(*op, old, *operand)),
        }
    }
}

/// A slot for each cell of a declaration.
fn cells_of(shared: &Shared) -> impl Iterator<Item = Slot> + '_ {
    let cells = shared.addresses().zip(&shared.initial);
    cells.map(move |(address, &value)| {
        Slot::new(Range::single(address), shared.range, shared.width, Range::single(value))
    })
}

/// One slot for all cells of a declaration, if it has any.
fn whole(shared: &Shared) -> Option<Slot> {
    let last = shared.address.saturating_add(shared.initial.len().saturating_sub(1) as Value);
    let addresses = Range { low: shared.address, high: last };
    let initial = shared.initial.iter().map(|&value| Range::single(value)).reduce(Range::hull)?;
    Some(Slot::new(addresses, shared.range, shared.width, initial))
}

#[cfg(test)]
mod tests;
