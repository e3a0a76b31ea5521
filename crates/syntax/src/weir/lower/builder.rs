//! One body while it is lowered: where control is, the registers, the procedure copies that are open.

use std::collections::{BTreeMap, HashMap, HashSet};

use weir_ir::{Body, Diagnostic, Instruction, Poll, RegExpr, RegId, Span, Value};

use super::super::ast::{Block, Name};
use super::super::limits::{MAX_EDGES, MAX_LOWERING_DEPTH, MAX_WORK};
use super::super::sink::Sink;
use super::check::Facts;
use super::constants::Constants;
use super::graph::{Graph, Node};
use super::names::{Family, Globals, Used};
use super::registers::Registers;
use super::silent::{Problem, automaton};
use super::size::too_large;

/// How much of what all bodies together may use is used up.
#[derive(Default, Debug)]
pub(super) struct Budget {
    steps: usize,
    work: usize,
    /// Whether lowering has stopped: an error was reported, or the poll is over.
    exhausted: bool,
}

impl Budget {
    /// A budget of nothing, for a program that is known not to fit.
    pub(super) fn exhausted() -> Self {
        Self { exhausted: true, ..Self::default() }
    }
}

/// What lowering a body needs to know, and where it reports.
pub(super) struct Surroundings<'c, 'a> {
    pub(super) globals: &'c Globals<'a>,
    /// Names that the source uses, and that temporary registers must not have.
    pub(super) reserved: &'c HashSet<&'a str>,
    pub(super) used: &'c mut Used,
    pub(super) budget: &'c mut Budget,
    pub(super) sink: &'c mut Sink,
    pub(super) poll: &'c Poll<'c>,
}

/// What `return` does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Returns {
    /// There is nothing to return from.
    Nowhere,
    /// Control continues after the call, with the result in a register if it is wanted.
    Inline { exit: Node, result: Option<RegId> },
    /// A `Return` instruction.
    Instruction,
}

/// A body of the source that is being lowered: that of the thread, or of a procedure inlined into it.
#[derive(Debug)]
pub(super) struct Frame<'c, 'a> {
    /// The procedure, for names of registers and labels.
    pub(super) prefix: Option<&'a str>,
    pub(super) facts: &'c Facts<'a>,
    /// The node of each label.
    pub(super) label_nodes: Vec<Node>,
    /// Registers that can be named here, with where they were declared.
    pub(super) visible: HashMap<&'a str, (RegId, Span)>,
    /// What became visible, in order; the end of a block takes it back.
    pub(super) scope: Vec<&'a str>,
    /// All registers of the frame: a name that is declared again in a sibling block is the same register.
    pub(super) declared: HashMap<&'a str, RegId>,
    /// Head and exit of the open loops.
    pub(super) loops: Vec<(Node, Node)>,
    /// The names of the open `for each other`, which cannot be assigned to.
    pub(super) others: Vec<Name<'a>>,
    pub(super) returns: Returns,
    /// The number of a replicated thread, under its name.
    pub(super) parameter: Option<(Name<'a>, Value)>,
}

/// What a name means inside a body.
pub(super) enum Meaning {
    Register(RegId),
    Constant(Value),
    Shared(usize),
    /// Reported already.
    Nothing,
}

/// One body while it is lowered.
pub(super) struct Builder<'c, 'a> {
    pub(super) around: Surroundings<'c, 'a>,
    pub(super) graph: Graph,
    /// Where control is; `None` after a `goto`, `break` and the like.
    pub(super) here: Option<Node>,
    entry: Node,
    /// Where a thread that is done rests.
    pub(super) end: Node,
    pub(super) registers: Registers,
    /// The registers for thread-local variables that it mentions.
    pub(super) thread_locals: BTreeMap<usize, RegId>,
    /// The thread declaration, and which of its copies this is; none in a procedure of its own.
    pub(super) copy: Option<(&'c Family<'a>, usize)>,
    /// For the register of each `for each other`, the one with the copies that are still to come.
    pub(super) sets: BTreeMap<RegId, RegId>,
    pub(super) frames: Vec<Frame<'c, 'a>>,
    depth: usize,
    /// Positive inside code that a constant condition rules out.
    pub(super) ruled_out: usize,
}

/// A lowered body with what properties need to know about it.
pub(super) struct Lowered<'a> {
    pub(super) body: Body,
    pub(super) registers: HashMap<&'a str, RegId>,
    pub(super) parameters: Vec<RegId>,
}

/// Which body to lower.
pub(super) struct Task<'c, 'a> {
    pub(super) block: &'a Block<'a>,
    pub(super) facts: &'c Facts<'a>,
    pub(super) returns: Returns,
    /// The number of a replicated thread, under its name.
    pub(super) number: Option<(Name<'a>, Value)>,
    /// The thread declaration, and which of its copies this is.
    pub(super) copy: Option<(&'c Family<'a>, usize)>,
    /// The parameters of a procedure.
    pub(super) parameters: &'a [Name<'a>],
}

/// Lowers one body. `None` if it is in error, which is then reported.
pub(super) fn lower<'c, 'a>(task: &Task<'c, 'a>, around: Surroundings<'c, 'a>) -> Option<Lowered<'a>> {
    if around.budget.exhausted {
        return None;
    }
    let mut graph = Graph::default();
    let (entry, end) = (graph.node(), graph.node());
    graph.data(entry).live = true;
    graph.begin(end, task.block.close());
    let mut builder = Builder {
        around,
        graph,
        here: Some(entry),
        entry,
        end,
        registers: Registers::default(),
        thread_locals: BTreeMap::new(),
        copy: task.copy,
        sets: BTreeMap::new(),
        frames: Vec::new(),
        depth: 0,
        ruled_out: 0,
    };
    builder.open_frame(None, task.facts, task.returns);
    if let Returns::Nowhere = task.returns {
        builder.around.globals.observed_locals.iter().for_each(|&at| {
            builder.thread_local(at);
        });
    }
    builder.frame().parameter = task.number;
    let parameters = task.parameters.iter().filter_map(|&name| builder.declare(name)).collect();
    builder.block(task.block);
    if let Some(here) = builder.here {
        builder.graph.silent(here, builder.end, task.block.close());
    }
    builder.finish(parameters)
}

