//! What comes with an answer, and what is left of it under limits: what was executed, how many states it took, and that
//! no limits, however small, makes an answer wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use weir::reach::{Engine, Options, Report, Search, reach};
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::{EdgeId, Expr, Multiplicity, Program, Property, PropertyKind, Span, ThreadId};
use weir_testkit::reference::{Outcome, explore};
use weir_testkit::{Model, dump};

use crate::exactly::{LIMITS, Truth, judge, questioned};
use crate::families::FAMILIES;
use crate::ways::{Answer, Way, ask, reached};

/// Some programs of each family, without goals.
fn programs() -> impl Iterator<Item = (u64, Program)> {
    (0..).zip(FAMILIES.iter().flat_map(|family| family.programs().into_iter().step_by(4)).map(|(_, program)| program))
}

fn parsed(text: &str) -> Program {
    let source = weir_ir::Source::new("test.weir", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("it parses").program
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
        let mut outcomes = BTreeMap::new();
        for way in [Way::Lazy, Way::LazyFirst, Way::Dual, Way::Set, Way::Multiset, Way::Queue(1), Way::Queue(2)] {
            let model = way.explores().expect("one model each");
            let explored = || explore(&program, model, LIMITS.0).expect("the reference can");
            let naive = outcomes.entry(model).or_insert_with(explored);
            let Some(report) = report(&program, way).filter(|report| report.verdict == Verdict::Holds) else {
                continue;
            };
            if !naive.complete {
                continue;
            }
            let context = || format!("program {number}, {way:?}: {report:?}\n{}", dump(&program));
            let found: BTreeSet<_> = report.coverage.unexecuted.iter().copied().collect();
            let expected = unexecuted(&program, naive);
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
                // A delayed store waits for its range where no other thread sees it.
                Way::Lazy | Way::LazyFirst => assert!(blocked.is_subset(&naive.blocked), "{}", context()),
                _ => assert_eq!(blocked, naive.blocked, "{}", context()),
            }
            assert!(report.statistics.states > 0 || way == Way::Dual, "{}", context());
            compared += 1;
        }
    }
    assert!(compared > 700, "{compared} compared");
}

#[test]
fn threads_that_never_move_are_named() {
    let text = "shared x, y; thread P { await x == 5; y = 1; } thread Q { x = 1; y = 2; let r = y; }";
    let program = without_goals(&parsed(text));
    for way in [Way::Sc, Way::Tso, Way::Lazy, Way::LazyFirst, Way::Set, Way::Multiset, Way::Queue(1)] {
        let report = report(&program, way).expect("an answer");
        assert_eq!(report.coverage.immobile, [ThreadId(0)], "{way:?}");
    }
}

