//! Which bits of a state hold what.
//!
//! Widths come from the value-range analysis, so a cell that only ever holds 0 or 1 takes one bit, and a cell
//! that nothing writes takes none. No field crosses a word. Registers that are never live at the same
//! time share bits ([`slots`](super::slots)).

use weir_ir::flow::Ranges;
use weir_ir::sort::sort_by_key;
use weir_ir::{Address, Program, Range, Value, Width};

use super::state::{Field, width};

/// Which undeclared addresses that instructions may compute get fields of their own; the others share one interned map,
/// which takes longer to read and write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Undeclared {
    /// Those from ranges that are not too wide.
    Fields,
    /// Only those that some instruction or property names by themselves: for when states would be too large.
    Interned,
}

impl Undeclared {
    /// How many addresses a range may have for them to get fields.
    fn most_addresses(self) -> u64 {
        match self {
            Self::Fields => 4096,
            Self::Interned => 1,
        }
    }
}

/// Number of bits for the number of an interned row.
const ROW_BITS: u32 = 32;

/// A cell, and where its value is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) address: Address,
    pub(crate) initial: Value,
    pub(crate) range: Option<Range>,
    pub(crate) width: Option<Width>,
    pub(crate) storage: Storage,
}

/// Where the value of a cell is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Storage {
    Field(Field),
    /// Nothing writes the cell: it always holds its initial value.
    Constant,
}

/// What an address names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A cell with bits of its own, by its number.
    Cell(u32),
    /// A cell in the interned map.
    Heap(Address),
}

/// All cells with bits of their own, by ascending address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// Runs of neighbouring addresses: first address, length, number of the first cell.
    extents: Vec<(Address, u64, u32)>,
}

impl Cells {
    fn new(cells: Vec<Cell>) -> Self {
        let mut extents: Vec<(Address, u64, u32)> = Vec::new();
        for (number, cell) in (0..).zip(&cells) {
            match extents.last_mut() {
                Some((base, len, _)) if base.checked_add_unsigned(*len) == Some(cell.address) => *len += 1,
                _ => extents.push((cell.address, 1, number)),
            }
        }
        Self { cells, extents }
    }

    #[inline]
    pub(crate) fn cell(&self, number: u32) -> &Cell {
        &self.cells[number as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    #[inline]
    pub(crate) fn target(&self, address: Address) -> Target {
        let after = self.extents.partition_point(|&(base, _, _)| base <= address);
        if let Some(&(base, len, first)) = after.checked_sub(1).and_then(|at| self.extents.get(at)) {
            let offset = address.wrapping_sub(base) as u64;
            if offset < len {
                return Target::Cell(first + offset as u32);
            }
        }
        Target::Heap(address)
    }
}

/// What the layout must make room for, beside cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// For each present thread: how many locations it has, and the widths of its register slots.
    pub(crate) threads: Vec<(usize, Vec<u32>)>,
    /// Threads that need a buffer.
    pub(crate) buffers: Vec<bool>,
    /// Whether some thread locks.
    pub(crate) lock: bool,
    /// Whether a monitor goes along.
    pub(crate) monitor: bool,
    /// Addresses that instructions touch; ranges for computed ones.
    pub(crate) addresses: Vec<Range>,
}

/// Which bits hold what.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Words in use.
    pub(crate) words: usize,
    /// For each present thread: its location, and its register slots.
    pub(crate) threads: Vec<(Field, Vec<Field>)>,
    /// For each present thread: the number of its interned buffer, if it has one.
    pub(crate) buffers: Vec<Option<Field>>,
    /// Who holds the global lock: 0 for nobody, else the thread's position plus one.
    pub(crate) lock: Option<Field>,
    /// The number of the interned map of all other cells, if any can be touched.
    pub(crate) heap: Option<Field>,
    /// The number of what a monitor remembers, if one goes along.
    pub(crate) monitor: Option<Field>,
    pub(crate) cells: Cells,
}

