//! What is asked of a chain, from the definitions.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use super::equations::{Equation, solve};
use super::{Chain, ThreadEdge, price};

impl Chain {
    /// The probability to reach the target.
    pub fn probability(&self) -> RBig {
        self.reaching(&self.is_target).swap_remove(0)
    }

    /// The probability to reach the target again and again: to end up in a bottom component that has one.
    pub fn again_and_again(&self) -> RBig {
        self.reaching(&self.recurring()).swap_remove(0)
    }

    /// Which configurations are in a bottom component that has a target: whoever gets there meets it again and again.
    pub(super) fn recurring(&self) -> Vec<bool> {
        let has_target = |config: usize| self.relation.from(config).any(|after| self.is_target[after]);
        (0..self.size()).map(|config| self.relation.is_at_the_bottom(config) && has_target(config)).collect()
    }

    /// How often each edge is taken before the target, on the average over the runs that reach it. None if none do.
    /// Edges that are never taken are left out.
    pub fn counts(&self) -> Option<BTreeMap<ThreadEdge, RBig>> {
        let chances = self.reaching(&self.is_target);
        if chances[0] == RBig::ZERO {
            return None;
        }
        let mut counts = BTreeMap::new();
        for (config, visits) in self.visits(&chances) {
            for one in &self.rows[config] {
                if let Some(edge) = one.edge {
                    *counts.entry(edge).or_insert(RBig::ZERO) += &visits * &one.p * &chances[one.to] / &chances[0];
                }
            }
        }
        Some(counts)
    }

    /// The expected cost up to the target, over the runs that reach it. None if none do.
    pub fn cost(&self) -> Option<RBig> {
        let counts = self.counts()?;
        let each = counts.iter().map(|(&edge, count)| count * RBig::from(price(&self.program, edge)));
        Some(each.fold(RBig::ZERO, |sum, cost| sum + cost))
    }

    /// For each number of steps up to `steps`, the probability to have reached the target by then.
    pub fn curve(&self, steps: usize) -> Vec<RBig> {
        let mut there = RBig::ZERO;
        let mut masses = BTreeMap::from([(0, RBig::ONE)]);
        let mut points = Vec::new();
        for _ in 0..=steps {
            let (arrived, under_way): (BTreeMap<_, _>, BTreeMap<_, _>) =
                masses.into_iter().partition(|(config, _)| self.is_target[*config]);
            there = arrived.into_values().fold(there, |sum, mass| sum + mass);
            points.push(there.clone());
            masses = self.advance(&under_way, |_, _| ());
        }
        points
    }

    /// How often each edge is taken in the first `steps` steps, on the average. Edges that are never taken are left
    /// out.
    pub fn frequencies(&self, steps: usize) -> BTreeMap<ThreadEdge, RBig> {
        let mut counts = BTreeMap::new();
        let mut masses = BTreeMap::from([(0, RBig::ONE)]);
        for _ in 0..steps {
            masses = self.advance(&masses, |edge, mass| *counts.entry(edge).or_insert(RBig::ZERO) += mass);
        }
        counts
    }

    fn advance(
        &self,
        masses: &BTreeMap<usize, RBig>,
        mut taken: impl FnMut(ThreadEdge, &RBig),
    ) -> BTreeMap<usize, RBig> {
        let mut next = BTreeMap::new();
        for (&config, mass) in masses {
            for one in &self.rows[config] {
                let moved = mass * &one.p;
                if let Some(edge) = one.edge {
                    taken(edge, &moved);
                }
                *next.entry(one.to).or_insert(RBig::ZERO) += moved;
            }
        }
        next
    }

    /// From each configuration the probability to get to one that is `target`.
    pub(super) fn reaching(&self, target: &[bool]) -> Vec<RBig> {
        let able = |config: usize| self.relation.from(config).any(|after| target[after]);
        let open: Vec<bool> = (0..self.size()).map(|config| !target[config] && able(config)).collect();
        let mut equations = BTreeMap::new();
        for config in (0..self.size()).filter(|&config| open[config]) {
            let mut equation = Equation::new(RBig::ZERO);
            for one in &self.rows[config] {
                if target[one.to] {
                    equation.constant += &one.p;
                } else if open[one.to] {
                    equation.add(one.to, &one.p);
                }
            }
            equations.insert(config, equation);
        }
        let values = solve(equations, &self.relation.backward_order());
        let value = |config: usize| match target[config] {
            true => RBig::ONE,
            false => values.get(&config).cloned().unwrap_or(RBig::ZERO),
        };
        (0..self.size()).map(value).collect()
    }

    /// How often each configuration is visited before the question is settled, on the average over all runs.
    fn visits(&self, chances: &[RBig]) -> BTreeMap<usize, RBig> {
        let is_open = |config: usize| !self.is_target[config] && chances[config] != RBig::ZERO;
        let start = |config: usize| if config == 0 { RBig::ONE } else { RBig::ZERO };
        let open = (0..self.size()).filter(|&config| is_open(config));
        let mut equations: BTreeMap<usize, Equation> =
            open.map(|config| (config, Equation::new(start(config)))).collect();
        for config in (0..self.size()).filter(|&config| is_open(config)) {
            for one in &self.rows[config] {
                if let Some(equation) = equations.get_mut(&one.to) {
                    equation.add(config, &one.p);
                }
            }
        }
        let order: Vec<usize> = self.relation.backward_order().into_iter().rev().collect();
        solve(equations, &order)
    }
}
