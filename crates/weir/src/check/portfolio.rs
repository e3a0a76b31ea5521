//! Runs the portfolio: groups of members side by side, until one group is conclusive.
//!
//! Each group has a [clock](WorkClock) that counts work. Once a group is conclusive, the others may only continue until
//! they have done as much work; if one of them is conclusive before that, it wins. So the winner is the group that
//! needs the least work, whichever the machine happened to run faster. Groups that are ahead wait for the others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::member::Attempted;
use super::{End, Member};
use crate::session::{Session, WorkClock};
use crate::verdict::{Failure, Limit};

/// Members that run one after the other, until one is conclusive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    pub(super) members: &'a [Member],
    /// What a unit of its work counts as once answers that are found soon are ruled out (see [`WorkClock`]): the more,
    /// the smaller its share of the processor.
    pub(super) pace: u64,
}

/// What came of a portfolio.
pub(super) struct Portfolio {
    /// What each group did.
    pub(super) groups: Vec<Finished>,
    /// The work of the group that won, if one did.
    pub(super) work: Option<u64>,
    /// The limit that ended the portfolio as a whole, if one did.
    pub(super) limit: Option<Limit>,
}

/// What a group did.
pub(super) struct Finished {
    pub(super) results: Vec<Ran>,
    pub(super) has_won: bool,
}

/// What a member did, and the work of its group before and after it. As long as this is not more than the work of the
/// group that won, the member does the same in every run of the portfolio.
pub(super) struct Ran {
    pub(super) member: Member,
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) result: Result<Attempted, Failure>,
}

/// How often the limits that all groups share are checked.
const PERIOD: Duration = Duration::from_millis(10);

/// Runs all groups until one has won, all have given up, or a limit is reached. Results are in the order of groups.
/// Where there are no threads, the groups [take turns](take_turns), with the same winner. A single group needs neither.
pub(super) fn run_portfolio(
    groups: &[Group<'_>],
    session: &Session,
    attempt: impl Fn(Member, &Session) -> Result<Attempted, Failure> + Sync,
) -> Portfolio {
    match groups {
        [only] => alone(only.members, session, attempt),
        _ if cfg!(target_family = "wasm") => take_turns(groups, session, attempt),
        _ => side_by_side(groups, session, attempt),
    }
}

/// One group, on this thread and with all that is left of the session.
fn alone(
    members: &[Member],
    session: &Session,
    attempt: impl Fn(Member, &Session) -> Result<Attempted, Failure> + Sync,
) -> Portfolio {
    let share = session.share_of_states(members.len());
    let results = run(members, &WorkClock::default(), (&session.only_member(), share), &attempt);
    let has_won = is_conclusive(&results);
    let limit = session.exceeded().filter(|_| !has_won);
    Portfolio { groups: vec![Finished { results, has_won }], work: has_won.then_some(0), limit }
}

/// The work that each group may do in the first round without threads, and by how much it grows from round to round.
const FIRST_ALLOWANCE: u64 = 1 << 10;
const GROWTH: u64 = 4;

/// One group after the other, in rounds: each begins anew with an allowance of work that grows, until one is conclusive
/// or all have given up. The work of all rounds together is a constant factor more than that of the last.
fn take_turns(
    groups: &[Group<'_>],
    session: &Session,
    attempt: impl Fn(Member, &Session) -> Result<Attempted, Failure> + Sync,
) -> Portfolio {
    let share = session.share_of_states(groups.iter().map(|group| group.members.len()).sum());
    let stop = session.stop_handle();
    let mut allowance = FIRST_ALLOWANCE;
    loop {
        let (mut results, mut best, mut is_complete) = (Vec::new(), None, true);
        for (group, &Group { members, pace }) in groups.iter().enumerate() {
            let clock = Arc::new(WorkClock::alone(pace));
            clock.set_deadline(allowance);
            let found = run(members, &clock, (&session.member(groups.len(), &clock, &stop), share), &attempt);
            if is_conclusive(&found) {
                best = best.into_iter().chain([(clock.done(), group)]).min();
            } else {
                is_complete &= clock.done() <= allowance;
            }
            results.push(found);
        }
        let limit = session.exceeded();
        if best.is_some() || is_complete || limit.is_some() {
            let finish = |(group, results)| Finished { results, has_won: best.is_some_and(|(_, won)| won == group) };
            let limit = limit.filter(|_| best.is_none());
            let groups = results.into_iter().enumerate().map(finish).collect();
            return Portfolio { groups, work: best.map(|(work, _)| work), limit };
        }
        allowance = allowance.saturating_mul(GROWTH);
    }
}

/// All groups at once, each on a thread of its own.
fn side_by_side(
    groups: &[Group<'_>],
    session: &Session,
    attempt: impl Fn(Member, &Session) -> Result<Attempted, Failure> + Sync,
) -> Portfolio {
    let paces: Vec<u64> = groups.iter().map(|group| group.pace).collect();
    let clocks = WorkClock::side_by_side(&paces);
    let stop = Arc::new(AtomicBool::new(false));
    let mut running =
        Running { clocks: &clocks, results: groups.iter().map(|_| None).collect(), best: None, limit: None };
    // Members of a group run one after the other, and none takes the states of those that come after it.
    let share = session.share_of_states(groups.iter().map(|group| group.members.len()).sum());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for (group, &Group { members, .. }) in groups.iter().enumerate() {
            let (sender, attempt, clock) = (sender.clone(), &attempt, &clocks[group]);
            let (session, share) = (session.member(groups.len(), clock, &stop), share);
            let without = sender.clone();
            let work = move || {
                let ending = clock.ending();
                let results = run(members, clock, (&session, share), attempt);
                drop(ending);
                // The receiver is gone only if the portfolio was given up.
                let _ = sender.send((group, results));
            };
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                // No further thread can be started: the other groups have to do.
                clocks[group].end();
                let _ = without.send((group, Results::new()));
            }
        }
        drop(sender);
        running.collect(&receiver, session, &stop);
    });
    let winner = running.best.map(|(_, group)| group);
    let finish = |(group, results): (usize, Option<_>)| Finished {
        results: results.unwrap_or_default(),
        has_won: winner == Some(group),
    };
    let groups = running.results.into_iter().enumerate().map(finish).collect();
    Portfolio { groups, work: running.best.map(|(work, _)| work), limit: running.limit }
}

