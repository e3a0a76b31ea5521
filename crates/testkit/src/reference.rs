//! The naive reference interpreter: every reachable state under SC or TSO, breadth-first.
//!
//! Written from the definitions with plain maps, so that it can be read against them line by line. It takes no
//! shortcut and makes no reduction. It errs in no direction: what it reports was reached, and when the search is
//! [`Outcome::complete`] nothing else can be. Limits are for the caller to set; it is slow.

mod bounded;
pub mod chance;
mod goals;
mod liveness;
mod state;
mod steps;
mod unordered;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use weir_ir::{Address, EdgeId, Instruction, LocId, Multiplicity, Program, PropertyId, RegId, Span, ThreadId, Value};

use crate::hash::Set;
pub use bounded::{BoundedOutcome, RunBound, bounded_states, bounded_states_within};
use goals::{goals_of, is_deadlock};
pub use liveness::violated_liveness;
use state::State;
pub use steps::Depth;
use steps::{Action, blocked_by_range, is_beyond, successors_within};
pub use view::View;

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Sequential consistency: a store writes memory at once.
    Sc,
    /// Total Store Order: a store waits in its thread's buffer.
    Tso,
    /// TSO with buffers as sets.
    Set,
    /// TSO with buffers as multisets.
    Multiset,
    /// TSO with at most so many stores of a buffer in order and those after them as a set.
    Coherence(usize),
}

impl Model {
    /// Both real ones.
    pub const ALL: [Model; 2] = [Model::Sc, Model::Tso];
}

/// What a state can show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// `forbid P`: P holds in a drained state. `forbid deadlock`: no step is possible, and not all threads are done.
    /// `exists P`: P holds in a drained state with all threads done. `always P`: P does not hold in such a state.
    Property(PropertyId),
    /// An assertion of the thread failed, drained or not.
    Assertion(ThreadId),
}

/// What is left when all threads are done and all buffers are empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FinalState {
    /// The cells that differ from their initial value.
    pub memory: BTreeMap<Address, Value>,
    /// All registers of each thread that exists.
    pub registers: BTreeMap<ThreadId, BTreeMap<RegId, Value>>,
}

/// A state with empty buffers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Drained {
    /// Where each thread that exists is.
    pub locations: BTreeMap<ThreadId, LocId>,
    /// Memory and registers.
    pub values: FinalState,
    /// Who holds the global lock.
    pub holder: Option<ThreadId>,
}

/// Everything a search found out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether every reachable state was visited.
    pub complete: bool,
    /// How many distinct states were visited.
    pub states: usize,
    /// How many steps were taken: one for each visited state and each step possible in it.
    pub transitions: usize,
    /// The greatest least number of steps to a visited state.
    pub depth: usize,
    /// The goals that were seen, with the least number of steps to one.
    pub goals: BTreeMap<Goal, usize>,
    /// The final states that were seen.
    pub final_states: BTreeSet<FinalState>,
    /// The edges that some step followed.
    pub executed: BTreeSet<(ThreadId, EdgeId)>,
    /// The edges at which the range of a cell kept a value from being stored.
    pub blocked: BTreeSet<(ThreadId, EdgeId)>,
}

/// The program uses something that the reference does not interpret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What it is.
    pub what: &'static str,
    /// Where it is.
    pub span: Span,
}

/// How many buffered stores all visited states may hold together: they are kept in full, so that long buffers would
/// use up the machine long before the limit on states is reached.
const MOST_BUFFERED: usize = 20_000_000;

/// Visits the reachable states of `program`, at most `limit` of them (but always the initial one); fewer if their
/// buffers get too long.
pub fn explore(program: &Program, model: Model, limit: usize) -> Result<Outcome, Unsupported> {
    refuse_unsupported(program)?;
    Ok(search(program, model, limit).outcome())
}

/// What a search of a program with calls and spawns found out.
#[derive(Clone, Debug)]
pub struct OutcomeWithin {
    /// The states within the given depth: a thread that would go beyond it stays where it is. The instances of a thread
    /// count as that thread.
    pub outcome: Outcome,
    /// Whether some thread would go beyond it.
    pub goes_beyond: bool,
}

/// Visits the states of a program with calls and spawns that are reachable within the given depth.
pub fn explore_within(
    program: &Program,
    model: Model,
    limit: usize,
    depth: Depth,
) -> Result<OutcomeWithin, Unsupported> {
    refuse_templates(program)?;
    let search = search_within(program, model, limit, depth);
    let goes_beyond = search.visited.iter().any(|state| is_beyond(program, state, depth));
    Ok(OutcomeWithin { outcome: search.outcome(), goes_beyond })
}

