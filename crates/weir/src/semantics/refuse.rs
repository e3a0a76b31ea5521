//! What the explicit engine cannot handle, said before it starts.

use std::collections::BTreeSet;

use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Edge, Instruction, Multiplicity, ProcId, Program, Span, Thread, ThreadId};

use super::size::MOST_WORDS;
use crate::verdict::Failure;

/// More places than this are only counted.
const MOST_PLACES: usize = 10;

/// The code of a refusal of arbitrarily many threads, which other commands support.
const ARBITRARY: &str = "arbitrary-threads";

/// What a program has that the engine cannot handle.
struct Obstacle {
    code: &'static str,
    span: Span,
    what: String,
    help: &'static str,
}

/// Who cannot handle a program.
#[derive(Clone, Copy)]
pub(crate) enum Who<'a> {
    /// An engine, by its name.
    Engine(&'a str),
    /// Something else, as the subject of a sentence.
    Other(&'a str),
}

impl Who<'_> {
    fn text(self) -> String {
        match self {
            Self::Engine(name) => format!("the {name} engine"),
            Self::Other(subject) => subject.to_owned(),
        }
    }

    /// What to use instead for recursion and `spawn`.
    fn way_out(self) -> &'static str {
        match self {
            // Engines of `reach`.
            Self::Engine("lazy" | "dual" | "rounds" | "age") => "use `check`, or `reach --engine explicit`; or ",
            Self::Engine(_) | Self::Other(_) => "only `check` and `reach` support this; ",
        }
    }
}

/// Refuses what the explicit engine cannot handle.
pub(crate) fn unsupported(program: &Program) -> Result<(), Failure> {
    unsupported_by(program, Who::Engine("explicit"))
}

/// Refuses what cannot be handled even where threads are started at run time: by engines that are asked by
/// [`dynamic`](mod@crate::dynamic), which knows what it means that there are only so many of them.
pub(crate) fn unsupported_but_spawn(program: &Program, engine: &str) -> Result<(), Failure> {
    refused(program, Who::Engine(engine), Allowed { spawn: true, calls: false, templates: false })
}

/// Refuses what cannot be handled even where procedures are called, and threads started at run time.
pub(crate) fn unsupported_but_calls(program: &Program, pass: &str) -> Result<(), Failure> {
    refused(program, Who::Engine(pass), Allowed { spawn: true, calls: true, templates: false })
}

/// Refuses what cannot be handled even where arbitrarily many threads can.
pub(crate) fn unsupported_templates(program: &Program) -> Result<(), Failure> {
    refused(program, Who::Engine("explicit"), Allowed { spawn: false, calls: false, templates: true })
}

/// Refuses arbitrarily many threads in a program with recursion or `spawn`.
pub(crate) fn dynamic_templates(program: &Program) -> Result<(), Failure> {
    let is_template = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::Arbitrary;
    let Some(template) = program.thread_ids().find(is_template).filter(|_| program.is_dynamic()) else {
        return Ok(());
    };
    let thread = program.thread(template);
    let message =
        format!("there are arbitrarily many copies of `{}`, in a program with recursion or `spawn`", thread.name);
    let refusal = Diagnostic::error("arbitrary-threads", message, thread.span);
    let name = &thread.name;
    let help = if program.can_be_spawned()[template.index()] {
        format!("leave it to `spawn` how many there are, with `-D '{name}[*]=0'` or `thread {name}[0]`")
    } else {
        format!("set the number of copies, as in `-D '{name}[*]=3'`")
    };
    Err(Failure::Refused(Box::new(refusal.help(help))))
}

/// Refuses programs whose states have no fixed shape, and lists everything that is not supported.
pub(crate) fn unsupported_by(program: &Program, who: Who<'_>) -> Result<(), Failure> {
    refused(program, who, Allowed { spawn: false, calls: false, templates: false })
}

/// What an engine supports that others do not.
#[derive(Clone, Copy)]
struct Allowed {
    spawn: bool,
    calls: bool,
    templates: bool,
}

fn refused(program: &Program, who: Who<'_>, allowed: Allowed) -> Result<(), Failure> {
    let mut obstacles = Vec::new();
    for thread in &program.threads {
        match thread.multiplicity {
            Multiplicity::Arbitrary if allowed.templates => {}
            Multiplicity::Arbitrary => obstacles.push(arbitrarily_many(thread)),
            // Nobody can start it but a `spawn`, which is refused where it stands.
            Multiplicity::Spawned if !allowed.spawn => continue,
            Multiplicity::Spawned | Multiplicity::One => {}
        }
        let is_allowed = |edge: &&Edge| match edge.instruction {
            Instruction::Spawn(_) => allowed.spawn,
            Instruction::Call { .. } => allowed.calls,
            _ => false,
        };
        let edges = thread.body.edges().iter().filter(|edge| !is_allowed(edge));
        obstacles.extend(edges.filter_map(|edge| obstacle(program, edge)));
    }
    // Copies of one thread or procedure have the same text.
    let mut seen = BTreeSet::new();
    obstacles.retain(|obstacle| seen.insert((obstacle.span, obstacle.code)));
    sort_by_key(&mut obstacles, |obstacle| obstacle.span);
    let Some((first, rest)) = obstacles.split_first() else { return Ok(()) };
    Err(Failure::Refused(Box::new(diagnostic(who, first, rest))))
}

