//! One process while it is lowered: the automaton as far as it is built, registers, labels.

use std::collections::{HashMap, HashSet};

use weir_ir::{
    Body, Diagnostic, Edge, Expr, Instruction, LocId, Location, Poll, Range, RegExpr, RegId, Register, Span, Value,
    nearest,
};

use super::super::ast::{Declaration, Name, Process, RegisterExpr};
use super::memory::Memory;
use super::ranges;
use crate::sink::Sink;

/// A read of one cell that waits for one of several values.
pub(super) struct Await {
    /// Where the value has been read.
    pub(super) read: LocId,
    /// Leads back, if no value matches.
    pub(super) retry: usize,
    pub(super) expected: Vec<RegExpr>,
    /// The values that the cell can hold.
    pub(super) domain: Option<Range>,
}

impl Await {
    /// Whether some value waited for is there in any case.
    fn never_fails(&self) -> bool {
        let expected = |value: Value| self.expected.iter().any(|expected| expected.constant() == Some(value));
        // There are at least as many values as expected ones, or it cannot be.
        self.domain
            .is_some_and(|range| range.extent() < self.expected.len() as u64 && (range.low..=range.high).all(expected))
    }
}

/// A process under construction.
pub(super) struct Builder<'c, 's> {
    pub(super) memory: &'c Memory<'s>,
    /// The number of the process.
    pub(super) number: usize,
    pub(super) sink: &'c mut Sink,
    pub(super) poll: &'c Poll<'c>,
    registers: Vec<Register>,
    /// The domains of registers that are declared; those that are made up have the domain of what they hold.
    domains: Vec<Option<Range>>,
    declared: HashMap<&'s str, RegId>,
    temporaries: Vec<RegId>,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    pub(super) labels: HashMap<&'s str, (LocId, Span)>,
    /// Jumps to labels, by number of their edge.
    pub(super) gotos: Vec<(usize, Name<'s>)>,
    pub(super) awaits: HashMap<(LocId, RegExpr), Await>,
    /// Keywords that were reported to have no effect.
    pub(super) noted: &'c mut HashSet<&'static str>,
    /// Whether it goes by a pointer or to a location that may start with any value.
    pub(super) needs_memory_set_up: bool,
}

impl<'c, 's> Builder<'c, 's> {
    /// The automaton of a process, and the places of its labels.
    pub(super) fn lower(
        memory: &'c Memory<'s>,
        number: usize,
        process: &Process<'s>,
        noted: &'c mut HashSet<&'static str>,
        sink: &'c mut Sink,
        poll: &'c Poll<'c>,
    ) -> (Body, HashMap<&'s str, LocId>) {
        let mut builder = Self {
            memory,
            number,
            sink,
            poll,
            registers: Vec::new(),
            domains: Vec::new(),
            declared: HashMap::new(),
            temporaries: Vec::new(),
            locations: Vec::new(),
            edges: Vec::new(),
            labels: HashMap::new(),
            gotos: Vec::new(),
            awaits: HashMap::new(),
            noted,
            needs_memory_set_up: false,
        };
        for Declaration { name, domain, .. } in &process.registers {
            let register = builder.register(name.text, false, name.span, *domain);
            builder.declared.insert(name.text, register);
        }
        let (entry, end) = (builder.node(), builder.node());
        builder.sequence(&process.text, entry, end, false);
        builder.resolve_gotos();
        builder.drop_needless_retries();
        builder.finish(process, entry)
    }

    fn finish(mut self, process: &Process<'s>, entry: LocId) -> (Body, HashMap<&'s str, LocId>) {
        let body = Body::new(self.registers.clone(), self.locations.clone(), entry, None, self.edges.clone());
        let entry = self.prologue(process, &body, entry);
        let new_places = self.drop_isolated(entry);
        let labels = self.labels.iter().map(|(&label, (loc, _))| (label, new_places[loc.index()])).collect();
        let entry = new_places[entry.index()];
        (Body::new(self.registers, self.locations, entry, None, self.edges), labels)
    }

    /// Drops ways back from reads that never fail.
    fn drop_needless_retries(&mut self) {
        let never_fail = self.awaits.values().filter(|waiting| waiting.never_fails());
        let needless: HashSet<usize> = never_fail.map(|waiting| waiting.retry).collect();
        let mut number = 0;
        self.edges.retain(|_| {
            number += 1;
            !needless.contains(&(number - 1))
        });
    }

