//! Threads started at run time as threads that wait from the start; for sequential consistency.
//!
//! ```text
//!                                       shared started_T: 0..2;
//! thread P { … spawn T; … }             thread P   { … fetch_add(started_T, 1); … }
//! thread T[0] { … }              →      thread T   { choose { await started_T > 0; … } or { } }
//!                                       thread T_1 { choose { await started_T > 1; … } or { } }
//! ```
//!
//! This is for tools that know no other threads than those of the start. A thread that would start one more than there
//! are waits forever. Under SC, runs are those of the program in which each thread is started at most so often: the
//! `k`-th `spawn` starts the `k`-th instance. Under TSO they would not be: the addition waits for an empty buffer, and a
//! `spawn` does not. [`bounded`](super::bounded) comes first then.
//!
//! Programs with locked sections are refused: an addition waits while another thread holds the lock, and a `spawn` does
//! not. Only [`bounded`](super::bounded) makes sections for which this does not matter: each `spawn` is in a section of
//! its own thread, and what is started begins with a section.
//!
//! Nobody can tell in advance that an instance will not be started, so that all have ended is a matter of choice: an
//! instance may end instead of waiting, and final states only count if no such instance was started.

use weir_ir::{
    Address, BinaryOp, BinaryRmw, Body, BodyBuilder, Diagnostic, Edge, Expr, Instruction, LocId, Location,
    Multiplicity, Program, Property, PropertyKind, Range, Rmw, Shared, Span, StateAtom, StateExpr, ThreadId, Value,
};

use crate::semantics::refuse;
use crate::verdict::Failure;

/// A program without `spawn`.
#[derive(Clone, Debug)]
pub struct Started {
    /// The program. What it does under SC, the original does under SC if no thread is started more often than there are
    /// instances.
    pub program: Program,
    /// The properties of the original that are left out: waiting threads are no deadlock, and what can still happen
    /// depends on how many threads there are.
    pub left_out: Vec<Property>,
}

/// The threads that one `spawn` starts.
struct Family {
    template: ThreadId,
    /// In the order in which they start.
    instances: Vec<ThreadId>,
    /// The cell that counts how many were started.
    started: Address,
}

/// An instance that has ended instead of waiting.
struct Absent {
    thread: ThreadId,
    location: LocId,
    number: Value,
    started: Address,
}

/// What locked sections a program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    /// Those that it was written with.
    Own,
    /// Those that [`bounded`](super::bounded) has made, one per round.
    Rounds,
}

/// Replaces `spawn` by counters, for so many instances of each thread, and at least one.
///
/// # Errors
/// If the program has locked sections of its own, or calls procedures (they can be [unrolled](super::unroll) first).
pub fn start(program: &Program, instances: u32, sections: Sections) -> Result<Started, Failure> {
    refuse::unsupported_but_spawn(program, "spawn")?;
    if sections == Sections::Own {
        refuse_locks(program)?;
    }
    let mut made = program.linked(instances.max(1));
    made.constants.clone_from(&program.constants);
    made.options.clone_from(&program.options);
    let families = families(&mut made, program);
    let mut absent = Vec::new();
    for family in &families {
        for (number, &thread) in (0..).zip(&family.instances) {
            let (body, location) = waiting(made.body(thread), family.started, number);
            absent.push(Absent { thread, location, number, started: family.started });
            let thread = &mut made.threads[thread.index()];
            (thread.body, thread.multiplicity) = (body, Multiplicity::One);
        }
    }
    for thread in &mut made.threads {
        thread.body = thread.body.map_edges(|edge| match edge.instruction {
            Instruction::Spawn(spawned) => Edge { instruction: counting(&families, spawned), ..edge.clone() },
            _ => edge.clone(),
        });
    }
    let is_kept = |property: &Property| {
        matches!(property.kind, PropertyKind::Forbid(_) | PropertyKind::Exists(_) | PropertyKind::Always(_))
    };
    let (mut kept, left_out): (Vec<Property>, Vec<Property>) = made.properties.drain(..).partition(is_kept);
    for property in &mut kept {
        property.kind = among_final_states(&property.kind, &absent);
    }
    made.properties = kept;
    Ok(Started { program: made, left_out })
}

