//! The engines `rounds` and `age`: the goals that runs within the bound reach, and no proof where there is none.

use weir::reach::{Engine, Options, all_goals, reach};
use weir::translate::bounded::RunBound;
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::Program;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::{self, BoundedOutcome, bounded_states};
use weir_testkit::{dump, shrink};
use weir_witness::Goal;

use crate::compare::{reference_bound, supported};

pub(crate) fn engine(bound: RunBound) -> Engine {
    match bound {
        RunBound::Rounds(_) => Engine::Rounds,
        RunBound::Age(_) => Engine::Age,
    }
}

pub(crate) fn ask(program: &Program, bound: RunBound, goals: Vec<Goal>) -> Result<Verdict<()>, Failure> {
    ask_within(program, bound, goals, 1_000_000)
}

pub(crate) fn ask_within(
    program: &Program,
    bound: RunBound,
    goals: Vec<Goal>,
    states: u64,
) -> Result<Verdict<()>, Failure> {
    let options = Options { engine: engine(bound), bound: Some(bound.number()), goals, ..Options::default() };
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    // A violation was replayed when it was made.
    reach(program, &options, &session).map(|report| report.verdict.map(|_| ()))
}

fn known(goal: Goal) -> Option<reference::Goal> {
    match goal {
        Goal::Property(property) => Some(reference::Goal::Property(property)),
        Goal::Assertion(thread) => Some(reference::Goal::Assertion(thread)),
        Goal::NotRobust => None,
    }
}

/// What the engine says about each goal, against the definition; how many it reaches.
fn compare(program: &Program, bound: RunBound, limit: usize) -> Result<Option<usize>, String> {
    let expected = bounded_states(program, reference_bound(bound), limit).map_err(|error| error.what.to_owned())?;
    let Some(BoundedOutcome { goals, all_goals: any, .. }) = expected else { return Ok(None) };
    let mut reached = 0;
    for goal in all_goals(program) {
        let Some(named) = known(goal) else { continue };
        let verdict = match ask(program, bound, vec![goal]) {
            Ok(verdict) => verdict,
            Err(Failure::Refused(why) | Failure::TooLarge(why)) if why.code == "computed-address" => return Ok(None),
            Err(failure) => return Err(failure.to_string()),
        };
        match verdict {
            Verdict::Violated(()) if !any.contains(&named) => {
                return Err(format!("{bound:?}: {goal:?} is out of reach"));
            }
            Verdict::Violated(()) => reached += 1,
            Verdict::Holds | Verdict::Unknown(_) if goals.contains(&named) => {
                return Err(format!("{bound:?}: {goal:?} was not found: {verdict:?}"));
            }
            Verdict::Holds => {
                let all = reference::explore(program, reference::Model::Tso, 50 * limit);
                if all.is_ok_and(|all| all.goals.contains_key(&named)) {
                    return Err(format!("{bound:?}: {goal:?} was called unreachable"));
                }
            }
            Verdict::Unknown(Limit::Rounds(_) | Limit::Age(_)) => {}
            Verdict::Unknown(limit) => return Err(format!("{bound:?}: {goal:?}: {limit}")),
        }
    }
    Ok(Some(reached))
}

fn agree_on(name: &str, make: impl Fn(u64) -> Program, count: u64) -> usize {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let bounds = [RunBound::Rounds(2), RunBound::Age(1), RunBound::Rounds(4), RunBound::Age(3), RunBound::Age(0)];
    let (mut reached, mut compared) = (0, 0);
    for seed in 0..count {
        let program = supported(make(seed));
        let bound = bounds[(seed % 5) as usize];
        match compare(&program, bound, 3_000) {
            Ok(Some(more)) => (reached, compared) = (reached + more, compared + 1),
            Ok(None) => {}
            Err(what) => {
                let small = shrink(&program, |program| compare(program, bound, 3_000).is_err());
                let small_what = compare(&small, bound, 3_000).err();
                panic!("{name} program, seed {seed}: {what}\n{}\n{small_what:?}", dump(&small));
            }
        }
    }
    assert!(2 * compared > count, "{name}: {compared} of {count}");
    reached
}

#[test]
fn engines_find_what_runs_within_the_bound_reach() {
    let config = Config { threads: (2, 2), statements: (2, 5), ..Config::acyclic() };
    assert!(agree_on("acyclic", |seed| program(seed, &config), 60) > 20);
    let config = Config::synchronizing().weighing(Statement::UnboundedLoop, 0);
    assert!(agree_on("synchronizing", |seed| program(seed, &config), 40) > 10);
}