/// What each member of a group did that ran.
type Results = Vec<Ran>;

/// The state of a portfolio that is running.
struct Running<'a> {
    clocks: &'a [Arc<WorkClock>],
    results: Vec<Option<Results>>,
    /// The least work with which a group was conclusive, and which.
    best: Option<(u64, usize)>,
    limit: Option<Limit>,
}

impl Running<'_> {
    /// Collects results until all groups have ended.
    fn collect(&mut self, ended: &mpsc::Receiver<(usize, Results)>, session: &Session, stop: &AtomicBool) {
        loop {
            match ended.recv_timeout(PERIOD) {
                Ok((group, results)) => self.add(group, results),
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

    fn add(&mut self, group: usize, results: Results) {
        if is_conclusive(&results) {
            let best = self.best.into_iter().chain([(self.clocks[group].done(), group)]).min();
            if let Some((work, _)) = best {
                self.clocks.iter().for_each(|clock| clock.set_deadline(work));
            }
            self.best = best;
        }
        self.results[group] = Some(results);
    }
}

/// One member after the other, until one is conclusive.
fn run(
    members: &[Member],
    clock: &WorkClock,
    (session, share): (&Session, Option<u64>),
    attempt: &(impl Fn(Member, &Session) -> Result<Attempted, Failure> + Sync),
) -> Results {
    let mut results = Vec::new();
    for &member in members {
        let began = clock.done();
        let result = attempt(member, &session.part(share));
        results.push(Ran { member, began, ended: clock.done(), result });
        if is_conclusive(&results) || session.exceeded().is_some() {
            break;
        }
    }
    results
}

/// Whether the last result is conclusive, or is a bug that no other answer may hide.
fn is_conclusive(results: &[Ran]) -> bool {
    match results.last().map(|ran| &ran.result) {
        Some(Ok(attempted)) => attempted.end == End::Answered,
        Some(Err(Failure::Bug(_))) => true,
        Some(Err(Failure::Refused(_) | Failure::TooLarge(_) | Failure::Stopped(_))) | None => false,
    }
}

#[cfg(test)]
mod tests;
