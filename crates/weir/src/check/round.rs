//! One round: all members are asked about the open properties, until one of them has decided some.

use std::time::Duration;

use weir_ir::Program;
use weir_witness::{Buffering, CheckError, Checked, Goal, Model, Shortcoming};

use super::member::{self, Asking, Attempted, Found, attempt};
use super::portfolio::{Finished, Group, Portfolio, run_portfolio};
use super::{
    Attempt, End, FIRST_GROUPS, FIRST_ROBUST_GROUPS, FIRST_SC_GROUPS, GROUPS, LAST_GROUPS, Member, ROBUST_GROUPS,
    SC_GROUPS,
};
use crate::bounds::Bound;
use crate::reach::{Coverage, Statistics};
use crate::robust;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::fuse_waits::{FusedWaits, fuse_waits};
use crate::translate::slice::{Sliced, Slicer};
use crate::translate::value_classes::{ValueClasses, value_classes};
use crate::verdict::{Failure, Limit};

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The number of the round, from 1.
    pub(super) number: u32,
    pub(super) model: Model,
    pub(super) goals: &'a [Goal],
}

/// What came of it.
pub(super) struct Round {
    pub(super) attempts: Vec<Attempt>,
    /// What the winner decided; empty if nobody won.
    pub(super) decided: Vec<(Goal, Found)>,
    /// What the winner has shown for a slice, where in the whole program more states can follow than the checker
    /// visits.
    pub(super) unconfirmed: Vec<Goal>,
    pub(super) by: Winner,
    /// What the winner executed, if its search was complete.
    pub(super) coverage: Option<Coverage>,
    /// Of the winner, or of all members.
    pub(super) statistics: Statistics,
    /// Why the rest is not decided.
    pub(super) limit: Limit,
}

/// Who decided something.
#[derive(Clone, Copy, Default)]
pub(super) struct Winner {
    pub(super) member: Option<Member>,
    pub(super) buffering: Option<Buffering>,
    pub(super) elapsed: Duration,
}

/// Runs a round: on the part of the program that the goals depend on, with few values to choose from and fused waiting
/// loops.
pub(super) fn run(slicer: &Slicer<'_>, asked: Asked<'_>, session: &Session) -> Result<Round, Failure> {
    let part = Part::new(slicer, asked.goals);
    let mut round = run_on(part.program(), asked, session)?;
    let mut decided = Vec::new();
    for (goal, found) in round.decided {
        match found {
            Found::Unreachable => decided.push((goal, found)),
            Found::Reached(checked) => {
                let mapped = part.mapped_back(slicer.program(), goal, &checked)?;
                match mapped {
                    Some(checked) => decided.push((goal, Found::Reached(Box::new(checked)))),
                    None => round.unconfirmed.push(goal),
                }
            }
        }
    }
    round.decided = decided;
    round.coverage = round.coverage.map(|coverage| part.map_coverage(slicer, coverage));
    Ok(round)
}

