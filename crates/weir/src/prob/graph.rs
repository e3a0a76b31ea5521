//! The explored part of a chain: configurations, and all transitions of those that were expanded.

use std::ops::Deref;

use rustc_hash::FxHashMap;

use super::chain::{Chain, Config, Move};
use super::transitions::{Entry, Transitions};

/// A finite part of a chain.
pub(super) struct Graph<'c, 'a, const N: usize> {
    pub(super) chain: &'c Chain<'a, N>,
    configs: Vec<Config<N>>,
    index: FxHashMap<Config<N>, u32>,
    transitions: Transitions,
    /// How many of the configurations were counted so far.
    counted: usize,
}

/// A graph is its transitions, and the configurations that they connect.
impl<const N: usize> Deref for Graph<'_, '_, N> {
    type Target = Transitions;

    fn deref(&self) -> &Transitions {
        &self.transitions
    }
}

impl<'c, 'a, const N: usize> Graph<'c, 'a, N> {
    /// The graph with the initial configuration alone, which is number 0.
    pub(super) fn new(chain: &'c Chain<'a, N>) -> Self {
        let (configs, index, transitions) = (Vec::new(), FxHashMap::default(), Transitions::default());
        let mut graph = Self { chain, configs, index, transitions, counted: 0 };
        graph.add(chain.initial());
        graph
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

    pub(super) fn is_drained(&self, number: usize) -> bool {
        self.chain.model.is_drained(&self.configs[number].state)
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
            self.transitions.add(self.chain.model.is_target(&config.state));
        }
        found as usize
    }

    /// Computes all transitions of a configuration, if that is possible.
    pub(super) fn expand(&mut self, number: usize) {
        if !self.is_expandable(number) {
            return;
        }
        match self.chain.moves(&self.configs[number]) {
            Ok(moves) => {
                let entry = |one: Move<N>| {
                    let p = one.numerator as f64 / one.denominator as f64;
                    Entry { to: self.add(one.to) as u32, edge: one.edge, p }
                };
                let entries: Vec<Entry> = moves.into_iter().map(entry).collect();
                self.transitions.expand(number, &entries);
            }
            Err(obstacle) => self.transitions.block(number, obstacle),
        }
    }

    /// Bytes held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let config = size_of::<Config<N>>();
        (self.configs.capacity() * config + self.index.capacity() * (config + 5)) as u64
            + self.transitions.bytes()
            + self.chain.model.compiled.machine.buffers.bytes()
    }

    /// Bytes by which it will soon grow at once, if that is a megabyte or more.
    pub(super) fn growth(&self) -> u64 {
        const SOON: usize = 1024;
        let config = size_of::<Config<N>>();
        let due = |len: usize, capacity: usize| if capacity < len + SOON { capacity } else { 0 };
        // While the index is rebuilt, the old one is still there.
        let index = 2 * due(self.index.len(), self.index.capacity()) * (config + 5);
        let growth = due(self.configs.len(), self.configs.capacity()) * config + index;
        if growth < 1 << 20 { 0 } else { growth as u64 }
    }

    /// How many configurations may be expanded between two looks at memory: fewer if they are large.
    pub(super) fn expansions_a_check(&self) -> usize {
        const BYTES: usize = 1 << 22;
        const SUCCESSORS: usize = 64;
        (BYTES / (SUCCESSORS * size_of::<Config<N>>())).max(1)
    }
}
