//! Runs with calls, returns and spawns: what `weir-witness` accepts, and what it does not.

use weir::check::Judgement;
use weir_testkit::Rng;
use weir_testkit::calls::program;
use weir_testkit::reference::Depth;
use weir_witness::{Checked, Effect, Model, Run, Step};

use super::compare::{checked, dynamic_program, parse};

/// The run without one of its steps.
fn without(checked: &Checked, at: usize) -> Run {
    let mut steps: Vec<Step> = checked.run().steps.clone();
    steps.remove(at);
    Run { model: checked.run().model, steps }
}

/// Whether leaving out this step must break the run: something that follows depends on it.
fn is_needed(checked: &Checked, at: usize) -> bool {
    let events = checked.replay().events();
    let event = &events[at];
    let later = |thread| events[at + 1..].iter().any(|other| other.thread == thread && other.edge.is_some());
    match event.effect {
        Effect::Call { .. } | Effect::Return { .. } => later(event.thread),
        Effect::Spawn(started) => later(started) || later(event.thread),
        _ => false,
    }
}

/// Every run that engines find is accepted (there is no other way to get one), and none without its calls, returns and
/// spawns, in another order of threads, or under other numbers.
#[test]
fn mutated_runs_are_rejected() {
    let (mut dropped, mut renamed) = (0, 0);
    for seed in 5_000..5_030 {
        let text = program(&mut Rng::new(seed), true);
        let Some(original) = dynamic_program(&text) else { continue };
        let decided = checked(&original, Model::Tso, Depth { frames: 3, spawned: 2 });
        for one in &decided.report.properties {
            let (Judgement::Violated(run) | Judgement::Met(run)) = &one.judgement else { continue };
            for at in 0..run.run().steps.len() {
                if is_needed(run, at) {
                    let shorter = without(run, at);
                    assert!(
                        Checked::new(&decided.program, shorter, one.goal).is_err(),
                        "seed {seed} step {at}\n{text}"
                    );
                    dropped += 1;
                }
                if let Effect::Spawn(started) = run.replay().events()[at].effect
                    && let Some(other) = decided.program.instances(started).find(|&other| other > started)
                {
                    // The last instance of all runs instead of this one, which was started.
                    let mut steps = run.run().steps.clone();
                    let moved = steps.iter_mut().filter(|step| step.thread == started);
                    let count = moved.map(|step| step.thread = other).count();
                    let is_free = !run.run().steps.iter().any(|step| step.thread == other);
                    let changed = Run { model: run.run().model, steps };
                    if count > 0 && is_free {
                        assert!(Checked::new(&decided.program, changed, one.goal).is_err(), "seed {seed}\n{text}");
                        renamed += 1;
                    }
                }
            }
        }
    }
    assert!(dropped > 20 && renamed > 2, "{dropped} {renamed}");
}

/// More spawns than there are instances are no step at all: neither a run nor a deadlock can be faked that way.
#[test]
fn too_few_instances_prove_nothing() {
    let text = "shared x; thread P { spawn T; spawn T; } thread T[0] { x = 1; } forbid deadlock; exists P at end;";
    let program = parse(text);
    let met = |judgement: &Judgement| judgement.run().cloned();
    let decided = checked(&program, Model::Sc, Depth { frames: 1, spawned: 2 });
    let run = decided.report.properties.iter().find_map(|one| met(&one.judgement)).expect("met");
    for instances in 0..4 {
        let accepted = Checked::new(&program.linked(instances), run.run().clone(), run.goal()).is_ok();
        assert_eq!(accepted, instances >= 2, "{instances}");
    }
    let deadlock = weir_witness::Goal::Property(weir_ir::PropertyId(0));
    let linked = program.linked(1);
    let start = |count: usize| {
        let is_first = |step: &&Step| step.thread.0 == 0;
        let mut steps: Vec<Step> = run.run().steps.iter().filter(is_first).take(count).copied().collect();
        steps.extend(run.run().steps.iter().filter(|step| step.thread.0 == 1).copied());
        Run { model: Model::Sc, steps }
    };
    assert!(Checked::new(&linked, start(1), deadlock).is_err());
}

/// What a spawned thread does happens after the spawn: a store that is delayed past it makes a cycle.
#[test]
fn a_store_that_a_spawned_thread_misses_makes_a_cycle() {
    let text = "shared x, y; thread P { x = 1; spawn T; } thread T[0] { if x == 0 { y = 1; } } forbid y == 1;";
    let decided = checked(&parse(text), Model::Tso, Depth { frames: 1, spawned: 1 });
    let run = decided.report.properties.iter().find_map(|one| one.judgement.run()).expect("violated");
    assert!(run.happens_before().is_cyclic() && run.happens_before().cycle().is_some());
    let text = "shared x, y; thread P { x = 1; spawn T; } thread T[0] { if x == 1 { y = 1; } } forbid y == 1;";
    let decided = checked(&parse(text), Model::Tso, Depth { frames: 1, spawned: 1 });
    let run = decided.report.properties.iter().find_map(|one| one.judgement.run()).expect("violated");
    assert!(!run.happens_before().is_cyclic());
}
