//! Random programs with recursive procedures and `spawn`.

use std::fmt::Write as _;

use weir::reach::{self, Engine};
use weir::{Failure, Verdict};
use weir_testkit::Rng;
use weir_testkit::reference::Depth;
use weir_witness::{Goal, Model};

use super::compare::{compare, dynamic_program, expected, reached};

/// How many programs: `WEIR_SEEDS`, or few.
fn seeds(few: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(few)
}

/// What a body can do.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The procedures that it can call.
    procedures: &'a [&'a str],
    /// Whether it is a procedure, with a parameter `n`.
    is_procedure: bool,
    spawns: bool,
}

/// The text of a random program. Without `spawn`, if there shall be none.
pub(crate) fn program(rng: &mut Rng, spawns: bool) -> String {
    let mut text = String::from("shared x, y: 0..2;\n");
    let procedures: &[&str] = match rng.below(3) {
        0 if spawns => &[],
        0 | 1 => &["f"],
        _ => &["f", "g"],
    };
    let spawns = spawns && (procedures.is_empty() || rng.chance(60));
    for name in procedures {
        let scope = Scope { procedures, is_procedure: true, spawns };
        // Each calls itself or the other one, so that none is inlined.
        let next = if *name == "f" { procedures[procedures.len() - 1] } else { "f" };
        let before = block(rng, scope, 1);
        let after = block(rng, scope, 1);
        let guard = *rng.pick(&["n > 0", "n > 0", "n > 0", "n >= 0", "x == 0"]);
        let result = *rng.pick(&["r", "n", "r + 1", "0"]);
        let _ = writeln!(
            text,
            "proc {name}(n) {{ let r; {before} if {guard} {{ {} }} {after} return {result}; }}",
            *rng.pick(&[
                format!("r = {next}(n - 1);"),
                format!("{next}(n - 1);"),
                format!("r = {next}(n - 1); r = {next}(r - 1);"),
                format!("{next}(n - 1); x = n;"),
            ]),
        );
    }
    let scope = Scope { procedures, is_procedure: false, spawns };
    let _ = writeln!(text, "thread P {{ let r; {} }}", block(rng, scope, 3));
    if rng.chance(50) {
        let quiet = Scope { procedures: if rng.chance(30) { procedures } else { &[] }, spawns: false, ..scope };
        let _ = writeln!(text, "thread Q {{ let r; {} }}", block(rng, quiet, 2));
    }
    if spawns {
        let inner =
            Scope { spawns: rng.chance(20), procedures: if rng.chance(20) { procedures } else { &[] }, ..scope };
        let _ = writeln!(text, "thread T[0] {{ let r; {} here: skip; }}", block(rng, inner, 2));
        let _ = writeln!(text, "forbid T at here && x == 1;");
        let _ = writeln!(text, "forbid count(T at end) >= 2;");
        let _ = writeln!(text, "forbid count(T at here) + count(T at end) == 0 && P at end;");
    }
    for value in 0..3 {
        let _ = writeln!(text, "forbid P.r == {value} && x == {};", rng.below(3));
        let _ = writeln!(text, "forbid P at end && y == {value} && x == {};", rng.below(3));
    }
    let _ = writeln!(text, "forbid deadlock;\nexists x == {} && P.r == {};", rng.below(3), rng.below(2));
    let _ = writeln!(text, "always x == {} || y == {};", rng.below(2), rng.below(2));
    text
}

fn block(rng: &mut Rng, scope: Scope<'_>, most: usize) -> String {
    let count = rng.between(0, most);
    (0..count.max(usize::from(most > 1))).map(|_| statement(rng, scope) + " ").collect()
}

fn statement(rng: &mut Rng, scope: Scope<'_>) -> String {
    let cell = *rng.pick(&["x", "y"]);
    let value = rng.below(3);
    let call = |rng: &mut Rng| {
        let name = rng.pick(scope.procedures);
        let argument = if scope.is_procedure { "n - 1".to_owned() } else { rng.below(3).to_string() };
        if rng.chance(60) { format!("r = {name}({argument});") } else { format!("{name}({argument});") }
    };
    match rng.below(20) {
        0..=3 => format!("{cell} = {value};"),
        4..=5 => format!("r = {cell};"),
        6..=9 if scope.spawns => "spawn T;".to_owned(),
        6..=9 if !scope.procedures.is_empty() && !scope.is_procedure => call(rng),
        10..=12 if !scope.procedures.is_empty() && !scope.is_procedure => call(rng),
        13 => "fence;".to_owned(),
        14 => format!("r = xchg({cell}, {value});"),
        15 => format!("assert r != {value};"),
        16 => format!("if r == {value} {{ {} }} else {{ {} }}", simple(rng), simple(rng)),
        17 if scope.spawns && rng.chance(30) => format!("while r < 2 {{ spawn T; r += 1; {} }}", simple(rng)),
        17 => format!("choose {{ {} }} or {{ {} }}", simple(rng), simple(rng)),
        18 if !scope.is_procedure && !scope.procedures.is_empty() => format!("atomic {{ {} }}", call(rng)),
        18 if scope.spawns => format!("atomic {{ {cell} = {value}; spawn T; }}"),
        18 => "terminate;".to_owned(),
        19 => format!("assume r != {value};"),
        _ => simple(rng),
    }
}

