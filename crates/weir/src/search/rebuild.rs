//! The run to a state, rebuilt from the levels of a breadth-first search.
//!
//! No parents are stored: they would cost memory for every state. Instead each level is searched for
//! the states that lead to the next one of the run, from the last level to the first. That takes at most
//! as long as the search did, and only when there is a run to show.
//!
//! Of several predecessors the one is taken whose step is by the thread that also takes the next step,
//! so that the run changes threads seldom; then the one with the least canonical form.

use std::ops::Range;

use weir_ir::Value;

use super::Shared;
use super::parallel::{Task, in_parallel};
use super::store::Store;
use crate::semantics::{StepCode, TransitionSystem};

/// States expanded between two looks at the clock.
const A_CHECK: u32 = 4096;

/// Levels smaller than this are searched by one worker.
const PARALLEL_LEVEL: u32 = 4096;

/// The part of a level structure that one worker holds.
pub(crate) struct Levels<'a> {
    pub(crate) store: &'a Store,
    /// The first state of each level, and one past the last of the last.
    pub(crate) starts: &'a [u32],
}

impl Levels<'_> {
    fn level(&self, depth: usize) -> Range<u32> {
        self.starts[depth]..self.starts[depth + 1]
    }
}

/// A step into the run, by preference: least is best.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Preference {
    changes_thread: bool,
    canonical_form: Vec<Value>,
    step: StepCode,
}

type Choice<S> = Option<(Preference, S)>;

/// A shortest run from the initial state to `last`, which is `depth` steps away; `None` if the search was stopped.
pub(crate) fn rebuild<T: TransitionSystem>(
    system: &T,
    levels: &[Levels<'_>],
    last: T::State,
    depth: u64,
    shared: &Shared<'_>,
) -> Option<Vec<StepCode>> {
    let mut run = Vec::new();
    let (mut target, mut thread) = (last, None);
    for level in (0..depth as usize).rev() {
        let (preference, state) = predecessor(system, levels, level, &target, thread, shared)?;
        run.push(preference.step);
        thread = Some(system.thread_of(preference.step));
        target = state;
    }
    run.reverse();
    Some(run)
}

fn predecessor<T: TransitionSystem>(
    system: &T,
    levels: &[Levels<'_>],
    level: usize,
    target: &T::State,
    thread: Option<usize>,
    shared: &Shared<'_>,
) -> Choice<T::State> {
    let search = &|part: &Levels<'_>| search(system, part.store, part.level(level), target, thread, shared);
    let largest = levels.iter().map(|part| part.level(level).len()).max().unwrap_or(0);
    let mut choices: Vec<Choice<T::State>> = levels.iter().map(|_| None).collect();
    let parts = levels.iter().zip(&mut choices);
    if largest < PARALLEL_LEVEL as usize {
        parts.for_each(|(part, choice)| *choice = search(part));
    } else {
        in_parallel(parts.map(|(part, choice)| Box::new(move || *choice = search(part)) as Task<'_>).collect());
    }
    if shared.stopped().is_some() {
        return None;
    }
    choices.into_iter().flatten().min_by(|(left, _), (right, _)| left.cmp(right))
}

fn search<T: TransitionSystem>(
    system: &T,
    store: &Store,
    level: Range<u32>,
    target: &T::State,
    thread: Option<usize>,
    shared: &Shared<'_>,
) -> Choice<T::State> {
    let mut best: Choice<T::State> = None;
    for number in level {
        if number % A_CHECK == 0 && shared.must_stop(0) {
            return None;
        }
        let from: T::State = store.state(number);
        system.each_successor(&from, &mut |step, next| {
            if next == *target {
                let changes_thread = thread.is_some_and(|thread| thread != system.thread_of(step));
                let preference = Preference { changes_thread, canonical_form: system.canonical_form(&from), step };
                if best.as_ref().is_none_or(|(best, _)| preference < *best) {
                    best = Some((preference, from));
                }
            }
            true
        });
    }
    best
}
