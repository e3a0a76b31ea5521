//! The cells of a test: how large they are, where they are, what they hold at first.
//!
//! A cell is as large as its type says; without a type, as large as the accesses of the instructions that name it,
//! which must all have one size; or else 4 bytes. That is how mixed-size accesses are found: nothing here ever splits a
//! cell.

use std::collections::{BTreeSet, HashMap};

use weir_ir::{Address, Diagnostic, Shared, Span, Value};

use super::super::Refused;
use super::super::header::Architecture;
use super::super::register::Base;
use super::super::tree::{CellName, Column, Constant, Initial, Memory, Place, Test};
use super::super::types::Type;
use super::access::{bytes, explicit_size, memory};
use super::bits;
use super::initial::InitialRegisters;
use super::names::Names;

/// A cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) name: CellName,
    pub(super) address: Address,
    pub(super) kind: Type,
    initial: Option<Constant>,
    span: Span,
}

/// All cells of a test.
#[derive(Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    by_name: HashMap<CellName, usize>,
    /// Lengths of arrays.
    arrays: HashMap<String, usize>,
    /// Whether addresses are values in the test: in registers, in cells, in computations.
    pub(super) are_values: bool,
}

/// What is known about the size of a cell before all is read.
#[derive(Clone, Copy, Default)]
struct Evidence {
    declared: Option<(Type, Span)>,
    accessed: Option<(u32, Span)>,
}

impl Cells {
    /// Collects the cells. `written` are the registers that each thread writes.
    pub(super) fn new(test: &Test, registers: &InitialRegisters, written: &[BTreeSet<Base>]) -> Result<Self, Refused> {
        let names = Names::of(test);
        let mut cells = Self { are_values: names.are_addresses_values, ..Self::default() };
        let mut evidence: Vec<Evidence> = Vec::new();
        for initial in &test.initial {
            cells.declare(initial, &mut evidence)?;
        }
        cells.size_pointers(test.header.architecture, &mut evidence);
        cells.mention(&names, &mut evidence);
        cells.collect_accesses(test, registers, written, &mut evidence)?;
        cells.decide_sizes(test, &evidence);
        cells.place(&names.numbers);
        Ok(cells)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    /// The cell of this name; of an array its first element.
    pub(super) fn find(&self, name: &CellName) -> Option<&Cell> {
        let is_array = self.arrays.contains_key(&name.name);
        let index = if is_array { Some(name.index.unwrap_or(0)) } else { name.index.filter(|&index| index != 0) };
        let name = CellName { name: name.name.clone(), index };
        self.by_name.get(&name).map(|&at| &self.cells[at])
    }

    /// The elements of an array, by name.
    pub(super) fn elements(&self, name: &CellName) -> Option<Vec<CellName>> {
        let length = *self.arrays.get(&name.name).filter(|_| name.index.is_none())?;
        Some((0..length).map(|index| CellName { name: name.name.clone(), index: Some(index) }).collect())
    }

    /// The cell at an address.
    pub(super) fn at(&self, address: Address) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.address == address)
    }

    /// A constant as a value.
    pub(super) fn value(&self, constant: &Constant) -> Value {
        match constant {
            Constant::Number(value) => *value,
            // Every name that is written was collected; an index outside its array is refused where it is written.
            Constant::Address(name) => self.find(name).map_or(0, |cell| cell.address),
        }
    }

    /// The declarations, for the program.
    pub(super) fn shared(&self) -> Vec<Shared> {
        let shared = |cell: &Cell| Shared {
            name: cell_text(&cell.name),
            address: cell.address,
            is_array: false,
            initial: vec![cell.initial.as_ref().map_or(0, |constant| {
                bits::signed::<()>(weir_ir::Expr::Const(self.value(constant)), cell.kind.size).constant().unwrap_or(0)
            })],
            range: None,
            width: None,
            span: cell.span,
        };
        self.cells.iter().map(shared).collect()
    }

    fn declare(&mut self, initial: &Initial, evidence: &mut Vec<Evidence>) -> Result<(), Refused> {
        let Place::Cell(name) = &initial.place else { return Ok(()) };
        let declared = initial.declared.map(|kind| (kind, initial.span));
        let length = initial.length.unwrap_or(1);
        if initial.length.is_some() && self.arrays.insert(name.name.clone(), length).is_some() {
            return Err(self.twice(name, initial.span).into());
        }
        for at in 0..length {
            let index = initial.length.map(|_| at);
            let name = CellName { name: name.name.clone(), index };
            let number = self.intern(&name, initial.span, evidence);
            let cell = &mut self.cells[number];
            let value = initial.values.get(at).cloned();
            if cell.initial.is_some() && value.is_some() || evidence[number].declared.is_some() && declared.is_some() {
                return Err(self.twice(&name, initial.span).into());
            }
            cell.initial = value.or(cell.initial.take());
            evidence[number].declared = declared.or(evidence[number].declared);
        }
        Ok(())
    }

    /// A cell that holds an address at first is as large as one.
    fn size_pointers(&self, architecture: Architecture, evidence: &mut [Evidence]) {
        for (cell, known) in self.cells.iter().zip(evidence) {
            if matches!(cell.initial, Some(Constant::Address(_))) && known.declared.is_none() {
                known.declared = Some((Type::signed(architecture.address_size()), cell.span));
            }
        }
    }

    fn twice(&self, name: &CellName, span: Span) -> Diagnostic {
        let message = format!("`{}` is initialized twice", cell_text(name));
        let error = Diagnostic::error("duplicate-initial", message, span).help("remove one of them");
        match self.find(name) {
            Some(first) if first.span != span => error.also(first.span, "the first one"),
            _ => error,
        }
    }

    fn intern(&mut self, name: &CellName, span: Span, evidence: &mut Vec<Evidence>) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let kind = Type::signed(4);
        self.by_name.insert(name.clone(), self.cells.len());
        self.cells.push(Cell { name: name.clone(), address: 0, kind, initial: None, span });
        evidence.push(Evidence::default());
        self.cells.len() - 1
    }

    /// Cells that are used without being declared. Elements exist by their declaration alone.
    fn mention(&mut self, names: &Names, evidence: &mut Vec<Evidence>) {
        for (name, span) in &names.cells {
            if !self.arrays.contains_key(&name.name) {
                self.intern(&CellName { name: name.name.clone(), index: None }, *span, evidence);
            }
        }
    }

    /// The sizes of accesses to cells that are known beforehand.
    fn collect_accesses(
        &self,
        test: &Test,
        registers: &InitialRegisters,
        written: &[BTreeSet<Base>],
        evidence: &mut [Evidence],
    ) -> Result<(), Refused> {
        let columns = test.threads.iter().zip(written);
        for (column, written) in columns {
            for instruction in &column.instructions {
                let size = explicit_size(instruction)?.or(implied_size(test.header.architecture));
                let Some((size, (memory, operand))) = size.zip(memory(instruction)) else { continue };
                let Some(name) = fixed_cell(memory, column, registers, written) else { continue };
                let Some(&number) = self.find(&name).and_then(|cell| self.by_name.get(&cell.name)) else { continue };
                self.check_access(number, size, operand.span, &mut evidence[number])?;
            }
        }
        Ok(())
    }

    fn check_access(&self, number: usize, size: u32, span: Span, known: &mut Evidence) -> Result<(), Refused> {
        let cell = &self.cells[number];
        let pointer = matches!(cell.initial, Some(Constant::Address(_)));
        let (expected, first, what) = match (known.declared, known.accessed) {
            (Some((kind, span)), _) => (kind.size, span, "declared"),
            (None, Some((size, span))) => (size, span, "accessed"),
            (None, None) => {
                known.accessed = Some((size, span));
                return Ok(());
            }
        };
        if expected == size {
            return Ok(());
        }
        let name = cell_text(&cell.name);
        let (size, expected) = (bytes(size), bytes(expected));
        let message = match what {
            "declared" => format!("mixed sizes: `{name}` is declared with {expected}, but accessed with {size}"),
            _ => format!("mixed sizes: `{name}` is accessed with {size} here, but with {expected} elsewhere"),
        };
        let help = match pointer {
            true => "a cell that holds an address must be accessed as a whole",
            false => "Weir models whole cells: use one size per cell, and declare it, as in `uint64_t x`",
        };
        Err(Diagnostic::error("mixed-size", message, span).also(first, format!("{what} here")).help(help).into())
    }

    fn decide_sizes(&mut self, test: &Test, evidence: &[Evidence]) {
        let through_pointers = size_through_pointers(&test.threads, test.header.architecture);
        for (cell, known) in self.cells.iter_mut().zip(evidence) {
            cell.kind = match (known.declared, known.accessed) {
                (Some((kind, _)), _) => kind,
                (None, Some((size, _))) => Type::signed(size),
                (None, None) => Type::signed(through_pointers.unwrap_or(4)),
            };
        }
    }

    /// Gives each cell an address. Where addresses are values, cells lie apart as in a real memory, and away from the
    /// numbers that the test mentions.
    fn place(&mut self, numbers: &[Value]) {
        if !self.are_values {
            for (address, cell) in (1..).zip(&mut self.cells) {
                cell.address = address;
            }
            return;
        }
        const ALIGNMENT: Address = 64;
        let mut base: Address = 4096;
        loop {
            let mut next = base;
            for cell in &mut self.cells {
                if cell.name.index.is_none_or(|index| index == 0) {
                    next = (next + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
                }
                cell.address = next;
                next += Address::from(cell.kind.size);
            }
            let is_free = !numbers.iter().any(|number| (base..next).contains(number));
            // Beyond, addresses would not fit into 31 bits.
            if is_free || base >= 1 << 28 {
                return;
            }
            base *= 2;
        }
    }
}

