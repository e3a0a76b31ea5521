//! From a program to a [`Machine`].

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use weir_ir::flow::{Liveness, Ranges, Webs, live_registers, observed_registers};
use weir_ir::{
    Body, Edge, EdgeId, Expr, Instruction, LocId, Multiplicity, Program, PropertyId, PropertyKind, Range, RegExpr,
    RegId, StateAtom, StateExpr, ThreadId, UnaryOp, Value,
};
use weir_witness::{Action, Buffering, Goal, Step};

use super::StepCode;
use super::abstraction::pool::Pool;
use super::buffers::Buffers;
use super::code::Code;
use super::goals::{Goals, Recurring};
use super::intern::Interner;
use super::layout::{Layout, Requirements, Storage, Undeclared};
use super::machine::{EdgeCode, Machine, Operand, Operation, Place, Rmw, ThreadCode};
use super::refuse;
use super::size::MOST_WORDS;
use super::slots::Slots;
use super::state::{Field, Patch, ZeroTest};
use crate::session::Session;
use crate::verdict::Failure;

/// What the machine is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose<'a> {
    pub(crate) keep_dead_registers: bool,
    /// Whether stores wait in buffers.
    pub(crate) buffered: bool,
    /// Whether a monitor goes along, which needs a field for what it remembers.
    pub(crate) monitored: bool,
    pub(crate) goals: &'a [Goal],
    /// Of a program that a translation made: for each thread and location, whether stores may be delayed there, so that
    /// a membarrier has to wait. Empty if that is so nowhere.
    pub(crate) keeps_back: &'a [Vec<bool>],
}

/// A machine, and how its threads and steps are called in the program.
pub(crate) struct Compiled {
    pub(crate) machine: Machine,
    /// The threads that run, in order.
    pub(crate) threads: Vec<ThreadId>,
    /// The values that registers and cells can hold.
    pub(crate) ranges: Ranges,
    plans: Vec<Plan>,
}

impl Compiled {
    /// Whether the threads at these positions keep their registers in the same way.
    pub(crate) fn have_same_layout(&self, one: usize, other: usize) -> bool {
        self.plans[one].slots == self.plans[other].slots
    }

    /// The registers of the thread at this position that are live at `loc`, and where their values are.
    pub(crate) fn live_fields(&self, position: usize, loc: LocId) -> impl Iterator<Item = (RegId, Field)> {
        let (plan, slots) = (&self.plans[position], &self.machine.layout.threads[position].1);
        let fields = (0..).map(RegId).zip(&plan.slots.of_register);
        let live = fields.filter(move |(register, _)| plan.is_live(loc, *register));
        live.filter_map(|(register, slot)| slot.map(|(slot, range)| (register, slots[slot].based_at(range.low))))
    }

    /// The live ranges of the registers of the thread at this position, which has this body.
    pub(crate) fn webs(&self, body: &Body, position: usize) -> Webs {
        self.plans[position].live.as_ref().map_or_else(|| Webs::one_per_register(body), |live| Webs::of(body, live))
    }

    /// The step of a number.
    pub(crate) fn step(&self, code: StepCode) -> Step {
        if let Some(position) = code.number.checked_sub(self.machine.edge_count) {
            return Step { thread: self.threads[position as usize], action: Action::Flush };
        }
        let (thread, edge) = self.edge(code.number);
        Step { thread, action: Action::Execute { edge, choice: code.choice } }
    }

    /// The edge of a number below the number of edges.
    pub(crate) fn edge(&self, number: u32) -> (ThreadId, EdgeId) {
        let threads = &self.machine.threads;
        let position = threads.partition_point(|thread| thread.first_number <= number) - 1;
        (self.threads[position], EdgeId(number - threads[position].first_number))
    }
}

