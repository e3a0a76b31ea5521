//! Portfolios of members whose work is known: the winner does not depend on which is faster.

use std::sync::Mutex;

use super::*;
use crate::reach::Engine;
use crate::session::Limits;

/// What a member does: so much work, then this.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    Proves(u64),
    /// Gives up by itself.
    Stops(u64, Limit),
    Refuses,
    Breaks(u64),
}

const DUAL: Member = Member::Engine(Engine::Dual);
const LAZY: Member = Member::Engine(Engine::Lazy);
const SET: Member = Member::Engine(Engine::Set);
const EXPLICIT: Member = Member::Engine(Engine::Explicit);

fn follow(script: Script, session: &Session) -> Result<Attempted, Failure> {
    let (work, end) = match script {
        Script::Proves(work) => (work, Ok(End::Answered)),
        Script::Stops(work, limit) => (work, Ok(End::Stopped(limit))),
        Script::Refuses => {
            (0, Err(Failure::Refused(Box::new(weir_ir::Diagnostic::error("no", "no", weir_ir::Span::default())))))
        }
        Script::Breaks(work) => (work, Err(Failure::Bug("broken".to_owned()))),
    };
    for _ in 0..work {
        if let Some(limit) = session.exceeded() {
            return Ok(Attempted::ended(End::Stopped(limit)));
        }
        thread::yield_now();
    }
    end.map(Attempted::ended)
}

/// The winner, and the result of each member.
fn run_scripts(groups: &[&[(Member, Script)]], session: &Session) -> (Option<usize>, Vec<Finished>, Option<Limit>) {
    scripted(groups, session, false)
}

fn scripted(
    groups: &[&[(Member, Script)]],
    session: &Session,
    in_turns: bool,
) -> (Option<usize>, Vec<Finished>, Option<Limit>) {
    let members: Vec<Vec<Member>> = groups.iter().map(|group| group.iter().map(|member| member.0).collect()).collect();
    let lists: Vec<Group<'_>> = members.iter().map(|members| Group { members, pace: 1 }).collect();
    let script =
        |member| groups.iter().flat_map(|group| group.iter()).find(|(other, _)| *other == member).map(|found| found.1);
    let attempt = |member: Member, session: &Session| follow(script(member).expect("known"), session);
    let Portfolio { groups, limit, .. } =
        if in_turns { take_turns(&lists, session, attempt) } else { side_by_side(&lists, session, attempt) };
    (groups.iter().position(|group| group.has_won), groups, limit)
}

/// The winner, which is the same with and without threads.
fn winner(groups: &[&[(Member, Script)]]) -> Option<usize> {
    let winner = scripted(groups, &Session::default(), false).0;
    assert_eq!(scripted(groups, &Session::default(), true).0, winner);
    winner
}

#[test]
fn limits_end_a_portfolio_without_threads() {
    let endless: [&[_]; 2] = [&[(DUAL, Script::Proves(u64::MAX))], &[(LAZY, Script::Refuses)]];
    let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let (winner, finished, limit) = scripted(&endless, &Session::new(time), true);
    assert_eq!((winner, finished.len(), limit), (None, 2, Some(Limit::Time)));
    let session = Session::default();
    session.stop();
    assert_eq!(scripted(&endless, &session, true).2, Some(Limit::Interrupted));
}

#[test]
fn the_least_work_wins() {
    use Script::{Breaks, Proves, Refuses, Stops};
    let far = 2_000;
    for _ in 0..10 {
        assert_eq!(winner(&[&[(DUAL, Proves(far))], &[(LAZY, Proves(50))]]), Some(1));
        assert_eq!(winner(&[&[(DUAL, Proves(50))], &[(LAZY, Proves(far))]]), Some(0));
        // Of equals the first group.
        assert_eq!(winner(&[&[(DUAL, Proves(30))], &[(LAZY, Proves(30))]]), Some(0));
        // What a group does before it is conclusive counts.
        let slow: &[_] = &[(SET, Stops(500, Limit::Alarm)), (EXPLICIT, Proves(10))];
        assert_eq!(winner(&[slow, &[(LAZY, Proves(400))]]), Some(1));
        assert_eq!(winner(&[slow, &[(LAZY, Proves(far))]]), Some(0));
        // A bug is never hidden by a later answer.
        assert_eq!(winner(&[&[(DUAL, Breaks(20))], &[(LAZY, Proves(far))]]), Some(0));
    }
    assert_eq!(winner(&[&[(DUAL, Refuses)], &[(LAZY, Stops(10, Limit::States))]]), None);
}

#[test]
fn a_group_goes_on_until_one_is_conclusive() {
    use Script::{Proves, Refuses, Stops};
    let group: &[_] = &[(SET, Refuses), (LAZY, Stops(5, Limit::Alarm)), (DUAL, Proves(5)), (EXPLICIT, Proves(1))];
    let (winner, finished, limit) = run_scripts(&[group], &Session::default());
    assert_eq!((winner, limit), (Some(0), None));
    let who: Vec<Member> = finished[0].results.iter().map(|ran| ran.member).collect();
    assert_eq!(who, [SET, LAZY, DUAL]);
    assert!(is_conclusive(&finished[0].results) && !is_conclusive(&finished[0].results[..2]) && !is_conclusive(&[]));
}

#[test]
fn members_that_lose_are_interrupted() {
    let groups: [&[_]; 2] = [&[(DUAL, Script::Proves(10))], &[(LAZY, Script::Proves(u64::MAX))]];
    let (_, finished, limit) = run_scripts(&groups, &Session::default());
    assert_eq!(limit, None);
    let Ok(attempted) = &finished[1].results[0].result else { panic!("it went on") };
    assert_eq!(attempted.end, End::Stopped(Limit::Interrupted));
}