fn simple(rng: &mut Rng) -> String {
    let (cell, value) = (*rng.pick(&["x", "y"]), rng.below(3));
    match rng.below(4) {
        0 => format!("{cell} = {value};"),
        1 => format!("r = {cell};"),
        2 => "r += 1;".to_owned(),
        _ => "skip;".to_owned(),
    }
}

const DEPTHS: [Depth; 5] = [
    Depth { frames: 0, spawned: 0 },
    Depth { frames: 1, spawned: 1 },
    Depth { frames: 2, spawned: 2 },
    Depth { frames: 3, spawned: 1 },
    Depth { frames: 5, spawned: 2 },
];

#[test]
fn the_portfolio_agrees_with_the_reference() {
    let (mut compared, mut unknown) = (0, 0);
    for seed in 0..seeds(80) {
        let rng = &mut Rng::new(seed);
        let text = program(rng, seed % 4 != 0);
        let Some(program) = dynamic_program(&text) else { continue };
        let depth = *rng.pick(&DEPTHS);
        for model in Model::ALL {
            if let Some(open) = compare(&program, &format!("seed {seed}\n{text}"), model, depth) {
                compared += 1;
                unknown += usize::from(open > 0);
            }
        }
    }
    assert!(compared as u64 > seeds(80), "{compared} comparisons are too few");
    assert!(unknown > 0 && unknown < compared, "{unknown} of {compared}");
}

/// Every engine that supports a program at all agrees with the reference, one goal at a time.
#[test]
fn single_engines_agree_with_the_reference() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 1_000..1_000 + seeds(14) {
        let rng = &mut Rng::new(seed);
        let text = program(rng, seed % 2 == 0);
        let Some(program) = dynamic_program(&text) else { continue };
        let depth = Depth { frames: rng.between(1, 3), spawned: 1 };
        let wider = Depth { spawned: depth.spawned + 1, ..depth };
        for (model, engine) in [
            (Model::Sc, Engine::Explicit),
            (Model::Tso, Engine::Explicit),
            (Model::Tso, Engine::Lazy),
            (Model::Tso, Engine::Dual),
            (Model::Tso, Engine::Set),
            (Model::Tso, Engine::Coherence),
            (Model::Tso, Engine::Rounds),
        ] {
            let (Some((found, beyond)), Some((more, _))) =
                (expected(&program, model, depth), expected(&program, model, wider))
            else {
                continue;
            };
            for goal in reach::all_goals(&program.linked(0)).into_iter().step_by(3) {
                let options = reach::Options { model, engine, goals: vec![goal], ..reach::Options::default() };
                let context = || format!("seed {seed} {model:?} {} {goal:?} {depth:?}\n{text}", engine.name());
                match reached(&program, &options, depth) {
                    Ok(Verdict::Holds) => assert!(!found.contains(&goal) && !beyond, "{}", context()),
                    Ok(Verdict::Violated(())) => assert!(more.contains(&goal), "{}", context()),
                    Ok(Verdict::Unknown(_)) if engine == Engine::Explicit => {
                        assert!(!found.contains(&goal) && beyond, "{}", context());
                    }
                    Ok(Verdict::Unknown(_)) => {}
                    Err(Failure::Refused(_)) => refused += 1,
                    Err(failure) => panic!("{failure} {}", context()),
                }
                compared += 1;
            }
        }
    }
    assert!(refused * 2 < compared, "{refused} of {compared}");
}

/// Exploration options do not change answers.
#[test]
fn options_of_the_search_change_nothing() {
    use weir::reach::{Reduction, Search};
    for seed in 2_000..2_000 + seeds(20) {
        let rng = &mut Rng::new(seed);
        let text = program(rng, true);
        let Some(program) = dynamic_program(&text) else { continue };
        let depth = Depth { frames: 2, spawned: 2 };
        if expected(&program, Model::Tso, depth).is_none() {
            continue;
        }
        let goals = reach::all_goals(&program.linked(0));
        let goal: Goal = *rng.pick(&goals);
        let plain = reach::Options { goals: vec![goal], ..reach::Options::default() };
        let first = reached(&program, &plain, depth).expect("supported");
        for other in [
            reach::Options { reduction: Reduction::Local, ..plain.clone() },
            reach::Options { symmetry: false, ..plain.clone() },
            reach::Options { keep_dead_registers: true, ..plain.clone() },
            reach::Options { search: Search::DepthFirst, ..plain.clone() },
        ] {
            let again = reached(&program, &other, depth).expect("supported");
            assert_eq!(again, first, "seed {seed} {goal:?} {other:?}\n{text}");
        }
    }
}
