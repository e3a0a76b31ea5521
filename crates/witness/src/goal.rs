//! Whether the last state of a replayed run shows what it is claimed to show.

use std::fmt;

use weir_ir::{Program, Property, PropertyId, PropertyKind, StateExpr, ThreadId};

use crate::continuations::{self, Continuations, Open};
use crate::happens_before::HappensBefore;
use crate::interpret::Unsupported;
use crate::limits::MOST_FOLLOWED;
use crate::replay::{Replay, enabled_steps};
use crate::run::{Action, Goal, Step};
use crate::state::State;
use crate::words::count_noun;

/// Checks that the last state of `replay` shows `goal`. `program` must be the one that was replayed. If the goal is
/// about what can no longer happen, the result is all that can.
///
/// # Errors
/// If it does not; the error says what is missing.
pub fn check_goal(program: &Program, replay: &Replay, goal: Goal) -> Result<Option<Continuations>, GoalError> {
    let checker = GoalChecker { program, replay, state: replay.last() };
    let shortcoming = match goal {
        Goal::Assertion(thread) => checker.assertion(thread).map(|()| None),
        Goal::NotRobust => checker.not_robust().map(|()| None),
        Goal::Property(id) => match program.properties.get(id.index()) {
            Some(property) => checker.property(property),
            None => Err(Shortcoming::UnknownProperty(id)),
        },
    };
    shortcoming.map_err(|shortcoming| GoalError { message: checker.explain(&shortcoming), shortcoming })
}

/// Why a state does not show a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalError {
    /// What is missing.
    pub shortcoming: Shortcoming,
    message: String,
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GoalError {}

/// What a state lacks to show a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortcoming {
    /// The program has no property of this number.
    UnknownProperty(PropertyId),
    /// The program has no thread of this number.
    UnknownThread(ThreadId),
    /// Stores of this thread still wait in its buffer.
    NotDrained(ThreadId),
    /// This thread is not done.
    NotFinal(ThreadId),
    /// The condition of `forbid` or `exists` does not hold.
    ConditionFails,
    /// The condition of `always` holds.
    ConditionHolds,
    /// No deadlock: this step is possible.
    CanMove(Step),
    /// No deadlock: every thread is done.
    AllDone,
    /// No assertion of this thread failed.
    NoFailedAssertion(ThreadId),
    /// An SC run has the same trace.
    Acyclic,
    /// No thread is stuck: each can still leave where it is.
    NotStuck,
    /// The condition of `live` can still become true.
    StillPossible,
    /// More states can follow than are looked at.
    TooManyFollow,
    /// Whether the state is a deadlock, or what can follow it, cannot be decided, since a thread is about to do this.
    Unsupported(Unsupported),
}

struct GoalChecker<'a> {
    program: &'a Program,
    replay: &'a Replay,
    state: &'a State,
}

