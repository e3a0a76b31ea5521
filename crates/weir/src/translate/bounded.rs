//! Runs with boundedly many rounds, or with stores of bounded age, as runs under SC: "Getting Rid of Store-Buffers in
//! TSO Analysis".
//!
//! A *round* of a thread is a part of a run in which only that thread takes steps, or flushes. The translated program
//! makes each round one atomic section. Within a round nobody else looks at memory, so it does not matter in which
//! order the thread's own stores reach it: all that counts is which of them have done so when the round ends. A store
//! therefore chooses, when it is made, the round in which it will reach memory: this one, and then it is made at once,
//! or the `d`-th round from now, and then it is kept in registers. Since buffers are first-in first-out, no later store
//! can choose an earlier round (`ahead` is the latest choice), and of the stores to one cell that choose the same round
//! only the last one counts:
//!
//! - `mask1_x`: whether a store to `x` reaches memory in the next round; `queue1_x`: the value of the last such store.
//!   `mask2_x` and `queue2_x` are for the round after that, and so on. At the start of a round the next one becomes
//!   this one (`begin.rs`).
//! - `view_x`: what the thread reads from `x`: its newest store that has not reached memory, else what memory holds.
//!
//! Two bounds make the copies finitely many ([`RunBound`]). *Rounds*: a thread has at most K rounds, so a store made in
//! round i can choose from at most K - i later ones. *Age*: a store can choose from the next K rounds only, but a
//! thread has as many rounds as it likes.
//!
//! Both translations are linear: what happens at the start of a round is written once per thread, with a register
//! (`resume`) that tells where to go on, and a thread has copies only of cells that it accesses.
//!
//! A thread that `spawn` starts begins between two rounds, with nothing kept: its first round sets its view, as the first
//! round of any thread does. So `spawn` stays as it is, whether or not it is known how many threads it starts. Procedures
//! stay, too: threads that call some have their copies in thread-local variables, which procedures share (`group.rs`).
//!
//! Deviations from the paper, whose two translations are one here:
//! - Copies are numbered from the current round, not from the first. So they are never used modulo K + 1, one copy
//!   fewer is needed, and states that differ only in how far the numbers have turned are one.
//! - Figure 3 rebuilds the view of a cell only if no store to it is kept. Here every view is set anew, memory first and
//!   then what is kept: views of a thread that is not in a round are dead, and states do not differ by them.
//! - A thread that takes the lock stays in its round until it gives it back (`thread.rs`).
//! - A round may end only where that can make a difference (`places.rs`).
//!
//! Direction of error: none, for the runs that are covered. What the translated program shows in a state in which
//! nothing is kept, the original shows in a drained state, by a run within the bound; and the other way round.
//! SOUNDNESS.md has the definitions and the proof.

mod access;
mod begin;
mod cells;
mod comments;
mod group;
mod places;
mod properties;
mod thread;

use std::collections::{BTreeSet, VecDeque};

use weir_ir::flow::Ranges;
use weir_ir::{
    Address, Body, BodyBuilder, Comments, Diagnostic, Edge, EdgeId, Gather, Instruction, LocId, ProcId, Program,
    Property, PropertyKind, Range, RegId,
};
use weir_ir::{Shared, Span, ThreadId, validate};
use weir_witness::{Action, Model, Run, Step};

use self::cells::Cells;
pub(crate) use self::cells::MOST_CELLS;
use self::group::Group;
use self::thread::{Marks, Writer};
use super::Translation;
use crate::semantics::refuse;
use crate::session::Session;
use crate::verdict::Failure;

/// The largest bound: the translated program grows in proportion to it.
pub(crate) const MOST_ROUNDS: u32 = 100;

/// Which runs are covered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RunBound {
    /// Those in which each thread has at most so many rounds. At least 1.
    Rounds(u32),
    /// Those in which each store reaches memory at most so many rounds of its thread after the one in which it was
    /// made. With 0, every store does so in the round in which it was made: that is SC.
    Age(u32),
}

