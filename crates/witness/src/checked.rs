//! Evidence: a run that was replayed and shows its goal.

use std::fmt;

use weir_ir::Program;

use crate::continuations::Continuations;
use crate::goal::{GoalError, check_goal};
use crate::happens_before::HappensBefore;
use crate::replay::{Replay, ReplayError, replay};
use crate::run::{Goal, Run};

/// A run that was replayed step by step and whose last state shows a goal.
///
/// There is no other way to make one, so a value of this type is evidence: an engine that returns its
/// violations as `Checked` cannot claim one that does not replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    run: Run,
    goal: Goal,
    replay: Replay,
    happens_before: HappensBefore,
    continuations: Option<Continuations>,
}

impl Checked {
    /// Replays `run` and checks that it ends in `goal`.
    ///
    /// # Errors
    /// If a step of the run is not possible, or the last state does not show the goal.
    pub fn new(program: &Program, run: Run, goal: Goal) -> Result<Self, CheckError> {
        let replay = replay(program, &run).map_err(CheckError::Replay)?;
        let continuations = check_goal(program, &replay, goal).map_err(CheckError::Goal)?;
        let happens_before = HappensBefore::new(&replay);
        Ok(Self { run, goal, replay, happens_before, continuations })
    }

    /// If the goal is about what can no longer happen: all that can.
    pub fn continuations(&self) -> Option<&Continuations> {
        self.continuations.as_ref()
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What its last state shows.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// What its steps did.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Its trace.
    pub fn happens_before(&self) -> &HappensBefore {
        &self.happens_before
    }
}

/// Why a run is no evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    /// A step is not possible.
    Replay(ReplayError),
    /// The last state does not show the goal.
    Goal(GoalError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replay(error) => error.fmt(f),
            Self::Goal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

#[cfg(test)]
mod tests;
