//! What comes with an answer, and what is left of it under limits: what was executed, how many states it took, and that no
//! budget, however small, makes an answer wrong.

use std::collections::BTreeSet;
use std::time::Duration;

use weir::reach::{Report, reach};
use weir::{Limit, Limits, Session, Verdict};
use weir_ir::{EdgeId, Expr, Multiplicity, Program, Property, PropertyKind, Span, ThreadId};
use weir_testkit::reference::{Outcome, explore};
use weir_testkit::{Model, dump};

use crate::exactly::{LIMITS, Truth, judge, questioned};
use crate::families::FAMILIES;
use crate::ways::{Answer, Way, ask};

/// Some programs of each family, without goals.
fn programs() -> impl Iterator<Item = (u64, Program)> {
    (0..).zip(FAMILIES.iter().flat_map(|family| family.programs().into_iter().step_by(4)).map(|(_, program)| program))
}

/// With a goal that no state shows.
fn without_goals(program: &Program) -> Program {
    let kind = PropertyKind::Forbid(Expr::Const(0));
    Program { properties: vec![Property { kind, span: Span::default() }], ..program.clone() }
}

fn report(program: &Program, way: Way) -> Option<Report> {
    let limits = Limits { states: Some(LIMITS.1), ..Limits::default() };
    let goals = vec![weir::reach::all_goals(program)[0]];
    reach(program, &way.options(goals), &Session::new(limits)).ok()
}

fn unexecuted(program: &Program, naive: &Outcome) -> BTreeSet<(ThreadId, EdgeId)> {
    let runs = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
    let edges = |thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    program.thread_ids().filter(runs).flat_map(edges).filter(|edge| !naive.executed.contains(edge)).collect()
}

#[test]
fn what_was_executed_is_what_can_be() {
    let mut compared = 0;
    for (number, program) in programs() {
        let program = without_goals(&program);
        for way in [Way::Lazy, Way::LazyFirst, Way::Dual, Way::Set, Way::Multiset, Way::Queue(1), Way::Queue(2)] {
            let model = way.explores().expect("one model each");
            let naive = explore(&program, model, LIMITS.0).expect("the reference can");
            let Some(report) = report(&program, way).filter(|report| report.verdict == Verdict::Holds) else {
                continue;
            };
            if !naive.complete {
                continue;
            }
            let context = || format!("program {number}, {way:?}: {report:?}\n{}", dump(&program));
            let found: BTreeSet<_> = report.coverage.unexecuted.iter().copied().collect();
            let expected = unexecuted(&program, &naive);
            let blocked: BTreeSet<_> = report.coverage.out_of_range.iter().copied().collect();
            assert_eq!(report.coverage.approximate, way == Way::Dual || way.is_approximate(), "{}", context());
            if way == Way::Dual {
                // It looks at each thread by itself.
                assert!(found.is_subset(&expected), "{}", context());
            } else {
                assert_eq!(found, expected, "{}", context());
                let is_idle = |thread: &ThreadId| {
                    let own = program.body(*thread).edges().len();
                    own > 0 && expected.iter().filter(|edge| edge.0 == *thread).count() == own
                };
                let idle: Vec<ThreadId> = program.thread_ids().filter(is_idle).collect();
                assert_eq!(report.coverage.immobile, idle, "{}", context());
            }
            match way {
                Way::Dual => assert!(blocked.is_empty()),
                // A store that is kept back waits for its range where nobody sees it.
                Way::Lazy | Way::LazyFirst => assert!(blocked.is_subset(&naive.blocked), "{}", context()),
                _ => assert_eq!(blocked, naive.blocked, "{}", context()),
            }
            assert!(report.statistics.states > 0 || way == Way::Dual, "{}", context());
            compared += 1;
        }
    }
    assert!(compared > 700, "{compared} compared");
}

/// Right with any budget: what is not known is unknown.
#[test]
fn no_budget_makes_an_answer_wrong() {
    let (mut answered, mut stopped) = (0, 0);
    for (number, program) in programs() {
        let program = questioned(&program, number);
        let mut truth = Truth::new(&program);
        let goals = weir::reach::all_goals(&program);
        for (turn, &way) in Way::ALL.iter().enumerate() {
            let goal = goals[(number as usize + turn) % goals.len()];
            for states in [1, 3, 12, 40] {
                let answer = ask(&program, way, vec![goal], states);
                judge(&mut truth, way, goal, &answer)
                    .unwrap_or_else(|wrong| panic!("program {number}, {way:?} with {states} states: {wrong}"));
                match answer {
                    Answer::Stopped(limit) => {
                        assert!(matches!(limit, Limit::States | Limit::Extensions), "{way:?}: {limit:?}");
                        stopped += 1;
                    }
                    _ => answered += 1,
                }
            }
        }
    }
    assert!(answered > 3000 && stopped > 1500, "{answered} answered, {stopped} stopped");
}

