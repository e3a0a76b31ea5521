//! All engines together, property by property.

use weir::check::{Judgement, Options, Report, Vacuity, check};
use weir::{Failure, Limits, Session};
use weir_ir::{
    EdgeId, Expr, Instruction, LocId, Program, Property, PropertyId, PropertyKind, Span, StateAtom, StateExpr, ThreadId,
};
use weir_testkit::random::{Config, program};
use weir_testkit::reference::{self, Outcome, explore, violated_liveness};
use weir_testkit::{Rng, dump, shrink};
use weir_witness::{Goal, Model};

use crate::exactly::questioned;
use crate::families::FAMILIES;
use crate::was_seen;

const MODELS: [Model; 2] = [Model::Sc, Model::Tso];

/// How many states the reference visits.
const MOST: usize = 3_000;

/// How many of the properties had which verdict.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    programs: u64,
    holds: u64,
    violated: u64,
    met: u64,
    not_met: u64,
    unknown: u64,
    /// Programs of which some properties fail and some do not.
    mixed: u64,
    vacuous: u64,
    /// Violations that only buffers make possible.
    by_buffers: u64,
}

fn of_reference(model: Model) -> reference::Model {
    match model {
        Model::Sc => reference::Model::Sc,
        Model::Tso => reference::Model::Tso,
    }
}

/// The portfolio's answer, if it supports the program.
fn answer(program: &Program, model: Model) -> Result<Option<Report>, String> {
    let session = Session::new(Limits { states: Some(20_000), ..Limits::default() });
    match check(program, &Options { model, ..Options::default() }, &session) {
        Ok(answer) => Ok(Some(answer)),
        Err(Failure::Refused(_) | Failure::TooLarge(_)) => Ok(None),
        Err(what) => Err(what.to_string()),
    }
}

/// What the reference finds under each of [`MODELS`].
fn explored(program: &Program) -> Result<[Outcome; 2], String> {
    let [sc, tso] = MODELS.map(|model| explore(program, of_reference(model), MOST));
    Ok([sc.map_err(|refused| format!("{refused:?}"))?, tso.map_err(|refused| format!("{refused:?}"))?])
}

/// Compares the verdict about each property with the reference.
fn compare(program: &Program, model: Model, references: &[Outcome; 2], tally: &mut Tally) -> Result<(), String> {
    let reference = &references[usize::from(model == Model::Tso)];
    let Some(report) = answer(program, model)? else { return Ok(()) };
    let lost = violated_liveness(program, of_reference(model), MOST).map_err(|refused| format!("{refused:?}"))?;
    tally.programs += 1;
    for one in &report.properties {
        let is_lost =
            |id: &PropertyId| lost.as_ref().is_some_and(|lost| lost.contains(&reference::Goal::Property(*id)));
        let is_liveness = |id: &PropertyId| program.properties[id.index()].kind.is_liveness();
        let (reached, is_complete) = match one.goal {
            Goal::Property(id) if is_liveness(&id) => (is_lost(&id), lost.is_some()),
            goal => (was_seen(reference, goal), reference.complete),
        };
        let name = one.judgement.name();
        let is_exists = weir::check::is_exists(program, one.goal);
        let is_right = match &one.judgement {
            Judgement::Holds => !is_exists && !reached,
            Judgement::NotMet => is_exists && !reached,
            // A run that was replayed is evidence where the reference did not get so far.
            Judgement::Violated(run) => !is_exists && run.goal() == one.goal && (reached || !is_complete),
            Judgement::Met(run) => is_exists && run.goal() == one.goal && (reached || !is_complete),
            Judgement::Unknown(_) => true,
        };
        if !is_right || one.judgement.run().is_some_and(|run| run.run().model != model) {
            return Err(format!("{:?} is {name}, reached: {reached}, complete: {is_complete}", one.goal));
        }
        let is_unknown = matches!(one.judgement, Judgement::Unknown(_));
        if is_unknown != one.member.is_none() {
            return Err(format!("{:?} is {name} according to {:?}", one.goal, one.member));
        }
        compare_vacuity(program, reference, one, tally)?;
        needs_buffers_if_shown(program, one, &references[0], tally)?;
        *match one.judgement {
            Judgement::Holds => &mut tally.holds,
            Judgement::Violated(_) => &mut tally.violated,
            Judgement::Met(_) => &mut tally.met,
            Judgement::NotMet => &mut tally.not_met,
            Judgement::Unknown(_) => &mut tally.unknown,
        } += 1;
    }
    let fails = |one: &weir::check::PropertyReport| one.judgement.is_failure();
    tally.mixed += u64::from(report.properties.iter().any(fails) && !report.properties.iter().all(fails));
    Ok(())
}

