//! What is printed in Trencher's language can be read, and reads as a program with the same final states.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{
    Address, BinaryOp, BinaryRmw, Expr, Instruction, Multiplicity, Program, PropertyKind, Range, RegId, Rmw, Shared,
    Source, ThreadId, Value,
};
use weir_syntax::trencher::parse;
use weir_syntax::trencher::print::print;
use weir_testkit::random::{self, Config, Statement};
use weir_testkit::sketch::{ThreadSketch, cell, load, program, register, snapshot, store, straight};
use weir_testkit::{FinalState, Model, explore};

/// Reads what was printed.
fn read(text: &str) -> Program {
    let source = Source::new("printed.trencher", text);
    parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

type Outcomes = BTreeSet<(BTreeMap<Address, Value>, BTreeMap<(usize, String), Value>)>;

/// Memory and named registers in the final states; registers at 0 are left out, and `held` is Trencher's.
fn outcomes(program: &Program, model: Model) -> Option<Outcomes> {
    let outcome = explore(program, model, 3_000).unwrap();
    let name = |thread: ThreadId, register: RegId| program.body(thread).registers[register.index()].name.clone();
    let outcome_of = |state: &FinalState| {
        let mut registers = BTreeMap::new();
        for (nth, (&thread, values)) in state.registers.iter().enumerate() {
            for (&register, &value) in values.iter().filter(|&(_, &value)| value != 0) {
                registers.insert((nth, name(thread, register)), value);
            }
        }
        registers.retain(|(_, name), _| name != "held");
        (state.memory.clone(), registers)
    };
    outcome.complete.then(|| outcome.final_states.iter().map(outcome_of).collect())
}

fn same_outcomes(name: &str, original: &Program) {
    let text = print(original).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let again = read(&text);
    for model in Model::ALL {
        if let (Some(before), Some(after)) = (outcomes(original, model), outcomes(&again, model)) {
            assert_eq!(before, after, "{name} {model:?}\n{text}\n{}", weir_syntax::weir::print::print(original));
        }
    }
}

fn messages(program: &Program) -> Vec<String> {
    print(program).unwrap_err().into_iter().map(|error| error.message).collect()
}

/// The names that the language has no room for are in comments.
#[test]
fn cells_are_named_beside_their_addresses() {
    let mut array = cell("a", 10);
    (array.initial, array.is_array) = (vec![0; 3], true);
    let text = print(&program(vec![cell("x", 1), array], vec![straight("t", [store(1, 1)])], Vec::new())).unwrap();
    assert!(text.starts_with("# Every cell starts at 0.\n# 1 - x\n# 10 to 12 - a\n"), "{text}");
}

#[test]
fn random_programs_have_the_same_final_states() {
    let base = Config { computed_addresses: 10, ranges: 0, extremes: 0, absent_threads: 10, ..Config::acyclic() };
    // A thread at a failed assertion is done in Trencher's language, and not done in ours.
    let config = base.weighing(Statement::Assert, 0);
    let mut translated = 0;
    for seed in 0..400 {
        let program = random::program(seed, &config);
        if print(&program).is_ok() {
            same_outcomes(&format!("seed {seed}"), &program);
            translated += 1;
        }
    }
    assert!(translated > 100, "only {translated} programs could be said");
}

#[test]
fn a_thread_prints_as_states_and_transitions() {
    let mut sketch = ThreadSketch::new("P");
    let (start, end) = (sketch.entry(), sketch.location());
    sketch.edge(start, start, load(0, 1));
    sketch.edge(start, end, store(2, -1));
    let program = program(vec![cell("x", 1), cell("y", 2)], vec![sketch.finish()], vec![PropertyKind::ForbidDeadlock]);
    let expected = "\
# Every cell starts at 0.
# 1 - x
# 2 - y
# not checked by Trencher: forbid deadlock

thread P
initial l0
transition l0 l0 read r0 1
transition l0 l1 write - 0 1 2
end
";
    assert_eq!(print(&program).unwrap(), expected);
}

/// A thread that starts with 2 in `x` and in its register, and does one read-modify-write.
fn one_rmw(result: Option<u32>, operation: Rmw, locked: bool) -> Program {
    let instruction = Instruction::ReadModifyWrite { register: result.map(RegId), address: Expr::Const(1), operation };
    let set = Instruction::Assign { register: RegId(0), value: Expr::Const(2) };
    let mut body = vec![store(1, 2), set, instruction];
    if locked {
        body.insert(2, Instruction::Lock);
        body.push(Instruction::Unlock);
    }
    program(vec![cell("x", 1)], vec![straight("P", body), straight("Q", [store(1, 5), load(0, 1)])], Vec::new())
}

#[test]
fn read_modify_writes_do_the_same_with_and_without_the_lock_held() {
    let value = || register(0);
    let mut operations = vec![
        Rmw::Exchange(value()),
        Rmw::CompareAndSwap { expected: value(), new: Expr::Const(7) },
        Rmw::CompareAndSwap { expected: Expr::Const(5), new: value() },
        Rmw::CompareExchange { expected: Expr::Const(5), new: value() },
    ];
    let fetch = [BinaryRmw::Add, BinaryRmw::Subtract, BinaryRmw::And, BinaryRmw::Or, BinaryRmw::Xor];
    operations.extend(fetch.map(|op| Rmw::Fetch(op, Expr::binary(BinaryOp::Add, value(), Expr::Const(1)))));
    for operation in operations {
        for result in [None, Some(0), Some(1)] {
            for locked in [false, true] {
                let name = format!("{operation:?} into {result:?}, locked {locked}");
                same_outcomes(&name, &one_rmw(result, operation.clone(), locked));
            }
        }
    }
}

#[test]
fn operators_that_the_language_lacks_are_written_with_those_it_has() {
    let set = |register, value| Instruction::Assign { register: RegId(register), value: Expr::Const(value) };
    let of_registers =
        [BinaryOp::BitOr, BinaryOp::BitXor].map(|op| (op, [(5, 3), (-5, 3), (6, 0), (12, 10), (-1, -8)]));
    let by_constants = [
        (BinaryOp::ShiftLeft, [(5, 3), (-5, 3), (6, 0), (12, 10), (1, 64)]),
        (BinaryOp::Remainder, [(5, 4), (-5, 4), (-8, 4), (7, -4), (5, 0)]),
        (BinaryOp::Remainder, [(5, 1), (-1, 2), (1, 2), (0, 8), (-9, 8)]),
    ];
    for (op, operands) in of_registers.into_iter().chain(by_constants) {
        for (left, right) in operands {
            let is_constant = matches!(op, BinaryOp::ShiftLeft | BinaryOp::Remainder);
            let right_operand = if is_constant { Expr::Const(right) } else { register(1) };
            let compute = Expr::binary(op, register(0), right_operand);
            let compute = Instruction::Assign { register: RegId(2), value: compute };
            let thread = straight("P", [set(0, left), set(1, right), compute]);
            same_outcomes(&format!("{left} {} {right}", op.symbol()), &program(Vec::new(), vec![thread], Vec::new()));
        }
    }
    for op in [weir_ir::UnaryOp::Negate, weir_ir::UnaryOp::Not, weir_ir::UnaryOp::Complement] {
        for value in [0, 1, -7] {
            let compute = Instruction::Assign { register: RegId(1), value: Expr::unary(op, register(0)) };
            let thread = straight("P", [set(0, value), compute]);
            same_outcomes(&format!("{}{value}", op.symbol()), &program(Vec::new(), vec![thread], Vec::new()));
        }
    }
}

#[test]
fn ranges_block_the_same_stores() {
    let ranged = |name, address| Shared { range: Some(Range { low: 0, high: 1 }), ..cell(name, address) };
    let choose = Instruction::Havoc { register: RegId(0), range: Range { low: -1, high: 3 } };
    let known = Instruction::Store { address: Expr::Const(2), value: register(0) };
    let computed =
        Instruction::Store { address: Expr::binary(BinaryOp::Add, register(0), Expr::Const(1)), value: register(0) };
    let exchange =
        Instruction::ReadModifyWrite { register: None, address: Expr::Const(2), operation: Rmw::Exchange(register(0)) };
    for (name, last) in [("known", known), ("computed", computed), ("exchange", exchange), ("never", store(2, 2))] {
        let thread = straight("P", [choose.clone(), last]);
        same_outcomes(name, &program(vec![cell("x", 1), ranged("y", 2)], vec![thread], Vec::new()));
    }
}

#[test]
fn an_assertion_becomes_two_checks() {
    let mut sketch = ThreadSketch::new("P");
    let (start, end) = (sketch.entry(), sketch.location());
    sketch.edge(start, end, Instruction::Assert(register(0)));
    let text = print(&program(Vec::new(), vec![sketch.finish()], Vec::new())).unwrap();
    assert!(text.contains("check == r0 0\n") && text.contains("transition l0 l1 check r0\n"), "{text}");
}

#[test]
fn what_cannot_be_said_is_refused_all_in_one_go() {
    let mut nonzero = cell("x", 1);
    nonzero.initial = vec![3];
    let remainder = Expr::binary(BinaryOp::Remainder, register(0), Expr::Const(3));
    let body = [
        Instruction::Assign { register: RegId(0), value: remainder },
        store(1, 1 << 40),
        Instruction::Havoc { register: RegId(0), range: Range::FULL },
        Instruction::Spawn(ThreadId(1)),
        snapshot([(0, 1), (1, 2)]),
        Instruction::Membarrier,
        Instruction::Await { loads: vec![(RegId(0), Expr::Const(1))], condition: Expr::Leaf(RegId(0)) },
    ];
    let mut many = straight("Many", [Instruction::Fence]);
    many.multiplicity = Multiplicity::Arbitrary;
    let program = program(vec![nonzero], vec![straight("P", body), many], Vec::new());
    let expected = [
        "`x` does not start at 0, but in Trencher's language every cell does",
        "Trencher's language has no `thread Many[*]`",
        "Trencher's language has no `%`",
        "1099511627776 does not fit in Trencher's 32-bit values",
        "a choice among more than 256 values",
        "Trencher's language cannot start threads",
        "Trencher's language cannot load several cells in one step",
        "Trencher's language has no `membarrier`",
        "Trencher's language has no `await`",
    ];
    assert_eq!(messages(&program), expected);
    assert!(print(&program).unwrap_err().iter().all(|error| error.is_error() && error.help.is_some()));
}

#[test]
fn a_range_that_may_block_within_the_lock_is_refused() {
    let ranged = Shared { range: Some(Range { low: 0, high: 1 }), ..cell("x", 1) };
    let rmw = |operation| Instruction::ReadModifyWrite { register: None, address: Expr::Const(1), operation };
    let with = |operation| program(vec![ranged.clone()], vec![straight("P", [rmw(operation)])], Vec::new());
    let swap = |new| Rmw::CompareAndSwap { expected: Expr::Const(0), new: Expr::Const(new) };
    assert!(print(&with(swap(1))).is_ok());
    assert_eq!(messages(&with(swap(2))).len(), 1);
    assert_eq!(messages(&with(Rmw::Fetch(BinaryRmw::Add, Expr::Const(1)))).len(), 1);
}

/// Each value of a choice is a transition of its own, and there may be 256 of them.
#[test]
fn choices_are_written_value_by_value() {
    let with = |low: Value, high: Value| {
        let choice = Instruction::Havoc { register: RegId(0), range: Range { low, high } };
        program(vec![cell("x", 1)], vec![straight("P", [choice, store(1, 1)])], Vec::new())
    };
    let number = |value: Value| if value < 0 { format!("- 0 {}", -value) } else { value.to_string() };
    for (low, high) in [(0, 0), (-1, 1), (0, 255), (-100, 155)] {
        let text = print(&with(low, high)).expect("few enough");
        let expected: Vec<String> =
            (low..=high).map(|value| format!("transition l0 l1 local r0 {}", number(value))).collect();
        let found: Vec<&str> = text.lines().filter(|line| line.contains("l0 l1")).collect();
        assert_eq!(found, expected);
    }
    assert_eq!(messages(&with(0, 256)), ["a choice among more than 256 values"]);
}

/// Any token can be a name there; in `.weir` texts, and so in what is printed, names have a length.
#[test]
fn long_names_are_printed_in_a_form_that_can_be_read() {
    let name = |last: &str| "s".repeat(300) + last;
    let (start, end, thread) = (name("a"), name("b"), "t".repeat(300));
    let text = format!(
        "thread {thread}\ninitial {start}\ntransition {start} {end} local {} 1\ntransition {end} {start} noop\nend\n",
        "r".repeat(300)
    );
    let original = read(&text);
    let weir = weir_syntax::weir::print::print(&original);
    let again = Source::new("printed.weir", weir.as_str());
    let again = weir_syntax::weir::parse(&again, &weir_syntax::weir::Options::default());
    let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{weir}")).program;
    assert_eq!(outcomes(&original, Model::Tso), outcomes(&again, Model::Tso));
    let labels = |program: &Program| program.threads[0].body.locations.iter().flat_map(|at| at.labels.clone()).count();
    assert_eq!((labels(&original), again.threads[0].body.registers.len()), (labels(&again), 1), "{weir}");
    read(&print(&original).expect("it can be said"));
}
