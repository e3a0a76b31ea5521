//! Random systems of small automata that write cells and wait for their values: whatever an automaton can do, and every
//! deadlock, is found. Which agent a state begins with is left to chance, so that all depends on the summaries.

use std::collections::BTreeSet;
use std::sync::Mutex;

use weir_ir::Value;
use weir_testkit::Rng;

use super::*;
use crate::semantics::state::Packed;

const AGENTS: usize = 4;
const CELLS: usize = 3;
const PLACES: usize = 4;

/// A step of an automaton.
#[derive(Clone, Copy, Debug)]
struct Move {
    to: usize,
    action: Action,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    /// Accesses nothing.
    Skip,
    Write(usize, u64),
    /// Waits until the cell has the value.
    Await(usize, u64),
}

/// Automata beside each other. A byte of a state is a cell, or the place of an automaton.
struct Automata {
    /// By automaton and place.
    moves: Vec<Vec<Vec<Move>>>,
    /// Decides which agent a state begins with.
    order: u64,
    seen: Mutex<Seen>,
}

#[derive(PartialEq, Eq, Default, Debug)]
struct Seen {
    /// Places of automata.
    places: BTreeSet<(usize, usize)>,
    deadlocks: BTreeSet<u64>,
}

impl Automata {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let backwards = *rng.pick(&[0, 20, 50]);
        let mut random_move = |at: usize| {
            let ahead = at + 1 + rng.below(PLACES - at - 1);
            let to = if rng.chance(backwards) { rng.below(PLACES) } else { ahead };
            let (cell, value) = (rng.below(CELLS), rng.below(3) as u64);
            let action = *rng.pick(&[Action::Skip, Action::Write(cell, value), Action::Await(cell, value)]);
            Move { to, action }
        };
        let mut automaton = || -> Vec<Vec<Move>> {
            (0..PLACES - 1).map(|at| vec![random_move(at); 1 + at % 2]).chain([Vec::new()]).collect()
        };
        let mut moves: Vec<_> = (0..AGENTS).map(|_| automaton()).collect();
        // The second move of a place is another one.
        for places in &mut moves {
            for (at, list) in places.iter_mut().enumerate().filter(|(_, list)| list.len() > 1) {
                list[1] = random_move(at);
            }
        }
        Self { moves, order: seed, seen: Mutex::default() }
    }

    fn place(state: &Packed<1>, agent: usize) -> usize {
        (state.0[0] >> (8 * agent) & 0xff) as usize
    }

    fn cell(state: &Packed<1>, cell: usize) -> u64 {
        state.0[0] >> (8 * (AGENTS + cell)) & 0xff
    }

    fn put(state: &mut Packed<1>, byte: usize, value: u64) {
        state.0[0] = state.0[0] & !(0xff << (8 * byte)) | value << (8 * byte);
    }

    /// Reads are the lower half of a word, writes the upper one; one word per agent.
    fn access(action: Action) -> u64 {
        match action {
            Action::Skip => 0,
            Action::Write(cell, _) => 1 << (32 + cell),
            Action::Await(cell, _) => 1 << cell,
        }
    }

    fn next(&self, state: &Packed<1>, agent: usize) -> &[Move] {
        &self.moves[agent][Self::place(state, agent)]
    }

    fn accesses(&self, state: &Packed<1>) -> Vec<u64> {
        let of = |agent| self.next(state, agent).iter().fold(0, |all, step| all | Self::access(step.action));
        (0..AGENTS).map(of).collect()
    }

    fn enabled(&self, state: &Packed<1>) -> Agents {
        let mut enabled = 0;
        self.steps_of(state, Agents::MAX, &mut |step, _| {
            enabled |= 1 << self.thread_of(step);
            true
        });
        enabled
    }
}

impl TransitionSystem for Automata {
    type State = Packed<1>;

    fn initial(&self) -> Packed<1> {
        Packed([0])
    }

    fn successors(&self, from: &Packed<1>, emit: &mut impl FnMut(StepCode, Packed<1>) -> bool) {
        self.steps_of(from, Agents::MAX, emit);
    }

