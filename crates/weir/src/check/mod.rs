//! Does every property hold? A portfolio of engines, and one verdict per property.
//!
//! A depth-first search that gives up early comes first: it answers most questions about small programs. Then engines
//! that find violations and engines that prove their absence run side by side in groups, one worker per group;
//! within a group, cheap engines come first. Each is asked about all open properties that it supports at once,
//! so that one search answers as many as it can. Once an engine has decided some of them, the next round asks about the
//! rest, until all are decided or no engine can decide another one. Who decides first is measured by work done, not by
//! time: the same program gets the same answers from the same engines, however busy the machine is.
//!
//! Direction of error: none; a verdict is that of one engine, with its evidence.

mod member;
mod portfolio;
mod property;
mod round;
mod vacuity;

use std::collections::{BTreeSet, VecDeque};

use weir_ir::{Diagnostic, Program, PropertyKind, Span};
use weir_witness::{Buffering, Goal, Model};

use crate::bounds::Bound;
use crate::reach::{self, Coverage, Engine, Statistics};
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::slice::{Growth, Slicer};
use crate::verdict::{Failure, Limit, Verdict};
pub(crate) use member::follows_from_robustness;
use portfolio::Group;
pub(crate) use property::worst;
pub use property::{Judgement, PropertyReport, Vacuity, Violation};
use round::{Asked, Round};

/// A member of the portfolio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Member {
    /// A search without store buffers, for violations that do not need them. It cannot prove anything about TSO.
    Sc,
    /// A depth-first search that gives up early: it may come upon a violation long before other engines do.
    DepthFirst,
    /// A search with [dynamic](crate::reach::Reduction::Dynamic) partial order reduction. Where threads hardly ever
    /// conflict, but only the values that they compute show this, it visits a handful of states.
    Dynamic,
    /// [Robustness](mod@crate::robust), and then a search without store buffers: a robust program is safe if it is safe
    /// without them.
    Robust,
    /// An engine of [`reach`](mod@crate::reach).
    Engine(Engine),
    /// Not asked by the portfolio: [coverability](mod@crate::parameterized), for arbitrarily many threads.
    Cover,
    /// Not asked by the portfolio: [procedure summaries](mod@crate::dynamic), for recursion of one thread.
    Summaries,
}

impl Member {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::DepthFirst => "dfs",
            Self::Dynamic => "dynamic",
            Self::Robust => "robust",
            Self::Engine(engine) => engine.name(),
            Self::Cover => "cover",
            Self::Summaries => "summaries",
        }
    }
}

