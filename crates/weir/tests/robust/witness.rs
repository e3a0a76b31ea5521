//! The runs that show that a program is not robust: of one form, with little that the violation does not need.

use weir::Verdict;
use weir::robust::Method;
use weir_ir::{Instruction, Program, ThreadId};
use weir_testkit::cycles;
use weir_testkit::traces::is_sc_trace;
use weir_witness::{Action, Model, Run, Step};

use crate::reference::{METHODS, moves, report};
use crate::shapes::parse;

fn witness(program: &Program, method: Method) -> Option<Run> {
    match report(program, method, 1).expect("no failure")?.verdict {
        Verdict::Violated(found) => Some(found.run().clone()),
        Verdict::Holds | Verdict::Unknown(_) => None,
    }
}

fn is_store(program: &Program, step: &Step) -> bool {
    match step.action {
        Action::Execute { edge, .. } => {
            matches!(program.body(step.thread).edge(edge).instruction, Instruction::Store { .. })
        }
        Action::Flush => false,
    }
}

/// The threads that go on, or let others go on, while a store of theirs waits.
fn delaying(program: &Program, run: &Run) -> Vec<ThreadId> {
    let lands = |next: &Step, thread| next.thread == thread && next.action == Action::Flush;
    let waits = |pair: &&[Step]| is_store(program, &pair[0]) && !lands(&pair[1], pair[0].thread);
    let mut threads: Vec<ThreadId> = run.steps.windows(2).filter(waits).map(|pair| pair[0].thread).collect();
    threads.dedup();
    threads
}

/// The run without one executed step, and without its flush if it is a store.
fn without(program: &Program, run: &Run, at: usize) -> Option<Run> {
    let gone = run.steps[at];
    if gone.action == Action::Flush {
        return None;
    }
    let of_thread = |step: &&Step| step.thread == gone.thread;
    let earlier = run.steps[..at].iter().filter(of_thread).filter(|step| is_store(program, step)).count();
    let mut steps = run.steps.clone();
    if is_store(program, &gone) {
        let flushes =
            (0..steps.len()).filter(|&at| steps[at].thread == gone.thread && steps[at].action == Action::Flush);
        let flush = flushes.clone().nth(earlier)?;
        steps.remove(flush);
    }
    steps.remove(at);
    Some(Run { model: run.model, steps })
}

#[test]
fn one_thread_delays_and_hardly_a_step_could_be_left_out() {
    let config = cycles::Config { helpers: 2, noise: 2, loops: 15, locks: 20, data: 10 };
    let (mut witnesses, mut longer) = (0, 0);
    for seed in 0..80 {
        let program = cycles::program(seed, &config);
        for method in METHODS {
            let Some(run) = witness(&program, method) else { continue };
            assert_eq!((run.model, delaying(&program, &run).len()), (Model::Tso, 1), "seed {seed}: {run:?}");
            let shorter = (0..run.steps.len()).filter_map(|at| without(&program, &run, at));
            longer += usize::from(shorter.into_iter().any(|run| is_sc_trace(&program, &moves(&run)) == Ok(false)));
            witnesses += 1;
        }
    }
    assert!(witnesses > 90 && longer * 50 <= witnesses, "{longer} of {witnesses} witnesses are longer than need be");
}

#[test]
fn what_the_violation_does_not_need_is_left_out() {
    let text = "shared x, y, z, w;\n\
                thread L { z = 1; let q = z; }\n\
                thread P { w = 3; let i = 0; while i < 3 { i = i + 1; z = i; } fence; x = 1; let r = y; let t = w; }\n\
                thread Q { let u = w; y = 1; w = 2; fence; let s = x; let v = z; }";
    for method in METHODS {
        let run = witness(&parse(text), method).expect("it is not robust");
        let others = run.steps.iter().filter(|step| step.thread.0 == 0).count();
        assert_eq!(others, 0, "{method:?}: nothing of L is needed");
        // The store, what is after it up to the load, and the same of the other thread, with what control leads
        // through.
        let loads = run.steps.iter().filter(|step| {
            let Action::Execute { edge, .. } = step.action else { return false };
            let program = parse(text);
            matches!(program.body(step.thread).edge(edge).instruction, Instruction::Load { .. })
        });
        assert_eq!(loads.count(), 3, "{method:?}: {run:?}");
    }
    let plain =
        "shared x, y;\nthread P { x = 1; let r = y; }\nthread Q { y = 1; let s = x; }\nthread R { x = 2; let t = x; }";
    for method in METHODS {
        assert_eq!(witness(&parse(plain), method).expect("it is not robust").steps.len(), 6, "{method:?}");
    }
}
