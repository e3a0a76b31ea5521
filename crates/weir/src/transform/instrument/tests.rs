use weir_ir::{Expr, Program};
use weir_testkit::sketch::{cell, load, program, store, straight};

use super::*;
use crate::robust::attacks;

fn store_buffering() -> Program {
    let left = straight("P", [store(1, 1), load(0, 2)]);
    let right = straight("Q", [store(2, 1), load(0, 1)]);
    program(vec![cell("x", 1), cell("y", 2)], vec![left, right], Vec::new())
}

#[test]
fn companions_lie_beside_their_cells() {
    let made = instrument(&store_buffering(), attacks(&store_buffering()).open[0]).expect("small").program;
    let cells: Vec<_> = made.shared.iter().map(|shared| (shared.name.as_str(), shared.address)).collect();
    let beside =
        ["x_delayed", "x_waits", "x_level"].map(|name| cells.iter().find(|cell| cell.0 == name).expect("there").1);
    assert_eq!(beside, [3, 5, 7]);
    assert_eq!(made.properties.len(), 1);
    assert!(validate(&made).is_empty());
}

#[test]
fn only_the_attacker_of_one_attack_is_instrumented_as_one() {
    let program = store_buffering();
    let one = instrument(&program, attacks(&program).open[0]).expect("small");
    let halts = |thread: usize| {
        let origins = one.origins[thread].iter().flatten();
        origins.filter(|origin| origin.kind == Kind::Halt).count()
    };
    assert_eq!((halts(0), halts(1)), (1, 0));
    let all = instrument_all(&program, &attacks(&program).open).expect("small");
    assert!(all.program.shared.iter().any(|shared| shared.name == "attacking"));
}

#[test]
fn an_access_to_any_address_is_refused() {
    let wild = Instruction::Store { address: Expr::Leaf(weir_ir::RegId(0)), value: Expr::Const(1) };
    let pick = Instruction::Havoc { register: weir_ir::RegId(0), range: weir_ir::Range::FULL };
    let left = straight("P", [pick, wild, load(1, 2)]);
    let program = program(vec![cell("x", 1), cell("y", 2)], vec![left], Vec::new());
    match instrument_all(&program, &attacks(&program).open) {
        Err(Failure::Refused(diagnostic)) => assert_eq!(diagnostic.code, "no-room"),
        other => panic!("{other:?}"),
    }
}

/// Twice the program takes at most twice the instrumented program.
#[test]
fn the_size_is_linear() {
    let sized = |length: usize| {
        let body = || (0..length).flat_map(|_| [store(1, 1), load(0, 2), Instruction::Lock, Instruction::Unlock]);
        let threads = vec![straight("P", body()), straight("Q", body())];
        let program = program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new());
        let made = instrument_all(&program, &attacks(&program).open).expect("small").program;
        made.threads.iter().map(|thread| thread.body.edges().len()).sum::<usize>()
    };
    assert!(sized(40) <= 2 * sized(20) + 20, "{} and {}", sized(40), sized(20));
}
