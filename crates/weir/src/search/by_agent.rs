//! A system whose agents are taken one by one, local steps [fused](super::fusing): what a
//! [dynamic reduction](super::dynamic) searches.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use weir_ir::Value;
use weir_witness::Goal;

use super::dynamic::{AgentSteps, Opening, dynamic};
use super::footprints::{Footprints, Next};
use super::persistent::{Agents, PersistentSets, flushes, instructions};
use super::reduced::{Reduced, Reductions};
use super::{Found, Outcome};
use crate::semantics::machine::{Machine, MemoryModel};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, ThreadSteps, TransitionSystem};
use crate::session::Session;

/// The stores that wait in a buffer at most, in the first search: a depth-first search could go on for ever with
/// stores that are never flushed. If there are runs with more, it is repeated with four times as many.
const FIRST_LONGEST: usize = 4;

/// A system by agents. It takes all steps; which of them a search needs is the search's own business.
pub(crate) struct ByAgent<'a, M, const N: usize> {
    inner: Reduced<'a, M, N>,
    /// The stores that wait in a buffer at most.
    longest: usize,
    /// Whether some step was left out for that.
    has_cut: AtomicBool,
    sets: &'a PersistentSets,
    footprints: Footprints<'a>,
}

impl<'a, M: MemoryModel, const N: usize> ByAgent<'a, M, N> {
    pub(crate) fn new(machine: &'a Machine, sets: &'a PersistentSets, reductions: Reductions<'a>) -> Self {
        let (inner, footprints) = (Reduced::new(machine, &[], reductions), Footprints::new(sets, machine));
        Self { inner, longest: FIRST_LONGEST, has_cut: AtomicBool::new(false), sets, footprints }
    }

    /// Searches with longer and longer buffers, until no step is left out or a goal is found.
    pub(crate) fn search(mut self, session: &Session) -> Outcome {
        loop {
            let outcome = dynamic(&self, session);
            if !matches!(outcome.found, Found::Nothing) || !self.has_cut.load(Relaxed) {
                return self.inner.with_own_run(outcome);
            }
            self.longest *= 4;
            self.has_cut.store(false, Relaxed);
        }
    }

    /// Whether a step makes the buffer of its thread too long.
    fn is_cut(&self, step: StepCode, next: &Packed<N>) -> bool {
        let system = self.inner.system();
        let buffer = system.machine.buffer(next, system.thread_of(step));
        let is_cut = system.machine.buffers.entries(buffer).nth(self.longest).is_some();
        if is_cut {
            self.has_cut.store(true, Relaxed);
        }
        is_cut
    }

    /// The agents that can move.
    fn enabled(&self, state: &Packed<N>) -> Agents {
        let system = self.inner.system();
        let mut enabled = 0;
        for thread in 0..system.machine.threads.len() {
            system.successors_of(state, thread, &mut |_, _| {
                enabled |= instructions(thread);
                false
            });
        }
        M::flushes(system.machine, state, &mut |step, _| {
            enabled |= flushes(system.thread_of(step));
            true
        });
        enabled
    }

    fn next(&self, state: &Packed<N>) -> Next {
        self.footprints.next(state, self.enabled(state))
    }

    /// The agents taken first: those of a smallest set that is persistent for all that is known beforehand, as far as
    /// the accesses in this state ask for them. Starting with one agent of such a set, nothing outside it is added
    /// later.
    fn first(&self, state: &Packed<N>, next: &Next) -> Agents {
        let ahead = self.footprints.ahead(state);
        let agents = (0..Agents::BITS).map(|agent| 1 << agent).filter(|agent| next.enabled & agent != 0);
        let size = |agent: &Agents| {
            let beforehand = self.footprints.closed(next, *agent, &ahead).count_ones();
            (beforehand, self.footprints.closed(next, *agent, &next.later).count_ones())
        };
        let best = agents.min_by_key(size).unwrap_or(0);
        self.footprints.closed(next, best, &next.later)
    }
}

impl<M: MemoryModel, const N: usize> AgentSteps for ByAgent<'_, M, N> {
    fn row_words(&self) -> usize {
        self.footprints.row_words()
    }

    fn opening(&self, state: &Packed<N>) -> Opening {
        let next = self.next(state);
        Opening { first: self.first(state, &next), enabled: next.enabled, accesses: next.later }
    }

    fn closed(&self, state: &Packed<N>, agents: Agents, summary: &[u64]) -> Agents {
        self.footprints.closed(&self.next(state), agents, summary)
    }

    fn steps_of(&self, state: &Packed<N>, agents: Agents, emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool) {
        let has = |thread| (agents & instructions(thread) != 0, agents & flushes(thread) != 0);
        self.inner.steps_of(state, &has, &mut |step, next| self.is_cut(step, &next) || emit(step, next));
    }

    fn turns_back(&self, from: &Packed<N>, step: StepCode, to: &Packed<N>) -> bool {
        let system = self.inner.system();
        let thread = system.thread_of(step);
        let (before, after) = (system.location(from, thread), system.location(to, thread));
        step.number < system.machine.edge_count && !self.sets.is_forwards(thread, before, after)
    }

    fn goal_after_flushes(&self, state: &Packed<N>) -> Option<(Goal, Vec<StepCode>)> {
        self.inner.goal_after_flushes(&self.footprints, state)
    }
}

impl<M: MemoryModel, const N: usize> TransitionSystem for ByAgent<'_, M, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.inner.initial()
    }

    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        self.inner.successors(from, emit);
    }

    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.inner.goal(state)
    }

    fn deadlock_goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.inner.deadlock_goal(state)
    }

    fn words(&self) -> usize {
        self.inner.words()
    }

    fn step_count(&self) -> usize {
        self.inner.step_count()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.inner.thread_of(step)
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        self.inner.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.inner.side_bytes()
    }
}
