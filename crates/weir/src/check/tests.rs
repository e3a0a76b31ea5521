//! Whole checks.

use weir_ir::Source;

use super::*;

fn parsed(text: &str) -> Program {
    let source = Source::new("t", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

fn checked(text: &str, model: Model) -> Report {
    let options = Options { model, ..Options::default() };
    check(&parsed(text), &options, &Session::default()).expect("an answer")
}

fn judgements(report: &Report) -> Vec<&'static str> {
    report.properties.iter().map(|one| one.judgement.name()).collect()
}

#[test]
fn members_have_names_of_their_own() {
    let groups = FIRST_GROUPS.iter().chain(&GROUPS);
    let names: Vec<&str> = groups.flat_map(|group| group.members).map(|member| member.name()).collect();
    assert_eq!(names, ["dfs", "dual", "robust", "lazy", "set", "multiset", "coherence", "sc", "explicit", "dynamic"]);
}

#[test]
fn without_properties_there_is_no_answer() {
    let answer = check(&parsed("shared x; thread A { x = 1; }"), &Options::default(), &Session::default());
    let Err(Failure::Refused(why)) = answer else { panic!("{answer:?}") };
    assert_eq!(why.code, "no-property");
    assert!(why.help.iter().any(|help| help.contains("weir robust")), "{why:?}");
}

const MIXED: &str = "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; assert s >= 0; }
    forbid P at end && Q at end && P.r == 0 && Q.s == 0;
    exists P.r == 0 && Q.s == 0;
    exists P.r == 7;
    always x == 1 && y == 1;
    always P.r == 1;
    forbid deadlock;
    forbid x == 9;";

#[test]
fn every_property_has_its_verdict() {
    let tso = checked(MIXED, Model::Tso);
    assert_eq!(judgements(&tso), ["violated", "met", "not-met", "holds", "violated", "holds", "holds", "holds"]);
    assert!(tso.properties.iter().all(|one| one.member.is_some()));
    assert!(matches!(&tso.verdict, Verdict::Violated(Violation::Run(run)) if run.goal() == tso.properties[0].goal));
    let sc = checked(MIXED, Model::Sc);
    assert_eq!(judgements(&sc), ["holds", "not-met", "not-met", "holds", "violated", "holds", "holds", "holds"]);
    let Verdict::Violated(Violation::Run(run)) = &sc.verdict else { panic!("{:?}", sc.verdict) };
    assert_eq!((run.goal(), run.run().model), (sc.properties[4].goal, Model::Sc));
}

#[test]
fn the_first_failure_can_be_enough() {
    let options = Options { first_failure_only: true, ..Options::default() };
    let answer = check(&parsed(MIXED), &options, &Session::default()).expect("an answer");
    assert!(matches!(answer.verdict, Verdict::Violated(_)));
    assert!(answer.properties.iter().any(|one| one.judgement == Judgement::Unknown(Limit::Interrupted)));
    assert!(answer.attempts.iter().all(|attempt| attempt.round == 1));
}

/// One search decides all that holds.
#[test]
fn a_safe_program_takes_one_round() {
    let text = "shared x; thread P { x = 1; x = 2; } forbid x == 3; forbid x == 4; forbid x == 5; always x == 2; forbid x < 0;";
    let answer = checked(text, Model::Tso);
    assert_eq!(answer.verdict, Verdict::Holds);
    assert!(answer.attempts.iter().all(|attempt| attempt.round == 1));
    let winners = answer.attempts.iter().filter(|attempt| attempt.end == End::Answered).count();
    assert_eq!(winners, 1);
}

/// Where control flow rules out all attacks, nobody models buffers but the engine that may need fewer states with them.
#[test]
fn programs_that_are_robust_for_certain_are_searched_without_buffers() {
    let fenced = "shared x, y; thread P { x = 1; fence; let r = y; } thread Q { y = 1; fence; let s = x; }
        forbid P at end && Q at end && P.r == 0 && Q.s == 0;";
    let violated = fenced.replace("Q.s == 0", "Q.s == 1");
    for (text, expected) in [(fenced, "holds"), (&violated, "violated")] {
        let report = checked(text, Model::Tso);
        assert_eq!(judgements(&report), [expected]);
        let few = [Member::Engine(Engine::Dual), Member::Robust, Member::DepthFirst, Member::Dynamic];
        assert!(report.attempts.iter().all(|attempt| few.contains(&attempt.member)), "{:?}", report.attempts);
    }
    let is_ruled_out =
        |text: &str| crate::robust::is_ruled_out(&parsed(text), &Session::default()).expect("it is supported");
    assert!(is_ruled_out(fenced));
    assert!(!is_ruled_out(&fenced.replacen("fence", "skip", 1)), "one attack is left");
    let program = parsed(&format!("{fenced} forbid deadlock; forbid stuck;"));
    let follows = |&goal: &Goal| member::follows_from_robustness(&program, goal);
    assert_eq!(reach::all_goals(&program).iter().map(follows).collect::<Vec<_>>(), [true, false, false]);
}

/// Each thread computes cells of its own, which nobody else can tell beforehand. `explicit` visits 4^7 states.
#[test]
fn threads_that_never_meet_are_searched_in_few_states() {
    let thread = "thread P(i)[7] { let m, h; while m < 3 { m = m + 1; h = (3 * m + 9 * i) % 64;
        let r = cas(table[h], 0, i + 1); assert r; } }";
    for model in [Model::Sc, Model::Tso] {
        let report = checked(&format!("shared table[64]; {thread}"), model);
        assert_eq!((report.verdict, report.properties[0].member), (Verdict::Holds, Some(Member::Dynamic)), "{model:?}");
        assert!(report.statistics.states < 100, "{model:?}: {:?}", report.statistics);
    }
}

