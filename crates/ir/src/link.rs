//! Programs with procedures and `spawn`, with a fixed list of threads and one automaton per thread.
//!
//! ```text
//! proc f(n) { … }                      thread P { f(2); } with the code of `f` beside its own, and
//! thread P { f(2); spawn T; }    →     threads T, T[1], … that have not started yet
//! thread T[0] { … }
//! ```
//!
//! Each thread gets a copy of the code and the registers of every procedure that it can call ([`Frame`]), so that where
//! a thread is, is one location, and what it does next is one edge, whichever procedure it is in. A call saves the
//! registers of the procedure, a return restores them. Each thread that `spawn` can start is there a fixed number of
//! times; `spawn` starts the first of these that has not started. So runs with at most that many spawned threads are
//! the runs of the program, step by step. Locations, edges and registers of the threads keep their numbers.

use std::collections::BTreeSet;

use crate::expr::{BinaryOp, Expr, Value};
use crate::gather::Gather;
use crate::ids::{LocId, ProcId, RegId, ThreadId};
use crate::program::{
    Body, Edge, Frame, Instruction, Location, Multiplicity, Procedure, Program, Property, Register, StateAtom,
    StateExpr, Thread,
};

/// What the threads of a program can do at run time, as far as control flow tells.
#[derive(Default)]
struct Dynamics {
    /// The threads that run, from the start or once they are spawned.
    running: BTreeSet<ThreadId>,
    /// The threads that `spawn` instructions of these name.
    spawned: BTreeSet<ThreadId>,
    /// The procedures that they call.
    called: BTreeSet<ProcId>,
}

