//! Recursive procedures and threads started at run time: [`check`](mod@crate::check) and [`reach`](mod@crate::reach) for
//! programs with calls and `spawn`.
//!
//! The program is searched within bounds on the depth of stacks and on the number of spawned threads, which begin small
//! and are doubled as long as runs go beyond them (`unroll`). So a program whose runs stay within some bound
//! is decided, and costs little more than a program without procedures; for all others the answer is unknown at the
//! largest bound that the session allows, unless a violation is found before.
//!
//! Direction of error: none. A violation is mapped back to a run of the program itself, with its calls, returns and
//! spawns, and replayed by `weir-witness`. `Holds` means that it was also proved that no run goes beyond the bound.

use std::collections::BTreeSet;
use std::time::Duration;

use weir_ir::{Diagnostic, EdgeId, Multiplicity, Program, ThreadId};
use weir_witness::{Checked, Goal, Model};

use crate::bounds::Bound;
use crate::check::{self, Judgement, PropertyReport, Vacuity};
use crate::reach::{self, Coverage, all_goals, mapped_coverage};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::unroll::{Purpose, Unrolled, unroll};
use crate::verdict::{Failure, Limit, Statistics, Verdict};

/// An answer about a program with calls or `spawn`.
#[derive(Clone, Debug)]
pub struct Decided<R> {
    /// The program that the report is about: [linked](Program::linked), with as many instances of spawned threads as
    /// were needed.
    pub program: Program,
    /// The report.
    pub report: R,
}

/// Decides for each property of a program with calls or `spawn` whether it holds.
///
/// # Errors
/// If the program has no properties, if no engine supports it, or if an invariant of Weir is broken.
pub fn check(
    program: &Program,
    options: &check::Options,
    session: &Session,
) -> Result<Decided<check::Report>, Failure> {
    let began = session.elapsed();
    let goals = goals(program, &options.goals);
    refuse(program, &goals)?;
    if goals.is_empty() {
        return Err(Failure::Refused(Box::new(check::no_property())));
    }
    let mut bounds = Bounds::first(program, session);
    let mut found = Found::default();
    loop {
        let linked = program.linked(bounds.instances());
        let asked = images(program, &linked, &goals);
        let limit = match search(&linked, (&asked, options), &mut found, &bounds, session)? {
            Some(limit) => Some(limit),
            None if !found.depends_on_bounds() => None,
            None => match runs_beyond(&linked, options.model, &mut found, &bounds, session)? {
                Beyond::Nothing => None,
                Beyond::Unknown(limit) => Some(limit),
                Beyond::Runs { deep, spawned } if found.is_exhausted() => Some(bounds.limit(deep, spawned)),
                Beyond::Runs { deep, spawned } => match bounds.grow(deep, spawned) {
                    Ok(()) => continue,
                    Err(limit) => Some(limit),
                },
            },
        };
        let report = found.report((program, &linked), &goals, limit, session.since(began))?;
        return Ok(Decided { program: linked, report });
    }
}

/// Searches within the bounds for what is open; the limit that ends everything, if one was reached.
fn search(
    linked: &Program,
    (asked, options): (&[Goal], &check::Options),
    found: &mut Found,
    bounds: &Bounds,
    session: &Session,
) -> Result<Option<Limit>, Failure> {
    let open: Vec<Goal> = asked.iter().copied().filter(|goal| !found.has(*goal)).collect();
    if open.is_empty() {
        found.last.clear();
        return Ok(None);
    }
    let Ok(unrolled) = unroll(linked, bounds.frames, Purpose::Search) else { return Ok(Some(bounds.too_large())) };
    let options = check::Options { goals: open, ..options.clone() };
    match check::check_with_spawn(unrolled.program(), &options, session) {
        Ok(report) => found.add(linked, &unrolled, report).map(|()| None),
        Err(failure) => bounds.ended_by(failure).map(Some),
    }
}

