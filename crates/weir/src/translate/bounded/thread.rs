//! One thread, or procedure, of the translated program under construction, location by location.
//!
//! A location of the original has a copy inside rounds. Where a round may end, there are others: `paused`, between two
//! rounds; `stopped`, after the last round that the bound allows; and for the end of the thread, `ended`, where nothing
//! is kept any more. A round is one section under the global lock:
//!
//! ```text
//! inside --unlock--> paused --lock--> resume = n --> [begin.rs] --resume == n--> inside
//! ```
//!
//! The original's own lock is a register here (`held`), and while it is set the round does not end. So nobody else
//! steps while a thread holds the lock. That loses nothing: what others may do in the meantime (local steps, and stores
//! into their buffers) they can as well do before or after.
//!
//! In the middle of translated code a state may be one that the original does not have. Either something is kept then
//! (`ahead` is not 0) or `resume` is not 0: properties look only at states where neither is so.

use weir_ir::{
    BinaryOp, Body, BodyBuilder, Edge, EdgeId, Expr, Instruction, LocId, Location, RegExpr, RegId, Span, Value,
};

use super::access::Copies;
use super::group::{Common, in_the_middle};
use super::{Context, Origin, Owner, RunBound, places};

/// What became of a thread.
pub(super) struct Written {
    pub(super) body: Body,
    pub(super) origins: Vec<Origin>,
    pub(super) stands_for: Vec<Option<LocId>>,
    pub(super) marks: Marks,
}

/// The registers that tell whether a state is one of the original, with nothing waiting: all of them are 0 then.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub(super) registers: Vec<RegId>,
    /// The locations that are entered only when a step of the original is complete, and left when the next one starts.
    pub(super) main: Vec<LocId>,
}

/// A thread that never runs.
pub(super) fn unchanged(body: &Body) -> Written {
    Written {
        origins: vec![Origin::default(); body.edges().len()],
        stands_for: body.location_ids().map(Some).collect(),
        marks: Marks { registers: Vec::new(), main: body.location_ids().collect() },
        body: body.clone(),
    }
}

/// An instruction, and what it does in the original program.
pub(super) type Traced = (Instruction, Origin);

/// `resume` while several steps stand for one of the original.
pub(super) const MIDDLE: Value = 1;

pub(super) struct Writer<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) body: &'a Body,
    pub(super) builder: BodyBuilder<Origin>,
    stands_for: Vec<Option<LocId>>,
    main: Vec<LocId>,
    /// The copy of each location inside rounds.
    pub(super) inside: Vec<LocId>,
    pub(super) pauses: Vec<bool>,
    /// Where common code goes on; 0 in the thread's own code.
    pub(super) resume: RegId,
    /// Where a thread ends in a procedure.
    last: Option<LocId>,
    /// The number of the current round, from 1.
    pub(super) round: Option<RegId>,
    /// How many rounds from now the last store reaches memory.
    pub(super) ahead: Option<RegId>,
    /// Whether the thread holds the original's lock.
    pub(super) held: Option<RegId>,
    pub(super) copies: Copies,
    /// The next value for `resume`.
    next_number: Value,
    /// Where a round begins, where the view is set anew, and where control goes on after that.
    pub(super) begin: LocId,
    pub(super) look: LocId,
    pub(super) go_on: LocId,
}

impl<'a> Writer<'a> {
    /// The translation of a thread or procedure.
    pub(super) fn body(context: &'a Context<'a>) -> Written {
        let mut writer = Self::new(context);
        let body = writer.body;
        for loc in body.location_ids() {
            let labels = body.locations[loc.index()].labels.clone();
            let inside = writer.place(loc, labels);
            writer.inside.push(inside);
        }
        if context.group.is_none() {
            let span = context.span;
            writer.begin = writer.common("begin_round", span);
            writer.look = writer.common("look", span);
            writer.go_on = writer.common("go_on", span);
        }
        for loc in body.location_ids() {
            for (id, edge) in body.edges_from(loc) {
                // Without any `return`, the text would be one of a procedure without a result.
                let returns = matches!(edge.instruction, Instruction::Return(_));
                if returns || context.owner.can_take(context.ranges, id) {
                    writer.edge(id, edge);
                } else {
                    // A location without a way out would be the end of the thread.
                    writer.step(edge, 0, [test(Expr::Const(0))]);
                }
            }
        }
        let entry = writer.pauses();
        if context.group.is_none() {
            writer.begin_round();
            writer.look_anew();
            writer.common_accesses();
        }
        writer.finish(entry)
    }

