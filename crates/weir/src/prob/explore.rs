//! Which configurations to expand: always the one that the most probability is waiting at.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::session::{Progress, Session};
use crate::verdict::Limit;

use super::graph::Graph;
use super::prob01::Classifier;

/// A configuration and what waits there.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    mass: f64,
    number: u32,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.mass.total_cmp(&other.mass).then(other.number.cmp(&self.number))
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Until this little probability waits.
    pub(super) rest: f64,
    /// Until this many configurations were expanded.
    pub(super) most: usize,
}

/// Follows the waiting probability into configurations that were not expanded yet. What comes back to expanded ones is
/// dropped: this only decides what to look at. Returns how many were expanded.
///
/// # Errors
/// The limit that was hit.
pub(super) fn follow<const N: usize>(
    graph: &mut Graph<'_, '_, N>,
    classifier: &mut Classifier<N>,
    waiting: impl IntoIterator<Item = (usize, f64)>,
    extent: Extent,
    session: &Session,
) -> Result<usize, Limit> {
    let mut masses: FxHashMap<u32, f64> = FxHashMap::default();
    let mut heap = BinaryHeap::new();
    let mut total = 0.0;
    for (number, mass) in waiting {
        if graph.is_expandable(number) && !classifier.is_settled(graph, number) && mass > 0.0 {
            masses.insert(number as u32, mass);
            heap.push(Waiting { mass, number: number as u32 });
            total += mass;
        }
    }
    let mut expanded = 0;
    while total > extent.rest
        && expanded < extent.most
        && let Some(Waiting { mass, number }) = heap.pop()
    {
        // A configuration that got more in the meantime is in the heap again, further up.
        if masses.get(&number) != Some(&mass) {
            continue;
        }
        masses.remove(&number);
        total -= mass;
        if let Some(limit) = expand(graph, number as usize, expanded, session) {
            return Err(limit);
        }
        expanded += 1;
        for position in 0..graph.row(number as usize).len() {
            let entry = graph.row(number as usize)[position];
            if graph.is_expandable(entry.to as usize) && !classifier.is_settled(graph, entry.to as usize) {
                let known = masses.entry(entry.to).or_insert(0.0);
                *known += mass * entry.p;
                total += mass * entry.p;
                heap.push(Waiting { mass: *known, number: entry.to });
            }
        }
    }
    Ok(expanded)
}

/// Expands one configuration, within the limits.
pub(super) fn expand<const N: usize>(
    graph: &mut Graph<'_, '_, N>,
    number: usize,
    count: usize,
    session: &Session,
) -> Option<Limit> {
    session.spend(graph.count_new());
    if session.has_too_many_states() {
        return Some(Limit::States);
    }
    let growth = graph.growth();
    if count.is_multiple_of(512) {
        if let Some(limit) = session.exceeded_with(graph.bytes(), growth) {
            return Some(limit);
        }
        session.report(Progress { states: graph.len() as u64, unit: "configurations", ..Progress::default() });
    } else if (growth > 0 || count.is_multiple_of(graph.expansions_a_check()))
        && let Some(limit) = session.exceeded_between_checks(graph.bytes(), growth)
    {
        return Some(limit);
    }
    graph.expand(number);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::settings::Settings;
    use crate::prob::testing::model;
    use crate::session::{Limits, Session};

    /// Where threads are in the configurations that get expanded, in order.
    struct Expanded {
        extent: Extent,
        states: Option<u64>,
    }

    impl Visitor for Expanded {
        type Output = (Result<usize, Limit>, Vec<Vec<u64>>);

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let session = Session::new(Limits { states: self.states, ..Limits::default() });
            let (mut graph, mut classifier) = (Graph::new(chain), Classifier::new(false));
            let found = follow(&mut graph, &mut classifier, [(0, 1.0)], self.extent, &session);
            let places = |number: usize| {
                let threads = chain.model.compiled.machine.threads.iter();
                threads.map(|code| graph.config(number).state.raw(code.location)).collect::<Vec<u64>>()
            };
            let expanded = (0..graph.len()).filter(|&number| graph.is_expanded(number));
            (found, expanded.map(places).collect())
        }
    }

    fn expanded(rest: f64, most: usize, states: Option<u64>) -> (Result<usize, Limit>, Vec<Vec<u64>>) {
        // A steps with 9/16, B with 5/16, C with 2/16, and each of them twice.
        let text =
            "thread A weight 9 { skip; skip; } thread B weight 5 { skip; skip; } thread C weight 2 { skip; skip; }
            forbid C at end;";
        with_chain(&model(text, &Settings::default()), Expanded { extent: Extent { rest, most }, states })
    }

    #[test]
    fn the_most_likely_comes_first() {
        let (count, places) = expanded(0.0, 1, None);
        assert_eq!((count, places), (Ok(1), vec![vec![0, 0, 0]]));
        let (_, places) = expanded(0.0, 2, None);
        assert_eq!(places, [[0, 0, 0], [1, 0, 0]]);
        // Then B with 5/16 rather than both A and B with 45/256, or A twice with 81/256: the latter has more.
        let (_, places) = expanded(0.0, 3, None);
        assert!(places.contains(&vec![2, 0, 0]), "{places:?}");
        let (_, places) = expanded(0.0, 4, None);
        assert!(places.contains(&vec![0, 1, 0]), "{places:?}");
        // What reaches one place on two ways waits there as a whole: A and B with 45/256 each way.
        let (_, places) = expanded(0.0, 5, None);
        assert!(places.contains(&vec![1, 1, 0]), "{places:?}");
    }

    #[test]
    fn nothing_is_followed_further_than_was_asked_for() {
        assert_eq!(expanded(1.0, 100, None).0, Ok(0));
        // All but the targets, which are where C has ended: 3 times 3 times 2.
        assert_eq!(expanded(0.0, 100, None).0, Ok(18));
        assert!(expanded(0.5, 100, None).0.is_ok_and(|count| (2..18).contains(&count)));
        assert_eq!(expanded(0.0, 100, Some(5)).0, Err(Limit::States));
    }
}
