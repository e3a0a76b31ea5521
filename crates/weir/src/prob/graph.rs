//! The explored part of a chain: configurations, and all transitions of those that were expanded.

use rustc_hash::FxHashMap;

use super::chain::{Chain, Config};
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

/// What is known of the transitions of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// Nothing yet.
    Unexpanded,
    /// This keeps them from being listed.
    Blocked(Obstacle),
    /// These entries.
    Known { start: u32, end: u32 },
}

/// A finite part of a chain.
pub(super) struct Graph<'c, 'a, const N: usize> {
    pub(super) chain: &'c Chain<'a, N>,
    configs: Vec<Config<N>>,
    index: FxHashMap<Config<N>, u32>,
    rows: Vec<Row>,
    entries: Vec<Entry>,
    is_target: Vec<bool>,
    /// How many of the configurations were counted so far.
    counted: usize,
}

/// Edges backwards: for each configuration, who leads to it and with which probability.
pub(super) struct Backward {
    first: Vec<u32>,
    from: Vec<(u32, f64)>,
}

impl Backward {
    pub(super) fn of(&self, config: usize) -> &[(u32, f64)] {
        &self.from[self.first[config] as usize..self.first[config + 1] as usize]
    }
}

impl<'c, 'a, const N: usize> Graph<'c, 'a, N> {
    /// The graph with the initial configuration alone, which is number 0.
    pub(super) fn new(chain: &'c Chain<'a, N>) -> Self {
        let mut graph = Self {
            chain,
            configs: Vec::new(),
            index: FxHashMap::default(),
            rows: Vec::new(),
            entries: Vec::new(),
            is_target: Vec::new(),
            counted: 0,
        };
        graph.add(chain.initial());
        graph
    }

    pub(super) fn len(&self) -> usize {
        self.configs.len()
    }

    /// How many configurations came since this was last asked.
    pub(super) fn count_new(&mut self) -> u64 {
        let new = self.len() - self.counted;
        self.counted = self.len();
        new as u64
    }

    pub(super) fn config(&self, number: usize) -> &Config<N> {
        &self.configs[number]
    }

    pub(super) fn is_target(&self, number: usize) -> bool {
        self.is_target[number]
    }

    pub(super) fn is_drained(&self, number: usize) -> bool {
        self.chain.model.is_drained(&self.configs[number].state)
    }

    /// Whether it is known how to go on from here.
    pub(super) fn is_expanded(&self, number: usize) -> bool {
        matches!(self.rows[number], Row::Known { .. })
    }

    /// Whether it can be found out how to go on from here.
    pub(super) fn is_expandable(&self, number: usize) -> bool {
        self.rows[number] == Row::Unexpanded
    }

    /// Why it cannot be found out how to go on from here, if that was tried.
    pub(super) fn obstacle(&self, number: usize) -> Option<Obstacle> {
        if let Row::Blocked(obstacle) = self.rows[number] { Some(obstacle) } else { None }
    }

    pub(super) fn row(&self, number: usize) -> &[Entry] {
        match self.rows[number] {
            Row::Known { start, end } => &self.entries[start as usize..end as usize],
            _ => &[],
        }
    }

    pub(super) fn number_of(&self, config: &Config<N>) -> Option<usize> {
        self.index.get(config).map(|&number| number as usize)
    }

    /// The number of a configuration, which may be new.
    pub(super) fn add(&mut self, config: Config<N>) -> usize {
        let number = self.configs.len() as u32;
        let found = *self.index.entry(config).or_insert(number);
        if found == number {
            self.configs.push(config);
            self.rows.push(Row::Unexpanded);
            self.is_target.push(self.chain.model.is_target(&config.state));
        }
        found as usize
    }

    /// Computes all transitions of a configuration, if that is possible.
    pub(super) fn expand(&mut self, number: usize) {
        if !self.is_expandable(number) {
            return;
        }
        let moves = match self.chain.moves(&self.configs[number]) {
            Ok(moves) => moves,
            Err(obstacle) => {
                self.rows[number] = Row::Blocked(obstacle);
                return;
            }
        };
        let start = self.entries.len() as u32;
        for one in moves {
            let p = one.numerator as f64 / one.denominator as f64;
            let to = self.add(one.to) as u32;
            self.entries.push(Entry { to, edge: one.edge, p });
        }
        self.rows[number] = Row::Known { start, end: self.entries.len() as u32 };
    }

    /// Whether every configuration but the targets was expanded.
    pub(super) fn is_complete(&self, targets_count: bool) -> bool {
        (0..self.len()).all(|number| self.is_expanded(number) || (!targets_count && self.is_target[number]))
    }

    /// Edges backwards, from those expanded configurations that `passes` lets through.
    pub(super) fn backward(&self, passes: impl Fn(usize) -> bool) -> Backward {
        let mut counts = vec![0_u32; self.len() + 1];
        let passing: Vec<usize> = (0..self.len()).filter(|&number| passes(number)).collect();
        for &number in &passing {
            for entry in self.row(number) {
                counts[entry.to as usize + 1] += 1;
            }
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let first = counts.clone();
        let mut from = vec![(0, 0.0); first.last().copied().unwrap_or(0) as usize];
        for &number in &passing {
            for entry in self.row(number) {
                let slot = &mut counts[entry.to as usize];
                from[*slot as usize] = (number as u32, entry.p);
                *slot += 1;
            }
        }
        Backward { first, from }
    }

    /// Who can get to one of the sources along edges backwards.
    pub(super) fn can_reach(&self, backward: &Backward, sources: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut can: Vec<bool> = (0..self.len()).map(sources).collect();
        let mut open: Vec<usize> = (0..self.len()).filter(|&number| can[number]).collect();
        while let Some(number) = open.pop() {
            for &(from, _) in backward.of(number) {
                if !std::mem::replace(&mut can[from as usize], true) {
                    open.push(from as usize);
                }
            }
        }
        can
    }

    /// Bytes held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let config = size_of::<Config<N>>();
        (self.configs.capacity() * (config + size_of::<Row>() + 1)
            + self.index.capacity() * (config + 5)
            + self.entries.capacity() * size_of::<Entry>()) as u64
            + self.chain.model.compiled.machine.buffers.bytes()
    }
}
