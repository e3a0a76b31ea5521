//! What is refused, and where the refusal points.

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
        [(20, "it also cannot start `Late` at run time"), (90, "it also cannot run arbitrarily many copies of `Late`"),]
    );
}

/// Each way out is suggested once, in the order of what it is for, however often it is needed.
#[test]
fn every_obstacle_has_its_help() {
    let spawn = |at| (Instruction::Spawn(ThreadId(1)), at);
    let (calls, spawns, many) = ("write it as a loop", "declare as many threads", "set the number of copies");
    for (instructions, multiplicity, expected) in [
        (vec![(call(), 10)], Multiplicity::One, vec![calls]),
        (vec![(call(), 10), (call(), 20), (call(), 30)], Multiplicity::One, vec![calls]),
        (vec![(call(), 10), spawn(20)], Multiplicity::One, vec![calls, spawns]),
        (vec![(call(), 20), spawn(10), (call(), 30), spawn(40)], Multiplicity::One, vec![spawns, calls]),
        (vec![spawn(10), (call(), 20)], Multiplicity::Arbitrary, vec![spawns, calls, many]),
    ] {
        let threads = vec![thread("P", Multiplicity::One, instructions), thread("Late", multiplicity, vec![])];
        let Err(Failure::Refused(refusal)) = unsupported(&program(threads)) else { panic!("not refused") };
        let help = refusal.help.as_deref().expect("a way out");
        let told: Vec<&str> = help.split("; ").skip(1).collect();
        assert_eq!(told.len(), expected.len(), "{help}");
        assert!(told.iter().zip(expected).all(|(told, expected)| told.starts_with(expected)), "{help}");
    }
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

/// A program with arrays of so many cells and threads of so many registers.
fn large(cells: [usize; 2], registers: [usize; 2]) -> Program {
    let shared = cells.iter().zip([100, 200]).map(|(&count, start)| weir_ir::Shared {
        name: format!("a{start}"),
        address: start,
        is_array: true,
        initial: vec![0; count],
        range: None,
        width: None,
        span: Span { start: start as u32, end: start as u32 + 1 },
    });
    let threads = registers.iter().zip([10, 20]).map(|(&count, start)| {
        let mut thread = thread("P", Multiplicity::One, vec![]);
        let register = |_| weir_ir::Register {
            name: "r".to_owned(),
            is_temporary: false,
            is_thread_local: false,
            span: Span::default(),
        };
        thread.body.registers = (0..count).map(register).collect();
        thread.span = Span { start, end: start + 1 };
        thread
    });
    Program { shared: shared.collect(), threads: threads.collect(), ..Program::default() }
}

/// It points at what takes most room.
#[test]
fn the_largest_part_is_blamed() {
    for (cells, registers, start, help) in [
        ([5, 9], [1, 2], 200, "ranges"),
        ([9, 5], [1, 2], 100, "ranges"),
        ([1, 1], [7, 3], 10, "threads or registers"),
        ([1, 1], [3, 7], 20, "threads or registers"),
        // Places count as registers do; of equals the last is blamed.
        ([2, 2], [1, 1], 200, "ranges"),
        ([2, 1], [1, 1], 20, "threads or registers"),
    ] {
        let Failure::TooLarge(refusal) = too_large(&large(cells, registers), 300) else { panic!("not refused") };
        assert_eq!(refusal.code, "state-too-large");
        assert!(refusal.message.contains("takes 2400 bytes") && refusal.message.contains("supports at most 2048"));
        assert!(refusal.help.iter().any(|text| text.contains(help)), "{refusal:?}");
        assert_eq!(refusal.primary.span.start, start, "{cells:?} {registers:?}");
    }
}
