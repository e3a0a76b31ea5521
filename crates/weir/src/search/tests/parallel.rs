//! Graphs with so many states at one depth that workers really run side by side.

use weir_ir::Value;
use weir_testkit::Rng;
use weir_witness::Goal;

use super::graph::{GOAL, numbers, run};
use crate::search::{Found, Outcome, breadth_first};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Limits, Session};
use crate::verdict::Limit;

/// Levels of `width` states each behind the initial state: a state is its level and its place there, and leads to three
/// of the next level; the last level leads back to the first.
struct Wide {
    width: u64,
    levels: u64,
    goals: fn(u64, u64) -> bool,
}

impl Wide {
    fn next(&self, level: u64, place: u64) -> [u64; 3] {
        let far = Rng::new(level * self.width + place).bits();
        [place, (place + 1) % self.width, far % self.width]
    }
}

impl TransitionSystem for Wide {
    type State = Packed<2>;

    fn initial(&self) -> Packed<2> {
        Packed([0, 0])
    }

    fn successors(&self, from: &Packed<2>, emit: &mut impl FnMut(StepCode, Packed<2>) -> bool) {
        let [level, place] = from.0;
        if level == 0 {
            for place in 0..self.width {
                if !emit(StepCode { number: 0, choice: place as Value }, Packed([1, place])) {
                    return;
                }
            }
            return;
        }
        let to = if level == self.levels { 1 } else { level + 1 };
        for (number, place) in (1..).zip(self.next(level, place)) {
            emit(StepCode { number, choice: 0 }, Packed([to, place]));
        }
    }

    fn goal(&self, state: &Packed<2>) -> Option<Goal> {
        (self.goals)(state.0[0], state.0[1]).then_some(GOAL)
    }

    fn deadlock_goal(&self, _state: &Packed<2>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        2
    }

    fn step_count(&self) -> usize {
        4
    }

    fn thread_of(&self, step: StepCode) -> usize {
        step.number as usize
    }

    fn canonical_form(&self, state: &Packed<2>) -> Vec<Value> {
        // Neither the order of arrival nor that of words.
        vec![(state.0[1] as Value * 7919) % 10_007, state.0[0] as Value, state.0[1] as Value]
    }

    fn side_bytes(&self) -> u64 {
        0
    }
}

const WIDTH: u64 = 9_000;

fn same(left: &Outcome, right: &Outcome) {
    assert_eq!(numbers(left), numbers(right));
    assert_eq!(left.taken, right.taken);
    assert_eq!(run(left), run(right));
}

#[test]
fn all_is_visited_once_by_however_many() {
    let graph = Wide { width: WIDTH, levels: 4, goals: |_, _| false };
    for jobs in [1, 2, 3, 8] {
        let outcome = breadth_first(&graph, &Session::default(), jobs);
        assert!(matches!(outcome.found, Found::Nothing));
        assert_eq!(numbers(&outcome), (1 + 4 * WIDTH, WIDTH + 3 * 4 * WIDTH, 4), "{jobs} workers");
        assert_eq!(outcome.taken, [true; 4]);
        let least = outcome.states * 16;
        assert!((least..8 * least + (4 << 20)).contains(&outcome.stored_bytes), "{} bytes", outcome.stored_bytes);
    }
}

#[test]
fn the_same_goal_is_shown_by_the_same_run() {
    let graph = Wide { width: WIDTH, levels: 5, goals: |level, place| level == 4 && place % 50 == 3 };
    let one = breadth_first(&graph, &Session::default(), 1);
    let (_, steps) = run(&one).expect("there are many goals");
    assert_eq!(steps.len(), 4);
    // The one with the least canonical form among 180.
    let places = (0..WIDTH).filter(|place| place % 50 == 3);
    let least = places.min_by_key(|place| (place * 7919) % 10_007).expect("some");
    let mut at = graph.initial();
    for wanted in steps {
        graph.successors(&at.clone(), &mut |step, next| {
            if step == *wanted {
                at = next;
            }
            true
        });
    }
    assert_eq!(at.0, [4, least]);
    for jobs in [2, 3, 5] {
        same(&one, &breadth_first(&graph, &Session::default(), jobs));
    }
}

#[test]
fn the_budget_is_met_exactly() {
    let graph = Wide { width: WIDTH, levels: 5, goals: |_, _| false };
    for states in [1, WIDTH, 2 * WIDTH + 500, 5 * WIDTH] {
        let limits = Limits { states: Some(states), ..Limits::default() };
        let one = breadth_first(&graph, &Session::new(limits), 1);
        assert_eq!(one.states, states);
        for jobs in [2, 3] {
            let other = breadth_first(&graph, &Session::new(limits), jobs);
            assert!(matches!(other.found, Found::Stopped(Limit::States)));
            assert_eq!((other.states, other.depth), (one.states, one.depth), "{jobs} workers, {states} states");
        }
    }
    let limits = Limits { states: Some(5 * WIDTH + 1), ..Limits::default() };
    let enough = breadth_first(&graph, &Session::new(limits), 3);
    assert!(matches!(enough.found, Found::Nothing));
}