impl GoalChecker<'_> {
    fn property(&self, property: &Property) -> Result<Option<Continuations>, Shortcoming> {
        let (program, model) = (self.program, self.replay.model());
        match &property.kind {
            PropertyKind::ForbidStuck => continuations::stuck(program, model, self.state)
                .map(Some)
                .map_err(|open| self.open(open, Shortcoming::NotStuck)),
            PropertyKind::Live(condition) => {
                let found = continuations::never(program, model, self.state, condition);
                found.map(Some).map_err(|open| self.open(open, Shortcoming::StillPossible))
            }
            kind => self.state_property(kind).map(|()| None),
        }
    }

    /// What is missing if the continuations do not show what was claimed.
    fn open(&self, open: Open, possible: Shortcoming) -> Shortcoming {
        match open {
            Open::Possible => possible,
            Open::TooMany => Shortcoming::TooManyFollow,
            Open::Unsupported => {
                let unsupported = enabled_steps(self.program, self.replay.model(), self.state).err();
                unsupported.map_or(Shortcoming::TooManyFollow, Shortcoming::Unsupported)
            }
        }
    }

    fn state_property(&self, kind: &PropertyKind) -> Result<(), Shortcoming> {
        match kind {
            PropertyKind::Forbid(condition) => {
                self.drained()?;
                self.holds(condition)
            }
            PropertyKind::ForbidDeadlock => self.deadlock(),
            PropertyKind::Exists(condition) => {
                self.is_final()?;
                self.holds(condition)
            }
            PropertyKind::Always(condition) => {
                self.is_final()?;
                self.holds(condition).map_or(Ok(()), |()| Err(Shortcoming::ConditionHolds))
            }
            // Not a matter of one state.
            PropertyKind::ForbidStuck => Err(Shortcoming::NotStuck),
            PropertyKind::Live(_) => Err(Shortcoming::StillPossible),
        }
    }

    /// A failed assertion can never be undone, so the buffers do not matter.
    fn assertion(&self, thread: ThreadId) -> Result<(), Shortcoming> {
        let found = self.program.threads.get(thread.index()).ok_or(Shortcoming::UnknownThread(thread))?;
        let own = self.state.thread(thread);
        if own.is_present && Some(own.location) == found.body.failed {
            Ok(())
        } else {
            Err(Shortcoming::NoFailedAssertion(thread))
        }
    }

    fn not_robust(&self) -> Result<(), Shortcoming> {
        self.drained()?;
        if HappensBefore::new(self.replay).is_cyclic() { Ok(()) } else { Err(Shortcoming::Acyclic) }
    }

    fn drained(&self) -> Result<(), Shortcoming> {
        let waiting = self.state.present_threads().find(|(_, own)| !own.buffer.is_empty());
        waiting.map_or(Ok(()), |(thread, _)| Err(Shortcoming::NotDrained(thread)))
    }

    fn all_done(&self) -> Result<(), Shortcoming> {
        let busy = self.state.present_threads().find(|&(thread, _)| !self.state.is_done(self.program, thread));
        busy.map_or(Ok(()), |(thread, _)| Err(Shortcoming::NotFinal(thread)))
    }

    fn is_final(&self) -> Result<(), Shortcoming> {
        self.all_done()?;
        self.drained()
    }

    fn holds(&self, condition: &StateExpr) -> Result<(), Shortcoming> {
        if self.state.eval(self.program, condition) == 0 { Err(Shortcoming::ConditionFails) } else { Ok(()) }
    }

    fn deadlock(&self) -> Result<(), Shortcoming> {
        if self.all_done().is_ok() {
            return Err(Shortcoming::AllDone);
        }
        let enabled = enabled_steps(self.program, self.replay.model(), self.state);
        match enabled.map_err(Shortcoming::Unsupported)?.first() {
            Some(&step) => Err(Shortcoming::CanMove(step)),
            None => Ok(()),
        }
    }

    fn explain(&self, shortcoming: &Shortcoming) -> String {
        let name = |thread: ThreadId| &self.program.thread(thread).name;
        match *shortcoming {
            Shortcoming::UnknownProperty(id) => {
                let count = count_noun(self.program.properties.len(), "property");
                format!("there is no property number {}: the program has {count}", id.0)
            }
            Shortcoming::UnknownThread(thread) => {
                let count = count_noun(self.program.threads.len(), "thread");
                format!("there is no thread number {}: the program has {count}", thread.0)
            }
            Shortcoming::NotDrained(thread) => {
                let count = count_noun(self.state.thread(thread).buffer.len(), "store");
                format!("the last state is not drained: the buffer of {} holds {count}", name(thread))
            }
            Shortcoming::NotFinal(thread) => {
                let place = self.program.whereabouts(thread, self.state.thread(thread).location);
                format!("the last state is not final: {} is {place}", name(thread))
            }
            Shortcoming::ConditionFails => "the condition does not hold in the last state".into(),
            Shortcoming::ConditionHolds => "the condition holds in the last state".into(),
            Shortcoming::CanMove(step) => format!("the last state is not a deadlock: {}", self.movable(step)),
            Shortcoming::AllDone => "the last state is not a deadlock: every thread is done".into(),
            Shortcoming::Acyclic => "sequential consistency allows this run: happens-before has no cycle".into(),
            Shortcoming::NotStuck => "no thread is stuck in the last state: each can still leave where it is".into(),
            Shortcoming::StillPossible => "the condition can still become true after the last state".into(),
            Shortcoming::TooManyFollow => {
                format!("more than {MOST_FOLLOWED} states can follow the last one, and not all of them were visited")
            }
            Shortcoming::NoFailedAssertion(thread) => format!("no assertion of {} failed", name(thread)),
            Shortcoming::Unsupported(found) => {
                let line = self.program.source.line(found.span);
                format!("{} cannot be replayed (line {line})", found.feature)
            }
        }
    }

    fn movable(&self, step: Step) -> String {
        let name = &self.program.thread(step.thread).name;
        match step.action {
            Action::Flush => format!("{name} can flush"),
            Action::Execute { edge, .. } => {
                format!("{name} can take `{}`", self.program.instruction_text(step.thread, edge))
            }
        }
    }
}

#[cfg(test)]
mod tests;
