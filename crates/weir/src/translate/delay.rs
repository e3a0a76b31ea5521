//! TSO on chosen paths as a program under SC: the extension of "Lazy TSO Reachability", §3.
//!
//! A path is a sequence of steps of one thread that begins with a store and ends with a load, with nothing on the way
//! that needs an empty buffer. The extended program has, beside the thread's own code, code that goes along the path
//! with its stores kept in registers. A run of the extended program under SC stands for a run of the original under
//! TSO: every edge remembers what it executes or flushes there (`Origin`).
//!
//! Two forms:
//! - [`delay`] keeps the code as it was and adds all that TSO can do along the paths (`chain.rs`). It can be entered at
//!   any store of a path, the oldest stores can be flushed after any load, and it is left when nothing waits any more.
//!   So what is covered are all parts of the paths.
//! - `first.rs` is the extension as the paper's Algorithm 1 has it: the path is followed with all its stores waiting,
//!   and its first store is removed from the code.
//!
//! Both are linear in the length of the path: what each load needs (looking for the newest store to its address,
//! flushing what waits) is written once for the whole path, with a register that tells where to go on. The paper writes
//! it anew for each load.
//!
//! Where some thread is on added code, stores may be waiting: such a state is not drained, so every `forbid` is made to
//! ask that all threads are in their own code.

mod chain;
mod first;
mod guard;
mod remembered;
mod traced;
mod unroll;

use std::collections::{BTreeSet, VecDeque};

use weir_ir::{
    BinaryOp, Body, Diagnostic, EdgeId, Expr, Instruction, LocId, Program, PropertyKind, RegExpr, RegId, StateAtom,
    ThreadId, validate,
};

use self::traced::Builder;
use weir_witness::{Action, Model, Run, Step};

pub(crate) use self::unroll::{is_cyclic, unroll};
use super::Translation;
use crate::attack::Attack;
use crate::verdict::Failure;

/// A path in one thread, from a store to a load that it is delayed past.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DelayPath {
    /// The thread.
    pub thread: ThreadId,
    /// The steps.
    pub edges: Vec<EdgeId>,
}

/// What else an edge of the extended program does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Note {
    #[default]
    Nothing,
    /// Leads onto a path.
    Enters,
    /// Leads back to the thread's own code after this step of this path, counted among the paths given.
    Leaves { path: usize, position: usize },
}

/// What an edge of the extended program does in the original one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Origin {
    /// Executes this edge.
    pub(crate) execute: Option<EdgeId>,
    /// Then flushes the oldest store.
    pub(crate) flush: bool,
    pub(crate) note: Note,
}

/// An extended program.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The program. What it does under SC, the original does under TSO.
    pub program: Program,
    /// For each thread and edge, what it does in the original program.
    pub(crate) origins: Vec<Vec<Origin>>,
    /// For each thread, how many locations are of its own code; they come first.
    own: Vec<usize>,
    /// Locations of added code at which no store is delayed.
    drained: BTreeSet<(ThreadId, LocId)>,
}

impl Extended {
    /// The program as it is.
    pub(crate) fn new(program: &Program) -> Self {
        let plain = |(index, edge): (usize, &weir_ir::Edge)| Origin {
            execute: Some(EdgeId::new(index)),
            flush: edge.instruction.is_store(),
            note: Note::Nothing,
        };
        let origins = program.threads.iter().map(|thread| thread.body.edges().iter().enumerate().map(plain).collect());
        Self {
            program: program.clone(),
            origins: origins.collect(),
            own: program.threads.iter().map(|thread| thread.body.locations.len()).collect(),
            drained: BTreeSet::new(),
        }
    }

    /// Replaces the code of a thread; entry and failure location stay.
    fn rebuild(&mut self, thread: ThreadId, builder: Builder) {
        let body = self.program.body(thread);
        let built = builder.finish(body.entry, body.failed);
        self.put(thread, built);
    }

    /// Replaces the code of a thread.
    fn put(&mut self, thread: ThreadId, (body, origins): (Body, Vec<Origin>)) {
        self.program.threads[thread.index()].body = body;
        self.origins[thread.index()] = origins;
    }

