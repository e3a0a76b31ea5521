//! Builds bodies edge by edge. Each edge has an origin: whatever the caller wants to know about it in the finished
//! body, such as which edge of another program it stands for.

use std::collections::HashSet;

use crate::ids::{LocId, RegId};
use crate::program::{Body, Edge, Instruction, Location, Register};
use crate::sort::sort_by_key;
use crate::span::Span;

/// A body under construction.
#[derive(Clone, Debug)]
pub struct BodyBuilder<O> {
    registers: Vec<Register>,
    locations: Vec<Location>,
    edges: Vec<(Edge, O)>,
    /// Names that a new register cannot have.
    names: HashSet<String>,
}

impl<O> BodyBuilder<O> {
    /// A body with these registers and nothing else. New registers get none of the `taken` names.
    pub fn new(registers: Vec<Register>, taken: impl IntoIterator<Item = String>) -> Self {
        let names = registers.iter().map(|register| register.name.clone()).chain(taken).collect();
        Self { registers, locations: Vec::new(), edges: Vec::new(), names }
    }

    /// A copy of a body, to be changed. `origins` has one element per edge.
    pub fn of(body: &Body, origins: impl IntoIterator<Item = O>, taken: impl IntoIterator<Item = String>) -> Self {
        let mut builder = Self::new(body.registers.clone(), taken);
        builder.locations.clone_from(&body.locations);
        builder.edges = body.edges().iter().cloned().zip(origins).collect();
        builder
    }

    /// A new register. Its name is `name`, followed by as many underscores as it takes to be new.
    pub fn register(&mut self, name: &str) -> RegId {
        let mut name = name.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        self.registers.push(Register { name, is_temporary: true, is_thread_local: false, span: Span::default() });
        RegId::new(self.registers.len() - 1)
    }

    /// A new thread-local variable, whose name nothing else in the program has.
    pub fn thread_local(&mut self, name: &str) -> RegId {
        self.names.insert(name.to_owned());
        let span = Span::default();
        self.registers.push(Register { name: name.to_owned(), is_temporary: true, is_thread_local: true, span });
        RegId::new(self.registers.len() - 1)
    }

    /// A new location without labels.
    pub fn location(&mut self, span: Span) -> LocId {
        self.labelled_location(Location { labels: Vec::new(), span })
    }

    /// A new location.
    pub fn labelled_location(&mut self, location: Location) -> LocId {
        self.locations.push(location);
        LocId::new(self.locations.len() - 1)
    }

    /// The locations so far.
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// Adds one edge.
    pub fn edge(&mut self, edge: Edge, origin: O) {
        self.edges.push((edge, origin));
    }

    /// Adds instructions one after the other, with new locations in between; at least one.
    pub fn link(
        &mut self,
        from: LocId,
        to: LocId,
        span: Span,
        instructions: impl IntoIterator<Item = (Instruction, O)>,
    ) {
        let mut instructions = instructions.into_iter().peekable();
        let mut at = from;
        while let Some((instruction, origin)) = instructions.next() {
            let next = if instructions.peek().is_some() { self.location(span) } else { to };
            self.edge(Edge { from: at, to: next, instruction, span }, origin);
            at = next;
        }
    }

    /// Removes the first edge that is equal to this one.
    pub fn remove(&mut self, edge: &Edge) {
        if let Some(at) = self.edges.iter().position(|(other, _)| other == edge) {
            self.edges.remove(at);
        }
    }

    /// The body, and for each of its edges the origin.
    pub fn finish(mut self, entry: LocId, failed: Option<LocId>) -> (Body, Vec<O>) {
        // The body sorts its edges in the same way.
        sort_by_key(&mut self.edges, |(edge, _)| edge.from);
        let (edges, origins) = self.edges.into_iter().unzip();
        (Body::new(self.registers, self.locations, entry, failed, edges), origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{assign, constant};

    /// Edges are sorted by where they start, and origins go with them.
    #[test]
    fn origins_stay_with_their_edges() {
        let mut builder = BodyBuilder::new(Vec::new(), ["x".to_owned()]);
        let (first, last) = (builder.location(Span::default()), builder.location(Span::default()));
        builder.link(last, first, Span::default(), [(Instruction::Fence, 'f')]);
        builder.link(first, last, Span::default(), [(Instruction::Skip, 's'), (assign(0, constant(1)), 'a')]);
        let names = ["x", "r", "r"].map(|name| builder.register(name)).map(|register| register.index());
        assert_eq!(names, [0, 1, 2]);
        let (body, origins) = builder.finish(first, None);
        assert_eq!(origins, ['s', 'f', 'a']);
        assert_eq!(body.edge(crate::ids::EdgeId(1)).instruction, Instruction::Fence);
        let registers: Vec<&str> = body.registers.iter().map(|register| register.name.as_str()).collect();
        assert_eq!(registers, ["x_", "r", "r_"]);
        let mut copy = BodyBuilder::of(&body, origins, []);
        copy.remove(body.edge(crate::ids::EdgeId(0)));
        let (shorter, origins) = copy.finish(first, None);
        assert_eq!((shorter.edges().len(), origins), (2, vec!['f', 'a']));
    }
}