impl<'c, 'a> Builder<'c, 'a> {
    fn finish(mut self, parameters: Vec<RegId>) -> Option<Lowered<'a>> {
        let mut registers = self.frames.pop().map(|frame| frame.declared).unwrap_or_default();
        let names = &self.around.globals.thread_locals;
        registers.extend(self.thread_locals.iter().map(|(&at, &register)| (names[at].text, register)));
        let budget = self.around.budget;
        if budget.exhausted {
            return None;
        }
        // The steps of this body were counted as they were made; copies for `choose` come on top.
        let allowed = MAX_EDGES.saturating_sub(budget.steps.saturating_sub(self.graph.steps));
        let first_span = self.graph.data(self.entry).span.unwrap_or_default();
        let made = self.graph.steps;
        match automaton(self.graph, self.registers.list, self.entry, allowed) {
            Ok((body, steps)) => {
                budget.steps = budget.steps.saturating_sub(made) + steps;
                Some(Lowered { body, registers, parameters })
            }
            Err(Problem::EmptyCycle(span)) => {
                self.around.sink.error(Problem::empty_cycle(span));
                None
            }
            Err(Problem::TooManySteps) => {
                budget.exhausted = true;
                self.around.sink.error(too_large(first_span));
                None
            }
        }
    }

    pub(super) fn frame(&mut self) -> &mut Frame<'c, 'a> {
        self.frames.last_mut().expect("a body is lowered with a frame open")
    }

    /// Opens a frame; its labels get their nodes at once, for jumps ahead.
    pub(super) fn open_frame(&mut self, prefix: Option<&'a str>, facts: &'c Facts<'a>, returns: Returns) {
        let mut label_nodes = Vec::with_capacity(facts.labels.len());
        for label in &facts.labels {
            let node = self.graph.node();
            let name = prefix.map_or(label.text.to_string(), |prefix| format!("{prefix}.{}", label.text));
            let data = self.graph.data(node);
            data.labels.push((node, name));
            data.live = true;
            label_nodes.push(node);
        }
        self.frames.push(Frame {
            prefix,
            facts,
            label_nodes,
            visible: HashMap::new(),
            scope: Vec::new(),
            declared: HashMap::new(),
            loops: Vec::new(),
            others: Vec::new(),
            returns,
            parameter: None,
        });
    }

    /// Counts work and depth; `false` if lowering has to stop.
    pub(super) fn enter(&mut self, span: Span) -> bool {
        self.depth += 1;
        self.around.budget.work += 1;
        self.around.budget.exhausted |= self.around.poll.is_over();
        if self.around.budget.exhausted {
            return false;
        }
        if self.depth > MAX_LOWERING_DEPTH {
            self.around.budget.exhausted = true;
            let message = format!("calls, blocks and expressions are nested more than {MAX_LOWERING_DEPTH} deep");
            let error = Diagnostic::error("too-deep", message, span);
            self.around.sink.error(error.help("procedures are inlined where they are called; nest fewer calls"));
        } else if self.around.budget.work > MAX_WORK {
            self.around.budget.exhausted = true;
            self.around.sink.error(too_large(span));
        }
        !self.around.budget.exhausted
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Where control is; code that nothing leads to gets a place of its own.
    pub(super) fn here(&mut self) -> Node {
        let node = self.here.unwrap_or_else(|| {
            let node = self.graph.node();
            // Code that a constant rules out is of no interest; other dead code deserves a warning.
            let data = self.graph.data(node);
            (data.keep, data.live) = (self.ruled_out == 0, self.ruled_out == 0);
            node
        });
        self.here = Some(node);
        node
    }

    /// Adds a step from here to a new place.
    pub(super) fn step(&mut self, instruction: Instruction, span: Span) {
        let to = self.graph.node();
        self.step_to(instruction, to, span);
        self.here = Some(to);
    }

    /// Adds a step from here to a given place.
    pub(super) fn step_to(&mut self, instruction: Instruction, to: Node, span: Span) {
        let from = self.here();
        self.graph.step(from, instruction, to, span);
        self.here = None;
        self.around.budget.steps += 1;
        if self.around.budget.steps > MAX_EDGES && !self.around.budget.exhausted {
            self.around.budget.exhausted = true;
            self.around.sink.error(too_large(span));
        }
    }

    /// Lets control go on elsewhere, if it is anywhere.
    pub(super) fn pass_to(&mut self, to: Node, span: Span) {
        if let Some(here) = self.here.take() {
            self.graph.silent(here, to, span);
        }
    }

    pub(super) fn constants(&mut self) -> Constants<'_, 'a> {
        let frame = self.frames.last();
        let parameter = frame.and_then(|frame| frame.parameter).map(|(name, value)| (name.text, value));
        let registers = frame.map(|frame| &frame.visible);
        let Surroundings { globals, used, sink, .. } = &mut self.around;
        Constants { globals, parameter, registers, sink, used }
    }
}

/// 0, for what is in error.
pub(super) fn nothing() -> RegExpr {
    RegExpr::Const(0)
}
