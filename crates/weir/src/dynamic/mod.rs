//! Recursive procedures and threads started at run time: [`check`](mod@crate::check) and [`reach`](mod@crate::reach) for
//! programs with calls and `spawn`.
//!
//! The program is searched within bounds on the depth of stacks and on the number of spawned threads, which begin small
//! and are doubled as long as runs go beyond them (`unroll`). So a program whose runs stay within some bound
//! is decided, and costs little more than a program without procedures. If runs do go beyond a bound, procedure
//! summaries are tried, which need no bound where they apply. For all others the answer is unknown
//! at the largest bound that the session allows, unless a violation is found before.
//!
//! Direction of error: none. A violation is mapped back to a run of the program itself, with its calls, returns and
//! spawns, and replayed by `weir-witness`. `Holds` means that it was also proved that no run goes beyond the bound.

mod bounds;
mod found;
mod mapped;

use std::collections::BTreeSet;

use weir_ir::{Diagnostic, Program, ThreadId};
use weir_witness::{Goal, Model};

use self::bounds::Bounds;
use self::found::Found;
use self::mapped::{coverage, of_first_instances, original};
use crate::bounds::Bound;
use crate::check;
use crate::reach::{self, Engine, all_goals};
use crate::semantics::refuse;
use crate::session::Session;
use crate::summaries::{self, Summarized};
use crate::translate::Translation;
use crate::translate::unroll::{Purpose, unroll};
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
    refuse_what_is_unsupported(program, &goals)?;
    if goals.is_empty() {
        return Err(Failure::Refused(Box::new(check::no_property())));
    }
    let mut bounds = Bounds::first(program, session);
    let mut found = Found::default();
    let mut summaries = Summaries::default();
    if options.model == Model::Tso {
        let linked = program.linked(0);
        let asked = images(program, &linked, &goals);
        if summaries.decide(&linked, (&asked, options.model), &mut found, session)? {
            let report = found.report((program, &linked), &goals, None, session.since(began))?;
            return Ok(Decided { program: linked, report });
        }
    }
    loop {
        let linked = program.linked(bounds.instances());
        // One instance is enough to show that an assertion fails.
        let is_open = |goal: &Goal| !images(program, &linked, &[*goal]).iter().any(|&image| found.has(image));
        let open: Vec<Goal> = goals.iter().copied().filter(is_open).collect();
        let asked = images(program, &linked, &open);
        let limit = match search(&linked, (&asked, options), &mut found, &bounds, session)? {
            Some(limit) => Some(limit),
            None if !found.depends_on_bounds() => None,
            None => match runs_beyond(&linked, options.model, &mut found, &bounds, session)? {
                Beyond::Nothing => None,
                Beyond::Unknown(limit) => Some(limit),
                Beyond::Runs { .. } if summaries.decide(&linked, (&asked, options.model), &mut found, session)? => None,
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
    if asked.is_empty() {
        found.last.clear();
        return Ok(None);
    }
    let Ok(unrolled) = unroll(linked, bounds.frames, Purpose::Search) else { return Ok(Some(bounds.too_large())) };
    let options = check::Options { goals: asked.to_vec(), ..options.clone() };
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
    refuse_what_is_unsupported(program, &goals)?;
    let mut bounds = Bounds::first(program, session);
    let mut statistics = Statistics::default();
    let mut summaries = Summaries::default();
    if options.model == Model::Tso
        && let Some(decided) = summaries.reach((program, &program.linked(0)), &goals, options, session)?
    {
        return Ok(decided);
    }
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
            Verdict::Unknown(limit) if !matches!(limit, Limit::Rounds(_) | Limit::Age(_)) => Verdict::Unknown(limit),
            // A bounded engine that found nothing may find something with deeper stacks or more threads.
            nothing => {
                let within = nothing.limit();
                let beyond = beyond(&linked, &bounds, session, &mut |program, goals| {
                    let report = ask(program, goals)?;
                    statistics.add(&report.statistics);
                    Ok(report.verdict.map(|_| ()))
                });
                match beyond? {
                    Beyond::Nothing => within.map_or(Verdict::Holds, Verdict::Unknown),
                    Beyond::Unknown(limit) => Verdict::Unknown(within.unwrap_or(limit)),
                    Beyond::Runs { deep, spawned } => {
                        if let Some(mut decided) = summaries.reach((program, &linked), &goals, options, session)? {
                            statistics.add(&decided.report.statistics);
                            decided.report.statistics = statistics;
                            return Ok(decided);
                        }
                        match bounds.grow(deep, spawned) {
                            Ok(()) => continue,
                            Err(limit) => Verdict::Unknown(limit),
                        }
                    }
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
fn refuse_what_is_unsupported(program: &Program, goals: &[Goal]) -> Result<(), Failure> {
    refuse::dynamic_templates(program)?;
    let Some(Goal::Property(property)) = goals.iter().find(|goal| goal.is_liveness(program)) else { return Ok(()) };
    let property = &program.properties[property.index()];
    let text = program.property_text(property);
    let message = format!("`{text}` cannot be decided for a program with recursion or `spawn`");
    let help = "select the other properties with `--property`, or unroll procedures with `weir translate --pass unroll=N --to weir` and declare all threads";
    Err(Failure::Refused(Box::new(Diagnostic::error("liveness-dynamic", message, property.span).help(help))))
}

/// Summaries, which are tried once: larger bounds do not help them. Under SC the first bound comes before them, since it
/// is cheap; under TSO they do without store buffers, so they come first.
#[derive(Default)]
struct Summaries {
    were_tried: bool,
}

impl Summaries {
    /// What they find out about these goals; nothing if they do not apply, or were asked before.
    fn explore(
        &mut self,
        linked: &Program,
        (goals, model): (&[Goal], Model),
        first_only: bool,
        session: &Session,
    ) -> Result<Option<Summarized>, Failure> {
        if std::mem::replace(&mut self.were_tried, true) {
            return Ok(None);
        }
        let Some(calling) = summaries::calling_thread(linked, model, goals) else { return Ok(None) };
        // Half of what is left: the bounds may decide what summaries do not.
        let part = session.part(Some(session.bound(Bound::SummaryStates).min(session.states_left() / 2)));
        summaries::explore((linked, calling), model, goals, first_only, &part).map(Some)
    }

    /// Asks the explicit engine's question; nothing if they do not answer it.
    fn reach(
        &mut self,
        (program, linked): (&Program, &Program),
        goals: &[Goal],
        options: &reach::Options,
        session: &Session,
    ) -> Result<Option<Decided<reach::Report>>, Failure> {
        if options.engine != Engine::Explicit {
            return Ok(None);
        }
        let asked = images(program, linked, goals);
        let Some(found) = self.explore(linked, (&asked, options.model), true, session)? else { return Ok(None) };
        let verdict = match (found.reached.into_iter().next(), found.limit) {
            (Some((_, checked)), _) => Verdict::Violated(Box::new(checked)),
            (None, None) => Verdict::Holds,
            (None, Some(_)) => return Ok(None),
        };
        let (statistics, coverage) = (found.statistics, of_first_instances((program, linked), &found.coverage));
        let report = reach::Report { verdict, coverage, by_summaries: true, ..unknown(Limit::States, statistics) };
        Ok(Some(Decided { program: linked.clone(), report }))
    }

    /// Asks them about all that is open in a check; whether that decides everything.
    fn decide(
        &mut self,
        linked: &Program,
        (asked, model): (&[Goal], Model),
        found: &mut Found,
        session: &Session,
    ) -> Result<bool, Failure> {
        let open: Vec<Goal> = asked.iter().copied().filter(|goal| !found.has(*goal)).collect();
        let summarized = self.explore(linked, (&open, model), false, session)?;
        Ok(summarized.is_some_and(|summarized| found.take_summaries(linked, &open, summarized)))
    }
}

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
