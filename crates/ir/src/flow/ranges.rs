//! Which values registers and cells can hold: interval analysis with widening (P. and R. Cousot, 1977).
//!
//! Sound for every run under SC and under TSO, whatever the interleaving: registers are followed from
//! location to location, with what conditions tell; a cell has one range for all times (see `memory`).
//! It errs towards larger ranges. Threads that only `spawn` starts count as running, and procedures that
//! are called anywhere run with any arguments, return anything, and set thread-local variables to anything.

mod condition;
mod env;
mod interval;
mod memory;
mod solver;
mod transfer;
mod widening;

pub use condition::Moment;
pub use env::possible_values;
pub(crate) use env::{Env, eval};
pub use interval::{binary as values_of_binary, unary as values_of_unary};

use self::memory::Memory;
use self::solver::{Rows, can_take, solve};
use crate::ids::{EdgeId, LocId, ProcId, RegId, ThreadId};
use crate::interrupt::{Interrupt, Uninterrupted};
use crate::program::{Address, Body, Instruction, Program, Range, RegExpr};

/// The values that registers and cells of a program can hold.
#[derive(Clone, Debug)]
pub struct Ranges {
    threads: Vec<BodyRanges>,
    /// Only those that are called.
    procedures: Vec<Option<BodyRanges>>,
    memory: Memory,
}

/// The values that registers of one body can hold.
#[derive(Clone, Debug)]
pub(crate) struct BodyRanges {
    rows: Rows,
    /// For each register, over all reachable locations.
    hulls: Vec<Range>,
    /// For each edge whether it can be taken.
    taken: Vec<bool>,
    /// For each edge what it accesses. An await also does that where its condition cannot hold.
    accessed: Vec<Vec<Range>>,
}

impl Ranges {
    /// Analyses a program.
    pub fn of(program: &Program) -> Self {
        Self::of_until(program, &Uninterrupted)
    }

    /// Analyses a program. If that ends early, registers and cells may hold anything: less precise, and still right.
    pub fn of_until(program: &Program, interrupt: &dyn Interrupt) -> Self {
        let called = called_procedures(program);
        let mut bodies: Vec<(&Body, Vec<RegId>)> =
            program.threads.iter().map(|thread| (&thread.body, Vec::new())).collect();
        for procedure in &called {
            let procedure = &program.procedures[procedure.index()];
            let unknown = procedure.parameters.iter().copied().chain(procedure.body.thread_locals()).collect();
            bodies.push((&procedure.body, unknown));
        }
        let (rows, memory) = solve(program, &bodies, interrupt);
        let finished = rows.into_iter().zip(&bodies).map(|(rows, (body, _))| BodyRanges::new(body, rows, &memory));
        let mut finished = finished.collect::<Vec<_>>().into_iter();
        let threads = finished.by_ref().take(program.threads.len()).collect();
        let mut procedures = vec![None; program.procedures.len()];
        for (procedure, ranges) in called.iter().zip(finished) {
            procedures[procedure.index()] = Some(ranges);
        }
        Self { threads, procedures, memory }
    }

    /// The values of a register at a location; nothing if no run gets there.
    pub fn register_at(&self, thread: ThreadId, loc: LocId, register: RegId) -> Option<Range> {
        self.thread(thread).row(loc).map(|row| row[register.index()])
    }

    /// The values of a register at any time.
    pub fn register(&self, thread: ThreadId, register: RegId) -> Range {
        self.thread(thread).hulls[register.index()]
    }

    /// The values of an expression at a location; nothing if no run gets there.
    pub fn value_at(&self, thread: ThreadId, loc: LocId, expr: &RegExpr) -> Option<Range> {
        self.thread(thread).row(loc).map(|row| eval(row, expr))
    }

    /// The values of a cell, in memory or in any buffer.
    pub fn cell(&self, address: Address) -> Range {
        self.memory.cell(address)
    }

    /// The values of all cells that no declaration names.
    pub fn undeclared(&self) -> Range {
        self.memory.elsewhere()
    }

    /// The addresses that an edge may access, for each cell it accesses: one or none, but for a snapshot or an await.
    /// None if no run takes it, or for an await, if no run gets there.
    pub fn addresses_of(&self, thread: ThreadId, edge: EdgeId) -> &[Range] {
        &self.thread(thread).accessed[edge.index()]
    }

