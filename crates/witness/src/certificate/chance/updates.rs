//! What one update makes of a state: every outcome with its probability.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use weir_ir::Gather;

use super::Updates;
use super::system::{ChanceSystem, Shares};
use crate::certificate::AbstractState;

/// The states after an update, and how likely each is.
pub(super) fn after_update(system: &ChanceSystem<'_>, state: &AbstractState) -> Shares {
    match system.question().odds.updates {
        Updates::Uniform => uniform(system, state),
        Updates::Geometric(numerator, denominator) => {
            geometric(system, state, &RBig::from_parts(numerator.into(), denominator.into()))
        }
        Updates::Single => single(system, state),
    }
}

/// How many sequences of flushes lead to each state, of all sequences.
fn uniform(system: &ChanceSystem<'_>, state: &AbstractState) -> Shares {
    let mut counts: BTreeMap<AbstractState, RBig> = BTreeMap::new();
    // All sequences that lead to one state are equally long.
    let mut level = BTreeMap::from([(state.clone(), RBig::ONE)]);
    while !level.is_empty() {
        let mut longer: BTreeMap<AbstractState, RBig> = BTreeMap::new();
        for (state, count) in level {
            for (_, next) in system.flushes(&state) {
                *longer.entry(next).or_insert(RBig::ZERO) += &count;
            }
            *counts.entry(state).or_insert(RBig::ZERO) += count;
        }
        level = longer;
    }
    let total = counts.values().fold(RBig::ZERO, |sum, count| sum + count);
    counts.into_iter().map(|(state, count)| (state, count / &total)).gather()
}

/// Again and again, with probability p, one more store.
fn geometric(system: &ChanceSystem<'_>, state: &AbstractState, p: &RBig) -> Shares {
    let mut ended = Shares::new();
    let mut open = Shares::from([(state.clone(), RBig::ONE)]);
    while !open.is_empty() {
        let mut further = Shares::new();
        for (state, share) in open {
            let next = system.flushes(&state);
            let stays = if next.is_empty() { share.clone() } else { &share * (RBig::ONE - p) };
            let count = RBig::from(next.len());
            for (_, after) in next {
                *further.entry(after).or_insert(RBig::ZERO) += &share * p / &count;
            }
            *ended.entry(state).or_insert(RBig::ZERO) += stays;
        }
        open = further;
    }
    ended
}

/// One buffer, and any number of its stores.
fn single(system: &ChanceSystem<'_>, state: &AbstractState) -> Shares {
    let length = |place: usize| state.threads[place].buffer.queue.len();
    let able: Vec<usize> = system.flushes(state).into_iter().map(|(place, _)| place).collect();
    let total: usize = able.iter().map(|&place| length(place)).sum();
    if total == 0 {
        return Shares::from([(state.clone(), RBig::ONE)]);
    }
    let mut shares = Shares::new();
    for place in able {
        let share = RBig::from(length(place)) / RBig::from(total * (length(place) + 1));
        let mut after = Some(state.clone());
        while let Some(state) = after {
            let mut next = system.flushes(&state).into_iter();
            after = next.find(|&(other, _)| other == place).map(|(_, next)| next);
            *shares.entry(state).or_insert(RBig::ZERO) += &share;
        }
    }
    shares
}
