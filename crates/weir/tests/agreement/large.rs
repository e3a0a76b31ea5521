//! Programs with so many states at one depth that workers really run side by side: they share the work on a level
//! only if it has some thousands of states, which small programs never have.

use weir::reach::{Options, Reduction, Search, reach};
use weir::{Limit, Limits, Session, Verdict};
use weir_ir::{BinaryOp, Expr, Instruction, LocId, Program, PropertyKind, Range, RegId, StateExpr, Value};
use weir_testkit::sketch::{
    ThreadSketch, all_of, cell, cell_value, equal, load, program, register, register_of, store, straight,
};
use weir_witness::Model;

use crate::compare::{ALL_MERGED, Effort, check};

/// At least as many as the engine wants in a level before it wakes its workers.
const WIDE: usize = 4096;

/// Each symmetry and each reduction once.
const MERGED: &[(bool, Reduction)] = &[ALL_MERGED[1], ALL_MERGED[2], ALL_MERGED[5], ALL_MERGED[6], ALL_MERGED[8]];

const EFFORT: Effort = Effort { limit: 250_000, merging: MERGED, budgets: true, depth_first: true, jobs: &[2, 3] };

fn address(index: u32) -> Value {
    Value::from(index) + 1
}

/// Three threads in a ring: `r0 = any 1..most; own = r0; r1 = next;` with goals that many states show at the same
/// depth, so that it takes care to show the same witness every time.
fn ring(most: Value) -> Program {
    let thread = |me: u32| {
        let choose = Instruction::Havoc { register: RegId(0), range: Range { low: 1, high: most } };
        let publish = Instruction::Store { address: Expr::Const(address(me)), value: register(0) };
        straight(&format!("P{me}"), [choose, publish, load(1, address((me + 1) % 3))])
    };
    let sum = |register| {
        let add = |left, right| Expr::binary(BinaryOp::Add, left, right);
        add(add(register_of(0, register), register_of(1, register)), register_of(2, register))
    };
    let cells = || (0..3).map(|index| equal(cell_value(address(index)), most));
    let properties = vec![
        PropertyKind::Exists(equal(sum(1), 0)),
        PropertyKind::Forbid(equal(sum(0), most + 2)),
        PropertyKind::Always(Expr::binary(BinaryOp::Less, sum(1), Expr::Const(most + 1))),
        PropertyKind::Forbid(all_of(cells().chain([equal(sum(1), most)]))),
        PropertyKind::ForbidDeadlock,
    ];
    let shared = (0..3).map(|index| cell(&format!("x{index}"), address(index))).collect();
    program(shared, (0..3).map(thread).collect(), properties)
}

fn agree_on_ring(most: Value, model: Model, goals: usize) {
    let seen = check(&format!("ring of {most}"), &ring(most), model, EFFORT);
    assert!(seen.complete);
    assert_eq!(seen.reached, goals);
    // Some level has at least the average number of states.
    assert!(seen.states >= WIDE * (seen.depth + 1), "{} states are not enough", seen.states);
}

#[test]
fn workers_agree_on_wide_levels_under_sc() {
    // All three reading 0 takes store buffers.
    agree_on_ring(10, Model::Sc, 3);
}

#[test]
fn workers_agree_on_wide_levels_under_tso() {
    agree_on_ring(7, Model::Tso, 4);
}

/// Three threads that store 1 or 2 forever, and a goal.
fn endless(goal: StateExpr) -> Program {
    let thread = |me: u32| {
        let mut sketch = ThreadSketch::new(&format!("P{me}"));
        for value in [1, 2] {
            sketch.edge(LocId(0), LocId(0), store(address(me), value));
        }
        sketch.finish()
    };
    program(vec![], (0..3).map(thread).collect(), vec![PropertyKind::Forbid(goal)])
}

#[test]
fn workers_agree_where_the_budget_ends_an_endless_search() {
    // Depth-first, each state would have a longer buffer than the one before.
    let effort = Effort { limit: 20_000, depth_first: false, ..EFFORT };
    let never = check("endless", &endless(equal(cell_value(address(0)), 3)), Model::Tso, effort);
    assert!(!never.complete && never.reached == 0);
    let all_two = all_of((0..3).map(|index| equal(cell_value(address(index)), 2)));
    let found = check("endless", &endless(all_two), Model::Tso, effort);
    assert!(!found.complete && found.reached == 1);
}

/// `x = any 1..8; y = any 1..8; assert false;` by choice of edges: 64 states show the goal, and differ only in what the
/// buffer holds.
#[test]
fn workers_agree_on_which_buffers_to_show() {
    let mut sketch = ThreadSketch::new("P0");
    let (first, second, end) = (sketch.location(), sketch.location(), sketch.location());
    for value in 1..=8 {
        sketch.edge(LocId(0), first, store(address(0), value));
        sketch.edge(first, second, store(address(1), value));
    }
    sketch.edge(second, end, Instruction::Assert(Expr::Const(0)));
    let program = program(vec![], vec![sketch.finish()], vec![]);
    let seen = check("buffers", &program, Model::Tso, Effort { limit: 1000, jobs: &[2, 3, 5, 8], ..EFFORT });
    assert_eq!(seen.reached, 1);
}