    pub(super) fn new(context: &'a Context<'a>) -> Self {
        let body = context.body;
        let shared = context.program.shared.iter().map(|shared| shared.name.clone());
        let constants = context.program.constants.iter().map(|(name, _)| name.clone());
        // The name of a cell that is added later.
        let mut builder = BodyBuilder::new(body.registers.clone(), shared.chain(constants));
        let takes_lock = context.group.map_or(body.takes_lock(), |group| group.takes_lock);
        let mut register = |name: &str| context.register(&mut builder, name);
        let resume = register("resume");
        let round = matches!(context.bound, RunBound::Rounds(_)).then(|| register("round"));
        let ahead = (context.cells.copies > 0).then(|| register("ahead"));
        let held = takes_lock.then(|| register("held"));
        let copies = Copies::new(context, &mut builder);
        Self {
            context,
            body,
            builder,
            stands_for: Vec::new(),
            main: Vec::new(),
            inside: Vec::new(),
            pauses: places::pausing_places(context.program, context.owner, body),
            last: None,
            resume,
            round,
            ahead,
            held,
            copies,
            next_number: MIDDLE + 1,
            begin: LocId(0),
            look: LocId(0),
            go_on: LocId(0),
        }
    }

    pub(super) fn finish(mut self, entry: LocId) -> Written {
        // No edge may lead on from there, so it is not the place at which a round can end after a failure.
        let failed = self.body.failed.map(|failed| self.place(failed, Vec::new()));
        let registers = [Some(self.resume), self.ahead].into_iter().flatten().collect();
        let (body, origins) = self.builder.finish(entry, failed);
        Written { body, origins, stands_for: self.stands_for, marks: Marks { registers, main: self.main } }
    }

    // Locations and chains.

    /// One more main location that stands for a location of the original.
    fn place(&mut self, original: LocId, labels: Vec<String>) -> LocId {
        let span = self.body.locations[original.index()].span;
        let location = self.new_location(Location { labels, span }, Some(original));
        self.main.push(location);
        location
    }

    /// One more location, named after a location of the original or, if that has no name, by its number.
    fn named_place(&mut self, original: LocId, name: &str) -> LocId {
        let label = match self.body.locations[original.index()].labels.first() {
            Some(label) => format!("{label}_{name}"),
            None => format!("{name}{}", original.0),
        };
        self.place(original, vec![label])
    }

    /// A location of code that belongs to no location of the original.
    pub(super) fn common(&mut self, label: &str, span: Span) -> LocId {
        let label = format!("{label}{}", self.context.suffix);
        self.new_location(Location { labels: vec![label], span }, None)
    }

    /// The same without a label.
    pub(super) fn middle(&mut self, span: Span) -> LocId {
        self.middle_as(span, None)
    }

    /// A location without a label that may stand for one of the original.
    pub(super) fn middle_as(&mut self, span: Span, stands_for: Option<LocId>) -> LocId {
        self.new_location(Location { labels: Vec::new(), span }, stands_for)
    }

    fn new_location(&mut self, location: Location, stands_for: Option<LocId>) -> LocId {
        self.stands_for.push(stands_for);
        self.builder.labelled_location(location)
    }

    /// Adds instructions one after the other; at least one. Locations in between stand for nothing: they are passed
    /// with a register set that says so, or in common code.
    pub(super) fn link(&mut self, from: LocId, to: LocId, span: Span, steps: impl IntoIterator<Item = Traced>) {
        self.chain(from, to, span, (None, None, 0), steps);
    }

    /// The same for a step of the original. Locations before the instruction of this number stand for where the step
    /// starts, those after it for where it leads.
    pub(super) fn step(&mut self, edge: &Edge, effect: usize, steps: impl IntoIterator<Item = Traced>) {
        let (from, to) = (self.inside[edge.from.index()], self.inside[edge.to.index()]);
        self.chain(from, to, edge.span, (Some(edge.from), Some(edge.to), effect), steps);
    }

    pub(super) fn chain(
        &mut self,
        from: LocId,
        to: LocId,
        span: Span,
        (before, after, effect): (Option<LocId>, Option<LocId>, usize),
        steps: impl IntoIterator<Item = Traced>,
    ) {
        let mut steps = steps.into_iter().enumerate().peekable();
        let mut at = from;
        while let Some((number, (instruction, origin))) = steps.next() {
            let stands_for = if number < effect { before } else { after };
            let next = match steps.peek() {
                Some(_) => self.new_location(Location { labels: Vec::new(), span }, stands_for),
                None => to,
            };
            self.builder.edge(Edge { from: at, to: next, instruction, span }, origin);
            at = next;
        }
    }

    /// A number for `resume`.
    pub(super) fn number(&mut self) -> Value {
        self.next_number += 1;
        self.next_number - 1
    }

    // Conditions and small instructions.

    /// That nothing is kept, if anything can be.
    pub(super) fn is_drained(&self) -> Option<RegExpr> {
        self.ahead.map(|ahead| equals(ahead, 0))
    }

    /// Waits until nothing is kept, if anything can be.
    pub(super) fn drained(&self) -> Option<Traced> {
        self.is_drained().map(test)
    }

