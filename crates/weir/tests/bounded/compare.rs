//! Comparing the translated program with runs within the bound, by their definition.

use std::collections::{BTreeMap, BTreeSet};

use weir::translate::bounded::{Bounded, RunBound, bounded};
use weir::{Failure, Session};
use weir_ir::{
    Address, BinaryOp, Expr, Instruction, LocId, Program, Property, PropertyKind, RegId, Source, Span, StateAtom,
    ThreadId, Value,
};
use weir_testkit::reference::{self, BoundedOutcome, Depth, Drained, Goal, Model, bounded_states_within};

/// What came of a comparison.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Compared.
    pub(crate) compared: u64,
    /// With drained states that SC does not reach.
    pub(crate) beyond_sc: u64,
    /// Too large for the reference, or for the translated program.
    pub(crate) large: u64,
    /// Refused by the translation.
    pub(crate) refused: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.beyond_sc += other.beyond_sc;
        self.large += other.large;
        self.refused += other.refused;
    }
}

pub(crate) fn reference_bound(bound: RunBound) -> reference::RunBound {
    match bound {
        RunBound::Rounds(most) => reference::RunBound::Rounds(most),
        RunBound::Age(most) => reference::RunBound::Age(most),
    }
}

/// Without the properties that the translation refuses.
pub(crate) fn supported(mut program: Program) -> Program {
    let is_supported = |kind: &PropertyKind| {
        matches!(kind, PropertyKind::Forbid(_) | PropertyKind::Exists(_) | PropertyKind::Always(_))
    };
    program.properties.retain(|property| is_supported(&property.kind));
    program
}

/// With one more property, which looks at all registers.
pub(crate) fn observing(mut program: Program) -> Program {
    let registers = |thread: ThreadId| {
        let all = (0..program.body(thread).registers.len()).map(RegId::new);
        all.map(move |register| Expr::Leaf(StateAtom::Register { thread, register }))
    };
    let all = program.running_threads().flat_map(registers);
    let sum = all.reduce(|left, right| Expr::binary(BinaryOp::Add, left, right)).unwrap_or(Expr::Const(0));
    program.properties.push(Property { kind: PropertyKind::Exists(sum), span: Span::default() });
    program
}

/// What properties can observe of a drained state: every cell, and of threads whether they are done, where properties
/// ask, and the registers that they mention.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Observation {
    memory: BTreeMap<Address, Value>,
    done: Vec<bool>,
    atoms: Vec<Value>,
}

/// The thread whose body an instance runs: those that were spawned have numbers after all others.
fn template(program: &Program, instance: ThreadId) -> ThreadId {
    if instance.index() < program.threads.len() {
        return instance;
    }
    let edges = program.threads.iter().flat_map(|thread| thread.body.edges());
    let mut spawned = edges.filter_map(|edge| match edge.instruction {
        Instruction::Spawn(thread) => Some(thread),
        _ => None,
    });
    let first = spawned.next().expect("a thread that is spawned");
    assert!(spawned.all(|other| other == first), "only one thread is spawned");
    first
}

fn observation(program: &Program, state: &Drained) -> Observation {
    let is_done = |(&thread, &location): (&ThreadId, &LocId)| program.body(template(program, thread)).is_done(location);
    let mut atoms = Vec::new();
    for condition in program.properties.iter().filter_map(|property| property.kind.condition()) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                let is_there = |(one, location): &(&ThreadId, &LocId)| {
                    template(program, **one) == *thread && locations.contains(location)
                };
                atoms.push(state.locations.iter().filter(is_there).count() as Value);
            }
            StateAtom::Register { thread, register } => {
                atoms.push(state.values.registers.get(thread).map_or(0, |registers| registers[register]));
            }
            StateAtom::Cell(_) => {}
        });
    }
    let memory = state.values.memory.clone();
    Observation { memory, done: state.locations.iter().map(is_done).collect(), atoms }
}