impl RunBound {
    /// The name of the pass and of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds(_) => "rounds",
            Self::Age(_) => "age",
        }
    }

    /// The number.
    pub fn number(self) -> u32 {
        let (Self::Rounds(number) | Self::Age(number)) = self;
        number
    }

    /// The bound, if its number makes sense.
    ///
    /// # Errors
    /// Which numbers make sense, if this one does not.
    pub fn check(self) -> Result<Self, String> {
        let least = u32::from(matches!(self, Self::Rounds(_)));
        if (least..=MOST_ROUNDS).contains(&self.number()) {
            return Ok(self);
        }
        Err(format!("the bound of `{}` must be from {least} to {MOST_ROUNDS}", self.name()))
    }

    /// The bound, or a refusal.
    fn checked(self) -> Result<Self, Failure> {
        let help = "small bounds find most violations: start with 2";
        let refused = |what| Box::new(Diagnostic::error("run-bound", what, Span::default()).help(help));
        self.check().map_err(|what| Failure::Refused(refused(what)))
    }

    /// How many rounds after the current one a store can wait for at most.
    fn copies(self) -> u32 {
        match self {
            Self::Rounds(most) => most.saturating_sub(1),
            Self::Age(most) => most,
        }
    }
}

/// What an edge of the translated program does in the original one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Origin {
    /// Begins a round.
    pub(crate) begins: bool,
    /// The next store of the thread reaches memory so many rounds from now.
    pub(crate) lands: Option<u32>,
    /// Executes this edge.
    pub(crate) execute: Option<EdgeId>,
}

/// A translated program.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The program. What it does under SC, the original does under TSO.
    pub program: Program,
    /// The bound.
    pub bound: RunBound,
    /// For each thread and edge, what it does in the original program.
    pub(crate) origins: Vec<Vec<Origin>>,
    /// For each thread and location, the location of the original that it stands for, where it stands for one.
    stands_for: Vec<Vec<Option<LocId>>>,
    marks: Vec<Marks>,
    comments: Comments,
}

impl Bounded {
    /// Comments for the text of the program.
    pub fn comments(&self) -> &Comments {
        &self.comments
    }

    /// The place in the original program where a thread is, if the translated one is not in the middle of something.
    pub fn original_location(&self, thread: ThreadId, location: LocId) -> Option<LocId> {
        self.stands_for.get(thread.index())?.get(location.index()).copied().flatten()
    }

    /// The registers of a thread that are 0 where it keeps no stores back and is not in the middle of a step of the
    /// original.
    pub fn marks(&self, thread: ThreadId) -> &[RegId] {
        &self.marks[thread.index()].registers
    }
}

impl Translation for Bounded {
    fn program(&self) -> &Program {
        &self.program
    }

    /// A store that waits is flushed when the round begins that it has chosen; any other one at once. Only for programs
    /// without procedures: the engines unroll these first.
    fn map_back(&self, original: &Program, run: &Run) -> Run {
        let mut steps = Vec::new();
        let mut kept: Vec<VecDeque<u32>> = vec![VecDeque::new(); original.threads.len()];
        let mut lands = vec![0; original.threads.len()];
        for step in &run.steps {
            let (thread, at) = (step.thread, step.thread.index());
            let Action::Execute { edge, choice } = step.action else { continue };
            let origin = self.origins[at][edge.index()];
            if origin.begins {
                kept[at].iter_mut().for_each(|rounds| *rounds = rounds.saturating_sub(1));
                while kept[at].front() == Some(&0) {
                    kept[at].pop_front();
                    steps.push(Step { thread, action: Action::Flush });
                }
            }
            lands[at] = origin.lands.unwrap_or(lands[at]);
            let Some(edge) = origin.execute else { continue };
            steps.push(Step { thread, action: Action::Execute { edge, choice } });
            if !original.body(thread).edge(edge).instruction.is_store() {
                continue;
            }
            match lands[at] {
                0 => steps.push(Step { thread, action: Action::Flush }),
                rounds => kept[at].push_back(rounds),
            }
        }
        Run { model: Model::Tso, steps }
    }
}

