//! One small program for each report, and its correct counterpart.

use super::lint;
use crate::diagnostic::Severity;
use crate::expr::{BinaryOp, Expr, Value};
use crate::flow::testing::{
    Automaton, assign, binary, constant, edge_span, havoc, load, not, program, reg, register_span, rmw, shared, store,
    straight,
};
use crate::ids::{ProcId, RegId, ThreadId};
use crate::program::{
    Body, Instruction, Multiplicity, Procedure, Program, Property, PropertyKind, RegExpr, Rmw, Shared, StateAtom,
};
use crate::span::{Source, Span};

/// Severity, code and place of every report.
fn reports(program: &Program) -> Vec<(Severity, &'static str, Span)> {
    assert!(crate::validate(program).is_empty(), "{:?}", crate::validate(program));
    let reports = lint(program);
    assert!(reports.iter().all(|report| !report.message.ends_with('.')));
    reports.iter().map(|report| (report.severity, report.code, report.primary.span)).collect()
}

/// The reports on a program of one thread.
fn reports_on(shared: Vec<Shared>, body: Body) -> Vec<(Severity, &'static str, Span)> {
    reports(&program(shared, vec![body]))
}

fn add(left: RegExpr, right: RegExpr) -> RegExpr {
    binary(BinaryOp::Add, left, right)
}

fn equal(left: RegExpr, right: RegExpr) -> RegExpr {
    binary(BinaryOp::Equal, left, right)
}

/// Stores the register to cell 1, so that it is read.
fn publish(register: u32) -> Instruction {
    store(constant(1), reg(register))
}

const NONE: [(Severity, &str, Span); 0] = [];

#[test]
fn a_register_read_before_it_is_set_is_reported_at_the_first_read() {
    let body = straight(&["r"], vec![publish(0), publish(0), assign(0, constant(1))]);
    assert_eq!(reports_on(vec![], body), [(Severity::Warning, "read-before-set", edge_span(0))]);
    let never = straight(&["r"], vec![publish(0)]);
    assert!(lint(&program(vec![], vec![never]))[0].message.contains("never set"));
    let body = straight(&["r"], vec![assign(0, constant(1)), publish(0)]);
    assert_eq!(reports_on(vec![], body), NONE);
}

#[test]
fn a_register_set_on_one_path_only_is_reported() {
    let branch = |sets: Instruction| {
        let mut automaton = Automaton::new(4);
        automaton.register("r");
        automaton.register("c");
        automaton.edge(0, 1, load(1, constant(1)));
        automaton.edge_at(edge_span(50), 1, 2, Instruction::Assume(reg(1)));
        automaton.edge_at(edge_span(50), 1, 3, Instruction::Assume(not(reg(1))));
        automaton.edge(2, 3, sets);
        automaton.edge(3, 0, publish(0));
        automaton.body()
    };
    // The store makes the load able to see something else than 0.
    let other = || straight(&[], vec![store(constant(1), constant(1))]);
    let found = reports(&program(vec![], vec![branch(assign(0, constant(1))), other()]));
    assert_eq!(found, [(Severity::Warning, "read-before-set", edge_span(4))]);
}

#[test]
fn temporaries_and_parameters_are_not_reported() {
    let mut automaton = Automaton::new(2);
    automaton.temporary("t");
    automaton.temporary("u");
    automaton.edge(0, 1, store(constant(1), reg(0)));
    assert_eq!(reports_on(vec![], automaton.body()), NONE);
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![constant(1)], register: None };
    let mut program = program(vec![], vec![straight(&[], vec![call])]);
    let body = straight(&["v"], vec![publish(0)]);
    program.procedures = vec![Procedure { name: "f".into(), parameters: vec![RegId(0)], body, span: Span::default() }];
    assert_eq!(reports(&program), NONE);
}

#[test]
fn a_register_never_read_is_reported_where_it_is_declared() {
    let at = register_span(RegId(0));
    let body = |instruction| straight(&["r"], vec![instruction]);
    assert_eq!(reports_on(vec![], body(assign(0, constant(1)))), [(Severity::Warning, "unused-register", at)]);
    assert_eq!(reports_on(vec![], body(load(0, constant(1)))), [(Severity::Note, "unused-register", at)]);
    assert_eq!(reports_on(vec![], body(Instruction::Skip)), [(Severity::Warning, "unused-register", at)]);
    let meant = straight(&["_r"], vec![load(0, constant(1))]);
    assert_eq!(reports_on(vec![], meant), NONE);
    let wait = |condition| Instruction::Await { loads: vec![(RegId(0), constant(1))], condition };
    assert_eq!(reports_on(vec![], body(wait(reg(0)))), NONE, "the condition reads it");
    assert_eq!(reports_on(vec![], body(wait(constant(1)))), [(Severity::Note, "unused-register", at)]);
}

