//! All that can follow a state: the evidence for properties about what can still happen (`forbid stuck`, `live`).
//!
//! The states that can follow are visited one by one, by the checker's own rules. If there are infinitely many because
//! of buffers, they are visited once more with buffers as sets: that may be more than can follow, never less, so what
//! does not happen there does not happen at all. If there are too many because of values, those on which nothing
//! depends are [left out](forget). Direction of error: none; beyond [`MOST_FOLLOWED`] states nothing is claimed.

mod forget;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{
    Address, Gather, Instruction, LocId, Multiplicity, Program, RegId, StateAtom, StateExpr, ThreadId, Value,
};

use crate::certificate::steps::Interpreter;
use crate::certificate::{AbstractBuffer, AbstractState, AbstractThread, Buffering, Fault};
use crate::limits::{FEW_FOLLOWED, LONGEST_FOLLOWED, MOST_FOLLOWED};
use crate::run::Model;
use crate::state::State;
use forget::Forgetful;

/// What is common to all states that can follow some state, itself included.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Continuations {
    /// How many there are.
    pub states: usize,
    /// Whether buffers were over-approximated as sets, because there are infinitely many states otherwise.
    pub is_approximate: bool,
    /// Whether states that differ only in values on which nothing depends count as one, because there are too many
    /// otherwise.
    pub is_without_values: bool,
    /// For each thread that runs, the locations at which it is in these states.
    pub visited: BTreeMap<ThreadId, BTreeSet<LocId>>,
    /// The declared cells that hold the same value in all of them.
    pub constant_cells: BTreeMap<Address, Value>,
    /// For `forbid stuck`: the smallest region that its thread never leaves.
    pub region: Option<Region>,
}

/// Why continuations do not show that something can no longer happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    /// It can still happen, or it cannot be ruled out.
    Possible,
    /// Too many states follow.
    TooMany,
    /// A thread is about to do something that is not handled here.
    Unsupported,
}

/// The continuations of a state in which some thread is stuck.
pub(crate) fn stuck(program: &Program, model: Model, state: &State) -> Result<Continuations, Open> {
    let mut found = follow(program, model, state, None, &|_| false)?;
    let confines = |region: &&Region| {
        let visited = found.visited.get(&region.thread);
        visited.is_some_and(|visited| visited.iter().all(|&loc| region.contains(loc)))
    };
    found.region = leavable_regions(program).iter().find(confines).cloned();
    if found.region.is_some() { Ok(found) } else { Err(Open::Possible) }
}

/// The continuations of a state after which the condition never holds again. It is judged at drained states if it
/// refers to cells.
pub(crate) fn never(
    program: &Program,
    model: Model,
    state: &State,
    condition: &StateExpr,
) -> Result<Continuations, Open> {
    let mut needs_drained = false;
    condition.for_each_leaf(&mut |atom| needs_drained |= matches!(atom, StateAtom::Cell(_)));
    let threads = running(program);
    follow(program, model, state, Some(condition), &|state: &AbstractState| {
        let is_judged = !needs_drained || state.threads.iter().all(|own| own.buffer.is_empty());
        is_judged && eval(program, &threads, state, condition) != 0
    })
}

/// Visits all states that can follow, exactly or, if they are too many, with buffers as sets or without values on which
/// neither steps nor the claim depend; ends with [`Open::Possible`] at a state for which `ends` is true.
fn follow(
    program: &Program,
    model: Model,
    from: &State,
    claim: Option<&StateExpr>,
    ends: &impl Fn(&AbstractState) -> bool,
) -> Result<Continuations, Open> {
    let forgetful = Forgetful::of(program, claim);
    let few = if forgetful.is_some() { FEW_FOLLOWED } else { MOST_FOLLOWED };
    match (follow_any(program, model, from, few, ends), forgetful) {
        (Err(Open::TooMany), Some(forgetful)) => {
            let mut found = follow_any(&forgetful.program, model, from, MOST_FOLLOWED, ends)?;
            found.constant_cells.retain(|&address, _| forgetful.has_cell(address));
            Ok(Continuations { is_without_values: true, ..found })
        }
        (found, _) => found,
    }
}

/// Exactly or, if they are too many, with buffers as sets.
fn follow_any(
    program: &Program,
    model: Model,
    from: &State,
    most: usize,
    ends: &impl Fn(&AbstractState) -> bool,
) -> Result<Continuations, Open> {
    match follow_with(program, (model, exactly()), from, most, ends) {
        Err(Open::TooMany) if model == Model::Tso => follow_with(program, (model, as_sets()), from, most, ends),
        found => found,
    }
}

/// All stores stay in order.
fn exactly() -> Buffering {
    Buffering::EXACT
}

fn as_sets() -> Buffering {
    Buffering::Coherence(0)
}

fn running(program: &Program) -> Vec<ThreadId> {
    program.running_threads().collect()
}

