//! Paths through a chain, as runs of single steps and flushes; and runs, as paths through a chain.

use std::collections::VecDeque;

use weir_witness::{Action, Step};

use crate::semantics::machine::MemoryModel as _;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, TransitionSystem};

use super::chain::Chain;
use super::graph::Graph;
use super::model::NO_EDGE;

/// What can be reached from the start, with a shortest path to each.
pub(super) struct ShortestPaths {
    /// In the order in which they were met.
    pub(super) order: Vec<u32>,
    parent: Vec<u32>,
}

impl ShortestPaths {
    /// Nothing is followed past where it `ends`.
    pub(super) fn new<const N: usize>(graph: &Graph<'_, '_, N>, ends: impl Fn(usize) -> bool) -> Self {
        let mut parent = vec![u32::MAX; graph.len()];
        let (mut order, mut open) = (Vec::new(), VecDeque::from([0_u32]));
        parent[0] = 0;
        while let Some(number) = open.pop_front() {
            order.push(number);
            if ends(number as usize) {
                continue;
            }
            for entry in graph.row(number as usize) {
                if parent[entry.to as usize] == u32::MAX {
                    parent[entry.to as usize] = number;
                    open.push_back(entry.to);
                }
            }
        }
        Self { order, parent }
    }

    /// The nearest configuration of a kind, a drained one if there is any.
    pub(super) fn nearest<const N: usize>(
        &self,
        graph: &Graph<'_, '_, N>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<u32> {
        let wanted = || self.order.iter().copied().filter(|&number| is_wanted(number as usize));
        wanted().find(|&number| graph.is_drained(number as usize)).or_else(|| wanted().next())
    }

    /// A run to a configuration that can be reached.
    pub(super) fn run_to<const N: usize>(&self, graph: &Graph<'_, '_, N>, end: u32) -> Option<Vec<StepCode>> {
        let mut path = vec![end];
        while let Some(&at) = path.last()
            && at != 0
        {
            path.push(self.parent[at as usize]);
        }
        path.reverse();
        let mut steps = Vec::new();
        for pair in path.windows(2) {
            steps.extend(steps_between(graph, pair[0] as usize, pair[1] as usize)?);
        }
        Some(steps)
    }
}

/// Where a run leads.
pub(super) struct Path<const N: usize> {
    pub(super) end: Packed<N>,
    /// Whether a configuration along the path or at its end is a target. A step of a thread and all flushes after it
    /// are one step of the chain.
    pub(super) meets_target: bool,
    /// Whether it is also a run of the chain: an update may have to keep to one buffer.
    pub(super) is_of_chain: bool,
}

/// None if the run cannot be followed.
pub(super) fn follow<const N: usize>(chain: &Chain<'_, N>, run: &[Step]) -> Option<Path<N>> {
    let mut end = chain.initial().state;
    let (mut meets_target, mut is_of_chain) = (false, true);
    let mut flushed = None;
    for step in run {
        meets_target |= step.action != Action::Flush && chain.model.is_target(&end);
        if step.action == Action::Flush {
            // Where no thread can step, one update follows the other.
            let is_another = flushed.is_some_and(|thread| thread != step.thread);
            is_of_chain &= !is_another || chain.model.follows_every_run() || chain.choices(&end)?.is_empty();
            flushed = Some(step.thread);
        } else {
            flushed = None;
        }
        let mut next = None;
        chain.system.each_successor(&end, &mut |code, after| {
            next = next.or((chain.model.compiled.step(code) == *step).then_some(after));
            next.is_none()
        });
        end = next?;
    }
    meets_target |= chain.model.is_target(&end);
    Some(Path { end, meets_target, is_of_chain })
}

/// The steps of a thread and of memory that one step of the chain stands for.
fn steps_between<const N: usize>(graph: &Graph<'_, '_, N>, from: usize, to: usize) -> Option<Vec<StepCode>> {
    let edge = graph.row(from).iter().find(|entry| entry.to as usize == to)?.edge;
    let (start, goal) = (graph.config(from).state, graph.config(to).state);
    if edge == NO_EDGE {
        return flushes_between(graph.chain, start, goal);
    }
    let choices = graph.chain.choices(&start)?;
    choices.into_iter().filter(|choice| choice.step.number == edge).find_map(|choice| {
        let flushes = flushes_between(graph.chain, choice.state, goal)?;
        Some([choice.step].into_iter().chain(flushes).collect())
    })
}

/// A shortest sequence of flushes from one state to another.
fn flushes_between<const N: usize>(chain: &Chain<'_, N>, start: Packed<N>, goal: Packed<N>) -> Option<Vec<StepCode>> {
    let mut met: Vec<(Packed<N>, usize, Option<StepCode>)> = vec![(start, 0, None)];
    let mut at = 0;
    while at < met.len() && met[at].0 != goal {
        let state = met[at].0;
        Tso::flushes(&chain.model.compiled.machine, &state, &mut |step, next| {
            if met.iter().all(|(known, _, _)| *known != next) {
                met.push((next, at, Some(step)));
            }
            true
        });
        at += 1;
    }
    met.get(at)?;
    let mut steps = Vec::new();
    while let Some(step) = met[at].2 {
        steps.push(step);
        at = met[at].1;
    }
    steps.reverse();
    Some(steps)
}

#[cfg(test)]
mod tests {
    use weir_ir::ThreadId;

