//! The steps of one thread under SC.

use std::collections::HashSet;

use weir_ir::flow::{RegisterSet, live_registers, observed_registers};
use weir_ir::{Address, Edge, Instruction, LocId, Multiplicity, Program, RegExpr, RegId, Rmw, ThreadId, Value};

use super::state::{Access, Boundary, Control, Local, Phase};
use crate::robust::leads_to_load;

/// The program, with what is known about its threads beforehand.
pub(crate) struct Code<'p> {
    pub(crate) program: &'p Program,
    /// The threads of which there is one each, and those of which there are arbitrarily many.
    pub(crate) single: Vec<ThreadId>,
    pub(crate) templates: Vec<ThreadId>,
    /// For each thread and location the live registers.
    live: Vec<Vec<RegisterSet>>,
    /// For each thread and location whether local steps from there may be taken at once.
    is_private: Vec<Vec<bool>>,
    /// For each thread and location whether a load lies ahead, past nothing that drains the buffer.
    pub(super) load_ahead: Vec<Vec<bool>>,
    /// Whether a monitor looks for attacks.
    pub(super) is_monitored: bool,
}

/// More values than this are too many to choose from, and more local states too many to reach by local steps.
pub(super) const MOST_CHOICES: u64 = 10_000;

/// Something the engine cannot follow: a choice among too many values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooManyChoices;

/// Shared and own state after a step; no own state for a thread that has become the attacker.
pub(super) type Next = (Control, Option<Local>);

/// What a thread sees when it looks at a cell, and what it knows of the lock.
pub(super) type Memory<'m> = &'m dyn Fn(Address) -> Value;

impl<'p> Code<'p> {
    /// Prepares a program. `is_observed` says which locations must not be passed over unseen.
    pub(crate) fn new(program: &'p Program, is_observed: &dyn Fn(ThreadId, LocId) -> bool, is_monitored: bool) -> Self {
        let of = |multiplicity| {
            program.thread_ids().filter(move |&thread| program.thread(thread).multiplicity == multiplicity).collect()
        };
        let live = |thread: ThreadId| {
            let body = program.body(thread);
            let live = live_registers(body, &observed_registers(program, thread));
            body.location_ids().map(|at| live.at(at).clone()).collect()
        };
        let is_private = |thread: ThreadId| {
            let body = program.body(thread);
            let observed = observed_registers(program, thread);
            // Nobody can tell where the thread is between such steps, and no property sees what they change.
            let is_unseen = |edge: &Edge| {
                let instruction = &edge.instruction;
                instruction.is_local()
                    && !matches!(instruction, Instruction::Assert(_))
                    && !instruction.defines().any(|register| observed.contains(register))
            };
            let is_private = |at: LocId| {
                let mut edges = body.edges_from(at);
                edges.len() > 0 && !is_observed(thread, at) && edges.all(|(_, edge)| is_unseen(edge))
            };
            body.location_ids().map(is_private).collect()
        };
        Self {
            program,
            single: of(Multiplicity::One),
            templates: of(Multiplicity::Arbitrary),
            live: program.thread_ids().map(live).collect(),
            is_private: program.thread_ids().map(is_private).collect(),
            load_ahead: program.thread_ids().map(|thread| leads_to_load(program.body(thread))).collect(),
            is_monitored,
        }
    }

    /// A thread at its start.
    pub(crate) fn entry(&self, thread: ThreadId) -> Local {
        let body = self.program.body(thread);
        let registers = vec![0; body.registers.len()];
        Local { thread, location: body.entry, registers, holds_lock: false, is_on_path: false }
    }

    pub(crate) fn cell(&self, control: &Control, address: Address) -> Value {
        control.memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }

    fn write(&self, control: &mut Control, address: Address, value: Value) {
        let value = self.program.stored(address, value);
        if value == self.program.initial_value(address) {
            control.memory.remove(&address);
        } else {
            control.memory.insert(address, value);
        }
    }

    /// The thread at another location, where some registers are dead.
    pub(crate) fn moved(&self, mut local: Local, to: LocId) -> Local {
        let live = &self.live[local.thread.index()][to.index()];
        for (register, value) in local.registers.iter_mut().enumerate() {
            if !live.contains(RegId::new(register)) {
                *value = 0;
            }
        }
        local.location = to;
        local
    }