/// A run of a violated property shows store buffers at work only if the property holds without them.
fn needs_buffers_if_shown(
    program: &Program,
    one: &weir::check::PropertyReport,
    sc: &Outcome,
    tally: &mut Tally,
) -> Result<(), String> {
    let Judgement::Violated(run) = &one.judgement else { return Ok(()) };
    let is_deadlock = matches!(one.goal, Goal::Property(id)
        if program.properties[id.index()].kind == PropertyKind::ForbidDeadlock);
    // A deadlock without buffers need not be one with them if there are locks.
    if run.happens_before().cycle().is_none() || is_deadlock && program.uses_lock() {
        return Ok(());
    }
    tally.by_buffers += u64::from(sc.complete);
    if was_seen(sc, one.goal) { Err(format!("{:?} needs no buffers", one.goal)) } else { Ok(()) }
}

/// What is called vacuous is so, and where the reference knows all, what is not called so is not.
fn compare_vacuity(
    program: &Program,
    reference: &Outcome,
    one: &weir::check::PropertyReport,
    tally: &mut Tally,
) -> Result<(), String> {
    let is_reached = |thread, location: LocId| {
        let body = program.body(thread);
        // Where a failed assertion leads is another place.
        let enters = |&(of, edge): &(ThreadId, EdgeId)| {
            of == thread
                && body.edge(edge).to == location
                && !matches!(body.edge(edge).instruction, Instruction::Assert(_))
        };
        let starts = program.running_threads().any(|running| running == thread);
        starts && location == body.entry || reference.executed.iter().any(enters)
    };
    // Where an assertion leads that is executed is not known.
    let is_entered = |thread: ThreadId, location: LocId| {
        let body = program.body(thread);
        let enters = |&(of, edge): &(ThreadId, EdgeId)| {
            let edge = body.edge(edge);
            of == thread
                && (edge.to == location
                    || matches!(edge.instruction, Instruction::Assert(_)) && body.failed == Some(location))
        };
        is_reached(thread, location) || reference.executed.iter().any(enters)
    };
    let claim = match &one.vacuity {
        Vacuity::NoRunEnds => reference.final_states.is_empty(),
        Vacuity::Unreached(places) => {
            places.iter().all(|(thread, locations)| !locations.iter().any(|&location| is_reached(*thread, location)))
        }
        Vacuity::NoAssertion(thread) => {
            let body = program.body(*thread);
            let asserts = |&(of, edge): &(ThreadId, EdgeId)| {
                of == *thread && matches!(body.edge(edge).instruction, Instruction::Assert(_))
            };
            !reference.executed.iter().any(asserts)
        }
        Vacuity::No => {
            let is_always = matches!(one.goal, Goal::Property(property)
                if matches!(program.properties[property.index()].kind, PropertyKind::Always(_)));
            let has_ended = !reference.final_states.is_empty() || !reference.complete;
            let place =
                forbidden_place(program, one.goal).filter(|_| one.judgement == Judgement::Holds && reference.complete);
            let is_place_reached =
                place.is_none_or(|(thread, locations)| locations.iter().any(|&location| is_entered(thread, location)));
            (!is_always || one.judgement != Judgement::Holds || has_ended) && is_place_reached
        }
        Vacuity::NoThread(thread) => !program.running_threads().any(|running| running == *thread),
        Vacuity::Unknown => true,
    };
    tally.vacuous += u64::from(one.vacuity.is_vacuous() == Some(true));
    if claim { Ok(()) } else { Err(format!("{:?} of {:?} is wrong", one.vacuity, one.goal)) }
}

/// The place, if the property forbids just one.
fn forbidden_place(program: &Program, goal: Goal) -> Option<(ThreadId, Vec<LocId>)> {
    let Goal::Property(property) = goal else { return None };
    match &program.properties[property.index()].kind {
        PropertyKind::Forbid(Expr::Leaf(StateAtom::At { thread, locations })) => Some((*thread, locations.clone())),
        _ => None,
    }
}

