//! One change to a good program for each error.

use super::{MAX_EXPRESSION_DEPTH, validate};
use crate::expr::Expr;
use crate::flow::testing::{Automaton, assign, constant, edge_span, havoc, not, program, reg, shared, store, straight};
use crate::ids::{LocId, ProcId, RegId, ThreadId};
use crate::program::{
    Body, Instruction, Multiplicity, Procedure, Program, Property, PropertyKind, RegExpr, StateAtom, StateExpr,
};
use crate::span::Span;

fn good() -> Program {
    let mut asserts = Automaton::new(3);
    asserts.register("r");
    asserts.failed();
    asserts.edge(0, 1, Instruction::Assert(reg(0)));
    asserts.edge(1, 2, Instruction::Terminate);
    let calls = Instruction::Call { procedure: ProcId(0), arguments: vec![constant(1)], register: None };
    let cells = vec![shared("x", 1, 1, Some((0, 7))), shared("a", 2, 3, None)];
    let mut program = program(cells, vec![asserts.body(), straight(&["r", "s"], vec![calls, havoc(1, 0, 3)])]);
    let body = straight(&["v"], vec![store(constant(1), reg(0)), Instruction::Return(reg(0))]);
    let parameters = vec![RegId(0)];
    program.procedures.push(Procedure { name: "f".into(), parameters, body, span: Span::new(5, 6) });
    let at = Expr::Leaf(StateAtom::At { thread: ThreadId(0), locations: vec![LocId(0), LocId(2)] });
    program.properties.push(Property { kind: PropertyKind::Forbid(at), span: Span::new(7, 8) });
    program
}

/// The codes of the errors after a change.
fn codes(change: impl FnOnce(&mut Program)) -> Vec<&'static str> {
    let mut program = good();
    change(&mut program);
    let errors = validate(&program);
    assert!(errors.iter().all(|error| error.is_error() && !error.message.ends_with('.')));
    errors.iter().map(|error| error.code).collect()
}

/// The codes of the errors when the second thread (which no property observes) has this body.
fn codes_of(body: Body) -> Vec<&'static str> {
    codes(|program| program.threads[1].body = body)
}

fn observe(atom: StateAtom) -> Vec<&'static str> {
    codes(|program| program.properties[0].kind = PropertyKind::Always(Expr::Leaf(atom)))
}

#[test]
fn a_good_program_has_no_errors() {
    assert_eq!(codes(|_| {}), [""; 0]);
}

#[test]
fn names_are_unique_within_their_kind() {
    assert_eq!(codes(|program| program.shared[1].name = "x".into()), ["duplicate-name"]);
    assert_eq!(codes(|program| program.threads[1].name = "P0".into()), ["duplicate-name"]);
    assert_eq!(codes(|program| program.threads[1].body.registers[1].name = "r".into()), ["duplicate-name"]);
    assert_eq!(codes(|program| program.constants = vec![("N".into(), 1), ("N".into(), 1)]), ["duplicate-name"]);
    assert_eq!(codes(|program| program.procedures.push(program.procedures[0].clone())), ["duplicate-name"]);
}

#[test]
fn cells_exist_and_do_not_overlap() {
    assert_eq!(codes(|program| program.shared[1].initial.clear()), ["no-cells"]);
    assert_eq!(codes(|program| program.shared[1].is_array = false), ["not-an-array"]);
    assert_eq!(codes(|program| program.shared[1].address = i64::MAX - 1), ["out-of-addresses"]);
    assert_eq!(codes(|program| program.shared[1].address = i64::MAX - 2), [""; 0]);
    assert_eq!(codes(|program| program.shared[1].address = -1), ["overlap"]);
    let hidden = |program: &mut Program| {
        program.shared[1].address = -1;
        program.shared.push(shared("b", 0, 1, None));
    };
    assert_eq!(codes(hidden), ["overlap", "overlap"]);
}

#[test]
fn ranges_hold_values_and_the_initial_one() {
    assert_eq!(codes(|program| program.shared[0] = shared("x", 1, 1, Some((7, 0)))), ["empty-range"]);
    assert_eq!(codes(|program| program.shared[0].initial[0] = 8), ["initial-value"]);
    assert_eq!(codes_of(straight(&["r"], vec![havoc(0, 1, 0)])), ["empty-range"]);
}

#[test]
fn some_thread_runs_and_weighs_something() {
    let spawned = |program: &mut Program| {
        program.threads.iter_mut().for_each(|thread| thread.multiplicity = Multiplicity::Spawned);
    };
    assert_eq!(codes(spawned), ["no-thread"]);
    assert_eq!(codes(|program| program.threads[0].multiplicity = Multiplicity::Arbitrary), [""; 0]);
    assert_eq!(codes(|program| program.threads[0].weight = 0), ["weight"]);
    assert_eq!(validate(&Program::default()).len(), 1);
}