impl Dynamics {
    fn of(program: &Program) -> Self {
        let mut found = Self::default();
        let from_the_start = |thread: &ThreadId| program.thread(*thread).multiplicity != Multiplicity::Spawned;
        let mut pending: Vec<&Body> = Vec::new();
        for thread in program.thread_ids().filter(from_the_start) {
            found.running.insert(thread);
            pending.push(program.body(thread));
        }
        while let Some(body) = pending.pop() {
            for edge in body.edges() {
                match edge.instruction {
                    Instruction::Spawn(thread) if found.spawned.insert(thread) => {
                        let started = program.instances(thread).filter(|&instance| found.running.insert(instance));
                        pending.extend(started.map(|instance| program.body(instance)));
                    }
                    Instruction::Call { procedure, .. } if found.called.insert(procedure) => {
                        pending.extend(program.procedures.get(procedure.index()).map(|procedure| &procedure.body));
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

impl Program {
    /// Whether threads that run call procedures or start threads.
    pub fn is_dynamic(&self) -> bool {
        self.calls() || self.spawns()
    }

    /// Whether some thread calls a procedure. (Procedures that do not call themselves were inlined.)
    pub fn calls(&self) -> bool {
        !Dynamics::of(self).called.is_empty()
    }

    /// The procedures that threads that run call, directly or by way of others.
    pub fn called_procedures(&self) -> BTreeSet<ProcId> {
        Dynamics::of(self).called
    }

    /// Whether some thread starts another one.
    pub fn spawns(&self) -> bool {
        !Dynamics::of(self).spawned.is_empty()
    }

    /// For each thread, whether only `spawn` starts it, and one can.
    pub fn can_be_spawned(&self) -> Vec<bool> {
        let starts_late = |thread: &Thread| thread.multiplicity == Multiplicity::Spawned;
        if !self.threads.iter().any(starts_late) {
            return vec![false; self.threads.len()];
        }
        let running = Dynamics::of(self).running;
        self.thread_ids().map(|thread| starts_late(self.thread(thread)) && running.contains(&thread)).collect()
    }

    /// The threads that `spawn` of this one starts, in the order in which it does.
    pub fn instances(&self, spawned: ThreadId) -> impl Iterator<Item = ThreadId> {
        let family = &self.thread(spawned).family.0;
        self.thread_ids().filter(move |&thread| {
            let thread = self.thread(thread);
            thread.multiplicity == Multiplicity::Spawned && thread.family.0 == *family
        })
    }

    /// The program with its procedures linked into the threads, and with so many instances of each thread that `spawn`
    /// names; none are added if the number is 0. The constants tell the number, as `spawn T`.
    #[must_use]
    pub fn linked(&self, instances: u32) -> Self {
        let mut linked = self.clone();
        let mut ends = Vec::new();
        for (thread, original) in linked.threads.iter_mut().zip(&self.threads) {
            thread.body = link(self, &original.body);
            ends.push(Ends::new(&original.body, &thread.body));
        }
        let spawned = Dynamics::of(self).spawned;
        let mut counted: Vec<Vec<ThreadId>> = self.thread_ids().map(|thread| vec![thread]).collect();
        // In turn, so that a program with more instances has the same ones first, under the same numbers.
        for turn in 0..instances {
            for &thread in &spawned {
                // A thread that runs from the start is not one of its own instances.
                let number = turn + u32::from(self.thread(thread).multiplicity != Multiplicity::Spawned);
                if number > 0 {
                    counted[thread.index()].push(ThreadId::new(linked.threads.len()));
                    linked.threads.push(instance(&linked.threads[thread.index()], number));
                }
            }
        }
        let number = |thread: &ThreadId| (spawn_constant(&self.thread(*thread).name), Value::from(instances));
        linked.constants.extend(spawned.iter().filter(|_| instances > 0).map(number));
        let observed =
            |condition: &StateExpr| condition.map(&mut |atom| counted_atom(&at_any_end(atom, &ends), &counted));
        let kind = |property: &Property| property.kind.map_condition(observed);
        linked.properties = self.properties.iter().map(|one| Property { kind: kind(one), ..one.clone() }).collect();
        linked
    }
}

/// The constant of a linked program that says how many instances of a thread it has. No constant of the text has such a
/// name.
pub fn spawn_constant(thread: &str) -> String {
    format!("spawn {thread}")
}

/// A further instance of a thread, which has not started.
fn instance(thread: &Thread, number: u32) -> Thread {
    Thread {
        name: format!("{}[{number}]", thread.name),
        family: (thread.family.0.clone(), Some(number)),
        multiplicity: Multiplicity::Spawned,
        ..thread.clone()
    }
}

/// Where a thread is done: before and after procedures are linked, which may terminate it.
struct Ends {
    own: Vec<LocId>,
    all: Vec<LocId>,
}

impl Ends {
    fn new(original: &Body, linked: &Body) -> Self {
        let done = |body: &Body| body.location_ids().filter(|&loc| body.is_done(loc)).collect::<Vec<_>>();
        let (own, mut all) = (done(original), done(linked));
        // A failed assertion of a procedure is no end of the thread.
        all.retain(|&loc| linked.failed != Some(loc) || original.failed == Some(loc));
        Self { own, all }
    }
}

/// A thread that a procedure has terminated is `at end`, too. That is the only place that consists of all locations at
/// which the thread is done.
fn at_any_end(atom: &StateAtom, ends: &[Ends]) -> StateAtom {
    match atom {
        StateAtom::At { thread, locations } if *locations == ends[thread.index()].own => {
            StateAtom::At { thread: *thread, locations: ends[thread.index()].all.clone() }
        }
        other => other.clone(),
    }
}

/// A number of instances is the sum over all of them.
fn counted_atom(atom: &StateAtom, counted: &[Vec<ThreadId>]) -> StateExpr {
    let StateAtom::At { thread, locations } = atom else { return Expr::Leaf(atom.clone()) };
    let at = |&thread: &ThreadId| Expr::Leaf(StateAtom::At { thread, locations: locations.clone() });
    let sum = |sum: StateExpr, one| Expr::binary(BinaryOp::Add, sum, one);
    counted[thread.index()].iter().map(at).reduce(sum).unwrap_or(Expr::Const(0))
}

/// The procedures that a body calls, as often as it does.
fn called(body: &Body) -> impl Iterator<Item = ProcId> {
    body.edges().iter().filter_map(|edge| match edge.instruction {
        Instruction::Call { procedure, .. } => Some(procedure),
        _ => None,
    })
}

/// The procedures that a body calls, directly or by way of others.
fn reached(program: &Program, body: &Body) -> BTreeSet<ProcId> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<ProcId> = called(body).collect();
    while let Some(procedure) = pending.pop() {
        if let Some(found) = program.procedures.get(procedure.index())
            && reached.insert(procedure)
        {
            pending.extend(called(&found.body));
        }
    }
    reached
}

fn link(program: &Program, body: &Body) -> Body {
    let reached = reached(program, body);
    if reached.is_empty() {
        return body.clone();
    }
    let mut linker = Linker {
        registers: body.registers.clone(),
        locations: body.locations.clone(),
        edges: body.edges().to_vec(),
        failed: body.failed,
        frames: vec![None; program.procedures.len()],
    };
    for &procedure in &reached {
        linker.add_thread_locals(&program.procedures[procedure.index()].body);
    }
    for procedure in reached {
        let frame = linker.add(&program.procedures[procedure.index()]);
        linker.frames[procedure.index()] = Some(frame);
    }
    let Linker { registers, locations, edges, failed, frames } = linker;
    Body::new(registers, locations, body.entry, failed, edges).with_frames(frames)
}

struct Linker {
    registers: Vec<Register>,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    failed: Option<LocId>,
    frames: Vec<Option<Frame>>,
}

impl Linker {
    fn location(&mut self, location: Location) -> LocId {
        self.locations.push(location);
        LocId::new(self.locations.len() - 1)
    }

    fn thread_local(&self, name: &str) -> Option<RegId> {
        let is_it = |register: &Register| register.is_thread_local && register.name == name;
        self.registers.iter().position(is_it).map(RegId::new)
    }

    /// Gives the thread the thread-local variables of a procedure. They come before the registers of all procedures.
    fn add_thread_locals(&mut self, body: &Body) {
        for own in body.thread_locals().map(|own| &body.registers[own.index()]) {
            if self.thread_local(&own.name).is_none() {
                self.registers.push(own.clone());
            }
        }
    }

    /// Where each register of a procedure is in the thread.
    fn add_registers(&mut self, procedure: &Procedure) -> Vec<RegId> {
        let mut registers = Vec::new();
        for own in &procedure.body.registers {
            let shared = if own.is_thread_local { self.thread_local(&own.name) } else { None };
            registers.push(shared.unwrap_or_else(|| {
                self.registers.push(Register { name: format!("{}.{}", procedure.name, own.name), ..own.clone() });
                RegId::new(self.registers.len() - 1)
            }));
        }
        registers
    }

    fn add(&mut self, procedure: &Procedure) -> Frame {
        let body = &procedure.body;
        let first_location = self.locations.len();
        let registers = self.add_registers(procedure);
        let register = |register: RegId| registers[register.index()];
        let location = |location: LocId| LocId::new(first_location + location.index());
        for own in &body.locations {
            let labels = own.labels.iter().map(|label| format!("{}.{label}", procedure.name)).collect();
            self.location(Location { labels, span: own.span });
        }
        if let Some(failed) = body.failed
            && self.failed.is_none()
        {
            self.failed = Some(location(failed));
        }
        for edge in body.edges() {
            let instruction = edge.instruction.renamed(&mut |own| register(own));
            // The end of the procedure is not the end of the thread.
            let to = match edge.instruction {
                Instruction::Terminate => self.location(Location { labels: Vec::new(), span: edge.span }),
                _ => location(edge.to),
            };
            self.edges.push(Edge { from: location(edge.from), to, instruction, span: edge.span });
        }
        for end in implicit_ends(body) {
            let (from, span) = (location(end), body.locations[end.index()].span);
            self.edges.push(Edge { from, to: from, instruction: Instruction::Return(Expr::Const(0)), span });
        }
        let parameters = procedure.parameters.iter().map(|&parameter| register(parameter)).collect();
        Frame {
            entry: location(body.entry),
            parameters,
            registers: registers.into_iter().filter(|one| !self.registers[one.index()].is_thread_local).collect(),
            first_location: LocId::new(first_location),
            location_count: self.locations.len() - first_location,
        }
    }
}

/// Where control reaches the end of a procedure without `return`.
fn implicit_ends(body: &Body) -> BTreeSet<LocId> {
    let goes_on = |edge: &&Edge| !matches!(edge.instruction, Instruction::Return(_) | Instruction::Terminate);
    let arrived = body.edges().iter().filter(goes_on).map(|edge| edge.to).chain([body.entry]);
    arrived.filter(|&loc| body.is_done(loc)).gather()
}
