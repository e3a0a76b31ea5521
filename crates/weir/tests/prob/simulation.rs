//! Certified intervals and simulation, two ways to the same numbers: on random programs with loops, and on every
//! example.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::prob::{
    Almost, Certainty, Fraction, Interval, Question, Settings, Simulation, UpdatePolicy, almost, cost, probability,
    simulate,
};
use weir::{Limits, Session};
use weir_ir::{BinaryOp, Expr, Program, PropertyKind, StateExpr};
use weir_testkit::chance::{Chain, Odds};
use weir_testkit::random::{Config, Statement, condition, program};
use weir_testkit::{Rng, dump};

fn session() -> Session {
    let limits = Limits { states: Some(4_000), time: Some(Duration::from_secs(20)), ..Limits::default() };
    Session::new(limits)
}

fn simulation(runs: u64) -> Simulation {
    Simulation { runs, seed: 7, most_steps: 2_000, doubt: 0.001, jobs: NonZeroUsize::MIN }
}

/// What is not certain misses its interval once in a thousand times: so often, and no oftener, the true value may lie
/// outside.
#[derive(Default)]
struct Score {
    compared: u64,
    /// Of these, with a certified interval that is as narrow as was asked for.
    narrow: u64,
    missed: Vec<String>,
    /// Qualitative questions that were asked, and those that were answered.
    asked: u64,
    answered: u64,
}

impl Score {
    /// A narrow interval must lie within the one of the simulation; a wide one must meet it.
    fn add(&mut self, certain: Interval, estimate: Interval, epsilon: f64, context: impl FnOnce() -> String) {
        let is_narrow = certain.width() <= epsilon;
        let fits = if is_narrow {
            estimate.lower - epsilon <= certain.lower && certain.upper <= estimate.upper + epsilon
        } else {
            certain.lower <= estimate.upper && estimate.lower <= certain.upper
        };
        self.compared += 1;
        self.narrow += u64::from(is_narrow);
        if !fits {
            self.missed.push(context());
        }
    }

    fn check(&self, least: u64) {
        assert!(self.compared >= least, "only {} comparisons were made", self.compared);
        // With probability 0.999 each, more misses than this happen once in a million times.
        let most = 2 + self.compared / 150;
        let missed = self.missed.len() as u64;
        assert!(missed <= most, "{missed} of {} intervals do not meet: {}", self.compared, self.missed.join("\n"));
    }
}

/// Compares all that there is to compare, and whether anything was.
fn compare(
    program: &Program,
    target: &StateExpr,
    settings: &Settings,
    score: &mut Score,
    context: &dyn Fn() -> String,
) {
    let question = Question { target: target.clone().into(), repeated: false, settings: settings.clone() };
    let found = probability(program, &question, 1e-4, &session()).expect("it can be handled");
    assert!(found.interval.lower <= found.interval.upper, "{found:?} {}", context());
    let runs = simulate(program, target, settings, &simulation(400), &session()).expect("it can be handled");
    let estimate = runs.probability;
    score.add(found.interval, estimate, 1e-4, || format!("{found:?} {runs:?} {}", context()));
    agrees_with_certainty(program, &question, found.interval, score, context);
    let again = Question { repeated: true, ..question };
    let repeated = probability(program, &again, 1e-4, &session()).expect("it can be handled").interval;
    // A target that is reached infinitely often is reached.
    assert!(repeated.lower <= found.interval.upper, "{repeated:?} {found:?} {}", context());
    agrees_with_certainty(program, &again, repeated, score, context);
    let found = cost(program, target, settings, 1e-2, &session()).expect("it can be handled");
    if let (Some(certain), Some((_, estimate)), true) = (found.cost, runs.cost, runs.undecided == 0 && runs.hits >= 100)
    {
        score.compared += 1;
        // The interval of a mean is only right for many samples: it gets a little more room.
        let room = 0.3 * (estimate.upper - estimate.lower) + 1e-9;
        if certain.upper < estimate.lower - room || certain.lower > estimate.upper + room {
            score.missed.push(format!("{certain:?} {:?} {}", runs.cost, context()));
        }
    }
}

/// Qualitative answers do not contradict the interval.
fn agrees_with_certainty(
    program: &Program,
    question: &Question,
    interval: Interval,
    score: &mut Score,
    context: &dyn Fn() -> String,
) {
    let mut ask = |which| {
        let found = almost(program, question, which, &session()).expect("it can be handled").certainty;
        score.asked += 1;
        score.answered += u64::from(!matches!(found, Certainty::Unknown(_)));
        found
    };
    match ask(Almost::Surely) {
        Certainty::Holds { .. } => assert!(interval.upper == 1.0, "{interval:?} {}", context()),
        Certainty::Fails(_) => assert!(interval.lower < 1.0, "{interval:?} {}", context()),
        Certainty::Unknown(_) => {}
    }
    match ask(Almost::Never) {
        Certainty::Holds { .. } => assert!(interval.lower == 0.0, "{interval:?} {}", context()),
        Certainty::Fails(_) => assert!(interval.upper > 0.0, "{interval:?} {}", context()),
        Certainty::Unknown(_) => {}
    }
}

