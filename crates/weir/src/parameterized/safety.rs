//! Do the properties hold in every instance?

use weir_ir::{Diagnostic, Program, PropertyKind};
use weir_witness::{Goal, Model};

use super::cover::{Configuration, Cover, cover};
use super::step::Code;
use super::system::System;
use super::targets::{Condition, failed_assertions};
use super::{Decided, attack, instances, smallest, statistics};
use crate::bounds::Bound;
use crate::check::{self, Judgement, Member, PropertyReport};
use crate::reach::dual::{EveryNumber, reach_any_number};
use crate::reach::{Engine, all_goals};
use crate::robust::attacks_of;
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::instantiate::{Instance, instantiate};
use crate::verdict::{Failure, Limit, Statistics};

/// What is known about a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// No instance reaches it: who says so.
    Holds(Member),
    /// An instance with so many copies may reach it.
    Reachable(usize),
    /// Nothing.
    Open(Limit),
}

/// Who decides what store buffers can do if the program is not robust.
const DUAL: Member = Member::Engine(Engine::Dual);

/// Decides for each property whether it holds in every instance of `program`.
///
/// # Errors
/// If the program has no properties, if no engine supports it, or if an invariant of Weir is broken.
pub fn check(
    program: &Program,
    options: &check::Options,
    session: &Session,
) -> Result<Decided<check::Report>, Failure> {
    refuse::dynamic_templates(program)?;
    refuse::unsupported_templates(program)?;
    let began = session.elapsed();
    let goals = if options.goals.is_empty() { all_goals(program) } else { options.goals.clone() };
    if goals.is_empty() {
        return Err(Failure::Refused(Box::new(check::no_property())));
    }
    let asked: Vec<Goal> = goals.iter().copied().filter(|&goal| !check::is_exists(program, goal)).collect();
    if asked.is_empty() {
        return Err(Failure::Refused(Box::new(no_exists(program, goals[0]))));
    }
    let (known, mut statistics) = in_turns(program, &asked, options, session)?;
    statistics.elapsed = session.since(began);
    let shown = violations(program, &wanted(&asked, &known, session), options, session)?;
    let known = with_exists(&goals, &asked, known);
    let for_every_number = shown.is_none() && known.iter().all(|known| matches!(known, Known::Holds(_)));
    let (instance, found) = match shown {
        Some((instance, report)) => (instance, Some(report)),
        None => (smallest(program), None),
    };
    let images = |goal: Goal| if for_every_number { vec![goal] } else { images(&instance, goal) };
    let known: Vec<Known> = known.into_iter().map(|known| unless_limited(known, session)).collect();
    let report = report(&images, &goals, &known, found, statistics);
    Ok(Decided { instance, for_every_number, report })
}

/// So many states and moves, and minimal configurations, each method may look at in its first turn.
const FIRST_TURN: u64 = 20_000;
/// A minimal configuration of the exact engine takes so many times as long as a move of the counter abstraction.
const DUAL_COSTS: u64 = 4;
/// Each turn is so many times as long as the one before, since it begins anew.
const LONGER: u64 = 8;
/// After the first turn, instances with up to so many copies are searched; after each further turn, with twice as many.
const FIRST_COPIES: usize = 8;

/// What is known about each goal, and what it took. The counter abstraction and the exact engine take turns: either may
/// be small where the other is too large. A violation may be found sooner in an instance.
fn in_turns(
    program: &Program,
    goals: &[Goal],
    options: &check::Options,
    session: &Session,
) -> Result<(Vec<Known>, Statistics), Failure> {
    let model = options.model;
    let (mut known, mut statistics) = (vec![Known::Open(Limit::States); goals.len()], Statistics::default());
    let (mut turn, mut copies) = (FIRST_TURN, FIRST_COPIES);
    loop {
        let full = super::most(session);
        let (most, is_last) = (turn.min(full), turn >= full);
        let others = by_counting(program, goals, model, &mut known, (most, session));
        statistics.add(&others);
        if model == Model::Tso {
            let share = if is_last { most } else { most / DUAL_COSTS };
            let dual = by_dual(program, goals, &mut known, (share, session))?;
            if known.iter().all(|known| *known == Known::Holds(DUAL)) {
                // What the proof consists of.
                return Ok((known, dual));
            }
            statistics.add(&dual);
        }
        // All other limits are the user's, and do not move.
        if is_last || !known.contains(&Known::Open(Limit::States)) || session.exceeded().is_some() {
            return Ok((known, statistics));
        }
        in_instances(program, goals, &mut known, options, (copies, &session.part(Some(turn / LONGER))))?;
        (turn, copies) = (turn.saturating_mul(LONGER), copies * 2);
    }
}