    use super::*;
    use crate::prob::chain::{Visitor, with_chain};
    use crate::prob::settings::{Settings, UpdatePolicy};
    use crate::prob::testing::model;

    /// A run in shorthand, a thread for each step: whether it steps, or a store of its leaves.
    struct IsOfChain<'a>(&'a [(u32, bool)]);

    impl Visitor for IsOfChain<'_> {
        type Output = bool;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> bool {
            let (mut state, mut run) = (chain.initial().state, Vec::new());
            for &(thread, is_flush) in self.0 {
                let mut next = None;
                chain.system.each_successor(&state, &mut |code, after| {
                    let step = chain.model.compiled.step(code);
                    let is_wanted = step.thread == ThreadId(thread) && (step.action == Action::Flush) == is_flush;
                    next = next.or(is_wanted.then_some((step, after)));
                    true
                });
                let (step, after) = next.expect("a possible step");
                run.push(step);
                state = after;
            }
            let path = follow(chain, &run).expect("it can be followed");
            assert_eq!(path.end, state);
            path.is_of_chain
        }
    }

    const STEP: bool = false;
    const FLUSH: bool = true;

    #[test]
    fn an_update_of_one_buffer_may_flush_several_stores_of_one_thread_only() {
        let text = "shared x, y; thread P { x = 1; x = 2; } thread Q { y = 1; y = 2; } thread R { skip; skip; }
            forbid x == 9;";
        let settings = |updates| Settings { updates, ..Settings::default() };
        let single = |run: &[(u32, bool)]| with_chain(&model(text, &settings(UpdatePolicy::Single)), IsOfChain(run));
        let uniform = |run: &[(u32, bool)]| with_chain(&model(text, &settings(UpdatePolicy::Uniform)), IsOfChain(run));
        let stores = [(0, STEP), (0, STEP), (1, STEP), (1, STEP)];
        let then = |rest: &[(u32, bool)]| [&stores[..], rest].concat();
        assert!(single(&then(&[(0, FLUSH), (0, FLUSH)])), "two stores of one thread");
        assert!(!single(&then(&[(0, FLUSH), (1, FLUSH)])), "two threads in one update");
        assert!(!single(&then(&[(0, FLUSH), (0, FLUSH), (1, FLUSH)])), "and after two of one");
        assert!(single(&then(&[(0, FLUSH), (2, STEP), (1, FLUSH), (1, FLUSH)])), "two updates");
        let no_step_left = then(&[(2, STEP), (2, STEP), (0, FLUSH), (1, FLUSH), (0, FLUSH), (1, FLUSH)]);
        assert!(single(&no_step_left), "where no thread can step, one update follows the other");
        assert!(uniform(&then(&[(0, FLUSH), (1, FLUSH), (0, FLUSH)])), "an update of all buffers");
    }
}
