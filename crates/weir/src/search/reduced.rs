//! A system up to the numbering of threads, with partial order reductions.
//!
//! Steps are those of the system itself, local ones [fused](super::fusing), and only those of
//! [persistent sets](super::persistent) where these reductions are used. The state that a step leads to is replaced by
//! its representative ([`scalarsets`](super::scalarsets)). A run of representatives is turned back into a run of the
//! program.

use weir_ir::Value;
use weir_witness::Goal;

use super::cartesian::Cartesian;
use super::footprints::Footprints;
use super::fusing::Fusing;
use super::persistent::PersistentSets;
use super::scalarsets::{Numbers, Renaming, representative};
use super::{Found, Outcome};
use crate::semantics::machine::{Machine, MemoryModel, System};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, ThreadSteps, TransitionSystem};

/// A system under SC or TSO, and its families of threads. Local steps may be [fused](super::fusing) and
/// [persistent sets](super::persistent) be used first, which renumbering does not affect.
pub(crate) struct Reduced<'a, M, const N: usize> {
    inner: System<'a, M, N>,
    families: &'a [Renaming],
    reductions: Reductions<'a>,
}

/// The partial order reductions that are used.
#[derive(Clone, Copy)]
pub(crate) struct Reductions<'a> {
    pub(crate) fusing: Option<&'a Fusing>,
    pub(crate) persistent: Option<&'a PersistentSets>,
    /// Where there is no persistent set.
    pub(crate) cartesian: Option<&'a Cartesian<'a>>,
}

/// Steps of longer runs are not gathered by thread: that replays the run for each of its steps.
const LONGEST_GATHERED: usize = 200;

impl<'a, M: MemoryModel, const N: usize> Reduced<'a, M, N> {
    pub(crate) fn new(machine: &'a Machine, families: &'a [Renaming], reductions: Reductions<'a>) -> Self {
        Self { inner: System::new(machine), families, reductions }
    }

    /// Whether this is the system itself.
    fn is_plain(&self) -> bool {
        self.families.is_empty() && self.reductions.fusing.is_none() && self.reductions.persistent.is_none()
    }

    /// The steps with the reductions that are used. One copy serves all callers.
    #[inline(never)]
    fn reduced_steps(&self, from: &Packed<N>, emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool) {
        let mut emit = |step, next: Packed<N>| emit(step, self.representative(&next));
        if self.reduced(from, &mut emit) {
            return;
        }
        match self.reductions.cartesian {
            Some(cartesian) => self.cartesian_steps(cartesian, from, &mut emit),
            None => self.inner.successors(from, &mut |step, next| emit(step, self.fused(step, &next, &mut |_| {}))),
        }
    }

    /// Emits the steps of a persistent set, before renumbering; whether there is one that may be used.
    fn reduced(&self, from: &Packed<N>, emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool) -> bool {
        let Some(sets) = self.reductions.persistent else { return false };
        sets.find(self.inner.machine, from, |agents| {
            let Some(steps) = self.forward_steps(from, sets, agents) else { return false };
            for (step, next) in &steps {
                if !emit(*step, *next) {
                    break;
                }
            }
            !steps.is_empty()
        })
    }

    /// The steps of some agents, with the local ones that follow; nothing if one moves its thread backwards.
    fn forward_steps(
        &self,
        from: &Packed<N>,
        sets: &PersistentSets,
        agents: &dyn Fn(usize) -> (bool, bool),
    ) -> Option<Vec<(StepCode, Packed<N>)>> {
        let (mut steps, mut are_forwards) = (Vec::new(), true);
        self.steps_of(from, agents, &mut |step, next| {
            if step.number < self.inner.machine.edge_count {
                let thread = self.inner.thread_of(step);
                let (before, after) = (self.inner.location(from, thread), self.inner.location(&next, thread));
                are_forwards &= sets.is_forwards(thread, before, after);
            }
            steps.push((step, next));
            are_forwards
        });
        are_forwards.then_some(steps)
    }

    /// Emits the steps of some agents, with the local ones that follow, until `emit` wants no more.
    pub(super) fn steps_of(
        &self,
        from: &Packed<N>,
        agents: &dyn Fn(usize) -> (bool, bool),
        emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let mut goes_on = true;
        for thread in 0..self.inner.machine.threads.len() {
            if goes_on && agents(thread).0 {
                self.inner.successors_of(from, thread, &mut |step, next| {
                    goes_on = goes_on && emit(step, self.fused(step, &next, &mut |_| {}));
                    goes_on
                });
            }
        }
        M::flushes(self.inner.machine, from, &mut |step, next| {
            goes_on = goes_on && (!agents(self.inner.thread_of(step)).1 || emit(step, next));
            goes_on
        });
    }

