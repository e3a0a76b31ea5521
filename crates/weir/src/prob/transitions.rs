//! The transitions between the configurations of a graph, which are known here by their numbers only.
//!
//! Solvers need nothing else. They do not depend on the size of states, so they are compiled once.

use super::obstacle::Obstacle;

/// A transition to a known configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) to: u32,
    /// The edge that was taken, or [`NO_EDGE`](super::model::NO_EDGE).
    pub(super) edge: u32,
    /// The probability, off by a few units in the last place: see [`rounding`](super::rounding).
    pub(super) p: f64,
}

/// What is known about the transitions of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// Nothing yet.
    Unexpanded,
    /// They cannot be listed, for this reason.
    Blocked(Obstacle),
    /// These entries.
    Known { start: u32, end: u32 },
}

/// The transitions of all configurations that were expanded.
#[derive(Default)]
pub(super) struct Transitions {
    rows: Vec<Row>,
    entries: Vec<Entry>,
    is_target: Vec<bool>,
}

/// Reversed edges: for each configuration, its predecessors and their probabilities.
pub(super) struct Backward {
    first: Vec<u32>,
    from: Vec<(u32, f64)>,
}

impl Backward {
    pub(super) fn of(&self, config: usize) -> &[(u32, f64)] {
        &self.from[self.first[config] as usize..self.first[config + 1] as usize]
    }
}

impl Transitions {
    /// The number of configurations.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a configuration that is not expanded yet.
    pub(super) fn add(&mut self, is_target: bool) {
        self.rows.push(Row::Unexpanded);
        self.is_target.push(is_target);
    }

    /// Notes that the transitions of a configuration cannot be listed.
    pub(super) fn block(&mut self, number: usize, obstacle: Obstacle) {
        self.rows[number] = Row::Blocked(obstacle);
    }

    /// Notes all transitions of a configuration.
    pub(super) fn expand(&mut self, number: usize, entries: &[Entry]) {
        let start = self.entries.len() as u32;
        self.entries.extend_from_slice(entries);
        self.rows[number] = Row::Known { start, end: self.entries.len() as u32 };
    }

    pub(super) fn is_target(&self, number: usize) -> bool {
        self.is_target[number]
    }

    /// Whether the transitions of a configuration are known.
    pub(super) fn is_expanded(&self, number: usize) -> bool {
        matches!(self.rows[number], Row::Known { .. })
    }

    /// Whether the transitions of a configuration are known or may still be found.
    pub(super) fn is_expandable(&self, number: usize) -> bool {
        self.rows[number] == Row::Unexpanded
    }

    /// Why the transitions of a configuration cannot be listed, if that was tried.
    pub(super) fn obstacle(&self, number: usize) -> Option<Obstacle> {
        if let Row::Blocked(obstacle) = self.rows[number] { Some(obstacle) } else { None }
    }

    pub(super) fn row(&self, number: usize) -> &[Entry] {
        match self.rows[number] {
            Row::Known { start, end } => &self.entries[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Whether every configuration but the targets was expanded.
    pub(super) fn is_complete(&self, targets_count: bool) -> bool {
        (0..self.len()).all(|number| self.is_expanded(number) || (!targets_count && self.is_target[number]))
    }

    /// The reversed edges of those expanded configurations that `passes` accepts.
    pub(super) fn backward(&self, passes: impl Fn(usize) -> bool) -> Backward {
        self.backward_from(&(0..self.len()).filter(|&number| passes(number)).collect::<Vec<_>>())
    }

    fn backward_from(&self, passing: &[usize]) -> Backward {
        let mut counts = vec![0_u32; self.len() + 1];
        for &number in passing {
            for entry in self.row(number) {
                counts[entry.to as usize + 1] += 1;
            }
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let first = counts.clone();
        let mut from = vec![(0, 0.0); first.last().copied().unwrap_or(0) as usize];
        for &number in passing {
            for entry in self.row(number) {
                let slot = &mut counts[entry.to as usize];
                from[*slot as usize] = (number as u32, entry.p);
                *slot += 1;
            }
        }
        Backward { first, from }
    }

    /// The configurations from which one of the sources can be reached.
    pub(super) fn can_reach(&self, backward: &Backward, sources: impl Fn(usize) -> bool) -> Vec<bool> {
        closure(backward, (0..self.len()).map(sources).collect())
    }

    /// Bytes held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        (self.rows.capacity() * (size_of::<Row>() + 1) + self.entries.capacity() * size_of::<Entry>()) as u64
    }
}

/// Adds all configurations from which one of these can be reached.
fn closure(backward: &Backward, mut can: Vec<bool>) -> Vec<bool> {
    let mut open: Vec<usize> = (0..can.len()).filter(|&number| can[number]).collect();
    while let Some(number) = open.pop() {
        for &(from, _) in backward.of(number) {
            if !std::mem::replace(&mut can[from as usize], true) {
                open.push(from as usize);
            }
        }
    }
    can
}
