//! The same drained states as under SC, compared with the definition in the reference interpreter.

use std::collections::{BTreeMap, BTreeSet};

use weir::Verdict;
use weir::robust::{Options, same_states};
use weir_ir::{
    BinaryOp, EdgeId, Expr, LocId, Program, Property, PropertyKind, RegId, Span, StateAtom, StateExpr, ThreadId, Value,
};
use weir_testkit::random::{Config, program};
use weir_testkit::reference::{Drained, Model, View, drained_states};
use weir_testkit::sketch::{equal, register_of};
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};
use weir_testkit::{Rng, cycles, dump, shrink};

use crate::reference::{moves, same, session, verdict};

/// What is seen of a drained state: locations, memory, the holder of the lock, and the registers that count.
pub(crate) type Seen = (BTreeMap<ThreadId, LocId>, BTreeMap<i64, Value>, Option<ThreadId>, Registers);
type Registers = BTreeMap<(ThreadId, RegId), Value>;

/// Whether some path from `from` reads the register before it sets it: a walk along edges.
fn is_live(program: &Program, thread: ThreadId, from: LocId, register: RegId) -> bool {
    let body = program.body(thread);
    let (mut seen, mut work) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = work.pop() {
        for (_, edge) in body.edges_from(at) {
            let mut reads = false;
            edge.instruction.uses(&mut |used| reads |= used == register);
            if reads {
                return true;
            }
            if !edge.instruction.defines().any(|defined| defined == register) && seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    false
}

/// Whether the condition can still come out both ways: with every register in it free, tried with values that the tests
/// compare registers with. None where the locations decide.
fn depends(condition: &StateExpr, at: &impl Fn(ThreadId, &[LocId]) -> bool) -> bool {
    match condition {
        Expr::Const(_) | Expr::Leaf(StateAtom::At { .. }) => false,
        Expr::Leaf(_) => true,
        Expr::Unary(_, operand) => depends(operand, at),
        Expr::Binary(op, left, right) => {
            let value = |side: &StateExpr| (!depends(side, at)).then(|| decided(side, at));
            match (op, value(left), value(right)) {
                (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => false,
                (BinaryOp::Or, Some(known), _) | (BinaryOp::Or, _, Some(known)) if known != 0 => false,
                (_, left, right) => left.is_none() || right.is_none(),
            }
        }
    }
}

/// The value of a condition that locations decide.
fn decided(condition: &StateExpr, at: &impl Fn(ThreadId, &[LocId]) -> bool) -> Value {
    condition.eval(&mut |atom| match atom {
        StateAtom::At { thread, locations } => Value::from(at(*thread, locations)),
        // It does not matter then.
        StateAtom::Register { .. } | StateAtom::Cell(_) => 0,
    })
}

fn registers_in(condition: &StateExpr, at: &impl Fn(ThreadId, &[LocId]) -> bool) -> BTreeSet<(ThreadId, RegId)> {
    let mut found = BTreeSet::new();
    if !depends(condition, at) {
        return found;
    }
    match condition {
        Expr::Leaf(StateAtom::Register { thread, register }) => {
            found.insert((*thread, *register));
        }
        Expr::Const(_) | Expr::Leaf(_) => {}
        Expr::Unary(_, operand) => found.extend(registers_in(operand, at)),
        Expr::Binary(_, left, right) => {
            found.extend(registers_in(left, at));
            found.extend(registers_in(right, at));
        }
    }
    found
}

/// What is seen of a state, if threads count as being at `places`.
pub(crate) fn seen(program: &Program, state: &Drained, places: impl Fn(ThreadId, LocId) -> LocId) -> Seen {
    let locations: BTreeMap<_, _> = state.locations.iter().map(|(&thread, &at)| (thread, places(thread, at))).collect();
    let all_done = locations.iter().all(|(&thread, &at)| program.body(thread).is_done(at));
    let at = |thread: ThreadId, wanted: &[LocId]| locations.get(&thread).is_some_and(|at| wanted.contains(at));
    let forbidden = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Forbid(condition) => Some(registers_in(condition, &at)),
        _ => None,
    });
    let observed: BTreeSet<_> = forbidden.flatten().collect();
    let mut registers = Registers::new();
    for (&thread, values) in &state.values.registers {
        for (&register, &value) in values {
            let is_written = !program.body(thread).registers[register.index()].is_temporary;
            let counts = if all_done {
                is_written
            } else {
                is_live(program, thread, locations[&thread], register) || observed.contains(&(thread, register))
            };
            if counts {
                registers.insert((thread, register), value);
            }
        }
    }
    (locations, state.values.memory.clone(), state.holder, registers)
}

/// Everything seen under a model; `None` if there are too many states.
fn all_seen(program: &Program, model: Model, limit: usize) -> Option<BTreeSet<Seen>> {
    let states = drained_states(program, model, limit).expect("the reference can")?;
    Some(states.iter().map(|state| seen(program, state, |_, at| at)).collect())
}

/// Whether the drained states are the same, by definition. Those under SC must always be there under TSO.
pub(crate) fn is_state_robust(program: &Program, limit: usize) -> Option<bool> {
    let (sc, tso) = (all_seen(program, Model::Sc, limit)?, all_seen(program, Model::Tso, limit)?);
    assert!(sc.is_subset(&tso), "a state under SC is not there under TSO\n{}", dump(program));
    Some(tso.is_subset(&sc))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    decided: usize,
    violated: usize,
    /// State robust, but not robust.
    weaker: usize,
}

/// The state at the end of a run, walked along in the reference.
fn end_of(program: &Program, run: &weir_witness::Run) -> Option<View> {
    let mut state = View::initial(program).ok()?;
    for (thread, step) in moves(run) {
        let edge: Option<EdgeId> = step.map(|(edge, _)| edge);
        let mut next =
            state.steps(program, Model::Tso).into_iter().filter(|(who, by, _)| (*who, *by) == (thread, edge));
        state = next.next()?.2;
        // Choices of values would make this ambiguous; the programs here have none.
        if next.next().is_some() {
            return None;
        }
    }
    Some(state)
}

fn judge(program: &Program, count: &mut Count) -> Result<(), String> {
    let Some(expected) = is_state_robust(program, 4_000) else { return Ok(()) };
    let report = same_states(program, &Options::default(), &session()).map_err(|failure| failure.to_string())?;
    let said =
        match &report.verdict {
            Verdict::Unknown(limit) => return Err(format!("unknown: {limit}")),
            Verdict::Holds => true,
            Verdict::Violated(found) => {
                if let Some(end) = end_of(program, found.run()).and_then(|end| end.to_drained()) {
                    let under_sc = all_seen(program, Model::Sc, 4_000).ok_or("too many")?;
                    same("the end is under SC", false, under_sc.contains(&seen(program, &end, |_, at| at)))?;
                } else {
                    same(
                        "a run without choices",
                        true,
                        found.run().steps.iter().any(
                            |step| matches!(step.action, weir_witness::Action::Execute { choice, .. } if choice != 0),
                        ),
                    )?;
                }
                false
            }
        };
    same("the same states", expected, said)?;
    count.decided += 1;
    count.violated += usize::from(!expected);
    match verdict(program, 1) {
        Some(true) => same("robust, so the states are the same", true, expected)?,
        Some(false) => count.weaker += usize::from(expected),
        None => {}
    }
    Ok(())
}

fn judge_all(programs: impl Iterator<Item = Program>) -> Count {
    let mut count = Count::default();
    for program in programs {
        if let Err(why) = judge(&program, &mut count) {
            let small = shrink(&program, |program| judge(program, &mut Count::default()).is_err());
            let still = judge(&small, &mut Count::default()).err().unwrap_or_default();
            panic!("{why}\nmade small: {still}\n{}", dump(&small));
        }
    }
    count
}

/// `forbid` about a register where a thread has got to, so that registers count that are dead.
pub(crate) fn with_forbid(mut program: Program, seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let threads: Vec<ThreadId> = program.thread_ids().filter(|&id| !program.body(id).registers.is_empty()).collect();
    if threads.is_empty() {
        return program;
    }
    let thread = threads[rng.below(threads.len())];
    let body = program.body(thread);
    let locations = vec![LocId::new(rng.below(body.locations.len()))];
    let register = rng.below(body.registers.len()) as u32;
    let at = Expr::Leaf(StateAtom::At { thread, locations });
    let is = equal(register_of(thread.0, register), rng.below(2) as Value);
    let op = if rng.chance(70) { BinaryOp::And } else { BinaryOp::Or };
    let kind = PropertyKind::Forbid(Expr::binary(op, at, is));
    program.properties = vec![Property { kind, span: Span::default() }];
    program
}

#[test]
fn every_tiny_program_agrees_with_the_definition() {
    let count = |alphabet| {
        let classes = programs_up_to_renaming(alphabet).map(|(_, program)| Program { properties: vec![], ..program });
        let count = judge_all(classes);
        (count.decided, count.violated, count.weaker)
    };
    let counts = [Alphabet::Core, Alphabet::Snapshots, Alphabet::Membarriers, Alphabet::Awaits].map(count);
    assert_eq!(counts, [(2301, 16, 4), (770, 10, 4), (770, 4, 2), (3148, 7, 4)]);
}

#[test]
fn random_programs_around_a_cycle_agree_with_the_definition() {
    let config = cycles::Config { helpers: 2, noise: 2, loops: 0, locks: 20, data: 20 };
    let count = judge_all((0..150).map(|seed| cycles::program(seed, &config)));
    assert!(count.decided > 100 && count.violated > 20 && count.weaker > 1, "{count:?}");
    let loops = cycles::Config { loops: 60, ..config };
    let count = judge_all((0..100).map(|seed| with_forbid(cycles::program(seed, &loops), seed)));
    assert!(count.decided >= 60 && count.violated > 10, "{count:?}");
}

#[test]
fn random_programs_agree_with_the_definition() {
    let count = judge_all((0..150).map(|seed| with_forbid(program(seed, &crate::random::accesses()), seed)));
    assert!(count.decided > 90 && count.violated > 1 && count.weaker > 10, "{count:?}");
    let count = judge_all((0..80).map(|seed| program(seed, &Config::acyclic())));
    assert!(count.decided > 30, "{count:?}");
}

/// The non-blocking write needs a fence to be robust, but reaches no other states without it; store buffering does.
#[test]
fn examples_have_the_known_answers() {
    for (file, expected) in [
        ("structures/nbw-w-lr-rl.weir", true),
        ("structures/nbw-w-r.weir", true),
        ("structures/nbw-w-wr.weir", false),
        ("structures/nbw-wr-wr.weir", false),
        ("structures/nbw-wr-wr-fenced.weir", true),
        ("structures/parker.weir", false),
        ("litmus/sb.weir", false),
        ("litmus/sb-fenced.weir", true),
        ("litmus/iriw.weir", true),
        ("mutex/peterson.weir", false),
    ] {
        let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let program = crate::shapes::parse(&text);
        let report = same_states(&program, &Options::default(), &crate::reference::within(1_000_000));
        let report = report.unwrap_or_else(|failure| panic!("{file}: {failure}"));
        match report.verdict {
            Verdict::Holds => assert!(expected, "{file}"),
            Verdict::Violated(_) => assert!(!expected, "{file}"),
            Verdict::Unknown(limit) => panic!("{file}: {limit}"),
        }
    }
}
