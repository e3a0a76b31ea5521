//! `forbid stuck` and `live` against a naive computation over the graph of the reference interpreter.

mod counters;

use std::num::NonZeroUsize;
use std::time::Duration;

use weir::prob::{Almost, Certainty, Question, Settings, almost};
use weir::reach::{self, Engine, Options};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{
    BinaryOp, Body, Edge, Expr, Instruction, LocId, Program, Property, PropertyId, PropertyKind, Span, StateAtom,
    StateExpr, ThreadId,
};
use weir_testkit::random::{self, Config, Statement, condition};
use weir_testkit::reference::{self, Model as ReferenceModel, violated_liveness};
use weir_testkit::tiny::{Alphabet, programs_up_to_renaming};
use weir_testkit::{Rng, dump};
use weir_witness::{Goal, Model};

/// How an engine answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answered {
    Holds,
    Violated,
    Unknown,
}

fn ask(program: &Program, engine: Engine, model: Model, goal: Goal) -> Answered {
    // The exact engine may give up: its states are expensive.
    let states = if engine == Engine::Dual { 2_000 } else { 100_000 };
    let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(states), ..Limits::default() };
    let options = Options { engine, model, goals: vec![goal], jobs: NonZeroUsize::MIN, ..Options::default() };
    match reach::reach(program, &options, &Session::new(limits)) {
        Ok(report) => match report.verdict {
            Verdict::Holds => Answered::Holds,
            Verdict::Violated(checked) => {
                assert_eq!(checked.goal(), goal);
                assert!(checked.continuations().is_some_and(|found| found.states > 0));
                Answered::Violated
            }
            Verdict::Unknown(_) => Answered::Unknown,
        },
        Err(Failure::Bug(what)) => panic!("{what}\n{}", dump(program)),
        Err(_) => Answered::Unknown,
    }
}

/// How many questions each engine answered: with yes, and with no.
#[derive(Default, Debug)]
struct Count {
    explicit: [usize; 2],
    dual: [usize; 2],
}

/// Compares all engines with the definition on the liveness properties of a program.
fn compare(program: &Program, count: &mut Count) {
    for model in Model::ALL {
        let reference_model = if model == Model::Sc { ReferenceModel::Sc } else { ReferenceModel::Tso };
        let Some(violated) = violated_liveness(program, reference_model, 3_000).expect("it is supported") else {
            continue;
        };
        for (index, property) in program.properties.iter().enumerate().filter(|(_, one)| one.kind.is_liveness()) {
            let goal = Goal::Property(PropertyId::new(index));
            let is_violated = violated.contains(&reference::Goal::Property(PropertyId::new(index)));
            let expected = if is_violated { Answered::Violated } else { Answered::Holds };
            let context = || format!("{model:?} {}\n{}", program.property_text(property), dump(program));
            assert_eq!(ask(program, Engine::Explicit, model, goal), expected, "explicit {}", context());
            count.explicit[usize::from(is_violated)] += 1;
            if model == Model::Tso {
                let answered = ask(program, Engine::Dual, model, goal);
                assert!(answered == expected || answered == Answered::Unknown, "dual {answered:?} {}", context());
                count.dual[usize::from(is_violated)] += usize::from(answered != Answered::Unknown);
            }
        }
    }
}

/// The program with `forbid stuck`, a `live` for a place of each thread, and one about a random condition.
fn with_liveness(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    let mut kinds = vec![PropertyKind::ForbidStuck];
    for thread in program.thread_ids() {
        let place = LocId::new(rng.below(program.body(thread).locations.len()));
        kinds.push(PropertyKind::Live(at(thread, place)));
    }
    kinds.push(PropertyKind::Live(condition(&program, rng)));
    program.properties = kinds.into_iter().map(|kind| Property { kind, span: Span::default() }).collect();
    program
}

fn at(thread: ThreadId, place: LocId) -> StateExpr {
    Expr::Leaf(StateAtom::At { thread, locations: vec![place] })
}

fn seeds(default: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(default)
}

fn compare_random(config: &Config, seeds: u64) -> Count {
    let mut count = Count::default();
    for seed in 0..seeds {
        let program = random::program(seed, config);
        compare(&with_liveness(&program, &mut Rng::new(seed)), &mut count);
    }
    count
}

#[test]
fn random_programs_with_loops() {
    let config = Config::cyclic();
    let count = compare_random(&config, seeds(60));
    assert!(count.explicit.iter().all(|&answered| answered > 100), "{count:?}");
    assert!(count.dual.iter().all(|&answered| answered > 30), "{count:?}");
}

#[test]
fn random_programs_with_locks() {
    let config = Config::cyclic().weighing(Statement::Atomic, 15).weighing(Statement::StrayLock, 5);
    let count = compare_random(&config, seeds(100));
    assert!(count.explicit.iter().all(|&answered| answered > 50), "{count:?}");
    assert!(count.dual.iter().all(|&answered| answered > 10), "{count:?}");
}

