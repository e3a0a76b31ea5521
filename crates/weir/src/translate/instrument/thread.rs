//! One thread of the instrumented program under construction.

use std::collections::HashMap;

use weir_ir::{
    Body, BodyBuilder, Edge, EdgeId, Expr, Instruction, LocId, Location, RegExpr, RegId, Span, ThreadId, UnaryOp,
};

use super::{Context, Origin};
use crate::attack::AttackStep;

/// The copies of the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Copy {
    /// As it was.
    Original,
    /// The attacker delays its stores.
    Delaying,
    /// A helper is in a locked section that it guessed will come to be on the path.
    Section,
    /// A helper is on the path.
    Path,
}

/// An instruction, and what it does in the original program.
pub(super) type Traced = (Instruction, Option<Origin>);

pub(super) struct ThreadWriter<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) thread: ThreadId,
    pub(super) body: &'a Body,
    pub(super) builder: BodyBuilder<Option<Origin>>,
    placed: HashMap<(Copy, LocId), LocId>,
    /// Copies of locations whose edges are still to be written.
    pending: Vec<(Copy, LocId)>,
    /// Holds an access level that was read.
    pub(super) level: RegId,
    /// Holds what was loaded, where its register is still needed.
    pub(super) result: RegId,
    /// Holds the address of the first delayed store.
    pub(super) target: RegId,
    /// As many as the longest snapshot has loads: for what is needed of each.
    pub(super) several: Vec<RegId>,
    /// Where the attacker waits for success.
    pub(super) waiting: Option<LocId>,
}

impl<'a> ThreadWriter<'a> {
    /// The instrumented body of a thread, and what its edges do in the original.
    pub(super) fn thread(context: &'a Context<'a>, thread: ThreadId) -> (Body, Vec<Option<Origin>>) {
        let body = context.program.body(thread);
        let (builder, [level, result, target], several) = with_registers(context, body);
        let mut writer = Self {
            context,
            thread,
            body,
            builder,
            placed: HashMap::new(),
            pending: Vec::new(),
            level,
            result,
            target,
            several,
            waiting: None,
        };
        let entry = writer.at(Copy::Original, body.entry);
        let leads = writer.leads_to_attack();
        while let Some((copy, loc)) = writer.pending.pop() {
            for (id, edge) in body.edges_from(loc) {
                match copy {
                    Copy::Original => writer.original(id, edge, &leads),
                    Copy::Delaying => writer.delayed(id, edge, &leads),
                    Copy::Section => writer.in_section(id, edge),
                    Copy::Path => writer.on_path(id, edge),
                }
            }
        }
        writer.builder.finish(entry, None)
    }

    /// The edges of the original code, and the ways out of it.
    fn original(&mut self, id: EdgeId, edge: &Edge, leads: &[bool]) {
        let instructions = self.before_the_attack(id, edge);
        self.chain((Copy::Original, edge.from), (Copy::Original, edge.to), edge.span, instructions);
        self.begin(id, edge, leads);
        if self.context.can_help(self.thread) {
            self.join(id, edge, Copy::Original);
        }
    }

    /// The instruction as it was, if nobody has become the attacker where that matters.
    fn before_the_attack(&self, id: EdgeId, edge: &Edge) -> Vec<Traced> {
        let (Instruction::Membarrier, Some(flag)) = (&edge.instruction, self.context.flags.attacking) else {
            return vec![self.ordinary(id, edge)];
        };
        let look = Instruction::Load { register: self.level, address: Expr::Const(flag) };
        let is_clear = Expr::unary(UnaryOp::Not, Expr::Leaf(self.level));
        vec![(look, self.origin(id, AttackStep::Ordinary)), (Instruction::Assume(is_clear), None)]
    }

    /// The instruction as it was.
    pub(super) fn ordinary(&self, id: EdgeId, edge: &Edge) -> Traced {
        let instruction = match &edge.instruction {
            Instruction::Assert(condition) => Instruction::Assume(condition.clone()),
            other => other.clone(),
        };
        (instruction, self.origin(id, AttackStep::Ordinary))
    }

    pub(super) fn origin(&self, edge: EdgeId, kind: AttackStep) -> Option<Origin> {
        Some(Origin { edge, kind })
    }

    /// A location of a copy, made when it is first asked for.
    pub(super) fn at(&mut self, copy: Copy, loc: LocId) -> LocId {
        if let Some(&placed) = self.placed.get(&(copy, loc)) {
            return placed;
        }
        let original = &self.body.locations[loc.index()];
        let labels = if copy == Copy::Original { original.labels.clone() } else { Vec::new() };
        let placed = self.builder.labelled_location(Location { labels, span: original.span });
        self.placed.insert((copy, loc), placed);
        self.pending.push((copy, loc));
        placed
    }

    /// Instructions one after the other, from one copy of a location to another.
    pub(super) fn chain(
        &mut self,
        from: (Copy, LocId),
        to: (Copy, LocId),
        span: Span,
        instructions: impl IntoIterator<Item = Traced>,
    ) {
        let (from, to) = (self.at(from.0, from.1), self.at(to.0, to.1));
        self.builder.link(from, to, span, instructions);
    }

    /// For each location, whether the load of an attack of this thread can be reached from it with stores waiting.
    fn leads_to_attack(&self) -> Vec<bool> {
        let is_attacked =
            |id: EdgeId| self.context.attacks.iter().any(|attack| attack.thread == self.thread && attack.load == id);
        let mut leads = vec![false; self.body.locations.len()];
        let mut incoming = vec![Vec::new(); self.body.locations.len()];
        let mut work = Vec::new();
        for (id, edge) in (0..).map(EdgeId).zip(self.body.edges()) {
            if !edge.instruction.drains() {
                incoming[edge.to.index()].push(edge.from);
            }
            if is_attacked(id) && !std::mem::replace(&mut leads[edge.from.index()], true) {
                work.push(edge.from);
            }
        }
        while let Some(loc) = work.pop() {
            for &before in &incoming[loc.index()] {
                if !std::mem::replace(&mut leads[before.index()], true) {
                    work.push(before);
                }
            }
        }
        leads
    }
}

/// A builder with the registers of the body and what is added: three registers, and those for snapshots.
fn with_registers(context: &Context<'_>, body: &Body) -> (BodyBuilder<Option<Origin>>, [RegId; 3], Vec<RegId>) {
    let shared = context.program.shared.iter().map(|shared| shared.name.clone());
    let mut builder = BodyBuilder::new(body.registers.clone(), shared);
    let added = ["level_", "result_", "target_"].map(|name| builder.register(name));
    let loads = |edge: &Edge| edge.instruction.loads_at_once().map_or(0, <[_]>::len);
    let longest = body.edges().iter().map(loads).max().unwrap_or(0);
    let several = (0..longest).map(|_| builder.register("several_")).collect();
    (builder, added, several)
}

/// Whether the register occurs in the expression.
pub(super) fn occurs(register: RegId, expr: &RegExpr) -> bool {
    let mut found = false;
    expr.for_each_leaf(&mut |&leaf| found |= leaf == register);
    found
}
