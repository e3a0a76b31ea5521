//! Cartesian partial order reduction: threads go on by themselves as long as they do not meet.
//!
//! After G. Gueta, C. Flanagan, E. Yahav and M. Sagiv (2007) and G. Calin's thesis, section 4.3.2. For each agent (a
//! thread's instructions, a thread's flushes) a *prefix* is computed: steps that it takes alone. Steps of different
//! prefixes are independent, except for the last ones. The successors of a state are the ends of the prefixes, and the
//! states in between are not stored: in every run some prefix is the first to be completed, and what the others have
//! done until then can be done after it as well.
//!
//! A prefix ends at a step that can make a goal false, at a choice, where the agent waits, and (the proviso for cycles)
//! at a step that turns back in the code of its thread. Every step of a run lies in some prefix, so no agent is ignored.
//! Where there is a [persistent set](super::persistent), its steps are taken instead.
//!
//! Prefixes depend on the state alone, so the states that are visited do not depend on the order of the search.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::footprints::Footprints;
use super::persistent::{Agents, PersistentSets};
use super::reduced::Reduced;
use crate::semantics::machine::{Machine, MemoryModel};
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, ThreadSteps};

/// Prefixes have at most so many steps before the last one.
const MOST_STEPS: usize = 32;

/// What prefixes are computed with.
pub(crate) struct Cartesian<'a> {
    pub(super) footprints: Footprints<'a>,
    /// For each step, whether it was taken before the end of a prefix.
    taken: Vec<AtomicBool>,
}

