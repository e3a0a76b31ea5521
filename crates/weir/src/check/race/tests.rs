//! Races of contenders whose work is known: who wins does not depend on who is faster.

use std::sync::Mutex;

use super::*;
use crate::reach::Engine;
use crate::{Limits, Verdict};

/// What a contender does: so much work, then this.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    Proves(u64),
    /// Gives up by itself.
    Stops(u64, Limit),
    Refuses,
    Breaks(u64),
}

const DUAL: Contender = Contender::Engine(Engine::Dual);
const LAZY: Contender = Contender::Engine(Engine::Lazy);
const SET: Contender = Contender::Engine(Engine::Set);
const EXPLICIT: Contender = Contender::Engine(Engine::Explicit);

fn play(script: Script, session: &Session) -> Result<Report, Failure> {
    let (work, end) = match script {
        Script::Proves(work) => (work, Ok(Verdict::Holds)),
        Script::Stops(work, limit) => (work, Ok(Verdict::Unknown(limit))),
        Script::Refuses => {
            (0, Err(Failure::Refused(Box::new(weir_ir::Diagnostic::error("no", "no", weir_ir::Span::default())))))
        }
        Script::Breaks(work) => (work, Err(Failure::Bug("broken".to_owned()))),
    };
    for _ in 0..work {
        if let Some(limit) = session.exceeded() {
            return Ok(Report::unknown(limit));
        }
        thread::yield_now();
    }
    end.map(|verdict| Report { verdict, ..Report::unknown(Limit::Alarm) })
}

/// Who wins, and what each contender came to.
fn raced(teams: &[&[(Contender, Script)]], session: &Session) -> (Option<usize>, Vec<Finished>, Option<Limit>) {
    let members: Vec<Vec<Contender>> = teams.iter().map(|team| team.iter().map(|member| member.0).collect()).collect();
    let lists: Vec<&[Contender]> = members.iter().map(Vec::as_slice).collect();
    let script =
        |wanted| teams.iter().flat_map(|team| team.iter()).find(|(who, _)| *who == wanted).map(|found| found.1);
    let (finished, limit) =
        race(&lists, session, |contender, session| play(script(contender).expect("known"), session));
    (finished.iter().position(|team| team.has_won), finished, limit)
}

fn winner(teams: &[&[(Contender, Script)]]) -> Option<usize> {
    raced(teams, &Session::default()).0
}

#[test]
fn the_least_work_wins() {
    use Script::{Breaks, Proves, Refuses, Stops};
    let far = 20_000;
    for _ in 0..10 {
        assert_eq!(winner(&[&[(DUAL, Proves(far))], &[(LAZY, Proves(50))]]), Some(1));
        assert_eq!(winner(&[&[(DUAL, Proves(50))], &[(LAZY, Proves(far))]]), Some(0));
        // Of equals the first team.
        assert_eq!(winner(&[&[(DUAL, Proves(30))], &[(LAZY, Proves(30))]]), Some(0));
        // What a team does before it is sure counts.
        let slow: &[_] = &[(SET, Stops(500, Limit::Alarm)), (EXPLICIT, Proves(10))];
        assert_eq!(winner(&[slow, &[(LAZY, Proves(400))]]), Some(1));
        assert_eq!(winner(&[slow, &[(LAZY, Proves(far))]]), Some(0));
        // A bug is never outrun by a later answer.
        assert_eq!(winner(&[&[(DUAL, Breaks(20))], &[(LAZY, Proves(far))]]), Some(0));
    }
    assert_eq!(winner(&[&[(DUAL, Refuses)], &[(LAZY, Stops(10, Limit::States))]]), None);
}

#[test]
fn a_team_goes_on_until_one_is_sure() {
    use Script::{Proves, Refuses, Stops};
    let team: &[_] = &[(SET, Refuses), (LAZY, Stops(5, Limit::Alarm)), (DUAL, Proves(5)), (EXPLICIT, Proves(1))];
    let (winner, finished, limit) = raced(&[team], &Session::default());
    assert_eq!((winner, limit), (Some(0), None));
    let who: Vec<Contender> = finished[0].results.iter().map(|(who, _)| *who).collect();
    assert_eq!(who, [SET, LAZY, DUAL]);
    assert!(is_sure(&finished[0].results) && !is_sure(&finished[0].results[..2]) && !is_sure(&[]));
}

#[test]
fn who_is_outrun_is_told_so() {
    let teams: [&[_]; 2] = [&[(DUAL, Script::Proves(10))], &[(LAZY, Script::Proves(u64::MAX))]];
    let (_, finished, limit) = raced(&teams, &Session::default());
    assert_eq!(limit, None);
    let (_, Ok(report)) = &finished[1].results[0] else { panic!("it went on") };
    assert_eq!(report.verdict, Verdict::Unknown(Limit::Interrupted));
}

#[test]
fn limits_of_the_race_end_all() {
    let endless: [&[_]; 2] = [&[(DUAL, Script::Proves(u64::MAX))], &[(LAZY, Script::Proves(u64::MAX))]];
    let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let (winner, finished, limit) = raced(&endless, &Session::new(time));
    assert_eq!(winner, None);
    // Whoever looks first notices, a contender or the race.
    let ends = finished.iter().map(|team| match &team.results[0].1 {
        Ok(report) => report.verdict.clone(),
        Err(failure) => panic!("{failure}"),
    });
    let ends: Vec<_> = ends.collect();
    let by_race = Verdict::Unknown(Limit::Interrupted);
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|end| *end == Verdict::Unknown(Limit::Time) || limit.is_some() && *end == by_race));
    assert!(limit.is_none_or(|limit| limit == Limit::Time));
    let session = Session::default();
    session.stop();
    let (winner, _, limit) = raced(&endless, &session);
    assert_eq!((winner, limit), (None, Some(Limit::Interrupted)));
}

#[test]
fn teams_share_memory_and_states_and_have_all_the_time() {
    let seen: Mutex<Vec<crate::Limits>> = Mutex::default();
    let limits = Limits { memory: Some(1000), states: Some(80), time: Some(Duration::from_secs(100)) };
    race(&[&[DUAL], &[LAZY], &[SET], &[EXPLICIT]], &Session::new(limits), |_, session| {
        seen.lock().expect("not poisoned").push(session.limits());
        play(Script::Stops(0, Limit::States), session)
    });
    let seen = seen.into_inner().expect("not poisoned");
    assert_eq!(seen, [Limits { memory: Some(250), states: Some(20), ..limits }; 4]);
}