/// What is known about all goals, given what is known about those that are not `exists`.
fn with_exists(goals: &[Goal], asked: &[Goal], known: Vec<Known>) -> Vec<Known> {
    let mut found = known.into_iter();
    let one = |goal: &Goal| if asked.contains(goal) { found.next() } else { None };
    goals.iter().map(one).map(|known| known.unwrap_or(Known::Open(Limit::Copies))).collect()
}

/// Why an `exists` is refused: "in some run" says nothing about the number of copies, and without any, it is hardly met.
fn no_exists(program: &Program, goal: Goal) -> Diagnostic {
    let property = if let Goal::Property(id) = goal { program.properties.get(id.index()) } else { None };
    let span = property.map_or_else(Default::default, |property| property.span);
    let what = "`exists` cannot be checked for every number of threads: it asks for a run with one of them";
    Diagnostic::error("arbitrary-threads", what, span)
        .help("say what must never be, with `forbid`, or ask about a fixed number of copies with `-D 'T[*]=3'`")
}

/// What the counter abstraction says about each goal under SC.
fn under_sc(program: &Program, goals: &[Goal], (most, session): (u64, &Session)) -> (Vec<Known>, Statistics) {
    let conditions: Vec<Option<Condition<'_>>> = goals.iter().map(|&goal| condition(program, goal)).collect();
    let is_observed =
        |thread, location| conditions.iter().flatten().any(|condition| condition.observes(thread, location));
    let code = Code::new(program, &is_observed, false);
    let system = match System::new(&code, most, session) {
        Ok(system) => system,
        Err(incomplete) => return (vec![Known::Open(incomplete.limit()); goals.len()], Statistics::default()),
    };
    let answer = |(&goal, condition): (&Goal, &Option<Condition<'_>>)| {
        let targets: Vec<Configuration> = match (goal, condition) {
            (Goal::Assertion(thread), _) => failed_assertions(&code, &system, thread),
            (_, Some(condition)) => match condition.targets(&code, &system) {
                Ok(targets) => targets,
                Err(_) => return Known::Open(Limit::Instances),
            },
            (_, None) => return Known::Open(Limit::Instances),
        };
        match cover(&system, &targets, most, session) {
            Ok(Cover::Unreachable) => Known::Holds(Member::Cover),
            Ok(Cover::Reachable(copies)) => Known::Reachable(copies),
            Err(incomplete) => Known::Open(incomplete.limit()),
        }
    };
    let known = goals.iter().zip(&conditions).map(answer).collect();
    (known, statistics(&system))
}

/// The condition of a goal that can be decided for all instances.
fn condition(program: &Program, goal: Goal) -> Option<Condition<'_>> {
    let Goal::Property(id) = goal else { return None };
    match &program.properties.get(id.index())?.kind {
        PropertyKind::Forbid(condition) => Condition::new(program, condition).ok(),
        _ => None,
    }
}

/// Asks the counter abstraction about the goals that are open: what holds under SC holds under TSO if every instance is
/// robust. Returns what was done.
fn by_counting(
    program: &Program,
    goals: &[Goal],
    model: Model,
    known: &mut [Known],
    (most, session): (u64, &Session),
) -> Statistics {
    let doing = session.doing("check: counting copies");
    let is_open = |at: &usize| matches!(known[*at], Known::Open(_));
    let open: Vec<usize> = (0..goals.len()).filter(is_open).collect();
    let asked: Vec<Goal> = open.iter().map(|&at| goals[at]).collect();
    let (mut found, mut statistics) = under_sc(program, &asked, (most, &doing));
    let holds = |known: &Known| matches!(known, Known::Holds(_));
    if model == Model::Tso && found.iter().any(holds) {
        let (limit, more) = robustness(program, (most, &doing));
        statistics.add(&more);
        if let Some(limit) = limit {
            found.iter_mut().filter(|known| holds(known)).for_each(|known| *known = Known::Open(limit));
        }
    }
    open.into_iter().zip(found).for_each(|(at, found)| known[at] = found);
    statistics
}