#[test]
fn random_programs_without_loops() {
    let count = compare_random(&Config::acyclic(), seeds(150));
    assert!(count.explicit.iter().all(|&answered| answered > 100), "{count:?}");
    assert!(count.dual.iter().all(|&answered| answered > 50), "{count:?}");
}

fn read(text: &str) -> Program {
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

/// Buffers grow without bound here, so that only the exact engine can prove that a property holds.
#[test]
fn unbounded_buffers() {
    for (text, expected) in [
        ("thread P { loop { y = 1; } } thread Q { await x == 1; } forbid stuck;", Answered::Violated),
        ("thread P { loop { y = 1; } } thread Q { await y == 1; } forbid stuck;", Answered::Holds),
        ("thread P { loop { y = 1; } } thread Q { while y == 0 { } } forbid stuck;", Answered::Holds),
        (
            "thread P { loop { y = 1; y = 0; } } thread Q { loop { await y == 1; seen: skip; } } live Q at seen;",
            Answered::Holds,
        ),
        (
            "thread P { loop { y = 1; y = 2; } } thread Q { loop { await y == 0; seen: skip; } } live Q at seen;",
            Answered::Violated,
        ),
        // Only a buffer of two stores or more shows Q first x and then y.
        (
            "thread P { loop { y = 1; x = 1; } } thread Q { let r = x; let s = y; await r == 1 && s == 0; } forbid stuck;",
            Answered::Violated,
        ),
        // P never sees what Q does once it has missed it, whatever waits in its buffer.
        (
            "thread P { let r = x; loop { y = 1; if r == 1 { break; } } } thread Q { x = 1; } forbid stuck;",
            Answered::Violated,
        ),
        (
            "thread P { let r; loop { y = 1; r = x; if r == 1 { break; } } } thread Q { x = 1; } forbid stuck;",
            Answered::Holds,
        ),
        // A lock that is released.
        ("thread P { loop { lock; y = 1; unlock; x = 1; } } thread Q { await x == 1; } forbid stuck;", Answered::Holds),
        (
            "thread P { loop { lock; y = 1; unlock; x = 1; } } thread Q { await x == 2; } forbid stuck;",
            Answered::Violated,
        ),
        ("thread P { loop { x = 1; x = 0; } } live x == 1;", Answered::Holds),
        ("thread P { x = 1; loop { y = 1; } } live x == 0;", Answered::Violated),
        ("thread P { loop { x = 1; } } thread Q { loop { y = 1; } } live P at end;", Answered::Violated),
    ] {
        let program = read(&format!("shared x, y; {text}"));
        assert_eq!(ask(&program, Engine::Dual, Model::Tso, Goal::Property(PropertyId::new(0))), expected, "{text}");
    }
}

/// What a thread should be able to leave, and what not, under both models.
#[test]
fn what_counts_as_stuck() {
    for (text, is_stuck) in [
        ("thread P { skip; }", false),
        ("thread P { loop { skip; } }", false),
        ("thread P { loop { } }", false),
        ("thread P { while 1 { } }", false),
        ("thread P { while x == 0 { } }", true),
        ("thread P { while x == 0 { } } thread Q { x = 1; }", false),
        ("thread P { while x == 0 { } } thread Q { x = 1; x = 0; }", true),
        ("thread P { await x == 1; }", true),
        ("thread P { assume x == 1; }", true),
        ("thread P { let r = any 0..1; assume r == 1; }", true),
        ("thread P { loop { while x == 1 { } x = 1; } }", true),
        ("thread P { loop { if x == 0 { continue; } y = 1; } }", true),
        ("thread P { loop { if x == 0 { continue; } skip; } }", false),
        ("thread P { loop { if x == 0 { y = 0; fence; } else { y = 1; fence; } } }", false),
        ("thread P { lock; } thread Q { lock; }", true),
        ("thread P { lock; unlock; } thread Q { lock; unlock; }", false),
        ("thread P { lock; loop { skip; } } thread Q { let r = x; }", true),
        ("thread P { unlock; }", true),
        ("thread P { z = 2; }", true),
        ("thread P { z = 1; }", false),
        ("thread P { await y == 1; x = 1; } thread Q { await x == 1; y = 1; }", true),
        ("thread P { x = 1; await y == 1; } thread Q { y = 1; await x == 1; }", false),
        // A failed assertion is a violation of its own, but who waits for its thread is stuck.
        ("thread P { assert 0; }", false),
        ("thread P { assert 0; x = 1; } thread Q { await x == 1; }", true),
    ] {
        let program = read(&format!("shared x, y, z: 0..1; {text} forbid stuck;"));
        let expected = if is_stuck { Answered::Violated } else { Answered::Holds };
        for model in Model::ALL {
            let goal = Goal::Property(PropertyId::new(0));
            assert_eq!(ask(&program, Engine::Explicit, model, goal), expected, "{model:?} {text}");
        }
    }
}

/// With store buffers more can happen: threads hang that do not without, and others do not hang that do without.
#[test]
fn buffers_make_a_difference_both_ways() {
    let both = |text: &str| {
        Model::ALL.map(|model| ask(&read(text), Engine::Explicit, model, Goal::Property(PropertyId::new(0))))
    };
    let lost = "shared x, y; thread P { x = 1; let r = y; if r == 0 { await y == 2; } }
        thread Q { y = 1; let s = x; if s == 1 { y = 2; } } forbid stuck;";
    assert_eq!(both(lost), [Answered::Holds, Answered::Violated]);
    // Without buffers the store waits for the lock.
    let kept = "shared x; thread P { lock; loop { skip; } } thread Q { x = 1; } live Q at end;";
    assert_eq!(both(kept), [Answered::Violated, Answered::Holds]);
}

/// `live` for a thread of several instances is stated for each of them.
#[test]
fn live_is_about_each_instance() {
    let program = read("shared x; thread P(i)[3] { await x == i; here: skip; } live P at here;");
    assert_eq!(program.properties.len(), 3);
    let answers: Vec<Answered> =
        (0..3).map(|at| ask(&program, Engine::Explicit, Model::Tso, Goal::Property(PropertyId::new(at)))).collect();
    assert_eq!(answers, [Answered::Violated; 3], "the first one is past `here` and does not return");
    let program = read("shared x; thread P(i)[3] { await x == i; here: loop { skip; } } live P at here;");
    let answers: Vec<Answered> =
        (0..3).map(|at| ask(&program, Engine::Explicit, Model::Tso, Goal::Property(PropertyId::new(at)))).collect();
    assert_eq!(answers, [Answered::Holds, Answered::Violated, Answered::Violated]);
}

/// The program with its first thread starting over when it is done.
fn endless(program: &Program) -> Program {
    let mut program = program.clone();
    let body = &program.threads[0].body;
    let ends = body.location_ids().filter(|&loc| body.is_done(loc)).map(|from| Edge {
        from,
        to: body.entry,
        instruction: Instruction::Skip,
        span: Span::default(),
    });
    let edges = body.edges().iter().cloned().chain(ends).collect();
    program.threads[0].body = Body::new(body.registers.clone(), body.locations.clone(), body.entry, body.failed, edges);
    program
}

/// Tiny programs, as they are and with a thread that starts over: some of them, or all in a long run.
#[test]
fn tiny_programs() {
    let step = if seeds(0) > 0 { 1 } else { 10 };
    let waiting = programs_up_to_renaming(Alphabet::Awaits).step_by(step);
    let others = [Alphabet::Core, Alphabet::Membarriers].into_iter().flat_map(programs_up_to_renaming);
    let mut count = Count::default();
    for (number, (_, program)) in waiting.chain(others.step_by(step * step)).enumerate() {
        let program = if number % 2 == 0 { endless(&program) } else { program };
        let mut program = with_liveness(&program, &mut Rng::new(number as u64));
        program.properties.truncate(2);
        compare(&program, &mut count);
    }
    assert!(count.explicit.iter().all(|&answered| answered > 200), "{count:?}");
    assert!(count.dual.iter().all(|&answered| answered > 100), "{count:?}");
}

/// Whether all operands of `||` mention cells, so that they are judged at drained states, or none does.
fn operands_are_judged_alike(condition: &StateExpr) -> bool {
    let (mut open, mut kinds) = (vec![condition], [false; 2]);
    while let Some(part) = open.pop() {
        if let Expr::Binary(BinaryOp::Or, left, right) = part {
            open.extend([&**left, &**right]);
            continue;
        }
        let mut mentions_cells = false;
        part.for_each_leaf(&mut |atom| mentions_cells |= matches!(atom, StateAtom::Cell(_)));
        kinds[usize::from(mentions_cells)] = true;
    }
    kinds != [true; 2]
}

/// With chance, what can always happen again happens almost surely again and again.
#[test]
fn live_means_almost_surely_again_and_again() {
    let (mut held, mut failed) = (0, 0);
    for seed in 0..seeds(120) {
        let program = random::program(seed, &Config::cyclic());
        let target = condition(&program, &mut Rng::new(seed));
        // `prob` judges each operand of `||` by itself, and `live` the condition as a whole.
        if !operands_are_judged_alike(&target) {
            continue;
        }
        let mut stated = program.clone();
        stated.properties = vec![Property { kind: PropertyKind::Live(target.clone()), span: Span::default() }];
        let Some(violated) = violated_liveness(&stated, ReferenceModel::Tso, 3_000).expect("it is supported") else {
            continue;
        };
        let question = Question { target: target.into(), repeated: true, settings: Settings::default() };
        let session = Session::new(Limits { time: Some(Duration::from_secs(2)), ..Limits::default() });
        let found = almost(&program, &question, Almost::Surely, &session).expect("it is supported").certainty;
        match found {
            Certainty::Holds { .. } => held += 1,
            Certainty::Fails(_) => failed += 1,
            Certainty::Unknown(_) => continue,
        }
        let context = || format!("seed {seed}\n{}", dump(&stated));
        assert_eq!(matches!(found, Certainty::Holds { .. }), violated.is_empty(), "{}", context());
    }
    assert!(held > 3 && failed > 20, "{held} {failed}");
}
