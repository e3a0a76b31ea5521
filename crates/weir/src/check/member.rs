//! One member of the portfolio: asks its engine about all properties that it supports at once.
//!
//! A property that the engine refuses, or for which it raises an alarm, is set aside, and the engine is asked about the
//! others again.

use weir_ir::{Diagnostic, EdgeId, Program, PropertyKind, Span};
use weir_witness::{Action, Buffering, CheckError, Checked, Goal, Model, Run, Step};

use super::{End, Member};
use crate::bounds::Bound;
use crate::reach::{self, Coverage, Engine, Report as EngineReport, Statistics};
use crate::robust::{Options as RobustOptions, by_attacks};
use crate::search::Search;
use crate::session::Session;
use crate::verdict::{Failure, Limit, Reduction, Verdict};

/// What was found out about a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// No run reaches it.
    Unreachable,
    /// This run reaches it.
    Reached(Box<Checked>),
}

/// What a member did.
#[derive(Clone, Debug)]
pub(super) struct Attempted {
    /// What it decided, in the order in which it was asked.
    pub(super) decided: Vec<(Goal, Found)>,
    pub(super) end: End,
    pub(super) statistics: Statistics,
    /// What its last search executed.
    pub(super) coverage: Coverage,
    pub(super) buffering: Option<Buffering>,
}

impl Attempted {
    /// Without any search.
    pub(super) fn ended(end: End) -> Self {
        let (statistics, coverage) = (Statistics::default(), Coverage::default());
        Self { decided: Vec::new(), end, statistics, coverage, buffering: None }
    }
}

/// Who is asked, and about what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub(super) member: Member,
    pub(super) model: Model,
    /// Whether the program is known to be robust.
    pub(super) is_robust: bool,
}

impl Asking {
    /// Which engine searches, and for which runs.
    fn search(self) -> Result<(Model, Engine), Failure> {
        match self.member {
            Member::Sc | Member::Robust => Ok((Model::Sc, Engine::Explicit)),
            Member::DepthFirst => Ok((if self.is_robust { Model::Sc } else { self.model }, Engine::Explicit)),
            Member::Dynamic => Ok((self.model, Engine::Explicit)),
            Member::Engine(engine) => Ok((self.model, engine)),
            Member::Cover | Member::Summaries => Err(Failure::Bug("the portfolio has no such member".into())),
        }
    }

    /// Which bound on states the member has of its own.
    fn bound(self) -> Option<Bound> {
        match self.member {
            Member::Sc => Some(Bound::CheckScStates),
            Member::DepthFirst => Some(Bound::CheckDepthFirstStates),
            // Where robustness is no question, its search is the one that is meant to answer.
            Member::Robust => (!self.is_robust).then_some(Bound::CheckRobustStates),
            Member::Engine(Engine::Age | Engine::Rounds) => Some(Bound::CheckBoundedStates),
            Member::Dynamic | Member::Engine(_) | Member::Cover | Member::Summaries => None,
        }
    }
}

/// Asks a member about these goals.
pub(super) fn attempt(
    program: &Program,
    asking: Asking,
    goals: &[Goal],
    session: &Session,
) -> Result<Attempted, Failure> {
    let Asking { member, is_robust, .. } = asking;
    let mut goals = goals.to_vec();
    goals.retain(|goal| may_ask(program, member, *goal));
    let session = session.part(asking.bound().map(|bound| session.bound(bound))).working(work_per_check(member));
    let mut statistics = Statistics::default();
    let mut end = End::Nothing;
    if member == Member::Robust && !is_robust && !goals.is_empty() {
        let report = by_attacks(program, &RobustOptions::default(), &session)?;
        statistics.add(&report.statistics);
        match report.verdict {
            Verdict::Holds => {}
            // It may be safe nevertheless.
            Verdict::Violated(_) | Verdict::Unknown(Limit::States) => {
                return Ok(Attempted { statistics, ..Attempted::ended(End::Nothing) });
            }
            Verdict::Unknown(limit) => return Ok(Attempted { statistics, ..Attempted::ended(End::Stopped(limit)) }),
        }
    }
    while !goals.is_empty() {
        let report = match ask(program, asking, &goals, &session) {
            Ok(report) => report,
            Err(Failure::Refused(why) | Failure::TooLarge(why)) => {
                let refused = refused_goal(program, &goals, &why);
                end = End::Refused(why);
                match refused {
                    Some(at) => drop(goals.remove(at)),
                    None => break,
                }
                continue;
            }
            Err(failure) => return Err(failure),
        };
        statistics.add(&report.statistics);
        if let (Verdict::Unknown(Limit::Alarm), Some(alarm)) = (&report.verdict, report.alarm) {
            let before = goals.len();
            goals.retain(|goal| *goal != alarm);
            if goals.len() < before {
                end = End::Stopped(Limit::Alarm);
                continue;
            }
        }
        return conclude(program, asking, goals, statistics, report);
    }
    Ok(Attempted { statistics, ..Attempted::ended(end) })
}

