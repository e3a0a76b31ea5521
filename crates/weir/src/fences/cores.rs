//! What a run that must not be says about fences.
//!
//! A fence stops a run if the thread goes on behind it while one of its stores still waits. So a run in which nothing
//! waits cannot be stopped; and every set of fences that achieves the aim must stop each run that breaks a property,
//! or that ends in a state that SC does not reach.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Program, ThreadId};
use weir_witness::{Action, Checked, Run, Step};

use crate::bounds::Bound;
use crate::robust::ThreadEdge;
use crate::session::Session;

/// The steps after which a fence would stop the run. Fences that are already there, which have numbers beyond those of
/// the original edges, are left out.
pub(super) fn core_steps(program: &Program, checked: &Checked, counts: &[usize]) -> BTreeSet<ThreadEdge> {
    let mut waiting = vec![0usize; program.threads.len()];
    let mut last: Vec<Option<EdgeId>> = vec![None; program.threads.len()];
    let mut stopped = BTreeSet::new();
    for step in &checked.run().steps {
        let thread = step.thread.index();
        let Action::Execute { edge, .. } = step.action else {
            waiting[thread] = waiting[thread].saturating_sub(1);
            continue;
        };
        if waiting[thread] > 0
            && let Some(before) = last[thread]
        {
            stopped.insert((step.thread, before));
        }
        if edge.index() < counts[thread] {
            last[thread] = Some(edge);
        }
        waiting[thread] += usize::from(is_store(program, step.thread, edge));
    }
    stopped
}

fn is_store(program: &Program, thread: ThreadId, edge: EdgeId) -> bool {
    program.body(thread).edge(edge).instruction.is_store()
}

/// A run to the same goal in which stores wait for less long, where that is easy to have: the fewer wait, the more the
/// run says. `is_as_good` tells whether a run can take the place of another one.
pub(super) fn with_early_flushes(
    program: &Program,
    checked: Checked,
    is_as_good: impl Fn(&Checked, &Checked) -> bool,
    session: &Session,
) -> Checked {
    let mut best = checked;
    if best.run().steps.len() > session.size_bound(Bound::ShortenSteps) {
        return best;
    }
    let mut at = 0;
    while at < best.run().steps.len() && session.exceeded().is_none() {
        if best.run().steps[at].action == Action::Flush
            && let Some(better) = flushed_earlier(program, &best, at)
            && is_as_good(&better, &best)
        {
            best = better;
        }
        at += 1;
    }
    best
}

/// The run with one flush moved to right after its store, if it gets to the goal as well.
fn flushed_earlier(program: &Program, checked: &Checked, flush: usize) -> Option<Checked> {
    let steps = &checked.run().steps;
    let thread = steps[flush].thread;
    let of_thread = |step: &&Step| step.thread == thread;
    let flushes = steps[..flush].iter().filter(of_thread).filter(|step| step.action == Action::Flush).count();
    let stores = |step: &Step| match step.action {
        Action::Execute { edge, .. } => step.thread == thread && is_store(program, thread, edge),
        Action::Flush => false,
    };
    let store = steps.iter().enumerate().filter(|(_, step)| stores(step)).nth(flushes)?.0;
    if store + 1 == flush {
        return None;
    }
    let mut earlier = steps.clone();
    let moved = earlier.remove(flush);
    earlier.insert(store + 1, moved);
    Checked::new(program, Run { model: checked.run().model, steps: earlier }, checked.goal()).ok()
}

#[cfg(test)]
mod tests;
