//! What stores reach, and what they leave alone.

use super::*;
use crate::flow::testing::{program, shared};

fn memory() -> Memory {
    let declared = vec![shared("x", 1, 1, Some((0, 7))), shared("a", 10, 3, None), shared("long", 100, 5000, None)];
    Memory::new(&program(declared, vec![]))
}

fn range(low: Value, high: Value) -> Range {
    Range { low, high }
}

fn store(memory: &mut Memory, addresses: Range, value: Range) {
    for (slot, value) in memory.effects(addresses, &Write::Store(value)) {
        memory.add(slot, value);
    }
}

#[test]
fn a_store_reaches_the_cells_its_address_may_name_and_no_others() {
    let mut memory = memory();
    store(&mut memory, range(11, 12), range(5, 5));
    assert_eq!([9, 10, 11, 12, 13].map(|at| memory.cell(at).high), [0, 0, 5, 5, 0]);
    assert!(memory.is_written(11) && !memory.is_written(10) && !memory.is_written(9));
    store(&mut memory, range(12, 13), range(6, 6));
    assert_eq!([11, 12, 13, 14, 99, -4].map(|at| memory.cell(at).high), [5, 6, 6, 6, 6, 6]);
    assert_eq!(memory.elsewhere(), range(0, 6));
}

#[test]
fn a_long_array_shares_one_range() {
    let mut memory = memory();
    store(&mut memory, range(200, 200), range(9, 9));
    assert_eq!([100, 200, 5099, 5100].map(|at| memory.cell(at).high), [9, 9, 9, 0]);
    assert!(!memory.is_written(5100));
}

#[test]
fn a_store_outside_the_declared_range_has_no_effect() {
    let mut memory = memory();
    assert!(memory.effects(range(1, 1), &Write::Store(range(8, 9))).is_empty());
    store(&mut memory, range(1, 1), range(6, 9));
    assert_eq!(memory.cell(1), range(0, 7));
    memory.give_up();
    assert_eq!(memory.cell(1), range(0, 7));
    assert_eq!(memory.cell(10), Range::FULL);
}

#[test]
fn a_swap_changes_only_cells_that_may_hold_what_it_expects() {
    let mut memory = memory();
    store(&mut memory, range(10, 10), range(4, 4));
    let swap = Write::Swap { expected: range(3, 5), new: range(8, 8) };
    assert_eq!(memory.effects(range(10, 12), &swap).len(), 1);
    assert_eq!(memory.load(range(10, 12)), range(0, 4));
}

#[test]
fn cells_beyond_the_most_slots_share_one_with_the_undeclared() {
    let mut declared: Vec<Shared> = (0..5).map(|at| shared("a", 1000 * at, 129, None)).collect();
    declared.extend((0..MOST_CELL_RANGES as Value).map(|at| shared("x", 9000 + at, 1, None)));
    declared.push(Shared { initial: vec![7; 3], ..shared("last", 20_000, 3, None) });
    let mut memory = Memory::new(&program(declared, vec![]));
    assert_eq!(memory.slots.len(), MOST_CELL_RANGES + 1);
    assert_eq!((memory.cell(20_001), memory.elsewhere()), (range(0, 7), range(0, 7)));
    store(&mut memory, range(20_001, 20_001), range(9, 9));
    assert_eq!((memory.cell(20_002), memory.cell(4001), memory.cell(1)), (range(0, 9), range(0, 0), range(0, 0)));
    store(&mut memory, range(4001, 4001), range(2, 2));
    assert_eq!((memory.cell(4100), memory.cell(1)), (range(0, 2), range(0, 0)));
}

#[test]
fn an_access_that_touches_very_many_slots_is_taken_to_touch_all() {
    let mut declared: Vec<Shared> = (0..200).map(|at| shared("x", 10 * at, 1, None)).collect();
    declared.push(shared("bit", 5, 1, Some((0, 1))));
    let mut memory = Memory::new(&program(declared, vec![]));
    store(&mut memory, range(0, 1500), range(-3, 9));
    assert_eq!((memory.cell(10), memory.cell(1990), memory.cell(5)), (range(-3, 9), range(-3, 9), range(0, 1)));
    assert!(memory.is_written(1990) && memory.is_written(123_456));
    assert_eq!((memory.elsewhere(), memory.load(range(0, 1500))), (range(-3, 9), range(-3, 9)));
    store(&mut memory, range(10, 10), range(20, 20));
    assert_eq!((memory.cell(10), memory.cell(20)), (range(-3, 20), range(-3, 9)));
    assert_eq!(memory.load(Range::FULL), range(-3, 20));
    assert_eq!(memory.restarted().load(Range::FULL), range(0, 0));
    let swap = Write::Swap { expected: range(30, 40), new: range(1, 1) };
    assert!(memory.effects(Range::FULL, &swap).is_empty());
}

#[test]
fn the_whole_address_space_can_be_asked_for() {
    let memory = memory();
    assert_eq!(memory.load(Range::FULL), range(0, 0));
    assert_eq!(memory.effects(Range::FULL, &Write::Store(range(1, 1))).len(), 6);
}