#[test]
fn buffers_that_grow_without_end_count_against_the_memory_budget() {
    let program = endless(equal(cell_value(address(0)), 3));
    let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
    let session = Session::new(limits);
    let options = Options { model: Model::Tso, search: Search::DepthFirst, ..Options::default() };
    let report = reach(&program, &options, &session).expect("a plain program");
    assert_eq!(report.verdict, Verdict::Unknown(Limit::Memory));
    // The budget is looked at now and then, and between two looks some long buffers come to be.
    assert!(report.statistics.stored_bytes <= 128 << 20, "{} bytes", report.statistics.stored_bytes);
}

/// Wide states, of which each leads to many: the stack of a depth-first search is what takes memory.
#[test]
fn large_states_on_the_stack_stay_within_the_memory_budget() {
    let wide = |register| Instruction::Havoc { register: RegId(register), range: Range { low: 0, high: 900 } };
    let threads = (0..100).map(|me| {
        let full = Instruction::Assign { register: RegId(1), value: Expr::Const(Value::MIN) };
        let spread = Expr::binary(BinaryOp::Multiply, register(0), Expr::Const(Value::MAX));
        let keep = Instruction::Assign { register: RegId(1), value: spread };
        let used = Instruction::Store { address: register(1), value: register(0) };
        straight(&format!("P{me}"), [wide(0), full, keep, wide(0), used])
    });
    let program = program(vec![], threads.collect(), vec![PropertyKind::Forbid(Expr::Const(0))]);
    let memory = 64 << 20;
    let session = Session::new(Limits { memory: Some(memory), ..Limits::default() });
    let options = Options { search: Search::DepthFirst, ..Options::default() };
    let report = reach(&program, &options, &session).expect("states of at most 2048 bytes");
    assert_eq!(report.verdict, Verdict::Unknown(Limit::Memory));
    assert!(report.statistics.state_bytes > 500, "{} bytes a state", report.statistics.state_bytes);
    assert!(report.statistics.stored_bytes <= memory + memory / 8, "{} bytes", report.statistics.stored_bytes);
}

/// `r = any 0..255; s = any full; mem[1000 + r] = s;` twice: 256 cells of 64 bits would be more than a state can hold.
#[test]
fn cells_at_computed_addresses_are_interned_when_states_would_be_too_large() {
    let thread = |me: u32| {
        let choose = Instruction::Havoc { register: RegId(0), range: Range { low: 0, high: 255 } };
        let narrow = Instruction::Assume(Expr::binary(BinaryOp::Less, register(0), Expr::Const(2)));
        let place = || Expr::binary(BinaryOp::Add, register(0), Expr::Const(1000));
        let value = Expr::binary(BinaryOp::Multiply, register(1), Expr::Const(Value::MAX - Value::from(me)));
        let publish = Instruction::Store { address: place(), value };
        let read = Instruction::Load { register: RegId(1), address: place() };
        let one = Instruction::Store { address: place(), value: Expr::Const(1) };
        straight(&format!("P{me}"), [choose, narrow, one, read, publish])
    };
    let seen = cell_value(1001);
    let properties = vec![
        PropertyKind::Exists(equal(seen.clone(), Value::MAX)),
        PropertyKind::Forbid(equal(seen, Value::MAX - 2)),
        PropertyKind::ForbidDeadlock,
    ];
    let program = program(vec![], (0..2).map(thread).collect(), properties);
    for model in [Model::Sc, Model::Tso] {
        let seen = check("computed addresses", &program, model, Effort { limit: 200_000, ..EFFORT });
        assert!(!seen.refused && seen.complete, "{seen:?}");
        assert_eq!(seen.reached, 2);
    }
}

/// The level that a budget cuts short counts: its states were found.
#[test]
fn depth_counts_the_level_that_the_budget_cuts_short() {
    let choose = Instruction::Havoc { register: RegId(0), range: Range { low: 0, high: 1_000_000 } };
    let used = Instruction::Store { address: Expr::Const(1), value: register(0) };
    let program = program(vec![], vec![straight("P", [choose, used])], vec![]);
    for search in [Search::BreadthFirst, Search::DepthFirst] {
        let session = Session::new(Limits { states: Some(1000), ..Limits::default() });
        let report = reach(&program, &Options { search, ..Options::default() }, &session).expect("a plain program");
        assert_eq!(report.verdict, Verdict::Unknown(Limit::States));
        assert!(report.statistics.depth >= 1, "{search:?}: {:?}", report.statistics);
    }
}

#[test]
fn time_that_is_up_before_the_search_ends_it() {
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let session = Session::new(limits);
    let report = reach(&ring(3), &Options::default(), &session).expect("a plain program");
    assert_eq!(report.verdict, Verdict::Unknown(Limit::Time));
}
