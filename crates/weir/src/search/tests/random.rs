//! Small random graphs, with and without goals, breadth-first and depth-first.

use weir_testkit::Rng;

use super::graph::{GOAL, Graph, STUCK, numbers, run};
use crate::search::{Found, breadth_first, depth_first};
use crate::semantics::StepCode;
use crate::session::{Limits, Session};
use crate::verdict::Limit;

/// As many steps leave a state. A budget of fewer states cuts short what follows from a single one.
const MOST_STEPS: u64 = 4;

fn drawn(seed: u64) -> Graph {
    let mut rng = Rng::new(seed);
    let count = rng.between(1, 60);
    let most = rng.between(1, MOST_STEPS as usize);
    let steps = (0..count).map(|_| {
        let degree = if rng.chance(15) { 0 } else { rng.between(1, most) };
        (0..degree).map(|_| (rng.below(5) as u32, rng.below(count) as u64)).collect()
    });
    let steps = steps.collect();
    let goals = (0..rng.below(3)).map(|_| rng.below(count) as u64).collect();
    Graph { steps, threads: 5, goals, wants_deadlock: rng.chance(30), side_bytes: 0 }
}

fn limits(states: u64) -> Session {
    Session::new(Limits { states: Some(states), ..Limits::default() })
}

/// Of several last steps on shortest runs, which one is shown: the thread of the next step goes on if it can, then the
/// predecessor with the least canonical form, then the least step.
fn preferred(graph: &Graph, distances: &std::collections::BTreeMap<u64, u64>, last: u64) -> Vec<StepCode> {
    let (mut target, mut thread, mut run) = (last, None, Vec::new());
    for depth in (0..distances[&last]).rev() {
        let mut best = None;
        for (&from, _) in distances.iter().filter(|&(_, &at)| at == depth) {
            for (choice, &(number, to)) in (0..).zip(&graph.steps[from as usize]) {
                let key = (thread.is_some_and(|thread| thread != number), std::cmp::Reverse(from), number, choice);
                if to == target && best.is_none_or(|best| key < best) {
                    best = Some(key);
                }
            }
        }
        let (_, from, number, choice) = best.expect("a shortest run has a step before");
        run.push(StepCode { number, choice });
        (target, thread) = (from.0, Some(number));
    }
    run.reverse();
    run
}

#[test]
fn breadth_first_finds_the_nearest_goal_by_the_preferred_run() {
    let (mut found, mut complete) = (0, 0);
    for seed in 0..600 {
        let graph = drawn(seed);
        let expected = graph.expected();
        for jobs in [1, 2, 3] {
            let outcome = breadth_first(&graph, &Session::default(), jobs);
            let all = expected.distances.len() as u64;
            match expected.nearest {
                Some((depth, state)) => {
                    let (goal, steps) = run(&outcome).unwrap_or_else(|| panic!("seed {seed}: {:?}", outcome.found));
                    assert_eq!(graph.follow(steps), Some(state), "seed {seed}");
                    assert_eq!((steps.len() as u64, outcome.depth), (depth, depth), "seed {seed}");
                    assert_eq!(goal, if graph.goals.contains(&state) { GOAL } else { STUCK });
                    assert_eq!(steps, preferred(&graph, &expected.distances, state), "seed {seed}");
                    found += 1;
                }
                None => {
                    assert!(matches!(outcome.found, Found::Nothing), "seed {seed}");
                    let deepest = expected.distances.values().max().copied().unwrap_or(0);
                    assert_eq!(numbers(&outcome), (all, expected.transitions, deepest), "seed {seed}");
                    assert_eq!(outcome.taken, expected.taken);
                    complete += 1;
                }
            }
        }
    }
    assert!(found > 500 && complete > 500, "{found} found, {complete} complete");
}

#[test]
fn depth_first_finds_a_goal_if_there_is_one() {
    for seed in 0..600 {
        let graph = drawn(seed);
        let expected = graph.expected();
        let outcome = depth_first(&graph, &Session::default());
        if expected.nearest.is_some() {
            let (goal, steps) = run(&outcome).unwrap_or_else(|| panic!("seed {seed}: {:?}", outcome.found));
            let last = graph.follow(steps).expect("a run");
            let is_stuck = graph.wants_deadlock && graph.steps[last as usize].is_empty();
            assert!(if goal == GOAL { graph.goals.contains(&last) } else { is_stuck }, "seed {seed}");
            assert!(outcome.depth >= steps.len() as u64 && outcome.states > steps.len() as u64);
        } else {
            assert!(matches!(outcome.found, Found::Nothing), "seed {seed}");
            assert_eq!(outcome.states, expected.distances.len() as u64, "seed {seed}");
            assert_eq!(outcome.transitions, expected.transitions, "seed {seed}");
            assert_eq!(outcome.taken, expected.taken, "seed {seed}");
        }
    }
}

/// The first step is tried first, and all that follows from it.
#[test]
fn depth_first_goes_deep_along_the_first_step() {
    // 0 leads to 1 and 4; 1 to 2, 2 to 3; 4 to 3.
    let steps = vec![vec![(0, 1), (1, 4)], vec![(2, 2)], vec![(3, 3)], vec![], vec![(4, 3)]];
    let graph = Graph { steps, threads: 5, goals: [3].into(), ..Graph::default() };
    let outcome = depth_first(&graph, &Session::default());
    let (_, steps) = run(&outcome).expect("a run");
    assert_eq!(steps.iter().map(|step| step.number).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!((outcome.states, outcome.depth), (4, 3));
}

#[test]
fn a_budget_that_is_enough_is_none_and_one_less_is_one() {
    for seed in 0..400 {
        let graph = Graph { goals: [].into(), wants_deadlock: false, ..drawn(seed) };
        let all = graph.expected().distances.len() as u64;
        if all < MOST_STEPS {
            continue;
        }
        for jobs in [1, 3] {
            let enough = breadth_first(&graph, &limits(all), jobs);
            assert!(matches!(enough.found, Found::Nothing) && enough.states == all, "seed {seed}");
        }
        let deep = depth_first(&graph, &limits(all));
        assert!(matches!(deep.found, Found::Nothing) && deep.states == all, "seed {seed}: {deep:?}");
        for less in (MOST_STEPS..all).rev().take(3) {
            for jobs in [1, 3] {
                let outcome = breadth_first(&graph, &limits(less), jobs);
                assert!(matches!(outcome.found, Found::Stopped(Limit::States)), "seed {seed}");
                assert_eq!(outcome.states, less, "seed {seed}");
            }
            let outcome = depth_first(&graph, &limits(less));
            assert!(matches!(outcome.found, Found::Stopped(Limit::States)), "seed {seed}: {outcome:?}");
            assert_eq!(outcome.states, less, "seed {seed}");
        }
    }
}

/// A goal among what the budget cuts off is a goal all the same.
#[test]
fn a_goal_in_the_level_that_the_budget_cuts_short_is_found() {
    for seed in 0..400 {
        let graph = drawn(seed);
        let expected = graph.expected();
        let Some((depth, state)) = expected.nearest else { continue };
        if depth == 0 || !graph.goals.contains(&state) {
            continue;
        }
        // Enough for all that comes before its level.
        let before = expected.distances.values().filter(|&&at| at < depth).count() as u64;
        if before < MOST_STEPS {
            continue;
        }
        for jobs in [1, 2] {
            let outcome = breadth_first(&graph, &limits(before), jobs);
            let (_, steps) = run(&outcome).unwrap_or_else(|| panic!("seed {seed}: {:?}", outcome.found));
            assert_eq!(graph.follow(steps), Some(state), "seed {seed}");
        }
    }
}