    /// Whether some run may take the edge.
    pub fn can_take(&self, thread: ThreadId, edge: EdgeId) -> bool {
        self.thread(thread).can_take(edge)
    }

    /// As [`addresses_of`](Self::addresses_of), for an edge of a procedure.
    pub fn addresses_in(&self, procedure: ProcId, edge: EdgeId) -> &[Range] {
        self.procedure(procedure).map_or(&[], |ranges| &ranges.accessed[edge.index()])
    }

    /// Whether some run may take an edge of a procedure.
    pub fn can_take_in(&self, procedure: ProcId, edge: EdgeId) -> bool {
        self.procedure(procedure).is_some_and(|ranges| ranges.can_take(edge))
    }

    /// Whether some run may get to the location.
    pub fn is_reachable(&self, thread: ThreadId, loc: LocId) -> bool {
        self.thread(thread).row(loc).is_some()
    }

    /// Whether some run may write the cell.
    pub fn may_be_written(&self, address: Address) -> bool {
        self.memory.is_written(address)
    }

    /// What stores to these addresses may put there.
    pub(crate) fn allowed(&self, addresses: Range) -> Range {
        self.memory.allowed(addresses)
    }

    pub(crate) fn thread(&self, thread: ThreadId) -> &BodyRanges {
        &self.threads[thread.index()]
    }

    /// The ranges of a procedure that is called somewhere.
    pub(crate) fn procedure(&self, procedure: ProcId) -> Option<&BodyRanges> {
        self.procedures[procedure.index()].as_ref()
    }
}

impl BodyRanges {
    fn new(body: &Body, rows: Rows, memory: &Memory) -> Self {
        let reachable: Vec<LocId> = body.location_ids().filter(|loc| rows.is_reachable[loc.index()]).collect();
        let mut hulls = rows.at(body.entry).to_vec();
        if rows.is_followed {
            for &loc in &reachable {
                hulls.iter_mut().zip(rows.at(loc)).for_each(|(hull, range)| *hull = hull.hull(*range));
            }
        }
        let mut taken = vec![false; body.edges().len()];
        let mut accessed = vec![Vec::new(); body.edges().len()];
        let mut env = Env::default();
        env.load(rows.at(body.entry));
        for &loc in &reachable {
            rows.load_into(&mut env, loc);
            for (id, edge) in body.edges_from(loc) {
                taken[id.index()] = can_take(body, id, &mut env, memory);
                if taken[id.index()] || matches!(edge.instruction, Instruction::Await { .. }) {
                    accessed[id.index()] = edge.instruction.accesses().map(|address| env.eval(address)).collect();
                }
            }
        }
        Self { rows, hulls, taken, accessed }
    }

    /// The ranges of all registers at a location; nothing if no run gets there.
    pub(crate) fn row(&self, loc: LocId) -> Option<&[Range]> {
        self.rows.is_reachable[loc.index()].then(|| self.rows.at(loc))
    }

    /// Whether some run may take the edge.
    pub(crate) fn can_take(&self, edge: EdgeId) -> bool {
        self.taken[edge.index()]
    }

    /// Whether some run may get to the location.
    pub(crate) fn is_reachable(&self, loc: LocId) -> bool {
        self.rows.is_reachable[loc.index()]
    }
}

/// The procedures that a thread calls, directly or by way of others.
fn called_procedures(program: &Program) -> Vec<ProcId> {
    let calls = |body: &Body| -> Vec<ProcId> {
        let call = |instruction: &Instruction| match instruction {
            Instruction::Call { procedure, .. } => Some(*procedure),
            _ => None,
        };
        body.edges().iter().filter_map(|edge| call(&edge.instruction)).collect()
    };
    let mut is_called = vec![false; program.procedures.len()];
    let mut pending: Vec<ProcId> = program.threads.iter().flat_map(|thread| calls(&thread.body)).collect();
    while let Some(procedure) = pending.pop() {
        if !std::mem::replace(&mut is_called[procedure.index()], true) {
            pending.extend(calls(&program.procedures[procedure.index()].body));
        }
    }
    (0..is_called.len()).filter(|&at| is_called[at]).map(ProcId::new).collect()
}

#[cfg(test)]
mod tests;