/// What the time between two checks of the limits counts as. Members keep pace by this, so it is also their share of the
/// processor: wherever an answer to one of the examples takes long, a search of states is the first to have it. Between
/// two checks of `explicit` there is twice the time of `dual`, three times that of the others; as counted here, the
/// other groups together cost about as much as it does.
fn work_per_check(member: Member) -> u64 {
    match member {
        Member::Engine(Engine::Dual) => 8,
        Member::DepthFirst | Member::Dynamic => 4,
        Member::Engine(Engine::Set | Engine::Multiset | Engine::Coherence) => 3,
        Member::Engine(Engine::Lazy) => 2,
        Member::Sc | Member::Robust | Member::Cover | Member::Summaries | Member::Engine(_) => 1,
    }
}

/// Whether what the member finds is an answer about the goal.
fn may_ask(program: &Program, member: Member, goal: Goal) -> bool {
    match member {
        Member::Sc => !may_need_no_buffers(program, goal),
        Member::Robust => follows_from_robustness(program, goal),
        // About these, it does what `explicit` does.
        Member::Dynamic => !goal.is_liveness(program),
        Member::DepthFirst | Member::Engine(_) | Member::Cover | Member::Summaries => true,
    }
}

/// Whether a robust program reaches the goal exactly if it does without store buffers. Robustness is about what is
/// reached, and not about what can no longer happen.
pub(crate) fn follows_from_robustness(program: &Program, goal: Goal) -> bool {
    !goal.is_liveness(program) && !is_deadlock(program, goal)
}

/// Whether a run may show the goal without store buffers and not with them. What can no longer happen without buffers
/// may still happen with them. And a store that waits for the lock without them can be buffered with them: a deadlock
/// under SC need not be one under TSO.
fn may_need_no_buffers(program: &Program, goal: Goal) -> bool {
    goal.is_liveness(program) || program.uses_lock() && is_deadlock(program, goal)
}

/// A run to the goal under TSO that needs no store buffers, if a search without them finds one.
pub(super) fn without_buffers(program: &Program, goal: Goal, session: &Session) -> Result<Option<Checked>, Failure> {
    let asking = Asking { member: Member::Sc, model: Model::Tso, is_robust: false };
    let mut report = ask(program, asking, &[goal], session)?;
    let Verdict::Violated(found) = report.verdict else { return Ok(None) };
    let shown = match with_buffers(program, &found) {
        Err(_) if may_need_no_buffers(program, goal) => return Ok(None),
        shown => shown.map_err(|error| not_replayed(&error))?,
    };
    // Another run might not be one with buffers.
    if may_need_no_buffers(program, goal) {
        return Ok(Some(shown));
    }
    let shortest = shortest(program, asking, &shown, (&mut report.statistics, session))?;
    Ok(Some(shortest.unwrap_or(shown)))
}

fn not_replayed(error: &CheckError) -> Failure {
    Failure::Bug(format!("a run without buffers cannot be replayed with them: {error}"))
}

/// The goal, by position, that a refusal is about.
fn refused_goal(program: &Program, goals: &[Goal], why: &Diagnostic) -> Option<usize> {
    let span = why.primary.span;
    let is_meant = |goal: &Goal| match goal {
        // Programs that were not read from text have no places to point at.
        _ if why.code.starts_with("deadlock-") => is_deadlock(program, *goal),
        _ if why.code.starts_with("liveness-") => goal.is_liveness(program),
        Goal::Property(property) => {
            span != Span::default() && program.properties.get(property.index()).is_some_and(|one| one.span == span)
        }
        Goal::Assertion(_) | Goal::NotRobust => false,
    };
    goals.iter().position(is_meant)
}

/// One question to the engine.
fn ask(program: &Program, asking: Asking, goals: &[Goal], session: &Session) -> Result<EngineReport, Failure> {
    let (model, engine) = asking.search()?;
    let search = if asking.member == Member::DepthFirst { Search::DepthFirst } else { Search::BreadthFirst };
    let reduction = if asking.member == Member::Dynamic { Reduction::Dynamic } else { reduction(model, engine) };
    let options =
        reach::Options { model, engine, search, reduction, goals: goals.to_vec(), ..reach::Options::default() };
    reach::reach_with_spawn(program, &options, session)
}

/// What was fastest when measured on the examples: without buffers, persistent sets leave out few states and cost time.
fn reduction(model: Model, engine: Engine) -> Reduction {
    match (engine, model) {
        (Engine::Explicit, Model::Tso) => Reduction::Persistent,
        (Engine::Explicit, Model::Sc) => Reduction::Local,
        _ => Reduction::None,
    }
}

