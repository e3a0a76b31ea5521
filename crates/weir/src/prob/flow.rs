//! Probability moved on step by step. Configurations that hardly anything is at are dropped, so what is told is a lower bound.

use crate::Limit;
use crate::control::Watch;

use super::chain::Chain;
use super::explore::expand;
use super::graph::{Entry, Graph};
use super::rounding::{add_down, weighted_down};

/// Configurations that less than this is at are dropped.
const NEGLIGIBLE: f64 = 1e-11;

/// Where a run is after some number of steps, and how likely.
pub(super) struct Flow<'c, 'a, const N: usize> {
    pub(super) graph: Graph<'c, 'a, N>,
    /// Configurations and at least how likely they are.
    pub(super) masses: Vec<(u32, f64)>,
}

impl<'c, 'a, const N: usize> Flow<'c, 'a, N> {
    /// At the start of a run.
    pub(super) fn new(chain: &'c Chain<'a, N>) -> Self {
        Self { graph: Graph::new(chain), masses: vec![(0, 1.0)] }
    }

    /// How much there is in all, at least.
    pub(super) fn total(&self) -> f64 {
        self.masses.iter().fold(0.0, |sum, &(_, mass)| add_down(sum, mass))
    }

    /// One step further. Calls `moved` with what moves along which entry.
    pub(super) fn advance(&mut self, watch: &Watch<'_>, mut moved: impl FnMut(&Entry, f64)) -> Result<(), Limit> {
        if let Some(limit) = watch.exceeded(self.graph.bytes(), 0) {
            return Err(limit);
        }
        let mut sums: Vec<f64> = vec![0.0; self.graph.len()];
        let mut touched: Vec<u32> = Vec::new();
        for (count, &(number, mass)) in self.masses.iter().enumerate() {
            if self.graph.is_expandable(number as usize)
                && let Some(limit) = expand(&mut self.graph, number as usize, count, watch)
            {
                return Err(limit);
            }
            sums.resize(self.graph.len(), 0.0);
            for entry in self.graph.row(number as usize) {
                moved(entry, mass);
                let sum = &mut sums[entry.to as usize];
                if *sum == 0.0 {
                    touched.push(entry.to);
                }
                *sum = add_down(*sum, weighted_down(mass, entry.p)).max(0.0);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let masses = touched.into_iter().map(|number| (number, sums[number as usize]));
        self.masses = masses.filter(|&(_, mass)| mass >= NEGLIGIBLE).collect();
        Ok(())
    }
}
