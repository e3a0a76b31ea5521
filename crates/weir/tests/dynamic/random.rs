//! Random programs with recursive procedures and `spawn`.

use weir::reach::{self, Engine};
use weir::{Failure, Verdict};
use weir_testkit::Rng;
use weir_testkit::calls::program;
use weir_testkit::reference::Depth;
use weir_witness::{Goal, Model};

use super::compare::{compare, dynamic_program, expected, reached};

/// How many programs: `WEIR_SEEDS`, or few.
fn seeds(few: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(few)
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
