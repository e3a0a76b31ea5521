//! Dynamic and cartesian reduction: they reach the goals that a search without reduction reaches, no others, and
//! execute the same edges.
//!
//! With `WEIR_SEEDS=10000`, so many random programs of each kind are compared.

use std::num::NonZeroUsize;

use weir::reach::{Options, Reduction, Report, Search, all_goals, reach};
use weir::{Limit, Limits, Session, Verdict};
use weir_ir::Program;
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};
use weir_testkit::{dump, shrink};
use weir_witness::{Goal, Model};

use crate::exactly::questioned;
use crate::families::{FAMILIES, parse};
use crate::numbered;

/// How many states a search may store.
const MOST_STATES: u64 = 3_000;

#[derive(Default, Debug)]
struct Tally {
    holds: u64,
    reached: u64,
    /// Of those that hold, how many have fewer states than with local steps fused.
    smaller: [u64; 2],
}

fn ask(program: &Program, options: &Options) -> Report {
    let limits = Limits { states: Some(MOST_STATES), ..Limits::default() };
    reach(program, options, &Session::new(limits)).expect("the engine handles it")
}

/// The ways to ask for a reduction: one, and another by turns.
fn ways(number: u64, plain: &Options) -> [Options; 2] {
    let jobs = NonZeroUsize::new(1 + number as usize % 2).unwrap_or(NonZeroUsize::MIN);
    let search = if number % 3 == 2 { Search::DepthFirst } else { Search::BreadthFirst };
    let cartesian =
        Options { reduction: Reduction::Cartesian, symmetry: number % 4 < 2, search, jobs, ..plain.clone() };
    [Options { reduction: Reduction::Dynamic, ..plain.clone() }, cartesian]
}

/// What is wrong, if anything.
fn compare(program: &Program, number: u64, model: Model, tally: &mut Tally) -> Result<(), String> {
    let all = all_goals(program);
    let mut asked: Vec<Vec<Goal>> = all.iter().map(|&goal| vec![goal]).collect();
    asked.push(all);
    for goals in asked.into_iter().filter(|goals| !goals.is_empty()) {
        let plain = Options { model, goals, symmetry: false, ..Options::default() };
        let expected = ask(program, &plain);
        let fused = ask(program, &Options { reduction: Reduction::Local, ..plain.clone() }).statistics.states;
        for (at, options) in ways(number, &plain).iter().enumerate() {
            let found = ask(program, options);
            let wrong = |what: &str| Err(format!("{what}: {options:?}"));
            match (&expected.verdict, &found.verdict) {
                (Verdict::Holds, Verdict::Holds) => {
                    if expected.coverage != found.coverage {
                        return wrong(&format!("{:?} is not {:?}", found.coverage, expected.coverage));
                    }
                    tally.holds += 1;
                    tally.smaller[at] += u64::from(found.statistics.states < fused);
                }
                (Verdict::Violated(_), Verdict::Violated(_)) => tally.reached += 1,
                // Whichever is stopped first.
                (Verdict::Unknown(Limit::States), _) | (Verdict::Violated(_), Verdict::Unknown(Limit::States)) => {}
                (expected, found) => return wrong(&format!("{expected:?} expected, {found:?} found")),
            }
        }
    }
    Ok(())
}

fn check(name: &str, program: &Program, number: u64, tally: &mut Tally) {
    for model in [Model::Sc, Model::Tso] {
        if let Err(wrong) = compare(program, number, model, tally) {
            let is_wrong = |program: &Program| compare(program, number, model, &mut Tally::default());
            let small = shrink(program, |smaller| is_wrong(smaller).is_err());
            let shrunk = is_wrong(&small).err().unwrap_or_default();
            panic!("{name}, {model:?}: {wrong}\nshrunk: {shrunk}\n{}", dump(&small));
        }
    }
}

fn wanted(count: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count)
}

fn agree(name: &str, config: &Config, count: u64) {
    let mut tally = Tally::default();
    for seed in 0..wanted(count) {
        let plain = program(seed, config);
        let program = if seed % 2 == 0 { questioned(&plain, seed) } else { plain };
        check(&format!("{name}, seed {seed}"), &program, seed, &mut tally);
    }
    assert!(tally.holds > count && tally.reached > count, "{name}: {tally:?}");
    assert!(tally.smaller.iter().all(|&smaller| 8 * smaller > tally.holds / 2), "{name}: {tally:?}");
}

#[test]
fn programs_with_loops() {
    agree("loops", &Config::cyclic(), 15);
}

#[test]
fn programs_with_locks_and_membarriers() {
    let config = Config::locking().weighing(Statement::Membarrier, 20).weighing(Statement::Store, 40);
    agree("locks", &config, 15);
}

#[test]
fn crowded_programs() {
    agree("crowded", &Config::crowded(), 15);
}

#[test]
fn programs_with_everything() {
    agree("everything", &Config::everything(), 15);
}

#[test]
fn programs_that_synchronize() {
    agree("synchronizing", &Config::synchronizing(), 15);
}

#[test]
fn copies_of_threads() {
    let mut tally = Tally::default();
    for seed in 0..wanted(15) {
        let text = if seed % 3 == 2 { numbered::text_about_others(seed) } else { numbered::text(seed) };
        check(&text, &parse(&text), seed, &mut tally);
    }
    assert!(tally.holds > 10 && tally.reached > 10, "{tally:?}");
}

#[test]
fn tiny_programs() {
    let mut tally = Tally::default();
    let every = if std::env::var("WEIR_SEEDS").is_ok() { 1 } else { 211 };
    for alphabet in [Alphabet::Core, Alphabet::Extended, Alphabet::Snapshots, Alphabet::Membarriers, Alphabet::Awaits] {
        for (number, (name, program)) in programs_up_to_renaming(alphabet).enumerate().step_by(every) {
            check(&name, &questioned(&program, number as u64), number as u64, &mut tally);
        }
    }
    assert!(tally.holds > 30 && tally.reached > 30, "{tally:?}");
}

#[test]
fn small_families() {
    let mut tally = Tally::default();
    let every = if std::env::var("WEIR_SEEDS").is_ok() { 1 } else { 29 };
    for (at, family) in FAMILIES.iter().enumerate() {
        for (number, (text, program)) in family.programs().into_iter().enumerate().skip(at % every).step_by(every) {
            check(&text, &questioned(&program, number as u64), number as u64, &mut tally);
        }
    }
    assert!(tally.holds > 30 && tally.reached > 30, "{tally:?}");
}
