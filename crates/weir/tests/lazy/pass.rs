//! The extension as a pass: linear in the path, and an ordinary program that can be printed and read.

use weir::reach::{Options, reach};
use weir::robust::attacks;
use weir::translate::delay::{DelayPath, delay, shortest_path};
use weir::{Failure, Session, Verdict};
use weir_ir::{EdgeId, Expr, Instruction, Program, PropertyId, RegId, Source, ThreadId, validate};
use weir_testkit::sketch::{all_of, cell, equal, load, program, register_of, store, straight};
use weir_witness::{Goal, Model};

use weir_ir::PropertyKind;

fn store_buffering() -> Program {
    let left = straight("P", [store(1, 1), load(0, 2)]);
    let right = straight("Q", [store(2, 1), load(0, 1)]);
    let both = all_of([equal(register_of(0, 0), 0), equal(register_of(1, 0), 0)]);
    program(vec![cell("x", 1), cell("y", 2)], vec![left, right], vec![PropertyKind::Exists(both)])
}

fn is_reachable(program: &Program) -> bool {
    let goals = vec![Goal::Property(PropertyId(0))];
    let options = Options { model: Model::Sc, goals, ..Options::default() };
    matches!(reach(program, &options, &Session::default()).expect("small").verdict, Verdict::Violated(_))
}

#[test]
fn what_only_tso_could_do_can_be_done_under_sc() {
    let program = store_buffering();
    assert!(!is_reachable(&program));
    for attack in attacks(&program, &Session::default()).expect("no limit").open {
        let path = shortest_path(&program, attack).expect("there is one");
        let made = delay(&program, &[path]).expect("it is a path").program;
        assert!(validate(&made).is_empty() && is_reachable(&made));
        let text = weir_syntax::weir::print::print(&made);
        let again =
            weir_syntax::weir::parse(&Source::new("again", text.clone()), &weir_syntax::weir::Options::default());
        let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
        assert!(is_reachable(&again), "{text}");
    }
}

/// The path from a store to a load takes the shortest way, past neither fences nor ends.
#[test]
fn paths_are_the_shortest_there_are() {
    let text = "shared x, y, z; thread P { x = 1; choose { skip; z = 1; skip; } or { z = 2; skip; } or { fence; } let r = y; }";
    let source = Source::new("ways", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("it parses").program;
    let open = attacks(&program, &Session::default()).expect("no limit").open;
    let lengths: Vec<usize> = open
        .iter()
        .map(|&attack| {
            let path = shortest_path(&program, attack).expect("there is one");
            assert!(delay(&program, std::slice::from_ref(&path)).is_ok(), "it is a path");
            assert_eq!((path.edges.first(), path.edges.last()), (Some(&attack.store), Some(&attack.load)));
            path.edges.len()
        })
        .collect();
    // x = 1 past `z = 2; skip;`, and either store to z past the `skip` behind it.
    assert_eq!(lengths, [4, 3, 3]);
}

/// Twice the path takes at most twice as much, also if every address is computed.
#[test]
fn the_size_is_linear() {
    let sized = |length: usize, is_computed: bool| {
        let address = |at: i64| if is_computed { Expr::Leaf(RegId(1)) } else { Expr::Const(at) };
        let steps = (0..length).flat_map(|_| {
            let store = Instruction::Store { address: address(1), value: Expr::Leaf(RegId(0)) };
            let load = Instruction::Load { register: RegId(0), address: address(2) };
            [store, load]
        });
        let program = program(vec![cell("x", 1), cell("y", 2)], vec![straight("P", steps)], Vec::new());
        let path = DelayPath { thread: ThreadId(0), edges: (0..2 * length).map(EdgeId::new).collect() };
        let body = &delay(&program, &[path]).expect("it is a path").program.threads[0].body;
        body.edges().len() + body.locations.len()
    };
    for is_computed in [false, true] {
        let (short, long) = (sized(20, is_computed), sized(40, is_computed));
        assert!(long <= 2 * short + 20, "{short} and {long}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    let program = store_buffering();
    for edges in [vec![], vec![EdgeId(0)], vec![EdgeId(1)], vec![EdgeId(1), EdgeId(0)]] {
        match delay(&program, &[DelayPath { thread: ThreadId(0), edges }]) {
            Err(Failure::Refused(refusal) | Failure::TooLarge(refusal)) => assert_eq!(refusal.code, "no-path"),
            other => panic!("{other:?}"),
        }
    }
}
