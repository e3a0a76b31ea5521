//! What runs say about fences, on runs written by hand.

use weir_ir::{PropertyId, PropertyKind};
use weir_testkit::sketch::{all_of, cell, equal, load, program, register_of, store, straight};
use weir_witness::{Goal, Model};

use super::*;

/// Two threads, each of which stores twice and then loads what the other stores last; and the property that neither
/// sees the other.
fn stores_and_loads() -> Program {
    let left = straight("P", [store(3, 1), store(1, 1), load(0, 2)]);
    let right = straight("Q", [store(4, 1), store(2, 1), load(0, 1)]);
    let cells = [("x", 1), ("y", 2), ("z", 3), ("w", 4)].map(|(name, address)| cell(name, address)).to_vec();
    let neither = all_of([equal(register_of(0, 0), 0), equal(register_of(1, 0), 0)]);
    program(cells, vec![left, right], vec![PropertyKind::Exists(neither)])
}

/// Steps by threads: a number is an edge, `f` a flush.
fn checked(program: &Program, steps: &str) -> Checked {
    let step = |text: &str| {
        let (thread, action) = text.split_at(1);
        let thread = ThreadId(u32::from(thread == "q"));
        match action {
            "f" => Step { thread, action: Action::Flush },
            edge => {
                Step { thread, action: Action::Execute { edge: EdgeId(edge.parse().expect("a number")), choice: 0 } }
            }
        }
    };
    let steps = steps.split_whitespace().map(step).collect();
    let goal = Goal::Property(PropertyId(0));
    Checked::new(program, Run { model: Model::Tso, steps }, goal).expect("it gets there")
}

fn counts(program: &Program) -> Vec<usize> {
    program.threads.iter().map(|thread| thread.body.edges().len()).collect()
}

fn steps(edges: &[(u32, u32)]) -> BTreeSet<ThreadEdge> {
    edges.iter().map(|&(thread, edge)| (ThreadId(thread), EdgeId(edge))).collect()
}

#[test]
fn a_fence_stops_a_thread_that_continues_with_a_pending_store() {
    let program = stores_and_loads();
    let stopped = |run: &str| core_steps(&program, &checked(&program, run), &counts(&program));
    // All wait to the end.
    let all = stopped("p0 p1 p2 q0 q1 q2 pf pf qf qf");
    assert_eq!(all, steps(&[(0, 0), (0, 1), (1, 0), (1, 1)]));
    // Only the second store of P waits for the load.
    let one = stopped("p0 pf p1 p2 q0 qf q1 qf q2 pf");
    assert_eq!(one, steps(&[(0, 1)]));
    // The first has landed when the thread goes on, but not the second.
    let some = stopped("p0 p1 pf p2 q0 qf q1 qf q2 pf");
    assert_eq!(some, steps(&[(0, 0), (0, 1)]));
}

/// Fences that were put in have numbers beyond those of the program; a step behind one is behind the step before it.
#[test]
fn fences_that_are_there_are_left_out() {
    let program = stores_and_loads();
    let fenced = crate::translate::insert_fences_after(&program, &steps(&[(0, 0), (1, 1)])).program;
    let run = checked(&fenced, "p0 pf p3 p1 p2 q0 q1 qf qf q3 q2 pf");
    assert_eq!(core_steps(&fenced, &run, &counts(&program)), steps(&[(0, 1), (1, 0)]));
}

#[test]
fn stores_land_at_once_unless_the_goal_needs_them_to_wait() {
    let program = stores_and_loads();
    for run in ["p0 p1 p2 q0 q1 q2 pf pf qf qf", "q0 q1 q2 p0 p1 p2 qf qf pf pf", "p0 pf p1 p2 q0 qf q1 qf q2 pf"] {
        let with_early_flushes =
            with_early_flushes(&program, checked(&program, run), |_, _| true, &crate::session::Session::default());
        let stopped = core_steps(&program, &with_early_flushes, &counts(&program));
        assert_eq!(stopped.len(), 1, "{run}: one store has to wait for one load, {:?}", with_early_flushes.run());
        assert!(stopped.is_subset(&steps(&[(0, 1), (1, 1)])), "{run}: {stopped:?}");
        assert_eq!(with_early_flushes.goal(), Goal::Property(PropertyId(0)));
    }
}