fn refuse_locks(program: &Program) -> Result<(), Failure> {
    let edges = program.threads.iter().map(|thread| &thread.body).chain(program.procedures.iter().map(|one| &one.body));
    let mut edges = edges.flat_map(|body| body.edges());
    let Some(edge) = edges.find(|edge| edge.instruction == Instruction::Lock) else { return Ok(()) };
    let what = "`spawn` cannot be replaced in a program with locked sections: it does not wait for their end";
    let help = "use read-modify-writes instead of `atomic` blocks and `lock`";
    Err(Failure::Refused(Box::new(Diagnostic::error("spawn-and-lock", what, edge.span).help(help))))
}

/// Declares a counter for each thread that `spawn` names.
fn families(made: &mut Program, program: &Program) -> Vec<Family> {
    let mut named: Vec<ThreadId> = Vec::new();
    for edge in program.running_threads().flat_map(|thread| made.body(thread).edges()) {
        if let Instruction::Spawn(thread) = edge.instruction
            && !named.contains(&thread)
        {
            named.push(thread);
        }
    }
    named.sort_unstable();
    named
        .into_iter()
        .map(|template| {
            let instances: Vec<ThreadId> = made.instances(template).collect();
            let started = declare(made, template, instances.len() as Value);
            Family { template, instances, started }
        })
        .collect()
}

/// A cell that counts up to `most`, which the program does not use.
fn declare(program: &mut Program, template: ThreadId, most: Value) -> Address {
    let ends = program.shared.iter().map(|shared| shared.address.saturating_add(shared.initial.len() as Address));
    let address = ends.max().unwrap_or(1).max(1);
    let mut name = format!("started_{}", program.thread(template).name);
    let registers = |name: &str| {
        program.threads.iter().any(|thread| thread.body.registers.iter().any(|register| register.name == *name))
    };
    while program.shared(&name).is_some() || registers(&name) {
        name.push('_');
    }
    let range = Some(Range { low: 0, high: most });
    let (is_array, width, span) = (false, None, Span::default());
    program.shared.push(Shared { name, address, is_array, initial: vec![0], range, width, span });
    address
}

/// What stands for `spawn`: one more is started, if there is one left.
fn counting(families: &[Family], spawned: ThreadId) -> Instruction {
    let family = families.iter().find(|family| family.template == spawned);
    match family.filter(|family| !family.instances.is_empty()) {
        Some(family) => Instruction::ReadModifyWrite {
            register: None,
            address: Expr::Const(family.started),
            operation: Rmw::Fetch(BinaryRmw::Add, Expr::Const(1)),
        },
        None => Instruction::Assume(Expr::Const(0)),
    }
}

/// The body of an instance that waits for its number, and the location at which it has given up.
fn waiting(body: &Body, started: Address, number: Value) -> (Body, LocId) {
    let mut builder: BodyBuilder<()> = BodyBuilder::new(body.registers.clone(), []);
    for location in &body.locations {
        builder.labelled_location(location.clone());
    }
    let value = builder.register("started");
    let span = body.locations[body.entry.index()].span;
    let [entry, absent] = [(); 2].map(|()| builder.labelled_location(Location { labels: Vec::new(), span }));
    let condition = Expr::binary(BinaryOp::Greater, Expr::Leaf(value), Expr::Const(number));
    let wait = Instruction::Await { loads: vec![(value, Expr::Const(started))], condition };
    builder.edge(Edge { from: entry, to: body.entry, instruction: wait, span }, ());
    builder.edge(Edge { from: entry, to: absent, instruction: Instruction::Skip, span }, ());
    body.edges().iter().for_each(|edge| builder.edge(edge.clone(), ()));
    (builder.finish(entry, body.failed).0, absent)
}

/// The property, about those final states in which nobody has ended who was started.
fn among_final_states(kind: &PropertyKind, absent: &[Absent]) -> PropertyKind {
    let was_started = |one: &Absent| -> StateExpr {
        let at = Expr::Leaf(StateAtom::At { thread: one.thread, locations: vec![one.location] });
        let count = Expr::Leaf(StateAtom::Cell(one.started));
        Expr::binary(BinaryOp::And, at, Expr::binary(BinaryOp::Greater, count, Expr::Const(one.number)))
    };
    let Some(wrong) = absent.iter().map(was_started).reduce(|one, other| Expr::binary(BinaryOp::Or, one, other)) else {
        return kind.clone();
    };
    match kind {
        PropertyKind::Exists(condition) => {
            PropertyKind::Exists(Expr::binary(BinaryOp::And, condition.clone(), wrong.negated()))
        }
        PropertyKind::Always(condition) => PropertyKind::Always(Expr::binary(BinaryOp::Or, condition.clone(), wrong)),
        other => other.clone(),
    }
}
