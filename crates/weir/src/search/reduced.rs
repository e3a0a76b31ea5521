//! A system up to the numbering of threads, with partial order reductions.
//!
//! Steps are those of the system itself, local ones [fused](super::fusing), and only those of
//! [persistent sets](super::persistent) where these reductions are used. The state that a step leads to is replaced by
//! its representative ([`scalarsets`](super::scalarsets)). A run of representatives is turned back into a run of the
//! program.

use weir_ir::Value;
use weir_witness::Goal;

use super::fusing::Fusing;
use super::persistent::PersistentSets;
use super::scalarsets::{Numbers, Renaming};
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
        let mut steps = Vec::new();
        for thread in 0..self.inner.machine.threads.len() {
            let (has_instructions, _) = agents(thread);
            let before = self.inner.location(from, thread);
            let mut is_forwards = true;
            if has_instructions {
                self.inner.successors_of(from, thread, &mut |step, next| {
                    let next = self.fused(step, &next, &mut |_| {});
                    is_forwards &= sets.is_forwards(thread, before, self.inner.location(&next, thread));
                    steps.push((step, next));
                    is_forwards
                });
            }
            if !is_forwards {
                return None;
            }
        }
        M::flushes(self.inner.machine, from, &mut |step, next| {
            if agents(self.inner.thread_of(step)).1 {
                steps.push((step, next));
            }
            true
        });
        Some(steps)
    }

    /// The state after the local steps that threads take by themselves at the start.
    fn start(&self, record: &mut impl FnMut(StepCode)) -> Packed<N> {
        let threads = 0..self.inner.machine.threads.len();
        let initial = self.inner.initial();
        let Some(fusing) = self.reductions.fusing else { return initial };
        threads.fold(initial, |state, thread| fusing.run(&self.inner, &state, thread, record))
    }

    /// The state after the local steps that follow this step.
    #[inline]
    fn fused(&self, step: StepCode, next: &Packed<N>, record: &mut impl FnMut(StepCode)) -> Packed<N> {
        match self.reductions.fusing {
            Some(fusing) if step.number < self.inner.machine.edge_count => {
                fusing.run(&self.inner, next, self.inner.thread_of(step), record)
            }
            _ => *next,
        }
    }

    fn representative(&self, state: &Packed<N>) -> Packed<N> {
        let machine = self.inner.machine;
        let mut state = *state;
        for family in self.families {
            if let Some(numbers) = family.numbers(machine, &state) {
                state = family.rename(machine, &state, &numbers);
            }
        }
        state
    }

    /// A run of the program itself that does what this run of representatives does, and the goal that it reaches.
    pub(crate) fn unpermuted(&self, run: &[StepCode]) -> Option<(Goal, Vec<StepCode>)> {
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
            push(step);
            state = self.fused(step, &self.after(&state, step)?, &mut push);
            self.follow(&mut state, &mut originals);
        }
        // A different goal than in the representative, if it is about other threads.
        let goal = self.goal_after(&unpermuted)?;
        let (goal, run) = self.trimmed(goal, unpermuted);
        Some((goal, self.gathered(run)))
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
        self.inner.successors(&last, &mut |_, _| {
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
        self.inner.successors(state, &mut |taken, after| {
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
        } else if !self.reduced(from, &mut |step, next| emit(step, self.representative(&next))) {
            self.inner.successors(from, &mut |step, next| {
                emit(step, self.representative(&self.fused(step, &next, &mut |_| {})))
            });
        }
    }

    #[inline]
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
