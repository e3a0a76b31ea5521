//! The search for attacks, in stages: one feasible attack is enough, so it is looked for where it is found soonest.
//!
//! 1. All runs of the monitored program, breadth-first, up to a bound. Most questions end here, with a shortest run.
//! 2. For each attacker, the runs in which nobody else moves before the attacker has halted, up to a bound. In a program
//!    of many threads that is far less than all interleavings that can come before the attack.
//! 3. All runs.
//!
//! Direction of error: none. The second stage only finds violations, and the third is left out only if one was found.

use std::collections::BTreeSet;

use weir_ir::{Gather, ThreadId};

use super::helpers::{UpToHelpers, renamings};
use super::monitor::Monitor;
use super::question::Plans;
use super::{Checker, Options, Question};
use crate::bounds::Bound;
use crate::search::scalarsets::Renaming;
use crate::search::{Found, MOST_WORKERS, Outcome, breadth_first};
use crate::semantics::size::with_state_size;
use crate::session::Session;
use crate::verdict::Limit;

impl Checker {
    /// Looks for one of the attacks in question.
    pub(super) fn look_for_attack(&self, question: &Question, options: &Options, session: &Session) -> Outcome {
        let plans = Plans::new(&self.program, &self.compiled, question);
        let families = renamings(&self.program, &self.compiled, &self.images.symmetry, question);
        let plans = (&plans, &families[..]);
        let bound = session.bound(Bound::RobustFirstStates);
        // Under a tight limit the states of the first stages would be missing in the last.
        if session.states_left() < bound.saturating_mul(4) {
            return self.search_all(plans, options, session);
        }
        let mut spent = Spent::default();
        let first = self.search_all(plans, options, &session.part(Some(bound)));
        if !gave_up(&first, session) {
            return first;
        }
        spent.add(&first);
        let attackers = self.attackers(question);
        let share = bound / attackers.len().max(1) as u64;
        for attacker in attackers {
            let found = self.search(plans.0, Some(attacker), options, &session.part(Some(share)));
            if matches!(found.found, Found::Goal(..)) || session.exceeded_before_work().is_some() {
                return spent.with(found);
            }
            spent.add(&found);
        }
        spent.with(self.search_all(plans, options, session))
    }

    /// Searches all runs, up to the numbering of helpers.
    pub(super) fn search_all(
        &self,
        (plans, families): (&Plans, &[Renaming]),
        options: &Options,
        session: &Session,
    ) -> Outcome {
        if families.is_empty() {
            return self.search(plans, None, options, session);
        }
        let (machine, jobs) = (&self.compiled.machine, options.jobs.get().min(MOST_WORKERS));
        with_state_size!(machine.layout.words, N => {
            let system = UpToHelpers::<N>::new(machine, plans, families);
            system.with_own_run(breadth_first(&system, session, jobs))
        })
    }

    /// Searches all runs, or those in which nobody but this thread moves until it has halted as an attacker.
    pub(super) fn search(
        &self,
        plans: &Plans,
        attacker: Option<usize>,
        options: &Options,
        session: &Session,
    ) -> Outcome {
        let (machine, jobs) = (&self.compiled.machine, options.jobs.get().min(MOST_WORKERS));
        with_state_size!(machine.layout.words, N => {
            breadth_first(&Monitor::<N>::with_attacker(machine, plans, attacker), session, jobs)
        })
    }

    /// The positions of the threads that attacks in question delay.
    fn attackers(&self, question: &Question) -> Vec<usize> {
        let threads: BTreeSet<ThreadId> = question.attacks.iter().map(|attack| attack.thread).gather();
        let is_attacker = |&position: &usize| threads.contains(&self.compiled.threads[position]);
        (0..self.compiled.threads.len()).filter(is_attacker).collect()
    }
}

/// Whether a stage ended at its own bound, with the session free to go on.
fn gave_up(outcome: &Outcome, session: &Session) -> bool {
    matches!(outcome.found, Found::Stopped(Limit::States)) && session.exceeded_before_work().is_none()
}

/// What earlier stages did.
#[derive(Default)]
struct Spent {
    states: u64,
    transitions: u64,
}

impl Spent {
    fn add(&mut self, outcome: &Outcome) {
        self.states += outcome.states;
        self.transitions += outcome.transitions;
    }

    /// The outcome of the last stage, with the work of all.
    fn with(&self, outcome: Outcome) -> Outcome {
        Outcome { states: outcome.states + self.states, transitions: outcome.transitions + self.transitions, ..outcome }
    }
}
