//! Runs within a bound on rounds, or on the age of stores, by their definitions: a round of a thread is a longest part
//! of a run in which only that thread takes steps, or flushes.
//!
//! Two kinds of steps are left out, as the bounds are defined: a `membarrier` while another thread holds the lock, and
//! what a thread does while the lock is held in the round in which it was started.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use weir_ir::{Instruction, Program, ThreadId};

use super::goals::goals_of;
use super::state::State;
use super::steps::{Action, Depth, successors_within};
use super::{Drained, Goal, Model, Unsupported, refuse_templates, refuse_unsupported};
use crate::hash::Set;

/// Which runs count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RunBound {
    /// Each thread has at most so many rounds.
    Rounds(u32),
    /// Each store is flushed at most so many rounds of its thread after the one in which it was made.
    Age(u32),
}

/// What runs within a bound lead to.
#[derive(Clone, Debug, Default)]
pub struct BoundedOutcome {
    /// The states with empty buffers.
    pub drained: BTreeSet<Drained>,
    /// The goals that these show.
    pub goals: BTreeSet<Goal>,
    /// The goals that any state shows: assertions also fail while stores wait.
    pub all_goals: BTreeSet<Goal>,
    /// How many states there were, told apart by rounds and ages.
    pub states: usize,
}

/// A state, and what counts towards the bound.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counted {
    state: State,
    /// Whose round it is.
    turn: Option<ThreadId>,
    /// How many rounds each thread has had. Not counted if it does not matter.
    rounds: BTreeMap<ThreadId, u32>,
    /// For each store that waits, oldest first, how many rounds its thread has begun since. Not counted if it does not
    /// matter.
    ages: BTreeMap<ThreadId, VecDeque<u32>>,
    /// The threads that were started in the round of whoever holds the lock, or in this one.
    started: BTreeSet<ThreadId>,
}

/// Visits all states within the bound; `None` if there are more than `limit`.
pub fn bounded_states(program: &Program, bound: RunBound, limit: usize) -> Result<Option<BoundedOutcome>, Unsupported> {
    refuse_unsupported(program)?;
    bounded_states_within(program, bound, limit, Depth::NONE)
}

/// The same for a program with calls and spawns, within the given depth.
pub fn bounded_states_within(
    program: &Program,
    bound: RunBound,
    limit: usize,
    depth: Depth,
) -> Result<Option<BoundedOutcome>, Unsupported> {
    refuse_templates(program)?;
    let initial = Counted {
        state: State::initial(program),
        turn: None,
        rounds: BTreeMap::new(),
        ages: BTreeMap::new(),
        started: BTreeSet::new(),
    };
    let mut visited = Set::from_iter([initial.clone()]);
    let mut open = vec![initial];
    let mut outcome = BoundedOutcome::default();
    while let Some(counted) = open.pop() {
        outcome.see(program, &counted.state);
        for (thread, action, next) in successors_within(program, Model::Tso, &counted.state, limit, depth) {
            let waits = counted.state.holder.is_some_and(|holder| holder != thread);
            if waits && counted.started.contains(&thread) || is_left_out(program, &counted.state, thread, action) {
                continue;
            }
            let Some(next) = counted.after(bound, thread, next) else { continue };
            if visited.insert(next.clone()) {
                if visited.len() > limit {
                    return Ok(None);
                }
                open.push(next);
            }
        }
    }
    outcome.states = visited.len();
    Ok(Some(outcome))
}

fn is_left_out(program: &Program, state: &State, thread: ThreadId, action: Action) -> bool {
    let (Action::Execute(edge) | Action::InProcedure(Some(edge))) = action else { return false };
    let instruction = &state.threads[&thread].body(program).edge(edge).instruction;
    instruction == &Instruction::Membarrier && state.holder.is_some_and(|holder| holder != thread)
}

impl Counted {
    /// After a step of a thread to `state`; nothing if that is not within the bound.
    fn after(&self, bound: RunBound, thread: ThreadId, state: State) -> Option<Self> {
        let waiting = |state: &State| state.threads[&thread].buffer.len();
        let (before, after) = (waiting(&self.state), waiting(&state));
        let mut next = Self { state, turn: Some(thread), ..self.clone() };
        let begins = self.turn != Some(thread);
        if begins && self.state.holder.is_none() {
            next.started.clear();
        }
        let is_new = |one: &&ThreadId| !self.state.threads.contains_key(one);
        next.started.extend(next.state.threads.keys().filter(is_new));
        match bound {
            RunBound::Rounds(most) => {
                let rounds = next.rounds.entry(thread).or_insert(0);
                *rounds += u32::from(begins);
                (*rounds <= most).then_some(next)
            }
            RunBound::Age(most) => {
                let ages = next.ages.entry(thread).or_default();
                if begins {
                    ages.iter_mut().for_each(|age| *age += 1);
                }
                let is_within = ages.iter().all(|&age| age <= most);
                if after < before {
                    ages.pop_front();
                } else if after > before {
                    ages.push_back(0);
                }
                is_within.then_some(next)
            }
        }
    }
}

impl BoundedOutcome {
    fn see(&mut self, program: &Program, state: &State) {
        let goals = goals_of(program, state);
        self.all_goals.extend(goals.iter().copied());
        if state.is_drained() {
            self.goals.extend(goals);
            self.drained.insert(state.to_drained());
        }
    }
}
