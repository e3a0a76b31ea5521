//! Precision on the programs people write. Soundness is tested on random programs in `tests/soundness/`.

use super::Ranges;
use crate::expr::{BinaryOp, Value};
use crate::flow::testing::{
    Automaton, assign, binary, constant, havoc, load, not, program, reg, rmw, shared, store, straight,
};
use crate::ids::{EdgeId, LocId, ProcId, RegId, ThreadId};
use crate::program::{BinaryRmw, Body, Instruction, Multiplicity, Procedure, Program, Range, RegExpr, Rmw};
use crate::span::Span;

const P0: ThreadId = ThreadId(0);

fn range(low: Value, high: Value) -> Range {
    Range { low, high }
}

fn less(left: RegExpr, right: RegExpr) -> RegExpr {
    binary(BinaryOp::Less, left, right)
}

fn plus(left: RegExpr, right: RegExpr) -> RegExpr {
    binary(BinaryOp::Add, left, right)
}

/// `while r < bound { body; r = r + 1; }`, with `body` the edge from 1 to 2.
fn counting(bound: RegExpr, body: Instruction) -> Automaton {
    let mut automaton = Automaton::new(4);
    automaton.register("r");
    let test = less(reg(0), bound);
    automaton.edge(0, 1, Instruction::Assume(test.clone()));
    automaton.edge(1, 2, body);
    automaton.edge(2, 0, assign(0, plus(reg(0), constant(1))));
    automaton.edge(0, 3, Instruction::Assume(not(test)));
    automaton
}

#[test]
fn a_loop_counter_is_bounded_by_its_test() {
    for bound in [1, 5, 1000, 1 << 40] {
        let ranges = Ranges::of(&program(vec![], vec![counting(constant(bound), Instruction::Skip).body()]));
        assert_eq!(ranges.register(P0, RegId(0)), range(0, bound));
        assert_eq!(ranges.register_at(P0, LocId(1), RegId(0)), Some(range(0, bound - 1)));
        assert_eq!(ranges.register_at(P0, LocId(3), RegId(0)), Some(range(bound, bound)));
    }
}

#[test]
fn a_loop_counter_is_bounded_by_another_register() {
    let mut automaton = Automaton::new(4);
    automaton.register("i");
    automaton.register("n");
    automaton.edge(0, 1, havoc(1, 3, 9));
    automaton.edge(1, 2, Instruction::Assume(less(reg(0), reg(1))));
    automaton.edge(2, 1, assign(0, plus(reg(0), constant(1))));
    automaton.edge(1, 3, Instruction::Assume(not(less(reg(0), reg(1)))));
    let ranges = Ranges::of(&program(vec![], vec![automaton.body()]));
    assert_eq!(ranges.register(P0, RegId(0)), range(0, 9));
    assert_eq!(ranges.register_at(P0, LocId(3), RegId(0)), Some(range(3, 9)));
}

#[test]
fn an_index_stays_within_its_array() {
    let cells = vec![shared("a", 10, 4, None), shared("x", 14, 1, None)];
    let body = counting(constant(4), store(plus(constant(10), reg(0)), constant(7))).body();
    let index = body.edges().iter().position(|edge| matches!(edge.instruction, Instruction::Store { .. }));
    let ranges = Ranges::of(&program(cells, vec![body]));
    assert_eq!(ranges.addresses_of(P0, EdgeId::new(index.unwrap())), [range(10, 13)]);
    assert_eq!((ranges.cell(13), ranges.cell(14), ranges.undeclared()), (range(0, 7), range(0, 0), range(0, 0)));
    assert!(ranges.may_be_written(10) && !ranges.may_be_written(14) && !ranges.may_be_written(99));
}

/// Peterson's entry and exit, for thread `me`: `flag[0]`, `flag[1]`, `turn` are at 1, 2, 3.
fn peterson(me: Value) -> Body {
    let mut automaton = Automaton::new(6);
    automaton.temporary("t");
    automaton.edge(0, 1, store(constant(1 + me), constant(1)));
    automaton.edge(1, 2, store(constant(3), constant(1 - me)));
    automaton.edge(2, 3, load(0, constant(2 - me)));
    automaton.edge(3, 4, Instruction::Assume(binary(BinaryOp::Equal, reg(0), constant(1))));
    automaton.edge(3, 5, Instruction::Assume(not(reg(0))));
    automaton.edge(4, 2, load(0, constant(3)));
    automaton.edge(5, 0, store(constant(1 + me), constant(0)));
    automaton.body()
}