/// Asks the exact engine about the goals that are open. Returns what it did.
fn by_dual(
    program: &Program,
    goals: &[Goal],
    known: &mut [Known],
    (most, session): (u64, &Session),
) -> Result<Statistics, Failure> {
    let mut statistics = Statistics::default();
    let doing = session.doing("check: dual");
    for (&goal, known) in goals.iter().zip(known).filter(|(_, known)| matches!(known, Known::Open(_))) {
        match reach_any_number(program, &[goal], most, &doing) {
            Ok((found, more)) => {
                statistics.add(&more);
                *known = match found {
                    EveryNumber::Unreachable => Known::Holds(DUAL),
                    EveryNumber::Reachable(copies) => Known::Reachable(copies),
                };
            }
            // A turn can be too short for either method.
            Err(Failure::Stopped(limit)) => *known = Known::Open(limit),
            // Why it is open is known already.
            Err(Failure::Refused(_) | Failure::TooLarge(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(statistics)
}

/// Looks for violations of the goals that are open for want of states, in instances with up to so many copies.
fn in_instances(
    program: &Program,
    goals: &[Goal],
    known: &mut [Known],
    options: &check::Options,
    (copies, session): (usize, &Session),
) -> Result<(), Failure> {
    let open = goals.iter().zip(&*known).filter(|(_, known)| **known == Known::Open(Limit::States));
    let wanted: Vec<(Goal, usize)> = open.map(|(&goal, _)| (goal, copies)).collect();
    if let Some((instance, report)) = violations(program, &wanted, options, session)? {
        for (&goal, known) in goals.iter().zip(known) {
            if wanted.contains(&(goal, copies)) && is_violated(&instance, &report, goal) {
                *known = Known::Reachable(instance.total() as usize);
            }
        }
    }
    Ok(())
}

/// Why what holds under SC may not hold under TSO; nothing if every instance is robust.
fn robustness(program: &Program, (most, session): (u64, &Session)) -> (Option<Limit>, Statistics) {
    let attacks = match attacks_of(program, &program.initial_threads().collect::<Vec<_>>(), session) {
        Ok(attacks) => attacks,
        Err(limit) => return (Some(limit), Statistics::default()),
    };
    let (found, statistics) = attack(program, attacks.open.is_empty(), (most, session));
    let limit = match found {
        Ok(Cover::Unreachable) => None,
        Ok(Cover::Reachable(_)) => Some(Limit::Instances),
        Err(incomplete) => Some(incomplete.limit()),
    };
    (limit, statistics)
}

/// Each goal that an instance may violate, with the maximum number of copies to try.
fn wanted(goals: &[Goal], known: &[Known], session: &Session) -> Vec<(Goal, usize)> {
    let few = session.bound(Bound::InstanceCopies) as usize;
    let most = |(&goal, known): (&Goal, &Known)| match known {
        Known::Holds(_) => None,
        Known::Reachable(copies) => Some((goal, (*copies).max(few))),
        Known::Open(_) => Some((goal, few)),
    };
    goals.iter().zip(known).filter_map(most).collect()
}

/// The smallest instance that violates all goals of which a violation is found, with its report on them.
fn violations(
    program: &Program,
    wanted: &[(Goal, usize)],
    options: &check::Options,
    session: &Session,
) -> Result<Option<(Instance, check::Report)>, Failure> {
    let most = wanted.iter().map(|&(_, most)| most).max();
    let (mut found, mut shown): (Vec<Goal>, Option<(Instance, check::Report)>) = (Vec::new(), None);
    let ask = |instance: &Instance, asked: &[Goal]| {
        let goals = asked.iter().flat_map(|&goal| images(instance, goal)).collect();
        let options = check::Options { goals, ..options.clone() };
        let part = session.part(Some(session.bound(Bound::InstanceStates)));
        check::check(instance.program(), &options, &part)
    };
    // The largest numbers of copies in the smallest violations.
    let mut together: Vec<u32> = Vec::new();
    for instance in most.map(|most| instances(program, most as u32)).into_iter().flatten() {
        let total = instance.total() as usize;
        let asked: Vec<Goal> = wanted.iter().filter(|&&(_, most)| total <= most).map(|&(goal, _)| goal).collect();
        let is_over = session.exceeded_before_work().is_some() || session.states_left() == 0;
        if asked.iter().all(|goal| found.contains(goal)) || is_over {
            break;
        }
        if asked.iter().all(|&goal| images(&instance, goal).is_empty()) {
            continue;
        }
        let report = ask(&instance, &asked)?;
        let violated = |goal: &Goal| is_violated(&instance, &report, *goal);
        let now: Vec<Goal> = asked.iter().copied().filter(violated).collect();
        if now.iter().any(|goal| !found.contains(goal)) {
            found.extend(now.iter().filter(|goal| !found.contains(goal)).copied().collect::<Vec<_>>());
            let numbers = instance.copies().iter().map(|(_, number)| *number);
            together.resize(instance.copies().len(), 0);
            together.iter_mut().zip(numbers).for_each(|(most, number)| *most = (*most).max(number));
            shown = Some((instance, report));
        }
    }
    let Some((instance, report)) = shown else { return Ok(None) };
    let shows = |instance: &Instance, report: &check::Report| {
        found.iter().filter(|goal| is_violated(instance, report, **goal)).count()
    };
    if shows(&instance, &report) < found.len() {
        // Violations of different properties by copies of different threads.
        let larger = instantiate(program, &together);
        let of_larger = ask(&larger, &found)?;
        if shows(&larger, &of_larger) > shows(&instance, &report) {
            return Ok(Some((larger, of_larger)));
        }
    }
    Ok(Some((instance, report)))
}

/// The goals of an instance that a goal of the program stands for.
pub(super) fn images(instance: &Instance, goal: Goal) -> Vec<Goal> {
    match goal {
        Goal::Assertion(thread) => {
            let copies = instance.program().thread_ids().filter(|&copy| instance.origin(copy) == thread);
            copies.map(Goal::Assertion).collect()
        }
        Goal::Property(property) => instance.properties_of(property).iter().map(|&id| Goal::Property(id)).collect(),
        other => vec![other],
    }
}

fn is_violated(instance: &Instance, report: &check::Report, goal: Goal) -> bool {
    let images = images(instance, goal);
    report.properties.iter().any(|one| images.contains(&one.goal) && one.judgement.is_failure())
}

/// What is known in the end. Turns and instances have limits of their own, which nobody can raise.
fn unless_limited(known: Known, session: &Session) -> Known {
    match known {
        // Found, and no instance that could be searched shows it.
        Known::Reachable(_) | Known::Open(Limit::States) if session.limits().states.is_none() => {
            Known::Open(session.exceeded().unwrap_or(Limit::Instances))
        }
        known => known,
    }
}

/// What is known about each property; `images` are the goals of what the report is about.
fn report(
    images: &dyn Fn(Goal) -> Vec<Goal>,
    goals: &[Goal],
    known: &[Known],
    found: Option<check::Report>,
    statistics: Statistics,
) -> check::Report {
    let mut properties = Vec::new();
    for (&goal, known) in goals.iter().zip(known) {
        let images = images(goal);
        let violated = found.iter().flat_map(|report| &report.properties);
        let violated = violated.filter(|one| images.contains(&one.goal) && one.judgement.is_failure());
        let shown: Vec<PropertyReport> = violated.take(1).cloned().collect();
        if !shown.is_empty() {
            properties.extend(shown);
            continue;
        }
        let mut one = PropertyReport::open(images.first().copied().unwrap_or(goal));
        match known {
            Known::Holds(member) => {
                one.judgement = Judgement::Holds;
                (one.member, one.elapsed) = (Some(*member), statistics.elapsed);
            }
            // Found, and no instance that could be searched shows it.
            Known::Reachable(_) => one.judgement = Judgement::Unknown(Limit::States),
            Known::Open(limit) => one.judgement = Judgement::Unknown(*limit),
        }
        properties.push(one);
    }
    check::Report::of(properties, found.map_or_else(Vec::new, |report| report.attempts), statistics)
}
