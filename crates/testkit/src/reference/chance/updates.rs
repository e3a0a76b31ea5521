//! One update step, policy by policy: every way it can go, each with its probability. Ways with the same end are listed
//! as often as
//! there are ways.

use dashu_ratio::RBig;
use weir_ir::{Program, ThreadId};

use super::super::Model;
use super::super::state::State;
use super::super::steps::{Action, successors};
use super::Updates;

/// Where an update step may end, with the probability of each way there.
pub(super) fn update(program: &Program, updates: &Updates, state: &State) -> Vec<(State, RBig)> {
    match updates {
        Updates::Uniform => {
            let mut ends = Vec::new();
            sequences(program, state, &mut ends);
            let each = RBig::ONE / RBig::from(ends.len());
            ends.into_iter().map(|end| (end, each.clone())).collect()
        }
        Updates::Geometric(p) => {
            let mut ends = Vec::new();
            repeat(program, p, state, &RBig::ONE, &mut ends);
            ends
        }
        Updates::Single => single(program, state),
    }
}

/// The flushes that are possible: whose, and the state after it.
fn flushes(program: &Program, state: &State) -> Vec<(ThreadId, State)> {
    let steps = successors(program, Model::Tso, state, usize::MAX).into_iter();
    steps.filter(|(_, action, _)| *action == Action::Flush).map(|(thread, _, next)| (thread, next)).collect()
}

/// Where each sequence of flushes ends, the empty one included: one entry per sequence.
fn sequences(program: &Program, state: &State, ends: &mut Vec<State>) {
    ends.push(state.clone());
    for (_, next) in flushes(program, state) {
        sequences(program, &next, ends);
    }
}

fn repeat(program: &Program, p: &RBig, state: &State, share: &RBig, ends: &mut Vec<(State, RBig)>) {
    let next = flushes(program, state);
    if next.is_empty() {
        ends.push((state.clone(), share.clone()));
        return;
    }
    ends.push((state.clone(), share * (RBig::ONE - p)));
    let each = share * p / RBig::from(next.len());
    for (_, next) in next {
        repeat(program, p, &next, &each, ends);
    }
}

fn single(program: &Program, state: &State) -> Vec<(State, RBig)> {
    let able = flushes(program, state);
    let length = |thread: &ThreadId| state.threads[thread].buffer.len();
    let total: usize = able.iter().map(|(thread, _)| length(thread)).sum();
    if total == 0 {
        return vec![(state.clone(), RBig::ONE)];
    }
    let mut ends = Vec::new();
    for (thread, _) in &able {
        let picked = RBig::from(length(thread)) / RBig::from(total);
        let each = picked / RBig::from(length(thread) + 1);
        let mut at = state.clone();
        ends.push((at.clone(), each.clone()));
        while let Some((_, next)) = flushes(program, &at).into_iter().find(|(flushed, _)| flushed == thread) {
            at = next;
            ends.push((at.clone(), each.clone()));
        }
    }
    ends
}
