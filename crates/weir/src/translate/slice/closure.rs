//! What goals depend on, closed under what that depends on in turn.
//!
//! Whatever can block or decide where control goes counts, in every thread that counts: conditions, assertions, awaits,
//! and stores that a range may block. So a thread of the slice goes where it goes in the original.
//!
//! An edge is looked at when its thread counts, and again when a register or a cell counts to which it gives a value: a
//! long chain of assignments takes as many steps as it has assignments.

use std::sync::Arc;

use weir_ir::flow::{Ranges, Webs};
use weir_ir::sort::sort_by_key;
use weir_ir::{Address, Edge, EdgeId, Instruction, Program, Range, RegExpr, Rmw, ThreadId};
use weir_witness::Goal;

use super::relevance::{Relevance, decided, neutral};

/// What is known of a program.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) program: &'a Program,
    pub(super) ranges: &'a Ranges,
    /// The live ranges of registers, thread by thread.
    pub(super) lives: &'a Arc<Vec<Webs>>,
    pub(super) sources: &'a Sources,
}

/// Where values come from.
pub(super) struct Sources {
    /// For each thread the live ranges and the edges that define them, in order of live ranges.
    definitions: Vec<Vec<(u32, EdgeId)>>,
    /// The edges that write one cell, in order of its address.
    writes: Vec<(Address, ThreadId, EdgeId)>,
    /// The edges that may write several.
    wide_writes: Vec<(Range, ThreadId, EdgeId)>,
}

impl Sources {
    pub(super) fn new(program: &Program, ranges: &Ranges, lives: &[Webs]) -> Self {
        let mut sources =
            Self { definitions: vec![Vec::new(); program.threads.len()], writes: Vec::new(), wide_writes: Vec::new() };
        for thread in program.running_threads() {
            let webs = &lives[thread.index()];
            for (id, edge) in (0..).map(EdgeId).zip(program.body(thread).edges()) {
                if ranges.is_reachable(thread, edge.from) {
                    let defined = edge.instruction.defines().filter_map(|register| webs.at(edge.to, register));
                    sources.definitions[thread.index()].extend(defined.map(|web| (web, id)));
                    sources.add_write(ranges, (thread, id), edge);
                }
            }
            sort_by_key(&mut sources.definitions[thread.index()], |&(web, _)| web);
        }
        sort_by_key(&mut sources.writes, |&(address, ..)| address);
        sources
    }

    fn add_write(&mut self, ranges: &Ranges, (thread, id): (ThreadId, EdgeId), edge: &Edge) {
        let (Instruction::Store { address, .. } | Instruction::ReadModifyWrite { address, .. }) = &edge.instruction
        else {
            return;
        };
        match ranges.value_at(thread, edge.from, address) {
            Some(addresses) if addresses.extent() == 0 => self.writes.push((addresses.low, thread, id)),
            Some(addresses) => self.wide_writes.push((addresses, thread, id)),
            None => {}
        }
    }

    fn definitions(&self, thread: ThreadId, web: u32) -> impl Iterator<Item = EdgeId> + use<'_> {
        let definitions = &self.definitions[thread.index()];
        let start = definitions.partition_point(|&(other, _)| other < web);
        definitions[start..].iter().take_while(move |&&(other, _)| other == web).map(|&(_, edge)| edge)
    }

    fn writes(&self, cells: Range) -> impl Iterator<Item = (ThreadId, EdgeId)> + use<'_> {
        let start = self.writes.partition_point(|&(address, ..)| address < cells.low);
        let end = self.writes.partition_point(|&(address, ..)| address <= cells.high);
        self.writes[start..end.max(start)].iter().map(|&(_, thread, edge)| (thread, edge))
    }
}

/// What these goals depend on.
pub(super) fn of_goals(facts: Facts<'_>, goals: &[Goal]) -> Relevance {
    let mut named = Relevance::nothing(facts.program, facts.lives);
    goals.iter().for_each(|&goal| named.add_goal(facts.program, facts.ranges, goal));
    Closure::of(facts, named, Demand::Values)
}

