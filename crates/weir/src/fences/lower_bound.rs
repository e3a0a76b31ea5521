//! Why no cheaper set of places hits every core, in a form that can be checked.
//!
//! The solver's optimum is proved anew, by branch and bound: distinguish cases by which place of a core is contained,
//! until in every case the cores that are not hit yet cost enough. What they cost is bounded by amounts for each of
//! them such that no place is charged more than it costs (a feasible solution of the dual linear program).

use std::collections::BTreeSet;

use weir_ir::Gather;
use weir_ir::sort::sort_by_key;
use weir_witness::{BoundStep, CostBound};

use super::hitting_set::Choice;
use crate::session::Session;

/// Why there is no proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoBound {
    /// It would take more steps than may be taken.
    TooLong,
    /// The session has ended.
    Stopped,
    /// A cheaper set hits every core.
    Cheaper,
}

/// Proves that to hit all cores costs as much as `chosen` does; one bound for each group of cores that share places
/// with no other group.
pub(super) fn cost_bounds(
    costs: &[u64],
    cores: &[Choice],
    chosen: &Choice,
    most_steps: u64,
    session: &Session,
) -> Result<Vec<CostBound>, NoBound> {
    let mut bounds = Vec::new();
    let mut left = most_steps;
    for group in groups(cores) {
        let places: Choice = group.iter().flat_map(|&core| &cores[core]).copied().gather();
        let least = chosen.intersection(&places).map(|&place| costs[place]).fold(0, u64::saturating_add);
        let problem = Problem { costs, cores, group: &group, least, session };
        let steps = problem.steps(left)?;
        left -= steps.len() as u64;
        bounds.push(CostBound { cores: group, least, steps });
    }
    Ok(bounds)
}

/// The cores, grouped so that no two groups share a place.
fn groups(cores: &[Choice]) -> Vec<BTreeSet<usize>> {
    let mut groups: Vec<(Choice, BTreeSet<usize>)> = Vec::new();
    for (number, core) in cores.iter().enumerate() {
        let (touching, mut rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(places, _)| !places.is_disjoint(core));
        let mut joined = (core.clone(), BTreeSet::from([number]));
        for (places, group) in touching {
            joined.0.extend(places);
            joined.1.extend(group);
        }
        rest.push(joined);
        groups = rest;
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What is to be proved of one group.
struct Problem<'a> {
    costs: &'a [u64],
    cores: &'a [Choice],
    group: &'a BTreeSet<usize>,
    least: u64,
    session: &'a Session,
}

/// What is assumed in one case.
#[derive(Clone, Default)]
struct Case {
    contained: Choice,
    ruled_out: Choice,
}

impl Problem<'_> {
    fn steps(&self, most: u64) -> Result<Vec<BoundStep>, NoBound> {
        let (mut steps, mut open) = (Vec::new(), vec![Case::default()]);
        while let Some(case) = open.pop() {
            if steps.len() as u64 >= most {
                return Err(NoBound::TooLong);
            }
            if self.session.exceeded().is_some() {
                return Err(NoBound::Stopped);
            }
            let spent = case.contained.iter().map(|&place| self.costs[place]).fold(0, u64::saturating_add);
            let wanted = self.least.saturating_sub(spent);
            let amounts = self.amounts(&case, wanted);
            if amounts.iter().map(|&(_, amount)| u128::from(amount)).sum::<u128>() >= u128::from(wanted) {
                steps.push(BoundStep::Amounts(amounts));
                continue;
            }
            let core = self.not_hit(&case).min_by_key(|&core| self.cores[core].difference(&case.ruled_out).count());
            let core = core.ok_or(NoBound::Cheaper)?;
            steps.push(BoundStep::Cases(core));
            let mut cases = self.split(case, core);
            cases.reverse();
            open.extend(cases);
        }
        Ok(steps)
    }

    fn not_hit(&self, case: &Case) -> impl Iterator<Item = usize> {
        self.group.iter().copied().filter(|&core| self.cores[core].is_disjoint(&case.contained))
    }

    /// As much for each core as its places leave, the cores with the fewest places first, up to what is wanted.
    fn amounts(&self, case: &Case, wanted: u64) -> Vec<(usize, u64)> {
        let mut cores: Vec<usize> = self.not_hit(case).collect();
        sort_by_key(&mut cores, |&core| self.cores[core].difference(&case.ruled_out).count());
        let (mut left, mut sum, mut amounts) = (self.costs.to_vec(), 0u64, Vec::new());
        for core in cores {
            let places: Vec<usize> = self.cores[core].difference(&case.ruled_out).copied().collect();
            let rest = places.iter().map(|&place| left[place]).min().unwrap_or(wanted).min(wanted - sum);
            if rest > 0 {
                places.iter().for_each(|&place| left[place] -= rest);
                sum += rest;
                amounts.push((core, rest));
            }
        }
        amounts
    }

    fn split(&self, mut case: Case, core: usize) -> Vec<Case> {
        let places: Vec<usize> = self.cores[core].difference(&case.ruled_out).copied().collect();
        let mut cases = Vec::with_capacity(places.len());
        for place in places {
            let mut one = case.clone();
            one.contained.insert(place);
            cases.push(one);
            case.ruled_out.insert(place);
        }
        cases
    }
}

#[cfg(test)]
mod tests;