/// Whether runs go beyond the bounds, asked of the portfolio.
fn runs_beyond(
    linked: &Program,
    model: Model,
    found: &mut Found,
    bounds: &Bounds,
    session: &Session,
) -> Result<Beyond, Failure> {
    let asked = beyond(linked, bounds, session, &mut |program, goals| {
        let options = check::Options { model, goals, first_failure_only: true };
        let report = check::check_with_spawn(program, &options, session)?;
        found.statistics.add(&report.statistics);
        Ok(report.verdict.map(|_| ()))
    });
    asked.or_else(|failure| bounds.ended_by(failure).map(Beyond::Unknown))
}

/// Looks for a run of a program with calls or `spawn` that reaches a goal.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn reach(
    program: &Program,
    options: &reach::Options,
    session: &Session,
) -> Result<Decided<reach::Report>, Failure> {
    let goals = goals(program, &options.goals);
    refuse(program, &goals)?;
    let mut bounds = Bounds::first(program, session);
    let mut statistics = Statistics::default();
    loop {
        let linked = program.linked(bounds.instances());
        let asked = images(program, &linked, &goals);
        let ask = |program: &Program, goals: Vec<Goal>| {
            reach::reach_with_spawn(program, &reach::Options { goals, ..options.clone() }, session)
        };
        let Ok(unrolled) = unroll(&linked, bounds.frames, Purpose::Search) else {
            return Ok(Decided { program: linked, report: unknown(bounds.too_large(), statistics) });
        };
        let mut report = match ask(unrolled.program(), asked) {
            Ok(report) => report,
            Err(failure) => {
                let limit = bounds.ended_by(failure)?;
                return Ok(Decided { program: linked, report: unknown(limit, statistics) });
            }
        };
        statistics.add(&report.statistics);
        report.statistics = statistics;
        report.coverage = coverage((program, &linked), &unrolled, &report.coverage);
        let verdict = match report.verdict {
            Verdict::Violated(found) => Verdict::Violated(Box::new(original(&linked, &unrolled, &found)?)),
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Holds => {
                let beyond = beyond(&linked, &bounds, session, &mut |program, goals| {
                    let report = ask(program, goals)?;
                    statistics.add(&report.statistics);
                    Ok(report.verdict.map(|_| ()))
                });
                match beyond? {
                    Beyond::Nothing => Verdict::Holds,
                    Beyond::Unknown(limit) => Verdict::Unknown(limit),
                    Beyond::Runs { deep, spawned } => match bounds.grow(deep, spawned) {
                        Ok(()) => continue,
                        Err(limit) => Verdict::Unknown(limit),
                    },
                }
            }
        };
        return Ok(Decided { program: linked, report: reach::Report { verdict, ..report } });
    }
}

fn unknown(limit: Limit, statistics: Statistics) -> reach::Report {
    reach::Report { statistics, ..reach::Report::unknown(limit) }
}

/// The goals that are asked about, in terms of the program without instances.
fn goals(program: &Program, asked: &[Goal]) -> Vec<Goal> {
    if asked.is_empty() { all_goals(&program.linked(0)) } else { asked.to_vec() }
}

/// The goals in terms of a linked program: assertions of a thread are those of all its instances.
fn images(program: &Program, linked: &Program, goals: &[Goal]) -> Vec<Goal> {
    let can_be_spawned = linked.can_be_spawned();
    let is_instance = |thread: &ThreadId| thread.index() >= program.threads.len() && can_be_spawned[thread.index()];
    let of = |goal: &Goal| match *goal {
        Goal::Assertion(thread) => {
            let instances = linked.instances(thread).filter(is_instance);
            [thread].into_iter().chain(instances).map(Goal::Assertion).collect()
        }
        goal => vec![goal],
    };
    let mut seen = BTreeSet::new();
    goals.iter().flat_map(of).filter(|&goal| seen.insert(goal)).collect()
}

