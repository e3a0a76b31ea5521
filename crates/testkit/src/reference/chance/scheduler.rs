//! Who steps, and how: a thread by its weight, one of its enabled edges, one of the values of an `any`.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use weir_ir::{EdgeId, Program, ThreadId};

use super::super::Model;
use super::super::state::State;
use super::super::steps::{Action, successors};
use super::{Odds, ThreadEdge};

/// What the scheduler may do.
pub(super) struct Scheduled {
    pub(super) p: RBig,
    /// None if no thread can step.
    pub(super) edge: Option<ThreadEdge>,
    /// Right after the step, before any update.
    pub(super) after: State,
}

/// All that the scheduler may do, where `last` stepped last.
pub(super) fn schedule(program: &Program, odds: &Odds, state: &State, last: Option<ThreadId>) -> Vec<Scheduled> {
    let mut threads: BTreeMap<ThreadId, BTreeMap<EdgeId, Vec<State>>> = BTreeMap::new();
    for (thread, action, next) in successors(program, Model::Tso, state, usize::MAX) {
        if let Action::Execute(edge) = action {
            threads.entry(thread).or_default().entry(edge).or_default().push(next);
        }
    }
    if threads.is_empty() {
        return vec![Scheduled { p: RBig::ONE, edge: None, after: state.clone() }];
    }
    let weight = |thread: ThreadId| {
        let plain = RBig::from(program.thread(thread).weight);
        if last == Some(thread) { plain * &odds.stickiness } else { plain }
    };
    let total = threads.keys().map(|&thread| weight(thread)).fold(RBig::ZERO, |sum, weight| sum + weight);
    let mut all = Vec::new();
    for (thread, edges) in threads {
        let of_edge = weight(thread) / &total / RBig::from(edges.len());
        for (edge, values) in edges {
            let p = &of_edge / RBig::from(values.len());
            all.extend(values.into_iter().map(|after| Scheduled { p: p.clone(), edge: Some((thread, edge)), after }));
        }
    }
    all
}