fn follow_with(
    program: &Program,
    (model, buffering): (Model, Buffering),
    from: &State,
    most: usize,
    ends: &impl Fn(&AbstractState) -> bool,
) -> Result<Continuations, Open> {
    if program.threads.iter().any(|thread| thread.multiplicity == Multiplicity::Arbitrary) {
        return Err(Open::Unsupported);
    }
    let threads = running(program);
    let first = begin(program, &threads, from, buffering);
    let mut found = Found::new(&threads, buffering);
    let mut known: HashSet<AbstractState> = HashSet::new();
    let mut open = vec![first.clone()];
    known.insert(first);
    while let Some(state) = open.pop() {
        if ends(&state) {
            return Err(Open::Possible);
        }
        found.note(program, &state);
        for next in successors(program, model, buffering, &threads, &state)? {
            if known.len() >= most || queued(&next) > LONGEST_FOLLOWED {
                return Err(Open::TooMany);
            }
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Ok(found.continuations)
}

/// How many stores wait in order in all buffers together.
fn queued(state: &AbstractState) -> usize {
    state.threads.iter().map(|own| own.buffer.queue.len()).sum()
}

/// The state in terms of buffers that may forget.
fn begin(program: &Program, threads: &[ThreadId], state: &State, buffering: Buffering) -> AbstractState {
    let thread = |&thread: &ThreadId| {
        let own = state.thread(thread);
        let registers = own.registers.iter().enumerate().map(|(at, &value)| (RegId::new(at), value)).gather();
        let stores = own.buffer.iter().map(|store| (store.address, store.value));
        let empty = AbstractBuffer::default();
        let buffer = stores.fold(empty, |buffer, (address, value)| buffer.with(buffering, address, value));
        AbstractThread { location: own.location, registers, buffer }
    };
    let mut memory = state.memory().clone();
    memory.retain(|&address, value| *value != program.initial_value(address));
    AbstractState { threads: threads.iter().map(thread).collect(), memory, lock_holder: state.lock_holder() }
}

fn successors(
    program: &Program,
    model: Model,
    buffering: Buffering,
    threads: &[ThreadId],
    state: &AbstractState,
) -> Result<Vec<AbstractState>, Open> {
    let mut all = Vec::new();
    for (place, &thread) in threads.iter().enumerate() {
        let interpreter = Interpreter { program, buffering, state, thread, place };
        if model == Model::Tso {
            all.extend(interpreter.flushes());
        }
        for (_, edge) in program.body(thread).edges_from(state.threads[place].location) {
            let next = interpreter.execute(edge, |_, range| {
                let is_possible = range.extent() < MOST_FOLLOWED as u64;
                if is_possible { Ok((range.low..=range.high).collect()) } else { Err(Fault::Malformed) }
            });
            let next =
                next.map_err(|fault| if fault == Fault::Malformed { Open::TooMany } else { Open::Unsupported })?;
            if model == Model::Sc && matches!(edge.instruction, Instruction::Store { .. }) {
                // Without buffers a store is flushed at once, and waits if it cannot be.
                for state in &next {
                    all.extend(Interpreter { program, buffering, state, thread, place }.flushes());
                }
            } else {
                all.extend(next);
            }
        }
    }
    Ok(all)
}

/// The value of a condition. A thread that does not run is nowhere, and its registers are 0.
fn eval(program: &Program, threads: &[ThreadId], state: &AbstractState, condition: &StateExpr) -> Value {
    let own = |thread: &ThreadId| threads.iter().position(|running| running == thread).map(|at| &state.threads[at]);
    condition.eval(&mut |atom| match atom {
        StateAtom::At { thread, locations } => {
            Value::from(own(thread).is_some_and(|own| locations.contains(&own.location)))
        }
        StateAtom::Register { thread, register } => own(thread).map_or(0, |own| own.registers[register]),
        StateAtom::Cell(address) => cell(program, state, *address),
    })
}

fn cell(program: &Program, state: &AbstractState, address: Address) -> Value {
    state.memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
}

/// What was seen so far.
struct Found {
    threads: Vec<ThreadId>,
    continuations: Continuations,
    is_first: bool,
}

impl Found {
    fn new(threads: &[ThreadId], buffering: Buffering) -> Self {
        let continuations = Continuations {
            states: 0,
            is_approximate: buffering != exactly(),
            is_without_values: false,
            visited: BTreeMap::new(),
            constant_cells: BTreeMap::new(),
            region: None,
        };
        Self { threads: threads.to_vec(), continuations, is_first: true }
    }

    fn note(&mut self, program: &Program, state: &AbstractState) {
        let Continuations { states, visited, constant_cells, .. } = &mut self.continuations;
        *states += 1;
        for (&thread, own) in self.threads.iter().zip(&state.threads) {
            visited.entry(thread).or_default().insert(own.location);
        }
        if std::mem::take(&mut self.is_first) {
            let declared = program.shared.iter().flat_map(weir_ir::Shared::addresses);
            constant_cells.extend(declared.map(|address| (address, cell(program, state, address))));
        }
        constant_cells.retain(|&address, value| cell(program, state, address) == *value);
    }
}