    fn goal(&self, state: &Packed<1>) -> Option<Goal> {
        let mut seen = self.seen.lock().expect("no panic");
        seen.places.extend((0..AGENTS).map(|agent| (agent, Self::place(state, agent))));
        if self.enabled(state) == 0 {
            seen.deadlocks.insert(state.0[0]);
        }
        None
    }

    fn deadlock_goal(&self, _state: &Packed<1>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        1
    }

    fn step_count(&self) -> usize {
        AGENTS * PLACES * 2
    }

    fn thread_of(&self, step: StepCode) -> usize {
        step.number as usize / (PLACES * 2)
    }

    fn canonical_form(&self, state: &Packed<1>) -> Vec<Value> {
        vec![state.0[0] as Value]
    }

    fn side_bytes(&self) -> u64 {
        0
    }
}

impl AgentSteps for Automata {
    fn row_words(&self) -> usize {
        AGENTS
    }

    fn opening(&self, state: &Packed<1>) -> Opening {
        let enabled = self.enabled(state);
        let agents: Vec<Agents> = (0..AGENTS).map(|agent| 1 << agent).filter(|agent| enabled & agent != 0).collect();
        let chance = super::super::store::hash(&[state.0[0], self.order]) as usize;
        let first = agents.get(chance % agents.len().max(1)).copied().unwrap_or(0);
        Opening { first, enabled, accesses: self.accesses(state) }
    }

    fn closed(&self, state: &Packed<1>, agents: Agents, summary: &[u64]) -> Agents {
        let mut set = agents & ((1 << AGENTS) - 1);
        loop {
            let inside = (0..AGENTS).filter(|agent| set >> agent & 1 != 0);
            let own =
                inside.flat_map(|agent| self.next(state, agent)).fold(0, |all, step| all | Self::access(step.action));
            let conflicts = |other: u64| own >> 32 & (other | other >> 32) != 0 || own & other >> 32 & 0xffff != 0;
            let added = (0..AGENTS).filter(|&agent| conflicts(summary[agent])).fold(set, |set, agent| set | 1 << agent);
            if added == set {
                return set;
            }
            set = added;
        }
    }

    fn steps_of(&self, state: &Packed<1>, agents: Agents, emit: &mut dyn FnMut(StepCode, Packed<1>) -> bool) {
        for agent in (0..AGENTS).filter(|agent| agents >> agent & 1 != 0) {
            for (number, step) in self.next(state, agent).iter().enumerate() {
                let mut next = *state;
                Self::put(&mut next, agent, step.to as u64);
                match step.action {
                    Action::Await(cell, value) if Self::cell(state, cell) != value => continue,
                    Action::Write(cell, value) => Self::put(&mut next, AGENTS + cell, value),
                    Action::Await(..) | Action::Skip => {}
                }
                let number = (agent * PLACES + Self::place(state, agent)) * 2 + number;
                emit(StepCode { number: number as u32, choice: 0 }, next);
            }
        }
    }

    fn turns_back(&self, _from: &Packed<1>, _step: StepCode, _to: &Packed<1>) -> bool {
        false
    }

    fn goal_after_flushes(&self, _state: &Packed<1>) -> Option<(Goal, Vec<StepCode>)> {
        None
    }
}

#[test]
fn automata_get_wherever_they_can() {
    let (mut states, mut all_states) = (0, 0);
    for seed in 0..3_000 {
        let automata = Automata::new(seed);
        let all = super::super::depth_first(&automata, &Session::default());
        let seen = std::mem::take(&mut *automata.seen.lock().expect("no panic"));
        let reduced = dynamic(&automata, &Session::default());
        assert!(matches!(reduced.found, Found::Nothing));
        assert_eq!(*automata.seen.lock().expect("no panic"), seen, "seed {seed}: {:?}", automata.moves);
        assert_eq!(reduced.taken, all.taken, "seed {seed}: {:?}", automata.moves);
        (states, all_states) = (states + reduced.states, all_states + all.states);
    }
    assert!(5 * states < 4 * all_states, "{states} of {all_states}");
}
