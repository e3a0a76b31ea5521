//! The monitored program up to the numbering of helpers.
//!
//! Threads that can be exchanged without changing the program can be exchanged in states of the monitored program, too,
//! as long as none of them may attack: what the monitor remembers speaks of addresses, values and helpers, which are
//! renumbered with the threads. So one state of each orbit is visited, if possible
//! ([`scalarsets`](crate::search::scalarsets)).
//!
//! Direction of error: none. A run of representatives is turned back into a run of the program, which is replayed.

use std::collections::BTreeSet;

use weir_ir::{Program, ThreadId, Value};
use weir_witness::Goal;

use super::memory::Memory;
use super::monitor::{Monitor, encode};
use super::overlay::{memory, remember};
use super::question::{Plans, Question};
use crate::search::scalarsets::{Numbers, Renaming};
use crate::search::{Found, Outcome};
use crate::semantics::compile::Compiled;
use crate::semantics::machine::Machine;
use crate::semantics::scalarsets::Symmetry;
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};

/// How states change when helpers change their numbers; nothing if that may not be.
pub(super) fn renamings(
    program: &Program,
    compiled: &Compiled,
    symmetry: &Symmetry,
    question: &Question,
) -> Vec<Renaming> {
    // Covered paths belong to single threads, and exchanging threads is not checked against them.
    if !question.covered.is_empty() {
        return Vec::new();
    }
    let attackers: BTreeSet<ThreadId> = question.attacks.iter().map(|attack| attack.thread).collect();
    let mut helpers = symmetry.clone();
    for family in &mut helpers.families {
        let threads = &family.threads;
        for class in &mut family.classes {
            class.retain(|&number| !attackers.contains(&compiled.threads[threads[number]]));
        }
        family.classes.retain(|class| class.len() > 1);
    }
    helpers.families.retain(|family| !family.classes.is_empty());
    Renaming::all(program, compiled, &helpers)
}

/// The monitored program, with one state for those that differ in the numbering of helpers.
pub(super) struct UpToHelpers<'a, const N: usize> {
    monitor: Monitor<'a, N>,
    machine: &'a Machine,
    plans: &'a Plans,
    families: &'a [Renaming],
}

impl<'a, const N: usize> UpToHelpers<'a, N> {
    pub(super) fn new(machine: &'a Machine, plans: &'a Plans, families: &'a [Renaming]) -> Self {
        Self { monitor: Monitor::new(machine, plans), machine, plans, families }
    }

    fn representative(&self, state: &Packed<N>) -> Packed<N> {
        self.families.iter().fold(*state, |state, family| match family.numbers(self.machine, &state) {
            Some(numbers) => self.rename(family, &state, &numbers),
            None => state,
        })
    }

    fn rename(&self, family: &Renaming, state: &Packed<N>, numbers: &Numbers) -> Packed<N> {
        let mut next = family.rename(self.machine, state, numbers);
        let remembered = memory(self.machine, state);
        let row = remembered.renamed(
            |store| family.renamed_store(store, numbers),
            |helper| family.renumbered_position(helper, numbers),
        );
        if let Some(row) = row {
            remember(self.machine, &mut next, &row);
        }
        // What the attacker has forgotten stands for no number.
        match remembered {
            Memory::Path(path) => self.plans.threads[path.attacker].forget.apply(&next),
            Memory::Before | Memory::Delaying(_) => next,
        }
    }

    /// The outcome with a run of the monitored program itself.
    pub(super) fn with_own_run(&self, mut outcome: Outcome) -> Outcome {
        if let Found::Goal(goal, steps) = outcome.found {
            outcome.found = match self.own_run(&steps) {
                Some(own) => Found::Goal(goal, own),
                None => {
                    self.machine.broken("a run up to the numbering of helpers is no run");
                    Found::Goal(goal, steps)
                }
            };
        }
        outcome
    }

    fn own_run(&self, run: &[StepCode]) -> Option<Vec<StepCode>> {
        // For each family the numbers in the run of the program, by number in the representative.
        let mut originals: Vec<Numbers> = vec![std::array::from_fn(|number| number as u8); self.families.len()];
        let mut state = self.monitor.initial();
        self.follow(&mut state, &mut originals);
        let mut own = Vec::with_capacity(run.len());
        for &step in run {
            let (inner, kind) = Monitor::<N>::decode(self.machine, step);
            let families = self.families.iter().zip(&originals);
            let inner = families.fold(inner, |inner, (family, numbers)| family.step(self.machine, inner, numbers));
            own.push(encode(self.machine, inner, kind));
            state = self.after(&state, step)?;
            self.follow(&mut state, &mut originals);
        }
        Some(own)
    }

    /// Renumbers a state as its representative is, and remembers the original numbers.
    fn follow(&self, state: &mut Packed<N>, originals: &mut [Numbers]) {
        for (family, originals) in self.families.iter().zip(originals) {
            let Some(numbers) = family.numbers(self.machine, state) else { continue };
            *state = self.rename(family, state, &numbers);
            let before = *originals;
            for old in 0..family.count() {
                originals[numbers[old] as usize] = before[old];
            }
        }
    }

    /// The state after a step of the monitored program itself.
    fn after(&self, state: &Packed<N>, step: StepCode) -> Option<Packed<N>> {
        let mut next = None;
        self.monitor.each_successor(state, &mut |taken, after| {
            if taken == step {
                next = Some(after);
            }
            next.is_none()
        });
        next
    }
}

impl<const N: usize> TransitionSystem for UpToHelpers<'_, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.representative(&self.monitor.initial())
    }

    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        self.monitor.each_successor(from, &mut |step, next| emit(step, self.representative(&next)));
    }

    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.monitor.goal(state)
    }

    fn deadlock_goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.monitor.deadlock_goal(state)
    }

    fn words(&self) -> usize {
        self.monitor.words()
    }

    fn step_count(&self) -> usize {
        self.monitor.step_count()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.monitor.thread_of(step)
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        self.monitor.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.monitor.side_bytes()
    }
}
