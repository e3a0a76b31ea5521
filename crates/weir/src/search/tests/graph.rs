//! Graphs as transition systems.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{PropertyId, Value};
use weir_witness::Goal;

use crate::search::{Found, Outcome};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};

/// The steps out of each state: whose it is, and where it leads. State 0 is the initial one.
#[derive(Clone, Default)]
pub(super) struct Graph {
    pub(super) steps: Vec<Vec<(u32, u64)>>,
    pub(super) threads: u32,
    pub(super) goals: BTreeSet<u64>,
    /// Whether a state without steps is a goal.
    pub(super) wants_deadlock: bool,
    /// Bytes that are said to be held beside the states.
    pub(super) side_bytes: u64,
}

pub(super) const GOAL: Goal = Goal::Property(PropertyId(0));
pub(super) const STUCK: Goal = Goal::Property(PropertyId(1));

impl TransitionSystem for Graph {
    type State = Packed<1>;

    fn initial(&self) -> Packed<1> {
        Packed([0])
    }

    fn successors(&self, from: &Packed<1>, emit: &mut impl FnMut(StepCode, Packed<1>) -> bool) {
        for (choice, &(number, to)) in (0..).zip(&self.steps[from.0[0] as usize]) {
            if !emit(StepCode { number, choice }, Packed([to])) {
                return;
            }
        }
    }

    fn goal(&self, state: &Packed<1>) -> Option<Goal> {
        self.goals.contains(&state.0[0]).then_some(GOAL)
    }

    fn deadlock_goal(&self, state: &Packed<1>) -> Option<Goal> {
        assert!(self.steps[state.0[0] as usize].is_empty());
        self.wants_deadlock.then_some(STUCK)
    }

    fn words(&self) -> usize {
        1
    }

    fn step_count(&self) -> usize {
        self.threads as usize
    }

    fn thread_of(&self, step: StepCode) -> usize {
        step.number as usize
    }

    /// Not the order of the states' words, so that it shows which of the two decides.
    fn canonical_form(&self, state: &Packed<1>) -> Vec<Value> {
        vec![-(state.0[0] as Value)]
    }

    fn side_bytes(&self) -> u64 {
        self.side_bytes
    }
}

/// What a search of a graph must find, naively.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Expected {
    /// How far each state is that can be reached.
    pub(super) distances: BTreeMap<u64, u64>,
    pub(super) transitions: u64,
    pub(super) taken: Vec<bool>,
    /// How far the next goal is, and the state that must be shown: the one with the least canonical form.
    pub(super) nearest: Option<(u64, u64)>,
}

impl Graph {
    pub(super) fn expected(&self) -> Expected {
        let mut distances = BTreeMap::from([(0, 0)]);
        let (mut layer, mut depth, mut transitions) = (vec![0], 0, 0);
        let mut taken = vec![false; self.threads as usize];
        while !layer.is_empty() {
            depth += 1;
            let mut next = Vec::new();
            for state in layer {
                for &(number, to) in &self.steps[state as usize] {
                    transitions += 1;
                    taken[number as usize] = true;
                    if let std::collections::btree_map::Entry::Vacant(entry) = distances.entry(to) {
                        entry.insert(depth);
                        next.push(to);
                    }
                }
            }
            layer = next;
        }
        let is_stuck = |state: u64| self.wants_deadlock && self.steps[state as usize].is_empty();
        let shown = distances.iter().filter(|&(state, _)| self.goals.contains(state) || is_stuck(*state));
        // A state without steps is seen to be one only when its turn comes.
        let key = |(&state, &depth): (&u64, &u64)| (depth, !self.goals.contains(&state), std::cmp::Reverse(state));
        let nearest = shown.map(key).min().map(|(depth, _, state)| (depth, state.0));
        Expected { distances, transitions, taken, nearest }
    }

    /// Where a run leads, if it is one.
    pub(super) fn follow(&self, run: &[StepCode]) -> Option<u64> {
        let mut at = 0;
        for step in run {
            let &(number, to) = self.steps[at as usize].get(usize::try_from(step.choice).ok()?)?;
            (number == step.number).then_some(())?;
            at = to;
        }
        Some(at)
    }
}

/// The run that was found, if one was.
pub(super) fn run(outcome: &Outcome) -> Option<(Goal, &[StepCode])> {
    match &outcome.found {
        Found::Goal(goal, run) => Some((*goal, run)),
        _ => None,
    }
}

/// States, transitions, depth.
pub(super) fn numbers(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.states, outcome.transitions, outcome.depth)
}
