//! A question about TSO as a question about SC: the source-to-source translation of "Checking and Enforcing Robustness
//! against TSO", §5, extended by locks, read-modify-writes, ranges and computed addresses.
//!
//! The program that is made has, beside each cell, three more, an equal distance apart: what the attacker has stored
//! there and nobody else has seen; whether there is such a store; and how the helpers have accessed the cell since the
//! attack's load (the paper's access levels). Its only property forbids a flag that is set exactly if an attack
//! succeeds.
//!
//! - The *attacker* runs as before until it takes the attack's store privately; then it goes on in a copy of its code
//!   (Figure 5) until the attack's load, and from then on waits for the helpers to come round to the address of the
//!   store.
//! - A *helper* runs as before. With an access that happens after one on the path it changes to a copy of its code in
//!   which each access is recorded (Figure 7).
//!
//! What differs from the figures, and why nothing is lost:
//! - A record is made after its access, never before, and a level is looked at before the access that needs it. Levels
//!   only grow. So whatever others do in between, what a helper relies on has happened, and access and record need not
//!   be one step.
//! - The figures stop helpers that are not on the path (their flag `hb`). They may as well go on: what they do then is
//!   some part of a run under TSO that has the cycle anyway.
//! - The attacker looks for success, not the helpers: that needs no cell for the address of the delayed store. It looks
//!   by a load, which waits while a helper holds the lock, as the delayed store would have to.
//! - A locked section counts as one access: if something in it is on the path, so is what came before in the section.
//!   So at its `lock` a helper may guess that the section will come to be on the path. It then records its accesses at
//!   once, in bits of its own that it does not rely on itself; and without something else to rely on it never gets to
//!   `unlock`. Nobody else can look before that.
//! - A helper cannot execute a membarrier during an attack. So before the attacker begins it sets a flag, and a
//!   membarrier is a load of the flag that must find it clear. The load waits while another thread holds the lock,
//!   which a membarrier need not; but it could then as well have come before the section, and nobody succeeds before
//!   the section ends. On the path and in sections that come to be there it is left out.
//! - An assertion that fails only ends its thread, so it becomes an `assume`.

mod attacker;
mod helper;
mod space;
mod thread;

use weir_ir::{
    BinaryOp, Diagnostic, EdgeId, Expr, Instruction, Program, Property, PropertyKind, Shared, Span, StateAtom,
    ThreadId, Value, validate,
};

use weir_witness::{Action, Run, Step};

use self::space::Space;
use self::thread::ThreadWriter;
use super::Translation;
use crate::attack::{self, Attack, AttackStep};
use crate::semantics::refuse;
use crate::verdict::Failure;

/// What a step of the instrumented program does in the original one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) edge: EdgeId,
    pub(crate) kind: AttackStep,
}

/// An instrumented program.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The program. Its only property is violated under SC exactly if one of the attacks succeeds.
    pub program: Program,
    /// For each thread and edge what it does in the original program; `None` if it is auxiliary.
    pub(crate) origins: Vec<Vec<Option<Origin>>>,
}

impl Translation for Instrumented {
    fn program(&self) -> &Program {
        &self.program
    }

    /// The run of the attack under TSO: only the attacker's stores are delayed.
    fn map_back(&self, original: &Program, run: &Run) -> Run {
        let step = |step: &Step| -> Option<(Step, AttackStep)> {
            let Action::Execute { edge, choice } = step.action else { return None };
            let origin = self.origins[step.thread.index()][edge.index()]?;
            Some((Step { thread: step.thread, action: Action::Execute { edge: origin.edge, choice } }, origin.kind))
        };
        attack::run_under_tso(original, &run.steps.iter().filter_map(step).collect::<Vec<_>>())
    }
}

/// Instruments the program for one attack.
///
/// # Errors
/// If the program cannot be translated; the diagnostic says why.
pub fn instrument(program: &Program, attack: Attack) -> Result<Instrumented, Failure> {
    instrument_for(program, &[attack], false)
}

/// Instruments the program for all these attacks at once: each thread can be the attacker or a helper, and a flag lets
/// only one be the attacker (§8.3 of the paper).
///
/// # Errors
/// If the program cannot be translated; the diagnostic says why.
pub fn instrument_all(program: &Program, attacks: &[Attack]) -> Result<Instrumented, Failure> {
    instrument_for(program, attacks, true)
}

/// The bits of a level that stand for "accessed" and "stored to".
const LOADED: Value = 1;
const STORED: Value = 3;

/// The cells that stand alone.
#[derive(Clone, Copy, Debug)]
struct Flags {
    /// Set when an attack has succeeded.
    success: Value,
    /// Set when a thread has become the attacker, if several can or if helpers must know.
    attacking: Option<Value>,
}

/// What is the same for all threads.
struct Context<'a> {
    program: &'a Program,
    attacks: &'a [Attack],
    space: Space,
    flags: Flags,
    /// Threads with locked sections, in order: each has two bits of its own in each level.
    lockers: Vec<ThreadId>,
}

