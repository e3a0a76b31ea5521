//! Recursive procedures as copies of their code, one per depth of the stack; for the same memory model.
//!
//! ```text
//! proc f(n) { if n > 0 { f(n - 1); } }        thread P { f(5); }
//!
//! becomes, with stacks of at most two frames,
//!
//! thread P {                       f1:  if n1 > 0 {             f2:  if n2 > 0 {
//!     n1 = 5; jump f1;                      n2 = n1 - 1;                 // beyond the bound
//! back:                                     jump f2;                 }
//! }                                     }                            jump back_from_f2;
//!                                   back_from_f2: jump back;
//! }
//! ```
//!
//! A procedure is there once per depth, however often it is called: where a procedure may return to several calls, a
//! register says to which. So the result grows in proportion to the bound, and its runs are those of the program in
//! which no stack gets deeper. A call takes as many local steps as registers are set, and the last of them is the one
//! that stands for the call; places in between count as the place of the call. So no state can be observed that the
//! program does not have.
//!
//! What lies beyond a bound never makes an answer wrong. With [`Purpose::Search`], a thread that is about to call a
//! procedure beyond the bound, or to start a thread beyond the last instance, stays where it is forever, and takes
//! steps there so that this is no deadlock: every run is a run of the program, and every state of it is one of the
//! program. With [`Purpose::Alarm`] it fails an assertion instead, and no other assertion fails: the result has a
//! failing assertion exactly if some run of the program goes beyond the bound.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::flow::{RegisterSet, live_registers};
use weir_ir::{
    BinaryOp, Body, BodyBuilder, Edge, EdgeId, Expr, Frame, Gather, Instruction, LocId, ProcId, Program, Property,
    RegId, Register, Span, StateAtom, StateExpr, ThreadId, UnaryOp, Value,
};
use weir_witness::{Action, Run, Step};

use super::Translation;

/// What the result is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To look for goals in runs within the bound.
    Search,
    /// To find out whether there are runs beyond the bound.
    Alarm,
}

/// A program with unrolled procedures.
#[derive(Clone, Debug)]
pub struct Unrolled {
    program: Program,
    /// For each thread and edge, the edge of the linked program that it stands for, if any.
    executes: Vec<Vec<Option<EdgeId>>>,
    /// The threads whose stack may get too deep.
    deep: Vec<ThreadId>,
    /// The last instances of threads that are spawned.
    last: Vec<ThreadId>,
}

/// The result would be too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Analyses keep a range for every register at every location: at most so many of them are made.
const MOST_RANGES: usize = 6_000_000;

impl Unrolled {
    /// For each thread and edge, the edge of the linked program that it stands for, if any.
    pub fn executes(&self) -> &[Vec<Option<EdgeId>>] {
        &self.executes
    }

    /// The threads whose stack may get too deep. With [`Purpose::Alarm`], their assertions fail if it does.
    pub fn deep_threads(&self) -> &[ThreadId] {
        &self.deep
    }

    /// The last instances of threads that are spawned. With [`Purpose::Alarm`], their assertions fail if they start.
    pub fn last_instances(&self) -> &[ThreadId] {
        &self.last
    }
}

impl Translation for Unrolled {
    fn program(&self) -> &Program {
        &self.program
    }

    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        let original = |step: &Step| match step.action {
            Action::Flush => Some(*step),
            Action::Execute { edge, choice } => {
                let edge = self.executes[step.thread.index()][edge.index()]?;
                Some(Step { action: Action::Execute { edge, choice }, ..*step })
            }
        };
        Run { model: run.model, steps: run.steps.iter().filter_map(original).collect() }
    }
}

