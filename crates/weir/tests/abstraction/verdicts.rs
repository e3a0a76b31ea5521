//! Verdicts agree with the reference interpreter, goal by goal, and so do certificates.

use weir::reach::{Engine, Options, all_goals, certify};
use weir::{Failure, Limit, Verdict};
use weir_ir::{LocId, Program, Property, PropertyKind, Span};
use weir_testkit::random::{self, Config};
use weir_testkit::sketch::{all_of, at as at_location, cell_value, equal, register_of};
use weir_testkit::{Model, Outcome, dump, explore, shrink, variants};
use weir_witness::{Goal, check_certificate};

use crate::support::{ask, options, seeds, session, to_testkit, word};

/// States that the reference interpreter may visit.
const REFERENCE: usize = 2000;

/// States that an engine may visit in all.
const STATES: u64 = 20_000;

const QUESTIONS: [(Engine, Option<u32>, Option<Model>); 6] = [
    (Engine::Set, None, Some(Model::Set)),
    (Engine::Multiset, None, Some(Model::Multiset)),
    (Engine::Coherence, Some(0), Some(Model::Coherence(0))),
    (Engine::Coherence, Some(1), Some(Model::Coherence(1))),
    (Engine::Coherence, Some(3), Some(Model::Coherence(3))),
    (Engine::Coherence, None, None),
];

/// How many answers of each kind there were.
#[derive(Default, Debug)]
struct Tally {
    proved: u64,
    found: u64,
    alarms: u64,
    proved_beyond_the_reference: u64,
    certificates: u64,
}

fn compare(program: &Program, tally: &mut Tally) -> Result<(), String> {
    let tso = explore(program, Model::Tso, REFERENCE).map_err(|refused| format!("{refused:?}"))?;
    for (engine, bound, model) in QUESTIONS {
        let naive = model.and_then(|model| explore(program, model, REFERENCE).ok()).filter(|naive| naive.complete);
        for goal in all_goals(program) {
            let question = options(engine, bound, &[goal]);
            let report = ask(program, &question, STATES);
            let about = format!("{} {bound:?} {goal:?}", engine.name());
            agrees(&report.verdict, goal, &tso, naive.as_ref(), tally).map_err(|wrong| format!("{about}: {wrong}"))?;
            if let (Verdict::Holds, Some(buffering)) = (&report.verdict, report.buffering) {
                certified(program, &question, buffering, tally).map_err(|wrong| format!("{about}: {wrong}"))?;
            }
        }
    }
    Ok(())
}

fn agrees<E>(
    verdict: &Verdict<E>,
    goal: Goal,
    tso: &Outcome,
    naive: Option<&Outcome>,
    tally: &mut Tally,
) -> Result<(), String> {
    let goal = to_testkit(goal);
    let can_be_reached = tso.goals.contains_key(&goal);
    let is_alarm = naive.map(|naive| naive.goals.contains_key(&goal));
    match verdict {
        Verdict::Holds if can_be_reached => Err("proved what can be reached".to_owned()),
        Verdict::Holds if is_alarm == Some(true) => Err("proved what the approximation reaches".to_owned()),
        Verdict::Holds => {
            tally.proved += 1;
            tally.proved_beyond_the_reference += u64::from(!tso.complete);
            Ok(())
        }
        Verdict::Violated(_) if tso.complete && !can_be_reached => Err("found what cannot be reached".to_owned()),
        Verdict::Violated(_) => {
            tally.found += 1;
            Ok(())
        }
        Verdict::Unknown(Limit::Alarm) if is_alarm == Some(false) => {
            Err("an alarm that the rules do not raise".to_owned())
        }
        Verdict::Unknown(Limit::Alarm) => {
            tally.alarms += 1;
            Ok(())
        }
        Verdict::Unknown(_) => Ok(()),
    }
}

/// The states are a certificate; with one of them missing they are none.
fn certified(
    program: &Program,
    question: &Options,
    buffering: weir_witness::Buffering,
    tally: &mut Tally,
) -> Result<(), String> {
    // A certificate has each state for itself, also those that the search visits in one order only.
    let mut certificate = match certify(program, question, buffering, &session(STATES)) {
        Err(Failure::Stopped(_)) => return Ok(()),
        certificate => certificate.map_err(|failure| failure.to_string())?,
    };
    check_certificate(program, &certificate).map_err(|error| error.to_string())?;
    tally.certificates += 1;
    let without = tally.certificates as usize % certificate.states.len();
    certificate.states.swap_remove(without);
    match check_certificate(program, &certificate) {
        Ok(()) => Err(format!("a certificate without its state {without} still counts")),
        Err(_) => Ok(()),
    }
}

#[test]
fn a_certificate_is_none_of_a_program_that_is_not_safe() {
    let (mut certificates, mut refused) = (0, 0);
    for seed in 0..150 {
        let program = random::program(seed, &[Config::acyclic(), Config::locking()][seed as usize % 2]);
        for (number, goal) in all_goals(&program).into_iter().enumerate() {
            let (engine, bound, _) = QUESTIONS[(seed as usize + number) % QUESTIONS.len()];
            let question = options(engine, bound, &[goal]);
            let report = ask(&program, &question, STATES);
            let (Verdict::Holds, Some(buffering)) = (&report.verdict, report.buffering) else { continue };
            let Ok(certificate) = certify(&program, &question, buffering, &session(STATES)) else { continue };
            certificates += 1;
            for variant in variants(&program) {
                let reached = explore(&variant, Model::Tso, REFERENCE).expect("supported").goals;
                if reached.contains_key(&to_testkit(goal)) {
                    assert!(check_certificate(&variant, &certificate).is_err(), "seed {seed}\n{}", dump(&variant));
                    refused += 1;
                }
            }
        }
    }
    assert!(certificates > 60 && refused > 20, "{certificates} certificates, {refused} refused");
}