/// A run to the goal that needs no store buffers, if a search for one finds it.
pub(super) fn without_buffers(
    slicer: &Slicer<'_>,
    goal: Goal,
    session: &Session,
) -> Result<Option<Box<Checked>>, Failure> {
    let part = Part::new(slicer, &[goal]);
    match member::without_buffers(part.program(), goal, session) {
        Ok(Some(checked)) => Ok(part.mapped_back(slicer.program(), goal, &checked)?.map(Box::new)),
        Ok(None) | Err(Failure::Stopped(_) | Failure::Refused(_) | Failure::TooLarge(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What is left of a program for some goals.
struct Part {
    sliced: Sliced,
    /// With fewer values to choose from. Its runs are runs of the slice.
    classes: Option<ValueClasses>,
    fused: Option<FusedWaits>,
}

impl Part {
    fn new(slicer: &Slicer<'_>, goals: &[Goal]) -> Self {
        let sliced = slicer.slice(goals);
        let classes = value_classes(sliced.program(), slicer.ranges());
        let fused = fuse_waits(classes.as_ref().map_or(sliced.program(), Translation::program), goals);
        Self { sliced, classes, fused }
    }

    fn program(&self) -> &Program {
        let classes = || self.classes.as_ref().map_or(self.sliced.program(), Translation::program);
        self.fused.as_ref().map_or_else(classes, Translation::program)
    }

    /// The run of the whole program. None if more states can follow it there than the checker visits.
    fn mapped_back(&self, program: &Program, goal: Goal, checked: &Checked) -> Result<Option<Checked>, Failure> {
        let fused = self.fused.as_ref().map(|fused| fused.map_back(self.sliced.program(), checked.run()));
        let run = self.sliced.map_back(program, fused.as_ref().unwrap_or(checked.run()));
        match Checked::new(program, run, goal) {
            Ok(checked) => Ok(Some(checked)),
            Err(CheckError::Goal(error)) if error.shortcoming == Shortcoming::TooManyFollow => Ok(None),
            Err(error) => Err(Failure::Bug(format!("a run of a slice cannot be replayed in the program: {error}"))),
        }
    }

    fn map_coverage(&self, slicer: &Slicer<'_>, mut seen: Coverage) -> Coverage {
        if let Some(fused) = &self.fused {
            seen = fused.map_coverage(self.sliced.program(), seen);
        }
        slicer.map_coverage(&self.sliced, seen)
    }
}

/// The stage of the members that search within a bound. Why those before it gave up says more than why these do.
const BOUNDED_STAGE: usize = 2;

fn run_on(program: &Program, asked: Asked<'_>, session: &Session) -> Result<Round, Failure> {
    let is_robust = is_known_to_be_robust(program, asked, session)?;
    let stages: &[&[Group<'_>]] = match asked.model {
        Model::Sc => &[&FIRST_SC_GROUPS, &SC_GROUPS],
        Model::Tso if is_robust => &[&FIRST_ROBUST_GROUPS, &ROBUST_GROUPS, &LAST_GROUPS],
        Model::Tso => &[&FIRST_GROUPS, &GROUPS, &LAST_GROUPS],
    };
    let asking = |member| Asking { member, model: asked.model, is_robust };
    let mut collected = Collected::default();
    let (mut limit, mut because) = (None, None);
    for (number, groups) in stages.iter().enumerate() {
        let left = session.states_left().saturating_sub(collected.states());
        if number == BOUNDED_STAGE {
            because = Some(reason(&collected.attempts));
        }
        if left == 0 {
            because = because.or(Some(Limit::States));
            break;
        }
        // Under a tight limit the states of the first stage would be missing in the next.
        let few = session.bound(Bound::CheckDepthFirstStates).min(left / 8);
        let part = if number == 0 { few } else { left };
        let attempt = |member, session: &Session| attempt(program, asking(member), asked.goals, session);
        let portfolio = run_portfolio(groups, &session.part(Some(part)), attempt);
        limit = portfolio.limit;
        collected.add(asked.number, portfolio)?;
        if collected.won.is_some() || limit.is_some() || session.exceeded().is_some() {
            break;
        }
    }
    let left = session.states_left().saturating_sub(collected.states());
    let Collected { attempts, mut conclusive, won } = collected;
    agree(&conclusive)?;
    let won = match won.map(|at| conclusive.swap_remove(at)) {
        Some((member, won)) => {
            Some((member, member::shortened(program, asking(member), won, &session.part(Some(left)))?))
        }
        None => None,
    };
    let round = conclude(won, attempts, limit.or(because));
    session.spend(round.statistics.states);
    Ok(round)
}

/// Whether it is clear without any search that store buffers make no difference to the goals.
fn is_known_to_be_robust(program: &Program, asked: Asked<'_>, session: &Session) -> Result<bool, Failure> {
    if asked.model == Model::Sc || !asked.goals.iter().all(|&goal| member::follows_from_robustness(program, goal)) {
        return Ok(false);
    }
    match robust::is_ruled_out(program, session) {
        Err(Failure::Stopped(_) | Failure::Refused(_) | Failure::TooLarge(_)) => Ok(false),
        answer => answer,
    }
}

/// What the members did.
#[derive(Default)]
struct Collected {
    attempts: Vec<Attempt>,
    conclusive: Vec<(Member, Attempted)>,
    /// Which of these won.
    won: Option<usize>,
}

impl Collected {
    fn add(&mut self, number: u32, Portfolio { groups, work, .. }: Portfolio) -> Result<(), Failure> {
        for Finished { results, has_won } in groups {
            for ran in results {
                let attempted = settled(ran.result)?;
                // What a member did beyond the work of the winner depends on the speed of the machine.
                let is_overtaken = |at: u64| work.is_some_and(|work| at > work);
                let is_answer = attempted.end == End::Answered;
                if !is_overtaken(ran.began) {
                    let loses = is_overtaken(ran.ended) || is_answer && !has_won;
                    let (end, statistics) = if loses {
                        (End::Overtaken, Statistics::default())
                    } else {
                        (attempted.end.clone(), attempted.statistics)
                    };
                    self.note(Attempt { round: number, member: ran.member, end, statistics });
                }
                if is_answer {
                    self.won = if has_won { Some(self.conclusive.len()) } else { self.won };
                    self.conclusive.push((ran.member, attempted));
                }
            }
        }
        Ok(())
    }

    /// A member that was asked before, about few states, has made one attempt in all.
    fn note(&mut self, mut attempt: Attempt) {
        if let Some(before) = self.attempts.iter().position(|before| before.member == attempt.member) {
            attempt.statistics.add(&self.attempts.remove(before).statistics);
        }
        self.attempts.push(attempt);
    }

    /// How many states the searches stored.
    fn states(&self) -> u64 {
        self.attempts.iter().map(|attempt| attempt.statistics.states).sum()
    }
}

/// A failure that only ends the attempt is one way for it to end.
fn settled(result: Result<Attempted, Failure>) -> Result<Attempted, Failure> {
    match result {
        Err(Failure::Stopped(limit)) => Ok(Attempted::ended(End::Stopped(limit))),
        Err(Failure::Refused(why) | Failure::TooLarge(why)) => Ok(Attempted::ended(End::Refused(why))),
        result => result,
    }
}

/// Two members must agree on every goal that both have decided, even if only one of them wins.
fn agree(conclusive: &[(Member, Attempted)]) -> Result<(), Failure> {
    for (at, (one, left)) in conclusive.iter().enumerate() {
        for (other, right) in &conclusive[at + 1..] {
            let contradicts = |(goal, found): &(Goal, Found)| {
                right.decided.iter().any(|(same, else_found)| {
                    same == goal && matches!(found, Found::Unreachable) != matches!(else_found, Found::Unreachable)
                })
            };
            if left.decided.iter().any(contradicts) {
                let (one, other) = (one.name(), other.name());
                return Err(Failure::Bug(format!("the engines `{one}` and `{other}` contradict each other")));
            }
        }
    }
    Ok(())
}

fn conclude(won: Option<(Member, Attempted)>, attempts: Vec<Attempt>, limit: Option<Limit>) -> Round {
    let limit = limit.unwrap_or_else(|| reason(&attempts));
    let Some((member, Attempted { decided, statistics, coverage, buffering, .. })) = won else {
        let mut statistics = Statistics::default();
        attempts.iter().for_each(|attempt| statistics.add(&attempt.statistics));
        return Round {
            attempts,
            decided: Vec::new(),
            unconfirmed: Vec::new(),
            by: Winner::default(),
            coverage: None,
            statistics,
            limit,
        };
    };
    let by = Winner { member: Some(member), buffering, elapsed: statistics.elapsed };
    let is_complete = decided.iter().any(|(_, found)| *found == Found::Unreachable);
    Round {
        attempts,
        decided,
        unconfirmed: Vec::new(),
        by,
        coverage: is_complete.then_some(coverage),
        statistics,
        limit,
    }
}

/// Why no member was conclusive, if no limit ended the portfolio as a whole.
fn reason(attempts: &[Attempt]) -> Limit {
    let limits = |attempt: &Attempt| if let End::Stopped(limit) = attempt.end { Some(limit) } else { None };
    // An alarm is the weakest reason: a larger budget could have helped another member.
    let known = attempts.iter().filter_map(limits).min_by_key(|limit| (*limit == Limit::Alarm, *limit));
    known.unwrap_or(Limit::Alarm)
}

#[cfg(test)]
mod tests;
