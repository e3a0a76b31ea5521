//! What goals depend on: threads, registers and cells, closed under what these depend on in turn.
//!
//! Whatever can block or decide where control goes counts, in every thread that counts: conditions, assertions, awaits,
//! and stores that a range may block. So a thread of the slice goes where it goes in the original.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_ir::flow::{Moment, Ranges, RegisterSet, Webs, ends_alone, never_blocks, never_ends};
use weir_ir::{
    Edge, EdgeId, Expr, Instruction, LocId, Program, PropertyKind, Range, RegExpr, RegId, Rmw, Shared, StateAtom,
    StateExpr, ThreadId, UnaryOp, Value,
};
use weir_witness::Goal;

/// What counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Relevance {
    threads: Vec<bool>,
    /// The live ranges of registers, thread by thread: a register may count in one and not in another.
    lives: Arc<Vec<Webs>>,
    /// Those that count, by their numbers.
    webs: Vec<RegisterSet>,
    /// Addresses, in order and without overlaps.
    cells: Vec<Range>,
    /// For each edge of each thread whether it writes something that counts, or may be blocked by a range.
    writes: Vec<Vec<bool>>,
    /// Whether all accesses stay, so that they wait where they waited. Their values need not.
    keeps_accesses: bool,
    /// Whether all conditions stay, so that the same instructions can block, judging by their form.
    keeps_conditions: bool,
}

impl Relevance {
    pub(super) fn nothing(program: &Program, lives: &Arc<Vec<Webs>>) -> Self {
        Self {
            threads: vec![false; program.threads.len()],
            lives: Arc::clone(lives),
            webs: vec![RegisterSet::new(); program.threads.len()],
            cells: Vec::new(),
            writes: program.threads.iter().map(|thread| vec![false; thread.body.edges().len()]).collect(),
            keeps_accesses: false,
            keeps_conditions: false,
        }
    }

    pub(super) fn everything(program: &Program, lives: &Arc<Vec<Webs>>) -> Self {
        let mut all = Self::nothing(program, lives);
        all.threads.fill(true);
        all.writes.iter_mut().for_each(|edges| edges.fill(true));
        all.webs = lives.iter().map(|webs| RegisterSet::first(webs.registers().len())).collect();
        all.cells.push(Range::FULL);
        all.keeps_accesses = true;
        all.keeps_conditions = true;
        all
    }

    /// What these goals depend on.
    pub(super) fn of_goals(program: &Program, ranges: &Ranges, lives: &Arc<Vec<Webs>>, goals: &[Goal]) -> Self {
        let mut found = Self::nothing(program, lives);
        for &goal in goals {
            found.add_goal(program, ranges, goal);
        }
        found.close(program, ranges, Demand::Values);
        found
    }

    /// What these goals, control flow and addresses depend on.
    pub(super) fn of_steps(program: &Program, ranges: &Ranges, lives: &Arc<Vec<Webs>>, goals: &[Goal]) -> Self {
        let mut found = Self::nothing(program, lives);
        found.threads.fill(true);
        found.keeps_accesses = true;
        found.keeps_conditions = goals.iter().any(|goal| goal.is_liveness(program));
        goals.iter().for_each(|&goal| found.add_goal(program, ranges, goal));
        found.close(program, ranges, Demand::Values);
        found
    }

    /// What control flow and addresses depend on.
    pub(super) fn of_accesses(program: &Program, ranges: &Ranges, lives: &Arc<Vec<Webs>>) -> Self {
        let mut found = Self::nothing(program, lives);
        found.threads.fill(true);
        found.keeps_accesses = true;
        found.close(program, ranges, Demand::Accesses);
        found
    }

