//! Small programs, and replayed runs of them, for tests.

use weir_ir::{EdgeId, Program, ThreadId};
use weir_witness::{Action, Model, Replay, Run, State, Step, enabled_steps, replay};

pub(crate) use weir_testkit::small::*;

/// Replays a run in shorthand: `0` is the first edge of thread 0 from where it is, `0.1` its second one, `0=5` the
/// first one with the choice 5, `0f` a flush.
pub(crate) fn accept(program: &Program, model: Model, script: &str) -> Replay {
    let mut run = Run { model, steps: Vec::new() };
    for token in script.split_whitespace() {
        let step = parse_step(program, after(program, &run).last(), token);
        run.steps.push(step);
    }
    after(program, &run)
}

fn after(program: &Program, run: &Run) -> Replay {
    replay(program, run).unwrap_or_else(|error| panic!("{error}"))
}

fn parse_step(program: &Program, state: &State, token: &str) -> Step {
    let (thread, rest) = token.split_at(token.find(|c: char| !c.is_ascii_digit()).unwrap_or(token.len()));
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

/// A run of at most `length` steps, each picked at random among those that are possible.
pub(crate) fn random_run(program: &Program, model: Model, random: &mut Random, length: usize) -> Run {
    let mut run = Run { model, steps: Vec::new() };
    while run.steps.len() < length {
        let enabled = enabled_steps(program, model, after(program, &run).last()).unwrap();
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
        run.steps.push(step);
    }
    run
}
