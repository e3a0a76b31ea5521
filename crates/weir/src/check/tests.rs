//! What becomes of the answers of single engines.

use super::*;

fn report(verdict: Verdict<Box<Checked>>) -> EngineReport {
    EngineReport { verdict, ..EngineReport::unknown(Limit::Alarm) }
}

const DUAL: Member = Member::Engine(Engine::Dual);
const LAZY: Member = Member::Engine(Engine::Lazy);

fn attempt_of(member: Member, end: End) -> Attempt {
    Attempt { member, end, statistics: Statistics { states: 5, depth: 3, ..Statistics::default() } }
}

#[test]
fn only_some_ends_are_answers() {
    let stopped = |limit| Verdict::Unknown(limit);
    assert_eq!(ended(DUAL, &report(Verdict::Holds)), End::Answered);
    assert_eq!(ended(Member::Sc, &report(Verdict::Holds)), End::Nothing, "it proves nothing about TSO");
    assert_eq!(ended(Member::Sc, &report(stopped(Limit::States))), End::Nothing);
    assert_eq!(ended(Member::Sc, &report(stopped(Limit::Time))), End::Stopped(Limit::Time));
    assert_eq!(ended(LAZY, &report(stopped(Limit::States))), End::Stopped(Limit::States));
    assert_eq!(ended(LAZY, &report(stopped(Limit::Alarm))), End::Stopped(Limit::Alarm));
}

fn broken() -> Box<Checked> {
    let text = "shared x; thread A { x = 1; } forbid x == 1;";
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let found = reach::reach(&program, &reach::Options::default(), &Session::default()).expect("an answer");
    let Verdict::Violated(checked) = found.verdict else { panic!("it is reachable") };
    checked
}

#[test]
fn contradictions_are_bugs_also_if_only_one_is_heard() {
    let holds = || (true, DUAL, report(Verdict::Holds));
    let other = |verdict| (false, LAZY, report(verdict));
    assert_eq!(agree(&[]), Ok(()));
    assert_eq!(agree(&[holds(), other(Verdict::Holds)]), Ok(()));
    let clash = agree(&[holds(), other(Verdict::Violated(broken()))]);
    let Err(Failure::Bug(what)) = clash else { panic!("{clash:?}") };
    assert!(what.contains("`dual` and `lazy`"), "{what}");
    let third = agree(&[holds(), holds(), other(Verdict::Violated(broken()))]);
    assert!(matches!(third, Err(Failure::Bug(_))));
    // Of several contradictions the first is told.
    let sc = (false, Member::Sc, report(Verdict::Holds));
    let Err(Failure::Bug(what)) = agree(&[holds(), other(Verdict::Violated(broken())), sc]) else { panic!("a bug") };
    assert!(what.contains("`dual` and `lazy`"), "{what}");
}

#[test]
fn why_nobody_knows() {
    let stopped = |limit| attempt_of(DUAL, End::Stopped(limit));
    let refused = || End::Refused(Box::new(Diagnostic::error("no", "no", weir_ir::Span::default())));
    assert_eq!(reason(&[]), Limit::Alarm);
    assert_eq!(reason(&[stopped(Limit::Alarm), attempt_of(LAZY, refused())]), Limit::Alarm);
    assert_eq!(reason(&[stopped(Limit::Alarm), stopped(Limit::Extensions)]), Limit::Extensions);
    assert_eq!(reason(&[stopped(Limit::Extensions), stopped(Limit::States), stopped(Limit::Alarm)]), Limit::States);
    assert_eq!(reason(&[attempt_of(Member::Sc, End::Nothing), stopped(Limit::States)]), Limit::States);
}

#[test]
fn who_wins_speaks_for_all_and_without_a_winner_all_is_summed_up() {
    let attempts = || vec![attempt_of(DUAL, End::Answered), attempt_of(LAZY, End::Stopped(Limit::States))];
    let second = Duration::from_secs(1);
    let mut own = report(Verdict::Holds);
    own.statistics = Statistics { states: 9, ..Statistics::default() };
    own.buffering = Some(weir_witness::Buffering::Coherence(2));
    let answer = conclude(Some((DUAL, own)), attempts(), None, second);
    assert_eq!((answer.winner, answer.verdict), (Some(DUAL), Verdict::Holds));
    assert_eq!((answer.statistics.states, answer.statistics.elapsed), (9, second));
    assert_eq!((answer.buffering, answer.attempts.len()), (Some(weir_witness::Buffering::Coherence(2)), 2));
    let answer = conclude(None, attempts(), None, second);
    assert_eq!((answer.winner, answer.verdict), (None, Verdict::Unknown(Limit::States)));
    assert_eq!((answer.statistics.states, answer.statistics.depth, answer.statistics.elapsed), (10, 3, second));
    let answer = conclude(None, attempts(), Some(Limit::Time), second);
    assert_eq!(answer.verdict, Verdict::Unknown(Limit::Time));
}

#[test]
fn a_search_without_buffers_has_a_limit_of_its_own_and_its_runs_get_flushes() {
    let text = "shared x, y; thread A { x = 1; y = 2; let r = x; } thread B { loop { let r = y; x = r; x = 0; } }
        forbid A at end && x == 2;";
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let report = attempt(&program, Member::Sc, &[], &Session::default()).expect("an answer");
    let Verdict::Violated(checked) = report.verdict else { panic!("{:?}", report.verdict) };
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

#[test]
fn members_have_names_of_their_own() {
    let names: Vec<&str> = GROUPS.iter().flat_map(|group| group.iter()).map(|member| member.name()).collect();
    assert_eq!(names, ["dual", "lazy", "set", "multiset", "coherence", "sc", "explicit"]);
}

/// Under SC, P can only wait for the lock that Q never gives back. Under TSO it can store, and what it stores can wait.
#[test]
fn a_deadlock_without_buffers_need_not_be_one_with_them() {
    let text = "shared x; thread P { x = 1; loop { skip; } } thread Q { lock; } forbid deadlock;";
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let under = |model| {
        let options = reach::Options { model, ..reach::Options::default() };
        reach::reach(&program, &options, &Session::default()).expect("an answer").verdict
    };
    assert!(matches!(under(Model::Sc), Verdict::Violated(_)));
    assert_eq!(under(Model::Tso), Verdict::Holds);
    let answer = check(&program, &Options::default(), &Session::default()).expect("an answer");
    assert_eq!((answer.verdict, answer.winner), (Verdict::Holds, Some(Member::Engine(Engine::Explicit))));
    let sc = answer.attempts.iter().find(|attempt| attempt.member == Member::Sc).expect("it takes part");
    assert_eq!(sc.end, End::Nothing);
    // Other goals are still looked for without buffers.
    let source = weir_ir::Source::new("t", text.replace("forbid deadlock", "forbid deadlock; forbid x == 1"));
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let report = attempt(&program, Member::Sc, &[], &Session::default()).expect("an answer");
    assert!(matches!(report.verdict, Verdict::Violated(_)));
}