impl Layout {
    pub(crate) fn new(program: &Program, ranges: &Ranges, requirements: &Requirements, undeclared: Undeclared) -> Self {
        let (mut cells, needs_heap) = list_cells(program, ranges, &requirements.addresses, undeclared);
        let mut packer = Packer::default();
        let threads: Vec<_> = requirements
            .threads
            .iter()
            .map(|(locations, slots)| {
                let last = locations.saturating_sub(1) as Value;
                let location = packer.reserve(width(Range { low: 0, high: last }));
                (location, slots.iter().map(|&bits| packer.reserve(bits)).collect::<Vec<_>>())
            })
            .collect();
        let buffers: Vec<_> = requirements.buffers.iter().map(|&has| has.then(|| packer.reserve(ROW_BITS))).collect();
        let lock_range = Range { low: 0, high: requirements.threads.len() as Value };
        let lock = requirements.lock.then(|| packer.reserve(width(lock_range)));
        let heap = needs_heap.then(|| packer.reserve(ROW_BITS));
        let monitor = requirements.monitor.then(|| packer.reserve(ROW_BITS));
        let cell_fields: Vec<_> =
            cells.iter().map(|(_, range)| range.map(|range| (packer.reserve(width(range)), range.low))).collect();
        let (words, fields) = packer.pack();
        for ((cell, _), field) in cells.iter_mut().zip(cell_fields) {
            if let Some((field, low)) = field {
                cell.storage = Storage::Field(fields[field].based_at(low));
            }
        }
        Self {
            words,
            threads: threads
                .into_iter()
                .map(|(location, slots)| (fields[location], slots.into_iter().map(|slot| fields[slot]).collect()))
                .collect(),
            buffers: buffers.into_iter().map(|field| field.map(|field| fields[field])).collect(),
            lock: lock.map(|field| fields[field]),
            heap: heap.map(|field| fields[field]),
            monitor: monitor.map(|field| fields[field]),
            cells: Cells::new(cells.into_iter().map(|(cell, _)| cell).collect()),
        }
    }
}

/// The cells that get a place of their own, ascending, with the range of those that need bits; and whether
/// there may be others.
fn list_cells(
    program: &Program,
    ranges: &Ranges,
    touched: &[Range],
    undeclared: Undeclared,
) -> (Vec<(Cell, Option<Range>)>, bool) {
    let mut addresses: Vec<Address> = program.shared.iter().flat_map(|shared| shared.addresses()).collect();
    addresses.sort_unstable();
    let mut needs_heap = false;
    let mut extra = Vec::new();
    for range in touched {
        if covers(&addresses, *range) {
            continue;
        }
        if range.extent() < undeclared.most_addresses() {
            extra.extend(range.low..=range.high);
        } else {
            needs_heap = true;
        }
    }
    addresses.extend(extra);
    addresses.sort_unstable();
    addresses.dedup();
    let cell = |address| {
        let declared = program.shared_at(address);
        let cell = Cell {
            address,
            initial: program.initial_value(address),
            range: declared.and_then(|(shared, _)| shared.range),
            width: declared.and_then(|(shared, _)| shared.width),
            storage: Storage::Constant,
        };
        let values = if declared.is_some() { ranges.cell(address) } else { ranges.undeclared() };
        (cell, ranges.may_be_written(address).then_some(values))
    };
    (addresses.into_iter().map(cell).collect(), needs_heap)
}

/// Whether every address of `range` is among the sorted `addresses`.
fn covers(addresses: &[Address], range: Range) -> bool {
    let first = addresses.partition_point(|&address| address < range.low);
    let inside = addresses.partition_point(|&address| address <= range.high) - first;
    inside as u128 == u128::from(range.extent()) + 1
}

/// Places fields of given widths into words: widest first, each into one of the last few words that has
/// room.
#[derive(Debug, Default)]
struct Packer {
    widths: Vec<u32>,
}

impl Packer {
    /// How many open words are tried. More is hardly denser, and large arrays would take quadratic time.
    const OPEN_WORDS: usize = 8;

    /// The number under which [`Packer::pack`] will return the field.
    fn reserve(&mut self, width: u32) -> usize {
        self.widths.push(width);
        self.widths.len() - 1
    }

    /// Number of words, and the fields in the order they were asked for.
    fn pack(self) -> (usize, Vec<Field>) {
        let mut order: Vec<usize> = (0..self.widths.len()).collect();
        sort_by_key(&mut order, |&field| std::cmp::Reverse(self.widths[field]));
        let mut used: Vec<u32> = vec![0];
        let mut fields = vec![Field { word: 0, shift: 0, mask: 0, low: 0 }; self.widths.len()];
        for field in order {
            let width = self.widths[field];
            if width == 0 {
                continue;
            }
            let oldest = used.len().saturating_sub(Self::OPEN_WORDS);
            let word = (oldest..used.len()).find(|&word| used[word] + width <= 64).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let mask = u64::MAX >> (64 - width);
            // A state of more than u16::MAX words is refused before anything runs.
            fields[field] =
                Field { word: word.min(usize::from(u16::MAX)) as u16, shift: used[word] as u8, mask, low: 0 };
            used[word] += width;
        }
        (used.len(), fields)
    }
}

#[cfg(test)]
mod tests;