fn diagnostic(who: Who<'_>, first: &Obstacle, rest: &[Obstacle]) -> Diagnostic {
    let (shown, hidden) = rest.split_at(rest.len().min(MOST_PLACES - 1));
    let more = match hidden.len() {
        0 => String::new(),
        more => format!(" (and {more} more places)"),
    };
    let what = format!("{} {}{more}", who.text(), first.what);
    let mut diagnostic = Diagnostic::error(first.code, what, first.span);
    let mut helps = vec![first.help];
    for obstacle in shown {
        diagnostic = diagnostic.also(obstacle.span, format!("it also {}", obstacle.what));
        helps.push(obstacle.help);
    }
    let mut seen = BTreeSet::new();
    helps.retain(|help| seen.insert(*help));
    let has_others = [first].into_iter().chain(rest).any(|obstacle| obstacle.code != ARBITRARY);
    let prefix = if has_others { who.way_out() } else { "" };
    diagnostic.help(format!("{prefix}{}", helps.join("; ")))
}

fn arbitrarily_many(thread: &Thread) -> Obstacle {
    Obstacle {
        code: ARBITRARY,
        span: thread.span,
        what: format!("cannot run arbitrarily many copies of `{}`", thread.name),
        help: "set the number of copies, as in `-D 'T[*]=3'` (`check`, `robust` and `fences` answer for every number)",
    }
}

fn obstacle(program: &Program, edge: &Edge) -> Option<Obstacle> {
    let (code, what, help) = match &edge.instruction {
        Instruction::Call { procedure, .. } => {
            let name = &program.procedures[procedure.index()].name;
            let help = "write it as a loop, or unroll it for stacks of at most N calls, with `weir translate --pass \
                        unroll=N --to weir`";
            let why = if calls_itself(program, *procedure) { "calls itself" } else { "is `noinline`" };
            ("recursion", format!("does not support recursion, and `{name}` {why}"), help)
        }
        Instruction::Spawn(thread) => {
            let name = &program.thread(*thread).name;
            let help =
                "declare as many threads as there can be, and let each one wait for a flag set by the spawning thread";
            ("spawn", format!("cannot start `{name}` at run time"), help)
        }
        _ => return None,
    };
    Some(Obstacle { code, span: edge.span, what, help })
}

/// Whether a procedure calls itself, directly or by way of others.
fn calls_itself(program: &Program, procedure: ProcId) -> bool {
    let called = |procedure: ProcId| {
        let edges = program.procedures[procedure.index()].body.edges().iter();
        edges.filter_map(|edge| match edge.instruction {
            Instruction::Call { procedure, .. } => Some(procedure),
            _ => None,
        })
    };
    let mut reached = BTreeSet::new();
    let mut pending: Vec<ProcId> = called(procedure).collect();
    while let Some(one) = pending.pop() {
        if reached.insert(one) {
            pending.extend(called(one));
        }
    }
    reached.contains(&procedure)
}

/// The failure for a program whose states do not fit the largest size.
pub(crate) fn too_large(program: &Program, words: usize) -> Failure {
    let (bytes, most) = (words * size_of::<u64>(), MOST_WORDS * size_of::<u64>());
    let what = format!("a state of this program takes {bytes} bytes, but the engine supports at most {most}");
    let cells: usize = program.shared.iter().map(|shared| shared.initial.len()).sum();
    let registers: usize = program.threads.iter().map(|thread| thread.body.registers.len() + 1).sum();
    let largest = program.shared.iter().max_by_key(|shared| shared.initial.len()).map(|shared| shared.span);
    let longest = program.threads.iter().max_by_key(|thread| thread.body.registers.len()).map(|thread| thread.span);
    let (span, help) = if cells >= registers {
        (largest, "declare ranges (`shared a[100]: 0..3;`) so that cells take fewer bits, or use smaller arrays")
    } else {
        (longest, "use fewer threads or registers, or keep register values small")
    };
    Failure::TooLarge(Box::new(Diagnostic::error("state-too-large", what, span.unwrap_or_default()).help(help)))
}

#[cfg(test)]
mod tests;
