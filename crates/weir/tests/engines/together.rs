//! No two engines contradict each other, also where buffers grow without bound and the reference has to give up.

use weir::Limits;
use weir::reach::Engine;
use weir_ir::Program;
use weir_testkit::random::{Config, program};
use weir_testkit::{dump, shrink};

use crate::random::pumping;
use crate::{answer_within, state_goals};

const ENGINES: [Engine; 8] = Engine::ALL;

/// What each engine says, where it says anything: whether a goal can be reached.
fn answers(program: &Program) -> Vec<(Engine, bool)> {
    let goals = state_goals(program);
    let limits = Limits { states: Some(4_000), ..Limits::default() };
    let ask = |engine| Some((engine, answer_within(program, engine, goals.clone(), limits)?));
    if goals.is_empty() { Vec::new() } else { ENGINES.into_iter().filter_map(ask).collect() }
}

fn contradicts(answers: &[(Engine, bool)]) -> bool {
    answers.windows(2).any(|pair| pair[0].1 != pair[1].1)
}

/// Asks all engines about many programs. At least half of these must be answered by two engines, lest nothing is
/// compared.
fn agree(config: &Config, count: u64) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let (mut compared, mut reachable) = (0, 0);
    for seed in 0..count {
        let program = program(seed, config);
        let found = answers(&program);
        if contradicts(&found) {
            let small = shrink(&program, |program| contradicts(&answers(program)));
            panic!("seed {seed}: {found:?}; smaller: {:?}\n{}", answers(&small), dump(&small));
        }
        compared += u64::from(found.len() > 1);
        reachable += u64::from(found.first().is_some_and(|&(_, is_reachable)| is_reachable));
    }
    assert!(compared * 2 >= count && reachable * 10 >= count, "{compared} compared, {reachable} reachable");
}

#[test]
fn on_programs_with_loops() {
    agree(&Config::cyclic(), 150);
}

#[test]
fn on_programs_whose_buffers_grow() {
    agree(&pumping(), 60);
}