impl Context<'_> {
    /// Whether the thread can be a helper: there is an attack of another one.
    fn can_help(&self, thread: ThreadId) -> bool {
        self.attacks.iter().any(|attack| attack.thread != thread)
    }

    /// How far the bits of the thread's own are shifted, if it has any.
    fn own_shift(&self, thread: ThreadId) -> Option<u32> {
        self.lockers.iter().position(|&locker| locker == thread).map(|at| 2 * (at as u32 + 1))
    }

    /// All bits of a level.
    fn all_bits(&self) -> Value {
        (1 << (2 * (self.lockers.len() + 1))) - 1
    }

    /// All bits of a level that stand for "stored to".
    fn store_bits(&self) -> Value {
        // Every second bit: 0b…1010.
        self.all_bits() / 3 * 2
    }
}

/// More threads with locked sections than this, and their bits do not fit a level.
pub(crate) const MOST_LOCKERS: usize = 30;

fn instrument_for(program: &Program, attacks: &[Attack], choose: bool) -> Result<Instrumented, Failure> {
    refuse::unsupported_by(program, refuse::Who::Other("the analysis of robustness"))?;
    let space = Space::new(program)?;
    let lockers: Vec<ThreadId> =
        program.running_threads().filter(|&thread| program.body(thread).takes_lock()).collect();
    if let Some(&thread) = lockers.get(MOST_LOCKERS) {
        return Err(too_many_lockers(program, thread));
    }
    let (success, attacking) = space.two_free_addresses();
    let flags = Flags { success, attacking: (choose || has_membarrier(program)).then_some(attacking) };
    let context = Context { program, attacks, space, flags, lockers };
    let mut made = Program {
        source: program.source.clone(),
        constants: program.constants.clone(),
        options: program.options.clone(),
        shared: declarations(&context),
        threads: program.threads.clone(),
        properties: vec![property(success)],
        ..Program::default()
    };
    let mut origins = vec![Vec::new(); program.threads.len()];
    for thread in program.running_threads() {
        let (body, origin) = ThreadWriter::thread(&context, thread);
        made.threads[thread.index()].body = body;
        origins[thread.index()] = origin;
    }
    match validate(&made).into_iter().next() {
        None => Ok(Instrumented { program: made, origins }),
        Some(error) => Err(Failure::Refused(Box::new(error))),
    }
}

fn has_membarrier(program: &Program) -> bool {
    let mut bodies = program.running_threads().map(|thread| program.body(thread));
    bodies.any(|body| body.edges().iter().any(|edge| edge.instruction == Instruction::Membarrier))
}

fn too_many_lockers(program: &Program, thread: ThreadId) -> Failure {
    let what = format!(
        "the instrumentation supports locked sections in at most {MOST_LOCKERS} threads, and this program has more"
    );
    let error = Diagnostic::error("too-many-lockers", what, program.thread(thread).span);
    Failure::Refused(Box::new(error.help("use fewer threads, or `--method attacks`")))
}

/// The property: the flag is never set.
fn property(success: Value) -> Property {
    let flag = Expr::Leaf(StateAtom::Cell(success));
    let is_set = Expr::binary(BinaryOp::Equal, flag, Expr::Const(1));
    Property { kind: PropertyKind::Forbid(is_set), span: Span::default() }
}

/// The cells of the program, the three beside each, and the flags.
fn declarations(context: &Context<'_>) -> Vec<Shared> {
    let program = context.program;
    let mut names: Vec<String> = program.shared.iter().map(|shared| shared.name.clone()).collect();
    names.extend(program.threads.iter().map(|thread| thread.name.clone()));
    names.extend(program.constants.iter().map(|(name, _)| name.clone()));
    let mut made = program.shared.clone();
    for shared in &program.shared {
        let mut beside = |kind: &str, address, initial, (range, width)| {
            let name = fresh(&mut names, &format!("{}_{kind}", shared.name));
            made.push(Shared { name, address, initial, range, width, ..shared.clone() });
        };
        let zeros = vec![0; shared.initial.len()];
        let at = |address| context.space.beside(shared.address, address);
        // The same range and width, so that a store that is blocked there is blocked here, and one that wraps wraps.
        beside("delayed", at(space::DELAYED), shared.initial.clone(), (shared.range, shared.width));
        beside("waits", at(space::WAITS), zeros.clone(), (None, None));
        beside("level", at(space::LEVEL), zeros, (None, None));
    }
    let flags = [("success", Some(context.flags.success)), ("attacking", context.flags.attacking)];
    for (name, address) in flags {
        if let Some(address) = address {
            let (name, initial) = (fresh(&mut names, name), vec![0]);
            made.push(Shared {
                name,
                address,
                is_array: false,
                initial,
                range: None,
                width: None,
                span: Span::default(),
            });
        }
    }
    made
}

/// A name that is not taken, and takes it.
fn fresh(names: &mut Vec<String>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while names.contains(&name) {
        name.push('_');
    }
    names.push(name.clone());
    name
}

#[cfg(test)]
mod tests;