    /// Lets the properties ask that no thread is on added code. `original` has them as they were.
    fn restrict_properties(&mut self, original: &Program) {
        let on_own: Vec<_> = self
            .program
            .thread_ids()
            .filter(|&thread| self.program.body(thread).locations.len() > self.own[thread.index()])
            .map(|thread| {
                let locations = (0..self.own[thread.index()]).map(LocId::new).collect();
                Expr::Leaf(StateAtom::At { thread, locations })
            })
            .collect();
        self.program.properties = original.properties.clone();
        for property in &mut self.program.properties {
            if let PropertyKind::Forbid(condition) = &mut property.kind {
                let all = on_own.iter().cloned();
                *condition = all.fold(condition.clone(), |both, own| Expr::binary(BinaryOp::And, both, own));
            }
        }
    }

    /// Lets threads on added code do nothing as often as they like, so that no state counts as a deadlock because they
    /// cannot move there.
    pub(crate) fn idle(&mut self) {
        for thread in self.program.thread_ids() {
            let own = self.own[thread.index()];
            let mut builder = self.builder(thread);
            for location in (own..builder.locations().len()).map(LocId::new) {
                let span = builder.locations()[location.index()].span;
                builder.link(location, location, span, [traced::auxiliary(Instruction::Skip)]);
            }
            self.rebuild(thread, builder);
        }
    }

    /// Whether a location is of the thread's own code.
    pub(crate) fn is_own(&self, thread: ThreadId, location: LocId) -> bool {
        location.index() < self.own[thread.index()]
    }

    /// For each thread and location, whether stores may be delayed there.
    pub(crate) fn keeps_back(&self) -> Vec<Vec<bool>> {
        let of_thread = |thread: ThreadId| {
            let locations = self.program.body(thread).location_ids();
            locations.map(|location| !self.is_drained(thread, location)).collect()
        };
        self.program.thread_ids().map(of_thread).collect()
    }

    /// Whether no store is delayed at a location.
    fn is_drained(&self, thread: ThreadId, location: LocId) -> bool {
        self.is_own(thread, location) || self.drained.contains(&(thread, location))
    }

    fn builder(&self, thread: ThreadId) -> Builder {
        traced::builder(&self.program, thread, &self.origins[thread.index()])
    }

    fn checked(self) -> Result<Self, Failure> {
        match validate(&self.program).into_iter().next() {
            None => Ok(self),
            Some(error) => Err(Failure::Refused(Box::new(error))),
        }
    }
}

impl Translation for Extended {
    fn program(&self) -> &Program {
        &self.program
    }

    /// What each edge executes and flushes in the original.
    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        let mut steps = Vec::new();
        for step in &run.steps {
            let Action::Execute { edge, choice } = step.action else { continue };
            let (thread, origin) = (step.thread, self.origins[step.thread.index()][edge.index()]);
            steps.extend(origin.execute.map(|edge| Step { thread, action: Action::Execute { edge, choice } }));
            steps.extend(origin.flush.then_some(Step { thread, action: Action::Flush }));
        }
        Run { model: Model::Tso, steps }
    }
}

/// Adds what TSO can do along these paths.
///
/// # Errors
/// If a path is none: it must begin with a store and end with a load, each step must start where the one before has
/// ended, and none may need an empty buffer.
pub fn delay(program: &Program, paths: &[DelayPath]) -> Result<Extended, Failure> {
    let mut extended = Extended::new(program);
    for path in paths {
        check(program, path)?;
    }
    for thread in program.thread_ids() {
        let mut builder = extended.builder(thread);
        let own = paths.iter().enumerate().filter(|(_, path)| path.thread == thread);
        for (number, path) in own {
            chain::add(&mut builder, program, number, path);
        }
        extended.rebuild(thread, builder);
    }
    extended.restrict_properties(program);
    extended.checked()
}

