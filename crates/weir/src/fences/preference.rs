//! Which of several cheapest sets is best: the one whose fences are executed least.
//!
//! Sets of the same cost are told apart by how deep in loops their fences stand, then by how often a walk through the
//! code comes by that takes each branch equally often, then by their place in the text, earlier ones first. All three are
//! sums over the fences of a set, so that they can go into one weight per place, the cost being the most significant part:
//! a hitting set of least weight is one of least cost.

use std::collections::BTreeMap;

use weir_ir::{Program, ThreadId};

use super::{LoopCosts, Place};
use crate::robust::ThreadEdge;

/// How many steps of a walk count.
const STEPS: usize = 1_000;

/// A walk through a large program is shorter: so many movements along edges are followed per thread.
const MOST_MOVES: usize = 10_000_000;

/// More visits than this count no more.
const MOST_VISITS: u64 = 10_000;

/// The sum of all weights stays below this, so that the solver's sums fit.
const MOST_WEIGHT: u64 = 1 << 60;

/// A weight for each place: the less, the rather a fence should stand there.
pub(super) fn weights(program: &Program, places: &[Place], costs: &[u64]) -> Vec<u64> {
    let loops = LoopCosts::new(program);
    let visits = visits(program);
    let visited = |place: &Place| {
        let times: f64 = place.after.iter().filter_map(|step| visits.get(step)).sum();
        ((times * 100.0).ceil() as u64).min(MOST_VISITS)
    };
    let levels: [Vec<u64>; 3] = [
        places.iter().map(|place| loops.cost(&place.after)).collect(),
        places.iter().map(visited).collect(),
        (0..places.len() as u64).collect(),
    ];
    // Where the numbers get too large, the last levels are left out: then the solver decides, always in the same way.
    let mut weights = costs.to_vec();
    for level in levels {
        match refined(&weights, &level) {
            Some(finer) => weights = finer,
            None => break,
        }
    }
    weights
}

/// The weights, refined by a level that is less significant. None if they get too large.
fn refined(weights: &[u64], level: &[u64]) -> Option<Vec<u64>> {
    let scale = level.iter().try_fold(1u64, |sum, &part| sum.checked_add(part))?;
    let finer = weights.iter().zip(level).map(|(&weight, &part)| weight.checked_mul(scale)?.checked_add(part));
    let finer: Vec<u64> = finer.collect::<Option<_>>()?;
    let sum = finer.iter().try_fold(0u64, |sum, &weight| sum.checked_add(weight))?;
    (sum < MOST_WEIGHT).then_some(finer)
}

/// How often a walk through each thread takes each step, if it takes all steps of a location equally often.
fn visits(program: &Program) -> BTreeMap<ThreadEdge, f64> {
    program.running_threads().flat_map(|thread| visits_of(program, thread)).collect()
}

fn visits_of(program: &Program, thread: ThreadId) -> Vec<(ThreadEdge, f64)> {
    let body = program.body(thread);
    let mut times = vec![0.0; body.edges().len()];
    let mut here = vec![0.0; body.locations.len()];
    here[body.entry.index()] = 1.0;
    for _ in 0..STEPS.min(MOST_MOVES / times.len().max(1)) {
        let mut next = vec![0.0; here.len()];
        for (from, share) in body.location_ids().zip(&here).filter(|(_, share)| **share > 0.0) {
            let each = share / body.edges_from(from).len().max(1) as f64;
            for (id, edge) in body.edges_from(from) {
                times[id.index()] += each;
                next[edge.to.index()] += each;
            }
        }
        here = next;
    }
    let numbered = (0..).map(weir_ir::EdgeId).zip(times);
    numbered.map(|(edge, times)| ((thread, edge), times)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_testkit::sketch::{cell, load, program, store, straight};

    fn place(edge: u32, cost: u64) -> Place {
        Place { after: vec![(ThreadId(0), weir_ir::EdgeId(edge))], cost }
    }

    #[test]
    fn cost_comes_first_then_the_text() {
        let program = program(vec![cell("x", 1)], vec![straight("P", [store(1, 1), store(1, 2), load(0, 1)])], vec![]);
        let places = [place(0, 1), place(1, 1), place(2, 2)];
        let weights = weights(&program, &places, &[1, 1, 2]);
        assert!(weights[0] < weights[1] && weights[1] < weights[2], "{weights:?}");
        // No number of preferences makes up for cost.
        assert!(weights[2] < weights[0] + weights[1] + weights[1], "{weights:?}");
    }

    #[test]
    fn weights_that_would_not_fit_lose_their_last_levels() {
        assert_eq!(refined(&[1, 2], &[3, 4]), Some(vec![11, 20]));
        assert_eq!(refined(&[1 << 58, 1], &[3, 4]), None);
        assert_eq!(refined(&[1], &[u64::MAX]), None);
    }
}
