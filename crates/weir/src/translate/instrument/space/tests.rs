//! Companions lie apart from each other and from all cells, wherever these are.

use std::collections::BTreeSet;

use weir_ir::{Instruction, RegId, Shared};
use weir_testkit::sketch::{cell, load, program, store, straight};

use super::*;

fn with_cells(cells: &[(Address, usize)]) -> Program {
    let declare = |(number, &(address, length)): (usize, &(Address, usize))| {
        let initial = vec![0; length];
        Shared { initial, is_array: length > 1, ..cell(&format!("c{number}"), address) }
    };
    let shared = cells.iter().enumerate().map(declare).collect();
    let accesses = cells.iter().flat_map(|&(address, _)| [store(address, 1), load(0, address)]);
    program(shared, vec![straight("P", accesses)], Vec::new())
}

#[test]
fn no_two_companions_share_an_address() {
    let layouts: [&[(Address, usize)]; 10] = [
        &[(1, 1), (2, 1)],
        &[(0, 1)],
        &[(1, 5)],
        &[(-1, 1), (0, 1), (5, 2)],
        &[(Address::MAX, 1)],
        &[(Address::MAX - 1, 2), (1, 3)],
        &[(Address::MIN, 2), (0, 1)],
        &[(Address::MIN, 1), (Address::MAX, 1)],
        &[(Address::MIN, 1), (-1, 1), (7, 4), (Address::MAX, 1)],
        &[(1, 1), (1 << 40, 1), (2, 8)],
    ];
    for cells in layouts {
        let program = with_cells(cells);
        let space = Space::new(&program).expect("there is room");
        let all: Vec<Address> = program.shared.iter().flat_map(|shared| shared.addresses()).collect();
        let beside = |which| all.iter().map(move |&address| (address, which));
        let mut used = BTreeSet::new();
        for (address, which) in [0, DELAYED, WAITS, LEVEL].into_iter().flat_map(beside) {
            assert!(used.insert(space.beside(address, which)), "{cells:?}: {address} and {which} on {space:?}");
        }
        let (first, second) = space.two_free_addresses();
        assert!(first != second && !used.contains(&first) && !used.contains(&second), "{cells:?}: {space:?}");
    }
}

/// Cells whose distances rule out all distances of companions but one.
#[test]
fn every_distance_is_tried() {
    // A distance of 4ʲ between cells rules out half of it and all of it; what is left is 1.
    let cells: Vec<(Address, usize)> = (1..32).map(|power| (1 << (2 * power), 1)).chain([(0, 1)]).collect();
    let space = Space::new(&with_cells(&cells)).expect("there is room");
    assert_eq!(space.distance, 1);
    let used = |which| cells.iter().map(move |&(address, _)| (address, which));
    let all: BTreeSet<Address> = (0..=LEVEL).flat_map(used).map(|(cell, which)| space.beside(cell, which)).collect();
    assert_eq!(all.len(), 4 * cells.len());
}

/// Stretches of addresses up to a quarter of all, at either end and in between: there is room if four of them and two
/// flags fit, and none of them runs over the end.
#[test]
fn there_is_room_up_to_the_last_address() {
    const QUARTER: Address = 1 << 62;
    let stretch = |low: Address, count: Address| Range { low, high: low + (count - 1) };
    let fits = |touched: &[Range]| placed(touched, QUARTER);
    for (count, has_room) in [(1, true), (2, true), (QUARTER - 2, true), (QUARTER - 1, true), (QUARTER, false)] {
        let found = fits(&[stretch(Address::MIN, count)]);
        assert_eq!(found.is_some(), has_room, "{count}");
        let expected: Vec<Range> =
            (0..4).map(|which| stretch(Address::MIN.wrapping_add(QUARTER.wrapping_mul(which)), count)).collect();
        assert!(found.is_none_or(|found| found == expected), "{count}");
    }
    // In two parts, with one address free in each quarter, or none.
    let parts =
        |free: Address| [stretch(Address::MIN, 1000), stretch(Address::MIN + 1000 + free, QUARTER - 1000 - free)];
    assert!(fits(&parts(1)).is_some_and(|found| found.len() == 8));
    assert!(fits(&parts(0)).is_none());
    // What is moved must not run over the end, nor meet what lies elsewhere.
    for (low, has_room) in [(-3, true), (-2, true), (-1, true), (0, true)] {
        assert_eq!(fits(&[stretch(low, 1)]).is_some(), has_room, "{low}");
    }
    assert!(fits(&[stretch(QUARTER - 1, 2)]).is_none(), "it runs over the end");
    assert!(fits(&[stretch(QUARTER - 2, 2)]).is_some());
    assert!(placed(&[stretch(5, 3)], 2).is_none(), "companions meet");
    assert!(placed(&[stretch(5, 3)], 3).is_some(), "they touch");
}

