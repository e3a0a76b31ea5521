//! Goals against the reference interpreter: a run shows just the goals that its last state shows by definition.

use weir_testkit::random::{self, Config};

use super::*;
use crate::testing::family;
use crate::testing::walk::{Visit, reference_model, walk};

const BOTH: [Model; 2] = [Model::Sc, Model::Tso];

fn goals(program: &Program) -> Vec<(Goal, weir_testkit::Goal)> {
    let properties = (0..program.properties.len()).map(PropertyId::new);
    let properties = properties.map(|id| (Goal::Property(id), weir_testkit::Goal::Property(id)));
    let assertions = program.thread_ids().map(|id| (Goal::Assertion(id), weir_testkit::Goal::Assertion(id)));
    properties.chain(assertions).collect()
}

/// The kind of goal, and whether it is shown.
fn name(program: &Program, goal: Goal, is_shown: bool) -> (&'static str, bool) {
    let name = match goal {
        Goal::Assertion(_) => "assertion",
        Goal::NotRobust => "not robust",
        Goal::Property(id) => match program.properties[id.index()].kind {
            PropertyKind::Forbid(_) => "forbid",
            PropertyKind::ForbidDeadlock => "deadlock",
            PropertyKind::Exists(_) => "exists",
            PropertyKind::Always(_) => "always",
            PropertyKind::ForbidStuck => "stuck",
            PropertyKind::Live(_) => "live",
        },
    };
    (name, is_shown)
}

/// Whether what the error says is missing is missing.
fn is_true(program: &Program, visit: &Visit, goal: Goal, shortcoming: Shortcoming) -> bool {
    let Visit { view, next, .. } = visit;
    let is_done = |thread| view.location(thread).is_some_and(|at| program.body(thread).is_done(at));
    let kind = if let Goal::Property(id) = goal { Some(&program.properties[id.index()].kind) } else { None };
    let at_end = matches!(kind, Some(PropertyKind::Exists(_) | PropertyKind::Always(_)));
    match shortcoming {
        Shortcoming::NotDrained(thread) => !view.buffer(thread).is_empty() && kind.is_some(),
        Shortcoming::NotFinal(thread) => !is_done(thread) && at_end,
        Shortcoming::ConditionFails => {
            view.is_drained() && matches!(kind, Some(PropertyKind::Forbid(_) | PropertyKind::Exists(_)))
        }
        Shortcoming::ConditionHolds => view.is_drained() && matches!(kind, Some(PropertyKind::Always(_))),
        Shortcoming::CanMove(step) => next.iter().any(|(possible, _)| *possible == step),
        Shortcoming::AllDone => view.threads().all(is_done),
        Shortcoming::NoFailedAssertion(thread) => goal == Goal::Assertion(thread),
        _ => false,
    }
}

fn compare_all(programs: impl IntoIterator<Item = Program>, limit: usize) -> BTreeMap<(&'static str, bool), usize> {
    let mut counts = BTreeMap::new();
    for program in programs {
        for model in BOTH {
            walk(&program, model, limit, |visit| {
                let replay = crate::replay(&program, &visit.run).expect("a run of the reference");
                let shown = visit.view.goals(&program, reference_model(model));
                for (goal, expected) in goals(&program) {
                    let is_shown = shown.contains(&expected);
                    *counts.entry(name(&program, goal, is_shown)).or_default() += 1;
                    match check_goal(&program, &replay, goal) {
                        Ok(_) => assert!(is_shown, "{goal:?} after {:?}", visit.run),
                        Err(error) => {
                            let is_right = !is_shown && is_true(&program, visit, goal, error.shortcoming);
                            assert!(is_right, "{goal:?} after {:?}: {error}", visit.run);
                        }
                    }
                }
            });
        }
    }
    counts
}

#[test]
fn every_kind_of_goal_is_shown_just_where_the_definition_says() {
    let counts = compare_all(family::programs(), 1_000);
    for kind in ["forbid", "deadlock", "exists", "always", "assertion"] {
        for is_shown in [true, false] {
            assert!(counts.get(&(kind, is_shown)).is_some_and(|&count| count > 20), "{kind} {is_shown}: {counts:?}");
        }
    }
}

#[test]
fn goals_of_random_programs_are_shown_just_where_the_definition_says() {
    let configs = [Config::acyclic(), Config::locking(), Config::crowded(), Config::wild_data()];
    let counts = compare_all((0..80).map(|seed| random::program(seed, &configs[seed as usize % 4])), 60);
    assert!(counts.values().sum::<usize>() > 5_000, "{counts:?}");
}

/// Where what can still happen is lost, and only there, it is shown, with as many states as can follow.
#[test]
fn liveness_is_lost_just_where_the_definition_says() {
    let mut counts: BTreeMap<(&'static str, bool), usize> = BTreeMap::new();
    let configs = [Config::cyclic(), Config::locking(), Config::acyclic()];
    for seed in 0..90_u64 {
        let mut program = random::program(seed, &configs[seed as usize % 3]);
        let mut rng = weir_testkit::Rng::new(seed);
        let conditions: Vec<StateExpr> = (0..2).map(|_| random::condition(&program, &mut rng)).collect();
        let live = conditions.into_iter().map(PropertyKind::Live);
        let kinds = live.chain([PropertyKind::ForbidStuck]);
        program.properties = kinds.map(|kind| Property { kind, span: weir_ir::Span::default() }).collect();
        for model in BOTH {
            walk(&program, model, 40, |visit| {
                let Some(lost) = visit.view.lost(&program, reference_model(model), 400) else { return };
                let replay = crate::replay(&program, &visit.run).expect("a run of the reference");
                for (goal, expected) in goals(&program).into_iter().take(3) {
                    let is_lost = lost.contains(&expected);
                    *counts.entry(name(&program, goal, is_lost)).or_default() += 1;
                    let found = check_goal(&program, &replay, goal);
                    assert_eq!(found.is_ok(), is_lost, "{goal:?} after {:?}: {found:?}", visit.run);
                    assert!(found.is_err() || found.is_ok_and(|found| found.is_some_and(|all| !all.is_approximate)));
                }
            });
        }
    }
    for kind in ["stuck", "live"] {
        for is_lost in [true, false] {
            assert!(counts.get(&(kind, is_lost)).is_some_and(|&count| count > 200), "{kind} {is_lost}: {counts:?}");
        }
    }
}

#[test]
fn a_run_is_not_robust_only_once_it_is_drained_and_has_a_cycle() {
    let threads = vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(0, X)])];
    let claim = (program(threads), Goal::NotRobust);
    let acyclic = "sequential consistency allows this run: happens-before has no cycle";
    assert_eq!(missing(&claim, Model::Tso, "0 0 1 1 0f 1f"), "");
    assert_eq!(
        missing(&claim, Model::Tso, "0 0 1 1 0f"),
        "the last state is not drained: the buffer of P1 holds 1 store"
    );
    assert_eq!(
        missing(&claim, Model::Tso, "0 0 1 1 1f"),
        "the last state is not drained: the buffer of P0 holds 1 store"
    );
    assert_eq!(missing(&claim, Model::Tso, "0 0f 0 1 1f 1"), acyclic);
    assert_eq!(missing(&claim, Model::Sc, "0 1 0 1"), acyclic);
    assert_eq!(missing(&claim, Model::Tso, ""), acyclic);
}
