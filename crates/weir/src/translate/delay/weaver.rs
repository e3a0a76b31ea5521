//! One thread of the extended program in the making: its own code, to which more is added.

use std::collections::HashSet;

use weir_ir::{Body, Edge, EdgeId, Instruction, LocId, Location, Program, RegExpr, RegId, Register, Span, ThreadId};

use super::{Note, Origin};

/// An instruction, and what it does in the original program.
pub(super) type Deed = (Instruction, Origin);

/// An instruction that only keeps books.
pub(super) fn quiet(instruction: Instruction) -> Deed {
    (instruction, Origin::default())
}

/// An instruction that leads onto the path or away from it.
pub(super) fn noted(instruction: Instruction, note: Note) -> Deed {
    (instruction, Origin { note, ..Origin::default() })
}

/// `register = value`, for the books.
pub(super) fn set(register: RegId, value: RegExpr) -> Deed {
    quiet(Instruction::Assign { register, value })
}

/// Goes on only if the condition holds.
pub(super) fn test(condition: RegExpr) -> Deed {
    quiet(Instruction::Assume(condition))
}

pub(super) struct Weaver {
    body: Body,
    registers: Vec<Register>,
    locations: Vec<Location>,
    edges: Vec<(Edge, Origin)>,
    /// Names that a register cannot have.
    names: HashSet<String>,
}

impl Weaver {
    pub(super) fn new(program: &Program, thread: ThreadId, origins: &[Origin]) -> Self {
        let body = program.body(thread).clone();
        let registers = body.registers.iter().map(|register| register.name.clone());
        let shared = program.shared.iter().map(|shared| shared.name.clone());
        let constants = program.constants.iter().map(|(name, _)| name.clone());
        Self {
            registers: body.registers.clone(),
            locations: body.locations.clone(),
            edges: body.edges().iter().cloned().zip(origins.iter().copied()).collect(),
            names: registers.chain(shared).chain(constants).collect(),
            body,
        }
    }

    pub(super) fn register(&mut self, wanted: &str) -> RegId {
        let mut name = wanted.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        self.registers.push(Register { name, is_temporary: true, span: Span::default() });
        RegId::new(self.registers.len() - 1)
    }

    pub(super) fn location(&mut self, span: Span) -> LocId {
        self.locations.push(Location { labels: Vec::new(), span });
        LocId::new(self.locations.len() - 1)
    }

    /// Instructions one after the other; at least one.
    pub(super) fn link(&mut self, from: LocId, to: LocId, span: Span, deeds: impl IntoIterator<Item = Deed>) {
        let mut deeds = deeds.into_iter().peekable();
        let mut at = from;
        while let Some((instruction, origin)) = deeds.next() {
            let next = if deeds.peek().is_some() { self.location(span) } else { to };
            self.edges.push((Edge { from: at, to: next, instruction, span }, origin));
            at = next;
        }
    }

    /// Takes an edge of the code as it was out of it.
    pub(super) fn remove(&mut self, edge: EdgeId) {
        let gone = self.body.edge(edge).clone();
        if let Some(at) = self.edges.iter().position(|(edge, _)| *edge == gone) {
            self.edges.remove(at);
        }
    }

    /// A step that changes nothing at each location from `first` on.
    pub(super) fn idle(&mut self, first: usize) {
        for loc in (first..self.locations.len()).map(LocId::new) {
            let span = self.locations[loc.index()].span;
            self.edges.push((Edge { from: loc, to: loc, instruction: Instruction::Skip, span }, Origin::default()));
        }
    }

    pub(super) fn finish(mut self) -> (Body, Vec<Origin>) {
        // The body sorts its edges in the same way.
        self.edges.sort_by_key(|(edge, _)| edge.from);
        let (edges, origins) = self.edges.into_iter().unzip();
        (Body::new(self.registers, self.locations, self.body.entry, self.body.failed, edges), origins)
    }
}