    pub(super) fn is_kept(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()]
    }

    /// Whether a register counts anywhere.
    pub(super) fn has_register(&self, thread: ThreadId, register: RegId) -> bool {
        let registers = self.lives[thread.index()].registers();
        self.webs[thread.index()].iter().any(|web| registers[web.index()] == register)
    }

    /// Whether the value that an edge gives a register counts.
    pub(super) fn has_definition(&self, thread: ThreadId, edge: &Edge, register: RegId) -> bool {
        self.counts_at(thread, edge.to, register)
    }

    fn counts_at(&self, thread: ThreadId, loc: LocId, register: RegId) -> bool {
        let web = self.lives[thread.index()].at(loc, register);
        web.is_some_and(|web| self.webs[thread.index()].contains(RegId(web)))
    }

    /// The registers of a thread that count, with the values that they can have where they do.
    pub(super) fn values(&self, ranges: &Ranges, thread: ThreadId) -> BTreeMap<RegId, Range> {
        let counting = &self.webs[thread.index()];
        let mut found: BTreeMap<RegId, Range> = BTreeMap::new();
        let mut add = |register, values: Range| {
            found.entry(register).and_modify(|known| *known = known.hull(values)).or_insert(values);
        };
        match self.lives[thread.index()].places() {
            Some(places) => {
                for (loc, register, _) in places.filter(|&(_, _, web)| counting.contains(RegId(web))) {
                    ranges.register_at(thread, loc, register).into_iter().for_each(|values| add(register, values));
                }
            }
            None => counting.iter().for_each(|register| add(register, ranges.register(thread, register))),
        }
        found
    }

    pub(super) fn cells(&self) -> &[Range] {
        &self.cells
    }

    pub(super) fn keeps_accesses(&self) -> bool {
        self.keeps_accesses
    }

    pub(super) fn keeps_conditions(&self) -> bool {
        self.keeps_conditions
    }

    /// Whether a store or read-modify-write stays as it is.
    pub(super) fn keeps_write(&self, thread: ThreadId, edge: EdgeId) -> bool {
        self.writes[thread.index()][edge.index()]
    }
}

/// What the closure is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// States: the values of what counts.
    Values,
    /// Traces: also whether a compare-and-swap writes.
    Accesses,
}

impl Relevance {
    fn add_goal(&mut self, program: &Program, ranges: &Ranges, goal: Goal) {
        if needs_ends(program, goal) {
            let must_stay = |thread: &ThreadId| !ends_alone(program, ranges, *thread);
            let kept: Vec<ThreadId> = program.running_threads().filter(must_stay).collect();
            kept.into_iter().for_each(|thread| self.threads[thread.index()] = true);
        }
        match goal {
            Goal::Assertion(thread) => self.threads[thread.index()] = true,
            Goal::Property(property) => match &program.properties[property.index()].kind {
                PropertyKind::Forbid(condition)
                | PropertyKind::Exists(condition)
                | PropertyKind::Always(condition)
                | PropertyKind::Live(condition) => self.add_condition(condition),
                // A thread at rest behind a lock that another holds forever is not done.
                PropertyKind::ForbidDeadlock if program.uses_lock() => self.threads.fill(true),
                PropertyKind::ForbidDeadlock => {}
                // A thread that never ends may be what keeps another from being stuck.
                PropertyKind::ForbidStuck => self.threads.fill(true),
            },
            Goal::NotRobust => self.threads.fill(true),
        }
    }

