//! Which configurations to expand: always the one that the most probability is waiting at.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::Limit;
use crate::control::{Progress, Watch};

use super::graph::Graph;
use super::judge::Judge;

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

/// Follows the waiting probability into configurations that were not expanded yet. What comes back to expanded ones is dropped: this
/// only decides what to look at. Returns how many were expanded.
///
/// # Errors
/// The limit that was hit.
pub(super) fn follow<const N: usize>(
    graph: &mut Graph<'_, '_, N>,
    judge: &mut Judge<N>,
    waiting: impl IntoIterator<Item = (usize, f64)>,
    extent: Extent,
    watch: &Watch<'_>,
) -> Result<usize, Limit> {
    let mut masses: FxHashMap<u32, f64> = FxHashMap::default();
    let mut heap = BinaryHeap::new();
    let mut total = 0.0;
    for (number, mass) in waiting {
        if graph.is_expandable(number) && !judge.is_settled(graph, number) && mass > 0.0 {
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
        // Whoever got more in the meantime is in the heap again, further up.
        if masses.get(&number) != Some(&mass) {
            continue;
        }
        masses.remove(&number);
        total -= mass;
        if let Some(limit) = expand(graph, number as usize, expanded, watch) {
            return Err(limit);
        }
        expanded += 1;
        for position in 0..graph.row(number as usize).len() {
            let entry = graph.row(number as usize)[position];
            if graph.is_expandable(entry.to as usize) && !judge.is_settled(graph, entry.to as usize) {
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
    watch: &Watch<'_>,
) -> Option<Limit> {
    if graph.len() as u64 > watch.state_limit() {
        return Some(Limit::States);
    }
    if count.is_multiple_of(512) {
        if let Some(limit) = watch.exceeded(graph.bytes(), 0) {
            return Some(limit);
        }
        watch.report(&Progress { states: graph.len() as u64, elapsed: watch.elapsed(), ..Progress::default() });
    }
    graph.expand(number);
    None
}
