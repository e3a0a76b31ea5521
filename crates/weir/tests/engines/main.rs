//! The engines of `reach` agree with the naive reference interpreter, goal by goal, wherever they claim an answer.
//!
//! With `WEIR_SEEDS=5000`, each random test looks at so many programs.

mod by_robustness;
mod closed_sets;
mod collected;
mod coverage;
mod easy;
mod ends;
mod equal;
mod exactly;
mod families;
mod fused;
mod nets;
mod numbered;
mod portfolio;
mod proofs;
mod random;
mod reductions;
mod reports;
mod slices;
mod small;
mod together;
mod value_classes;
mod views;
mod waits;
mod ways;

use weir::reach::{Engine, Options, all_goals, reach};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Program, PropertyKind};
use weir_testkit::reference::{self, Outcome};
use weir_witness::Goal;

/// How many states an engine may store.
const MOST_STATES: u64 = 20_000;

/// Whether the engine says that the goal can be reached, if it says anything.
fn answer(program: &Program, engine: Engine, goal: Goal) -> Option<bool> {
    let limits = Limits { states: Some(MOST_STATES), ..Limits::default() };
    answer_within(program, engine, vec![goal], limits)
}

/// Whether the engine says that one of the goals can be reached, if it says anything.
fn answer_within(program: &Program, engine: Engine, goals: Vec<Goal>, limits: Limits) -> Option<bool> {
    let options = Options { engine, goals, ..Options::default() };
    match reach(program, &options, &Session::new(limits)) {
        Ok(report) => match report.verdict {
            Verdict::Holds => Some(false),
            // It has been replayed, under TSO, by then.
            Verdict::Violated(_) => Some(true),
            Verdict::Unknown(_) => None,
        },
        Err(Failure::Refused(_) | Failure::TooLarge(_)) => None,
        Err(what) => panic!("{engine:?}: {what}"),
    }
}

/// The goals that are conditions on states.
fn state_goals(program: &Program) -> Vec<Goal> {
    let is_deadlock = |goal: &Goal| {
        matches!(goal, Goal::Property(property)
            if program.properties[property.index()].kind == PropertyKind::ForbidDeadlock)
    };
    all_goals(program).into_iter().filter(|goal| !is_deadlock(goal)).collect()
}

fn was_seen(outcome: &Outcome, goal: Goal) -> bool {
    let goal = match goal {
        Goal::Property(property) => reference::Goal::Property(property),
        Goal::Assertion(thread) => reference::Goal::Assertion(thread),
        Goal::NotRobust => return false,
    };
    outcome.goals.contains_key(&goal)
}