/// What these goals, control flow and addresses depend on.
pub(super) fn of_steps(facts: Facts<'_>, goals: &[Goal]) -> Relevance {
    let mut named = Relevance::nothing(facts.program, facts.lives);
    named.add_all_accesses();
    if goals.iter().any(|goal| goal.is_liveness(facts.program)) {
        named.keep_conditions();
    }
    goals.iter().for_each(|&goal| named.add_goal(facts.program, facts.ranges, goal));
    Closure::of(facts, named, Demand::Values)
}

/// What control flow and addresses depend on.
pub(super) fn of_accesses(facts: Facts<'_>) -> Relevance {
    let mut named = Relevance::nothing(facts.program, facts.lives);
    named.add_all_accesses();
    Closure::of(facts, named, Demand::Accesses)
}

/// What the closure is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// States: the values of what counts.
    Values,
    /// Traces: also whether a compare-and-swap writes.
    Accesses,
}

/// What counts so far, and the edges to look at.
struct Closure<'a> {
    facts: Facts<'a>,
    demand: Demand,
    found: Relevance,
    work: Vec<(ThreadId, EdgeId)>,
    /// For each thread and edge, whether it is in `work`.
    is_due: Vec<Vec<bool>>,
    /// The edges that may write several cells, none of which counts so far.
    wide_writes: Vec<(Range, ThreadId, EdgeId)>,
}

impl<'a> Closure<'a> {
    fn of(facts: Facts<'a>, named: Relevance, demand: Demand) -> Relevance {
        let threads = facts.program.threads.iter();
        let is_due = threads.map(|thread| vec![false; thread.body.edges().len()]).collect();
        let cells = named.cells().to_vec();
        let wide_writes = facts.sources.wide_writes.clone();
        let mut closure = Self { facts, demand, found: named, work: Vec::new(), is_due, wide_writes };
        let kept: Vec<_> = facts.program.running_threads().filter(|&thread| closure.found.is_kept(thread)).collect();
        kept.into_iter().for_each(|thread| closure.look_at_all(thread));
        cells.into_iter().for_each(|cells| closure.look_at_writes(cells));
        while let Some((thread, id)) = closure.work.pop() {
            closure.is_due[thread.index()][id.index()] = false;
            closure.add_edge((thread, id), facts.program.body(thread).edge(id));
        }
        closure.found
    }

    /// Everything that a thread does may matter from now on.
    fn look_at_all(&mut self, thread: ThreadId) {
        let body = self.facts.program.body(thread);
        if body.takes_lock() && !self.found.keeps_accesses() {
            // Others wait for whoever holds the lock: where they do so must not change.
            self.found.keep_accesses();
            let kept = self.facts.program.running_threads().filter(|&other| self.found.is_kept(other));
            let kept: Vec<ThreadId> = kept.filter(|&other| other != thread).collect();
            kept.into_iter().for_each(|other| self.look_at_all(other));
        }
        // The last one is taken first, since what matters flows backwards.
        (0..body.edges().len()).for_each(|edge| self.look_at(thread, EdgeId::new(edge)));
    }

    fn look_at(&mut self, thread: ThreadId, edge: EdgeId) {
        let from = self.facts.program.body(thread).edge(edge).from;
        let is_due = &mut self.is_due[thread.index()][edge.index()];
        if !*is_due && self.facts.ranges.is_reachable(thread, from) {
            *is_due = true;
            self.work.push((thread, edge));
        }
    }

    /// These cells matter from now on, and so does who writes them.
    fn look_at_writes(&mut self, cells: Range) {
        let mut writes: Vec<(ThreadId, EdgeId)> = self.facts.sources.writes(cells).collect();
        self.wide_writes.retain(|&(addresses, thread, edge)| {
            let is_touched = addresses.meet(cells).is_some();
            writes.extend(is_touched.then_some((thread, edge)));
            !is_touched
        });
        for (thread, edge) in writes {
            if self.found.add_thread(thread) {
                self.look_at_all(thread);
            } else if !self.found.keeps_write(thread, edge) {
                self.look_at(thread, edge);
            }
        }
    }

