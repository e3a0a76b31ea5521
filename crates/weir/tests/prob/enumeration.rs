//! On programs without loops, every probability and expected cost equals the naive enumeration exactly.

use weir::Control;
use weir::prob::{Question, RBig, Settings, cost, exact_cost, exact_probability, probability};
use weir_ir::{CostRule, CostSubject, Instruction, Program, Span};
use weir_testkit::random::{Config, Statement, condition, program};
use weir_testkit::{Rng, chance, dump};

/// How many random programs are compared; more with `WEIR_SEEDS`.
fn seeds() -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300)
}

fn priced(mut program: Program, rng: &mut Rng) -> Program {
    for thread in &mut program.threads {
        thread.weight = rng.between(1, 3) as u32;
    }
    let subjects = [CostSubject::Fence, CostSubject::Store, CostSubject::Local, CostSubject::Load];
    for subject in subjects {
        let cost = rng.below(5) as i64;
        program.costs.push(CostRule { subject, cost, span: Span::default() });
    }
    program
}

/// What a step costs, told once more.
fn price(program: &Program, instruction: &Instruction) -> u64 {
    let subject = match instruction {
        Instruction::Fence => CostSubject::Fence,
        Instruction::Store { .. } => CostSubject::Store,
        Instruction::Load { .. } | Instruction::Snapshot(_) => CostSubject::Load,
        Instruction::ReadModifyWrite { .. } | Instruction::Lock | Instruction::Unlock => return 1,
        _ => CostSubject::Local,
    };
    program.costs.iter().find(|rule| rule.subject == subject).map_or(1, |rule| rule.cost as u64)
}

#[test]
fn random_programs_without_loops_agree_exactly() {
    let config = Config { threads: (2, 2), statements: (1, 3), absent_threads: 0, ..Config::acyclic() };
    let config = config.weighing(Statement::BoundedLoop, 0);
    let (mut compared, mut reached) = (0, 0);
    for seed in 0..seeds() {
        let mut rng = Rng::new(seed);
        let program = priced(program(seed, &config), &mut rng);
        let target = condition(&program, &mut rng);
        let prices = |thread, edge| price(&program, &program.body(thread).edge(edge).instruction);
        let Some(naive) = chance(&program, &target, &prices, 20_000) else { continue };
        let context = || format!("seed {seed}\n{}\ntarget {}", dump(&program), program.condition_text(&target));
        let settings = Settings::default();
        let question = Question { target: target.clone(), repeated: false, settings: settings.clone() };
        let control = Control::default();
        let exact = exact_probability(&program, &question, &control).expect("it can be handled");
        let exact = exact.unwrap_or_else(|obstacle| panic!("{obstacle:?} {}", context()));
        assert_eq!(exact.probability, naive.probability, "{}", context());
        let costly = exact_cost(&program, &target, &settings, &control).expect("it can be handled").expect("as before");
        let average = (naive.probability != RBig::ZERO).then(|| &naive.cost / &naive.probability);
        assert_eq!(costly.cost, average, "{}", context());
        let rounded = probability(&program, &question, 1e-9, &control).expect("it can be handled");
        assert!(rounded.obstacle.is_none() && rounded.interval.width() <= 1e-9, "{rounded:?} {}", context());
        assert!(holds(&naive.probability, rounded.interval), "{rounded:?} {}", context());
        let rounded = cost(&program, &target, &settings, 1e-6, &control).expect("it can be handled");
        assert_eq!(rounded.cost.is_some(), average.is_some(), "{}", context());
        if let (Some(interval), Some(average)) = (rounded.cost, average) {
            assert!(interval.width() <= 1e-6 && holds(&average, interval), "{rounded:?} {average} {}", context());
            reached += 1;
        }
        compared += 1;
    }
    assert!(
        compared > seeds() / 2 && reached > seeds() / 4,
        "{compared} programs were compared, {reached} targets reached"
    );
}

fn holds(value: &RBig, interval: weir::prob::Interval) -> bool {
    let exact = |end: f64| RBig::try_from(end).expect("finite");
    exact(interval.lower) <= *value && *value <= exact(interval.upper)
}