/// The drained state of the original that a state of the translated program stands for, if it stands for one.
fn original_state(program: &Program, made: &Bounded, state: &Drained) -> Option<Drained> {
    let mut original = state.clone();
    original.holder = None;
    // The translation may have added a cell.
    let added = made.program.shared.iter().skip(program.shared.len());
    for shared in added {
        original.values.memory.remove(&shared.address);
    }
    for (&thread, &location) in &state.locations {
        let registers = &state.values.registers[&thread];
        let instance = thread;
        let thread = template(program, instance);
        if made.marks(thread).iter().any(|mark| registers[mark] != 0) {
            return None;
        }
        original.locations.insert(instance, made.original_location(thread, location)?);
        let own = program.body(thread).registers.len();
        let held = made.program.body(thread).registers.iter().skip(own).position(|register| register.name == "held");
        if held.is_some_and(|at| registers[&RegId::new(own + at)] == 1) {
            original.holder = Some(instance);
        }
        let kept = registers.iter().filter(|(register, _)| register.index() < own);
        original.values.registers.insert(instance, kept.map(|(&register, &value)| (register, value)).collect());
    }
    Some(original)
}

/// Compares all there is to compare within one bound; what differs, if anything.
pub(crate) fn compare(program: &Program, bound: RunBound, limit: usize) -> Result<Tally, String> {
    compare_within(program, bound, limit, Depth { frames: 0, spawned: 0 })
}

/// The same for a program that starts threads, each of them so often.
pub(crate) fn compare_within(program: &Program, bound: RunBound, limit: usize, depth: Depth) -> Result<Tally, String> {
    let made = match bounded(program, bound, &Session::default()) {
        Ok(made) => made,
        Err(Failure::Refused(_)) => return Ok(Tally { refused: 1, ..Tally::default() }),
        Err(failure) => return Err(failure.to_string()),
    };
    let large = Tally { large: 1, ..Tally::default() };
    let expected =
        bounded_states_within(program, reference_bound(bound), limit, depth).map_err(|error| error.what.to_owned())?;
    let Some(expected) = expected else { return Ok(large) };
    let found = reference::drained_states_within(&made.program, Model::Sc, 40 * limit, depth)
        .map_err(|error| error.what.to_owned())?;
    let Some(found) = found else { return Ok(large) };
    let found: BTreeSet<Drained> = found.iter().filter_map(|state| original_state(program, &made, state)).collect();
    if let Some(wrong) = found.difference(&expected.drained).next() {
        return Err(format!("{bound:?}: not reachable within the bound: {wrong:?}"));
    }
    let observed = |states: &BTreeSet<Drained>| -> BTreeSet<Observation> {
        states.iter().map(|state| observation(program, state)).collect()
    };
    let (seen, wanted) = (observed(&found), observed(&expected.drained));
    if let Some(missed) = wanted.difference(&seen).next() {
        return Err(format!("{bound:?}: reachable within the bound, but not found: {missed:?}"));
    }
    let text = weir_syntax::weir::print::print(&made.program);
    let again = weir_syntax::weir::parse(&Source::new("again", text.clone()), &weir_syntax::weir::Options::default());
    let again = again.map_err(|errors| format!("{errors:#?}\n{text}"))?.program;
    same_goals(&again, &expected, limit, depth).map_err(|what| format!("{bound:?}, read again: {what}"))?;
    let sc =
        reference::drained_states_within(program, Model::Sc, limit, depth).map_err(|error| error.what.to_owned())?;
    let beyond_sc = sc.is_some_and(|sc| expected.drained.difference(&sc).next().is_some());
    Ok(Tally { compared: 1, beyond_sc: beyond_sc.into(), ..Tally::default() })
}

/// Whether the translated program shows the same goals under SC. An assertion can also fail while stores wait that are
/// never flushed within the bound.
fn same_goals(made: &Program, expected: &BoundedOutcome, limit: usize, depth: Depth) -> Result<(), String> {
    let outcome =
        reference::explore_within(made, Model::Sc, 60 * limit, depth).map_err(|error| error.what.to_owned())?.outcome;
    if !outcome.complete {
        return Err("too large".into());
    }
    let found: BTreeSet<Goal> = outcome.goals.into_keys().collect();
    let is_right = |goal: &Goal| match goal {
        Goal::Property(_) => expected.goals.contains(goal),
        Goal::Assertion(_) => expected.all_goals.contains(goal),
    };
    if let Some(wrong) = found.iter().find(|goal| !is_right(goal)) {
        return Err(format!("{wrong:?} is not reachable"));
    }
    match expected.goals.difference(&found).next() {
        Some(missed) => Err(format!("{missed:?} was not found")),
        None => Ok(()),
    }
}
