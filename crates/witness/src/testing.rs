//! Small programs, and runs of them, for tests.

pub(crate) mod templates;
pub(crate) mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};

use weir_ir::{EdgeId, Interrupt, Program, Property, PropertyKind, Span, ThreadId};

use crate::event::StepId;
use crate::interpret::interpret;
use crate::replay::{Replay, enabled_steps, replay};
use crate::run::{Action, Goal, Model, Run, Step};
use crate::state::State;

pub(crate) use weir_testkit::small::*;

/// The program with one more property, and the goal that breaks it.
pub(crate) fn with_property(mut program: Program, kind: PropertyKind) -> (Program, Goal) {
    let goal = Goal::Property(weir_ir::PropertyId::new(program.properties.len()));
    program.properties.push(Property { kind, span: Span::default() });
    (program, goal)
}

/// A run in shorthand: `0` is the first edge of thread 0 from where it is, `0.1` its second one, `0=5` the first
/// one with the choice 5, `0f` a flush. Steps after one that is not possible start from the same place.
pub(crate) fn run(program: &Program, model: Model, script: &str) -> Run {
    let mut state = State::initial(program);
    let mut steps = Vec::new();
    for word in script.split_whitespace() {
        let step = parse_step(program, &state, word);
        if let Ok(event) = interpret(program, model, &state, step) {
            state.apply(StepId::new(steps.len()), &event);
        }
        steps.push(step);
    }
    Run { model, steps }
}

fn parse_step(program: &Program, state: &State, word: &str) -> Step {
    let (thread, rest) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let thread = ThreadId(thread.parse().unwrap());
    if rest == "f" {
        return Step { thread, action: Action::Flush };
    }
    let nth = rest.strip_prefix('.').map_or(0, |nth| nth.parse().unwrap());
    let choice = rest.strip_prefix('=').map_or(0, |choice| choice.parse().unwrap());
    let mut edges = program.body(thread).edges_from(state.thread(thread).location);
    let edge = edges.nth(nth).map_or(EdgeId(999), |(edge, _)| edge);
    Step { thread, action: Action::Execute { edge, choice } }
}

/// Replays a run in shorthand that must be accepted.
pub(crate) fn accept(program: &Program, model: Model, script: &str) -> Replay {
    replay(program, &run(program, model, script)).unwrap_or_else(|error| panic!("{script}: {error}"))
}

/// The message for a run in shorthand that must not be accepted.
pub(crate) fn refuse(program: &Program, model: Model, script: &str) -> String {
    match replay(program, &run(program, model, script)) {
        Ok(_) => panic!("{script}: accepted"),
        Err(error) => error.to_string(),
    }
}

/// A run of at most `length` steps, each picked at random among those that are possible.
pub(crate) fn random_run(program: &Program, model: Model, random: &mut Random, length: usize) -> Run {
    let mut state = State::initial(program);
    let mut steps = Vec::new();
    while steps.len() < length {
        let enabled = enabled_steps(program, model, &state).unwrap();
        if enabled.is_empty() {
            break;
        }
        let mut step = enabled[random.below(enabled.len())];
        for _ in 0..3 {
            // Stores that wait longer make more interesting runs.
            if step.action == Action::Flush {
                step = enabled[random.below(enabled.len())];
            }
        }
        let event = interpret(program, model, &state, step).unwrap();
        state.apply(StepId::new(steps.len()), &event);
        steps.push(step);
    }
    Run { model, steps }
}

/// An interrupt that says yes once, at this question.
pub(crate) struct Asked {
    at: usize,
    questions: AtomicUsize,
}

impl Interrupt for Asked {
    fn is_over(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) == self.at
    }
}

/// How often a check asks whether to end. At each of these questions a yes ends it, with this fault.
pub(crate) fn refused_at_each_question<F: PartialEq + std::fmt::Debug>(
    check: impl Fn(&Asked) -> Result<(), F>,
    interrupted: &F,
) -> usize {
    for at in 0.. {
        let asked = Asked { at, questions: AtomicUsize::new(0) };
        match check(&asked) {
            Ok(()) => {
                assert!(asked.questions.load(Ordering::Relaxed) <= at, "question {at} was ignored");
                return at;
            }
            Err(fault) => assert_eq!(fault, *interrupted),
        }
    }
    unreachable!("a check asks finitely many questions")
}