/// Right with any limits: what is not known is unknown.
#[test]
fn no_budget_makes_an_answer_wrong() {
    let (mut answered, mut stopped) = (0, 0);
    for (number, program) in programs() {
        let program = questioned(&program, number);
        let mut truth = Truth::new(&program);
        let goals = weir::reach::all_goals(&program);
        for (turn, &way) in Way::ALL.iter().enumerate() {
            let goal = goals[(number as usize + turn) % goals.len()];
            // Two of four for each.
            for states in [[1, 12], [3, 40]][(number as usize + turn / goals.len()) % 2] {
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
    assert!(answered > 1500 && stopped > 750, "{answered} answered, {stopped} stopped");
}

/// Without store buffers there is nothing to approximate.
#[test]
fn approximations_of_buffers_are_refused_under_sc() {
    let (_, program) = FAMILIES[0].programs().swap_remove(0);
    let program = questioned(&program, 0);
    for engine in [Engine::Set, Engine::Multiset, Engine::Coherence] {
        let options = Options { engine, model: weir_witness::Model::Sc, ..Options::default() };
        match reach(&program, &options, &Session::default()) {
            Err(Failure::Refused(refusal) | Failure::TooLarge(refusal)) => assert_eq!(refusal.code, "no-buffers"),
            other => panic!("{engine:?}: {other:?}"),
        }
    }
}

/// Runs are looked for in the order that was asked for, but by `multiset`, whose refinement rests on shortest runs.
#[test]
fn multisets_are_explored_breadth_first_whatever_is_asked_for() {
    let found = |program: &Program, engine, search| {
        let goals = vec![weir::reach::all_goals(program)[0]];
        let options = Options { engine, search, goals, ..Options::default() };
        let limits = Limits { states: Some(LIMITS.1), ..Limits::default() };
        let report = reach(program, &options, &Session::new(limits)).ok()?;
        Some((report.statistics.states, report.statistics.transitions, report.statistics.depth))
    };
    let both = |program: &Program, engine| {
        [Search::BreadthFirst, Search::DepthFirst].map(|search| found(program, engine, search))
    };
    let mut differ = 0;
    for (number, program) in programs() {
        let program = questioned(&program, number);
        let [breadth, depth] = both(&program, Engine::Multiset);
        assert_eq!(breadth, depth, "program {number}");
        let [breadth, depth] = both(&program, Engine::Set);
        differ += usize::from(breadth != depth);
    }
    assert!(differ > 20, "only {differ} differ by the order");
}

/// A goal that takes too long to list is refused, also if there is nothing to list in the end.
#[test]
fn goals_that_join_too_much_are_refused() {
    let cells: Vec<String> = (0..6).map(|cell| format!("c{cell}: 0..30")).collect();
    let writer = |cell: usize| format!("let v{cell}; v{cell} = any 0..30; c{cell} = v{cell};");
    let writers: String = (0..6).map(writer).collect();
    let sum = (0..6).map(|cell| format!("c{cell}")).collect::<Vec<_>>().join(" + ");
    let program = parsed(&format!("shared {}; thread P {{ {writers} }} forbid {sum} == 9999;", cells.join(", ")));
    let options = Options { engine: Engine::Dual, ..Options::default() };
    match reach(&program, &options, &Session::default()) {
        Err(Failure::Refused(refusal) | Failure::TooLarge(refusal)) => assert_eq!(refusal.code, "goal-too-large"),
        other => panic!("{other:?}"),
    }
}

/// The states of a certificate count towards the limits; towards memory also without a meter.
#[test]
fn certificates_keep_to_the_limits() {
    let program =
        parsed("shared x; thread P { let a; a = any 0..99; let b; b = any 0..99; x = a + b; } forbid x == 999;");
    let options = Options { engine: Engine::Set, ..Options::default() };
    let certify = |limits| {
        let buffering = weir_witness::Buffering::Coherence(0);
        weir::reach::certify(&program, &options, buffering, &Session::new(limits))
    };
    let memory = |memory| certify(Limits { memory: Some(memory), ..Limits::default() });
    let states = |states| certify(Limits { states: Some(states), ..Limits::default() });
    let all = memory(1 << 30).expect("enough memory").states.len() as u64;
    assert!(all > 10_000);
    assert_eq!(memory(1 << 16).err(), Some(Failure::Stopped(Limit::Memory)));
    assert_eq!(states(all).expect("enough states").states.len() as u64, all);
    assert_eq!(states(all - 1).err(), Some(Failure::Stopped(Limit::States)));
}

/// States that differ only in which of several equal threads is where are visited once: three threads at three places
/// each are ten.
#[test]
fn equal_threads_are_not_distinguished() {
    let program = parsed("shared x; thread P[3] { skip; skip; } forbid x == 9;");
    for (way, states) in [(Way::Tso, 10), (Way::Set, 10), (Way::Multiset, 10), (Way::Coherence, 10)] {
        assert_eq!(report(&program, way).expect("an answer").statistics.states, states, "{way:?}");
    }
}

/// What one of several equal threads did, all of them can do: also being blocked by a range.
#[test]
fn blocked_stores_of_equal_threads_are_reported_for_each() {
    // The first one stays behind, so that the blocked one is always the later one in the order of states.
    let text = "shared n, x: 0..3; thread P[2] { let t = fetch_add(n, 1); assume t == 1; x = 5; } forbid x == 9;";
    let program = parsed(text);
    for way in [Way::Tso, Way::Set, Way::Multiset, Way::Coherence] {
        let report = report(&program, way).expect("an answer");
        let threads: Vec<ThreadId> = report.coverage.out_of_range.iter().map(|(thread, _)| *thread).collect();
        assert_eq!(threads, [0, 1].map(ThreadId::new), "{way:?}");
    }
}

/// The limits is kept to, and the report says so.
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
                let options = weir::check::Options { goals: goals.clone(), ..Default::default() };
                reached(&weir::check::check(&program, &options, &session).expect("an answer"))
            } else {
                reach(&program, &options, &session).expect("an answer").verdict.map(|_| ())
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

/// How much work each engine does is part of what is tested: a mistake in what prunes a search changes no answer, only
/// this. Numbers of states and transitions, summed over the programs; when an engine gets better, they get smaller.
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
        (Way::Tso, 61_200, 186_887),
        (Way::Lazy, 29_413, 50_187),
        (Way::LazyFirst, 35_712, 62_220),
        (Way::Dual, 14_187, 28_088),
        (Way::Set, 24_896, 93_704),
        (Way::Multiset, 16_152, 40_767),
        (Way::Queue(1), 18_772, 50_105),
        (Way::Coherence, 17_275, 43_638),
    ];
    assert_eq!(found, pinned);
}
