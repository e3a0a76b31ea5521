//! Slicing: what no goal depends on is cut away.
//!
//! ```text
//! thread P { x = x + 1; flag = 1; }         becomes        thread P { skip; skip; skip; flag = 1; }
//! thread Q { loop { y = y + 1; } }                         thread Q { }
//! forbid flag == 1 && …;
//! ```
//!
//! A thread is kept as a whole or not at all: its locations and edges stay as they are, only instructions change, so
//! that an edge of the result is the edge of the same number of the original. A thread that is not kept has nothing to
//! do. What matters is found by `closure`; the arguments that nothing else does are in SOUNDNESS.md.
//!
//! Direction of error: none. The result reaches the goals that the original reaches, under SC and under TSO.

mod closure;
mod growth;
mod relevance;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use weir_ir::flow::{Ranges, Webs, live_registers, observed_registers};
use weir_ir::{
    Address, Body, Edge, EdgeId, Expr, Gather, Instruction, Location, Multiplicity, Program, Property, PropertyKind,
    Range, RegExpr, RegId, Rmw, Thread, ThreadId,
};
use weir_witness::{Action, Goal, Model, Run, Step, enabled_steps, replay};

use super::Translation;
use crate::session::Session;
use crate::verdict::Coverage;
use closure::{Facts, Sources};
pub use growth::{Growing, Growth};
use relevance::Relevance;

/// Slices of one program.
pub struct Slicer<'p> {
    program: &'p Program,
    ranges: Ranges,
    /// The live ranges of registers, thread by thread.
    lives: Arc<Vec<Webs>>,
    sources: Sources,
    /// Whether the ranges are those of the whole analysis: if it ended early, anything seems possible.
    is_analysed: bool,
}

impl<'p> Slicer<'p> {
    /// Analyses a program, once for all slices.
    pub fn new(program: &'p Program, session: &Session) -> Self {
        let ranges = Ranges::of_until(program, session);
        let lives = lives(program);
        let sources = Sources::new(program, &ranges, &lives);
        Self { program, ranges, lives, sources, is_analysed: session.exceeded_before_work().is_none() }
    }