/// Refuses what only programs without calls and `spawn` can be asked.
fn refuse(program: &Program, goals: &[Goal]) -> Result<(), Failure> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.multiplicity == Multiplicity::Arbitrary) {
        let message =
            format!("there are arbitrarily many copies of `{}`, in a program with recursion or `spawn`", thread.name);
        let refusal = Diagnostic::error("arbitrary-threads", message, thread.span);
        return Err(Failure::Refused(Box::new(refusal.help("set the number of copies, as in `-D 'T[*]=3'`"))));
    }
    let Some(Goal::Property(property)) = goals.iter().find(|goal| goal.is_liveness(program)) else { return Ok(()) };
    let property = &program.properties[property.index()];
    let text = program.property_text(property);
    let message = format!("`{text}` cannot be decided for a program with recursion or `spawn`");
    let help = "select the other properties with `--property`, or write procedures as loops and declare all threads";
    Err(Failure::Refused(Box::new(Diagnostic::error("liveness-dynamic", message, property.span).help(help))))
}

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Calls on a stack.
    frames: u32,
    /// How often a thread may be spawned.
    spawned: u32,
    most_frames: u32,
    most_spawned: u32,
    /// The bound that was raised last, and its value before.
    before: Option<Limit>,
}

impl Bounds {
    fn first(program: &Program, session: &Session) -> Self {
        let most = |bound| u32::try_from(session.bound(bound)).unwrap_or(u32::MAX);
        let (most_frames, most_spawned) = (most(Bound::StackFrames), most(Bound::SpawnedThreads));
        let (frames, spawned) = (FIRST_FRAMES.min(most_frames), FIRST_SPAWNED.min(most_spawned));
        let frames = if program.calls() { frames } else { 0 };
        Self { frames, spawned, most_frames, most_spawned, before: None }
    }

    /// One more than are searched exactly: the last one tells that there are too many.
    fn instances(&self) -> u32 {
        self.spawned.saturating_add(1)
    }

    /// Raises the bounds that runs go beyond.
    ///
    /// # Errors
    /// The bound, if it cannot be raised.
    fn grow(&mut self, deep: bool, spawned: bool) -> Result<(), Limit> {
        let more = |now: u32, most: u32| now.saturating_mul(2).max(1).min(most);
        let (frames, threads) = (more(self.frames, self.most_frames), more(self.spawned, self.most_spawned));
        let (deeper, wider) = (deep && frames > self.frames, spawned && threads > self.spawned);
        if !deeper && !wider {
            return Err(self.limit(deep, spawned));
        }
        self.before = Some(if deeper { Limit::Frames(self.frames) } else { Limit::Spawned(self.spawned) });
        self.frames = if deeper { frames } else { self.frames };
        self.spawned = if wider { threads } else { self.spawned };
        Ok(())
    }

    /// The bound that runs go beyond.
    fn limit(&self, deep: bool, spawned: bool) -> Limit {
        if deep || !spawned { Limit::Frames(self.frames) } else { Limit::Spawned(self.spawned) }
    }

    /// The limit that a failure stands for, if it is none of the program as it was written.
    ///
    /// # Errors
    /// Any other failure.
    fn ended_by(&self, failure: Failure) -> Result<Limit, Failure> {
        match failure {
            Failure::TooLarge(_) if self.before.is_some() => Ok(self.too_large()),
            Failure::Stopped(limit) => Ok(limit),
            failure => Err(failure),
        }
    }

    /// Why a program is unknown that is too large with these bounds.
    fn too_large(&self) -> Limit {
        self.before.unwrap_or(Limit::Frames(0))
    }
}

/// The bounds of the first search.
const FIRST_FRAMES: u32 = 2;
const FIRST_SPAWNED: u32 = 1;

/// Whether runs go beyond a bound.
enum Beyond {
    Nothing,
    Runs { deep: bool, spawned: bool },
    Unknown(Limit),
}