#[test]
fn petersons_cells_hold_bits() {
    let cells = vec![shared("flag", 1, 2, None), shared("turn", 3, 1, None)];
    let ranges = Ranges::of(&program(cells, vec![peterson(0), peterson(1)]));
    assert!((1..=3).all(|address| ranges.cell(address) == range(0, 1)));
    assert_eq!(ranges.register(P0, RegId(0)), range(0, 1));
    assert_eq!(ranges.undeclared(), range(0, 0));
}

#[test]
fn lamports_x_holds_thread_numbers() {
    let thread = |number| {
        straight(
            &["seen"],
            vec![
                store(constant(1), constant(number)),
                load(0, constant(1)),
                store(plus(constant(10), reg(0)), constant(1)),
                store(constant(2), reg(0)),
            ],
        )
    };
    let cells = vec![shared("x", 1, 1, None), shared("y", 2, 1, None), shared("b", 10, 6, None)];
    let ranges = Ranges::of(&program(cells, (1..=5).map(thread).collect()));
    assert_eq!((ranges.cell(1), ranges.cell(2)), (range(0, 5), range(0, 5)));
    assert_eq!((ranges.cell(15), ranges.undeclared()), (range(0, 1), range(0, 0)));
}

#[test]
fn a_guarded_counter_in_memory_is_bounded() {
    // loop { t = x; assume t < 6; x = t + 1; }
    let mut automaton = Automaton::new(3);
    automaton.temporary("t");
    automaton.edge(0, 1, load(0, constant(1)));
    automaton.edge(1, 2, Instruction::Assume(less(reg(0), constant(6))));
    automaton.edge(2, 0, store(constant(1), plus(reg(0), constant(1))));
    let ranges = Ranges::of(&program(vec![shared("x", 1, 1, None)], vec![automaton.body()]));
    assert_eq!(ranges.cell(1), range(0, 6));
}

#[test]
fn a_declared_range_bounds_the_cell_and_what_was_stored() {
    let mut automaton = Automaton::new(2);
    automaton.register("r");
    automaton.edge(0, 1, assign(0, plus(reg(0), constant(1))));
    automaton.edge(1, 0, store(constant(1), reg(0)));
    let ranges = Ranges::of(&program(vec![shared("x", 1, 1, Some((0, 7)))], vec![automaton.body()]));
    assert_eq!(ranges.cell(1), range(0, 7));
    assert_eq!(ranges.register(P0, RegId(0)), range(0, 8));
}

#[test]
fn an_unbounded_counter_may_wrap() {
    let mut automaton = Automaton::new(1);
    automaton.edge(0, 0, rmw(None, constant(1), Rmw::Fetch(BinaryRmw::Add, constant(1))));
    let ranges = Ranges::of(&program(vec![shared("x", 1, 1, None)], vec![automaton.body()]));
    assert_eq!(ranges.cell(1), Range::FULL);
}

#[test]
fn a_compare_and_swap_that_cannot_succeed_writes_nothing() {
    let swap = |expected| Rmw::CompareAndSwap { expected: constant(expected), new: constant(5) };
    let fails = rmw(Some(0), constant(1), swap(3));
    let may = rmw(Some(1), constant(2), swap(0));
    let body = straight(&["a", "b"], vec![fails, may]);
    let ranges = Ranges::of(&program(vec![shared("x", 1, 1, None), shared("y", 2, 1, None)], vec![body]));
    assert_eq!((ranges.cell(1), ranges.cell(2)), (range(0, 0), range(0, 5)));
    assert!(!ranges.may_be_written(1) && ranges.may_be_written(2));
    assert_eq!((ranges.register(P0, RegId(0)), ranges.register(P0, RegId(1))), (range(0, 0), range(0, 1)));
}