    fn facts(&self) -> Facts<'_> {
        Facts { program: self.program, ranges: &self.ranges, lives: &self.lives, sources: &self.sources }
    }

    /// The part of the program that these goals depend on.
    #[must_use]
    pub fn slice(&self, goals: &[Goal]) -> Sliced {
        if !self.is_supported(goals) {
            return Sliced::unchanged(self.program, &self.lives);
        }
        if goals.iter().any(|goal| goal.is_liveness(self.program)) {
            let mut sliced = self.without_values_but_of(goals);
            trivialize(&mut sliced.program, |property| goals.contains(&Goal::Property(property)));
            return sliced;
        }
        let goals = self.possible(goals);
        let mut sliced = self.cut(closure::of_goals(self.facts(), &goals));
        trivialize(&mut sliced.program, |property| goals.contains(&Goal::Property(property)));
        let must_end = goals.iter().any(|&goal| relevance::needs_ends(self.program, goal));
        let left_out = |thread: &ThreadId| must_end && !sliced.relevance.is_kept(*thread);
        sliced.run_first = self.program.running_threads().filter(left_out).collect();
        sliced
    }

    /// Without goals about what can still happen.
    fn depends_on(&self, goals: &[Goal]) -> Relevance {
        if !self.is_supported(goals) {
            return Relevance::everything(self.program, &self.lives);
        }
        closure::of_goals(self.facts(), &self.possible(goals))
    }

    fn is_supported(&self, goals: &[Goal]) -> bool {
        is_supported(self.program) && !goals.contains(&Goal::NotRobust)
    }

    /// The goals that the text of the program does not rule out.
    fn possible(&self, goals: &[Goal]) -> Vec<Goal> {
        let is_possible = |goal: &&Goal| !relevance::is_impossible(self.program, &self.ranges, **goal);
        goals.iter().filter(is_possible).copied().collect()
    }

    /// The program without the values that neither control flow nor addresses depend on: all accesses are still there,
    /// so it has the same attacks.
    #[must_use]
    pub fn without_values(&self) -> Sliced {
        if !is_supported(self.program) {
            return Sliced::unchanged(self.program, &self.lives);
        }
        self.cut(closure::of_accesses(self.facts()))
    }

    /// The program without the values that neither these goals nor control flow nor addresses depend on. It takes the
    /// same steps, one by one, at the same times.
    #[must_use]
    pub fn without_values_but_of(&self, goals: &[Goal]) -> Sliced {
        if !self.is_supported(goals) {
            return Sliced::unchanged(self.program, &self.lives);
        }
        self.cut(closure::of_steps(self.facts(), goals))
    }

    /// The values that registers and cells of the program can hold.
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// What a search of a slice executed, in terms of the whole program.
    pub(crate) fn map_coverage(&self, sliced: &Sliced, mut seen: Coverage) -> Coverage {
        for thread in self.program.running_threads().filter(|&thread| !sliced.is_kept(thread)) {
            let edges = (0..self.program.body(thread).edges().len()).map(EdgeId::new);
            let impossible = edges.filter(|&edge| !self.ranges.can_take(thread, edge));
            seen.unexecuted.extend(impossible.map(|edge| (thread, edge)));
            seen.unexamined.push(thread);
        }
        seen.unexecuted.sort_unstable();
        seen
    }

    /// The program.
    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    /// Goals that are best looked for together: first all those for which few values matter, then those that depend on
    /// the same.
    #[must_use]
    pub fn groups(&self, goals: &[Goal]) -> Vec<Vec<Goal>> {
        let depends = |goal: Goal| self.depends_on(&[goal]);
        let is_bounded = |found: &Relevance| growth::is_bounded(self.program, &self.ranges, found);
        let (liveness, goals): (Vec<Goal>, Vec<Goal>) = goals.iter().partition(|goal| goal.is_liveness(self.program));
        let (few, many): (Vec<_>, Vec<_>) =
            goals.into_iter().map(|goal| (goal, depends(goal))).partition(|(_, found)| is_bounded(found));
        let mut groups: Vec<(Option<Relevance>, Vec<Goal>)> = Vec::new();
        if !few.is_empty() {
            groups.push((None, few.into_iter().map(|(goal, _)| goal).collect()));
        }
        for (goal, found) in many {
            match groups.iter_mut().find(|(known, _)| known.as_ref() == Some(&found)) {
                Some((_, group)) => group.push(goal),
                None => groups.push((Some(found), vec![goal])),
            }
        }
        groups.into_iter().map(|(_, group)| group).chain((!liveness.is_empty()).then_some(liveness)).collect()
    }

    /// What may grow without bound in a slice; nothing if the analysis ended early.
    #[must_use]
    pub fn growth(&self, sliced: &Sliced) -> Vec<Growth> {
        if self.is_analysed { growth::growth(self.program, &self.ranges, &sliced.relevance) } else { Vec::new() }
    }

    /// Whether finitely many values, and not too many, are all that a slice depends on.
    #[must_use]
    pub fn is_bounded(&self, sliced: &Sliced) -> bool {
        growth::is_bounded(self.program, &self.ranges, &sliced.relevance)
    }

    fn cut(&self, relevance: Relevance) -> Sliced {
        let running: BTreeSet<ThreadId> = self.program.running_threads().gather();
        let program = self.program.map_bodies(|thread, body| {
            if !running.contains(&thread) {
                body.clone()
            } else if relevance.is_kept(thread) {
                self.cut_body(&relevance, thread, body)
            } else {
                nothing_to_do(body)
            }
        });
        Sliced { program, relevance, run_first: Vec::new() }
    }

    fn cut_body(&self, relevance: &Relevance, thread: ThreadId, body: &Body) -> Body {
        let mut ids = (0..).map(EdgeId);
        body.map_edges(|edge| {
            let id = ids.next().unwrap_or(EdgeId(0));
            let instruction = rewritten((self.program, &self.ranges), relevance, (thread, id), edge);
            Edge { from: edge.from, to: edge.to, instruction, span: edge.span }
        })
    }
}

fn lives(program: &Program) -> Arc<Vec<Webs>> {
    let webs = |thread: ThreadId| {
        let body = program.body(thread);
        Webs::of(body, &live_registers(body, &observed_registers(program, thread)))
    };
    Arc::new(program.thread_ids().map(webs).collect())
}

/// Whether the pass knows all that the program does. A thread that nobody starts does nothing.
pub(super) fn is_supported(program: &Program) -> bool {
    let leaves = |edge: &Edge| edge.instruction.leaves_body() && edge.instruction != Instruction::Terminate;
    let is_plain = |thread: &Thread| match thread.multiplicity {
        Multiplicity::One => !thread.body.edges().iter().any(leaves),
        Multiplicity::Spawned => true,
        Multiplicity::Arbitrary => false,
    };
    program.threads.iter().all(is_plain)
}

/// Properties that nobody asks about, and those that cannot be violated, keep their numbers and depend on nothing.
fn trivialize(program: &mut Program, is_asked: impl Fn(weir_ir::PropertyId) -> bool) {
    let property = |(number, property): (usize, &mut Property)| {
        if !is_asked(weir_ir::PropertyId::new(number)) {
            property.kind = PropertyKind::Forbid(Expr::Const(0));
        }
    };
    program.properties.iter_mut().enumerate().for_each(property);
}

/// A thread that is done from the start. Its locations are there, since conditions may name them.
fn nothing_to_do(body: &Body) -> Body {
    let locations: Vec<Location> = body.locations.clone();
    Body::new(body.registers.clone(), locations, body.entry, body.failed, Vec::new())
}