/// Translates a program: what the result does under SC, the original does under TSO by runs within the bound.
///
/// # Errors
/// If it has a property about deadlocks or about what can still happen, or if it is not known which cells a computed
/// address can name.
pub fn bounded(program: &Program, bound: RunBound, session: &Session) -> Result<Bounded, Failure> {
    let bound = bound.checked()?;
    refuse::unsupported_but_calls(program, bound.name())?;
    refuse_properties(&program.properties, bound)?;
    let ranges = Ranges::of_until(program, session);
    let several = several(program);
    let (mut cells, group) = copied(program, &ranges, bound, &several)?;
    let mut translated = program.clone();
    let pending = pending_cell(&mut translated, &cells, group.as_ref(), &several);
    if let Some(group) = &group {
        for (_, cells) in cells.iter_mut().filter(|(owner, _)| owner.shares_procedures(program)) {
            *cells = std::mem::take(cells).within(&group.cells);
        }
    }
    let suffix = comments::suffix(program);
    let mut made = Bounded {
        program: translated,
        bound,
        origins: Vec::new(),
        stands_for: Vec::new(),
        marks: Vec::new(),
        comments: Comments::default(),
    };
    for (owner, cells) in &cells {
        let group = group.as_ref().filter(|_| owner.shares_procedures(program));
        let (owner, body, span) = (*owner, owner.body(program), owner.span(program));
        let context =
            Context { program, owner, body, span, bound, cells, group, ranges: &ranges, pending, suffix: &suffix };
        match owner {
            Owner::Procedure(procedure) => {
                made.program.procedures[procedure.index()].body = Writer::body(&context).body;
            }
            Owner::Thread(thread) => {
                let runs = program.running_threads().any(|running| running == thread);
                let written = if runs { Writer::body(&context) } else { thread::unchanged(body) };
                made.program.threads[thread.index()].body = written.body;
                made.origins.push(written.origins);
                made.stands_for.push(written.stands_for);
                made.marks.push(written.marks);
            }
        }
    }
    if let Some(group) = &group {
        let (owner, body) = (Owner::Procedure(ProcId(0)), &group::nothing());
        let (cells, span, group) = (&group.cells, Span::default(), Some(group));
        let context =
            Context { program, owner, body, span, bound, cells, group, ranges: &ranges, pending, suffix: &suffix };
        made.program.procedures.extend(group::procedures(&context));
    }
    let quiet = properties::Quiet { marks: &made.marks, stands_for: &made.stands_for, several: &several, pending };
    made.program.properties = properties::translated(program, &quiet);
    let counter = pending.and_then(|cell| made.program.shared_at(cell)).map(|(shared, _)| shared.name.as_str());
    made.comments = comments::comments(bound, &suffix, counter, group.is_some());
    // Steps are not those of the original, so costs would mean nothing.
    made.program.costs.clear();
    match validate(&made.program).into_iter().next() {
        None => Ok(made),
        Some(error) => Err(Failure::Refused(Box::new(error))),
    }
}

/// The cells of which each thread, and each procedure that is called, needs copies, and what threads that call
/// procedures share.
#[allow(clippy::type_complexity)]
fn copied(
    program: &Program,
    ranges: &Ranges,
    bound: RunBound,
    several: &[bool],
) -> Result<(Vec<(Owner, Cells)>, Option<Group>), Failure> {
    let called = program.called_procedures().into_iter().map(Owner::Procedure);
    let mut all = Vec::new();
    for owner in program.thread_ids().map(Owner::Thread).chain(called) {
        all.push((owner, Cells::of(program, owner, ranges, bound)?));
    }
    let sharing = || all.iter().filter(|(owner, _)| owner.shares_procedures(program));
    if sharing().next().is_none() {
        return Ok((all, None));
    }
    let has_several = sharing().any(|(owner, _)| matches!(owner, Owner::Thread(thread) if several[thread.index()]));
    let group = Group::new(program, Cells::together(sharing().map(|(_, cells)| cells)), has_several);
    Ok((all, Some(group)))
}

/// Whose code it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Thread(ThreadId),
    Procedure(ProcId),
}

impl Owner {
    fn body(self, program: &Program) -> &Body {
        match self {
            Self::Thread(thread) => program.body(thread),
            Self::Procedure(procedure) => &program.procedures[procedure.index()].body,
        }
    }

    fn span(self, program: &Program) -> Span {
        match self {
            Self::Thread(thread) => program.thread(thread).span,
            Self::Procedure(procedure) => program.procedures[procedure.index()].span,
        }
    }

    /// Whether it is a procedure, or a thread that calls some.
    fn shares_procedures(self, program: &Program) -> bool {
        let is_call = |edge: &Edge| matches!(edge.instruction, Instruction::Call { .. });
        match self {
            Self::Thread(thread) => {
                program.running_threads().any(|running| running == thread)
                    && program.body(thread).edges().iter().any(is_call)
            }
            Self::Procedure(_) => true,
        }
    }

    fn addresses_of(self, ranges: &Ranges, edge: EdgeId) -> &[Range] {
        match self {
            Self::Thread(thread) => ranges.addresses_of(thread, edge),
            Self::Procedure(procedure) => ranges.addresses_in(procedure, edge),
        }
    }