    fn addresses(&self, thread: ThreadId, edge: &Edge, address: &RegExpr) -> Range {
        self.facts.ranges.value_at(thread, edge.from, address).unwrap_or(Range::FULL)
    }

    /// Adds what an edge depends on.
    fn add_edge(&mut self, (thread, id): (ThreadId, EdgeId), edge: &'a Edge) {
        match &edge.instruction {
            Instruction::Assume(condition)
                if !self.found.keeps_conditions()
                    && decided(self.facts.ranges, thread, edge, condition).is_some() => {}
            Instruction::Assume(condition) | Instruction::Assert(condition) => self.add_uses(thread, edge, condition),
            Instruction::Load { .. } | Instruction::Snapshot(_) => self.add_loads(thread, edge),
            Instruction::Await { loads, condition } => {
                self.add_uses(thread, edge, condition);
                for (_, address) in loads {
                    self.add_uses(thread, edge, address);
                    self.add_cells(self.addresses(thread, edge, address));
                }
            }
            Instruction::Store { address, value } => {
                let matters = self.matters_to_memory(thread, edge, address);
                if matters || self.found.keeps_accesses() {
                    self.add_uses(thread, edge, address);
                }
                if matters {
                    self.found.add_write(thread, id);
                    self.add_uses(thread, edge, value);
                }
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let is_read = register.is_some_and(|register| self.found.has_definition(thread, edge, register));
                let may_fail = matches!(operation, Rmw::CompareAndSwap { .. } | Rmw::CompareExchange { .. });
                let matters = is_read
                    || self.matters_to_memory(thread, edge, address)
                    || self.demand == Demand::Accesses && may_fail;
                if matters || self.found.keeps_accesses() {
                    self.add_uses(thread, edge, address);
                }
                if matters {
                    self.found.add_write(thread, id);
                    self.add_cells(self.addresses(thread, edge, address));
                    operation.for_each_operand(&mut |operand| self.add_uses(thread, edge, operand));
                }
            }
            Instruction::Assign { register, value } if self.found.has_definition(thread, edge, *register) => {
                self.add_uses(thread, edge, value);
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
    }

    fn add_loads(&mut self, thread: ThreadId, edge: &Edge) {
        let one = match &edge.instruction {
            Instruction::Load { register, address } => Some((*register, address)),
            _ => None,
        };
        let several = edge.instruction.loads_at_once().unwrap_or_default();
        for (register, address) in one.into_iter().chain(several.iter().map(|(reg, address)| (*reg, address))) {
            let matters = self.found.has_definition(thread, edge, register);
            if matters || self.found.keeps_accesses() {
                self.add_uses(thread, edge, address);
            }
            if matters {
                self.add_cells(self.addresses(thread, edge, address));
            }
        }
    }

    /// Whether what an edge writes to this address matters, or whether it can be written.
    fn matters_to_memory(&self, thread: ThreadId, edge: &Edge, address: &RegExpr) -> bool {
        let Facts { program, ranges, .. } = self.facts;
        let addresses = self.addresses(thread, edge, address);
        self.found.touches(addresses)
            || ranges.may_leave_range(program, thread, edge)
            || neutral(program, addresses).is_none()
    }

    /// Adds the registers that an expression of an edge reads. Those that an `await` loads itself are not read before.
    fn add_uses(&mut self, thread: ThreadId, edge: &Edge, expr: &RegExpr) {
        expr.for_each_leaf(&mut |&register| {
            if let Some(web) = self.found.add_register_at(thread, edge.from, register) {
                let sources = self.facts.sources;
                sources.definitions(thread, web).for_each(|edge| self.look_at(thread, edge));
            }
        });
    }

    fn add_cells(&mut self, cells: Range) {
        if self.found.add_cells(cells) {
            self.look_at_writes(cells);
        }
    }
}

#[cfg(test)]
mod tests;