/// Two flags have addresses of their own, where nearly all others are in use.
#[test]
fn flags_find_the_last_free_addresses() {
    let stretch = |low: Address, high: Address| Range { low, high };
    let (least, most) = (Address::MIN, Address::MAX);
    for (used, expected) in [
        (vec![stretch(5, 7)], (8, 9)),
        (vec![stretch(5, 7), stretch(10, most)], (least, least + 1)),
        (vec![stretch(least, 7), stretch(10, most)], (8, 9)),
        (vec![stretch(least, 7), stretch(9, 20), stretch(22, most)], (8, 21)),
        (vec![stretch(least + 1, most - 1)], (most, least)),
        (vec![stretch(least, 7), stretch(8, 20), stretch(23, most - 1)], (most, 21)),
    ] {
        let space = Space { distance: 1, used };
        assert_eq!(space.two_free_addresses(), expected, "{space:?}");
    }
}

/// Companions of what a computed address may touch are apart as well, though nothing is declared there.
#[test]
fn computed_addresses_count() {
    let pick = Instruction::Havoc { register: RegId(0), range: Range { low: 3, high: 9 } };
    let wild = Instruction::Store { address: Expr::Leaf(RegId(0)), value: Expr::Const(1) };
    let program = program(vec![cell("x", 1)], vec![straight("P", [pick, wild])], Vec::new());
    let space = Space::new(&program).expect("there is room");
    let mut used = BTreeSet::new();
    for which in 0..=LEVEL {
        assert!((3..=9).chain([1]).all(|address| used.insert(space.beside(address, which))), "{space:?}");
    }
}

#[test]
fn a_computed_companion_is_where_the_companion_is() {
    let space = Space::new(&with_cells(&[(1, 4), (9, 1)])).expect("there is room");
    let register = || Expr::Leaf(RegId(0));
    let sum = |left, right| Expr::binary(BinaryOp::Add, left, right);
    let forms: [RegExpr; 5] = [
        Expr::Const(9),
        register(),
        sum(Expr::Const(7), register()),
        sum(register(), Expr::Const(7)),
        sum(register(), register()),
    ];
    for form in forms {
        for value in [1, 2] {
            let eval = |expr: &RegExpr| expr.eval(&mut |_| value);
            for which in [DELAYED, WAITS, LEVEL] {
                let expected = space.beside(eval(&form), which);
                assert_eq!(eval(&space.beside_computed(&form, which)), expected, "{form:?}");
                assert_eq!(eval(&space.beside_if(Expr::Const(1), &form, which)), expected, "{form:?}");
                assert_eq!(eval(&space.beside_if(Expr::Const(0), &form, which)), eval(&form), "{form:?}");
            }
        }
    }
}

#[test]
fn a_program_without_room_is_shown_the_access_that_takes_it() {
    let text = "thread P { let r, s; loop { s = mem[r]; r = any -9223372036854775807..9223372036854775807; } }";
    let source = weir_ir::Source::new("test.weir", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let Err(Failure::Refused(diagnostic)) = Space::new(&program) else { panic!("there is no room") };
    let span = diagnostic.primary.span;
    assert_eq!((diagnostic.code, &text[span.start as usize..span.end as usize]), ("no-room", "mem[r]"));
}