    /// Where the thread gets by local steps that nobody can notice: all states in which it has something else to do, or
    /// from which it can go round without end.
    pub(super) fn settled(&self, local: Local) -> Result<Vec<Local>, TooManyChoices> {
        let (mut seen, mut open) = (HashSet::from([local.clone()]), vec![local.clone()]);
        let (first, mut settled) = (local, Vec::new());
        while let Some(local) = open.pop() {
            if !self.is_private[local.thread.index()][local.location.index()] {
                settled.push(local);
                continue;
            }
            let mut is_blocked = true;
            for (_, edge) in self.program.body(local.thread).edges_from(local.location) {
                for next in self.locally(&local, edge)? {
                    is_blocked = false;
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
                if seen.len() as u64 > MOST_CHOICES {
                    return Err(TooManyChoices);
                }
            }
            if is_blocked {
                settled.push(local);
            }
        }
        // If it can only go round, what it did before must be seen all the same.
        if settled.is_empty() {
            settled.push(first);
        }
        // In the same order every time.
        settled.sort_unstable();
        Ok(settled)
    }

    /// A local step.
    pub(super) fn locally(&self, local: &Local, edge: &Edge) -> Result<Vec<Local>, TooManyChoices> {
        let with = |register: RegId, value: Value| {
            let mut next = local.clone();
            next.registers[register.index()] = value;
            self.moved(next, edge.to)
        };
        Ok(match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => vec![self.moved(local.clone(), edge.to)],
            Instruction::Assign { register, value } => vec![with(*register, eval(local, value))],
            Instruction::Assume(condition) if eval(local, condition) == 0 => Vec::new(),
            Instruction::Assume(_) => vec![self.moved(local.clone(), edge.to)],
            Instruction::Assert(condition) => {
                let failed = self.program.body(local.thread).failed.unwrap_or(edge.to);
                vec![self.moved(local.clone(), if eval(local, condition) == 0 { failed } else { edge.to })]
            }
            Instruction::Havoc { register, range } => {
                // A choice that nobody looks at is none.
                if !self.live[local.thread.index()][edge.to.index()].contains(*register) && range.low <= range.high {
                    return Ok(vec![self.moved(local.clone(), edge.to)]);
                }
                if range.low <= range.high && range.extent() >= MOST_CHOICES {
                    return Err(TooManyChoices);
                }
                (range.low..=range.high).map(|value| with(*register, value)).collect()
            }
            _ => Vec::new(),
        })
    }