#[test]
fn a_register_that_a_property_observes_is_used_but_must_be_set() {
    let observing = |instruction| {
        let mut program = program(vec![], vec![straight(&["r"], vec![instruction])]);
        let atom = StateAtom::Register { thread: ThreadId(0), register: RegId(0) };
        program.properties = vec![Property { kind: PropertyKind::Exists(Expr::Leaf(atom)), span: Span::default() }];
        reports(&program)
    };
    assert_eq!(observing(load(0, constant(1))), NONE);
    assert_eq!(observing(Instruction::Skip), [(Severity::Warning, "never-set", register_span(RegId(0)))]);
}

#[test]
fn unreachable_code_is_one_report_for_each_region() {
    let mut automaton = Automaton::new(8);
    automaton.edge(0, 0, Instruction::Skip);
    automaton.edge(1, 2, Instruction::Skip);
    automaton.edge(2, 3, Instruction::Fence);
    automaton.edge(3, 0, Instruction::Skip);
    automaton.edge(5, 6, Instruction::Skip);
    let found = reports_on(vec![], automaton.body());
    assert_eq!(
        found,
        [(Severity::Warning, "unreachable", edge_span(1)), (Severity::Warning, "unreachable", edge_span(4))]
    );
}

#[test]
fn an_unreachable_label_is_reported_but_an_unreachable_end_is_not() {
    let mut automaton = Automaton::new(3);
    automaton.edge(0, 0, Instruction::Skip);
    automaton.label(2, "after");
    let body = automaton.body();
    let span = body.locations[2].span;
    assert_eq!(reports_on(vec![], body.clone()), [(Severity::Warning, "unreachable", span)]);
    assert!(lint(&program(vec![], vec![body]))[0].message.contains("`after`"));
}

#[test]
fn threads_that_do_nothing_are_reported() {
    let mut program = program(vec![], vec![straight(&[], vec![Instruction::Skip]), Automaton::new(1).body()]);
    program.threads[1].span = Span::new(30, 40);
    assert_eq!(reports(&program), [(Severity::Warning, "empty-thread", Span::new(30, 40))]);
    program.threads[1].body = straight(&[], vec![Instruction::Skip]);
    program.threads[1].multiplicity = Multiplicity::Spawned;
    assert_eq!(reports(&program), [(Severity::Warning, "never-spawned", Span::new(30, 40))]);
    program.threads[0].body = straight(&[], vec![Instruction::Spawn(ThreadId(1))]);
    assert_eq!(reports(&program), NONE);
}

/// `r = any 0..3; if r == wanted { skip; fence; }`
fn guarded(wanted: Value) -> Body {
    let mut automaton = Automaton::new(5);
    automaton.register("r");
    let test = equal(reg(0), constant(wanted));
    automaton.edge(0, 1, havoc(0, 0, 3));
    automaton.edge_at(edge_span(50), 1, 2, Instruction::Assume(test.clone()));
    automaton.edge_at(edge_span(50), 1, 4, Instruction::Assume(not(test)));
    automaton.edge(2, 3, Instruction::Skip);
    automaton.edge(3, 4, Instruction::Fence);
    automaton.body()
}

#[test]
fn a_branch_that_values_rule_out_is_one_note_at_its_start() {
    assert_eq!(reports_on(vec![], guarded(3)), NONE);
    assert_eq!(reports_on(vec![], guarded(4)), [(Severity::Note, "never-taken", edge_span(3))]);
}

#[test]
fn a_test_that_always_goes_one_way_is_no_news_in_itself() {
    let mut automaton = Automaton::new(2);
    automaton.edge(0, 0, Instruction::Assume(constant(1)));
    automaton.edge(0, 1, Instruction::Assume(constant(0)));
    assert_eq!(reports_on(vec![], automaton.body()), NONE);
}

#[test]
fn a_condition_that_never_holds_is_a_note_and_what_follows_is_not_repeated() {
    let body = straight(&[], vec![Instruction::Skip, Instruction::Assume(constant(0)), Instruction::Skip]);
    assert_eq!(reports_on(vec![], body), [(Severity::Note, "never-taken", edge_span(1))]);
}

#[test]
fn a_statement_is_ruled_out_only_if_all_its_copies_are() {
    assert_eq!(reports(&program(vec![], vec![guarded(4), guarded(3)])), NONE);
    assert_eq!(reports(&program(vec![], vec![guarded(4), guarded(5)])).len(), 1);
}