/// Makes a program ready to run. The program must be valid, and free of calls and arbitrarily many threads. A `spawn`
/// waits until there is an instance that has not started.
///
/// # Errors
/// If states would be too large, or the session ended first.
pub(crate) fn compile(program: &Program, purpose: Purpose<'_>, session: &Session) -> Result<Compiled, Failure> {
    let ranges = Ranges::of_until(program, session);
    stop_if_exceeded(session)?;
    let threads: Vec<ThreadId> = program.running_threads().collect();
    let plans: Vec<Plan> = threads.iter().map(|&thread| Plan::new(program, thread, &ranges, purpose)).collect();
    stop_if_exceeded(session)?;
    let requirements = requirements(program, &threads, &plans, &ranges, purpose);
    let mut layout = Layout::new(program, &ranges, &requirements, Undeclared::Fields);
    if layout.words > MOST_WORDS {
        layout = Layout::new(program, &ranges, &requirements, Undeclared::Interned);
    }
    if layout.words > MOST_WORDS {
        return Err(refuse::too_large(program, layout.words));
    }
    let compiler = Compiler { program, threads: &threads, plans: &plans, layout: &layout };
    let mut edge_count = 0;
    let mut codes = Vec::new();
    for (position, &thread) in threads.iter().enumerate() {
        stop_if_exceeded(session)?;
        codes.push(compiler.thread(position, edge_count));
        edge_count += program.body(thread).edges().len() as u32;
    }
    let machine = Machine {
        threads: codes,
        goals: compiler.goals(purpose.goals),
        initial: compiler.initial(),
        edge_count,
        keeps_back: keeps_back(&threads, &layout, purpose.keeps_back),
        buffers: Buffers::new(),
        abstraction: Pool::new(Buffering::Coherence(0)),
        heaps: Interner::new(),
        monitor_rows: Interner::new(),
        blocked_by_range: (0..edge_count).map(|_| AtomicBool::new(false)).collect(),
        fault: OnceLock::new(),
        layout,
    };
    Ok(Compiled { machine, threads, ranges, plans })
}

/// For each thread that may keep stores back the field of its location, and whether it does so at each.
fn keeps_back(threads: &[ThreadId], layout: &Layout, given: &[Vec<bool>]) -> Vec<(Field, Vec<bool>)> {
    let numbered = threads.iter().zip(&layout.threads);
    let known = numbered.filter_map(|(thread, (location, _))| Some((*location, given.get(thread.index())?.clone())));
    known.filter(|(_, keeps)| keeps.contains(&true)).collect()
}

/// # Errors
/// The limit of the session that was reached, if any.
fn stop_if_exceeded(session: &Session) -> Result<(), Failure> {
    session.exceeded_before_work().map_or(Ok(()), |limit| Err(Failure::Stopped(limit)))
}

/// Which registers of a thread are kept where.
struct Plan {
    /// `None`: dead registers are kept.
    live: Option<Liveness>,
    slots: Slots,
}

impl Plan {
    fn new(program: &Program, thread: ThreadId, ranges: &Ranges, purpose: Purpose<'_>) -> Self {
        let body = program.body(thread);
        if purpose.keep_dead_registers {
            return Self { live: None, slots: Slots::separate(body, |reg| ranges.register(thread, reg)) };
        }
        let live = live_registers(body, &observed_registers(program, thread));
        let slots = Slots::shared(body, &live, |loc, reg| ranges.register_at(thread, loc, reg));
        Self { live: Some(live), slots }
    }

    fn is_live(&self, loc: LocId, register: RegId) -> bool {
        self.live.as_ref().is_none_or(|live| live.at(loc).contains(register))
    }
}