/// Asks whether runs go beyond the bounds.
fn beyond(
    linked: &Program,
    bounds: &Bounds,
    session: &Session,
    ask: &mut impl FnMut(&Program, Vec<Goal>) -> Result<Verdict<()>, Failure>,
) -> Result<Beyond, Failure> {
    let session = session.doing("looking for runs beyond the bound");
    let Ok(alarm) = unroll(linked, bounds.frames, Purpose::Alarm) else {
        return Ok(Beyond::Unknown(bounds.too_large()));
    };
    let program = Program { properties: Vec::new(), ..alarm.program().clone() };
    let mut fails = |threads: &[ThreadId]| -> Result<Result<bool, Limit>, Failure> {
        if threads.is_empty() {
            return Ok(Ok(false));
        }
        if let Some(limit) = session.exceeded_before_work() {
            return Ok(Err(limit));
        }
        let verdict = ask(&program, threads.iter().map(|&thread| Goal::Assertion(thread)).collect())?;
        Ok(match verdict {
            Verdict::Holds => Ok(false),
            Verdict::Violated(()) => Ok(true),
            Verdict::Unknown(limit) => Err(limit),
        })
    };
    Ok(match (fails(alarm.deep_threads())?, fails(alarm.last_instances())?) {
        (Ok(false), Ok(false)) => Beyond::Nothing,
        (Ok(true), spawned) => Beyond::Runs { deep: true, spawned: spawned == Ok(true) },
        (deep, Ok(true)) => Beyond::Runs { deep: deep == Ok(true), spawned: true },
        (Err(limit), _) | (_, Err(limit)) => Beyond::Unknown(limit),
    })
}

/// The run of the linked program that a run of the unrolled one stands for.
fn original(linked: &Program, unrolled: &Unrolled, found: &Checked) -> Result<Checked, Failure> {
    again(linked, unrolled.map_back(linked, found.run()), found.goal())
}

fn again(linked: &Program, run: weir_witness::Run, goal: Goal) -> Result<Checked, Failure> {
    Checked::new(linked, run, goal)
        .map_err(|error| Failure::Bug(format!("a run with calls or spawns cannot be replayed: {error}")))
}

/// What the searches of a check have found so far.
#[derive(Default)]
struct Found {
    /// The properties for which there is a run.
    shown: Vec<PropertyReport>,
    /// The last report on the others.
    last: Vec<PropertyReport>,
    attempts: Vec<check::Attempt>,
    statistics: Statistics,
    /// What the last search executed of the linked program with instances.
    coverage: Option<Coverage>,
}

impl Found {
    fn has(&self, goal: Goal) -> bool {
        self.shown.iter().any(|one| one.goal == goal)
    }

    /// Whether something is proved if no run goes beyond the bounds.
    fn depends_on_bounds(&self) -> bool {
        self.last.iter().any(|one| !matches!(one.judgement, Judgement::Unknown(_)))
    }

    /// Whether something was too hard already. Larger bounds make nothing easier.
    fn is_exhausted(&self) -> bool {
        self.last.iter().any(|one| matches!(one.judgement, Judgement::Unknown(_)))
    }

    fn add(&mut self, linked: &Program, unrolled: &Unrolled, report: check::Report) -> Result<(), Failure> {
        self.statistics.add(&report.statistics);
        self.attempts.extend(report.attempts);
        self.coverage = report.coverage.map(|seen| of_linked(linked, unrolled, &seen));
        self.last.clear();
        for mut one in report.properties {
            // Its places are those of the unrolled program.
            if let Vacuity::Unreached(_) = one.vacuity {
                one.vacuity = Vacuity::Unknown;
            }
            match &mut one.judgement {
                Judgement::Violated(checked) | Judgement::Met(checked) => {
                    **checked = original(linked, unrolled, checked)?;
                    self.shown.push(one);
                }
                Judgement::Holds | Judgement::NotMet | Judgement::Unknown(_) => self.last.push(one),
            }
        }
        Ok(())
    }