/// The budget is kept to, and the report says so.
#[test]
fn no_more_states_are_stored_than_there_may_be() {
    for (number, program) in programs() {
        let program = without_goals(&program);
        for way in [Way::Tso, Way::Sc, Way::DepthFirst, Way::Set, Way::Coherence, Way::Lazy, Way::LazyFirst] {
            let goals = vec![weir::reach::all_goals(&program)[0]];
            let limits = Limits { states: Some(20), ..Limits::default() };
            let session = Session::new(limits);
            let Ok(report) = reach(&program, &way.options(goals), &session) else { continue };
            // An engine of several searches has the rest for each.
            let states = report.statistics.states;
            assert!(states <= 20, "program {number}, {way:?}: {states} states");
            assert!(states == 20 || report.verdict != Verdict::Unknown(Limit::States), "program {number}, {way:?}");
        }
    }
}

#[test]
fn time_and_interruption_end_every_engine() {
    let (_, program) = FAMILIES[0].programs().swap_remove(0);
    let program = questioned(&program, 0);
    for way in Way::ALL {
        let goals = vec![weir::reach::all_goals(&program)[0]];
        let no_time = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        let late = Session::new(no_time);
        let interrupted = Session::default();
        interrupted.stop();
        for (session, limit) in [(late, Limit::Time), (interrupted, Limit::Interrupted)] {
            let options = way.options(goals.clone());
            let verdict = if way == Way::Portfolio {
                let options = weir::check::Options { goals: goals.clone() };
                weir::check::check(&program, &options, &session).expect("an answer").verdict
            } else {
                reach(&program, &options, &session).expect("an answer").verdict
            };
            let is_right = match verdict {
                Verdict::Unknown(found) => found == limit,
                // So few configurations that nobody looked at the clock.
                Verdict::Holds => matches!(way, Way::Dual | Way::Portfolio),
                Verdict::Violated(_) => false,
            };
            assert!(is_right, "{way:?}: {verdict:?} where {limit:?} came first");
        }
    }
}

/// Which kind of buffers a proof needed: the first of those that are tried one after the other.
#[test]
fn the_buffers_that_are_reported_are_the_first_that_do() {
    let mut queues = 0;
    for (number, program) in programs() {
        let program = questioned(&program, number);
        let mut truth = Truth::new(&program);
        for goal in weir::reach::all_goals(&program) {
            let limits = Limits { states: Some(LIMITS.1), ..Limits::default() };
            let session = Session::new(limits);
            let Ok(report) = reach(&program, &Way::Coherence.options(vec![goal]), &session) else { continue };
            let (Verdict::Holds, Some(weir_witness::Buffering::Coherence(bound))) = (&report.verdict, report.buffering)
            else {
                continue;
            };
            let mut reaches = |model| truth.is_reachable(model, goal);
            assert!(bound > 0);
            for less in 1..bound {
                assert_ne!(reaches(Model::Coherence(less as usize)), Some(false), "program {number}");
            }
            assert_ne!(reaches(Model::Coherence(bound as usize)), Some(true), "program {number}");
            queues += 1;
        }
    }
    assert!(queues > 3, "{queues} proofs by queues");
}

/// How much work each engine does is part of what is tested: a mistake in what prunes a search changes no answer, only this.
/// Numbers of states and transitions, summed over the programs; when an engine gets better, they get smaller.
#[test]
fn what_it_takes_is_pinned() {
    let ways = [Way::Tso, Way::Lazy, Way::LazyFirst, Way::Dual, Way::Set, Way::Multiset, Way::Queue(1), Way::Coherence];
    let mut found = Vec::new();
    for way in ways {
        let (mut states, mut transitions) = (0, 0);
        for (number, program) in programs() {
            let program = questioned(&program, number);
            let Some(report) = report(&program, way) else { continue };
            states += report.statistics.states;
            transitions += report.statistics.transitions;
        }
        found.push((way, states, transitions));
    }
    let pinned: [(Way, u64, u64); 8] = [
        (Way::Tso, 58_025, 180_299),
        (Way::Lazy, 29_570, 48_222),
        (Way::LazyFirst, 36_920, 62_620),
        (Way::Dual, 9_144, 17_688),
        (Way::Set, 19_224, 76_172),
        (Way::Multiset, 12_571, 33_853),
        (Way::Queue(1), 15_003, 42_626),
        (Way::Coherence, 13_694, 36_724),
    ];
    assert_eq!(found, pinned);
}