/// Extends by one path, given by edges of the extended program, and removes the store that it begins with. `original`
/// has the properties as they were.
///
/// # Errors
/// If the path is none.
pub(crate) fn delay_first(extended: &Extended, original: &Program, path: &DelayPath) -> Result<Extended, Failure> {
    check(&extended.program, path)?;
    let mut made = extended.clone();
    let mut builder = extended.builder(path.thread);
    let turns = first::add(&mut builder, &extended.program, &extended.origins[path.thread.index()], path);
    let drained = turns.into_iter().filter(|turn| extended.is_drained(path.thread, turn.from));
    made.drained.extend(drained.map(|turn| (path.thread, turn.off)));
    made.rebuild(path.thread, builder);
    made.restrict_properties(original);
    made.checked()
}

/// A shortest path from the store of an attack to its load.
pub fn shortest_path(program: &Program, attack: Attack) -> Option<DelayPath> {
    let body = program.body(attack.thread);
    let goal = body.edge(attack.load).from;
    let mut came_by: Vec<Option<EdgeId>> = vec![None; body.locations.len()];
    let start = body.edge(attack.store).to;
    let mut work = VecDeque::from([start]);
    came_by[start.index()] = Some(attack.store);
    while let Some(loc) = work.pop_front().filter(|&loc| loc != goal) {
        for (id, edge) in body.edges_from(loc) {
            let passes = !edge.instruction.drains() && !edge.instruction.leaves_body();
            if passes && came_by[edge.to.index()].is_none() {
                came_by[edge.to.index()] = Some(id);
                work.push_back(edge.to);
            }
        }
    }
    let mut edges = vec![attack.load];
    let mut at = goal;
    loop {
        let edge = came_by[at.index()]?;
        edges.push(edge);
        // The start may be passed again on a cycle, but not on a shortest path.
        if edge == attack.store && at == start {
            break;
        }
        at = body.edge(edge).from;
    }
    edges.reverse();
    Some(DelayPath { thread: attack.thread, edges })
}

/// A load of just one cell: the register, the address, and what must hold afterwards if it is an await.
fn one_load(instruction: &Instruction) -> Option<(RegId, &RegExpr, Option<&RegExpr>)> {
    match instruction {
        Instruction::Load { register, address } => Some((*register, address, None)),
        Instruction::Await { loads, condition } => match loads.as_slice() {
            [(register, address)] => Some((*register, address, Some(condition))),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the path is one.
fn check(program: &Program, path: &DelayPath) -> Result<(), Failure> {
    let body = program.body(path.thread);
    let at = |edge: &EdgeId| body.edge(*edge);
    let is_joined = path.edges.windows(2).all(|pair| at(&pair[0]).to == at(&pair[1]).from);
    let begins = path.edges.first().is_some_and(|edge| at(edge).instruction.is_store());
    let ends = path.edges.last().is_some_and(|edge| one_load(&at(edge).instruction).is_some());
    let obstacle = path.edges.iter().map(at).find(|edge| edge.instruction.drains() || edge.instruction.leaves_body());
    let has_several = |instruction: &Instruction| instruction.is_load() && one_load(instruction).is_none();
    if let Some(edge) = path.edges.iter().map(at).find(|edge| has_several(&edge.instruction)) {
        let what = match edge.instruction {
            Instruction::Await { .. } => "`lazy` cannot delay stores past an await that reads several cells",
            _ => "`lazy` cannot delay stores past a snapshot of several cells",
        };
        let help = "use another engine, or load the cells one at a time";
        return Err(Failure::Refused(Box::new(Diagnostic::error("several-loads", what, edge.span).help(help))));
    }
    let (what, span) = match obstacle {
        Some(edge) => ("no store can be delayed past this", edge.span),
        None if is_joined && begins && ends => return Ok(()),
        None => (
            "this is not a path from a store to a load",
            path.edges.first().map_or_else(Default::default, |e| at(e).span),
        ),
    };
    let help = "a path starts with a store, ends with a load, and contains no fence, read-modify-write, lock or unlock";
    Err(Failure::Refused(Box::new(Diagnostic::error("no-path", what, span).help(help))))
}