    fn can_take(self, ranges: &Ranges, edge: EdgeId) -> bool {
        match self {
            Self::Thread(thread) => ranges.can_take(thread, edge),
            Self::Procedure(procedure) => ranges.can_take_in(procedure, edge),
        }
    }
}

/// What the translation of a thread or procedure needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    program: &'a Program,
    owner: Owner,
    body: &'a Body,
    span: Span,
    bound: RunBound,
    cells: &'a Cells,
    /// What it shares with others, if procedures are called.
    group: Option<&'a Group>,
    ranges: &'a Ranges,
    /// The cell that counts the threads with stores that have not reached memory, if somebody asks.
    pending: Option<Address>,
    /// What labels of common code end in.
    suffix: &'a str,
}

impl Context<'_> {
    /// A new register.
    fn register(&self, builder: &mut BodyBuilder<Origin>, name: &str) -> RegId {
        group::register(self.group, builder, name)
    }
}

/// Deadlocks would have to be told from threads that have no rounds left, and what can still happen is not a matter of
/// bounded runs.
fn refuse_properties(properties: &[Property], bound: RunBound) -> Result<(), Failure> {
    let name = bound.name();
    for property in properties {
        let (code, what) = match property.kind {
            PropertyKind::ForbidDeadlock => ("deadlock-not-supported", "decide deadlocks"),
            PropertyKind::ForbidStuck | PropertyKind::Live(_) => {
                ("liveness-not-supported", "decide what can still happen")
            }
            PropertyKind::Forbid(_) | PropertyKind::Exists(_) | PropertyKind::Always(_) => continue,
        };
        let what = format!("`{name}` cannot {what}: a thread may wait only because it has reached the bound");
        let help = "use `--engine explicit` or `dual` for this property, and select the others with `--goal`";
        return Err(Failure::Refused(Box::new(Diagnostic::error(code, what, property.span).help(help))));
    }
    Ok(())
}

/// For each thread, whether there can be several instances of it, which only `spawn` starts: properties cannot mention
/// the registers of these.
fn several(program: &Program) -> Vec<bool> {
    let called = program.called_procedures().into_iter().map(Owner::Procedure);
    let owners = program.running_threads().map(Owner::Thread).chain(called);
    let spawned: BTreeSet<&str> = owners
        .flat_map(|owner| owner.body(program).edges())
        .filter_map(|edge| match edge.instruction {
            Instruction::Spawn(thread) => Some(program.thread(thread).family.0.as_str()),
            _ => None,
        })
        .gather();
    program.threads.iter().map(|thread| spawned.contains(thread.family.0.as_str())).collect()
}

/// Declares the cell that counts threads whose stores have not all reached memory, if there is a `membarrier` that
/// waits for them, or if properties have no other way to ask.
fn pending_cell(
    program: &mut Program,
    cells: &[(Owner, Cells)],
    group: Option<&Group>,
    several: &[bool],
) -> Option<Address> {
    let asks = |(owner, _): &(Owner, Cells)| {
        matches!(owner, Owner::Thread(thread) if several[thread.index()])
            || owner.body(program).edges().iter().any(|edge| edge.instruction == Instruction::Membarrier)
    };
    let keeps = cells.iter().any(|(_, cells)| cells.copies > 0);
    if !(cells.iter().any(asks) && keeps || group.is_some_and(|group| group.several)) {
        return None;
    }
    let observed = properties::observed_cells(program);
    let is_used = |address: Address| {
        program.shared_at(address).is_some()
            || observed.contains(&address)
            || cells.iter().any(|(_, cells)| cells.contains(address))
    };
    let ends = program.shared.iter().map(|shared| shared.address.saturating_add(shared.initial.len() as Address));
    let from = ends.max().unwrap_or(1).max(1);
    let address = (from..Address::MAX).chain(1..from).find(|&address| !is_used(address))?;
    let mut name = "pending".to_owned();
    let is_taken = |name: &String| {
        let has_register = |body: &Body| body.registers.iter().any(|register| register.name == *name);
        program.shared(name).is_some() || cells.iter().any(|(owner, _)| has_register(owner.body(program)))
    };
    while is_taken(&name) {
        name.push('_');
    }
    // Of threads that are started at run time there may be any number.
    let most = program.threads.len() as Address;
    let range = (!several.contains(&true)).then_some(Range { low: 0, high: most });
    program.shared.push(Shared {
        name,
        address,
        is_array: false,
        initial: vec![0],
        range,
        width: None,
        span: Span::default(),
    });
    Some(address)
}
