//! What becomes of the answers of single members.

use weir_ir::{Diagnostic, PropertyId, Span};
use weir_witness::Checked;

use super::*;
use crate::reach::{self, Engine};
use crate::session::Session;
use crate::verdict::Verdict;

const DUAL: Member = Member::Engine(Engine::Dual);
const LAZY: Member = Member::Engine(Engine::Lazy);

fn attempt_of(member: Member, end: End) -> Attempt {
    Attempt { round: 1, member, end, statistics: Statistics { states: 5, depth: 3, ..Statistics::default() } }
}

fn broken() -> Box<Checked> {
    let text = "shared x; thread A { x = 1; } forbid x == 1;";
    let source = weir_ir::Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let found = reach::reach(&program, &reach::Options::default(), &Session::default()).expect("an answer");
    let Verdict::Violated(checked) = found.verdict else { panic!("it is reachable") };
    checked
}

fn goal(number: usize) -> Goal {
    Goal::Property(PropertyId::new(number))
}

fn answered(decided: Vec<(Goal, Found)>) -> Attempted {
    Attempted { decided, ..Attempted::ended(End::Answered) }
}

#[test]
fn contradictions_are_bugs_also_if_only_one_is_heard() {
    let proves = |goals: &[usize]| answered(goals.iter().map(|&number| (goal(number), Found::Unreachable)).collect());
    let finds = |number| answered(vec![(goal(number), Found::Reached(broken()))]);
    assert_eq!(agree(&[]), Ok(()));
    assert_eq!(agree(&[(DUAL, proves(&[0, 1])), (LAZY, proves(&[1]))]), Ok(()));
    assert_eq!(agree(&[(DUAL, proves(&[0, 1])), (LAZY, finds(2))]), Ok(()), "another goal");
    for [left, right] in [[proves(&[0, 1]), finds(1)], [finds(1), proves(&[0, 1])]] {
        let clash = agree(&[(DUAL, left.clone()), (LAZY, right.clone())]);
        let Err(Failure::Bug(what)) = clash else { panic!("{clash:?}") };
        assert!(what.contains("`dual` and `lazy`"), "{what}");
        let third = agree(&[(DUAL, left), (Member::Sc, proves(&[])), (LAZY, right)]);
        assert!(matches!(third, Err(Failure::Bug(_))));
    }
}

#[test]
fn why_nobody_knows() {
    let stopped = |limit| attempt_of(DUAL, End::Stopped(limit));
    let refused = || End::Refused(Box::new(Diagnostic::error("no", "no", Span::default())));
    assert_eq!(reason(&[]), Limit::Alarm);
    assert_eq!(reason(&[stopped(Limit::Alarm), attempt_of(LAZY, refused())]), Limit::Alarm);
    assert_eq!(reason(&[stopped(Limit::Alarm), stopped(Limit::Extensions)]), Limit::Extensions);
    assert_eq!(reason(&[stopped(Limit::Extensions), stopped(Limit::States), stopped(Limit::Alarm)]), Limit::States);
    assert_eq!(reason(&[attempt_of(Member::Sc, End::Nothing), stopped(Limit::States)]), Limit::States);
}

#[test]
fn who_wins_speaks_for_all_and_without_a_winner_all_is_summed_up() {
    let attempts = || vec![attempt_of(DUAL, End::Answered), attempt_of(LAZY, End::Stopped(Limit::States))];
    let mut own = answered(vec![(goal(0), Found::Unreachable)]);
    own.statistics = Statistics { states: 9, ..Statistics::default() };
    own.buffering = Some(Buffering::Coherence(2));
    let round = conclude(Some((DUAL, own.clone())), attempts(), None);
    assert_eq!((round.by.member, round.by.buffering), (Some(DUAL), Some(Buffering::Coherence(2))));
    assert_eq!((round.statistics.states, round.attempts.len(), round.decided.len()), (9, 2, 1));
    assert!(round.coverage.is_some(), "a proof is a complete search");
    own.decided = vec![(goal(0), Found::Reached(broken()))];
    assert!(conclude(Some((DUAL, own)), attempts(), None).coverage.is_none());
    let round = conclude(None, attempts(), None);
    assert_eq!((round.by.member, round.limit), (None, Limit::States));
    assert_eq!((round.statistics.states, round.statistics.depth), (10, 3));
    let round = conclude(None, attempts(), Some(Limit::Time));
    assert_eq!(round.limit, Limit::Time);
}

#[test]
fn a_member_that_is_asked_twice_is_listed_once_with_all_it_did() {
    let mut collected = Collected::default();
    let stopped = attempt_of(DUAL, End::Stopped(Limit::States));
    [stopped.clone(), attempt_of(LAZY, End::Nothing), attempt_of(DUAL, End::Answered)]
        .into_iter()
        .for_each(|attempt| collected.note(attempt));
    let listed: Vec<_> = collected.attempts.iter().map(|attempt| (attempt.member, attempt.end.clone())).collect();
    assert_eq!(listed, [(LAZY, End::Nothing), (DUAL, End::Answered)]);
    assert_eq!(collected.attempts[1].statistics.states, 2 * stopped.statistics.states);
    assert_eq!(collected.states(), 3 * stopped.statistics.states);
}
