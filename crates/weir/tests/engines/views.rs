//! What one thread can see at each of its places when all buffers are empty, whatever the others do: asked one value at
//! a time, so that hardly any step is visible to the question and the reductions leave out as much as they ever do.

use std::collections::BTreeSet;

use weir::reach::{Options, Reduction, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::{Expr, LocId, Program, Property, PropertyId, PropertyKind, RegId, Span, StateAtom, ThreadId, Value};
use weir_testkit::dump;
use weir_testkit::reference::{self, drained_states};
use weir_testkit::sketch::{all_of, equal};
use weir_witness::{Goal, Model};

use crate::families::FAMILIES;

/// A thread, a place of it, and what a register holds there.
type View = (ThreadId, LocId, RegId, Value);

/// All that may be asked about.
fn views(program: &Program) -> impl Iterator<Item = View> {
    program.thread_ids().flat_map(move |thread| {
        let body = program.body(thread);
        let registers = (0..body.registers.len()).map(RegId::new);
        let places = registers.flat_map(|register| body.location_ids().map(move |location| (location, register)));
        places.flat_map(move |(location, register)| (0..=1).map(move |value| (thread, location, register, value)))
    })
}

fn question((thread, location, register, value): View) -> Property {
    let is_there = Expr::Leaf(StateAtom::At { thread, locations: vec![location] });
    let holds = equal(Expr::Leaf(StateAtom::Register { thread, register }), value);
    Property { kind: PropertyKind::Forbid(all_of([is_there, holds])), span: Span::default() }
}

/// Compares every question about a program; how many had which answer.
fn compare(text: &str, program: &Program, (real, naive): (Model, reference::Model), tally: &mut [usize; 2]) {
    let Some(states) = drained_states(program, naive, 3_000).expect("the reference can") else { return };
    let seen: BTreeSet<View> = states
        .iter()
        .flat_map(|state| {
            let at = |thread: &ThreadId| state.locations[thread];
            let registers = state.values.registers.iter();
            registers.flat_map(move |(thread, values)| values.iter().map(move |(r, v)| (*thread, at(thread), *r, *v)))
        })
        .collect();
    let views: Vec<View> = views(program).collect();
    let asking = Program { properties: views.iter().copied().map(question).collect(), ..program.clone() };
    for (number, view) in views.iter().enumerate() {
        let reduction = [Reduction::Persistent, Reduction::Dynamic, Reduction::Cartesian, Reduction::Local][number % 4];
        let goals = vec![Goal::Property(PropertyId::new(number))];
        let options = Options { model: real, goals, reduction, ..Options::default() };
        let session = Session::new(Limits { states: Some(5_000), ..Limits::default() });
        let verdict = reach(&asking, &options, &session).expect("the engine can").verdict;
        let is_seen = seen.contains(view);
        let is_right = if is_seen { matches!(verdict, Verdict::Violated(_)) } else { verdict == Verdict::Holds };
        assert!(is_right, "{text}, {real:?}, {reduction:?}: {view:?} is seen: {is_seen}\n{}", dump(program));
        tally[usize::from(is_seen)] += 1;
    }
}

#[test]
fn reductions_keep_what_one_thread_can_see() {
    let mut tally = [0, 0];
    for (name, every) in [("locks", 1), ("membarriers", 3), ("exchanges", 3), ("awaits", 3)] {
        let family = FAMILIES.iter().find(|family| family.name == name).expect("a family");
        for (text, program) in family.programs().into_iter().step_by(every) {
            compare(&text, &program, (Model::Sc, reference::Model::Sc), &mut tally);
            compare(&text, &program, (Model::Tso, reference::Model::Tso), &mut tally);
        }
    }
    assert!(tally.iter().all(|&count| count > 1_000), "{tally:?}");
}
