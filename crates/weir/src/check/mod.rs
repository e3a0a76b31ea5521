//! Does every property hold under TSO? A portfolio of engines; the first conclusive answer wins.
//!
//! Engines that find violations and engines that prove their absence run side by side in four groups, one worker per
//! group; within a group, cheap engines come first. The winner is decided by work done, not by time: the same program
//! gets the same answer from the same engine, however busy the machine is.
//!
//! Direction of error: none; an answer is that of one engine, with its evidence.

mod portfolio;

use std::time::Duration;

use weir_ir::{Diagnostic, EdgeId, Program, PropertyKind};
use weir_witness::{Action, Checked, Goal, Model, Run, Step};

use crate::reach::{self, Coverage, Engine, Report as EngineReport, Statistics};
use crate::semantics::refuse;
use crate::{Bound, Failure, Limit, Session, Verdict};
use portfolio::run_portfolio;

/// A member of the portfolio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Member {
    /// A search without store buffers, for violations that do not need them. It cannot prove anything about TSO.
    Sc,
    /// An engine of [`reach`](mod@crate::reach).
    Engine(Engine),
}

impl Member {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Engine(engine) => engine.name(),
        }
    }
}

/// The groups: each runs its members one after the other, until one is conclusive.
const GROUPS: [&[Member]; 4] = [
    &[Member::Engine(Engine::Dual)],
    &[Member::Engine(Engine::Lazy)],
    &[Member::Engine(Engine::Set), Member::Engine(Engine::Multiset), Member::Engine(Engine::Coherence)],
    &[Member::Sc, Member::Engine(Engine::Explicit)],
];

/// What to check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Which goals: all of the program's if empty.
    pub goals: Vec<Goal>,
}

/// What one member did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The member.
    pub member: Member,
    /// How it ended.
    pub end: End,
    /// Statistics of its search.
    pub statistics: Statistics,
}

/// How an attempt ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It gave the answer.
    Answered,
    /// It found no violation, but cannot prove that there is none.
    Nothing,
    /// A limit was reached. [`Limit::Interrupted`]: another member won, or the user interrupted.
    Stopped(Limit),
    /// It does not support something in the program.
    Refused(Box<Diagnostic>),
}

/// The answer, and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// `Holds`: no goal can be reached under TSO. `Violated`: this run reaches one.
    pub verdict: Verdict<Box<Checked>>,
    /// The winner, if any.
    pub winner: Option<Member>,
    /// What each member did, in the order of groups.
    pub attempts: Vec<Attempt>,
    /// Statistics of the winner, or of all members together.
    pub statistics: Statistics,
    /// What the winner executed of the program.
    pub coverage: Coverage,
    /// How the winner over-approximated buffers, if it did.
    pub buffering: Option<weir_witness::Buffering>,
}

/// Decides whether a goal can be reached under TSO.
///
/// # Errors
/// If no engine supports the program, or if an invariant of Weir is broken.
pub fn check(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    refuse::unsupported(program)?;
    let (finished, limit) =
        run_portfolio(&GROUPS, session, |member, session| attempt(program, member, &options.goals, session));
    let mut attempts = Vec::new();
    let mut conclusive: Vec<(bool, Member, EngineReport)> = Vec::new();
    for group in finished {
        for (member, result) in group.results {
            let report = match result {
                Ok(report) => report,
                Err(Failure::Stopped(limit)) => {
                    attempts.push(Attempt { member, end: End::Stopped(limit), statistics: Statistics::default() });
                    continue;
                }
                Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => {
                    let end = End::Refused(diagnostic);
                    attempts.push(Attempt { member, end, statistics: Statistics::default() });
                    continue;
                }
                Err(bug) => return Err(bug),
            };
            let (end, statistics) = (ended(member, &report), report.statistics);
            if matches!(end, End::Answered) {
                conclusive.push((group.has_won, member, report));
            }
            attempts.push(Attempt { member, end, statistics });
        }
    }
    agree(&conclusive)?;
    let won = conclusive.into_iter().find(|(has_won, ..)| *has_won).map(|(_, member, report)| (member, report));
    let answer = conclude(won, attempts, limit, session.since(began));
    session.spend(answer.statistics.states);
    Ok(answer)
}