fn random(config: &Config, count: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..seeds(count) {
        let program = random::program(seed, config);
        if let Err(wrong) = compare(&program, &mut tally) {
            let small = shrink(&program, |smaller| compare(smaller, &mut Tally::default()).is_err());
            let shrunk = compare(&small, &mut Tally::default()).err().unwrap_or_default();
            panic!("seed {seed}: {wrong}\nshrunk: {shrunk}\n{}", dump(&small));
        }
    }
    tally
}

#[test]
fn verdicts_agree_on_programs_with_loops() {
    let tally = random(&Config::cyclic(), 200);
    let enough = tally.proved > 100 && tally.found > 100 && tally.proved_beyond_the_reference > 4;
    let enough = enough && tally.certificates * 100 >= tally.proved * 99;
    assert!(enough, "{tally:?}");
}

#[test]
fn verdicts_agree_on_programs_without_loops() {
    let tally = random(&Config::acyclic(), 70);
    assert!(tally.proved > 70 && tally.found > 70, "{tally:?}");
}

#[test]
fn verdicts_agree_on_programs_with_locks() {
    let tally = random(&Config::locking(), 70);
    assert!(tally.proved > 35 && tally.found > 35, "{tally:?}");
}

#[test]
fn verdicts_agree_on_programs_with_pointers_and_ranges() {
    let tally = random(&Config::wild_data(), 70);
    assert!(tally.proved > 35 && tally.found > 35, "{tally:?}");
}

/// The same code in every thread, with goals that tell threads apart and goals that do not.
fn with_equal_threads(program: &Program, seed: u64) -> Program {
    let mut program = program.clone();
    let body = program.threads[0].body.clone();
    for thread in &mut program.threads {
        thread.body = body.clone();
    }
    let place = |thread: u32, at: u64| at_location(thread, LocId::new((seed + at) as usize % body.locations.len()));
    let one = equal(cell_value(program.shared[0].address), 1);
    let conditions = [
        all_of([place(0, 1), place(1, 1)]),
        all_of([place(1, 2), place(0, 3)]),
        all_of([place(0, 2), one.clone()]),
        all_of([place(1, 2), one]),
        all_of([equal(register_of(0, 0), 1), equal(register_of(1, 0), 1)]),
    ];
    program.properties.clear();
    program
        .properties
        .extend(conditions.map(|condition| Property { kind: PropertyKind::Forbid(condition), span: Span::default() }));
    program
}

#[test]
fn verdicts_agree_on_programs_with_equal_threads() {
    let mut tally = Tally::default();
    for seed in 0..seeds(45) {
        let config = [Config::cyclic(), Config::locking(), Config::crowded()][seed as usize % 3].clone();
        let program = with_equal_threads(&random::program(seed, &config), seed);
        compare(&program, &mut tally).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{}", dump(&program)));
        // All goals at once are symmetric where one alone is not.
        let tso = explore(&program, Model::Tso, REFERENCE).expect("supported");
        let reached = all_goals(&program).into_iter().filter(|goal| tso.goals.contains_key(&to_testkit(*goal))).count();
        for engine in [Engine::Set, Engine::Multiset, Engine::Coherence] {
            let report = ask(&program, &options(engine, None, &all_goals(&program)), STATES);
            assert!(
                word(&report) != "unreachable" || reached == 0,
                "seed {seed}: {}\n{}",
                engine.name(),
                dump(&program)
            );
            let executed = |thread, edge| tso.executed.contains(&(thread, edge));
            let wrong = report.coverage.unexecuted.iter().find(|&&(thread, edge)| executed(thread, edge));
            assert!(word(&report) != "unreachable" || wrong.is_none(), "seed {seed}: {wrong:?} is executed");
        }
    }
    assert!(tally.proved > 45 && tally.found > 45 && tally.certificates > 45, "{tally:?}");
}

#[test]
fn the_answer_does_not_depend_on_workers_or_order() {
    use std::num::NonZeroUsize;
    use weir::reach::Search;
    for seed in 0..40 {
        let program = random::program(seed, &Config::cyclic());
        for (engine, bound, _) in QUESTIONS {
            for goal in all_goals(&program) {
                let one = options(engine, bound, &[goal]);
                let three = Options { jobs: NonZeroUsize::new(3).expect("not 0"), ..one.clone() };
                let (first, second) = (ask(&program, &one, STATES), ask(&program, &three, STATES));
                assert_eq!(word(&first), word(&second), "seed {seed}");
                assert_eq!(first.statistics.states, second.statistics.states, "seed {seed}");
                let deep = ask(&program, &Options { search: Search::DepthFirst, ..one }, STATES);
                assert_eq!(word(&deep) == "unreachable", word(&first) == "unreachable", "seed {seed}");
            }
        }
    }
}