#[test]
fn registers_locations_threads_and_procedures_exist() {
    assert_eq!(codes_of(straight(&["r"], vec![assign(1, constant(0))])), ["unknown-register"]);
    assert_eq!(codes_of(straight(&["r"], vec![assign(0, not(reg(1)))])), ["unknown-register"]);
    assert_eq!(codes_of(straight(&["r"], vec![Instruction::Spawn(ThreadId(2))])), ["unknown-thread"]);
    let call = |procedure| Instruction::Call { procedure: ProcId(procedure), arguments: vec![], register: None };
    assert_eq!(codes_of(straight(&["r"], vec![call(1)])), ["unknown-procedure"]);
    assert_eq!(codes_of(straight(&["r"], vec![call(0)])), ["argument-count"]);
    let cut = |program: &mut Program| {
        program.threads[1].body.locations.pop();
    };
    assert_eq!(codes(cut), ["unknown-location"]);
    assert_eq!(codes(|program| program.procedures[0].parameters = vec![RegId(1)]), ["unknown-register"]);
    assert!(codes(|program| program.procedures[0].parameters = vec![RegId(0); 2]).contains(&"duplicate-name"));
}

#[test]
fn instructions_that_end_do_end() {
    assert_eq!(codes_of(straight(&["r"], vec![Instruction::Return(reg(0))])), ["return-outside"]);
    assert_eq!(codes_of(straight(&["r"], vec![Instruction::Terminate, Instruction::Skip])), ["end-goes-on"]);
    let goes_on = |program: &mut Program| {
        program.procedures[0].body = straight(&["v"], vec![Instruction::Return(reg(0)), Instruction::Skip]);
    };
    assert_eq!(codes(goes_on), ["end-goes-on"]);
}

#[test]
fn assertions_have_somewhere_to_fail() {
    assert_eq!(codes_of(straight(&["r"], vec![Instruction::Assert(reg(0))])), ["failed-location"]);
    let mut goes_on = Automaton::new(3);
    let failed = goes_on.failed();
    goes_on.edge(failed.index(), 0, Instruction::Skip);
    assert_eq!(codes_of(goes_on.body()), ["failed-location"]);
    let mut starts = Automaton::new(0);
    starts.failed();
    assert!(codes_of(starts.body()).contains(&"failed-location"));
}

#[test]
fn properties_observe_what_exists() {
    assert_eq!(observe(StateAtom::Cell(-99)), [""; 0]);
    let register = |thread, register| StateAtom::Register { thread: ThreadId(thread), register: RegId(register) };
    assert_eq!(observe(register(0, 0)), [""; 0]);
    assert_eq!(observe(register(0, 1)), ["unknown-observation"]);
    assert_eq!(observe(register(2, 0)), ["unknown-observation"]);
    let at = |locations: &[u32]| {
        let locations = locations.iter().copied().map(LocId).collect();
        observe(StateAtom::At { thread: ThreadId(0), locations })
    };
    assert_eq!(at(&[4]), ["unknown-observation"]);
    assert_eq!(at(&[2, 1]), ["unknown-observation"]);
}

#[test]
fn deep_expressions_are_refused() {
    let deep = |depth: usize| (1..depth).fold(reg(0), |expr, _| not(expr));
    let body = |expr: RegExpr| straight(&["r"], vec![assign(0, expr)]);
    assert_eq!(codes_of(body(deep(MAX_EXPRESSION_DEPTH))), [""; 0]);
    assert_eq!(codes_of(body(deep(MAX_EXPRESSION_DEPTH + 1))), ["too-deep"]);
    let condition: StateExpr = deep(MAX_EXPRESSION_DEPTH + 1).map(&mut |_| Expr::Leaf(StateAtom::Cell(1)));
    assert_eq!(codes(|program| program.properties[0].kind = PropertyKind::Exists(condition)), ["too-deep"]);
}

#[test]
fn errors_come_in_order_of_the_source() {
    let body = straight(&["r"], vec![Instruction::Return(reg(0)), assign(9, constant(0))]);
    let mut program = good();
    program.threads[0].body = body;
    program.threads[1].weight = 0;
    let spans: Vec<Span> = validate(&program).iter().map(|error| error.primary.span).collect();
    assert_eq!(spans, [Span::new(1, 2), edge_span(0), edge_span(1)]);
}