    /// The system itself.
    pub(super) fn system(&self) -> &System<'a, M, N> {
        &self.inner
    }

    /// The state after the local steps that threads take by themselves at the start.
    fn start(&self, record: &mut dyn FnMut(StepCode)) -> Packed<N> {
        let threads = 0..self.inner.machine.threads.len();
        let initial = self.inner.initial();
        let Some(fusing) = self.reductions.fusing else { return initial };
        threads.fold(initial, |state, thread| fusing.run(&self.inner, &state, thread, record))
    }

    /// The state after the local steps that follow this step.
    #[inline]
    fn fused(&self, step: StepCode, next: &Packed<N>, record: &mut dyn FnMut(StepCode)) -> Packed<N> {
        match self.reductions.fusing {
            Some(fusing) if step.number < self.inner.machine.edge_count => {
                fusing.run(&self.inner, next, self.inner.thread_of(step), record)
            }
            _ => *next,
        }
    }

    fn representative(&self, state: &Packed<N>) -> Packed<N> {
        representative(self.families, self.inner.machine, state)
    }

    /// The outcome of a search of this system, with a run of the program itself.
    pub(crate) fn with_own_run(&self, mut outcome: Outcome) -> Outcome {
        if let Found::Goal(goal, steps) = outcome.found {
            let (goal, steps) = self.unpermuted(&steps).unwrap_or((goal, steps));
            outcome.found = Found::Goal(goal, steps);
        }
        outcome
    }

    /// A run of the program itself that does what this run of representatives does, and the goal that it reaches.
    fn unpermuted(&self, run: &[StepCode]) -> Option<(Goal, Vec<StepCode>)> {
        let machine = self.inner.machine;
        // For each family the numbers in the run of the program, by number in the representative.
        let mut originals: Vec<Numbers> = vec![std::array::from_fn(|number| number as u8); self.families.len()];
        let mut unpermuted = Vec::new();
        let mut state = self.start(&mut |step| unpermuted.push(step));
        self.follow(&mut state, &mut originals);
        for &step in run {
            let families = || self.families.iter().zip(&originals);
            let mut push = |step: StepCode| {
                unpermuted.push(families().fold(step, |step, (family, numbers)| family.step(machine, step, numbers)));
            };
            for step in self.steps_to(&state, step)? {
                push(step);
                state = self.fused(step, &self.after(&state, step)?, &mut push);
            }
            self.follow(&mut state, &mut originals);
        }
        for step in self.flushes_before_goal(&state) {
            let families = self.families.iter().zip(&originals);
            unpermuted.push(families.fold(step, |step, (family, numbers)| family.step(machine, step, numbers)));
        }
        // A different goal than in the representative, if it is about other threads.
        let goal = self.goal_after(&unpermuted)?;
        let (goal, run) = self.trimmed(goal, unpermuted);
        Some((goal, self.gathered(run)))
    }

    /// The steps that are taken as one, which ends with this step.
    fn steps_to(&self, from: &Packed<N>, last: StepCode) -> Option<Vec<StepCode>> {
        match self.reductions.cartesian {
            Some(cartesian) if !self.reduced(from, &mut |_, _| false) => {
                self.steps_of_prefix(&cartesian.footprints, from, last)
            }
            _ => Some(vec![last]),
        }
    }

    /// Goals are judged at drained states. A state from which flushes alone lead to one counts as that one if none of
    /// them is visible to a goal: then no store that is taken early has to leave the buffers as they were.
    pub(super) fn goal_after_flushes(
        &self,
        footprints: &Footprints<'_>,
        state: &Packed<N>,
    ) -> Option<(Goal, Vec<StepCode>)> {
        let goal = self.inner.machine.goals.shown_when_drained(state)?;
        if !footprints.drains_invisibly(state) {
            return None;
        }
        let (mut drained, mut flushes) = (*state, Vec::new());
        loop {
            let mut first = None;
            M::flushes(self.inner.machine, &drained, &mut |step, next| {
                first = first.or(Some((step, next)));
                false
            });
            let Some((step, next)) = first else { return Some((goal, flushes)) };
            flushes.push(step);
            drained = next;
        }
    }

    /// The flushes that a state lacks that counts as a goal.
    fn flushes_before_goal(&self, state: &Packed<N>) -> Vec<StepCode> {
        let after_flushes = |cartesian: &Cartesian<'_>| self.goal_after_flushes(&cartesian.footprints, state);
        let lacks = self.reductions.cartesian.filter(|_| self.inner.goal(state).is_none());
        lacks.and_then(after_flushes).map_or_else(Vec::new, |(_, flushes)| flushes)
    }

    /// The same steps in an order that changes threads less often, if that leads to the same state: in the
    /// representatives, neighbouring steps of a thread can look like steps of two.
    fn gathered(&self, mut run: Vec<StepCode>) -> Vec<StepCode> {
        let last =
            |run: &[StepCode]| run.iter().try_fold(self.inner.initial(), |state, &step| self.after(&state, step));
        if self.is_plain() || run.len() > LONGEST_GATHERED {
            return run;
        }
        let end = last(&run);
        for at in 1..run.len() {
            let thread = self.inner.thread_of(run[at - 1]);
            let next = (at..run.len()).find(|&later| self.inner.thread_of(run[later]) == thread);
            let Some(later) = next.filter(|&later| later > at) else { continue };
            let mut candidate = run.clone();
            candidate[at..=later].rotate_right(1);
            if last(&candidate) == end {
                run = candidate;
            }
        }
        run
    }

    /// The goal that a run of the program itself reaches.
    fn goal_after(&self, run: &[StepCode]) -> Option<Goal> {
        let last = run.iter().try_fold(self.inner.initial(), |state, &step| self.after(&state, step))?;
        let mut has_steps = false;
        self.inner.each_successor(&last, &mut |_, _| {
            has_steps = true;
            false
        });
        let deadlock = || self.inner.deadlock_goal(&last).filter(|_| !has_steps);
        self.inner.goal(&last).or_else(deadlock)
    }

    /// The run without local steps at the end that the goal does not need: those of a thread that does nothing else
    /// afterwards.
    fn trimmed(&self, mut goal: Goal, mut run: Vec<StepCode>) -> (Goal, Vec<StepCode>) {
        let Some(fusing) = self.reductions.fusing else { return (goal, run) };
        let threads = self.inner.machine.threads.len();
        for thread in 0..threads {
            let is_local = |step: &StepCode| fusing.is_local(step.number);
            let own = |step: &StepCode| self.inner.thread_of(*step) == thread;
            let kept = run.iter().rposition(|step| own(step) && !is_local(step)).map_or(0, |at| at + 1);
            let shorter: Vec<StepCode> =
                run[..kept].iter().chain(run[kept..].iter().filter(|step| !own(step))).copied().collect();
            if shorter.len() < run.len()
                && let Some(shown) = self.goal_after(&shorter)
            {
                (goal, run) = (shown, shorter);
            }
        }
        (goal, run)
    }

    /// The state after a step of the program itself.
    fn after(&self, state: &Packed<N>, step: StepCode) -> Option<Packed<N>> {
        let mut next = None;
        self.inner.each_successor(state, &mut |taken, after| {
            if taken == step {
                next = Some(after);
            }
            next.is_none()
        });
        next
    }

    /// Renumbers a state as its representative is, and remembers the original numbers.
    fn follow(&self, state: &mut Packed<N>, originals: &mut [Numbers]) {
        for (family, originals) in self.families.iter().zip(originals) {
            let Some(numbers) = family.numbers(self.inner.machine, state) else { continue };
            *state = family.rename(self.inner.machine, state, &numbers);
            let before = *originals;
            for old in 0..family.count() {
                originals[numbers[old] as usize] = before[old];
            }
        }
    }
}

impl<M: MemoryModel, const N: usize> TransitionSystem for Reduced<'_, M, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.representative(&self.start(&mut |_| {}))
    }

    #[inline]
    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        if self.is_plain() {
            self.inner.successors(from, emit);
        } else {
            self.reduced_steps(from, emit);
        }
    }

    #[inline]
    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        let after_flushes = |cartesian: &Cartesian<'_>| self.goal_after_flushes(&cartesian.footprints, state);
        let later = || self.reductions.cartesian.and_then(after_flushes).map(|(goal, _)| goal);
        self.inner.goal(state).or_else(later)
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