/// Two conclusive engines must agree, even if only one of them wins.
fn agree(conclusive: &[(bool, Member, EngineReport)]) -> Result<(), Failure> {
    let holds = |report: &EngineReport| matches!(report.verdict, Verdict::Holds);
    match conclusive.windows(2).find(|pair| holds(&pair[0].2) != holds(&pair[1].2)) {
        None => Ok(()),
        Some(pair) => {
            let (one, other) = (pair[0].1.name(), pair[1].1.name());
            Err(Failure::Bug(format!("the engines `{one}` and `{other}` contradict each other")))
        }
    }
}

fn conclude(
    won: Option<(Member, EngineReport)>,
    attempts: Vec<Attempt>,
    limit: Option<Limit>,
    elapsed: Duration,
) -> Report {
    let Some((member, report)) = won else {
        let mut statistics = Statistics::default();
        attempts.iter().for_each(|attempt| statistics.add(&attempt.statistics));
        let verdict = Verdict::Unknown(limit.unwrap_or_else(|| reason(&attempts)));
        let statistics = Statistics { elapsed, ..statistics };
        return Report { verdict, winner: None, attempts, statistics, coverage: Coverage::default(), buffering: None };
    };
    let EngineReport { verdict, statistics, coverage, buffering, .. } = report;
    let statistics = Statistics { elapsed, ..statistics };
    Report { verdict, winner: Some(member), attempts, statistics, coverage, buffering }
}

/// Why no member was conclusive, if no limit ended the portfolio as a whole.
fn reason(attempts: &[Attempt]) -> Limit {
    let limits = |attempt: &Attempt| if let End::Stopped(limit) = attempt.end { Some(limit) } else { None };
    // An alarm is the weakest reason: a larger budget could have helped another member.
    let known = attempts.iter().filter_map(limits).min_by_key(|limit| (*limit == Limit::Alarm, *limit));
    known.unwrap_or(Limit::Alarm)
}

/// Runs one member.
fn attempt(program: &Program, member: Member, goals: &[Goal], session: &Session) -> Result<EngineReport, Failure> {
    let (model, engine) = match member {
        Member::Sc => (Model::Sc, Engine::Explicit),
        Member::Engine(engine) => (Model::Tso, engine),
    };
    let mut goals = if goals.is_empty() { reach::all_goals(program) } else { goals.to_vec() };
    let mut most_states = None;
    if member == Member::Sc {
        // With locks, a deadlock without store buffers need not be one with them: a store that waits for the lock can be
        // buffered.
        if program.uses_lock() {
            goals.retain(|goal| !is_deadlock(program, *goal));
        }
        if goals.is_empty() {
            return Ok(EngineReport::unknown(Limit::States));
        }
        most_states = Some(session.bound(Bound::CheckScStates));
    }
    let options = reach::Options { model, engine, goals, ..reach::Options::default() };
    let mut report = reach::reach(program, &options, &session.part(most_states))?;
    if member == Member::Sc
        && let Verdict::Violated(checked) = &report.verdict
    {
        report.verdict = Verdict::Violated(Box::new(with_buffers(program, checked)?));
    }
    Ok(report)
}

fn is_deadlock(program: &Program, goal: Goal) -> bool {
    matches!(goal, Goal::Property(property)
        if program.properties[property.index()].kind == PropertyKind::ForbidDeadlock)
}

/// The same run with store buffers, each store flushed immediately.
fn with_buffers(program: &Program, checked: &Checked) -> Result<Checked, Failure> {
    let stores = |step: &Step, edge: EdgeId| program.body(step.thread).edge(edge).instruction.is_store();
    let mut steps = Vec::new();
    for step in &checked.run().steps {
        steps.push(*step);
        if let Action::Execute { edge, .. } = step.action
            && stores(step, edge)
        {
            steps.push(Step { thread: step.thread, action: Action::Flush });
        }
    }
    Checked::new(program, Run { model: Model::Tso, steps }, checked.goal())
        .map_err(|error| Failure::Bug(format!("a run without buffers cannot be replayed with them: {error}")))
}

/// Whether this is conclusive.
fn ended(member: Member, report: &EngineReport) -> End {
    match (&report.verdict, member) {
        (Verdict::Violated(_), _) => End::Answered,
        // It has limits of its own.
        (Verdict::Holds | Verdict::Unknown(Limit::States), Member::Sc) => End::Nothing,
        (Verdict::Holds, Member::Engine(_)) => End::Answered,
        (Verdict::Unknown(limit), _) => End::Stopped(*limit),
    }
}

#[cfg(test)]
mod tests;