#[test]
fn limits_of_the_portfolio_end_all() {
    let endless: [&[_]; 2] = [&[(DUAL, Script::Proves(u64::MAX))], &[(LAZY, Script::Proves(u64::MAX))]];
    let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let (winner, finished, limit) = run_scripts(&endless, &Session::new(time));
    assert_eq!(winner, None);
    // Whichever checks first notices, a member or the portfolio.
    let ends = finished.iter().map(|group| match &group.results[0].result {
        Ok(attempted) => attempted.end.clone(),
        Err(failure) => panic!("{failure}"),
    });
    let ends: Vec<_> = ends.collect();
    let by_portfolio = End::Stopped(Limit::Interrupted);
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|end| *end == End::Stopped(Limit::Time) || limit.is_some() && *end == by_portfolio));
    assert!(limit.is_none_or(|limit| limit == Limit::Time));
    let session = Session::default();
    session.stop();
    let (winner, _, limit) = run_scripts(&endless, &session);
    assert_eq!((winner, limit), (None, Some(Limit::Interrupted)));
}

#[test]
fn groups_share_memory_and_states_and_have_all_the_time() {
    let seen: Mutex<Vec<crate::session::Limits>> = Mutex::default();
    let limits = Limits { memory: Some(1000), states: Some(80), time: Some(Duration::from_secs(100)) };
    let groups = [&[DUAL], &[LAZY], &[SET], &[EXPLICIT]].map(|members| Group { members, pace: 1 });
    run_portfolio(&groups, &Session::new(limits), |_, session| {
        seen.lock().expect("not poisoned").push(session.limits());
        follow(Script::Stops(0, Limit::States), session)
    });
    let seen = seen.into_inner().expect("not poisoned");
    assert_eq!(seen, [Limits { memory: Some(250), states: Some(20), ..limits }; 4]);
}

/// Up to the work of the winner, every member does the same each time, whichever is faster: only what ends later
/// depends on the machine.
#[test]
fn what_ends_before_the_winner_is_the_same_every_time() {
    use Script::{Proves, Refuses, Stops};
    let other: &[_] = &[(SET, Stops(30, Limit::Alarm)), (LAZY, Refuses), (EXPLICIT, Stops(2_000, Limit::States))];
    let groups: [&[_]; 2] = [&[(DUAL, Proves(100))], other];
    let members: Vec<Vec<Member>> = groups.iter().map(|group| group.iter().map(|member| member.0).collect()).collect();
    let lists: Vec<Group<'_>> = members.iter().map(|members| Group { members, pace: 1 }).collect();
    let script = |member| groups.iter().flat_map(|group| group.iter()).find(|(one, _)| *one == member).map(|one| one.1);
    let attempt = |member: Member, session: &Session| follow(script(member).expect("known"), session);
    for round in 0..20 {
        let portfolio = if round % 2 == 0 {
            side_by_side(&lists, &Session::default(), attempt)
        } else {
            take_turns(&lists, &Session::default(), attempt)
        };
        assert_eq!(portfolio.work, Some(100));
        let seen: Vec<(Member, u64, bool)> = (portfolio.groups.iter().flat_map(|group| &group.results))
            .map(|ran| (ran.member, ran.began, ran.ended <= 100))
            .collect();
        assert_eq!(seen, [(DUAL, 0, true), (SET, 0, true), (LAZY, 31, true), (EXPLICIT, 32, false)]);
    }
}

/// From a moment on, the work of a group with a smaller share counts more. Without threads it is the same.
#[test]
fn a_smaller_share_counts_once_soon_is_over() {
    use Script::Proves;
    let far = crate::session::SOON + 100;
    for (pace, work, expected) in [(1, far, 0), (4, far, 1), (4, 20, 0)] {
        let scripts = [(DUAL, Proves(work)), (LAZY, Proves(far + 50))];
        let script = |member| scripts.iter().find(|(one, _)| *one == member).expect("known").1;
        let attempt = |member: Member, session: &Session| follow(script(member), session);
        let groups = [Group { members: &[DUAL], pace }, Group { members: &[LAZY], pace: 1 }];
        for portfolio in
            [side_by_side(&groups, &Session::default(), attempt), take_turns(&groups, &Session::default(), attempt)]
        {
            let winner = portfolio.groups.iter().position(|group| group.has_won);
            assert_eq!(winner, Some(expected), "pace {pace}, work {work}");
        }
    }
}

/// A group that is asked alone needs no thread, and leaves the states that it stored to be counted by the portfolio.
#[test]
fn a_single_group_runs_here() {
    let session = Session::new(Limits { states: Some(90), ..Limits::default() });
    let here = thread::current().id();
    let portfolio = run_portfolio(&[Group { members: &[DUAL, LAZY], pace: 1 }], &session, |member, session| {
        assert_eq!(thread::current().id(), here);
        assert_eq!(session.limits().states, Some(45));
        session.spend(7);
        follow(if member == DUAL { Script::Refuses } else { Script::Proves(3) }, session)
    });
    assert!(portfolio.groups[0].has_won && portfolio.limit.is_none());
    assert_eq!((portfolio.groups[0].results.len(), session.states()), (2, 0));
    session.stop();
    let stopped = run_portfolio(&[Group { members: &[DUAL], pace: 1 }], &session, |_, session| {
        follow(Script::Proves(3), session)
    });
    assert_eq!((stopped.groups[0].has_won, stopped.limit), (false, Some(Limit::Interrupted)));
}