/// The same with a shortest run, if looking for one takes much less than finding the first did: a reduced or depth-first
/// search finds longer ones. Only who has won does this.
pub(super) fn shortened(
    program: &Program,
    asking: Asking,
    attempted: Attempted,
    session: &Session,
) -> Result<Attempted, Failure> {
    let run = attempted.decided.iter().find_map(|(_, found)| match found {
        Found::Reached(checked) => Some(checked.as_ref()),
        Found::Unreachable => None,
    });
    let Some(run) = run else { return Ok(attempted) };
    let mut statistics = attempted.statistics;
    let Some(shortest) = shortest(program, asking, run, (&mut statistics, session))? else {
        return Ok(Attempted { statistics, ..attempted });
    };
    let goals: Vec<Goal> = attempted.decided.iter().map(|(goal, _)| *goal).collect();
    Ok(Attempted { decided: shown(program, &goals, shortest), statistics, ..attempted })
}

/// A run to the same goal with fewer steps, if a search without reductions finds one soon. Its statistics are added to
/// those of the search that found the run.
fn shortest(
    program: &Program,
    asking: Asking,
    found: &Checked,
    (statistics, session): (&mut Statistics, &Session),
) -> Result<Option<Checked>, Failure> {
    let (model, engine) = asking.search()?;
    if engine != Engine::Explicit {
        return Ok(None);
    }
    let states = (statistics.states / SHORTEST_SHARE + SHORTEST_STATES).min(session.states_left() / SHORTEST_OF_LEFT);
    let options = reach::Options { model, engine, goals: vec![found.goal()], ..reach::Options::default() };
    let report = match reach::reach_with_spawn(program, &options, &session.part(Some(states))) {
        Err(Failure::Stopped(_) | Failure::TooLarge(_)) => return Ok(None),
        report => report?,
    };
    statistics.add(&report.statistics);
    let Verdict::Violated(checked) = report.verdict else { return Ok(None) };
    let shorter = under(asking.model, program, *checked)?;
    Ok((shorter.run().steps.len() < found.run().steps.len()).then_some(shorter))
}

/// How many states are searched for a shortest run: this part of those of the first search, and some more.
const SHORTEST_SHARE: u64 = 4;
const SHORTEST_STATES: u64 = 1_000;
/// It takes no more than this part of the states that are left: other questions need them more.
const SHORTEST_OF_LEFT: u64 = 16;

/// The run under the model that was asked about.
fn under(model: Model, program: &Program, checked: Checked) -> Result<Checked, Failure> {
    if checked.run().model == model {
        return Ok(checked);
    }
    with_buffers(program, &checked).map_err(|error| not_replayed(&error))
}

fn conclude(
    program: &Program,
    asking: Asking,
    goals: Vec<Goal>,
    statistics: Statistics,
    report: EngineReport,
) -> Result<Attempted, Failure> {
    let end = ended(asking, &report.verdict);
    let decided = match report.verdict {
        Verdict::Violated(checked) => shown(program, &goals, under(asking.model, program, *checked)?),
        Verdict::Holds if end == End::Answered => goals.into_iter().map(|goal| (goal, Found::Unreachable)).collect(),
        Verdict::Holds | Verdict::Unknown(_) => Vec::new(),
    };
    Ok(Attempted { decided, end, statistics, coverage: report.coverage, buffering: report.buffering })
}

/// All of these goals that the last state of a run shows, not just the one for which it was found.
fn shown(program: &Program, goals: &[Goal], checked: Checked) -> Vec<(Goal, Found)> {
    // To show that something can no longer happen takes a search: not worth it if the run was found for something else.
    let is_cheap = |goal: Goal| checked.goal().is_liveness(program) || !goal.is_liveness(program);
    let again =
        |goal: Goal| if is_cheap(goal) { Checked::new(program, checked.run().clone(), goal).ok() } else { None };
    let others = |&goal: &Goal| if goal == checked.goal() { Some(checked.clone()) } else { again(goal) };
    goals.iter().filter_map(|goal| Some((*goal, Found::Reached(Box::new(others(goal)?))))).collect()
}

/// How a search of this member ends that ends like this.
pub(super) fn ended<E>(asking: Asking, verdict: &Verdict<E>) -> End {
    match (verdict, asking.member) {
        (Verdict::Violated(_), _) => End::Answered,
        (Verdict::Holds, Member::Sc | Member::Cover | Member::Summaries) => End::Nothing,
        // It goes without buffers, and `robust` is the member whose proofs say so.
        (Verdict::Holds, Member::DepthFirst) if asking.is_robust => End::Nothing,
        // They have limits of their own.
        (Verdict::Unknown(Limit::States), Member::Sc | Member::DepthFirst | Member::Robust)
            if asking.bound().is_some() =>
        {
            End::Nothing
        }
        (Verdict::Holds, Member::DepthFirst | Member::Dynamic | Member::Robust | Member::Engine(_)) => End::Answered,
        (Verdict::Unknown(limit), _) => End::Stopped(*limit),
    }
}

fn is_deadlock(program: &Program, goal: Goal) -> bool {
    matches!(goal, Goal::Property(property)
        if program.properties[property.index()].kind == PropertyKind::ForbidDeadlock)
}

/// The same run with store buffers, each store flushed immediately.
fn with_buffers(program: &Program, checked: &Checked) -> Result<Checked, CheckError> {
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
}

#[cfg(test)]
mod tests;