fn requirements(
    program: &Program,
    threads: &[ThreadId],
    plans: &[Plan],
    ranges: &Ranges,
    purpose: Purpose<'_>,
) -> Requirements {
    let mut requirements = Requirements { monitor: purpose.monitored, ..Requirements::default() };
    for (&thread, plan) in threads.iter().zip(plans) {
        let body = program.body(thread);
        let stores = body.edges().iter().any(|edge| edge.instruction.is_store());
        let locations = body.locations.len() + usize::from(starts_late(program, thread));
        requirements.threads.push((locations, plan.slots.widths.clone()));
        requirements.buffers.push(purpose.buffered && stores);
        requirements.lock |= body.takes_lock();
        let edges = (0..body.edges().len()).map(EdgeId::new);
        requirements.addresses.extend(edges.flat_map(|edge| ranges.addresses_of(thread, edge)));
    }
    for property in &program.properties {
        if let Some(condition) = property.kind.condition() {
            condition.for_each_leaf(&mut |atom| {
                if let StateAtom::Cell(address) = atom {
                    requirements.addresses.push(Range::single(*address));
                }
            });
        }
    }
    requirements
}

/// Whether a thread runs only once it is spawned. Until then it is at a location of its own, after all others.
fn starts_late(program: &Program, thread: ThreadId) -> bool {
    program.thread(thread).multiplicity == Multiplicity::Spawned
}

/// Where a thread is until it is spawned.
fn not_started(program: &Program, thread: ThreadId) -> Option<usize> {
    starts_late(program, thread).then(|| program.body(thread).locations.len())
}

struct Compiler<'a> {
    program: &'a Program,
    threads: &'a [ThreadId],
    plans: &'a [Plan],
    layout: &'a Layout,
}

