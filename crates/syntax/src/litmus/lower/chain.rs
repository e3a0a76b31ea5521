//! Builds the automaton of a thread: a chain of steps for each instruction.

use weir_ir::{Body, Edge, Instruction, LocId, Location, RegExpr, Register, Span};

use super::bits::not;

/// An automaton under construction.
#[derive(Debug, Default)]
pub(super) struct Chain {
    locations: Vec<Location>,
    edges: Vec<Edge>,
    failed: Option<LocId>,
    at: Option<LocId>,
    end: Option<LocId>,
    /// A step whose target is not known yet.
    pending: Option<Instruction>,
    span: Span,
}

impl Chain {
    /// A new control point.
    pub(super) fn location(&mut self, span: Span) -> LocId {
        self.locations.push(Location { labels: Vec::new(), span });
        LocId::new(self.locations.len() - 1)
    }

    /// Names a control point.
    pub(super) fn label(&mut self, loc: LocId, name: &str) {
        self.locations[loc.index()].labels.push(name.to_owned());
    }

    /// A step of its own.
    pub(super) fn edge(&mut self, from: LocId, to: LocId, instruction: Instruction, span: Span) {
        self.edges.push(Edge { from, to, instruction, span });
    }

    /// Starts a chain of steps between two control points.
    pub(super) fn start(&mut self, from: LocId, to: LocId, span: Span) {
        (self.at, self.end, self.span, self.pending) = (Some(from), Some(to), span, None);
    }

    /// The next step of the chain.
    pub(super) fn push(&mut self, instruction: Instruction) {
        self.settle();
        self.pending = Some(instruction);
    }

    /// Gives the pending step a target of its own; where the chain is now.
    fn settle(&mut self) -> LocId {
        let at = self.at.unwrap_or(LocId(0));
        let Some(instruction) = self.pending.take() else { return at };
        let next = self.location(self.span);
        self.edge(at, next, instruction, self.span);
        self.at = Some(next);
        next
    }

    /// Ends the chain. One without steps gets one, so that every instruction is somewhere.
    pub(super) fn finish(&mut self) {
        if let (Some(at), Some(end)) = (self.at.take(), self.end.take()) {
            let last = self.pending.take().unwrap_or(Instruction::Skip);
            self.edge(at, end, last, self.span);
        }
    }

    /// Ends the chain with a choice by a condition.
    pub(super) fn branch(&mut self, condition: &RegExpr, then: Vec<Instruction>, otherwise: Vec<Instruction>) {
        let (fork, span) = (self.settle(), self.span);
        let Some(end) = self.end.take() else { return };
        for (test, steps) in [(condition.clone(), then), (not(condition.clone()), otherwise)] {
            self.start(fork, end, span);
            self.push(Instruction::Assume(test));
            for step in steps {
                self.push(step);
            }
            self.finish();
        }
        self.at = None;
    }

    /// The next step: fails unless the condition holds.
    pub(super) fn assert(&mut self, condition: RegExpr) {
        if self.failed.is_none() {
            let failed = self.location(self.span);
            self.failed = Some(failed);
        }
        self.push(Instruction::Assert(condition));
    }

    /// The automaton.
    pub(super) fn into_body(self, registers: Vec<Register>, entry: LocId) -> Body {
        Body::new(registers, self.locations, entry, self.failed, self.edges)
    }
}