const fn group(members: &'static [Member], pace: u64) -> Group<'static> {
    Group { members, pace }
}

/// Who is asked before all others, alone and about few states: many a question ends here before threads could have been
/// started.
const FIRST_GROUPS: [Group<'_>; 1] = [group(&[Member::DepthFirst], 1)];

/// The groups under TSO: each runs its members one after the other, until one has decided something. Wherever an answer
/// to one of the examples takes long, a search of states is the first to have it, or robustness and then a search without
/// store buffers: so these go on as fast as before once others have had their chance.
const GROUPS: [Group<'_>; 5] = [
    group(&[Member::Engine(Engine::Dual)], 4),
    group(&[Member::Robust, Member::Engine(Engine::Lazy)], 2),
    group(&[Member::Engine(Engine::Set), Member::Engine(Engine::Multiset), Member::Engine(Engine::Coherence)], 4),
    group(&[Member::Sc, Member::Engine(Engine::Explicit)], 1),
    group(&[Member::Dynamic], 8),
];

/// Who is asked first if the program is known to be robust before any search: runs without store buffers show all that
/// can be reached.
const FIRST_ROBUST_GROUPS: [Group<'_>; 1] = [group(&[Member::Robust], 1)];

/// The groups after that: a depth-first search may come upon a violation far from the start, and `dual` stores fewer
/// states of some programs even so.
const ROBUST_GROUPS: [Group<'_>; 3] = [
    group(&[Member::Robust], 1),
    group(&[Member::DepthFirst, Member::Engine(Engine::Dual)], 8),
    group(&[Member::Dynamic], 8),
];

/// The groups that are asked under TSO once all others have ended without an answer. Wherever both find a violation,
/// other members find it with fewer states; but these search long runs in which few stores wait, even if there are too
/// many states in all.
const LAST_GROUPS: [Group<'_>; 2] =
    [group(&[Member::Engine(Engine::Age)], 1), group(&[Member::Engine(Engine::Rounds)], 1)];

/// Who is asked first under SC, where engines that model buffers have nothing to add.
const FIRST_SC_GROUPS: [Group<'_>; 1] = [group(&[Member::Engine(Engine::Explicit)], 1)];

/// The groups under SC after that.
const SC_GROUPS: [Group<'_>; 2] = [group(&[Member::Engine(Engine::Explicit)], 1), group(&[Member::Dynamic], 8)];

/// What to check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The memory model.
    pub model: Model,
    /// Which goals: all of the program's if empty.
    pub goals: Vec<Goal>,
    /// Whether to end as soon as one property is known to fail. The others are then unknown, as
    /// [interrupted](Limit::Interrupted), unless the same search has decided them; [vacuity](Vacuity) is not examined.
    pub first_failure_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { model: Model::Tso, goals: Vec::new(), first_failure_only: false }
    }
}

/// What one member did in one round.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The round, from 1.
    pub round: u32,
    /// The member.
    pub member: Member,
    /// How it ended.
    pub end: End,
    /// Statistics of its searches, but for one in which it was [overtaken](End::Overtaken): what that did depends on the
    /// machine.
    pub statistics: Statistics,
}

/// How an attempt ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It decided properties.
    Answered,
    /// It found no violation, but cannot prove that there is none.
    Nothing,
    /// Another member decided something with less work.
    Overtaken,
    /// A limit was reached.
    Stopped(Limit),
    /// It does not support something in the program.
    Refused(Box<Diagnostic>),
}

/// The answer, and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The worst of the properties' verdicts. `Holds`: every property holds, and every `exists` is met.
    pub verdict: Verdict<Violation>,
    /// One entry per property, in the order of goals; at least one.
    pub properties: Vec<PropertyReport>,
    /// What each member did, by round and in the order of groups.
    pub attempts: Vec<Attempt>,
    /// Statistics of the members that decided something, or of all members where nobody did: sums over the rounds.
    pub statistics: Statistics,
    /// If a property is unknown: what may grow without bound among what it depends on. Then no amount of time may be
    /// enough.
    pub growth: Vec<Growth>,
    /// What the searches executed of the program. None if no property was proved: then no search was complete.
    pub coverage: Option<Coverage>,
}

impl Report {
    /// A report on properties of which all is known.
    pub(crate) fn of(properties: Vec<PropertyReport>, attempts: Vec<Attempt>, statistics: Statistics) -> Self {
        let verdict = property::overall(&properties);
        Self { verdict, properties, attempts, statistics, growth: Vec::new(), coverage: None }
    }

    /// The member that gave the overall verdict: for its first property that is as bad as that.
    pub fn member(&self) -> Option<Member> {
        self.deciding().and_then(|property| property.member)
    }

    /// How that member over-approximated buffers, if it did.
    pub fn buffering(&self) -> Option<Buffering> {
        self.deciding().and_then(|property| property.buffering)
    }

    /// The first property that is as bad as the overall verdict.
    pub fn deciding(&self) -> Option<&PropertyReport> {
        property::worst(&self.properties)
    }
}

/// Decides for each property whether it holds.
///
/// # Errors
/// If the program has no properties, if no engine supports it, or if an invariant of Weir is broken.
pub fn check(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    refuse::unsupported(program)?;
    check_with_spawn(program, options, session)
}

/// The same for a program that may start threads, as long as there are instances left.
pub(crate) fn check_with_spawn(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    refuse::unsupported_but_spawn(program, "explicit")?;
    let mut goals = if options.goals.is_empty() { reach::all_goals(program) } else { options.goals.clone() };
    let mut seen = BTreeSet::new();
    goals.retain(|&goal| seen.insert(goal));
    if goals.is_empty() {
        return Err(Failure::Refused(Box::new(no_property())));
    }
    let slicer = Slicer::new(program, session);
    let mut state = Progress::new(&goals, slicer.groups(&goals));
    while let Some(round) = state.next_round(&slicer, options, session)? {
        state.take(program, round);
        if options.first_failure_only && state.has_failed() {
            break;
        }
    }
    if !options.first_failure_only {
        state.simplify(&slicer, options.model, session)?;
        vacuity::examine(program, options.model, &mut state.properties, state.coverage.as_ref(), session)?;
    }
    let growth = state.growth(&slicer);
    Ok(Report { growth, ..state.report(session.since(began)) })
}

/// Why a program without properties cannot be checked.
pub fn no_property() -> Diagnostic {
    let message = "the program has no properties, so there is nothing to check; `weir robust` needs none";
    Diagnostic::error("no-property", message, Span::default())
        .help("state what must not happen, as in `forbid P0 at critical && P1 at critical;`, or use `weir robust`")
}

/// Whether a goal is an `exists`: then a run that reaches it is the desired answer.
pub fn is_exists(program: &Program, goal: Goal) -> bool {
    matches!(goal, Goal::Property(property)
        if matches!(program.properties.get(property.index()).map(|property| &property.kind), Some(PropertyKind::Exists(_))))
}

/// A check under way.
struct Progress {
    properties: Vec<PropertyReport>,
    attempts: Vec<Attempt>,
    statistics: Statistics,
    coverage: Option<Coverage>,
    rounds: u32,
    /// The goals to ask about together; those of the first group first.
    groups: VecDeque<Vec<Goal>>,
}

impl Progress {
    fn new(goals: &[Goal], groups: Vec<Vec<Goal>>) -> Self {
        Self {
            properties: goals.iter().map(|&goal| PropertyReport::open(goal)).collect(),
            attempts: Vec::new(),
            statistics: Statistics::default(),
            coverage: None,
            rounds: 0,
            groups: groups.into(),
        }
    }

    /// Asks about what is still open, if anything is.
    fn next_round(
        &mut self,
        slicer: &Slicer<'_>,
        options: &Options,
        session: &Session,
    ) -> Result<Option<Round>, Failure> {
        while self.groups.front().is_some_and(|group| self.open(group).is_empty()) {
            self.groups.pop_front();
        }
        let Some(group) = self.groups.front() else { return Ok(None) };
        let open = self.open(group);
        if let Some(limit) = session.exceeded_before_work() {
            self.groups.drain(..).collect::<Vec<_>>().iter().for_each(|group| self.give_up(group, limit));
            return Ok(None);
        }
        self.rounds += 1;
        let asked = Asked { number: self.rounds, model: options.model, goals: &open };
        round::run(slicer, asked, session).map(Some)
    }

    /// The goals of a group that are not decided.
    fn open(&self, group: &[Goal]) -> Vec<Goal> {
        let is_open = |one: &&PropertyReport| one.member.is_none() && group.contains(&one.goal);
        self.properties.iter().filter(is_open).map(|one| one.goal).collect()
    }

    /// Takes in what a round has decided.
    fn take(&mut self, program: &Program, round: Round) {
        let Round { attempts, decided, unconfirmed, by, coverage, statistics, limit } = round;
        self.attempts.extend(attempts);
        self.statistics.add(&statistics);
        if let Some(coverage) = coverage {
            // An exact search knows best.
            let is_better = self.coverage.as_ref().is_none_or(|known| known.approximate && !coverage.approximate);
            self.coverage = if is_better { Some(coverage) } else { self.coverage.take() };
        }
        if !unconfirmed.is_empty() {
            self.give_up(&unconfirmed, Limit::States);
            self.groups.iter_mut().for_each(|group| group.retain(|goal| !unconfirmed.contains(goal)));
        } else if decided.is_empty()
            && let Some(group) = self.groups.pop_front()
        {
            self.give_up(&group, limit);
        }
        for (goal, found) in decided {
            let Some(one) = self.properties.iter_mut().find(|one| one.goal == goal) else { continue };
            one.judgement = Judgement::new(program, goal, found);
            (one.member, one.buffering, one.elapsed) = (by.member, by.buffering, by.elapsed);
        }
    }

    /// What is open of a group stays so, for this reason.
    fn give_up(&mut self, group: &[Goal], limit: Limit) {
        let open = self.properties.iter_mut().filter(|one| one.member.is_none() && group.contains(&one.goal));
        open.for_each(|one| one.judgement = Judgement::Unknown(limit));
    }

    /// Shows violations that need no store buffers as such: a run that does need them would suggest that fences help.
    fn simplify(&mut self, slicer: &Slicer<'_>, model: Model, session: &Session) -> Result<(), Failure> {
        if model == Model::Sc {
            return Ok(());
        }
        let session = session.doing("check: looking for a run without store buffers");
        for one in &mut self.properties {
            if let Judgement::Violated(checked) = &mut one.judgement
                && checked.happens_before().cycle().is_some()
                && let part = session.part(Some(session.bound(Bound::CheckSimplerStates)))
                && let Some(simpler) = round::without_buffers(slicer, one.goal, &part)?
            {
                *checked = simpler;
                (one.member, one.buffering) = (Some(Member::Sc), None);
            }
        }
        Ok(())
    }

    /// What may grow without bound, if that may be why something is unknown.
    fn growth(&self, slicer: &Slicer<'_>) -> Vec<Growth> {
        let is_open = |one: &&PropertyReport| matches!(one.judgement, Judgement::Unknown(_));
        let open: Vec<Goal> = self.properties.iter().filter(is_open).map(|one| one.goal).collect();
        if open.is_empty() { Vec::new() } else { slicer.growth(&slicer.slice(&open)) }
    }

    fn has_failed(&self) -> bool {
        self.properties.iter().any(|one| one.judgement.is_failure())
    }

    fn report(self, elapsed: std::time::Duration) -> Report {
        let Self { properties, attempts, statistics, coverage, .. } = self;
        let verdict = property::overall(&properties);
        let statistics = Statistics { elapsed, ..statistics };
        Report { verdict, properties, attempts, statistics, growth: Vec::new(), coverage }
    }
}

#[cfg(test)]
mod tests;