#[test]
fn divisors_that_are_or_may_be_zero_are_reported() {
    let divided_by = |divisor: RegExpr, range: (Value, Value)| {
        let division = binary(BinaryOp::Remainder, constant(7), divisor);
        reports_on(
            vec![],
            straight(&["r"], vec![havoc(0, range.0, range.1), store(constant(1), add(reg(0), division))]),
        )
    };
    let at = edge_span(1);
    assert_eq!(divided_by(reg(0), (0, 0)), [(Severity::Warning, "division-by-zero", at)]);
    assert_eq!(divided_by(reg(0), (-1, 5)), [(Severity::Note, "division-by-zero", at)]);
    assert_eq!(divided_by(reg(0), (1, 5)), NONE);
    assert_eq!(divided_by(reg(0), (Value::MIN, 5)), NONE);
}

#[test]
fn a_divisor_that_is_tested_first_is_fine() {
    let division = binary(BinaryOp::Divide, constant(7), reg(0));
    let guarded = |op, test: RegExpr| {
        let condition = store(constant(1), binary(op, test, division.clone()));
        reports_on(vec![], straight(&["r"], vec![havoc(0, 0, 5), condition]))
    };
    assert_eq!(guarded(BinaryOp::And, reg(0)), NONE);
    assert_eq!(guarded(BinaryOp::Or, equal(reg(0), constant(0))), NONE);
    assert_eq!(guarded(BinaryOp::Or, reg(0)).len(), 1);
}

#[test]
fn an_index_that_is_always_outside_is_reported() {
    let index = |low, high, source: &str| {
        let access = load(1, add(constant(10), reg(0)));
        let mut program = program(
            vec![shared("x", 1, 1, None), shared("flag", 10, 3, None)],
            vec![straight(&["r", "_s"], vec![havoc(0, low, high), access])],
        );
        program.source = Source::new("f", source);
        reports(&program)
    };
    let outside = [(Severity::Warning, "index-outside", edge_span(1))];
    assert_eq!(index(3, 9, ""), outside);
    assert_eq!(index(-4, -1, ""), outside);
    assert_eq!(index(2, 9, ""), NONE);
    let spelt = |text: &str| format!("{}{text}", " ".repeat(edge_span(1).start as usize));
    assert_eq!(index(3, 9, &spelt("flag[r]")), outside);
    assert_eq!(index(3, 9, &spelt("mem[r + 10]")), NONE);
}

#[test]
fn a_store_that_always_blocks_is_reported_once() {
    let cell = || vec![shared("x", 1, 1, Some((0, 7)))];
    let storing = |instruction| reports_on(cell(), straight(&[], vec![instruction, Instruction::Skip]));
    let outside = [(Severity::Warning, "store-outside", edge_span(0))];
    assert_eq!(storing(store(constant(1), constant(9))), outside);
    assert_eq!(storing(rmw(None, constant(1), Rmw::Exchange(constant(8)))), outside);
    assert_eq!(storing(store(constant(1), constant(7))), NONE);
    assert_eq!(storing(store(constant(2), constant(9))), NONE);
    let fails = Rmw::CompareAndSwap { expected: constant(5), new: constant(9) };
    assert_eq!(storing(rmw(None, constant(1), fails)), NONE);
}

#[test]
fn the_lock_is_taken_and_given_back_in_turn() {
    use Instruction::{Lock, Skip, Terminate, Unlock};
    let locking = |instructions: Vec<Instruction>| reports_on(vec![], straight(&[], instructions));
    let at = |edge| [(Severity::Warning, "lock", edge_span(edge))];
    assert_eq!(locking(vec![Lock, Skip, Unlock, Lock, Unlock]), NONE);
    assert_eq!(locking(vec![Unlock]), at(0));
    assert_eq!(locking(vec![Lock, Lock, Unlock]), at(1));
    assert_eq!(locking(vec![Lock, Lock, Skip]), at(1));
    assert_eq!(locking(vec![Lock, Unlock, Unlock]), at(2));
    assert_eq!(locking(vec![Lock]), at(0));
    assert_eq!(locking(vec![Lock, Terminate]), at(1));
}

#[test]
fn the_lock_given_back_on_one_path_only_is_a_note() {
    let mut automaton = Automaton::new(4);
    automaton.edge(0, 1, Instruction::Lock);
    automaton.edge(0, 1, Instruction::Skip);
    automaton.edge(1, 2, Instruction::Unlock);
    assert_eq!(reports_on(vec![], automaton.body()), [(Severity::Note, "lock", edge_span(2))]);
}

#[test]
fn procedures_that_use_the_lock_leave_it_unknown() {
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![], register: None };
    let calls = straight(&[], vec![call, Instruction::Unlock]);
    let mut program = program(vec![], vec![calls]);
    let body = straight(&[], vec![Instruction::Skip, Instruction::Lock]);
    program.procedures = vec![Procedure { name: "f".into(), parameters: vec![], body, span: Span::default() }];
    assert_eq!(reports(&program), NONE);
}

#[test]
fn replicated_threads_are_reported_once() {
    let body = || straight(&["r"], vec![publish(0)]);
    assert_eq!(reports(&program(vec![], vec![body(), body(), body()])).len(), 1);
}
