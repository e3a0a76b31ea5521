//! Which of several cheapest sets is best: the one whose fences are executed least.
//!
//! Sets of the same cost are distinguished by how deep in loops their fences stand, then by how often a walk through
//! the code visits them if it takes each branch equally often, then by their place in the text, earlier ones first.
//! Each is a sum over the fences of a set, and the sums are minimized one after the other.

use std::collections::BTreeMap;

use weir_ir::sort::sort_by;
use weir_ir::{Body, EdgeId, Program};

use super::{LoopCosts, Place};
use crate::robust::ThreadEdge;

/// How many steps of a walk count.
const STEPS: usize = 10_000;

/// A walk through a large program is shorter: so many movements along edges are followed per thread.
const MOST_MOVES: usize = 10_000_000;

/// Numbers of visits that differ by less than this part count as equal: where a walk ends, it may have been at one
/// step of a loop once more than at another.
const SLACK: f64 = 0.05;

/// For each preference, a number for each place: the lower it is, the better the place for a fence.
pub(super) fn preferences(program: &Program, places: &[Place]) -> Vec<Vec<u64>> {
    let loops = LoopCosts::new(program);
    let visits = visits(program);
    let visited = |place: &Place| place.after.iter().filter_map(|step| visits.get(step)).sum::<f64>();
    let loops: Vec<f64> = places.iter().map(|place| loops.cost(&place.after) as f64).collect();
    let visits: Vec<f64> = places.iter().map(visited).collect();
    vec![ranks(&loops, 0.0), ranks(&visits, SLACK), (0..places.len() as u64).collect()]
}

/// Each number's rank among the different ones: small numbers in the same order. Neighbours that differ by at most the
/// slack, as a part of the number, have the same rank.
fn ranks(numbers: &[f64], slack: f64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    sort_by(&mut order, |&one, &other| numbers[one].total_cmp(&numbers[other]));
    let (mut ranks, mut rank) = (vec![0; numbers.len()], 0);
    for pair in order.windows(2) {
        let (lower, higher) = (numbers[pair[0]], numbers[pair[1]]);
        rank += u64::from(higher > lower * (1.0 + slack));
        ranks[pair[1]] = rank;
    }
    ranks
}

/// How often a walk through each thread takes each step, if it takes all steps of a location equally often.
fn visits(program: &Program) -> BTreeMap<ThreadEdge, f64> {
    let mut known: BTreeMap<Shape, Vec<f64>> = BTreeMap::new();
    let mut visits = BTreeMap::new();
    for thread in program.running_threads() {
        let times = known.entry(Shape::of(program.body(thread))).or_insert_with_key(Shape::visits);
        let numbered = (0..).map(EdgeId).zip(times.iter());
        visits.extend(numbered.map(|(edge, &times)| ((thread, edge), times)));
    }
    visits
}

/// What a walk depends on: the same for all copies of a thread.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    locations: usize,
    entry: usize,
    /// For each edge where it starts and where it leads, those of one location together.
    edges: Vec<(usize, usize)>,
}

impl Shape {
    fn of(body: &Body) -> Self {
        let edges = body.edges().iter().map(|edge| (edge.from.index(), edge.to.index())).collect();
        Self { locations: body.locations.len(), entry: body.entry.index(), edges }
    }

    /// How often a walk takes each edge.
    fn visits(&self) -> Vec<f64> {
        let mut leaving = vec![0.0; self.locations];
        self.edges.iter().for_each(|&(from, _)| leaving[from] += 1.0);
        let mut times = vec![0.0; self.edges.len()];
        let (mut here, mut next) = (vec![0.0; self.locations], vec![0.0; self.locations]);
        here[self.entry] = 1.0;
        for _ in 0..STEPS.min(MOST_MOVES / times.len().max(1)) {
            for (&(from, to), times) in self.edges.iter().zip(&mut times) {
                let each = here[from] / leaving[from];
                *times += each;
                next[to] += each;
            }
            std::mem::swap(&mut here, &mut next);
            next.fill(0.0);
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_ir::ThreadId;
    use weir_testkit::blocks::{Block, thread};
    use weir_testkit::sketch::{cell, program, store};

    #[test]
    fn ranks_keep_the_order() {
        assert_eq!(ranks(&[700.0, 3.0, 700.0, 12.0], 0.0), [2, 0, 2, 1]);
        assert_eq!(ranks(&[102.0, 100.0, 110.0, 50.0], 0.05), [1, 1, 2, 0]);
        assert_eq!(ranks(&[], 0.0), []);
    }

    #[test]
    fn a_thread_that_does_nothing_takes_no_steps() {
        let program = program(vec![cell("x", 1)], vec![thread("P", &[])], vec![]);
        assert_eq!(visits(&program).len(), program.body(ThreadId(0)).edges().len());
    }

    /// Outside of a loop rather than in it, on one of two branches rather than on both.
    #[test]
    fn seldom_executed_places_are_preferred() {
        let branches = Block::Choose(vec![vec![store(1, 2).into()], vec![store(1, 3).into()]]);
        let blocks = [store(1, 1).into(), Block::Repeat(vec![branches, store(1, 4).into()]), store(1, 5).into()];
        let program = program(vec![cell("x", 1)], vec![thread("P", &blocks)], vec![]);
        let body = program.body(ThreadId(0));
        let storing = |value: i64| {
            let is_it = |edge: &weir_ir::Edge| edge.instruction == store(1, value);
            let edge = body.edges().iter().position(is_it).expect("it is there");
            Place { after: vec![(ThreadId(0), EdgeId::new(edge))], cost: 1 }
        };
        let preferences = preferences(&program, &[1, 2, 3, 4, 5].map(storing));
        let [loops, visits, text] = &preferences[..] else { panic!("three levels") };
        assert_eq!(loops, &[0, 1, 1, 1, 0]);
        // One after the other is as often; one of two branches is less often.
        assert_eq!((visits[0], visits[1]), (visits[4], visits[2]));
        assert!(visits[1] < visits[3], "{visits:?}");
        assert_eq!(text, &[0, 1, 2, 3, 4]);
    }
}