    // The edges of the original.

    fn edge(&mut self, id: EdgeId, edge: &Edge) {
        let instruction = &edge.instruction;
        match instruction {
            Instruction::Skip | Instruction::Assign { .. } | Instruction::Assume(_) | Instruction::Havoc { .. } => {
                self.step(edge, 0, [(instruction.clone(), execute(id))]);
            }
            Instruction::Terminate if matches!(self.context.owner, Owner::Procedure(_)) => {
                let last = self.last.unwrap_or_else(|| self.middle(edge.span));
                self.last = Some(last);
                self.link(self.inside[edge.from.index()], last, edge.span, [(Instruction::Skip, execute(id))]);
            }
            // It goes on to a round that may end.
            Instruction::Terminate => self.step(edge, 0, [(Instruction::Skip, execute(id))]),
            Instruction::Assert(condition) => self.assert(id, edge, condition),
            Instruction::Fence => {
                let wait = self.is_drained().map_or(Instruction::Skip, Instruction::Assume);
                self.step(edge, 0, [(wait, execute(id))]);
            }
            Instruction::Membarrier => self.membarrier(id, edge),
            Instruction::Lock => self.lock(id, edge, (0, 1)),
            Instruction::Unlock => self.lock(id, edge, (1, 0)),
            Instruction::Load { register, address } => self.load(id, edge, *register, address),
            Instruction::Snapshot(loads) => self.loads(id, edge, loads, None),
            Instruction::Await { loads, condition } => self.loads(id, edge, loads, Some(condition)),
            Instruction::Store { address, value } => self.store(id, edge, address, value),
            Instruction::ReadModifyWrite { address, .. } => self.read_modify_write(id, edge, address),
            // Whoever is started begins between two rounds, with nothing kept. Procedures have all they need in
            // thread-local variables.
            Instruction::Spawn(_) | Instruction::Call { .. } | Instruction::Return(_) => {
                self.step(edge, 0, [(instruction.clone(), execute(id))]);
            }
        }
    }

    /// The assertion as it is, and a way on for the others if it fails.
    fn assert(&mut self, id: EdgeId, edge: &Edge, condition: &RegExpr) {
        self.step(edge, 0, [(Instruction::Assert(condition.clone()), execute(id))]);
        let Some(failed) = self.body.failed else { return };
        let fails = Instruction::Assume(condition.negated());
        self.step(&Edge { to: failed, ..edge.clone() }, 0, [(fails, execute(id))]);
    }

    /// Waits until nobody keeps anything.
    fn membarrier(&mut self, id: EdgeId, edge: &Edge) {
        let wait = match (self.context.pending, self.copies.value) {
            (Some(pending), Some(value)) => {
                Instruction::Await { loads: vec![(value, Expr::Const(pending))], condition: equals(value, 0) }
            }
            _ => Instruction::Skip,
        };
        let steps: Vec<Traced> = self.drained().into_iter().chain([(wait, execute(id))]).collect();
        self.step(edge, steps.len() - 1, steps);
    }

    /// Takes the lock or gives it back: what `held` was and what it becomes.
    fn lock(&mut self, id: EdgeId, edge: &Edge, (was, becomes): (Value, Value)) {
        let Some(held) = self.held else {
            // Nobody takes the lock, so nobody can give it back. Without a step, the thread would be done here.
            self.step(edge, 0, [(Instruction::Assume(Expr::Const(0)), execute(id))]);
            return;
        };
        let can = self.is_drained().into_iter().fold(equals(held, was), and);
        self.step(edge, 1, [test(can), (assign(held, Expr::Const(becomes)), execute(id))]);
    }

    // The ends of rounds.

    /// Adds the ways out of rounds, and back; the location where the thread starts.
    fn pauses(&mut self) -> LocId {
        let mut entry = self.inside[self.body.entry.index()];
        let is_procedure = matches!(self.context.owner, Owner::Procedure(_));
        for loc in self.body.location_ids() {
            // Control that reaches the end of a procedure returns.
            if !self.pauses[loc.index()] || is_procedure && self.body.is_done(loc) {
                continue;
            }
            let start = self.pause(loc, self.inside[loc.index()]);
            if loc == self.body.entry && !is_procedure {
                entry = start;
            }
        }
        if let Some(last) = self.last {
            self.end(self.body.entry, last);
        }
        entry
    }

