//! Linear systems x = b + Ax in exact fractions, by elimination.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

/// One equation: a constant, and how often each unknown counts.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) constant: RBig,
    pub(super) terms: BTreeMap<usize, RBig>,
}

impl Equation {
    pub(super) fn new(constant: RBig) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, unknown: usize, factor: &RBig) {
        *self.terms.entry(unknown).or_insert(RBig::ZERO) += factor;
    }

    /// Puts another equation in place of an unknown.
    fn replace(&mut self, unknown: usize, by: &Self) {
        let Some(factor) = self.terms.remove(&unknown) else { return };
        self.constant += &factor * &by.constant;
        for (&other, share) in &by.terms {
            self.add(other, &(&factor * share));
        }
    }

    /// Solves x = c + ax + … for x.
    fn without(&mut self, unknown: usize) {
        let Some(own) = self.terms.remove(&unknown) else { return };
        let scale = RBig::ONE / (RBig::ONE - own);
        self.constant *= &scale;
        self.terms.values_mut().for_each(|factor| *factor *= &scale);
    }
}

/// Solves the system. The unknowns are eliminated in `order`; the system must have one solution.
pub(super) fn solve(mut equations: BTreeMap<usize, Equation>, order: &[usize]) -> BTreeMap<usize, RBig> {
    let order: Vec<usize> = order.iter().copied().filter(|unknown| equations.contains_key(unknown)).collect();
    for (position, &unknown) in order.iter().enumerate() {
        let mut own = equations.remove(&unknown).unwrap_or_else(|| Equation::new(RBig::ZERO));
        for earlier in &order[..position] {
            if own.terms.contains_key(earlier) {
                own.replace(*earlier, &equations[earlier]);
            }
        }
        own.without(unknown);
        equations.insert(unknown, own);
    }
    let mut values: BTreeMap<usize, RBig> = BTreeMap::new();
    for unknown in order.iter().rev() {
        let own = &equations[unknown];
        let sum = own.terms.iter().map(|(other, factor)| factor * &values[other]);
        values.insert(*unknown, sum.fold(own.constant.clone(), |sum, term| sum + term));
    }
    values
}
