//! How members handle several properties at once.

use weir_witness::Action;

use super::*;

fn parsed(text: &str) -> Program {
    let source = weir_ir::Source::new("t", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

fn asked(text: &str, member: Member) -> (Program, Attempted) {
    let program = parsed(text);
    let goals = reach::all_goals(&program);
    let attempted = attempt(&program, asking(member), &goals, &Session::default()).expect("an answer");
    (program, attempted)
}

fn asking(member: Member) -> Asking {
    Asking { member, model: Model::Tso, is_robust: false }
}

#[test]
fn only_some_ends_are_answers() {
    let (dual, lazy) = (asking(Member::Engine(Engine::Dual)), asking(Member::Engine(Engine::Lazy)));
    let (sc, robust) = (asking(Member::Sc), asking(Member::Robust));
    let stopped = |limit| Verdict::<()>::Unknown(limit);
    assert_eq!(ended(dual, &Verdict::<()>::Holds), End::Answered);
    assert_eq!(ended(sc, &Verdict::<()>::Holds), End::Nothing, "it proves nothing about TSO");
    assert_eq!(ended(sc, &stopped(Limit::States)), End::Nothing);
    assert_eq!(ended(sc, &stopped(Limit::Time)), End::Stopped(Limit::Time));
    assert_eq!(ended(robust, &stopped(Limit::States)), End::Nothing, "another member may need fewer states");
    let known = Asking { is_robust: true, ..robust };
    assert_eq!(ended(known, &stopped(Limit::States)), End::Stopped(Limit::States), "that limit is the user's");
    let hunting = Asking { is_robust: true, ..asking(Member::DepthFirst) };
    assert_eq!(ended(hunting, &Verdict::<()>::Holds), End::Nothing);
    assert_eq!(ended(asking(Member::DepthFirst), &Verdict::<()>::Holds), End::Answered);
    assert_eq!(ended(lazy, &stopped(Limit::States)), End::Stopped(Limit::States));
    assert_eq!(ended(lazy, &stopped(Limit::Alarm)), End::Stopped(Limit::Alarm));
}

#[test]
fn a_search_without_buffers_has_a_limit_of_its_own_and_its_runs_get_flushes() {
    let text = "shared x, y; thread A { x = 1; y = 2; let r = x; } thread B { loop { let r = y; x = r; x = 0; } }
        forbid A at end && x == 2;";
    let (program, attempted) = asked(text, Member::Sc);
    let [(_, Found::Reached(checked))] = &attempted.decided[..] else { panic!("{:?}", attempted.end) };
    let run = checked.run();
    assert_eq!(run.model, Model::Tso);
    let flushes = run.steps.iter().filter(|step| step.action == Action::Flush).count();
    let stores = run.steps.iter().filter(|step| match step.action {
        Action::Execute { edge, .. } => program.body(step.thread).edge(edge).instruction.is_store(),
        Action::Flush => false,
    });
    assert_eq!(flushes, stores.count());
    assert!(flushes >= 3);
}

/// A property that an engine does not support does not take the engine from the others.
#[test]
fn what_is_refused_is_set_aside() {
    let text = "shared x; thread A { lock; x = 1; unlock; } forbid x == 2; forbid deadlock; forbid x == 3;";
    for engine in [Engine::Dual, Engine::Lazy] {
        let (_, attempted) = asked(text, Member::Engine(engine));
        let goals: Vec<Goal> = attempted.decided.iter().map(|one| one.0).collect();
        assert_eq!(goals.len(), 2, "{engine:?}: {:?}", attempted.end);
        assert!(attempted.decided.iter().all(|one| one.1 == Found::Unreachable), "{engine:?}");
        assert_eq!(attempted.end, End::Answered);
        let (_, alone) = asked("shared x; thread A { lock; x = 1; unlock; } forbid deadlock;", Member::Engine(engine));
        assert!(matches!(alone.end, End::Refused(_)) && alone.decided.is_empty(), "{engine:?}");
    }
}

/// An over-approximation that raises an alarm about one property can still prove another.
#[test]
fn an_alarm_about_one_property_leaves_the_others() {
    // Buffers as sets lose the order of the two stores, so that the first property seems violated.
    let text = "shared x, y; thread A { x = 1; y = 1; } thread B { let r = y; let s = x; }
        forbid B at end && B.r == 1 && B.s == 0; forbid x == 2;";
    let (_, attempted) = asked(text, Member::Engine(Engine::Set));
    assert_eq!(attempted.decided, [(Goal::Property(weir_ir::PropertyId::new(1)), Found::Unreachable)]);
    let alone = text.replace(" forbid x == 2;", "");
    let (_, attempted) = asked(&alone, Member::Engine(Engine::Set));
    assert_eq!((attempted.end, attempted.decided.len()), (End::Stopped(Limit::Alarm), 0));
}

#[test]
fn a_run_decides_all_that_its_last_state_shows() {
    let text = "shared x; thread A { x = 1; } forbid x == 1; exists x == 1; always x == 0; forbid x == 2;";
    let (_, attempted) = asked(text, Member::Engine(Engine::Explicit));
    let goals: Vec<usize> = (attempted.decided.iter())
        .map(|(goal, found)| {
            let Goal::Property(property) = goal else { panic!("no assertions") };
            let Found::Reached(checked) = found else { panic!("it is reached") };
            assert_eq!(checked.goal(), *goal);
            property.index()
        })
        .collect();
    assert_eq!(goals, [0, 1, 2]);
}

/// A violation far from the start, among very many states.
#[test]
fn a_depth_first_search_comes_upon_violations_or_gives_up_early() {
    let thread = |number: u32| format!("thread P{number} {{ x{number} = 1; let r = x{}; }}", (number + 1) % 6);
    let threads: String = (0..6).map(thread).collect();
    let all = (0..6).map(|number| format!("P{number} at end && P{number}.r == 0")).collect::<Vec<_>>().join(" && ");
    let text = format!("shared x0, x1, x2, x3, x4, x5; {threads} forbid {all};");
    let (_, attempted) = asked(&text, Member::DepthFirst);
    assert!(matches!(&attempted.decided[..], [(_, Found::Reached(_))]), "{:?}", attempted.end);
    assert!(attempted.statistics.states < 5_000, "{:?}", attempted.statistics);
    let fenced = text.replace("= 1;", "= 1; fence;");
    let (_, attempted) = asked(&fenced, Member::DepthFirst);
    assert!(attempted.decided.is_empty() && attempted.end == End::Nothing, "{:?}", attempted.end);
    // What it has visited in full is proved.
    let (_, attempted) = asked("shared x; thread P { x = 1; } forbid x == 2;", Member::DepthFirst);
    assert_eq!(attempted.end, End::Answered);
}

#[test]
fn robust_programs_are_decided_without_buffers() {
    let text = "shared x, y; thread P { x = 1; fence; let r = y; } thread Q { y = 1; fence; let s = x; }
        forbid P at end && Q at end && P.r == 0 && Q.s == 0;";
    let (_, attempted) = asked(text, Member::Robust);
    assert!(matches!(&attempted.decided[..], [(_, Found::Unreachable)]), "{:?}", attempted.end);
    let (_, attempted) = asked(&text.replace("fence;", "skip;"), Member::Robust);
    assert!(attempted.decided.is_empty() && attempted.end == End::Nothing, "{:?}", attempted.end);
    // A violation that needs no buffers is shown with them.
    let (_, attempted) = asked(&text.replace("P.r == 0", "P.r == 1"), Member::Robust);
    let [(_, Found::Reached(checked))] = &attempted.decided[..] else { panic!("{:?}", attempted.end) };
    assert_eq!(checked.run().model, Model::Tso);
    let (_, attempted) = asked("shared x; thread P { x = 1; await x == 2; } forbid deadlock;", Member::Robust);
    assert!(attempted.decided.is_empty(), "robustness says nothing about deadlocks");
}

/// Fused steps and depth-first searches make runs longer than they need be.
#[test]
fn runs_are_shortest_where_that_is_cheap() {
    let text = "shared x; thread P { let a = 0; a = a + 1; x = 1; a = a + 1; a = a + 1; x = 2; }
        thread Q { let b = 0; b = b + 1; b = b + 1; } forbid x == 1;";
    let length = |member| {
        let (program, found) = asked(text, member);
        let shortened = shortened(&program, asking(member), found.clone(), &Session::default()).expect("a run");
        let length = |attempted: &Attempted| match &attempted.decided[..] {
            [(_, Found::Reached(checked))] => checked.run().steps.len(),
            other => panic!("{other:?}"),
        };
        assert!(shortened.statistics.states > found.statistics.states, "{member:?}: its work counts");
        (length(&found), length(&shortened))
    };
    // Two assignments, the store, its flush.
    for member in [Member::Engine(Engine::Explicit), Member::DepthFirst, Member::Sc] {
        assert_eq!(length(member).1, 4, "{member:?}");
    }
    assert!(length(Member::DepthFirst).0 > 4);
    let set = Member::Engine(Engine::Set);
    let (program, found) = asked(text, set);
    let same = shortened(&program, asking(set), found.clone(), &Session::default()).expect("a run");
    assert_eq!(same.decided, found.decided, "it searches otherwise");
}
