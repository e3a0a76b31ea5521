//! What it costs at least to contain one place of each core.

use std::collections::BTreeSet;

use weir_ir::{Gather, Interrupt};

/// Sets that contain a place of each of these cores cost at least so much.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostBound {
    /// The cores, by number.
    pub cores: BTreeSet<usize>,
    /// What such sets cost at least.
    pub least: u64,
    /// Why: a tree of cases, the root first, each node before its children, and these in order.
    pub steps: Vec<BoundStep>,
}

/// A node of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BoundStep {
    /// Some place of this core is contained. There is one case for each place that is not ruled out yet, in ascending
    /// order: that it is contained, and none of those before it is.
    Cases(usize),
    /// Amounts for some cores that contain no place that is known to be contained. For each place that is not ruled
    /// out, the amounts for all cores that it is in come to no more than its cost. So a set that hits these cores costs
    /// at least the sum; together with what is known to be contained, that is as much as claimed.
    Amounts(Vec<(usize, u64)>),
}

/// What is assumed in one case.
#[derive(Clone, Default)]
struct Case {
    contained: BTreeSet<usize>,
    ruled_out: BTreeSet<usize>,
}

/// Why a bound is not known to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoundFault {
    /// It does not follow from its steps.
    Unproved,
    /// Checking was interrupted.
    Interrupted,
}

impl CostBound {
    /// The places that it counts, if it follows from its steps for these costs of places and these cores.
    ///
    /// # Errors
    /// If it does not, or if checking was interrupted.
    pub fn check(
        &self,
        costs: &[u64],
        cores: &[BTreeSet<usize>],
        interrupt: &dyn Interrupt,
    ) -> Result<BTreeSet<usize>, BoundFault> {
        let is_place = |&place: &usize| place < costs.len();
        if !self.cores.iter().all(|&core| cores.get(core).is_some_and(|core| core.iter().all(is_place))) {
            return Err(BoundFault::Unproved);
        }
        let mut open = vec![Case::default()];
        for step in &self.steps {
            if interrupt.is_over() {
                return Err(BoundFault::Interrupted);
            }
            let Some(case) = open.pop() else { return Err(BoundFault::Unproved) };
            let follows = match step {
                BoundStep::Cases(core) if self.cores.contains(core) => {
                    let mut cases = split(&case, &cores[*core]);
                    cases.reverse();
                    open.extend(cases);
                    true
                }
                BoundStep::Cases(_) => false,
                BoundStep::Amounts(amounts) => self.adds_up(&case, amounts, costs, cores),
            };
            if !follows {
                return Err(BoundFault::Unproved);
            }
        }
        let counted = self.cores.iter().flat_map(|&core| &cores[core]).copied().gather();
        if open.is_empty() { Ok(counted) } else { Err(BoundFault::Unproved) }
    }

    fn adds_up(&self, case: &Case, amounts: &[(usize, u64)], costs: &[u64], cores: &[BTreeSet<usize>]) -> bool {
        let (mut left, mut sum) = (costs.to_vec(), 0u128);
        for &(core, amount) in amounts {
            if !self.cores.contains(&core) || !cores[core].is_disjoint(&case.contained) {
                return false;
            }
            for &place in cores[core].difference(&case.ruled_out) {
                let Some(rest) = left[place].checked_sub(amount) else { return false };
                left[place] = rest;
            }
            sum += u128::from(amount);
        }
        let spent: u128 = case.contained.iter().map(|&place| u128::from(costs[place])).sum();
        spent + sum >= u128::from(self.least)
    }
}

/// The cases for a core.
fn split(case: &Case, core: &BTreeSet<usize>) -> Vec<Case> {
    let (mut cases, mut case) = (Vec::new(), case.clone());
    for &place in core.difference(&case.ruled_out.clone()) {
        let mut one = case.clone();
        one.contained.insert(place);
        cases.push(one);
        case.ruled_out.insert(place);
    }
    cases
}
