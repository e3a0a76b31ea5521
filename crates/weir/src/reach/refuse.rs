//! What the explicit engine cannot handle, said before it starts.

use std::collections::BTreeSet;

use weir_ir::{Diagnostic, Edge, Instruction, Multiplicity, Program, Span, Thread};

use crate::Failure;

/// The largest state, in words.
pub(crate) const MOST_WORDS: usize = 256;

/// More places than this are only counted.
const MOST_PLACES: usize = 10;

/// What a program has that the engine cannot handle.
struct Obstacle {
    code: &'static str,
    span: Span,
    what: String,
    help: &'static str,
}

/// Refuses what the explicit engine cannot handle.
pub(crate) fn unsupported(program: &Program) -> Result<(), Failure> {
    unsupported_by(program, "explicit")
}

/// Refuses programs whose states have no fixed shape, and says all that stands in the way of this engine.
pub(crate) fn unsupported_by(program: &Program, engine: &str) -> Result<(), Failure> {
    let mut obstacles = Vec::new();
    for thread in &program.threads {
        match thread.multiplicity {
            Multiplicity::Arbitrary => obstacles.push(arbitrarily_many(thread)),
            // Nobody can start it but a `spawn`, which is refused where it stands.
            Multiplicity::Spawned => continue,
            Multiplicity::One => {}
        }
        obstacles.extend(thread.body.edges().iter().filter_map(|edge| obstacle(program, edge)));
    }
    // Copies of one thread or procedure have the same text.
    let mut seen = BTreeSet::new();
    obstacles.retain(|obstacle| seen.insert((obstacle.span, obstacle.code)));
    obstacles.sort_by_key(|obstacle| obstacle.span);
    let Some((first, rest)) = obstacles.split_first() else { return Ok(()) };
    Err(Failure::Refused(Box::new(diagnostic(engine, first, rest))))
}

fn diagnostic(engine: &str, first: &Obstacle, rest: &[Obstacle]) -> Diagnostic {
    let (shown, hidden) = rest.split_at(rest.len().min(MOST_PLACES - 1));
    let more = match hidden.len() {
        0 => String::new(),
        more => format!(" (and {more} more places)"),
    };
    let what = format!("the {engine} engine {}{more}", first.what);
    let mut diagnostic = Diagnostic::error(first.code, what, first.span);
    let mut helps = vec![first.help];
    for obstacle in shown {
        diagnostic = diagnostic.also(obstacle.span, format!("it {}, either", obstacle.what));
        helps.push(obstacle.help);
    }
    let mut seen = BTreeSet::new();
    helps.retain(|help| seen.insert(*help));
    diagnostic.help(format!("no engine of this version can; {}", helps.join("; ")))
}

fn arbitrarily_many(thread: &Thread) -> Obstacle {
    Obstacle {
        code: "arbitrary-threads",
        span: thread.span,
        what: format!("cannot run arbitrarily many copies of `{}`", thread.name),
        help: "give a number, such as `[3]`: what goes wrong with few threads goes wrong with many",
    }
}

fn obstacle(program: &Program, edge: &Edge) -> Option<Obstacle> {
    let (code, what, help) = match &edge.instruction {
        Instruction::Call { procedure, .. } => {
            let name = &program.procedures[procedure.index()].name;
            let help = "write it as a loop, or give each depth a procedure of its own: procedures that do not call \
                        themselves are inlined";
            ("recursion", format!("cannot follow recursion, and `{name}` calls itself"), help)
        }
        Instruction::Spawn(thread) => {
            let name = &program.thread(*thread).name;
            let help = "declare as many threads as there can be, and let each wait for a flag that the spawner sets";
            ("spawn", format!("cannot start `{name}` at run time"), help)
        }
        _ => return None,
    };
    Some(Obstacle { code, span: edge.span, what, help })
}