/// Unrolls the procedures of a [linked](Program::linked) program for stacks of at most so many frames.
///
/// # Errors
/// If the result would be too large.
pub fn unroll(linked: &Program, frames: u32, purpose: Purpose) -> Result<Unrolled, TooLarge> {
    let last = last_instances(linked);
    let mut unrolled = Unrolled {
        program: linked.clone(),
        executes: Vec::new(),
        deep: Vec::new(),
        last: last.iter().copied().collect(),
    };
    let mut images = Vec::new();
    let mut size = 0;
    for thread in linked.thread_ids() {
        let body = linked.body(thread);
        let done = if purpose == Purpose::Alarm && last.contains(&thread) {
            alarm(body)
        } else {
            let plan = Plan::new(body, frames, MOST_RANGES - size)?;
            size += plan.size();
            Unroller::new(linked, body, &plan, purpose).run()
        };
        if done.is_deep {
            unrolled.deep.push(thread);
        }
        unrolled.program.threads[thread.index()].body = done.body;
        unrolled.executes.push(done.executes);
        images.push(done.images);
    }
    unrolled.program.procedures = Vec::new();
    let observed = |condition: &StateExpr| condition.map(&mut |atom| Expr::Leaf(observed(atom, &images)));
    let kind = |property: &Property| property.kind.map_condition(observed);
    unrolled.program.properties =
        linked.properties.iter().map(|one| Property { kind: kind(one), span: one.span }).collect();
    Ok(unrolled)
}

/// For each thread that is spawned, its last instance.
fn last_instances(linked: &Program) -> BTreeSet<ThreadId> {
    let can_be_spawned = linked.can_be_spawned();
    let started = linked.thread_ids().filter(|thread| can_be_spawned[thread.index()]);
    started.filter_map(|thread| linked.instances(thread).last()).gather()
}

fn observed(atom: &StateAtom, images: &[Vec<Vec<LocId>>]) -> StateAtom {
    let StateAtom::At { thread, locations } = atom else { return atom.clone() };
    let images = &images[thread.index()];
    let mut found: Vec<LocId> = locations.iter().flat_map(|location| &images[location.index()]).copied().collect();
    found.sort_unstable();
    StateAtom::At { thread: *thread, locations: found }
}

/// The body of one thread.
struct Done {
    body: Body,
    executes: Vec<Option<EdgeId>>,
    /// For each location of the linked body, the locations that count as it.
    images: Vec<Vec<LocId>>,
    is_deep: bool,
}

/// A thread that fails an assertion as soon as it starts.
fn alarm(body: &Body) -> Done {
    let mut builder: BodyBuilder<Option<EdgeId>> = BodyBuilder::new(body.registers.clone(), []);
    let [entry, end, failed] = [(); 3].map(|()| builder.location(Span::default()));
    builder.edge(Edge { from: entry, to: end, instruction: never(), span: Span::default() }, None);
    let (new, executes) = builder.finish(entry, Some(failed));
    Done { body: new, executes, images: vec![Vec::new(); body.locations.len()], is_deep: false }
}

fn never() -> Instruction {
    Instruction::Assert(Expr::Const(0))
}

/// A copy of the thread's own code, or of a procedure at some depth.
type Copy = (u32, Option<ProcId>);

/// Which copies there are, and who calls them.
struct Plan<'a> {
    body: &'a Body,
    frames: u32,
    /// Each copy, with the number of its first location and of its first register.
    copies: BTreeMap<Copy, (usize, usize)>,
    /// The calls that lead to each copy: the copy they are in, and the edge.
    callers: BTreeMap<Copy, Vec<(Copy, EdgeId)>>,
    locations: usize,
    registers: usize,
}

impl<'a> Plan<'a> {
    /// # Errors
    /// If analyses would have to keep more ranges than these.
    fn new(body: &'a Body, frames: u32, most: usize) -> Result<Self, TooLarge> {
        let linked = || body.frames.iter().flatten();
        let own_locations = body.locations.len() - linked().map(|frame| frame.location_count).sum::<usize>();
        let own_registers = body.registers.len() - linked().map(|frame| frame.registers.len()).sum::<usize>();
        let mut plan = Self {
            body,
            frames,
            copies: BTreeMap::from([((0, None), (0, 0))]),
            callers: BTreeMap::new(),
            locations: own_locations,
            registers: own_registers,
        };
        let mut level: BTreeSet<Copy> = BTreeSet::from([(0, None)]);
        while let Some(&(depth, _)) = level.first().filter(|(depth, _)| *depth < frames) {
            let mut next = BTreeSet::new();
            for copy in level {
                for (id, procedure) in plan.calls(copy) {
                    let callee = (depth + 1, Some(procedure));
                    plan.callers.entry(callee).or_default().push((copy, id));
                    next.insert(callee);
                }
            }
            for &callee in &next {
                let Some(frame) = plan.frame(callee) else { continue };
                let (locations, registers) = (frame.location_count, frame.registers.len());
                plan.copies.insert(callee, (plan.locations, plan.registers));
                plan.locations += locations;
                plan.registers += registers + 1;
                if plan.size() > most {
                    return Err(TooLarge);
                }
            }
            level = next;
        }
        Ok(plan)
    }

