//! Vector addition systems with states: backward coverability compared with a forward search of all reachable vectors.

use std::collections::BTreeSet;

use weir_testkit::Rng;

use super::*;
use crate::session::{Limits, Session};
use crate::verdict::Limit;

/// From one control state to another, adding this to the counters, none of which may become negative.
struct Transition {
    from: i64,
    to: i64,
    delta: [i64; COUNTERS],
}

const COUNTERS: usize = 3;

/// A configuration is a control state, then the counters. It is below others with the same control state and larger
/// counters.
struct Vass {
    transitions: Vec<Transition>,
}

impl WellStructured for Vass {
    type Unit = i64;
    type Pattern = ();

    fn is_below(&self, small: &[i64], large: &[i64]) -> bool {
        small[0] == large[0] && small[1..].iter().zip(&large[1..]).all(|(small, large)| small <= large)
    }

    fn predecessor_basis(&self, config: &[i64], emit: &mut impl FnMut(Vec<i64>)) {
        for transition in self.transitions.iter().filter(|transition| transition.to == config[0]) {
            let before = config[1..].iter().zip(transition.delta).map(|(count, delta)| (count - delta).max(0));
            emit([transition.from].into_iter().chain(before).collect());
        }
    }

    fn normalize(&self, _config: &mut Vec<i64>) {}

    fn weight(&self, config: &[i64]) -> u32 {
        config[1..].iter().sum::<i64>() as u32
    }

    fn key(&self, config: &[i64]) -> u64 {
        config[0] as u64
    }

    fn pattern(&self, _config: &[i64]) {}

    fn keys_below(&self, config: &[i64], _: &FxHashSet<()>, mut is_found: impl FnMut(u64) -> bool) -> bool {
        is_found(self.key(config))
    }

    fn all_keys_below(&self, config: &[i64], known: &FxHashSet<()>, is_found: impl FnMut(u64) -> bool) -> bool {
        self.keys_below(config, known, is_found)
    }
}

impl Vass {
    /// No transition increases the sum of the counters, so that finitely many vectors can be reached.
    fn bounded(rng: &mut Rng) -> Self {
        let mut transitions = Vec::new();
        while transitions.len() < 6 {
            let delta: [i64; COUNTERS] = std::array::from_fn(|_| rng.between(0, 4) as i64 - 2);
            let (from, to) = (rng.between(0, 2) as i64, rng.between(0, 2) as i64);
            if delta.iter().sum::<i64>() <= 0 {
                transitions.push(Transition { from, to, delta });
            }
        }
        Self { transitions }
    }