#[test]
fn the_worst_counts_and_a_run_comes_first() {
    let verdict = |text: &str| checked(text, Model::Tso).verdict;
    let program = "shared x; thread P { x = 1; } ";
    assert_eq!(verdict(&format!("{program} exists x == 1; forbid x == 2;")), Verdict::Holds);
    let not_met = verdict(&format!("{program} forbid x == 3; exists x == 2;"));
    assert_eq!(not_met, Verdict::Violated(Violation::NotMet(Goal::Property(weir_ir::PropertyId::new(1)))));
    let both = verdict(&format!("{program} exists x == 2; forbid x == 1;"));
    assert!(matches!(both, Verdict::Violated(Violation::Run(_))));
}

#[test]
fn limits_leave_what_is_not_decided_unknown() {
    let session = Session::default();
    session.stop();
    let answer = check(&parsed(MIXED), &Options::default(), &session).expect("an answer");
    assert_eq!(answer.verdict, Verdict::Unknown(Limit::Interrupted));
    assert!(answer.properties.iter().all(|one| one.judgement == Judgement::Unknown(Limit::Interrupted)));
    assert!(answer.coverage.is_none());
}

/// Buffers offer a shorter way than going without them. Nobody should think that fences help.
#[test]
fn violations_that_need_no_buffers_are_shown_without_them() {
    let thread = |name, store, load| {
        format!(
            "thread {name} {{ {store} = 1; let r = {load};
            if r != 0 {{ let i = 0; while i < 40 {{ i = i + 1; }} }} c: skip; }}"
        )
    };
    let (a, b) = (thread("A", "x", "y"), thread("B", "y", "x"));
    let text = format!("shared x, y; {a} {b} forbid A at c && B at c;");
    let answer = checked(&text, Model::Tso);
    let Judgement::Violated(run) = &answer.properties[0].judgement else { panic!("{:?}", answer.verdict) };
    assert_eq!((run.happens_before().cycle(), run.run().model), (None, Model::Tso));
    assert_eq!(answer.member(), Some(Member::Sc));
    // Within a limit; then what was found first is shown.
    let session = Session::default().with_bound(Bound::CheckSimplerStates, 3);
    let answer = check(&parsed(&text), &Options::default(), &session).expect("it can");
    let Judgement::Violated(run) = &answer.properties[0].judgement else { panic!("{:?}", answer.verdict) };
    assert!(run.happens_before().cycle().is_some());
}

/// Under SC, P can only wait for the lock that Q never gives back. Under TSO it can store, and what it stores can wait.
#[test]
fn a_deadlock_without_buffers_need_not_be_one_with_them() {
    let text = "shared x; thread P { x = 1; loop { skip; } } thread Q { lock; } forbid deadlock;";
    assert!(matches!(checked(text, Model::Sc).verdict, Verdict::Violated(_)));
    let answer = checked(text, Model::Tso);
    assert_eq!(answer.verdict, Verdict::Holds);
    let asked = |member| {
        let program = parsed(text);
        let goals = reach::all_goals(&program);
        let asking = member::Asking { member, model: Model::Tso, is_robust: false };
        member::attempt(&program, asking, &goals, &Session::default()).expect("it can")
    };
    for member in [Member::Sc, Member::Robust] {
        let attempted = asked(member);
        assert!(attempted.decided.is_empty() && attempted.end == End::Nothing, "{member:?}: {attempted:?}");
    }
    // Other goals are still looked for without buffers.
    let answer = checked(&text.replace("forbid deadlock", "forbid deadlock; forbid x == 1"), Model::Tso);
    assert_eq!(judgements(&answer), ["holds", "violated"]);
}

/// A thread waits forever while it holds the lock, so that a buffered store never gets to memory.
#[test]
fn deadlocks_with_locks_are_judged_under_the_model_that_was_asked_for() {
    let holder = "shared x, y; thread P { let r; lock; r = y; assume r == 1; unlock; }";
    for (other, sc, tso) in [
        ("thread Q { y = 1; }", true, true),
        ("thread Q { y = 1; fence; }", true, true),
        ("thread Q { y = 1; x = 1; }", true, true),
        ("thread Q { lock; y = 1; unlock; }", true, true),
        ("thread Q { y = 1; loop { skip; } }", true, false),
        ("thread Q { loop { skip; } }", false, false),
        ("thread Q { let s = x; y = 1; loop { s = 1; } }", true, true),
    ] {
        let text = format!("{holder} {other} forbid deadlock;");
        assert_eq!(judgements(&checked(&text, Model::Sc)) == ["violated"], sc, "{other}");
        assert_eq!(judgements(&checked(&text, Model::Tso)) == ["violated"], tso, "{other}");
    }
}

/// Nobody can wait for a thread that never starts.
#[test]
fn live_about_a_thread_that_never_starts_is_vacuous() {
    let text = "shared x; thread T[0] { here: skip; } thread P { x = 1; } live T at here; live P at end;";
    let report = checked(text, Model::Tso);
    assert_eq!(judgements(&report), ["violated", "holds"]);
    let vacuous: Vec<_> = report.properties.iter().map(|one| one.vacuity.is_vacuous()).collect();
    assert_eq!(vacuous, [Some(true), Some(false)]);
}
