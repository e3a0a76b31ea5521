//! The engines of `reach` agree with the naive reference interpreter, goal by goal, wherever they claim an answer.
//!
//! With `WEIR_SEEDS=5000`, each random test looks at so many programs.

mod collected;
mod ends;
mod portfolio;
mod proofs;
mod random;
mod together;

use weir::reach::{Engine, Options, all_goals, reach};
use weir::{Budget, Control, Failure, Verdict};
use weir_ir::{Program, PropertyKind};
use weir_testkit::reference::{self, Outcome, explore};
use weir_witness::Goal;

/// How many states an engine may store.
const MOST_STATES: u64 = 20_000;

/// Whether the engine says that the goal can be reached, if it says anything.
fn answer(program: &Program, engine: Engine, goal: Goal) -> Option<bool> {
    let budget = Budget { states: Some(MOST_STATES), ..Budget::default() };
    answer_within(program, engine, vec![goal], budget)
}

/// Whether the engine says that one of the goals can be reached, if it says anything.
fn answer_within(program: &Program, engine: Engine, goals: Vec<Goal>, budget: Budget) -> Option<bool> {
    let options = Options { engine, goals, ..Options::default() };
    match reach(program, &options, &Control { budget, ..Control::default() }) {
        Ok(report) => match report.verdict {
            Verdict::Holds => Some(false),
            // It has been replayed, under TSO, by then.
            Verdict::Violated(_) => Some(true),
            Verdict::Unknown(_) => None,
        },
        Err(Failure::Refused(_)) => None,
        Err(Failure::Bug(what)) => panic!("{engine:?}: {what}"),
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

/// What a comparison saw.
#[derive(Default, Debug)]
struct Seen {
    goals: u64,
    answered: u64,
    reachable: u64,
    /// Answers of the engine where the reference had none.
    beyond: u64,
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.goals += other.goals;
        self.answered += other.answered;
        self.reachable += other.reachable;
        self.beyond += other.beyond;
    }
}

/// Compares all goals of a program; an error says where engine and reference differ.
fn compare(program: &Program, engine: Engine, limit: usize) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let Ok(outcome) = explore(program, reference::Model::Tso, limit) else { return Ok(seen) };
    for goal in state_goals(program) {
        seen.goals += 1;
        let Some(says) = answer(program, engine, goal) else { continue };
        let truth = was_seen(&outcome, goal);
        seen.answered += 1;
        seen.reachable += u64::from(says);
        seen.beyond += u64::from(!outcome.complete && !truth);
        if says != truth && (truth || outcome.complete) {
            return Err(format!("{engine:?} says that {goal:?} is reachable = {says}; the reference says {truth}"));
        }
    }
    Ok(seen)
}
