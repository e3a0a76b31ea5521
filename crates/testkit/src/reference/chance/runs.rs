//! Where a run leads, and what that settles.

use dashu_ratio::RBig;
use weir_ir::{EdgeId, Instruction, Program, ThreadId, Value};

use super::super::Model;
use super::super::state::State;
use super::super::steps::{Action, successors};
use super::Chain;

/// One step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunStep {
    /// The thread takes an edge, an `any` with this value.
    Step(ThreadId, EdgeId, Value),
    /// The thread's oldest store reaches memory.
    Flush(ThreadId),
}

/// What follows after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Continuation {
    /// Whether a target was met by then.
    pub met: bool,
    /// The probability to reach the target from here.
    pub once: RBig,
    /// The probability to reach it again and again.
    pub again: RBig,
}

impl Chain {
    /// Follows a run. A step of a thread and all flushes after it are one step of the chain; targets are met where such
    /// a step ends. None if the run is not possible.
    ///
    /// # Panics
    /// If the run leaves the chain.
    pub fn continuation(&self, run: &[RunStep]) -> Option<Continuation> {
        let mut state = self.configs[0].0.clone();
        let mut met = false;
        for &step in run {
            if matches!(step, RunStep::Step(..)) {
                met |= self.is_target[self.number_of(&state)];
            }
            state = after(&self.program, &state, step)?;
        }
        let end = self.number_of(&state);
        Some(Continuation {
            met: met || self.is_target[end],
            once: self.reaching(&self.is_target).swap_remove(end),
            again: self.reaching(&self.recurring()).swap_remove(end),
        })
    }

    /// Some configuration with this state: who stepped last changes odds, never what is certain.
    fn number_of(&self, state: &State) -> usize {
        let found = self.configs.iter().position(|(known, _)| known == state);
        found.expect("every state of a run is in the chain")
    }
}

fn after(program: &Program, state: &State, step: RunStep) -> Option<State> {
    let mut steps = successors(program, Model::Tso, state, usize::MAX).into_iter();
    match step {
        RunStep::Flush(thread) => steps.find(|step| (step.0, step.1) == (thread, Action::Flush)),
        RunStep::Step(thread, edge, value) => {
            let skipped = match program.body(thread).edge(edge).instruction {
                Instruction::Havoc { range, .. } => usize::try_from(value - range.low).ok()?,
                _ => 0,
            };
            steps.filter(|step| (step.0, step.1) == (thread, Action::Execute(edge))).nth(skipped)
        }
    }
    .map(|(_, _, next)| next)
}