    /// The report on these goals of the program, if what seems to hold is not proved because of this limit.
    fn report(
        mut self,
        (program, linked): (&Program, &Program),
        goals: &[Goal],
        limit: Option<Limit>,
        elapsed: Duration,
    ) -> Result<check::Report, Failure> {
        let mut properties = Vec::new();
        for &goal in goals {
            let images = images(program, linked, &[goal]);
            let reports = images.iter().map(|&image| self.about(linked, image, limit));
            let reports: Vec<PropertyReport> = reports.collect::<Result<_, _>>()?;
            properties.extend(check::worst(&reports).cloned());
        }
        self.statistics.elapsed = elapsed;
        let seen = self.coverage.filter(|_| limit.is_none());
        let coverage = seen.map(|seen| of_first_instances((program, linked), &seen));
        let report = check::Report::of(properties, self.attempts, self.statistics);
        Ok(check::Report { coverage, ..report })
    }

    /// What is known about one goal. A run that was found with fewer instances is one with more.
    fn about(&self, linked: &Program, goal: Goal, limit: Option<Limit>) -> Result<PropertyReport, Failure> {
        let known = self.shown.iter().chain(&self.last).find(|one| one.goal == goal);
        let mut one = known.cloned().unwrap_or_else(|| PropertyReport::open(goal));
        match (&mut one.judgement, limit) {
            (Judgement::Violated(checked) | Judgement::Met(checked), _) => {
                **checked = again(linked, checked.run().clone(), goal)?;
            }
            (Judgement::Holds | Judgement::NotMet, Some(limit)) => {
                one = PropertyReport { judgement: Judgement::Unknown(limit), ..PropertyReport::open(goal) };
            }
            // Nobody was asked, since the program is too large.
            (Judgement::Unknown(Limit::Interrupted), Some(limit)) => one.judgement = Judgement::Unknown(limit),
            (Judgement::Holds | Judgement::NotMet | Judgement::Unknown(_), _) => {}
        }
        Ok(one)
    }
}

/// What a search of the unrolled program executed of the program.
fn coverage((program, linked): (&Program, &Program), unrolled: &Unrolled, seen: &Coverage) -> Coverage {
    of_first_instances((program, linked), &of_linked(linked, unrolled, seen))
}

/// The same for the threads of the program: what one instance of a thread executes, that thread does.
fn of_first_instances((program, linked): (&Program, &Program), seen: &Coverage) -> Coverage {
    let count = program.threads.len();
    let instances = |thread: ThreadId| {
        let further = linked.instances(thread).filter(move |instance| instance.index() >= count);
        [thread].into_iter().chain(further)
    };
    let unexecuted: BTreeSet<(ThreadId, EdgeId)> = seen.unexecuted.iter().copied().collect();
    let immobile: BTreeSet<ThreadId> = seen.immobile.iter().copied().collect();
    let blocked: BTreeSet<(ThreadId, EdgeId)> = seen.out_of_range.iter().copied().collect();
    let edges = |thread: ThreadId| (0..linked.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    let all = || (0..count).map(ThreadId::new);
    let is_unexecuted = |&(thread, edge): &(ThreadId, EdgeId)| {
        unexecuted.contains(&(thread, edge)) && instances(thread).all(|instance| unexecuted.contains(&(instance, edge)))
    };
    let is_immobile = |thread: &ThreadId| instances(*thread).all(|instance| immobile.contains(&instance));
    let is_blocked =
        |&(thread, edge): &(ThreadId, EdgeId)| instances(thread).any(|instance| blocked.contains(&(instance, edge)));
    Coverage {
        unexecuted: all().flat_map(edges).filter(is_unexecuted).collect(),
        immobile: all().filter(is_immobile).collect(),
        out_of_range: all().flat_map(edges).filter(is_blocked).collect(),
        unexamined: seen.unexamined.iter().copied().filter(|thread| thread.index() < count).collect(),
        approximate: seen.approximate,
    }
}

fn of_linked(linked: &Program, unrolled: &Unrolled, seen: &Coverage) -> Coverage {
    Coverage { approximate: seen.approximate, ..mapped_coverage(linked, unrolled.executes(), seen) }
}
