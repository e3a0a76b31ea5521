use weir_ir::{Expr, Instruction, Program};
use weir_testkit::sketch::{cell, load, program, store, straight};

use super::*;
use crate::robust::attacks;
use crate::session::Session;

fn store_buffering() -> Program {
    let left = straight("P", [store(1, 1), load(0, 2)]);
    let right = straight("Q", [store(2, 1), load(0, 1)]);
    program(vec![cell("x", 1), cell("y", 2)], vec![left, right], Vec::new())
}

#[test]
fn companions_lie_beside_their_cells() {
    let made =
        instrument(&store_buffering(), attacks(&store_buffering(), &Session::default()).expect("no limit").open[0])
            .expect("small")
            .program;
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
    let one = instrument(&program, attacks(&program, &Session::default()).expect("no limit").open[0]).expect("small");
    let halts = |thread: usize| {
        let origins = one.origins[thread].iter().flatten();
        origins.filter(|origin| origin.kind == AttackStep::Halt).count()
    };
    assert_eq!((halts(0), halts(1)), (1, 0));
    let all = instrument_all(&program, &attacks(&program, &Session::default()).expect("no limit").open).expect("small");
    assert!(all.program.shared.iter().any(|shared| shared.name == "attacking"));
}

#[test]
fn an_access_to_any_address_is_refused() {
    let wild = Instruction::Store { address: Expr::Leaf(weir_ir::RegId(0)), value: Expr::Const(1) };
    let pick = Instruction::Havoc { register: weir_ir::RegId(0), range: weir_ir::Range::FULL };
    let left = straight("P", [pick, wild, load(1, 2)]);
    let program = program(vec![cell("x", 1), cell("y", 2)], vec![left], Vec::new());
    match instrument_all(&program, &attacks(&program, &Session::default()).expect("no limit").open) {
        Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => assert_eq!(diagnostic.code, "no-room"),
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
        let made = instrument_all(&program, &attacks(&program, &Session::default()).expect("no limit").open)
            .expect("small")
            .program;
        made.threads.iter().map(|thread| thread.body.edges().len()).sum::<usize>()
    };
    assert!(sized(40) <= 2 * sized(20) + 20, "{} and {}", sized(40), sized(20));
}

/// Names that are taken are not taken again, whatever they name.
#[test]
fn new_names_are_new() {
    let mut program = store_buffering();
    program.shared[1].name = "x_delayed".to_owned();
    program.shared.extend([cell("success", 3), cell("success_", 4), cell("level_", 5)]);
    program.threads[0].name = "x_level".to_owned();
    program.constants.push(("attacking".to_owned(), 1));
    let both = weir_testkit::sketch::snapshot([(0, 1), (1, 2)]);
    program.threads[1] = straight("Q", [store(2, 1), both, Instruction::Lock, load(0, 1)]);
    program.threads[1].body.registers[0].name = "result_".to_owned();
    let made = instrument_all(&program, &attacks(&program, &Session::default()).expect("no limit").open)
        .expect("small")
        .program;
    let mut names: Vec<&str> = made.shared.iter().map(|shared| shared.name.as_str()).collect();
    names.extend(made.threads.iter().map(|thread| thread.name.as_str()));
    names.push("attacking");
    let different: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
    for thread in &made.threads {
        let registers: std::collections::BTreeSet<&str> =
            thread.body.registers.iter().map(|register| register.name.as_str()).collect();
        assert_eq!(registers.len(), thread.body.registers.len(), "{registers:?}");
        assert!(made.shared.iter().all(|shared| !registers.contains(shared.name.as_str())), "{registers:?}");
    }
    let addresses: std::collections::BTreeSet<Value> = made.shared.iter().map(|shared| shared.address).collect();
    assert_eq!(addresses.len(), made.shared.len(), "{:?}", made.shared);
}

#[test]
fn companions_begin_as_they_must() {
    let mut program = store_buffering();
    program.shared[0] = Shared { initial: vec![5], range: Some(weir_ir::Range { low: 4, high: 6 }), ..cell("x", 1) };
    let made =
        instrument(&program, attacks(&program, &Session::default()).expect("no limit").open[0]).expect("small").program;
    let found = |name: &str| made.shared.iter().find(|shared| shared.name == name).expect("there").clone();
    assert_eq!((found("x_delayed").initial, found("x_delayed").range), (vec![5], program.shared[0].range));
    for name in ["x_waits", "x_level"] {
        assert_eq!((found(name).initial, found(name).range), (vec![0], None));
    }
    assert!(made.shared.iter().all(|shared| shared.name != "attacking"), "there is only one attacker");
    assert_eq!(made.threads[0].body.labelled("l0").len(), 1, "labels stay with the original code");
}

#[test]
fn thirty_threads_can_lock() {
    let with = |count: usize| {
        let attacker = straight("A", [store(1, 1), load(0, 2)]);
        let lockers = (0..count).map(|number| straight(&format!("L{number}"), [Instruction::Lock, store(2, 1)]));
        let threads = std::iter::once(attacker).chain(lockers).collect();
        let program = program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new());
        instrument_all(&program, &attacks(&program, &Session::default()).expect("no limit").open)
    };
    assert!(with(30).is_ok());
    match with(31) {
        Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => {
            assert_eq!(diagnostic.code, "too-many-lockers")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_engine_can_run_is_not_instrumented() {
    let mut program = store_buffering();
    let attack = attacks(&program, &Session::default()).expect("no limit").open[0];
    program.threads[1].multiplicity = weir_ir::Multiplicity::Arbitrary;
    for made in [instrument(&program, attack), instrument_all(&program, &[attack])] {
        assert!(matches!(made, Err(Failure::Refused(_))));
    }
}
