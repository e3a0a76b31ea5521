//! What the exact engine saves as a proof is accepted by the independent checker, and nothing less is.

use weir::reach::{Engine, Options, certify_backward};
use weir::{Limits, Session};
use weir_ir::{Program, Property, PropertyKind, Span, Value};
use weir_testkit::random::{Config, Statement, program};
use weir_testkit::reference::{self, explore};
use weir_testkit::{Rng, dump, variants};
use weir_witness::{BackwardFault, BackwardProof, Goal, Message, check_backward_proof};

use crate::{ends, state_goals};

fn proof(program: &Program) -> Option<BackwardProof> {
    let goals = state_goals(program);
    if goals.is_empty() {
        return None;
    }
    let session = Session::new(Limits { states: Some(2_000), ..Limits::default() });
    let options = Options { engine: Engine::Dual, goals, ..Options::default() };
    certify_backward(program, &options, &session).ok()?
}

fn fault(program: &Program, proof: &BackwardProof) -> Option<BackwardFault> {
    check_backward_proof(program, proof).err().map(|error| error.fault)
}

/// A final state that is not possible, but looks like one that is.
fn impossible(seed: u64) -> Option<Program> {
    let mut program = ends::program(seed);
    let outcome = explore(&program, reference::Model::Tso, 200_000).expect("the reference can");
    let possible: Vec<Vec<Value>> = outcome.final_states.iter().map(|end| ends::values_of(&program, end)).collect();
    let mut rng = Rng::new(seed);
    let near = possible.iter().map(|end| {
        let mut other = end.clone();
        let at = rng.below(other.len());
        other[at] = rng.below(3) as Value;
        other
    });
    let values = near.collect::<Vec<_>>().into_iter().find(|values| !possible.contains(values))?;
    let kind = PropertyKind::Exists(ends::ends_with(&program, &values));
    program.properties.push(Property { kind, span: Span::default() });
    Some(program)
}

#[test]
fn proofs_are_accepted_and_parts_of_them_are_not() {
    let (mut accepted, mut parts, mut refuted) = (0, 0, 0);
    let random = (0..200).map(|seed| {
        let configs = [Config::acyclic(), Config::cyclic(), Config::locking(), Config::crowded()];
        program(seed, &configs[seed as usize % 4].clone().weighing(Statement::Snapshot, 8))
    });
    for (number, program) in random.chain((0..120).filter_map(impossible)).enumerate() {
        let Some(whole) = proof(&program) else { continue };
        assert_eq!(fault(&program, &whole), None, "program {number}\n{}", dump(&program));
        accepted += 1;
        if whole.configurations.is_empty() {
            continue;
        }
        let mut part = whole.clone();
        part.configurations.remove(Rng::new(number as u64).below(whole.configurations.len()));
        parts += 1;
        match fault(&program, &part) {
            Some(BackwardFault::Enters | BackwardFault::GoalOutside) => refuted += 1,
            // Another configuration may stand for it.
            None => {}
            other => panic!("program {number}: {other:?}\n{}", dump(&program)),
        }
    }
    assert!(accepted > 100 && parts > 40, "{accepted} accepted, {parts} parts");
    assert!(refuted * 10 > parts * 8, "{refuted} of {parts} parts refuted");
}

#[test]
fn a_proof_is_none_of_a_program_that_is_not_safe() {
    let (mut proofs, mut refused) = (0, 0);
    let random = (0..140).map(|seed| {
        let configs = [Config::acyclic(), Config::locking(), Config::crowded()];
        program(seed, &configs[seed as usize % 3].clone().weighing(Statement::Fence, 12))
    });
    for program in random.chain((0..60).filter_map(impossible)) {
        let Some(whole) = proof(&program) else { continue };
        proofs += 1;
        for variant in variants(&program) {
            let reached = explore(&variant, reference::Model::Tso, 2_000).expect("the reference can").goals;
            let is_reached = |goal: &Goal| match *goal {
                Goal::Property(id) => reached.contains_key(&reference::Goal::Property(id)),
                Goal::Assertion(thread) => reached.contains_key(&reference::Goal::Assertion(thread)),
                Goal::NotRobust => false,
            };
            if whole.goals.iter().any(is_reached) {
                assert!(fault(&variant, &whole).is_some(), "{}", dump(&variant));
                refused += 1;
            }
        }
    }
    assert!(proofs > 50 && refused > 50, "{proofs} proofs, {refused} refused");
}

#[test]
fn several_loads_in_one_step_are_spoken_of_as_one_message() {
    let text = "shared x, y; thread W { loop { x = 1; y = 1; y = 0; x = 0; } }
        thread R { let a, b; a, b = y, x; } forbid R at end && R.a == 1 && R.b == 0;";
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program");
    let whole = proof(&parsed.program).expect("it is safe");
    let views = || whole.configurations.iter().flat_map(|configuration| &configuration.threads);
    let joint = |message: &Message| matches!(message, Message::Memory(parts) if parts.len() == 2);
    assert!(views().any(|thread| thread.messages.iter().any(joint)), "{whole:?}");
    assert_eq!(fault(&parsed.program, &whole), None);
    for number in 0..whole.configurations.len() {
        let mut part = whole.clone();
        part.configurations.remove(number);
        assert!(fault(&parsed.program, &part).is_some(), "without configuration {number}");
    }
}

/// What waits in the own buffer is what is loaded, whether other values of the cell are larger or smaller.
#[test]
fn own_stores_hide_other_values() {
    for (first, own) in [(1, 2), (2, 1)] {
        let text = format!(
            "shared x, f; thread W {{ x = {first}; f = 1; }}
             thread R {{ await f == 1; x = {own}; let r = x; }} forbid R at end && R.r == {first};"
        );
        let source = weir_ir::Source::new("test.weir", text);
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program");
        let whole = proof(&parsed.program).expect("it is safe");
        assert_eq!(fault(&parsed.program, &whole), None);
    }
}