    fn reachable(&self, initial: &[i64]) -> BTreeSet<Vec<i64>> {
        let mut seen = BTreeSet::from([initial.to_vec()]);
        let mut open = vec![initial.to_vec()];
        while let Some(config) = open.pop() {
            for transition in self.transitions.iter().filter(|transition| transition.from == config[0]) {
                let counts = config[1..].iter().zip(transition.delta).map(|(count, delta)| count + delta);
                let next: Vec<i64> = [transition.to].into_iter().chain(counts).collect();
                if next[1..].iter().all(|&count| count >= 0) && seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

fn drawn(rng: &mut Rng, most: usize) -> Vec<i64> {
    let mut config = vec![rng.between(0, 2) as i64];
    config.extend((0..COUNTERS).map(|_| rng.between(0, most) as i64));
    config
}

#[test]
fn what_is_covered_backwards_is_what_can_be_reached_forwards() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let vass = Vass::bounded(&mut rng);
        let (initial, goal) = (drawn(&mut rng, 4), drawn(&mut rng, 3));
        let expected = vass.reachable(&initial).iter().any(|config| vass.is_below(&goal, config));
        let mut search = BackwardSearch::new(&vass, Some(&initial));
        search.add(goal.clone(), None);
        let outcome = search.run(&Session::default(), u64::MAX);
        match outcome {
            Outcome::Covered(id) => {
                assert!(expected, "seed {seed}");
                assert!(vass.is_below(search.basis.row(id), &initial));
                yes += 1;
            }
            Outcome::Saturated => {
                assert!(!expected && !search.basis.contains(&vass, &initial), "seed {seed}");
                no += 1;
            }
            Outcome::Stopped(limit) => panic!("seed {seed}: {limit}"),
        }
    }
    assert!(yes > 30 && no > 30, "{yes} covered, {no} not");
}

/// At saturation the basis decides coverability for every initial configuration, and no two of its elements are
/// comparable.
#[test]
fn a_saturated_basis_is_minimal_and_decides_for_all() {
    for seed in 0..40 {
        let mut rng = Rng::new(1_000 + seed);
        let vass = Vass::bounded(&mut rng);
        let goal = drawn(&mut rng, 3);
        let mut search = BackwardSearch::new(&vass, None);
        search.add(goal.clone(), None);
        assert!(matches!(search.run(&Session::default(), u64::MAX), Outcome::Saturated));
        let basis: Vec<&[i64]> = search.basis.minimal().collect();
        assert_eq!(basis.len(), search.basis.len());
        for (at, one) in basis.iter().enumerate() {
            let others = basis.iter().enumerate().filter(|(other, _)| *other != at);
            assert!(others.into_iter().all(|(_, other)| !vass.is_below(one, other)), "seed {seed}: {basis:?}");
        }
        for _ in 0..30 {
            let initial = drawn(&mut rng, 5);
            let expected = vass.reachable(&initial).iter().any(|config| vass.is_below(&goal, config));
            assert_eq!(search.basis.contains(&vass, &initial), expected, "seed {seed}: {initial:?}");
        }
    }
}

/// A counter that grows without bound: the forward search has no end, the backward search has.
#[test]
fn unbounded_counters_saturate() {
    let grow = Transition { from: 0, to: 0, delta: [1, 0, 0] };
    let trade = Transition { from: 0, to: 1, delta: [-3, 1, 0] };
    let vass = Vass { transitions: vec![grow, trade] };
    let outcome = |goal: [i64; 4]| {
        let initial = [0, 0, 0, 0];
        let mut search = BackwardSearch::new(&vass, Some(&initial));
        search.add(goal.to_vec(), None);
        search.run(&Session::default(), u64::MAX)
    };
    assert!(matches!(outcome([1, 100, 1, 0]), Outcome::Covered(_)));
    assert!(matches!(outcome([1, 0, 2, 0]), Outcome::Saturated), "the second control state has no way out");
    assert!(matches!(outcome([0, 0, 0, 1]), Outcome::Saturated));
}

#[test]
fn parents_lead_to_the_goal_and_limits_hold() {
    let vass = Vass { transitions: vec![Transition { from: 0, to: 0, delta: [1, 0, 0] }] };
    let initial = [0, 0, 0, 0];
    let mut search = BackwardSearch::new(&vass, Some(&initial));
    search.add(vec![0, 5, 0, 0], None);
    let Outcome::Covered(mut id) = search.run(&Session::default(), u64::MAX) else { panic!("it can be covered") };
    let mut counts = Vec::new();
    loop {
        counts.push(search.basis.row(id)[1]);
        if search.basis.parent(id) == id {
            break;
        }
        id = search.basis.parent(id);
    }
    assert_eq!(counts, [0, 1, 2, 3, 4, 5]);
    assert_eq!((search.steps, search.basis.len()), (5, 1));
    let fork = |delta| Transition { from: 0, to: 0, delta };
    let many = Vass { transitions: vec![fork([1, -1, 0]), fork([-1, 1, -1])] };
    let mut search = BackwardSearch::new(&many, None);
    search.add(vec![0, 9, 9, 9], None);
    assert!(matches!(search.run(&Session::default(), 1), Outcome::Stopped(Limit::States)));
    // Goals count, too. What is left out is not forgotten: nothing leads to these goals, and still they are not all.
    let none = Vass { transitions: Vec::new() };
    for (most, is_enough) in [(2, false), (3, true)] {
        let mut search = BackwardSearch::new(&none, None).keep(most);
        [[0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]].iter().for_each(|goal| search.add(goal.to_vec(), None));
        let outcome = search.run(&Session::default(), u64::MAX);
        assert_eq!(matches!(outcome, Outcome::Saturated), is_enough, "{outcome:?}");
        assert_eq!(search.basis.len() as u64, most);
    }
    let mut search = BackwardSearch::new(&many, None);
    search.add(vec![0, 90, 90, 90], None);
    let session = Session::new(Limits { memory: Some(1), ..Limits::default() });
    assert!(matches!(search.run(&session, u64::MAX), Outcome::Stopped(Limit::Memory)));
}