    /// What a step under SC leads to, local steps that follow not included.
    pub(crate) fn under_sc(
        &self,
        control: &Control,
        local: &Local,
        edge: &Edge,
    ) -> Result<Vec<(Control, Local)>, TooManyChoices> {
        let (instruction, memory) = (&edge.instruction, |address| self.cell(control, address));
        if instruction.is_local() {
            return Ok(self.locally(local, edge)?.into_iter().map(|next| (control.clone(), next)).collect());
        }
        let is_locked_out = control.is_locked && !local.holds_lock;
        let accesses_memory = instruction.accesses().next().is_some();
        if is_locked_out && accesses_memory {
            return Ok(Vec::new());
        }
        let mut next = (control.clone(), local.clone());
        let goes_on = match instruction {
            Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. } => {
                self.load(&mut next.1, instruction, &memory)
            }
            Instruction::Store { address, value } => {
                let (address, value) = (eval(local, address), eval(local, value));
                self.write(&mut next.0, address, value);
                self.program.admits(address, value)
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let address = eval(local, address);
                let (written, result) = outcome(local, operation, memory(address));
                register.iter().for_each(|register| next.1.registers[register.index()] = result);
                written.iter().for_each(|&value| self.write(&mut next.0, address, value));
                written.is_none_or(|value| self.program.admits(address, value))
            }
            Instruction::Lock => {
                (next.0.is_locked, next.1.holds_lock) = (true, true);
                !control.is_locked
            }
            Instruction::Unlock => {
                (next.0.is_locked, next.1.holds_lock) = (false, false);
                local.holds_lock
            }
            // Buffers are always empty.
            Instruction::Fence | Instruction::Membarrier => true,
            _ => false,
        };
        let (control, local) = next;
        Ok(if goes_on { vec![(control, self.moved(local, edge.to))] } else { Vec::new() })
    }

    /// Loads, all in one step; whether that is possible.
    pub(super) fn load(&self, local: &mut Local, instruction: &Instruction, memory: Memory<'_>) -> bool {
        let found: Vec<(RegId, Value)> = match instruction {
            Instruction::Load { register, address } => vec![(*register, memory(eval(local, address)))],
            other => {
                let loads = other.loads_at_once().unwrap_or_default();
                loads.iter().map(|(register, address)| (*register, memory(eval(local, address)))).collect()
            }
        };
        found.into_iter().for_each(|(register, value)| local.registers[register.index()] = value);
        match instruction {
            Instruction::Await { condition, .. } => eval(local, condition) != 0,
            _ => true,
        }
    }

    /// What a step would access.
    pub(super) fn accesses(
        &self,
        control: &Control,
        local: &Local,
        instruction: &Instruction,
    ) -> Vec<(Address, Access)> {
        match instruction {
            Instruction::Store { address, .. } => vec![(eval(local, address), Access::Store)],
            Instruction::ReadModifyWrite { address, operation, .. } => {
                let address = eval(local, address);
                let (written, _) = outcome(local, operation, self.cell(control, address));
                vec![(address, if written.is_some() { Access::Store } else { Access::Load })]
            }
            other => other.accesses().map(|address| (eval(local, address), Access::Load)).collect(),
        }
    }

    /// All steps of a thread.
    pub(super) fn steps(
        &self,
        control: &Control,
        local: &Local,
        visit: &mut dyn FnMut(Next),
    ) -> Result<(), TooManyChoices> {
        for (_, edge) in self.program.body(local.thread).edges_from(local.location) {
            self.take(control, local, edge, visit)?;
        }
        Ok(())
    }

    fn take(
        &self,
        control: &Control,
        local: &Local,
        edge: &Edge,
        visit: &mut dyn FnMut(Next),
    ) -> Result<(), TooManyChoices> {
        let (mut phase, mut is_on_path) = (control.phase.clone(), local.is_on_path);
        match &control.phase {
            Phase::Before => self.begin(control, local, edge, visit)?,
            // It waits until the attacker's buffer is empty.
            _ if edge.instruction == Instruction::Membarrier => return Ok(()),
            Phase::Delaying(_) => {}
            Phase::Path(path) => {
                let accesses = self.accesses(control, local, &edge.instruction);
                let Some((path, joined)) = path.after(local, &accesses, boundary(&edge.instruction)) else {
                    return Ok(());
                };
                (phase, is_on_path) = (Phase::Path(path), joined);
            }
        }
        for (next, own) in self.under_sc(control, local, edge)? {
            let next = Control { phase: phase.clone(), ..next };
            for own in self.settled(Local { is_on_path, ..own })? {
                visit((next.clone(), Some(own)));
            }
        }
        Ok(())
    }
}

fn boundary(instruction: &Instruction) -> Boundary {
    match instruction {
        Instruction::Lock => Boundary::Lock,
        Instruction::Unlock => Boundary::Unlock,
        _ => Boundary::Inside,
    }
}

/// What an expression is for a thread.
pub(crate) fn eval(local: &Local, expr: &RegExpr) -> Value {
    expr.eval(&mut |register| local.registers[register.index()])
}

/// What a read-modify-write writes, if anything, and its result.
fn outcome(local: &Local, operation: &Rmw, read: Value) -> (Option<Value>, Value) {
    match operation {
        Rmw::CompareAndSwap { expected, new } => {
            let succeeds = eval(local, expected) == read;
            (succeeds.then(|| eval(local, new)), succeeds.into())
        }
        Rmw::CompareExchange { expected, new } => ((eval(local, expected) == read).then(|| eval(local, new)), read),
        Rmw::Exchange(value) => (Some(eval(local, value)), read),
        Rmw::Fetch(operation, value) => (Some(operation.operator().apply(read, eval(local, value))), read),
    }
}