    fn add_condition(&mut self, condition: &StateExpr) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread, .. } => self.threads[thread.index()] = true,
            StateAtom::Register { thread, register } => {
                self.threads[thread.index()] = true;
                self.add_register_everywhere(*thread, *register);
            }
            StateAtom::Cell(address) => {
                self.add_cells(Range::single(*address));
            }
        });
    }

    /// Adds what the parts that count depend on, until nothing is missing.
    fn close(&mut self, program: &Program, ranges: &Ranges, demand: Demand) {
        loop {
            let mut changed = false;
            for thread in program.running_threads() {
                let body = program.body(thread);
                if !self.is_kept(thread) {
                    let mut edges = body.edges().iter();
                    let writes = edges.any(|edge| writes_any(ranges, thread, edge, |cells| self.touches(cells)));
                    changed |= std::mem::replace(&mut self.threads[thread.index()], writes) != writes;
                    continue;
                }
                if body.takes_lock() && !self.keeps_accesses {
                    // Others wait for whoever holds the lock: where they do so must not change.
                    (self.keeps_accesses, changed) = (true, true);
                }
                for (id, edge) in body.edges().iter().enumerate().map(|(id, edge)| (EdgeId::new(id), edge)) {
                    if ranges.is_reachable(thread, edge.from) {
                        changed |= self.add_edge(program, ranges, (thread, id), edge, demand);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Adds what an edge depends on; whether that was news.
    fn add_edge(
        &mut self,
        program: &Program,
        ranges: &Ranges,
        (thread, id): (ThreadId, EdgeId),
        edge: &Edge,
        demand: Demand,
    ) -> bool {
        let addresses = |address: &RegExpr| ranges.value_at(thread, edge.from, address).unwrap_or(Range::FULL);
        let mut changed = false;
        match &edge.instruction {
            Instruction::Assume(condition)
                if !self.keeps_conditions && decided(ranges, thread, edge, condition).is_some() => {}
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                changed |= self.add_uses(thread, edge, condition);
            }
            Instruction::Load { .. } | Instruction::Snapshot(_) => {
                let one = match &edge.instruction {
                    Instruction::Load { register, address } => Some((*register, address)),
                    _ => None,
                };
                let several = edge.instruction.loads_at_once().unwrap_or_default();
                for (register, address) in one.into_iter().chain(several.iter().map(|(reg, address)| (*reg, address))) {
                    let matters = self.has_definition(thread, edge, register);
                    if matters || self.keeps_accesses {
                        changed |= self.add_uses(thread, edge, address);
                    }
                    changed |= matters && self.add_cells(addresses(address));
                }
            }
            Instruction::Await { loads, condition } => {
                changed |= self.add_uses(thread, edge, condition);
                for (_, address) in loads {
                    changed |= self.add_uses(thread, edge, address) | self.add_cells(addresses(address));
                }
            }
            Instruction::Store { address, value } => {
                let matters = self.touches(addresses(address))
                    || ranges.may_leave_range(program, thread, edge)
                    || neutral(program, addresses(address)).is_none();
                if matters || self.keeps_accesses {
                    changed |= self.add_uses(thread, edge, address);
                }
                changed |= matters && (self.add_write(thread, id) | self.add_uses(thread, edge, value));
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let is_read = register.is_some_and(|register| self.has_definition(thread, edge, register));
                let may_fail = matches!(operation, Rmw::CompareAndSwap { .. } | Rmw::CompareExchange { .. });
                let matters = is_read
                    || self.touches(addresses(address))
                    || ranges.may_leave_range(program, thread, edge)
                    || neutral(program, addresses(address)).is_none()
                    || demand == Demand::Accesses && may_fail;
                if matters || self.keeps_accesses {
                    changed |= self.add_uses(thread, edge, address);
                }
                if matters {
                    changed |= self.add_write(thread, id) | self.add_cells(addresses(address));
                    operation.for_each_operand(&mut |operand| changed |= self.add_uses(thread, edge, operand));
                }
            }
            Instruction::Assign { register, value } if self.has_definition(thread, edge, *register) => {
                changed |= self.add_uses(thread, edge, value);
            }
            Instruction::Assign { .. }
            | Instruction::Havoc { .. }
            | Instruction::Skip
            | Instruction::Fence
            | Instruction::Membarrier
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Terminate
            // Programs with these are not sliced.
            | Instruction::Call { .. }
            | Instruction::Return(_)
            | Instruction::Spawn(_) => {}
        }
        changed
    }

    /// Adds the registers that an expression of an edge reads. Those that an `await` loads itself are not read before.
    fn add_uses(&mut self, thread: ThreadId, edge: &Edge, expr: &RegExpr) -> bool {
        let mut changed = false;
        let lives = Arc::clone(&self.lives);
        expr.for_each_leaf(&mut |&register| {
            if let Some(web) = lives[thread.index()].at(edge.from, register) {
                changed |= self.webs[thread.index()].insert(RegId(web));
            }
        });
        changed
    }

    fn add_register_everywhere(&mut self, thread: ThreadId, register: RegId) {
        for (web, &of) in (0..).zip(self.lives[thread.index()].registers()) {
            if of == register {
                self.webs[thread.index()].insert(RegId(web));
            }
        }
    }

    fn add_write(&mut self, thread: ThreadId, edge: EdgeId) -> bool {
        !std::mem::replace(&mut self.writes[thread.index()][edge.index()], true)
    }

    /// Whether one of these cells counts.
    pub(super) fn touches(&self, cells: Range) -> bool {
        self.cells.iter().any(|known| known.meet(cells).is_some())
    }

    fn add_cells(&mut self, cells: Range) -> bool {
        if self.cells.iter().any(|known| known.meet(cells) == Some(cells)) {
            return false;
        }
        let (overlapping, mut rest): (Vec<Range>, Vec<Range>) =
            self.cells.iter().partition(|known| known.meet(cells).is_some());
        rest.push(overlapping.into_iter().fold(cells, Range::hull));
        rest.sort_unstable();
        self.cells = rest;
        true
    }
}

fn writes_any(ranges: &Ranges, thread: ThreadId, edge: &Edge, touches: impl Fn(Range) -> bool) -> bool {
    let (Instruction::Store { address, .. } | Instruction::ReadModifyWrite { address, .. }) = &edge.instruction else {
        return false;
    };
    ranges.value_at(thread, edge.from, address).is_some_and(touches)
}

/// A value that can be stored to any of these addresses without ever being blocked; the one that is there already, if
/// that is known.
pub(super) fn neutral(program: &Program, addresses: Range) -> Option<Value> {
    if addresses.extent() == 0 {
        return Some(program.initial_value(addresses.low));
    }
    let has_range =
        |shared: &Shared| shared.range.is_some() && shared.addresses().any(|address| addresses.contains(address));
    (!program.shared.iter().any(has_range)).then_some(0)
}

/// Whether a condition holds, if the values that its registers can have leave no doubt.
pub(super) fn decided(ranges: &Ranges, thread: ThreadId, edge: &Edge, condition: &RegExpr) -> Option<bool> {
    let values = ranges.value_at(thread, edge.from, condition)?;
    match values {
        Range { low: 0, high: 0 } => Some(false),
        _ if !values.contains(0) => Some(true),
        _ => None,
    }
}

/// Whether a goal is about states in which threads have ended.
pub(super) fn needs_ends(program: &Program, goal: Goal) -> bool {
    match goal {
        Goal::Property(property) => match program.properties[property.index()].kind {
            PropertyKind::Exists(_) | PropertyKind::Always(_) | PropertyKind::ForbidDeadlock => true,
            PropertyKind::Forbid(_) | PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
        },
        Goal::Assertion(_) | Goal::NotRobust => false,
    }
}

/// Whether the text shows that no run reaches a goal: a deadlock, if a thread never blocks and never ends, or if no
/// thread ever blocks; a condition, if values and places rule it out; anything about the end, if there is none.
pub(super) fn is_impossible(program: &Program, ranges: &Ranges, goal: Goal) -> bool {
    let Goal::Property(property) = goal else { return false };
    let may_hold = |condition: &StateExpr, moment| ranges.may_hold(program, condition, moment);
    match &program.properties[property.index()].kind {
        PropertyKind::ForbidDeadlock => {
            let steps = |thread: ThreadId| never_blocks(program, ranges, thread);
            program.running_threads().any(|thread| never_ends(program, ranges, thread) && steps(thread))
                || program.running_threads().all(steps)
        }
        PropertyKind::Forbid(condition) => !may_hold(condition, Moment::Ever),
        PropertyKind::Exists(condition) => !may_hold(condition, Moment::AtTheEnd),
        PropertyKind::Always(condition) => !may_hold(&Expr::unary(UnaryOp::Not, condition.clone()), Moment::AtTheEnd),
        PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
    }
}
