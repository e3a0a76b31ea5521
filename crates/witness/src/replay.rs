//! Replays a run step by step: the check that every witness must pass.
//!
//! It is written from the definitions of SC and TSO, with plain maps, and shares no code with the engines.
//! A run is accepted exactly if each of its steps is possible where it is taken.

use std::fmt;

use weir_ir::{Program, Span, ThreadId};

use crate::event::{Event, StepId};
use crate::interpret::{Feature, Refusal, Unsupported, interpret};
use crate::run::{Action, Model, Run, Step};
use crate::state::State;
use crate::words::count_noun;

/// Replays `run` from the initial state of `program`.
///
/// # Errors
/// At the first step that is not possible, or if the program has arbitrarily many threads.
pub fn replay(program: &Program, run: &Run) -> Result<Replay, ReplayError> {
    refuse_arbitrary_threads(program).map_err(|found| ReplayError::of_program(program, found))?;
    let mut state = State::initial(program);
    let mut events = Vec::with_capacity(run.steps.len());
    for (index, &step) in run.steps.iter().enumerate() {
        let id = StepId::new(index);
        let event = interpret(program, run.model, &state, step)
            .map_err(|refusal| ReplayError::of_step(program, id, step, refusal))?;
        state.apply(id, &event);
        events.push(event);
    }
    Ok(Replay { model: run.model, events, last: state })
}

/// The steps that are possible in a state: thread by thread, its edges in order, then its flush. An `any`
/// is listed once, with the least value it can take.
///
/// # Errors
/// If a thread is about to do something that is not handled here, or may exist arbitrarily often.
pub fn enabled_steps(program: &Program, model: Model, state: &State) -> Result<Vec<Step>, Unsupported> {
    refuse_arbitrary_threads(program)?;
    let mut steps = Vec::new();
    for (thread, own) in state.present_threads() {
        let edges = program.body(thread).edges_from(own.location);
        let actions = edges.map(|(edge, what)| Action::Execute { edge, choice: least_choice(&what.instruction) });
        for action in actions.chain([Action::Flush]) {
            let step = Step { thread, action };
            match interpret(program, model, state, step) {
                Ok(_) => steps.push(step),
                Err(Refusal::Unsupported(found)) => return Err(found),
                Err(_) => {}
            }
        }
    }
    Ok(steps)
}

fn least_choice(instruction: &weir_ir::Instruction) -> weir_ir::Value {
    match instruction {
        weir_ir::Instruction::Havoc { range, .. } => range.low,
        _ => 0,
    }
}

fn refuse_arbitrary_threads(program: &Program) -> Result<(), Unsupported> {
    match program.threads.iter().find(|thread| thread.multiplicity == weir_ir::Multiplicity::Arbitrary) {
        Some(thread) => Err(Unsupported { feature: Feature::ArbitrarilyManyThreads, span: thread.span }),
        None => Ok(()),
    }
}

/// A run that was replayed from its first step to its last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    model: Model,
    events: Vec<Event>,
    last: State,
}

impl Replay {
    /// The memory model it was replayed under.
    pub fn model(&self) -> Model {
        self.model
    }

    /// What each step did.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The state after the last step.
    pub fn last(&self) -> &State {
        &self.last
    }

    /// Shows each step together with the state after it, in order.
    ///
    /// The states are made again from the events, since keeping them all would take memory in proportion to
    /// the length of the run times the size of a state. `program` must be the one that was replayed.
    pub fn for_each_state(&self, program: &Program, mut visit: impl FnMut(StepId, &Event, &State)) {
        let mut state = State::initial(program);
        for (index, event) in self.events.iter().enumerate() {
            let step = StepId::new(index);
            state.apply(step, event);
            visit(step, event, &state);
        }
    }
}

/// Why a run was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The step that is not possible; none if the program as a whole cannot be replayed.
    pub step: Option<StepId>,
    /// Why not.
    pub refusal: Refusal,
    /// The source it is about, if there is one.
    pub span: Option<Span>,
    message: String,
}

impl ReplayError {
    fn of_program(program: &Program, found: Unsupported) -> Self {
        let line = program.source.line(found.span);
        let message = format!("{} cannot be replayed (line {line})", found.feature);
        Self { step: None, refusal: Refusal::Unsupported(found), span: Some(found.span), message }
    }

    fn of_step(program: &Program, id: StepId, step: Step, refusal: Refusal) -> Self {
        let (what, span) = describe(program, step);
        let reason = Reason { program, thread: step.thread, refusal: &refusal };
        let message = format!("step {}: {what}: {reason}", id.number());
        Self { step: Some(id), refusal, span, message }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReplayError {}

/// The step that cannot be taken, in words, and where it is written.
fn describe(program: &Program, step: Step) -> (String, Option<Span>) {
    let Some(thread) = program.threads.get(step.thread.index()) else {
        return (format!("thread number {} cannot take a step", step.thread.0), None);
    };
    let name = &thread.name;
    let Action::Execute { edge, .. } = step.action else {
        return (format!("{name} cannot flush"), None);
    };
    let Some(found) = thread.body.edges().get(edge.index()) else {
        return (format!("{name} cannot take edge number {}", edge.0), None);
    };
    let line = program.source.line(found.span);
    let text = program.instruction_text(step.thread, edge);
    (format!("{name} cannot take `{text}` (line {line})"), Some(found.span))
}

/// A refusal in words.
struct Reason<'a> {
    program: &'a Program,
    thread: ThreadId,
    refusal: &'a Refusal,
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program;
        match self.refusal {
            Refusal::UnknownThread => write!(f, "the program has {}", count_noun(program.threads.len(), "thread")),
            Refusal::NotStarted => f.write_str("only `spawn` starts it, and none has"),
            Refusal::UnknownEdge(_) => {
                let count = program.body(self.thread).edges().len();
                write!(f, "it has {}, numbered from 0", count_noun(count, "edge"))
            }
            Refusal::Elsewhere(place) => write!(f, "it is {}", program.whereabouts(self.thread, *place)),
            Refusal::StrayChoice(value) => write!(f, "only `any` takes a value, but {value} was given"),
            Refusal::ChoiceOutsideRange(value, range) => write!(f, "{value} is not in {}..{}", range.low, range.high),
            Refusal::FlushUnderSc => f.write_str("there are no buffers under SC"),
            Refusal::NothingToFlush => f.write_str("its buffer is empty"),
            Refusal::OtherBufferNotEmpty(thread, count) => {
                let holds = count_noun(*count, "store");
                write!(f, "the buffer of {} holds {holds}", program.thread(*thread).name)
            }
            Refusal::BufferNotEmpty(count) => write!(f, "its buffer holds {}", count_noun(*count, "store")),
            Refusal::LockedBy(holder) => write!(f, "{} holds the lock", program.thread(*holder).name),
            Refusal::LockedAlready => f.write_str("it already holds the lock"),
            Refusal::NotLocked => f.write_str("it does not hold the lock"),
            Refusal::AssumptionFails => f.write_str("the condition does not hold"),
            Refusal::OutsideRange(address, value) => {
                write!(f, "{value} is outside the range of `{}`", program.cell_name(*address))
            }
            Refusal::NoFailedLocation => {
                f.write_str("the assertion fails, but the thread has no place for failed assertions")
            }
            Refusal::Unsupported(found) => write!(f, "{} cannot be replayed", found.feature),
        }
    }
}

#[cfg(test)]
mod tests;