#[test]
fn impossible_edges_and_what_follows_them_are_unreachable() {
    let mut automaton = Automaton::new(3);
    automaton.failed();
    automaton.register("r");
    automaton.edge(0, 1, Instruction::Assert(constant(0)));
    automaton.edge(1, 2, load(0, constant(1)));
    let ranges = Ranges::of(&program(vec![], vec![automaton.body()]));
    assert!(ranges.can_take(P0, EdgeId(0)), "an assertion can be taken by failing");
    assert!(!ranges.is_reachable(P0, LocId(1)) && ranges.is_reachable(P0, LocId(3)));
    assert_eq!(ranges.register_at(P0, LocId(1), RegId(0)), None);
    assert_eq!(ranges.addresses_of(P0, EdgeId(1)), []);
}

#[test]
fn procedures_run_with_any_arguments_if_they_are_called_at_all() {
    let stores = |address: Value| {
        let mut automaton = Automaton::new(2);
        automaton.register("v");
        automaton.edge(0, 1, store(constant(address), reg(0)));
        Procedure { name: "f".into(), parameters: vec![RegId(0)], body: automaton.body(), span: Span::default() }
    };
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![constant(3)], register: Some(RegId(0)) };
    let cells = vec![shared("x", 1, 1, None), shared("y", 2, 1, None)];
    let mut program: Program = program(cells, vec![straight(&["r", "s"], vec![call])]);
    program.procedures = vec![stores(1), stores(2)];
    let ranges = Ranges::of(&program);
    assert_eq!((ranges.cell(1), ranges.cell(2)), (Range::FULL, range(0, 0)));
    assert_eq!((ranges.register(P0, RegId(0)), ranges.register(P0, RegId(1))), (Range::FULL, range(0, 0)));
}

#[test]
fn spawned_threads_count_as_running() {
    let mut program = program(vec![], vec![straight(&[], vec![store(constant(1), constant(4))])]);
    program.threads[0].multiplicity = Multiplicity::Spawned;
    assert_eq!(Ranges::of(&program).cell(1), range(0, 4));
}

#[test]
fn a_body_too_large_to_follow_still_gets_sound_answers() {
    let count = 3000;
    let mut automaton = Automaton::new(count + 1);
    for at in 0..2000 {
        automaton.register(&format!("r{at}"));
    }
    automaton.chain((0..count).map(|at| match at {
        5 => assign(3, constant(8)),
        6 => store(constant(1), reg(3)),
        7 => store(constant(2), constant(9)),
        _ => Instruction::Skip,
    }));
    let ranges = Ranges::of(&program(vec![], vec![automaton.body()]));
    assert_eq!((ranges.register(P0, RegId(3)), ranges.register(P0, RegId(4))), (Range::FULL, range(0, 0)));
    assert_eq!(ranges.undeclared(), Range::FULL);
    assert_eq!(ranges.addresses_of(P0, EdgeId(7)), [range(2, 2)]);
    assert!(ranges.is_reachable(P0, LocId::new(count)));
}

/// Each register takes the value of the next, the last one counts: the worst order for a fixpoint.
#[test]
fn long_chains_through_registers_and_memory_end_in_good_time() {
    let length = 600;
    let mut automaton = Automaton::new(3 * length);
    automaton.register("t");
    (1..length).for_each(|at| {
        automaton.register(&format!("r{at}"));
    });
    let last = length as u32 - 1;
    for at in 0..length - 1 {
        automaton.edge(at, at + 1, assign(at as u32, reg(at as u32 + 1)));
    }
    automaton.edge(length - 1, 0, assign(last, plus(reg(last), constant(1))));
    let mut copies = Automaton::new(3 * length);
    copies.temporary("t");
    for at in 0..length {
        let cell = at as Value + 1;
        copies.edge(2 * at, 2 * at + 1, load(0, constant(cell + 1)));
        copies.edge(2 * at + 1, 2 * at + 2, store(constant(cell), reg(0)));
    }
    let counter = Rmw::Fetch(BinaryRmw::Add, constant(1));
    copies.edge(2 * length, 0, rmw(None, constant(length as Value + 1), counter));
    let cells = vec![shared("a", 1, length + 1, None)];
    let started = std::time::Instant::now();
    let ranges = Ranges::of(&program(cells, vec![automaton.body(), copies.body()]));
    assert_eq!(ranges.register(P0, RegId(0)), Range::FULL);
    assert_eq!(ranges.cell(1), Range::FULL);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
