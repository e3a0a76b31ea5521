//! Corners of the backward search: snapshots beside own stores, threads that end at a goal, and choices nobody looks
//! at.

use weir_ir::{BinaryOp, Expr, Instruction, LocId, Program, PropertyId, PropertyKind, RegId, StateAtom, ThreadId};
use weir_testkit::sketch::{cell, load, program, snapshot, store, straight};
use weir_witness::{Goal, check_backward_proof};

use super::backwards::{Backwards, Drained};
use crate::reach::{Engine, Options, certify_backward, reach};
use crate::session::Session;
use crate::verdict::Verdict;

fn parse(text: &str) -> Program {
    let source = weir_ir::Source::new("test.weir", text);
    weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program
}

fn can_reach(program: &Program, engine: Engine) -> bool {
    let options = Options { engine, ..Options::default() };
    match reach(program, &options, &Session::default()).expect("it can be handled").verdict {
        Verdict::Holds => false,
        Verdict::Violated(_) => true,
        Verdict::Unknown(limit) => panic!("{limit:?}"),
    }
}

/// A snapshot of two cells, after own stores to neither, one or both of them, while another thread stores to them:
/// every pair of values, against the search of all states.
#[test]
fn a_snapshot_sees_own_stores_and_memory_at_one_time() {
    let (x, y) = (1, 2);
    let own = [vec![], vec![store(x, 1)], vec![store(y, 1)], vec![store(x, 1), store(y, 1)], vec![store(x, 1); 2]];
    let others = [vec![], vec![store(x, 2)], vec![store(x, 2), store(y, 2)]];
    let mut reachable = 0;
    for own in &own {
        for other in &others {
            let end = own.len() + 1;
            let code: Vec<Instruction> = own.iter().cloned().chain([snapshot([(0, x), (1, y)])]).collect();
            for (a, b) in (0..9).map(|pair| (pair / 3, pair % 3)) {
                let thread = ThreadId(0);
                let equals = |register, value| {
                    let leaf = Expr::Leaf(StateAtom::Register { thread, register: RegId(register) });
                    Expr::binary(BinaryOp::Equal, leaf, Expr::Const(value))
                };
                let at_end = Expr::Leaf(StateAtom::At { thread, locations: vec![LocId::new(end)] });
                let both = Expr::binary(BinaryOp::And, equals(0, a), equals(1, b));
                let goal = PropertyKind::Forbid(Expr::binary(BinaryOp::And, at_end, both));
                let threads = vec![straight("P", code.clone()), straight("Q", other.clone())];
                let program = program(vec![cell("x", x), cell("y", y)], threads, vec![goal]);
                let expected = can_reach(&program, Engine::Explicit);
                assert_eq!(can_reach(&program, Engine::Dual), expected, "{own:?} {other:?} ({a}, {b})");
                reachable += u32::from(expected);
            }
        }
    }
    assert!(reachable > 25, "{reachable}");
}

/// What is done with a snapshot depends on both values together, so that states with different pairs are one class.
#[test]
fn pairs_of_values_that_lead_to_the_same_are_distinguished_by_own_stores() {
    let (x, y) = (1, 2);
    let register = |number| Expr::Leaf(RegId(number));
    let is = |op, left, right| Instruction::Assume(Expr::binary(op, left, right));
    let sum = || Expr::binary(BinaryOp::Add, register(0), register(1));
    let mut conditions: Vec<Instruction> = (0..4).map(|value| is(BinaryOp::Equal, sum(), Expr::Const(value))).collect();
    conditions.push(is(BinaryOp::Equal, register(0), register(1)));
    conditions.push(is(BinaryOp::Less, register(0), register(1)));
    let waits = || vec![load(0, y), is(BinaryOp::Equal, register(0), Expr::Const(1))];
    let mut reachable = Vec::new();
    for before in [Vec::new(), waits()] {
        for own in [Vec::new(), vec![store(x, 1)], vec![store(x, 1), store(y, 2)]] {
            for condition in &conditions {
                let last = [snapshot([(0, x), (1, y)]), condition.clone()];
                let code: Vec<Instruction> = before.iter().chain(&own).cloned().chain(last).collect();
                let locations = vec![LocId::new(code.len())];
                let goal = PropertyKind::Forbid(Expr::Leaf(StateAtom::At { thread: ThreadId(0), locations }));
                let threads = vec![straight("P", code.clone()), straight("Q", [store(y, 1)])];
                let program = program(vec![cell("x", x), cell("y", y)], threads, vec![goal]);
                let expected = can_reach(&program, Engine::Explicit);
                assert_eq!(can_reach(&program, Engine::Dual), expected, "{code:?}");
                reachable.push(expected);
            }
        }
    }
    let count = reachable.iter().filter(|&&is_reachable| is_reachable).count();
    assert!(count > 8 && count < reachable.len() - 8, "{count} of {}", reachable.len());
}

/// P passes the first place on its way to the second, unless it ends there.
#[test]
fn a_thread_stops_where_it_meets_an_end() {
    let program = parse("thread P { skip; first: skip; second: skip; } forbid P at first; forbid P at second;");
    let goals = [0, 1].map(|number| Goal::Property(PropertyId(number)));
    let session = Session::default();
    let run_to = |place: usize, ends: &[Goal]| {
        let backwards = Backwards::new(&program, &goals, ends, 1_000, &session).expect("it can be handled");
        let threads = vec![(LocId::new(place), Vec::new())];
        let state = Drained { threads, holder: None, cell: Box::new(|_| 0) };
        backwards.run_to(&[state], &session).expect("no limit").map(|run| run.len())
    };
    assert_eq!([run_to(1, &[]), run_to(2, &[]), run_to(3, &[])], [Some(1), Some(2), Some(3)]);
    assert_eq!([run_to(1, &goals[..1]), run_to(2, &goals[..1]), run_to(3, &goals[..1])], [Some(1), None, None]);
    assert_eq!([run_to(2, &goals[1..]), run_to(3, &goals[1..])], [Some(2), None]);
}

/// A value that nothing reads is not tried out, neither by the search nor by the check of its proof.
#[test]
fn a_choice_among_very_many_values_that_are_never_read_is_no_choice() {
    let program =
        parse("shared x; thread P { let r = any 0..4611686018427387904; x = 2; r = 0; x = r; } forbid x == 1;");
    let options = Options { engine: Engine::Dual, goals: vec![Goal::Property(PropertyId(0))], ..Options::default() };
    let proof = certify_backward(&program, &options, &Session::default()).expect("an answer").expect("a proof");
    assert!(check_backward_proof(&program, &proof).is_ok());
}
