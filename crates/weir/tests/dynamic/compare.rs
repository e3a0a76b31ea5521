//! The engines against the reference interpreter, which has stacks and threads of its own.

use std::collections::BTreeSet;

use weir::check::{Judgement, Options, PropertyReport};
use weir::dynamic::{self, Decided};
use weir::{Bound, Failure, Limit, Limits, Session, Verdict, check, reach};
use weir_ir::{Diagnostic, Program, Source};
use weir_testkit::reference::{self, Depth, explore_within};
use weir_witness::{Goal, Model};

/// States that the reference visits at most.
pub(crate) const MOST: usize = 60_000;

pub(crate) fn parse(text: &str) -> Program {
    try_parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn try_parse(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let source = Source::new("test.weir", text.to_owned());
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).map(|parsed| parsed.program)
}

/// The program, if it is a valid one with calls or spawns: a procedure that ends the thread cannot be called in an
/// `atomic` block.
pub(crate) fn dynamic_program(text: &str) -> Option<Program> {
    match try_parse(text) {
        Ok(program) => Some(program).filter(Program::is_dynamic),
        Err(errors) => {
            assert!(errors.iter().all(|error| error.code == "nested-lock"), "{errors:?}\n{text}");
            None
        }
    }
}

/// A session with these bounds.
pub(crate) fn session(depth: Depth) -> Session {
    let limits = Limits { states: Some(2_000_000), ..Limits::default() };
    with_bounds(limits, depth)
}

fn with_bounds(limits: Limits, depth: Depth) -> Session {
    Session::new(limits)
        .with_bound(Bound::StackFrames, depth.frames as u64)
        .with_bound(Bound::SpawnedThreads, depth.spawned as u64)
        // They know no bound.
        .with_bound(Bound::SummaryStates, 0)
}

/// What the portfolio says about each property.
pub(crate) fn checked(program: &Program, model: Model, depth: Depth) -> Decided<check::Report> {
    let options = Options { model, ..Options::default() };
    dynamic::check(program, &options, &session(depth)).unwrap_or_else(|failure| panic!("{failure}"))
}

/// What one engine says about one goal.
pub(crate) fn reached(program: &Program, options: &reach::Options, depth: Depth) -> Result<Verdict<()>, Failure> {
    let limits = Limits { states: Some(100_000), ..Limits::default() };
    let decided = dynamic::reach(program, options, &with_bounds(limits, depth))?;
    Ok(decided.report.verdict.map(|_| ()))
}

fn model_of(model: Model) -> reference::Model {
    match model {
        Model::Sc => reference::Model::Sc,
        Model::Tso => reference::Model::Tso,
    }
}

/// What the reference says: the goals it reaches within a depth, and whether runs go beyond it; nothing if there are too
/// many states.
pub(crate) fn expected(program: &Program, model: Model, depth: Depth) -> Option<(BTreeSet<Goal>, bool)> {
    let found = explore_within(program, model_of(model), MOST, depth).expect("a supported program");
    let goal = |goal: &reference::Goal| match *goal {
        reference::Goal::Property(property) => Goal::Property(property),
        reference::Goal::Assertion(thread) => Goal::Assertion(thread),
    };
    found.outcome.complete.then(|| (found.outcome.goals.keys().map(goal).collect(), found.goes_beyond))
}

/// A goal of the linked program in terms of the program: assertions of an instance are those of the thread.
fn template(program: &Program, linked: &Program, goal: Goal) -> Goal {
    match goal {
        Goal::Assertion(thread) if thread.index() >= program.threads.len() => {
            let family = &linked.thread(thread).family.0;
            let own = program.thread_ids().find(|&own| program.thread(own).family.0 == *family);
            Goal::Assertion(own.expect("an instance of a thread"))
        }
        goal => goal,
    }
}

/// Compares all verdicts about a program with the reference; how many of them were unknown because of a bound. Nothing if
/// the reference cannot tell.
pub(crate) fn compare(program: &Program, text: &str, model: Model, depth: Depth) -> Option<usize> {
    let (reached, beyond) = expected(program, model, depth)?;
    let (more, _) = expected(program, model, Depth { spawned: depth.spawned + 1, ..depth })?;
    let decided = checked(program, model, depth);
    let mut unknown = 0;
    for PropertyReport { goal, judgement, .. } in &decided.report.properties {
        let goal = template(program, &decided.program, *goal);
        let context = || format!("{model:?} {depth:?} {goal:?}: {}\n{text}", judgement.name());
        match judgement {
            Judgement::Holds | Judgement::NotMet => {
                assert!(!reached.contains(&goal) && !beyond, "{}", context());
            }
            // The last instance runs, too.
            Judgement::Violated(_) | Judgement::Met(_) => assert!(more.contains(&goal), "{}", context()),
            Judgement::Unknown(limit @ (Limit::Frames(_) | Limit::Spawned(_))) => {
                assert!(!reached.contains(&goal) && beyond, "{limit} {}", context());
                unknown += 1;
            }
            Judgement::Unknown(limit) => panic!("{limit} {}", context()),
        }
    }
    Some(unknown)
}
