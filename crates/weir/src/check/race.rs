//! Teams that race for an answer.
//!
//! Each team has a [clock](WorkClock) that counts work. Once a team is sure, the others may only go on until they have done as much
//! work; if one of them is sure before that, it wins. So the winner is the team that needs the least work, whoever the machine
//! happened to run faster.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::{Contender, End, ended};
use crate::reach::Report;
use crate::session::WorkClock;
use crate::{Failure, Limit, Session};

/// What a team did.
pub(super) struct Finished {
    pub(super) results: Vec<(Contender, Result<Report, Failure>)>,
    pub(super) has_won: bool,
}

/// How often limits that all share are looked at.
const PERIOD: Duration = Duration::from_millis(10);

/// Runs all teams until one has won, all have given up, or a limit is reached, which is told. Results are in the order of teams.
pub(super) fn race(
    teams: &[&[Contender]],
    session: &Session,
    attempt: impl Fn(Contender, &Session) -> Result<Report, Failure> + Sync,
) -> (Vec<Finished>, Option<Limit>) {
    let clocks: Vec<Arc<WorkClock>> = teams.iter().map(|_| Arc::default()).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let mut race = Race { clocks: &clocks, results: teams.iter().map(|_| None).collect(), best: None, limit: None };
    // Members of a team run one after the other, and none takes the states of those that come after it.
    let share = session.share_of_states(teams.iter().map(|team| team.len()).sum());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for (team, members) in teams.iter().enumerate() {
            let (sender, attempt) = (sender.clone(), &attempt);
            let (session, share) = (session.member(teams.len(), &clocks[team], &stop), share);
            scope.spawn(move || {
                // Nobody listens only if the race was given up.
                let _ = sender.send((team, run(members, (&session, share), attempt)));
            });
        }
        drop(sender);
        race.follow(&receiver, session, &stop);
    });
    let winner = race.best.map(|(_, team)| team);
    let finish = |(team, results): (usize, Option<_>)| Finished {
        results: results.unwrap_or_default(),
        has_won: winner == Some(team),
    };
    (race.results.into_iter().enumerate().map(finish).collect(), race.limit)
}

/// What each member of a team that ran came to.
type Results = Vec<(Contender, Result<Report, Failure>)>;

/// How a race stands.
struct Race<'a> {
    clocks: &'a [Arc<WorkClock>],
    results: Vec<Option<Results>>,
    /// The least work with which a team was sure, and which.
    best: Option<(u64, usize)>,
    limit: Option<Limit>,
}

impl Race<'_> {
    /// Takes results until all teams are home.
    fn follow(&mut self, home: &mpsc::Receiver<(usize, Results)>, session: &Session, stop: &AtomicBool) {
        loop {
            match home.recv_timeout(PERIOD) {
                Ok((team, results)) => self.arrive(team, results),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.limit = self.limit.or_else(|| session.exceeded());
                    if self.limit.is_some() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                // All threads have ended.
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn arrive(&mut self, team: usize, results: Results) {
        if is_sure(&results) {
            let best = self.best.into_iter().chain([(self.clocks[team].done(), team)]).min();
            if let Some((work, _)) = best {
                self.clocks.iter().for_each(|clock| clock.set_deadline(work));
            }
            self.best = best;
        }
        self.results[team] = Some(results);
    }
}

/// One member after the other, until one is sure.
fn run(
    members: &[Contender],
    (session, share): (&Session, Option<u64>),
    attempt: &(impl Fn(Contender, &Session) -> Result<Report, Failure> + Sync),
) -> Results {
    let mut results = Vec::new();
    for &contender in members {
        let result = attempt(contender, &session.part(share));
        results.push((contender, result));
        if is_sure(&results) || session.exceeded().is_some() {
            break;
        }
    }
    results
}

/// Whether the last result settles the question, or is a bug that nobody should outrun.
fn is_sure(results: &[(Contender, Result<Report, Failure>)]) -> bool {
    match results.last() {
        Some((contender, Ok(report))) => ended(*contender, report) == End::Answered,
        Some((_, Err(Failure::Bug(_)))) => true,
        Some((_, Err(Failure::Refused(_)))) | None => false,
    }
}

#[cfg(test)]
mod tests;