/// The failure for a program whose states do not fit the largest size.
pub(crate) fn too_large(program: &Program, words: usize) -> Failure {
    let (bytes, most) = (words * size_of::<u64>(), MOST_WORDS * size_of::<u64>());
    let what = format!("a state of this program takes {bytes} bytes, and the explicit engine can hold {most}");
    let cells: usize = program.shared.iter().map(|shared| shared.initial.len()).sum();
    let registers: usize = program.threads.iter().map(|thread| thread.body.registers.len() + 1).sum();
    let largest = program.shared.iter().max_by_key(|shared| shared.initial.len()).map(|shared| shared.span);
    let longest = program.threads.iter().max_by_key(|thread| thread.body.registers.len()).map(|thread| thread.span);
    let (span, help) = if cells >= registers {
        (largest, "declare ranges (`shared a[100]: 0..3;`) so that each cell takes fewer bits, or make arrays smaller")
    } else {
        (longest, "use fewer threads or fewer registers, or keep the values of registers small")
    };
    Failure::Refused(Box::new(Diagnostic::error("state-too-large", what, span.unwrap_or_default()).help(help)))
}

#[cfg(test)]
mod tests {
    use weir_ir::{Body, LocId, Location, ProcId, Procedure, ThreadId};

    use super::*;

    fn thread(name: &str, multiplicity: Multiplicity, instructions: Vec<(Instruction, u32)>) -> Thread {
        let locations = vec![Location::default(); instructions.len() + 1];
        let edges = instructions.into_iter().enumerate().map(|(at, (instruction, start))| {
            let span = Span { start, end: start + 1 };
            Edge { from: LocId::new(at), to: LocId::new(at + 1), instruction, span }
        });
        let body = Body::new(Vec::new(), locations, LocId(0), None, edges.collect());
        let (family, span) = ((name.to_string(), None), Span { start: 90, end: 91 });
        Thread { name: name.to_string(), family, multiplicity, weight: 1, body, span }
    }

    fn call() -> Instruction {
        Instruction::Call { procedure: ProcId(0), arguments: Vec::new(), register: None }
    }

    fn program(threads: Vec<Thread>) -> Program {
        let body = Body::new(Vec::new(), vec![Location::default()], LocId(0), None, Vec::new());
        let f = Procedure { name: "f".to_string(), parameters: Vec::new(), body, span: Span::default() };
        Program { threads, procedures: vec![f], ..Program::default() }
    }

    #[test]
    fn all_obstacles_are_named() {
        let busy = thread("P", Multiplicity::One, vec![(Instruction::Spawn(ThreadId(1)), 20), (call(), 10)]);
        let copy = thread("P2", Multiplicity::One, vec![(call(), 10)]);
        let program = program(vec![busy, thread("Late", Multiplicity::Arbitrary, vec![]), copy]);
        let Err(Failure::Refused(refusal)) = unsupported(&program) else { panic!("not refused") };
        assert_eq!((refusal.code, refusal.primary.span.start), ("recursion", 10));
        let others: Vec<(u32, &str)> =
            refusal.secondary.iter().map(|label| (label.span.start, label.text.as_str())).collect();
        assert_eq!(
            others,
            [
                (20, "it cannot start `Late` at run time, either"),
                (90, "it cannot run arbitrarily many copies of `Late`, either"),
            ]
        );
    }

    #[test]
    fn many_obstacles_are_counted() {
        let calls = (0..50).map(|at| (call(), 2 * at)).collect();
        let Err(Failure::Refused(refusal)) = unsupported(&program(vec![thread("P", Multiplicity::One, calls)])) else {
            panic!("not refused")
        };
        assert_eq!(refusal.secondary.len(), 9);
        assert!(refusal.message.ends_with("(and 40 more places)"), "{}", refusal.message);
    }

    #[test]
    fn what_never_runs_is_no_obstacle() {
        let late = thread("Late", Multiplicity::Spawned, vec![(call(), 1), (Instruction::Spawn(ThreadId(0)), 2)]);
        let program = program(vec![late, thread("P", Multiplicity::One, vec![(Instruction::Skip, 3)])]);
        assert!(unsupported(&program).is_ok());
    }
}