/// All reachable states with empty buffers; `None` if there are more than `limit` states in all.
pub fn drained_states(program: &Program, model: Model, limit: usize) -> Result<Option<BTreeSet<Drained>>, Unsupported> {
    refuse_unsupported(program)?;
    drained_states_within(program, model, limit, Depth::NONE)
}

/// The same for a program with calls and spawns, within the given depth. Threads that were spawned have numbers after
/// all others, in the order of their start.
pub fn drained_states_within(
    program: &Program,
    model: Model,
    limit: usize,
    depth: Depth,
) -> Result<Option<BTreeSet<Drained>>, Unsupported> {
    refuse_templates(program)?;
    let search = search_within(program, model, limit, depth);
    let drained = search.visited.iter().filter(|state| state.is_drained()).map(|state| state.to_drained());
    Ok(search.found.complete.then(|| drained.collect()))
}

fn search(program: &Program, model: Model, limit: usize) -> Search<'_> {
    search_within(program, model, limit, Depth::NONE)
}

fn search_within(program: &Program, model: Model, limit: usize, depth_of_stacks: Depth) -> Search<'_> {
    let initial = Rc::new(State::initial(program));
    let mut search = Search::new(program);
    search.enter(&initial, 0);
    let mut layer = vec![initial];
    let mut depth = 0;
    let has_ranges = program.shared.iter().any(|shared| shared.range.is_some());
    while !layer.is_empty() {
        let mut next_layer = Vec::new();
        for state in &layer {
            let steps = successors_within(program, model, state, limit, depth_of_stacks);
            search.leave(state, &steps, depth);
            if has_ranges {
                search.found.blocked.extend(blocked_by_range(program, model, state));
            }
            for (_, _, next) in steps {
                let next = Rc::new(next);
                if search.visited.contains(&next) {
                    continue;
                }
                if search.visited.len() >= limit || search.buffered > MOST_BUFFERED {
                    search.found.complete = false;
                    return search;
                }
                search.enter(&next, depth + 1);
                next_layer.push(next);
            }
        }
        layer = next_layer;
        depth += 1;
    }
    search
}

struct Search<'a> {
    program: &'a Program,
    visited: Set<Rc<State>>,
    /// How many buffered stores they hold.
    buffered: usize,
    found: Outcome,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program) -> Self {
        let found = Outcome {
            complete: true,
            states: 0,
            transitions: 0,
            depth: 0,
            goals: BTreeMap::new(),
            final_states: BTreeSet::new(),
            executed: BTreeSet::new(),
            blocked: BTreeSet::new(),
        };
        Self { program, visited: Set::default(), buffered: 0, found }
    }

    /// Notes a state that was not visited before.
    fn enter(&mut self, state: &Rc<State>, depth: usize) {
        self.visited.insert(Rc::clone(state));
        self.buffered += state.threads.values().map(|thread| thread.buffer.len()).sum::<usize>();
        self.found.depth = self.found.depth.max(depth);
        for goal in goals_of(self.program, state) {
            self.found.goals.entry(goal).or_insert(depth);
        }
        if state.is_final(self.program) {
            self.found.final_states.insert(state.to_final());
        }
    }

    /// Notes the steps out of a state.
    fn leave(&mut self, state: &State, steps: &[(ThreadId, Action, State)], depth: usize) {
        self.found.transitions += steps.len();
        for &(thread, action, _) in steps {
            if let Action::Execute(edge) = action {
                self.found.executed.insert((thread, edge));
            }
        }
        if steps.is_empty() && is_deadlock(self.program, state) {
            for goal in goals::deadlock_properties(self.program) {
                self.found.goals.entry(goal).or_insert(depth);
            }
        }
    }

    fn outcome(self) -> Outcome {
        Outcome { states: self.visited.len(), ..self.found }
    }
}

fn refuse_templates(program: &Program) -> Result<(), Unsupported> {
    match program.threads.iter().find(|thread| thread.multiplicity == Multiplicity::Arbitrary) {
        Some(thread) => Err(Unsupported { what: "arbitrarily many threads", span: thread.span }),
        None => Ok(()),
    }
}

fn refuse_unsupported(program: &Program) -> Result<(), Unsupported> {
    for thread in &program.threads {
        match thread.multiplicity {
            Multiplicity::Arbitrary => return Err(Unsupported { what: "arbitrarily many threads", span: thread.span }),
            Multiplicity::Spawned => continue,
            Multiplicity::One => {}
        }
        for edge in thread.body.edges() {
            let what = match edge.instruction {
                Instruction::Call { .. } => "call",
                Instruction::Return(_) => "return",
                Instruction::Spawn(_) => "spawn",
                _ => continue,
            };
            return Err(Unsupported { what, span: edge.span });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