    fn size(&self) -> usize {
        self.locations.saturating_mul(self.registers.max(1))
    }

    fn frame(&self, copy: Copy) -> Option<&'a Frame> {
        self.body.frames.get(copy.1?.index())?.as_ref()
    }

    /// The locations of the linked body that a copy is made of.
    fn originals(&self, copy: Copy) -> std::ops::Range<usize> {
        let own = || self.body.frames.iter().flatten().map(|frame| frame.first_location.index()).min();
        match self.frame(copy) {
            Some(frame) => frame.first_location.index()..frame.first_location.index() + frame.location_count,
            None => 0..own().unwrap_or(self.body.locations.len()),
        }
    }

    /// The edges of the linked body that a copy is made of.
    fn edges(&self, copy: Copy) -> impl Iterator<Item = (EdgeId, &'a Edge)> {
        let body = self.body;
        self.originals(copy).map(LocId::new).flat_map(move |location| body.edges_from(location))
    }

    fn calls(&self, copy: Copy) -> Vec<(EdgeId, ProcId)> {
        let call = |(id, edge): (EdgeId, &Edge)| match edge.instruction {
            Instruction::Call { procedure, .. } => Some((id, procedure)),
            _ => None,
        };
        self.edges(copy).filter_map(call).collect()
    }

    fn location(&self, copy: Copy, original: LocId) -> LocId {
        LocId::new(self.copies[&copy].0 + original.index() - self.originals(copy).start)
    }

    fn register(&self, copy: Copy, original: RegId) -> RegId {
        let Some(frame) = self.frame(copy) else { return original };
        // Thread-local variables are not among the registers of the procedure.
        match frame.registers.binary_search(&original) {
            Ok(at) => RegId::new(self.copies[&copy].1 + at),
            Err(_) => original,
        }
    }

    /// The register that says where a copy returns to, if there are several such places.
    fn return_register(&self, copy: Copy) -> Option<RegId> {
        let has_several = self.callers.get(&copy).is_some_and(|callers| callers.len() > 1);
        let count = self.frame(copy)?.registers.len();
        has_several.then(|| RegId::new(self.copies[&copy].1 + count))
    }
}

struct Unroller<'a> {
    plan: &'a Plan<'a>,
    purpose: Purpose,
    builder: BodyBuilder<Option<EdgeId>>,
    images: Vec<Vec<LocId>>,
    failed: Option<LocId>,
    /// For each procedure, the registers that may be read before they are set.
    live: Vec<RegisterSet>,
    /// For each procedure, its registers other than thread-local variables.
    own: Vec<Vec<RegId>>,
    /// The locations that have a step that changes nothing.
    idle: BTreeSet<LocId>,
    is_deep: bool,
}