impl Compiler<'_> {
    fn thread(&self, position: usize, first_number: u32) -> ThreadCode {
        let body = self.program.body(self.threads[position]);
        let mut first = vec![0];
        for loc in body.location_ids() {
            first.push(first.last().copied().unwrap_or(0) + body.edges_from(loc).len() as u32);
        }
        if starts_late(self.program, self.threads[position]) {
            first.push(first.last().copied().unwrap_or(0));
        }
        let numbered = (first_number..).zip(body.edges());
        let edges = numbered.map(|(number, edge)| self.edge(position, number, edge)).collect();
        ThreadCode { first_number, location: self.layout.threads[position].0, first, edges }
    }

    fn edge(&self, position: usize, number: u32, edge: &Edge) -> EdgeCode {
        EdgeCode { number, patch: self.patch(position, edge.to), operation: self.operation(position, edge) }
    }

    /// Moves to a location and clears what is dead there.
    fn patch(&self, position: usize, to: LocId) -> Patch {
        let mut patch = Patch::default();
        let (plan, (location, slots)) = (&self.plans[position], &self.layout.threads[position]);
        // A slot is cleared unless a register that shares it is live at the target.
        let mut used = vec![plan.live.is_none(); slots.len()];
        let live = plan.live.iter().flat_map(|live| live.at(to).iter());
        for (slot, _) in live.filter_map(|register| plan.slots.of_register[register.index()]) {
            used[slot] = true;
        }
        for (slot, _) in slots.iter().zip(used).filter(|(_, used)| !used) {
            patch.clear(*slot);
        }
        patch.put(*location, to.index() as u64);
        patch
    }

    /// The register's field, whether or not it is live.
    fn field(&self, position: usize, register: RegId) -> Option<Field> {
        let (slot, range) = self.plans[position].slots.of_register[register.index()]?;
        Some(self.layout.threads[position].1[slot].based_at(range.low))
    }

    /// Where to put a new value of the register on the way to `to`.
    fn result(&self, position: usize, to: LocId, register: RegId) -> Option<Field> {
        self.plans[position].is_live(to, register).then(|| self.field(position, register)).flatten()
    }

    fn code(&self, position: usize, expr: &RegExpr) -> Code {
        // A register that is read is live; one without a field can only stand in code that never runs.
        Code::new(expr, &mut |&register| self.field(position, register).map_or(Code::Const(0), Code::Field))
    }

    fn place(&self, position: usize, address: &RegExpr) -> Place {
        match self.code(position, address) {
            Code::Const(address) => Place::Fixed(self.layout.cells.target(address)),
            address => Place::Computed(address),
        }
    }

    fn operation(&self, position: usize, edge: &Edge) -> Operation {
        let code = |expr| self.code(position, expr);
        let place = |address: &RegExpr| self.place(position, address);
        let result = |register| self.result(position, edge.to, register);
        match &edge.instruction {
            Instruction::Load { register, address } => Operation::Load(result(*register), place(address)),
            Instruction::Snapshot(loads) => {
                let load = |(register, address): &(RegId, RegExpr)| (result(*register), place(address));
                Operation::Snapshot(loads.iter().map(load).collect())
            }
            Instruction::Await { loads, condition } => {
                let load = |(register, address): &(RegId, RegExpr)| (result(*register), place(address));
                Operation::Await(loads.iter().map(load).collect(), self.wait_condition(position, loads, condition))
            }
            Instruction::Store { address, value } => Operation::Store(place(address), code(value)),
            Instruction::Fence => Operation::Fence,
            Instruction::Membarrier => Operation::Membarrier,
            Instruction::Assign { register, value } => Operation::Assign(result(*register), code(value)),
            Instruction::Assume(condition) => Operation::Assume(code(condition)),
            Instruction::Assert(condition) => Operation::Assert(code(condition), self.failure(position, edge)),
            Instruction::ReadModifyWrite { register, address, operation } => {
                let register = register.and_then(result);
                Operation::ReadModifyWrite(register, place(address), self.rmw(position, operation))
            }
            Instruction::Lock => Operation::Lock,
            Instruction::Unlock => Operation::Unlock,
            Instruction::Havoc { register, range } => Operation::Havoc(result(*register), *range),
            Instruction::Skip | Instruction::Terminate => Operation::Skip,
            Instruction::Spawn(thread) => Operation::Spawn(self.instances(*thread)),
            // Refused before: see `reach`.
            Instruction::Call { .. } | Instruction::Return(_) => Operation::Assume(Code::Const(0)),
        }
    }

    /// For each instance of a thread the field of its location, where it is until it starts, and where it starts. Its
    /// registers hold what they do at the start from the beginning.
    fn instances(&self, thread: ThreadId) -> Vec<(Field, u64, u64)> {
        let instance = |thread: ThreadId| {
            let location = self.layout.threads[self.position(thread)?].0;
            let absent = not_started(self.program, thread)?;
            Some((location, absent as u64, self.program.body(thread).entry.index() as u64))
        };
        self.program.instances(thread).filter_map(instance).collect()
    }

    /// The condition of an await: of the registers that it loads, it means what was just loaded.
    fn wait_condition(&self, position: usize, loads: &[(RegId, RegExpr)], condition: &RegExpr) -> Expr<Operand> {
        condition.map(&mut |&register| {
            let loaded = loads.iter().position(|(other, _)| *other == register).map(Operand::Loaded);
            let kept = || self.field(position, register).map(Operand::Field);
            // As in `code`: without a field it can only stand in code that never runs.
            loaded.or_else(kept).map_or(Expr::Const(0), Expr::Leaf)
        })
    }

    fn failure(&self, position: usize, edge: &Edge) -> Patch {
        let body = self.program.body(self.threads[position]);
        self.patch(position, body.failed.unwrap_or(edge.from))
    }

    fn rmw(&self, position: usize, rmw: &weir_ir::Rmw) -> Rmw {
        let code = |expr| self.code(position, expr);
        match rmw {
            weir_ir::Rmw::CompareAndSwap { expected, new } => Rmw::CompareAndSwap(code(expected), code(new)),
            weir_ir::Rmw::CompareExchange { expected, new } => Rmw::CompareExchange(code(expected), code(new)),
            weir_ir::Rmw::Exchange(value) => Rmw::Exchange(code(value)),
            weir_ir::Rmw::Fetch(combine, value) => Rmw::Fetch(combine.operator(), code(value)),
        }
    }

    fn initial(&self) -> Vec<(Field, u64)> {
        let mut initial = Vec::new();
        for (position, &thread) in self.threads.iter().enumerate() {
            let body = self.program.body(thread);
            let location = not_started(self.program, thread).unwrap_or(body.entry.index());
            initial.push((self.layout.threads[position].0, location as u64));
            for register in (0..body.registers.len()).map(RegId::new) {
                if let Some(field) = self.result(position, body.entry, register) {
                    initial.push((field, raw(field, 0)));
                }
            }
        }
        for cell in self.layout.cells.iter() {
            if let Storage::Field(field) = cell.storage {
                initial.push((field, raw(field, cell.initial)));
            }
        }
        initial
    }

    fn goals(&self, goals: &[Goal]) -> Goals {
        let mut compiled = Goals {
            done: (0..self.threads.len()).map(|position| self.done(position)).collect(),
            all_drained: ZeroTest::new(self.layout.buffers.iter().flatten().copied()),
            ..Goals::default()
        };
        for &goal in goals {
            match goal {
                Goal::Assertion(thread) => {
                    if let Some(failed) = self.program.body(thread).failed {
                        compiled.assertions.push((goal, self.at(thread, &[failed])));
                    }
                }
                Goal::Property(property) => self.property(&mut compiled, goal, property),
                // A matter of whole runs, not of states: see `robust`.
                Goal::NotRobust => {}
            }
        }
        compiled
    }

    fn property(&self, goals: &mut Goals, goal: Goal, property: PropertyId) {
        match &self.program.properties[property.index()].kind {
            PropertyKind::Forbid(condition) => goals.drained.push((goal, self.state_code(condition))),
            PropertyKind::ForbidDeadlock => goals.deadlock = goals.deadlock.or(Some(goal)),
            PropertyKind::Exists(condition) => goals.finals.push((goal, self.state_code(condition))),
            PropertyKind::Always(condition) => {
                let violated = StateExpr::unary(UnaryOp::Not, condition.clone());
                goals.finals.push((goal, self.state_code(&violated)));
            }
            PropertyKind::Live(condition) => {
                let mut needs_drained = false;
                condition.for_each_leaf(&mut |atom| needs_drained |= matches!(atom, StateAtom::Cell(_)));
                goals.recurring.push(Recurring { condition: self.state_code(condition), needs_drained });
            }
            // A matter of places alone.
            PropertyKind::ForbidStuck => {}
        }
    }

    fn state_code(&self, condition: &StateExpr) -> Code {
        Code::new(condition, &mut |atom| self.atom(atom))
    }

    fn atom(&self, atom: &StateAtom) -> Code {
        match atom {
            StateAtom::At { thread, locations } => self.at(*thread, locations),
            StateAtom::Register { thread, register } => {
                let field = self.position(*thread).and_then(|position| self.field(position, *register));
                field.map_or(Code::Const(0), Code::Field)
            }
            StateAtom::Cell(address) => match self.layout.cells.target(*address) {
                super::layout::Target::Cell(number) => {
                    let cell = self.layout.cells.cell(number);
                    match cell.storage {
                        Storage::Field(field) => Code::Field(field),
                        Storage::Constant => Code::Const(cell.initial),
                    }
                }
                // The layout gives every address that a property names a place of its own.
                super::layout::Target::Heap(_) => Code::Const(0),
            },
        }
    }

    fn at(&self, thread: ThreadId, locations: &[LocId]) -> Code {
        let Some(position) = self.position(thread) else { return Code::Const(0) };
        Code::member(self.layout.threads[position].0, locations.iter().map(|loc| loc.index()))
    }

    fn done(&self, position: usize) -> Code {
        let thread = self.threads[position];
        let body: &Body = self.program.body(thread);
        let done = body.location_ids().filter(|&loc| body.is_done(loc)).map(LocId::index);
        Code::member(self.layout.threads[position].0, done.chain(not_started(self.program, thread)))
    }

    fn position(&self, thread: ThreadId) -> Option<usize> {
        self.threads.iter().position(|&present| present == thread)
    }
}

fn raw(field: Field, value: Value) -> u64 {
    // The range analysis starts from the initial values, so they fit.
    value.wrapping_sub(field.low) as u64 & field.mask
}