/// The size of an access whose instruction does not tell.
pub(super) fn implied_size(architecture: Architecture) -> Option<u32> {
    (architecture == Architecture::X86).then_some(4)
}

/// The cell that an operand names, directly or by a register that holds its address and is never written.
fn fixed_cell(
    memory: &Memory,
    column: &Column,
    registers: &InitialRegisters,
    written: &BTreeSet<Base>,
) -> Option<CellName> {
    match memory {
        Memory::Cell(name) => Some(CellName { name: name.clone(), index: None }),
        Memory::Computed { base, offset: 0, index: None } if !written.contains(&base.base) => {
            match registers.value(column.number, &base.base)? {
                Constant::Address(name) => Some(name.clone()),
                Constant::Number(_) => None,
            }
        }
        Memory::Computed { .. } => None,
    }
}

/// The size of all accesses through pointers, if it is the same for all.
fn size_through_pointers(columns: &[Column], architecture: Architecture) -> Option<u32> {
    let mut sizes = BTreeSet::new();
    for instruction in columns.iter().flat_map(|column| &column.instructions) {
        if let Some((Memory::Computed { .. }, _)) = memory(instruction) {
            sizes.extend(explicit_size(instruction).ok().flatten().or(implied_size(architecture)));
        }
    }
    (sizes.len() == 1).then(|| sizes.first().copied()).flatten()
}

/// `x`, or `x[1]`.
pub(super) fn cell_text(name: &CellName) -> String {
    match name.index {
        Some(index) => format!("{}[{index}]", name.name),
        None => name.name.clone(),
    }
}
