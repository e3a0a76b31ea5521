//! Runs within a bound on rounds, or on the age of stores, by their definitions: a round of a thread is a longest part
//! of a run in which only that thread takes steps, or flushes.
//!
//! One kind of step is left out, as the bounds are defined: a `membarrier` while another thread holds the lock.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use weir_ir::{EdgeId, Instruction, Program, ThreadId};

use super::goals::goals_of;
use super::state::State;
use super::steps::{Action, successors};
use super::{Drained, Goal, Model, Unsupported, refuse_unsupported};

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
}

/// Visits all states within the bound; `None` if there are more than `limit`.
pub fn bounded_states(program: &Program, bound: RunBound, limit: usize) -> Result<Option<BoundedOutcome>, Unsupported> {
    refuse_unsupported(program)?;
    let (rounds, ages) = (BTreeMap::new(), BTreeMap::new());
    let initial = Counted { state: State::initial(program), turn: None, rounds, ages };
    let mut visited = HashSet::from([initial.clone()]);
    let mut open = vec![initial];
    let mut outcome = BoundedOutcome::default();
    while let Some(counted) = open.pop() {
        outcome.see(program, &counted.state);
        for (thread, action, next) in successors(program, Model::Tso, &counted.state, limit) {
            if is_left_out(program, &counted.state, thread, action) {
                continue;
            }
            let Some(next) = counted.after(program, bound, (thread, action), next) else { continue };
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
    let Action::Execute(edge) = action else { return false };
    let is_membarrier = instruction(program, thread, edge) == &Instruction::Membarrier;
    is_membarrier && state.holder.is_some_and(|holder| holder != thread)
}

fn instruction(program: &Program, thread: ThreadId, edge: EdgeId) -> &Instruction {
    &program.body(thread).edge(edge).instruction
}

impl Counted {
    /// After a step to `state`; nothing if that is not within the bound.
    fn after(
        &self,
        program: &Program,
        bound: RunBound,
        (thread, action): (ThreadId, Action),
        state: State,
    ) -> Option<Self> {
        let mut next = Self { state, turn: Some(thread), ..self.clone() };
        let begins = self.turn != Some(thread);
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
                match action {
                    Action::Flush => drop(ages.pop_front()),
                    Action::Execute(edge) if instruction(program, thread, edge).is_store() => ages.push_back(0),
                    Action::Execute(_) | Action::InProcedure => {}
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
