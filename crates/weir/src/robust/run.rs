//! From a run of the monitored program to a run under TSO that sequential consistency does not allow.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Gather, Program, ThreadId};
use weir_witness::{Action, Checked, Goal, Run, Step, replay};

use crate::attack::{self, Attack, AttackStep, ThreadEdge};
use crate::bounds::Bound;
use crate::session::Session;
use crate::verdict::Failure;

/// A run of the monitored program in which an attack succeeds.
pub(crate) struct AttackRun {
    pub(super) steps: Vec<(Step, AttackStep)>,
}

impl AttackRun {
    /// The attack that succeeds.
    pub(crate) fn attack(&self) -> Option<Attack> {
        let edge_of = |wanted| {
            let (step, _) = self.steps.iter().find(|(_, kind)| *kind == wanted)?;
            match step.action {
                Action::Execute { edge, .. } => Some((step.thread, edge)),
                Action::Flush => None,
            }
        };
        let ((thread, store), (_, load)) = (edge_of(AttackStep::Begin)?, edge_of(AttackStep::Halt)?);
        Some(Attack { thread, store, load })
    }

    /// The attacker, and its steps from the delayed store to the attack's load, both included.
    pub(crate) fn path(&self) -> Option<(ThreadId, Vec<EdgeId>)> {
        let attacker = self.attack()?.thread;
        let begin = self.position(AttackStep::Begin)?;
        let halt = self.position(AttackStep::Halt)?;
        let own = self.steps[begin..=halt].iter().filter(|(step, _)| step.thread == attacker);
        let edges = own.filter_map(|(step, _)| match step.action {
            Action::Execute { edge, .. } => Some(edge),
            Action::Flush => None,
        });
        Some((attacker, edges.collect()))
    }

    fn position(&self, wanted: AttackStep) -> Option<usize> {
        self.steps.iter().position(|(_, kind)| *kind == wanted)
    }

    /// The same run with more stores delayed: all from an earlier one on, as far as that is possible and the attacker
    /// executes only what `may_wait`.
    pub(crate) fn with_earlier_begin(
        &self,
        program: &Program,
        may_wait: impl Fn(EdgeId) -> bool,
        session: &Session,
    ) -> Self {
        let mut best = Self { steps: self.steps.clone() };
        let (Some(attack), Some(begin)) = (self.attack(), self.position(AttackStep::Begin)) else { return best };
        let body = program.body(attack.thread);
        let mut now = begin;
        let is_short = self.steps.len() <= session.size_bound(Bound::ShortenSteps);
        for at in (0..begin).rev().take_while(|_| is_short && session.exceeded().is_none()) {
            let (Step { thread, action: Action::Execute { edge, .. } }, _) = self.steps[at] else { break };
            if thread != attack.thread {
                continue;
            }
            if !may_wait(edge) || body.edge(edge).instruction.drains() {
                break;
            }
            if body.edge(edge).instruction.is_store() {
                let mut steps = best.steps.clone();
                steps[now].1 = AttackStep::Ordinary;
                steps[at].1 = AttackStep::Begin;
                if replay(program, &attack::run_under_tso(program, &steps)).is_err() {
                    break;
                }
                (best, now) = (Self { steps }, at);
            }
        }
        best
    }

    /// The steps of the attacker from the delayed store on, up to the attack's load but without it. A fence after any
    /// of them would have prevented this run.
    pub(crate) fn overtaken(&self) -> BTreeSet<ThreadEdge> {
        let from_store = self.steps.iter().skip_while(|(_, kind)| *kind != AttackStep::Begin);
        let to_load = from_store.take_while(|(_, kind)| *kind != AttackStep::Halt);
        let attacker = self.attack().map(|attack| attack.thread);
        let own = to_load.filter(|(step, _)| Some(step.thread) == attacker);
        own.filter_map(|(step, _)| match step.action {
            Action::Execute { edge, .. } => Some((step.thread, edge)),
            Action::Flush => None,
        })
        .gather()
    }

    /// The run under TSO, as it was found.
    pub(crate) fn run_under_tso(&self, program: &Program) -> Run {
        attack::run_under_tso(program, &self.steps)
    }

    /// The violation under TSO, replayed.
    ///
    /// # Errors
    /// If it is none, which would be a bug.
    pub(crate) fn checked(&self, program: &Program, session: &Session) -> Result<Checked, Failure> {
        checked(program, self.run_under_tso(program), session)
    }
}

/// Leaves out what the violation does not need, and checks what remains.
///
/// # Errors
/// If the run itself is no violation, which would be a bug.
pub(super) fn checked(program: &Program, run: Run, session: &Session) -> Result<Checked, Failure> {
    let mut best = Checked::new(program, run, Goal::NotRobust).map_err(|error| {
        Failure::Bug(format!("a violation of robustness that was found cannot be replayed: {error}"))
    })?;
    // From the end: what comes later depends on what came earlier, hardly ever the other way round.
    let (mut at, longest) = (best.run().steps.len(), session.size_bound(Bound::ShortenSteps));
    // Each step takes a replay, so the time is quadratic in the length of the run.
    while at > 0 && best.run().steps.len() <= longest {
        if session.exceeded().is_some() {
            break;
        }
        at -= 1;
        if let Some(shorter) = without(program, best.run(), at) {
            best = shorter;
            at = at.min(best.run().steps.len());
        }
    }
    Ok(best)
}

/// The run without one executed step, and without its flush if it is a store, if that is still a violation.
fn without(program: &Program, run: &Run, at: usize) -> Option<Checked> {
    let Step { thread, action: Action::Execute { edge, .. } } = run.steps[at] else { return None };
    let mut steps = run.steps.clone();
    steps.remove(at);
    if program.body(thread).edge(edge).instruction.is_store() {
        steps.remove(its_flush(program, run, at)? - 1);
    }
    Checked::new(program, Run { model: run.model, steps }, Goal::NotRobust).ok()
}

/// Where the store that is executed at `at` reaches memory.
fn its_flush(program: &Program, run: &Run, at: usize) -> Option<usize> {
    let thread = run.steps[at].thread;
    let is_store = |step: &Step| match step.action {
        Action::Execute { edge, .. } => program.body(step.thread).edge(edge).instruction.is_store(),
        Action::Flush => false,
    };
    let own = |step: &&Step| step.thread == thread;
    let earlier = run.steps[..at].iter().filter(own).filter(|step| is_store(step)).count();
    let flushes =
        run.steps.iter().enumerate().filter(|(_, step)| step.thread == thread && step.action == Action::Flush);
    flushes.map(|(position, _)| position).nth(earlier)
}
