//! Slices reach the goals that the whole program reaches, execute what it executes, and their runs are runs of it.

use std::collections::BTreeSet;

use weir::reach::{Options, all_goals, reach};
use weir::translate::Translation;
use weir::translate::slice::{Sliced, Slicer};
use weir::{Limits, Session, Verdict};
use weir_ir::{EdgeId, Program, ThreadId};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::{Outcome, explore};
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};
use weir_testkit::{Model, dump};
use weir_witness::{Checked, Goal};

use crate::exactly::questioned;
use crate::was_seen;

/// How many states the reference may visit.
const MOST_STATES: usize = 2_000;

/// How much was compared.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    /// Goals with a definite answer of the reference, about the whole and about the slice.
    compared: usize,
    /// Of these, how many can be reached.
    reached: usize,
    /// Slices without a thread of the program.
    fewer_threads: usize,
    /// Slices in which an instruction is another one.
    changed: usize,
    /// Slices that are finite, of programs that are not as far as the reference has come.
    finite: usize,
}

/// Compares slices of a program with the whole.
fn check(name: &str, program: &Program, tally: &mut Tally) {
    let slicer = Slicer::new(program, &Session::default());
    let goals = all_goals(program);
    let wholes = Model::ALL.map(|model| explore(program, model, MOST_STATES).expect("the reference can"));
    let questions = goals.iter().map(|&goal| vec![goal]).chain([goals.clone()]);
    for asked in questions {
        let sliced = slicer.slice(&asked);
        tally.fewer_threads += usize::from(program.running_threads().any(|thread| !sliced.is_kept(thread)));
        tally.changed += usize::from(is_changed(program, &sliced));
        for (model, whole) in Model::ALL.into_iter().zip(&wholes) {
            let context =
                || format!("{name}, {model:?}, {asked:?}\n{}\nslice:\n{}", dump(program), dump(sliced.program()));
            let part = explore(sliced.program(), model, MOST_STATES).expect("the reference can");
            tally.finite += usize::from(part.complete && !whole.complete);
            for &goal in &asked {
                compare(goal, whole, &part, tally, &context);
                maps_back(program, &sliced, model, goal, &context);
            }
            if whole.complete && part.complete && !asked.is_empty() {
                assert_eq!(executed(whole, &sliced), executed(&part, &sliced), "{}", context());
            }
        }
    }
}

fn is_changed(program: &Program, sliced: &Sliced) -> bool {
    let mut kept = program.running_threads().filter(|&thread| sliced.is_kept(thread));
    kept.any(|thread| !program.body(thread).does_the_same(sliced.program().body(thread)))
}

fn compare(goal: Goal, whole: &Outcome, part: &Outcome, tally: &mut Tally, context: &dyn Fn() -> String) {
    let (in_whole, in_part) = (was_seen(whole, goal), was_seen(part, goal));
    assert!(!(in_whole && part.complete && !in_part), "{goal:?} is lost in {}", context());
    assert!(!(in_part && whole.complete && !in_whole), "{goal:?} comes up in {}", context());
    if (whole.complete || in_whole) && (part.complete || in_part) {
        tally.compared += 1;
        tally.reached += usize::from(in_whole);
    }
}

/// What was executed of the threads that the slice has, whose instructions matter.
fn executed(outcome: &Outcome, sliced: &Sliced) -> BTreeSet<(ThreadId, EdgeId)> {
    outcome.executed.iter().copied().filter(|(thread, _)| sliced.is_kept(*thread)).collect()
}

/// A run of the slice is a run of the program.
fn maps_back(program: &Program, sliced: &Sliced, model: Model, goal: Goal, context: &dyn Fn() -> String) {
    let model = match model {
        Model::Sc => weir_witness::Model::Sc,
        _ => weir_witness::Model::Tso,
    };
    let options = Options { model, goals: vec![goal], ..Options::default() };
    let session = Session::new(Limits { states: Some(MOST_STATES as u64), ..Limits::default() });
    let report = reach(sliced.program(), &options, &session).expect("the engine can");
    if let Verdict::Violated(found) = report.verdict {
        let run = sliced.map_back(program, found.run());
        if let Err(error) = Checked::new(program, run.clone(), goal) {
            panic!("{goal:?}: {error}\n{:?}\n{run:?}\n{}", found.run(), context());
        }
    }
}

fn random(name: &str, config: &Config, count: u64, least: Tally) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tally = Tally::default();
    for seed in 0..count {
        let plain = program(seed, config);
        let program = if seed % 2 == 0 { questioned(&plain, seed) } else { plain };
        check(&format!("{name} program, seed {seed}"), &program, &mut tally);
    }
    let found = [tally.compared, tally.reached, tally.fewer_threads, tally.changed];
    let wanted = [least.compared, least.reached, least.fewer_threads, least.changed];
    assert!(found.iter().zip(wanted).all(|(found, wanted)| *found >= wanted), "{name}: {tally:?}, wanted {least:?}");
}

/// Many cells and registers, so that some of them do not matter.
fn loose(config: Config) -> Config {
    Config { cells: 4, registers: 3, threads: (2, 3), properties: 3, ..config }
        .weighing(Statement::Membarrier, 3)
        .weighing(Statement::Await, 3)
        .weighing(Statement::Assume, 2)
        .weighing(Statement::Assert, 2)
}

fn least(compared: usize, reached: usize, fewer_threads: usize, changed: usize) -> Tally {
    Tally { compared, reached, fewer_threads, changed, finite: 0 }
}

#[test]
fn slices_of_acyclic_programs() {
    random("acyclic", &loose(Config::acyclic()), 60, least(100, 20, 1, 5));
}

#[test]
fn slices_of_programs_with_loops() {
    random("cyclic", &loose(Config::cyclic()), 40, least(100, 20, 1, 5));
}

#[test]
fn slices_of_programs_with_locks() {
    random("locking", &loose(Config::locking()), 60, least(100, 20, 1, 5));
}

#[test]
fn slices_of_programs_with_everything() {
    random("everything", &loose(Config::everything()), 60, least(100, 20, 1, 5));
}

#[test]
fn slices_of_programs_with_wild_data() {
    random("wild", &loose(Config::wild_data()), 40, least(100, 20, 1, 5));
}

#[test]
fn slices_of_tiny_programs() {
    let mut tally = Tally::default();
    for (alphabet, every) in [(Alphabet::Core, 23), (Alphabet::Membarriers, 11), (Alphabet::Awaits, 17)] {
        for (name, program) in programs_up_to_renaming(alphabet).step_by(every) {
            check(&name, &program, &mut tally);
        }
    }
    assert!(tally.compared >= 1, "{tally:?}");
}
