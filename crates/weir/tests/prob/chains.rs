//! On random programs with finite chains, every answer equals that of the naive chain in exact fractions: with loops,
//! locks, waits and choices, under
//! every update policy, stickiness, weight and cost. An answer must be given: what is finite and small leaves no
//! excuse.

use weir::prob::{Alternative, Target};
use weir_ir::{CostRule, CostSubject, Expr, Program, Span};
use weir_testkit::Rng;
use weir_testkit::chance::Chain;
use weir_testkit::random::{Config, Statement, condition, program};

use crate::naive::{Case, Score, is_open};
use crate::odds::odds;

/// Random weights, and cost rules of every subject in any order: later ones win.
fn priced(mut program: Program, rng: &mut Rng) -> Program {
    for thread in &mut program.threads {
        thread.weight = rng.between(1, 5) as u32;
    }
    let places = program.threads.iter().flat_map(|thread| thread.body.locations.iter());
    let labels: Vec<CostSubject> =
        places.flat_map(|place| place.labels.iter().cloned()).map(CostSubject::Label).collect();
    let kinds = [
        CostSubject::Load,
        CostSubject::Store,
        CostSubject::Fence,
        CostSubject::ReadModifyWrite,
        CostSubject::Lock,
        CostSubject::Local,
    ];
    for _ in 0..rng.below(12) {
        let subject = if rng.chance(30) { rng.pick(&labels).clone() } else { rng.pick(&kinds).clone() };
        program.costs.push(CostRule { subject, cost: rng.below(9) as i64, span: Span::default() });
    }
    program
}

/// Larger chains are left out.
const MOST: usize = 200;

/// Candidates for a target; the first that is reached in some runs and missed in others is taken.
const CANDIDATES: usize = 6;

/// A program, odds and a target, with the naive chain; none if that is too large.
fn case(seed: u64, config: &Config, most: usize) -> Option<(Case, Chain)> {
    let mut rng = Rng::new(seed);
    let program = priced(program(seed, config), &mut rng);
    let settings = odds(&mut rng);
    let mut target = condition(&program, &mut rng);
    let mut chain = Chain::new(&program, &target, &settings.naive(), most)?;
    for _ in 1..CANDIDATES {
        if is_open(&chain.probability()) || is_open(&chain.again_and_again()) {
            break;
        }
        target = condition(&program, &mut rng);
        chain = chain.with_target(&target);
    }
    Some((Case { name: format!("seed {seed}"), settings, program, target: target.into() }, chain))
}

/// The same with threads that are stuck as the target.
fn stuck_case(seed: u64, config: &Config, most: usize) -> Option<(Case, Chain)> {
    let mut rng = Rng::new(seed);
    let program = priced(program(seed, config), &mut rng);
    let settings = odds(&mut rng);
    let chain = Chain::new(&program, &Expr::Const(0), &settings.naive(), most)?.with_stuck_target();
    let target = Target::any_of([Alternative::Stuck]);
    Some((Case { name: format!("seed {seed}"), settings, program, target }, chain))
}

/// Compares the programs of so many seeds, where their chains are small; at least these percentages must be worth it.
fn agree(config: Config, seeds: u64, least: [usize; 4]) {
    agree_on(case, config, seeds, least);
}

fn agree_on(
    case: impl Fn(u64, &Config, usize) -> Option<(Case, Chain)>,
    config: Config,
    seeds: u64,
    least: [usize; 4],
) {
    let config = Config { threads: (1, 3), absent_threads: 5, ..config };
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(seeds);
    let mut score = Score::default();
    for seed in 0..seeds {
        if let Some((case, chain)) = case(seed, &config, MOST) {
            case.compare(&chain, &mut score);
            if seed % 8 == 0 {
                case.simulate(&chain, 300);
            }
        }
    }
    score.check(seeds, least);
}

#[test]
fn programs_with_stuck_threads_agree() {
    let config = Config { statements: (2, 4), cells: 2, ..Config::locking() };
    let config = config.weighing(Statement::Await, 6).weighing(Statement::Choice, 30).weighing(Statement::Havoc, 10);
    agree_on(stuck_case, config.weighing(Statement::Assume, 12), 200, [60, 6, 6, 30]);
}

#[test]
fn programs_without_loops_agree() {
    agree(Config { statements: (1, 3), ..Config::acyclic() }, 250, [80, 25, 9, 50]);
}

#[test]
fn programs_with_loops_agree() {
    let config = Config { statements: (2, 4), ..Config::cyclic() };
    let config = config.weighing(Statement::UnboundedLoop, 30).weighing(Statement::Store, 8);
    agree(config, 400, [70, 12, 6, 33]);
}

#[test]
fn programs_that_lock_agree() {
    let config = Config { statements: (1, 3), ..Config::locking() };
    let config = config.weighing(Statement::UnboundedLoop, 20).weighing(Statement::StrayLock, 12);
    agree(config, 400, [80, 19, 14, 44]);
}

#[test]
fn programs_with_membarriers_agree_with_the_naive_chain() {
    let config = Config { statements: (1, 3), ..Config::locking() }.weighing(Statement::Membarrier, 20);
    agree(config, 120, [60, 15, 5, 30]);
}

#[test]
fn programs_with_awaits_agree_with_the_naive_chain() {
    let config = Config { statements: (1, 3), ..Config::acyclic() }.weighing(Statement::Await, 30);
    agree(config, 120, [60, 15, 5, 30]);
}

#[test]
fn programs_that_wrap_agree_with_the_naive_chain() {
    let config = Config { statements: (1, 3), ..Config::wrapping() };
    agree(config, 120, [60, 10, 4, 30]);
}