impl<'a> Cartesian<'a> {
    pub(crate) fn new(sets: &'a PersistentSets, machine: &'a Machine) -> Self {
        let steps = machine.edge_count as usize + machine.threads.len();
        Self { footprints: Footprints::new(sets, machine), taken: (0..steps).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Marks the edges that were taken as part of a prefix.
    pub(crate) fn mark_taken(&self, taken: &mut [bool]) {
        taken.iter_mut().zip(&self.taken).for_each(|(taken, own)| *taken |= own.load(Relaxed));
    }
}

/// What an agent does alone.
#[derive(Clone)]
struct Prefix<const N: usize> {
    agent: usize,
    /// The steps before the last one, where they lead, and what they access.
    run: Vec<StepCode>,
    state: Packed<N>,
    before: Vec<u64>,
    /// What the next step accesses, and where it leads: nowhere if the agent waits, two of the states if there are more.
    last: Vec<u64>,
    next: Vec<(StepCode, Packed<N>)>,
    /// Whether the next step can make a goal false.
    hides: bool,
    /// Whether the prefix goes no further.
    is_over: bool,
}

impl<const N: usize> Prefix<N> {
    fn thread(&self) -> usize {
        self.agent / 2
    }

    /// Whether these are instructions, and whether they are flushes, of this thread.
    fn has(&self, thread: usize) -> (bool, bool) {
        let (is_own, is_flush) = (thread == self.thread(), self.agent % 2 == 1);
        (is_own && !is_flush, is_own && is_flush)
    }

    /// The step before the next one, if the prefix ends with that: where the agent waits, or where the next step would
    /// make a goal false that the steps before it reach.
    fn end(&self) -> Option<StepCode> {
        self.run.last().copied().filter(|_| self.next.is_empty() || self.hides)
    }
}

impl<M: MemoryModel, const N: usize> Reduced<'_, M, N> {
    /// Emits the ends of all prefixes of a state, with their last steps.
    pub(super) fn cartesian_steps(
        &self,
        cartesian: &Cartesian<'_>,
        from: &Packed<N>,
        emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let mut goes_on = true;
        for prefix in self.prefixes(&cartesian.footprints, from) {
            prefix.run.iter().for_each(|step| cartesian.taken[step.number as usize].store(true, Relaxed));
            self.each_end(&prefix, &mut |step, next| {
                goes_on = goes_on && emit(step, next);
                goes_on
            });
        }
    }

    /// The steps of the prefix of a state that ends with this one.
    pub(super) fn steps_of_prefix(
        &self,
        footprints: &Footprints<'_>,
        from: &Packed<N>,
        last: StepCode,
    ) -> Option<Vec<StepCode>> {
        let ends = |prefix: &Prefix<N>| {
            let mut found = None;
            self.each_end(prefix, &mut |step, _| {
                if step == last {
                    found = Some(prefix.run.iter().copied().chain(prefix.end().is_none().then_some(last)).collect());
                }
                found.is_none()
            });
            found
        };
        self.prefixes(footprints, from).iter().find_map(ends)
    }

    fn each_end(&self, prefix: &Prefix<N>, emit: &mut dyn FnMut(StepCode, Packed<N>) -> bool) {
        match prefix.end() {
            Some(step) => {
                emit(step, prefix.state);
            }
            None => match prefix.next[..] {
                [] => {}
                [(step, state)] => {
                    emit(step, state);
                }
                _ => self.steps_of(&prefix.state, &|thread| prefix.has(thread), emit),
            },
        }
    }

    fn prefixes(&self, footprints: &Footprints<'_>, from: &Packed<N>) -> Vec<Prefix<N>> {
        let begins = |agent: usize| {
            let (run, next, empty) = (Vec::new(), Vec::new(), vec![0; footprints.set_words()]);
            let (state, before, last) = (*from, empty.clone(), empty);
            let mut prefix = Prefix { agent, run, state, before, last, next, hides: false, is_over: false };
            self.find_next(footprints, &mut prefix);
            prefix
        };
        let mut prefixes: Vec<Prefix<N>> = footprints.agents().map(begins).collect();
        // In turns, so that none gets far at the cost of the others.
        while prefixes.iter().any(|prefix| !prefix.is_over) {
            for at in 0..prefixes.len() {
                match self.longer(footprints, &prefixes, at) {
                    Some(longer) => prefixes[at] = longer,
                    None => prefixes[at].is_over = true,
                }
            }
        }
        prefixes
    }

    /// Finds the next step of a prefix.
    fn find_next(&self, footprints: &Footprints<'_>, prefix: &mut Prefix<N>) {
        let mut next = Vec::new();
        self.steps_of(&prefix.state, &|thread| prefix.has(thread), &mut |step, state| {
            next.push((step, state));
            next.len() < 2
        });
        let enabled: Agents = if next.is_empty() { 0 } else { 1 << prefix.agent };
        (prefix.last, prefix.hides) = footprints.next_of(&prefix.state, prefix.agent, enabled);
        prefix.next = next;
    }

    /// The prefix with one more step, if that does not interfere with the others.
    fn longer(&self, footprints: &Footprints<'_>, prefixes: &[Prefix<N>], at: usize) -> Option<Prefix<N>> {
        let prefix = &prefixes[at];
        let [(step, state)] = prefix.next[..] else { return None };
        if prefix.is_over || prefix.hides || !self.may_go_on(footprints, prefix, &state) {
            return None;
        }
        let others = || prefixes.iter().filter(|other| other.thread() != prefix.thread());
        // The next step was compared with what comes before those of the others when either was found.
        let meets = |set: &[u64], accesses: &[u64]| footprints.meet(set, accesses);
        if others().any(|other| meets(&prefix.last, &other.last)) {
            return None;
        }
        let mut longer = prefix.clone();
        longer.before.iter_mut().zip(&prefix.last).for_each(|(before, last)| *before |= last);
        longer.run.push(step);
        longer.state = state;
        self.find_next(footprints, &mut longer);
        let interferes = |other: &Prefix<N>| meets(&longer.last, &other.before);
        (!others().any(interferes)).then_some(longer)
    }

    /// Whether a prefix may go on after its next step, which leads to this state.
    fn may_go_on(&self, footprints: &Footprints<'_>, prefix: &Prefix<N>, next: &Packed<N>) -> bool {
        let (system, thread) = (self.system(), prefix.thread());
        if prefix.run.len() >= MOST_STEPS {
            return false;
        }
        if prefix.agent % 2 == 1 {
            return true;
        }
        // A store into an empty buffer lets the flushes of the thread begin.
        let is_drained = |state| M::is_drained(system.machine, state, thread);
        let lets_flush = is_drained(&prefix.state) && !is_drained(next);
        let (before, after) = (system.location(&prefix.state, thread), system.location(next, thread));
        !lets_flush && footprints.is_forwards(thread, before, after)
    }
}