impl<'a> Unroller<'a> {
    fn new(linked: &Program, body: &Body, plan: &'a Plan<'a>, purpose: Purpose) -> Self {
        let copies = plan.copies.keys().map(|copy| (plan.copies[copy], *copy)).gather::<BTreeMap<_, _>>();
        let mut registers: Vec<Register> = body.registers[..own_registers(body)].to_vec();
        let mut locations = Vec::new();
        let mut images = vec![Vec::new(); body.locations.len()];
        for &copy in copies.values() {
            for original in plan.originals(copy).map(LocId::new) {
                images[original.index()].push(plan.location(copy, original));
                locations.push(body.locations[original.index()].clone());
            }
            if let Some(frame) = plan.frame(copy) {
                let of_frame = frame.registers.iter().map(|register| &body.registers[register.index()]);
                // Exports write the names of temporaries as they are.
                let name = |one: &Register| match one.is_temporary {
                    true => one.name.replace('.', "_"),
                    false => one.name.clone(),
                };
                let named = |one: &Register| Register { name: format!("{}_{}", name(one), copy.0), ..one.clone() };
                registers.extend(of_frame.map(named));
                let name = format!("_back{}_{}", copy.0, copy.1.map_or(0, |procedure| procedure.0));
                registers.push(Register { name, is_temporary: true, is_thread_local: false, span: Span::default() });
            }
        }
        let mut builder = BodyBuilder::new(registers, []);
        for location in locations {
            builder.labelled_location(location);
        }
        let asserts = body.failed.is_some() || purpose == Purpose::Alarm;
        let failed = match body.failed {
            Some(failed) if failed.index() < plan.originals((0, None)).end => Some(failed),
            _ => asserts.then(|| builder.location(Span::default())),
        };
        if let (Some(original), Some(failed)) = (body.failed, failed) {
            images[original.index()] = vec![failed];
        }
        let nothing = RegisterSet::new();
        let live = |procedure: &weir_ir::Procedure| {
            live_registers(&procedure.body, &nothing).at(procedure.body.entry).iter().collect()
        };
        let live = linked.procedures.iter().map(live).collect();
        let own = |procedure: &weir_ir::Procedure| {
            let all = (0..procedure.body.registers.len()).map(RegId::new);
            all.filter(|register| !procedure.body.registers[register.index()].is_thread_local).collect()
        };
        let own = linked.procedures.iter().map(own).collect();
        Self { plan, purpose, builder, images, failed, live, own, idle: BTreeSet::new(), is_deep: false }
    }

    fn run(mut self) -> Done {
        let plan = self.plan;
        for &copy in plan.copies.keys() {
            for (id, edge) in plan.edges(copy) {
                self.edge(copy, id, edge);
            }
        }
        let (body, executes) = self.builder.finish(plan.body.entry, self.failed);
        Done { body, executes, images: self.images, is_deep: self.is_deep }
    }

    fn edge(&mut self, copy: Copy, id: EdgeId, edge: &Edge) {
        let from = self.plan.location(copy, edge.from);
        match &edge.instruction {
            Instruction::Call { procedure, arguments, .. } if copy.0 < self.plan.frames => {
                self.call((copy, from), (id, edge), *procedure, arguments);
            }
            Instruction::Call { .. } => self.too_deep(from, edge.span),
            Instruction::Return(value) => self.give_back((copy, from), (id, edge), value),
            Instruction::Assert(condition) if self.purpose == Purpose::Alarm => {
                // Another assertion that fails is not what is asked; the thread stops there.
                let condition = self.renamed(copy, condition);
                let stop = self.builder.location(edge.span);
                let fails = Expr::unary(UnaryOp::Not, condition.clone());
                let to = self.plan.location(copy, edge.to);
                self.step(from, to, Instruction::Assume(condition), edge.span, Some(id));
                self.step(from, stop, Instruction::Assume(fails), edge.span, Some(id));
            }
            instruction => {
                let plan = self.plan;
                let instruction = instruction.renamed(&mut |register| plan.register(copy, register));
                let is_spawn = matches!(instruction, Instruction::Spawn(_));
                let to = plan.location(copy, edge.to);
                self.step(from, to, instruction, edge.span, Some(id));
                if is_spawn && self.purpose == Purpose::Search {
                    self.idle(from, edge.span);
                }
            }
        }
    }

    fn renamed(&self, copy: Copy, expr: &weir_ir::RegExpr) -> weir_ir::RegExpr {
        expr.map(&mut |&register| Expr::Leaf(self.plan.register(copy, register)))
    }

    fn step(&mut self, from: LocId, to: LocId, instruction: Instruction, span: Span, origin: Option<EdgeId>) {
        self.builder.edge(Edge { from, to, instruction, span }, origin);
    }

