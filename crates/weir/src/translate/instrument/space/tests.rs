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