/// Compares, and shrinks what disagrees.
fn agree(name: &str, program: &Program, tally: &mut Tally) {
    let references = explored(program).unwrap_or_else(|refused| panic!("{name}: {refused}"));
    let alone = |program: &Program, model| compare(program, model, &explored(program)?, &mut Tally::default());
    for model in MODELS {
        let Err(what) = compare(program, model, &references, tally) else { continue };
        let small = shrink(program, |smaller| alone(smaller, model).is_err());
        let shrunk = alone(&small, model).err().unwrap_or_default();
        panic!("{name} under {}: {what}\nshrunk: {shrunk}\n{}", model.name(), dump(&small));
    }
}

/// A random program with two to four properties, of all kinds.
fn with_properties(seed: u64) -> Program {
    let config = [Config::acyclic(), Config::cyclic(), Config::locking()][seed as usize % 3].clone();
    let mut program = program(seed, &config);
    let mut rng = Rng::new(seed ^ 0x9e37);
    program.properties.truncate(4);
    let wanted = rng.between(2, 4);
    while program.properties.len() < wanted {
        let kind = match rng.below(8) {
            0 | 1 => PropertyKind::ForbidDeadlock,
            2 => PropertyKind::Exists(place(&program, &mut rng)),
            3 => PropertyKind::Always(Expr::unary(weir_ir::UnaryOp::Not, place(&program, &mut rng))),
            4 => PropertyKind::ForbidStuck,
            5 => PropertyKind::Live(place(&program, &mut rng)),
            _ => PropertyKind::Forbid(place(&program, &mut rng)),
        };
        program.properties.push(Property { kind, span: Span::default() });
    }
    program
}

/// A place of some thread.
fn place(program: &Program, rng: &mut Rng) -> StateExpr {
    let threads: Vec<_> = program.thread_ids().collect();
    let thread = *rng.pick(&threads);
    let location = LocId::new(rng.below(program.body(thread).locations.len()));
    Expr::Leaf(StateAtom::At { thread, locations: vec![location] })
}

#[test]
fn every_verdict_agrees_with_the_reference_on_random_programs() {
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(400);
    let mut tally = Tally::default();
    for seed in 0..seeds {
        agree(&format!("seed {seed}"), &with_properties(seed), &mut tally);
    }
    let Tally { programs, holds, violated, met, not_met, mixed, vacuous, .. } = tally;
    assert!(programs > seeds, "{tally:?}");
    let each = [holds, violated, met, not_met, mixed, vacuous];
    assert!(each.iter().all(|&count| count > seeds / 20), "{tally:?}");
}

#[test]
fn every_verdict_agrees_with_the_reference_on_small_families() {
    let mut tally = Tally::default();
    for family in &FAMILIES {
        for (number, (text, program)) in family.programs().into_iter().enumerate().step_by(3) {
            agree(&text, &questioned(&program, number as u64), &mut tally);
        }
    }
    let Tally { holds, violated, met, not_met, mixed, .. } = tally;
    assert!([holds, violated, met, not_met, mixed].iter().all(|&count| count > 10), "{tally:?}");
}

/// All of a report that does not mention time.
fn timeless(report: &Report) -> String {
    let property = |one: &weir::check::PropertyReport| {
        let run = one.judgement.run().map(|checked| format!("{:?}", checked.run()));
        let judgement = one.judgement.name();
        format!("{:?} {judgement} {:?} {:?} {:?} {run:?}\n", one.goal, one.member, one.buffering, one.vacuity)
    };
    let untimed = |statistics| weir::reach::Statistics { elapsed: std::time::Duration::ZERO, ..statistics };
    let attempt = |attempt: &weir::check::Attempt| {
        format!("{} {:?} {:?} {:?}\n", attempt.round, attempt.member, attempt.end, untimed(attempt.statistics))
    };
    let properties: String = report.properties.iter().map(property).collect();
    let attempts: String = report.attempts.iter().map(attempt).collect();
    format!("{properties}{attempts}{:?}{:?}", untimed(report.statistics), report.coverage)
}

/// Who wins, with which run, and what the others did does not depend on who was faster.
#[test]
fn the_same_engine_wins_every_time() {
    for seed in 0..60 {
        let program = with_properties(seed);
        let report = || answer(&program, Model::Tso).expect("no bug").as_ref().map(timeless);
        let first = report();
        for _ in 0..2 {
            assert_eq!(report(), first, "seed {seed}\n{}", dump(&program));
        }
    }
}
