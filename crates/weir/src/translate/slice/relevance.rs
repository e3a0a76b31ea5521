//! What goals depend on: threads, registers and cells, closed under what these depend on in turn.
//!
//! Whatever can block or decide where control goes counts, in every thread that counts: conditions, assertions, awaits,
//! and stores that a range may block. So a thread of the slice goes where it goes in the original.

use weir_ir::flow::{Moment, Ranges, RegisterSet, ends_alone, never_blocks, never_ends};
use weir_ir::{
    Edge, EdgeId, Expr, Instruction, Program, PropertyKind, Range, RegExpr, RegId, Rmw, Shared, StateAtom, StateExpr,
    ThreadId, UnaryOp, Value,
};
use weir_witness::Goal;

/// What counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Relevance {
    threads: Vec<bool>,
    registers: Vec<RegisterSet>,
    /// Addresses, in order and without overlaps.
    cells: Vec<Range>,
    /// For each edge of each thread whether it writes something that counts, or may be blocked by a range.
    writes: Vec<Vec<bool>>,
    /// Whether all accesses stay, so that they wait where they waited. Their values need not.
    keeps_accesses: bool,
}

impl Relevance {
    pub(super) fn nothing(program: &Program) -> Self {
        Self {
            threads: vec![false; program.threads.len()],
            registers: vec![RegisterSet::new(); program.threads.len()],
            cells: Vec::new(),
            writes: program.threads.iter().map(|thread| vec![false; thread.body.edges().len()]).collect(),
            keeps_accesses: false,
        }
    }

    pub(super) fn everything(program: &Program) -> Self {
        let mut all = Self::nothing(program);
        all.threads.fill(true);
        all.writes.iter_mut().for_each(|edges| edges.fill(true));
        all.registers = program.threads.iter().map(|thread| RegisterSet::first(thread.body.registers.len())).collect();
        all.cells.push(Range::FULL);
        all.keeps_accesses = true;
        all
    }

    /// What these goals depend on.
    pub(super) fn of_goals(program: &Program, ranges: &Ranges, goals: &[Goal]) -> Self {
        let mut found = Self::nothing(program);
        for &goal in goals {
            found.add_goal(program, ranges, goal);
        }
        found.close(program, ranges, Demand::Values);
        found
    }

    /// What these goals, control flow and addresses depend on.
    pub(super) fn of_steps(program: &Program, ranges: &Ranges, goals: &[Goal]) -> Self {
        let mut found = Self::nothing(program);
        found.threads.fill(true);
        found.keeps_accesses = true;
        goals.iter().for_each(|&goal| found.add_goal(program, ranges, goal));
        found.close(program, ranges, Demand::Values);
        found
    }

    /// What control flow and addresses depend on.
    pub(super) fn of_accesses(program: &Program, ranges: &Ranges) -> Self {
        let mut found = Self::nothing(program);
        found.threads.fill(true);
        found.keeps_accesses = true;
        found.close(program, ranges, Demand::Accesses);
        found
    }

    pub(super) fn is_kept(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()]
    }

    pub(super) fn has_register(&self, thread: ThreadId, register: RegId) -> bool {
        self.registers[thread.index()].contains(register)
    }

    pub(super) fn registers(&self, thread: ThreadId) -> &RegisterSet {
        &self.registers[thread.index()]
    }

    pub(super) fn cells(&self) -> &[Range] {
        &self.cells
    }

    pub(super) fn keeps_accesses(&self) -> bool {
        self.keeps_accesses
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
                PropertyKind::Forbid(condition) | PropertyKind::Exists(condition) | PropertyKind::Always(condition) => {
                    self.add_condition(condition);
                }
                // A thread at rest behind a lock that another holds for ever is not done.
                PropertyKind::ForbidDeadlock if program.uses_lock() => self.threads.fill(true),
                PropertyKind::ForbidDeadlock => {}
                // Whoever goes on for ever can be what keeps a thread from being stuck.
                PropertyKind::ForbidStuck | PropertyKind::Live(_) => self.threads.fill(true),
            },
            Goal::NotRobust => self.threads.fill(true),
        }
    }

    fn add_condition(&mut self, condition: &StateExpr) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread, .. } => self.threads[thread.index()] = true,
            StateAtom::Register { thread, register } => {
                self.threads[thread.index()] = true;
                self.registers[thread.index()].insert(*register);
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
            Instruction::Assume(condition) if decided(ranges, thread, edge, condition).is_some() => {}
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                changed |= self.add_registers(thread, condition);
            }
            Instruction::Load { .. } | Instruction::Snapshot(_) => {
                let one = match &edge.instruction {
                    Instruction::Load { register, address } => Some((*register, address)),
                    _ => None,
                };
                let several = edge.instruction.loads_at_once().unwrap_or_default();
                for (register, address) in one.into_iter().chain(several.iter().map(|(reg, address)| (*reg, address))) {
                    let matters = self.has_register(thread, register);
                    if matters || self.keeps_accesses {
                        changed |= self.add_registers(thread, address);
                    }
                    changed |= matters && self.add_cells(addresses(address));
                }
            }
            Instruction::Await { loads, condition } => {
                changed |= self.add_registers(thread, condition);
                for (_, address) in loads {
                    changed |= self.add_registers(thread, address) | self.add_cells(addresses(address));
                }
            }
            Instruction::Store { address, value } => {
                let matters = self.touches(addresses(address))
                    || ranges.may_leave_range(program, thread, edge)
                    || neutral(program, addresses(address)).is_none();
                if matters || self.keeps_accesses {
                    changed |= self.add_registers(thread, address);
                }
                changed |= matters && (self.add_write(thread, id) | self.add_registers(thread, value));
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let is_read = register.is_some_and(|register| self.has_register(thread, register));
                let may_fail = matches!(operation, Rmw::CompareAndSwap { .. } | Rmw::CompareExchange { .. });
                let matters = is_read
                    || self.touches(addresses(address))
                    || ranges.may_leave_range(program, thread, edge)
                    || neutral(program, addresses(address)).is_none()
                    || demand == Demand::Accesses && may_fail;
                if matters || self.keeps_accesses {
                    changed |= self.add_registers(thread, address);
                }
                if matters {
                    changed |= self.add_write(thread, id) | self.add_cells(addresses(address));
                    operation.for_each_operand(&mut |operand| changed |= self.add_registers(thread, operand));
                }
            }
            Instruction::Assign { register, value } if self.has_register(thread, *register) => {
                changed |= self.add_registers(thread, value);
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

    fn add_registers(&mut self, thread: ThreadId, expr: &RegExpr) -> bool {
        let mut changed = false;
        expr.for_each_leaf(&mut |&register| changed |= self.registers[thread.index()].insert(register));
        changed
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

/// Whether a goal speaks of states in which threads have ended.
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
