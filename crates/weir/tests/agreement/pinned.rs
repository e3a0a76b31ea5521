//! Exact numbers of states of small programs, dead registers kept. A change of one of these numbers is a change of
//! the semantics. They were first counted by a script of its own, not by the engine; those of `one-cell` and
//! `store-buffering` also by hand (see the tests of the reference interpreter).

use weir::Session;
use weir::reach::{Options, reach};
use weir_ir::{BinaryOp, Expr, Instruction, LocId, Program, RegExpr, Thread, Value};
use weir_testkit::explore;
use weir_testkit::sketch::{ThreadSketch, cell, equal, exchange, load, program, register, store, straight};
use weir_witness::Model;

use crate::compare::to_testkit;

const X: Value = 1;
const Y: Value = 2;
const FENCE: Instruction = Instruction::Fence;
const LOCK: Instruction = Instruction::Lock;
const UNLOCK: Instruction = Instruction::Unlock;

/// Name, program, states under SC, states under TSO.
fn table() -> Vec<(&'static str, Program, u64, u64)> {
    vec![
        ("one-cell", straights([vec![store(X, 1)], vec![store(X, 2)]]), 5, 10),
        ("store-buffering", straights([vec![store(X, 1), load(0, Y)], vec![store(Y, 1), load(0, X)]]), 13, 34),
        ("store-buffering-fenced", fenced_store_buffering(), 22, 31),
        ("message-passing", straights([vec![store(X, 1), store(Y, 1)], vec![load(0, Y), load(1, X)]]), 13, 23),
        ("load-buffering", straights([vec![load(0, X), store(Y, 1)], vec![load(0, Y), store(X, 1)]]), 13, 22),
        ("two-plus-two-writes", straights([vec![store(X, 1), store(Y, 2)], vec![store(Y, 1), store(X, 2)]]), 13, 42),
        ("independent-reads", independent_reads(), 97, 164),
        ("write-to-read-causality", write_to_read_causality(), 36, 61),
        ("exchanges", straights([vec![exchange(0, X, 1), load(1, Y)], vec![exchange(0, Y, 1), load(1, X)]]), 13, 13),
        ("locked-increments", straights([locked_increment(), locked_increment()]), 17, 21),
        ("lost-increments", straights([increment(), increment()]), 13, 22),
        ("spinlock", two(|_| spinlock()), 17, 23),
        ("peterson", two(peterson), 122, 630),
        ("waiting", waiting(), 9, 15),
    ]
}

#[test]
fn state_counts_are_pinned() {
    for (name, program, sc, tso) in table() {
        for (model, expected) in [(Model::Sc, sc), (Model::Tso, tso)] {
            let options = Options { model, keep_dead_registers: true, symmetry: false, ..Options::default() };
            let report = reach(&program, &options, &Session::default()).expect("a small program");
            assert_eq!(report.statistics.states, expected, "{name} under {}", model.name());
            let reference = explore(&program, to_testkit(model), 100_000).expect("a plain program");
            assert_eq!(reference.states as u64, expected, "{name} under {}, by the reference", model.name());
        }
    }
}

fn with_threads(threads: Vec<Thread>) -> Program {
    program(vec![cell("x", X), cell("y", Y), cell("z", 3)], threads, vec![])
}

fn straights<const N: usize>(bodies: [Vec<Instruction>; N]) -> Program {
    with_threads(bodies.into_iter().enumerate().map(|(index, body)| straight(&format!("P{index}"), body)).collect())
}

fn two(thread: impl Fn(Value) -> ThreadSketch) -> Program {
    with_threads(vec![thread(0).finish(), thread(1).finish()])
}

fn fenced_store_buffering() -> Program {
    straights([vec![store(X, 1), FENCE, load(0, Y)], vec![store(Y, 1), FENCE, load(0, X)]])
}

fn independent_reads() -> Program {
    let readers = [vec![load(0, X), load(1, Y)], vec![load(0, Y), load(1, X)]];
    let [first, second] = readers;
    straights([vec![store(X, 1)], vec![store(Y, 1)], first, second])
}

fn write_to_read_causality() -> Program {
    straights([vec![store(X, 1)], vec![load(0, X), store(Y, 1)], vec![load(0, Y), load(1, X)]])
}

fn increment() -> Vec<Instruction> {
    let one_more = Expr::binary(BinaryOp::Add, register(0), Expr::Const(1));
    vec![load(0, X), Instruction::Store { address: Expr::Const(X), value: one_more }]
}

fn locked_increment() -> Vec<Instruction> {
    [vec![LOCK], increment(), vec![UNLOCK]].concat()
}

/// A test of a loop: `condition` leads to the first location, its negation to the second.
fn test(sketch: &mut ThreadSketch, from: LocId, condition: &RegExpr, holds: LocId, fails: LocId) {
    sketch.edge(from, holds, Instruction::Assume(condition.clone()));
    sketch.edge(from, fails, Instruction::Assume(condition.negated()));
}

/// `loop { while xchg(x, 1) == 1 {} x = 0; }`
fn spinlock() -> ThreadSketch {
    let mut sketch = ThreadSketch::new("P");
    let (head, tried, critical) = (sketch.entry(), sketch.location(), sketch.location());
    sketch.edge(head, tried, exchange(0, X, 1));
    test(&mut sketch, tried, &equal(register(0), 1), head, critical);
    sketch.edge(critical, head, store(X, 0));
    sketch
}

/// `flag[me] = 1; turn = other; while flag[other] == 1 && turn == other {} flag[me] = 0;` with the flags in x and y
/// and the turn in z.
fn peterson(me: Value) -> ThreadSketch {
    let (own, others, turn) = (X + me, Y - me, 3);
    let mut sketch = ThreadSketch::new("P");
    let asked = sketch.location();
    let [head, saw_flag, look_at_turn, saw_turn, critical, end] = [(); 6].map(|()| sketch.location());
    let entry = sketch.entry();
    sketch.edge(entry, asked, store(own, 1));
    sketch.edge(asked, head, store(turn, 1 - me));
    sketch.edge(head, saw_flag, load(0, others));
    test(&mut sketch, saw_flag, &equal(register(0), 1), look_at_turn, critical);
    sketch.edge(look_at_turn, saw_turn, load(0, turn));
    test(&mut sketch, saw_turn, &equal(register(0), 1 - me), head, critical);
    sketch.edge(critical, end, store(own, 0));
    sketch
}

/// `x = 1; y = 1;` and `while y == 0 {} r1 = x;`
fn waiting() -> Program {
    let mut sketch = ThreadSketch::new("P1");
    let (head, tried, seen, end) = (sketch.entry(), sketch.location(), sketch.location(), sketch.location());
    sketch.edge(head, tried, load(0, Y));
    test(&mut sketch, tried, &equal(register(0), 0), head, seen);
    sketch.edge(seen, end, load(1, X));
    with_threads(vec![straight("P0", [store(X, 1), store(Y, 1)]), sketch.finish()])
}