/// The run that is shown is the first one that reached the target; if none did, the first one.
#[test]
fn the_first_run_is_shown_if_none_reached_the_target() {
    let text = "shared x; thread P { let r = any 0..3; while r > 0 { r = any 0..3; x = r; } if x == 7 { low: skip; } }
        thread Q { choose { high: skip; } or { skip; } or { skip; } x = 7; } forbid Q at high || P at low;";
    let (program, target) = crate::targets::read(text);
    let made = |seed: u64, runs: u64, most_steps: u64| {
        let simulation = Simulation { seed, most_steps, ..simulation(runs) };
        simulate(&program, &target, &Settings::default(), &simulation, &Session::default()).expect("it can be handled")
    };
    let executed = |run: &weir_witness::Run| {
        run.steps.iter().filter(|step| matches!(step.action, weir_witness::Action::Execute { .. })).count() as u64
    };
    let mut counts = [0, 0];
    for seed in 0..60 {
        for most_steps in [3, 8, 30] {
            let one = made(seed, 1, most_steps);
            // Where all threads are done or wait, a step may be one of the buffers alone.
            assert!(executed(&one.sample) <= one.steps, "seed {seed}: {one:?}");
            let several = made(seed, 3, most_steps);
            assert!(one.hits <= several.hits && several.hits <= 3);
            if one.hits == several.hits {
                assert_eq!(one.sample, several.sample, "seed {seed}: {several:?}");
            }
            counts[usize::from(several.hits > 0)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

fn odds(rng: &mut Rng) -> Settings {
    let stickiness = if rng.chance(20) { Fraction::parse("3") } else { None };
    let updates = match rng.below(10) {
        0 => UpdatePolicy::Single,
        1 => Fraction::parse("0.9").map_or(UpdatePolicy::Uniform, UpdatePolicy::Geometric),
        _ => UpdatePolicy::Uniform,
    };
    Settings { stickiness, updates, ..Settings::default() }
}

/// Chains that are finite and small are compared exactly elsewhere.
fn is_large(program: &Program, target: &StateExpr) -> bool {
    Chain::new(program, target, &Odds::default(), 150).is_none()
}

fn agree_on_random(config: Config, seeds: u64) {
    let config = Config { statements: (2, 4), absent_threads: 0, extremes: 0, ..config };
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(seeds);
    let mut score = Score::default();
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let program = program(seed, &config);
        let (target, settings) = (condition(&program, &mut rng), odds(&mut rng));
        if !is_large(&program, &target) {
            continue;
        }
        let context =
            || format!("seed {seed}\n{}\ntarget {}\n{settings:?}", dump(&program), program.condition_text(&target));
        compare(&program, &target, &settings, &mut score, &context);
    }
    // Most programs have small chains. Of the others, a tenth may be too hard; qualitative questions hardly ever are.
    let programs = score.asked / 4;
    score.check(seeds / 5);
    assert!(programs * 6 >= seeds, "only {programs} of {seeds} programs have large chains");
    assert!(score.narrow * 10 >= programs * 9, "only {} of {programs} intervals are narrow", score.narrow);
    assert!(score.answered + 4 >= score.asked, "only {} of {} questions are answered", score.answered, score.asked);
}

#[test]
fn random_programs_with_loops_agree_with_simulation() {
    agree_on_random(Config::cyclic(), 120);
}

#[test]
fn random_programs_with_loops_and_locks_agree_with_simulation() {
    agree_on_random(Config::cyclic().weighing(Statement::Atomic, 20).weighing(Statement::Store, 35), 80);
}

#[test]
fn every_example_agrees_with_simulation() {
    let mut score = Score::default();
    for path in examples() {
        let (program, target) = example(&path);
        if weir::reach::all_goals(&program).is_empty() {
            continue;
        }
        let question = Question { target: target.clone().into(), repeated: false, settings: Settings::default() };
        let limits = Limits { states: Some(1_000), time: Some(Duration::from_secs(5)), ..Limits::default() };
        let Ok(found) = probability(&program, &question, 1e-3, &Session::new(limits)) else { continue };
        let simulation = Simulation { most_steps: 100, ..simulation(100) };
        let runs =
            simulate(&program, &target, &Settings::default(), &simulation, &Session::new(limits)).expect("as before");
        score.add(found.interval, runs.probability, 1e-3, || format!("{found:?} {runs:?} {}", path.display()));
    }
    score.check(60);
}

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folders = std::fs::read_dir(root).expect("the examples are there").map(|entry| entry.expect("readable").path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).expect("readable"));
    let mut all: Vec<PathBuf> = files.map(|entry| entry.expect("readable").path()).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "weir"));
    all.sort();
    all
}

/// An example, with any of its properties as the target.
fn example(path: &Path) -> (Program, StateExpr) {
    let text = std::fs::read_to_string(path).expect("readable");
    let source = weir_ir::Source::new(path.display().to_string(), text);
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let program = parsed.unwrap_or_else(|errors| panic!("{errors:?}")).program;
    let conditions = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Forbid(condition) | PropertyKind::Exists(condition) => Some(condition.clone()),
        _ => None,
    });
    let target = conditions.reduce(|left, right| Expr::binary(BinaryOp::Or, left, right)).unwrap_or(Expr::Const(0));
    (program, target)
}
