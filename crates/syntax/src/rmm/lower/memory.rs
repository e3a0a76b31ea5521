//! Memory locations and their addresses.
//!
//! Global locations come first, in order of declaration: that is the order in which pointers count them. Where
//! pointers are used the first one has address 0, so that a pointer is an address.

use std::collections::HashMap;

use weir_ir::{Address, Range, Shared, Span, Value};

use super::super::ast::{Cell, Declaration, File, Labelled, Process, StatementKind};

/// All memory locations.
pub(super) struct Memory<'s> {
    cells: Vec<Place>,
    globals: HashMap<&'s str, usize>,
    locals: HashMap<(usize, &'s str), usize>,
    /// The first address after the global locations.
    pub(super) global_end: Address,
    /// How many processes there are.
    pub(super) processes: usize,
    /// The location that tells whether memory is set up, if that takes steps.
    pub(super) ready: Option<Address>,
}

/// A memory location.
pub(super) struct Place {
    pub(super) shared: Shared,
    /// Whether it may start with any value of its domain.
    pub(super) starts_anywhere: bool,
}

impl<'s> Memory<'s> {
    pub(super) fn new(file: &File<'s>, processes: &[&Process<'s>]) -> Self {
        let base = Value::from(!uses_pointers(file));
        let mut memory = Self {
            cells: Vec::new(),
            globals: HashMap::new(),
            locals: HashMap::new(),
            global_end: base,
            processes: processes.len(),
            ready: None,
        };
        for declaration in &file.globals {
            memory.globals.insert(declaration.name.text, memory.cells.len());
            memory.declare(declaration, declaration.name.text.to_string(), base);
        }
        memory.global_end = memory.next_address(base);
        for (number, process) in processes.iter().enumerate() {
            for declaration in &process.data {
                memory.locals.insert((number, declaration.name.text), memory.cells.len());
                let name = memory.free_name(&format!("{}_P{number}", declaration.name.text));
                memory.declare(declaration, name, base);
            }
        }
        if memory.cells.iter().any(|cell| cell.starts_anywhere) {
            let address = memory.next_address(base);
            let name = memory.free_name("ready");
            let range = Some(Range { low: 0, high: 1 });
            let span = memory.cells.iter().find(|cell| cell.starts_anywhere).map_or(Span::default(), |c| c.shared.span);
            let shared = Shared { name, address, is_array: false, initial: vec![0], range, width: None, span };
            memory.cells.push(Place { shared, starts_anywhere: false });
            memory.ready = Some(address);
        }
        memory
    }

    fn declare(&mut self, declaration: &Declaration<'s>, name: String, base: Address) {
        let range = declaration.domain;
        let only = range.filter(|range| range.low == range.high).map(|range| range.low);
        let known = declaration.initial.or(only);
        // A location that is set up by a step starts with a value that its range admits.
        let initial = known.unwrap_or(range.map_or(0, |range| 0.clamp(range.low, range.high)));
        let address = self.next_address(base);
        let shared = Shared {
            name,
            address,
            is_array: false,
            initial: vec![initial],
            range,
            width: None,
            span: declaration.span,
        };
        self.cells.push(Place { shared, starts_anywhere: known.is_none() });
    }

    fn next_address(&self, base: Address) -> Address {
        base + self.cells.len() as Address
    }

    fn free_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        while self.cells.iter().any(|cell| cell.shared.name == name) {
            name.push('_');
        }
        name
    }

    pub(super) fn global(&self, name: &str) -> Option<&Place> {
        self.globals.get(name).map(|&at| &self.cells[at])
    }

    pub(super) fn local(&self, process: usize, name: &str) -> Option<&Place> {
        self.locals.get(&(process, name)).map(|&at| &self.cells[at])
    }

    /// The global locations, in order of declaration.
    pub(super) fn globals(&self) -> &[Place] {
        &self.cells[..self.globals.len()]
    }

    pub(super) fn global_names(&self) -> impl Iterator<Item = &'s str> {
        self.globals.keys().copied()
    }

    /// The locations that may start with any value.
    pub(super) fn open_cells(&self) -> impl Iterator<Item = &Shared> {
        self.cells.iter().filter(|cell| cell.starts_anywhere).map(|cell| &cell.shared)
    }

    pub(super) fn into_shared(self) -> Vec<Shared> {
        self.cells.into_iter().map(|cell| cell.shared).collect()
    }
}

/// Whether a statement of the file goes by a pointer whose value is not known.
fn uses_pointers(file: &File<'_>) -> bool {
    let mut open: Vec<&Labelled<'_>> = file.processes.iter().flat_map(|process| &process.text).collect();
    while let Some(labelled) = open.pop() {
        let mut kind = &labelled.statement.kind;
        while let StatementKind::Weaker(_, inner) = kind {
            kind = inner;
        }
        match kind {
            StatementKind::ReadInto(_, cell)
            | StatementKind::ReadEqual(cell, _)
            | StatementKind::Write(cell, _)
            | StatementKind::CompareAndSwap(cell, ..) => {
                if let Cell::Pointer(pointer, _) = cell
                    && pointer.constant().is_none()
                {
                    return true;
                }
            }
            StatementKind::If(_, then, otherwise) => {
                open.push(then);
                open.extend(otherwise.as_deref());
            }
            StatementKind::While(_, body) => open.push(body),
            StatementKind::Sequence(statements) => open.extend(statements),
            StatementKind::Either(branches) | StatementKind::Locked(branches) => open.extend(branches.iter().flatten()),
            _ => {}
        }
    }
    false
}