/// What is left of an instruction of a thread that is kept.
fn rewritten(
    (program, ranges): (&Program, &Ranges),
    relevance: &Relevance,
    (thread, id): (ThreadId, EdgeId),
    edge: &Edge,
) -> Instruction {
    let matters = |register: RegId| relevance.has_definition(thread, edge, register);
    let never = || Instruction::Assume(Expr::Const(0));
    let instruction = &edge.instruction;
    if !ranges.is_reachable(thread, edge.from) {
        // Attacks are counted by control flow, which this leaves alone.
        return if relevance.keeps_accesses() { instruction.clone() } else { never() };
    }
    let neutral = |address: &RegExpr| {
        let addresses = ranges.value_at(thread, edge.from, address).unwrap_or(Range::FULL);
        Expr::Const(relevance::neutral(program, addresses).unwrap_or(0))
    };
    match instruction {
        Instruction::Load { register, .. } if !matters(*register) && !relevance.keeps_accesses() => Instruction::Skip,
        Instruction::Snapshot(loads) if !relevance.keeps_accesses() => {
            let kept = loads.iter().filter(|(register, _)| matters(*register)).cloned();
            snapshot(kept.collect())
        }
        Instruction::Store { address, .. } if !relevance.keeps_write(thread, id) => {
            if relevance.keeps_accesses() {
                Instruction::Store { address: address.clone(), value: neutral(address) }
            } else {
                Instruction::Skip
            }
        }
        Instruction::ReadModifyWrite { register, address, .. } if !relevance.keeps_write(thread, id) => {
            if relevance.keeps_accesses() {
                let operation = Rmw::Exchange(neutral(address));
                Instruction::ReadModifyWrite { register: *register, address: address.clone(), operation }
            } else {
                // It still waits until the buffer is empty.
                Instruction::Fence
            }
        }
        Instruction::Assign { register, .. } if !matters(*register) => Instruction::Skip,
        Instruction::Havoc { register, range } if !matters(*register) && range.low <= range.high => {
            // The choice stays one of the original; without any, the step stays blocked.
            Instruction::Havoc { register: *register, range: Range::single(range.low) }
        }
        Instruction::Assume(condition) if !relevance.keeps_conditions() => {
            match relevance::decided(ranges, thread, edge, condition) {
                Some(holds) => Instruction::Assume(Expr::Const(i64::from(holds))),
                None => instruction.clone(),
            }
        }
        _ => instruction.clone(),
    }
}

fn snapshot(loads: Vec<(RegId, RegExpr)>) -> Instruction {
    match &loads[..] {
        [] => Instruction::Skip,
        [(register, address)] => Instruction::Load { register: *register, address: address.clone() },
        _ => Instruction::Snapshot(loads),
    }
}

/// A slice of a program.
#[derive(Clone, Debug)]
pub struct Sliced {
    program: Program,
    relevance: Relevance,
    /// Threads that were cut away and have to end: they do so before anything else happens.
    run_first: Vec<ThreadId>,
}

impl Sliced {
    fn unchanged(program: &Program, lives: &Arc<Vec<Webs>>) -> Self {
        Self { program: program.clone(), relevance: Relevance::everything(program, lives), run_first: Vec::new() }
    }

    /// Whether a thread is part of the slice.
    #[must_use]
    pub fn is_kept(&self, thread: ThreadId) -> bool {
        self.relevance.is_kept(thread)
    }

    /// Whether the slice has the values of a register.
    pub(crate) fn has_register(&self, thread: ThreadId, register: RegId) -> bool {
        self.relevance.has_register(thread, register)
    }

    /// Whether the slice has the values of a cell.
    pub(crate) fn has_cell(&self, address: Address) -> bool {
        self.relevance.touches(Range::single(address))
    }

    /// The steps by which the threads that must end do so.
    fn prologue(&self, original: &Program, model: Model) -> Vec<Step> {
        let mut run = Run { model, steps: Vec::new() };
        for &thread in &self.run_first {
            while let Ok(state) = replay(original, &run) {
                let enabled = enabled_steps(original, model, state.last()).unwrap_or_default();
                match enabled.into_iter().find(|step| step.thread == thread) {
                    Some(step) => run.steps.push(step),
                    None => break,
                }
            }
        }
        run.steps
    }
}

impl Translation for Sliced {
    fn program(&self) -> &Program {
        &self.program
    }

    /// The same run with what was cut away: every store that was cut is flushed as soon as it is the oldest of its
    /// buffer.
    fn map_back(&self, original: &Program, run: &Run) -> Run {
        let mut steps = self.prologue(original, run.model);
        let mut buffers: Vec<VecDeque<bool>> = vec![VecDeque::new(); original.threads.len()];
        for step in &run.steps {
            let buffer = &mut buffers[step.thread.index()];
            steps.push(*step);
            match step.action {
                Action::Flush => drop(buffer.pop_front()),
                Action::Execute { edge, .. } if run.model == Model::Tso && is_store(original, step.thread, edge) => {
                    buffer.push_back(is_store(&self.program, step.thread, edge));
                }
                Action::Execute { .. } => {}
            }
            while buffer.front() == Some(&false) {
                buffer.pop_front();
                steps.push(Step { thread: step.thread, action: Action::Flush });
            }
        }
        Run { model: run.model, steps }
    }
}

fn is_store(program: &Program, thread: ThreadId, edge: EdgeId) -> bool {
    program.body(thread).edge(edge).instruction.is_store()
}