    /// A step that changes nothing, so that waiting beyond the bound is no deadlock.
    fn idle(&mut self, at: LocId, span: Span) {
        if self.idle.insert(at) {
            self.step(at, at, Instruction::Skip, span, None);
        }
    }

    fn too_deep(&mut self, from: LocId, span: Span) {
        self.is_deep = true;
        match self.purpose {
            Purpose::Search => self.idle(from, span),
            Purpose::Alarm if self.idle.insert(from) => self.step(from, from, never(), span, None),
            Purpose::Alarm => {}
        }
    }

    /// Local steps one after the other; the last one stands for the edge, and until then the thread counts as being
    /// where that begins.
    fn chain(&mut self, (from, to): (LocId, LocId), (id, edge): (EdgeId, &Edge), instructions: Vec<Instruction>) {
        let mut at = from;
        let last = instructions.len().saturating_sub(1);
        for (number, instruction) in instructions.into_iter().enumerate() {
            if number == last {
                self.step(at, to, instruction, edge.span, Some(id));
            } else {
                let next = self.builder.location(edge.span);
                self.images[edge.from.index()].push(next);
                self.step(at, next, instruction, edge.span, None);
                at = next;
            }
        }
    }

    fn call(
        &mut self,
        (copy, from): (Copy, LocId),
        (id, edge): (EdgeId, &Edge),
        procedure: ProcId,
        arguments: &[weir_ir::RegExpr],
    ) {
        let plan = self.plan;
        let callee = (copy.0 + 1, Some(procedure));
        let Some(frame) = plan.frame(callee) else { return };
        let mut set = Vec::new();
        for (parameter, argument) in frame.parameters.iter().zip(arguments) {
            set.push((plan.register(callee, *parameter), self.renamed(copy, argument)));
        }
        for (register, own) in frame.registers.iter().zip(&self.own[procedure.index()]) {
            if !frame.parameters.contains(register) && self.live[procedure.index()].contains(*own) {
                set.push((plan.register(callee, *register), Expr::Const(0)));
            }
        }
        if let Some(register) = plan.return_register(callee) {
            set.push((register, Expr::Const(self.site(callee, copy, id))));
        }
        let assign = |(register, value)| Instruction::Assign { register, value };
        let mut instructions: Vec<Instruction> = set.into_iter().map(assign).collect();
        if instructions.is_empty() {
            instructions.push(Instruction::Skip);
        }
        self.chain((from, plan.location(callee, frame.entry)), (id, edge), instructions);
    }

    /// The number of a call among those that lead to a copy.
    fn site(&self, callee: Copy, caller: Copy, call: EdgeId) -> Value {
        let callers = self.plan.callers.get(&callee).map_or(&[][..], Vec::as_slice);
        callers.iter().position(|&site| site == (caller, call)).map_or(0, |at| at as Value)
    }

    /// One way back per call.
    fn give_back(&mut self, (copy, from): (Copy, LocId), (id, edge): (EdgeId, &Edge), value: &weir_ir::RegExpr) {
        let plan = self.plan;
        let value = self.renamed(copy, value);
        let callers = plan.callers.get(&copy).map_or(&[][..], Vec::as_slice);
        for (number, &(caller, call)) in callers.iter().enumerate() {
            let call = plan.body.edge(call);
            let Instruction::Call { register: result, .. } = &call.instruction else { continue };
            let mut instructions = Vec::new();
            if let Some(register) = plan.return_register(copy) {
                let here = Expr::binary(BinaryOp::Equal, Expr::Leaf(register), Expr::Const(number as Value));
                instructions.push(Instruction::Assume(here));
            }
            if let Some(register) = result {
                let register = plan.register(caller, *register);
                instructions.push(Instruction::Assign { register, value: value.clone() });
            }
            if instructions.is_empty() {
                instructions.push(Instruction::Skip);
            }
            self.chain((from, plan.location(caller, call.to)), (id, edge), instructions);
        }
    }
}

fn own_registers(body: &Body) -> usize {
    let linked = body.frames.iter().flatten().filter_map(|frame| frame.registers.first());
    linked.map(|register| register.index()).min().unwrap_or(body.registers.len())
}
