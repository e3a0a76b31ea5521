//! Programs that choose among fewer values reach the same goals, execute the same, and are robust if the original is.

use weir::reach::{Options, all_goals, reach};
use weir::translate::Translation;
use weir::translate::value_classes::value_classes;
use weir::{Limits, Session, Verdict};
use weir_ir::flow::Ranges;
use weir_ir::{Body, Edge, Instruction, Program, Property, PropertyKind, Range, Source, Value};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::explore;
use weir_testkit::traces::{Bounds, is_robust};
use weir_testkit::{Model, Rng, dump};
use weir_witness::{Checked, Goal};

use crate::exactly::questioned;
use crate::was_seen;

/// How many states the reference may visit.
const MOST_STATES: usize = 3_000;

/// How much was compared.
#[derive(Default, Debug)]
struct Tally {
    /// Programs with fewer values to choose from.
    fewer: usize,
    /// Goals of these with a definite answer.
    compared: usize,
    /// Of these, how many are reached.
    reached: usize,
    /// Programs whose robustness was compared.
    traces: usize,
}

/// The program with choices from wider ranges, and one at the beginning of each thread.
fn choosing(program: &Program, seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let mut result = program.clone();
    for thread in &mut result.threads {
        let body = &thread.body;
        let mut edges: Vec<Edge> = body.edges().to_vec();
        for edge in &mut edges {
            let low = rng.below(3) as Value - 1;
            let range = Range { low, high: low + 1 + rng.below(4) as Value };
            match &mut edge.instruction {
                Instruction::Havoc { range: chosen, .. } => *chosen = range,
                Instruction::Assign { register, .. } if rng.chance(60) => {
                    edge.instruction = Instruction::Havoc { register: *register, range };
                }
                _ => {}
            }
        }
        let (registers, locations) = (body.registers.clone(), body.locations.clone());
        thread.body = Body::new(registers, locations, body.entry, body.failed, edges);
    }
    result
}

fn check(name: &str, program: &Program, tally: &mut Tally) {
    let Some(classes) = value_classes(program, &Ranges::of(program)) else { return };
    tally.fewer += 1;
    let context = || format!("{name}\n{}\nfewer values:\n{}", dump(program), dump(classes.program()));
    let goals = all_goals(program);
    for model in Model::ALL {
        let whole = explore(program, model, MOST_STATES).expect("the reference can");
        let fewer = explore(classes.program(), model, MOST_STATES).expect("the reference can");
        for &goal in &goals {
            let (in_whole, in_fewer) = (was_seen(&whole, goal), was_seen(&fewer, goal));
            assert!(!in_fewer || in_whole || !whole.complete, "{goal:?} comes up, {model:?}: {}", context());
            assert!(!in_whole || in_fewer || !fewer.complete, "{goal:?} is lost, {model:?}: {}", context());
            tally.compared += usize::from(whole.complete && fewer.complete);
            tally.reached += usize::from(in_whole);
            is_run(program, &classes, model, goal, &context);
        }
        if whole.complete {
            assert!(fewer.complete && fewer.states <= whole.states, "{model:?}: {}", context());
            assert_eq!(whole.executed, fewer.executed, "{model:?}: {}", context());
        }
    }
    let bounds = Bounds { instructions: 12, ways: 20_000 };
    if let (Some(whole), Some(fewer)) = (is_robust(program, bounds), is_robust(classes.program(), bounds)) {
        assert_eq!(whole, fewer, "robust: {}", context());
        tally.traces += 1;
    }
}

/// A run with fewer values is a run of the program.
fn is_run(program: &Program, classes: &impl Translation, model: Model, goal: Goal, context: &dyn Fn() -> String) {
    let model = if model == Model::Sc { weir_witness::Model::Sc } else { weir_witness::Model::Tso };
    let options = Options { model, goals: vec![goal], ..Options::default() };
    let session = Session::new(Limits { states: Some(MOST_STATES as u64), ..Limits::default() });
    let Ok(report) = reach(classes.program(), &options, &session) else { return };
    if let Verdict::Violated(found) = report.verdict {
        let run = classes.map_back(program, found.run());
        if let Err(error) = Checked::new(program, run, goal) {
            panic!("{goal:?}: {error}\n{}", context());
        }
    }
}

fn random(name: &str, config: &Config, count: u64, least: [usize; 4]) {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut chosen = choosing(&program(seed, config), seed);
        if seed % 3 == 0 {
            chosen = questioned(&chosen, seed);
        }
        let span = chosen.threads[0].span;
        chosen.properties.push(Property { kind: PropertyKind::ForbidDeadlock, span });
        check(&format!("{name} program, seed {seed}"), &chosen, &mut tally);
    }
    let found = [tally.fewer, tally.compared, tally.reached, tally.traces];
    assert!(found.iter().zip(least).all(|(found, least)| *found >= least), "{name}: {tally:?}, wanted {least:?}");
}

/// Values are mostly copied and compared.
fn copying(config: Config) -> Config {
    Config { computed_addresses: 4, ranges: 25, widths: 5, ..config }
        .weighing(Statement::Havoc, 14)
        .weighing(Statement::Assign, 6)
        .weighing(Statement::Await, 4)
        .weighing(Statement::Assume, 6)
}

#[test]
fn acyclic_programs_choose_among_fewer_values() {
    random("acyclic", &copying(Config::acyclic()), 100, [30, 200, 80, 20]);
}

#[test]
fn programs_with_loops_choose_among_fewer_values() {
    random("cyclic", &copying(Config::cyclic()), 100, [40, 280, 95, 24]);
}

#[test]
fn programs_with_locks_choose_among_fewer_values() {
    random("locking", &copying(Config::locking()), 100, [45, 300, 130, 35]);
}

/// A store of a chosen value, a fence for some of these values, and a load; the same beside it with the cells exchanged.
/// The program is robust if every value leads to a fence, and the fence of the second thread is there.
#[test]
fn robustness_depends_on_the_values_chosen() {
    let mut counts = [0, 0];
    for (operator, constant) in COMPARISONS.into_iter().flat_map(|operator| (-1..5).map(move |at| (operator, at))) {
        let fence = |is_fenced: bool| if is_fenced { "fence;" } else { "" };
        for is_fenced in [false, true] {
            let text = format!(
                "shared x, y;
                 thread P {{ let r = any 0..3; x = r; if r {operator} {constant} {{ fence; }} let q = y; }}
                 thread Q {{ y = 1; {} let q = x; }}",
                fence(is_fenced)
            );
            let options = weir_syntax::weir::Options::default();
            let program = weir_syntax::weir::parse(&Source::new("t", text), &options).expect("a program").program;
            let classes = value_classes(&program, &Ranges::of(&program));
            let fewer = classes.as_ref().map_or(&program, Translation::program);
            let by_definition = |program| is_robust(program, Bounds { instructions: 12, ways: 200_000 });
            let (whole, fewer) = (by_definition(&program).expect("few ways"), by_definition(fewer).expect("few ways"));
            assert_eq!(whole, fewer, "{operator} {constant}, {is_fenced}");
            counts[usize::from(whole)] += 1;
        }
    }
    assert!(counts[0] > 40 && counts[1] > 5, "{counts:?}");
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