    /// Lets a round end where the thread has nothing more to do; where it is then.
    fn end(&mut self, loc: LocId, inside: LocId) -> LocId {
        let span = self.body.locations[loc.index()].span;
        let free = self.held.map(|held| equals(held, 0));
        let ended = self.named_place(loc, "ended");
        let last = [free.clone(), self.is_drained()].into_iter().flatten().reduce(and);
        self.link_as(loc, (inside, ended), span, last.map(test).into_iter().chain([plain(Instruction::Unlock)]));
        let mut ends = vec![ended];
        if let Some(held) = self.held {
            let forever = self.named_place(loc, "holding");
            let holds = self.is_drained().into_iter().fold(equals(held, 1), and);
            self.link_as(loc, (inside, forever), span, [test(holds)]);
            ends.push(forever);
        }
        if let Some(ahead) = self.ahead {
            let waits = free.into_iter().fold(compare(BinaryOp::NotEqual, ahead, 0), and);
            self.pause_if((loc, inside), Some(waits));
        }
        if let Owner::Procedure(_) = self.context.owner {
            // At an end that nothing leads on from, a procedure would return.
            let nowhere = self.middle(span);
            for end in ends {
                self.link(end, nowhere, span, [plain(Instruction::Terminate)]);
            }
        }
        ended
    }

    /// Lets a round end at a location; where the thread is before its first round if it starts there.
    fn pause(&mut self, loc: LocId, inside: LocId) -> LocId {
        if self.body.is_done(loc) {
            return self.end(loc, inside);
        }
        let span = self.body.locations[loc.index()].span;
        let free = self.held.map(|held| equals(held, 0));
        let most = Value::from(self.context.bound.number());
        if let Some(round) = self.round {
            let stopped = self.named_place(loc, "stopped");
            let last = free.clone().into_iter().fold(equals(round, most), and);
            self.link_as(loc, (inside, stopped), span, [test(last), plain(Instruction::Unlock)]);
            // A location without a way out would be the end of the thread.
            self.link(stopped, stopped, span, [test(Expr::Const(0))]);
        }
        let more = self.round.map(|round| compare(BinaryOp::Less, round, most));
        self.pause_if((loc, inside), [more, free].into_iter().flatten().reduce(and))
    }

    /// Lets a round end at a location under a condition, and another one begin there; the location in between.
    fn pause_if(&mut self, (loc, inside): (LocId, LocId), condition: Option<RegExpr>) -> LocId {
        let span = self.body.locations[loc.index()].span;
        let paused = self.named_place(loc, "paused");
        self.link_as(loc, (inside, paused), span, condition.map(test).into_iter().chain([plain(Instruction::Unlock)]));
        let lock = (Instruction::Lock, Origin { begins: true, ..Origin::default() });
        if self.context.group.is_some() {
            let begin = self.call_common(Common::BeginRound, Vec::new(), None);
            let begin = in_the_middle(self.resume, begin, Origin::default());
            self.link_as(loc, (paused, inside), span, [lock].into_iter().chain(begin));
            return paused;
        }
        let number = self.number();
        self.link_as(loc, (paused, self.begin), span, [lock, set(self.resume, number)]);
        self.return_to((self.go_on, inside), number, span, [], Origin::default());
        paused
    }

    /// Leaves common code for the thread's own, if that is where `resume` says. That completes what `origin` says.
    pub(super) fn return_to(
        &mut self,
        (from, to): (LocId, LocId),
        number: Value,
        span: Span,
        steps: impl IntoIterator<Item = Traced>,
        origin: Origin,
    ) {
        let back = (assign(self.resume, Expr::Const(0)), origin);
        self.link(from, to, span, [test(equals(self.resume, number))].into_iter().chain(steps).chain([back]));
    }

    /// Instructions that change nothing in the original, at one location of it.
    pub(super) fn link_as(
        &mut self,
        loc: LocId,
        (from, to): (LocId, LocId),
        span: Span,
        steps: impl IntoIterator<Item = Traced>,
    ) {
        self.chain(from, to, span, (Some(loc), Some(loc), 0), steps);
    }
}

/// An instruction that does nothing in the original program.
pub(super) fn plain(instruction: Instruction) -> Traced {
    (instruction, Origin::default())
}

/// The step executes this edge.
pub(super) fn execute(edge: EdgeId) -> Origin {
    Origin { execute: Some(edge), ..Origin::default() }
}

pub(super) fn test(condition: RegExpr) -> Traced {
    plain(Instruction::Assume(condition))
}

pub(super) fn assign(register: RegId, value: RegExpr) -> Instruction {
    Instruction::Assign { register, value }
}

pub(super) fn set(register: RegId, value: Value) -> Traced {
    plain(assign(register, Expr::Const(value)))
}

pub(super) fn compare(op: BinaryOp, register: RegId, value: Value) -> RegExpr {
    Expr::binary(op, Expr::Leaf(register), Expr::Const(value))
}

pub(super) fn equals(register: RegId, value: Value) -> RegExpr {
    compare(BinaryOp::Equal, register, value)
}

pub(super) fn and(left: RegExpr, right: RegExpr) -> RegExpr {
    Expr::binary(BinaryOp::And, left, right)
}
