//! The automaton of one body while it grows: nodes joined by steps, and by silent moves.
//!
//! A silent move is control passing on without a step: leaving a block, falling through a label,
//! `break`, `continue`, `jump`, the way back to the head of a loop, the choice of a branch.
//! [`silent`](super::silent) removes them once the body is complete.

use weir_ir::{Instruction, Span};

/// A node of the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Node(pub(super) usize);

/// A way out of a node.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// One step.
    Step { instruction: Instruction, to: Node, span: Span },
    /// No step.
    Silent { to: Node, span: Span, is_jump: bool },
}

/// What is known about a node.
#[derive(Default, Debug)]
pub(super) struct NodeData {
    /// The ways out, in order of the source.
    pub(super) ways: Vec<Way>,
    /// With the node that each was first given to: those are in order of the source.
    pub(super) labels: Vec<(Node, String)>,
    /// The statement that begins here.
    pub(super) span: Option<Span>,
    /// Whether it is the head of a `loop`, and the text of that.
    pub(super) loop_head: Option<Span>,
    /// Whether it stays even if nothing leads here: the user wrote code that begins here.
    pub(super) keep: bool,
    /// Whether control may get here, as far as constant conditions tell.
    pub(super) live: bool,
}

/// The automaton of one body while it grows.
#[derive(Default, Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<NodeData>,
    /// How many steps there are.
    pub(super) steps: usize,
}

impl Graph {
    pub(super) fn node(&mut self) -> Node {
        self.nodes.push(NodeData::default());
        Node(self.nodes.len() - 1)
    }

    pub(super) fn data(&mut self, node: Node) -> &mut NodeData {
        &mut self.nodes[node.0]
    }

    /// Adds a step.
    pub(super) fn step(&mut self, from: Node, instruction: Instruction, to: Node, span: Span) {
        self.steps += 1;
        self.data(from).ways.push(Way::Step { instruction, to, span });
        let live = self.data(from).live;
        self.data(to).live |= live;
    }

    /// Lets control pass from one node to another without a step.
    pub(super) fn silent(&mut self, from: Node, to: Node, span: Span) {
        self.pass(from, to, span, false);
    }

    /// Lets control pass because of a `jump`.
    pub(super) fn jump(&mut self, from: Node, to: Node, span: Span) {
        self.pass(from, to, span, true);
    }

    fn pass(&mut self, from: Node, to: Node, span: Span, is_jump: bool) {
        self.data(from).ways.push(Way::Silent { to, span, is_jump });
        let live = self.data(from).live;
        self.data(to).live |= live;
    }

    /// The node, if control may get there.
    pub(super) fn reached(&self, node: Node) -> Option<Node> {
        self.nodes[node.0].live.then_some(node)
    }

    /// Notes the statement that begins at the node, unless one was noted before.
    pub(super) fn begin(&mut self, node: Node, span: Span) {
        self.data(node).span.get_or_insert(span);
    }
}