    /// Drops places that nothing leads to or from: the end of a text that never gets there.
    fn drop_isolated(&mut self, entry: LocId) -> Vec<LocId> {
        let mut is_used: Vec<bool> = self.locations.iter().map(|location| !location.labels.is_empty()).collect();
        is_used[entry.index()] = true;
        for edge in &self.edges {
            is_used[edge.from.index()] = true;
            is_used[edge.to.index()] = true;
        }
        let mut kept = 0;
        let mut place = |&is_used: &bool| {
            kept += usize::from(is_used);
            LocId::new(kept.max(1) - 1)
        };
        let new_places: Vec<LocId> = is_used.iter().map(&mut place).collect();
        let mut used = is_used.iter();
        self.locations.retain(|_| used.next() == Some(&true));
        for edge in &mut self.edges {
            (edge.from, edge.to) = (new_places[edge.from.index()], new_places[edge.to.index()]);
        }
        new_places
    }

    pub(super) fn node(&mut self) -> LocId {
        self.locations.push(Location::default());
        LocId::new(self.locations.len() - 1)
    }

    /// Adds a step; gives its number.
    pub(super) fn edge(&mut self, from: LocId, instruction: Instruction, to: LocId, span: Span) -> usize {
        let location = &mut self.locations[from.index()];
        if location.span == Span::default() {
            location.span = span;
        }
        self.edges.push(Edge { from, to, instruction, span });
        self.edges.len() - 1
    }

    /// Adds a step to a new place.
    pub(super) fn step(&mut self, from: LocId, instruction: Instruction, span: Span) -> LocId {
        let to = self.node();
        self.edge(from, instruction, to, span);
        to
    }

    pub(super) fn edge_mut(&mut self, number: usize) -> &mut Edge {
        &mut self.edges[number]
    }

    pub(super) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Gives a place a label.
    pub(super) fn label(&mut self, label: Name<'s>, loc: LocId) {
        if let Some(&(_, first)) = self.labels.get(label.text) {
            let message = format!("process P{} defines the label `{}` twice", self.number, label.text);
            let error = Diagnostic::error("duplicate-label", message, label.span);
            self.sink.error(error.also(first, "the first one").help("rename one of them"));
            return;
        }
        self.labels.insert(label.text, (loc, label.span));
        self.locations[loc.index()].labels.push(label.text.to_string());
    }

    fn resolve_gotos(&mut self) {
        for (edge, label) in std::mem::take(&mut self.gotos) {
            match self.labels.get(label.text) {
                Some(&(loc, _)) => self.edges[edge].to = loc,
                None => {
                    let message = format!("there is no label `{}` in this process", label.text);
                    let error = Diagnostic::error("unknown-label", message, label.span);
                    let guess = nearest(label.text, self.labels.keys().copied());
                    let help = guess.map_or("define a label with `NAME:` before a statement".into(), |guess| {
                        format!("did you mean `{guess}`?")
                    });
                    self.sink.error(error.help(help));
                }
            }
        }
    }

    fn register(&mut self, name: &str, is_temporary: bool, span: Span, domain: Option<Range>) -> RegId {
        self.registers.push(Register { name: name.to_string(), is_temporary, is_thread_local: false, span });
        self.domains.push(domain);
        RegId::new(self.registers.len() - 1)
    }

    /// The n-th register that is made up. What it held is lost.
    pub(super) fn temporary(&mut self, nth: usize) -> RegId {
        while self.temporaries.len() <= nth {
            let mut name = if self.temporaries.is_empty() { "$seen".to_string() } else { format!("$seen{}", nth + 1) };
            while self.registers.iter().any(|register| register.name == name) {
                name.push('_');
            }
            let register = self.register(&name, true, Span::default(), None);
            self.temporaries.push(register);
        }
        self.temporaries[nth]
    }

    pub(super) fn domain(&self, register: RegId) -> Option<Range> {
        self.domains[register.index()]
    }

    /// The values that an expression can have.
    pub(super) fn range(&self, expr: &RegExpr) -> Option<Range> {
        ranges::of(expr, &|register| self.domains[register.index()])
    }

    pub(super) fn known_register(&mut self, name: Name<'s>) -> Option<RegId> {
        if let Some(&register) = self.declared.get(name.text) {
            return Some(register);
        }
        let message = format!("there is no register `{}` in this process", name.text);
        let error = Diagnostic::error("unknown-register", message, name.span);
        let help = match nearest(name.text, self.declared.keys().copied()) {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("declare it: `registers {} = 0`", name.text),
        };
        self.sink.error(error.help(help));
        None
    }

    /// An expression with its registers found.
    pub(super) fn expr(&mut self, expr: &RegisterExpr<'s>) -> RegExpr {
        expr.map(&mut |name| self.known_register(*name).map_or(Expr::Const(0), Expr::Leaf))
    }
}
