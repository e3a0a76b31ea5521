use super::*;
use crate::program::{Edge, Location, Register, Shared, Thread};
use crate::span::{Source, Span};

const R: RegId = RegId(0);
const S: RegId = RegId(1);

fn r() -> RegExpr {
    Expr::Leaf(R)
}

fn s() -> RegExpr {
    Expr::Leaf(S)
}

fn number(value: i64) -> RegExpr {
    Expr::Const(value)
}

fn body() -> Body {
    let register = |name: &str| Register {
        name: name.to_string(),
        is_temporary: false,
        is_thread_local: false,
        span: Span::default(),
    };
    let place = |labels: &[&str], at| Location {
        labels: labels.iter().map(ToString::to_string).collect(),
        span: Span::new(at, at),
    };
    let edge = |from, to, instruction| Edge { from: LocId(from), to: LocId(to), instruction, span: Span::default() };
    let locations = vec![place(&["start"], 0), place(&[], 2), place(&["f.cs"], 2), place(&["f.cs"], 4)];
    let edges = vec![
        edge(0, 1, Instruction::Store { address: number(1), value: number(1) }),
        edge(1, 2, Instruction::Fence),
        edge(2, 3, Instruction::Skip),
    ];
    Body::new(vec![register("r"), register("s")], locations, LocId(0), None, edges)
}

/// `x` at 1, `flag[2]` at 2 and 3, one thread of each kind.
fn program() -> Program {
    let shared = |name: &str, address, is_array, len| Shared {
        name: name.to_string(),
        address,
        is_array,
        initial: vec![0; len],
        range: None,
        width: None,
        span: Span::default(),
    };
    let thread = |name: &str, multiplicity| Thread {
        name: name.to_string(),
        family: (name.to_string(), None),
        multiplicity,
        weight: 1,
        body: body(),
        span: Span::default(),
    };
    Program {
        source: Source::new("p.weir", "a\nb\nc\n"),
        shared: vec![shared("x", 1, false, 1), shared("flag", 2, true, 2)],
        threads: vec![thread("P0", Multiplicity::One), thread("W", Multiplicity::Arbitrary)],
        ..Program::default()
    }
}

fn text(instruction: &Instruction) -> String {
    let program = program();
    body_instruction_text(&program, program.body(ThreadId(0)), instruction)
}

fn load(address: RegExpr) -> String {
    text(&Instruction::Load { register: R, address })
}

#[test]
fn parentheses_stand_only_where_the_tree_needs_them() {
    use BinaryOp::*;
    let check = |expr: RegExpr, expected| assert_eq!(expr_text(&body(), &expr), expected);
    let of = Expr::binary;
    check(of(Add, r(), of(Multiply, s(), number(2))), "r + s * 2");
    check(of(Multiply, of(Add, r(), s()), number(2)), "(r + s) * 2");
    check(of(Subtract, of(Subtract, r(), s()), number(1)), "r - s - 1");
    check(of(Subtract, r(), of(Subtract, s(), number(1))), "r - (s - 1)");
    check(of(Equal, of(Equal, r(), s()), number(1)), "(r == s) == 1");
    check(of(Less, r(), of(Less, s(), number(1))), "r < (s < 1)");
    check(of(Equal, of(BitAnd, r(), number(1)), number(0)), "r & 1 == 0");
    check(of(BitAnd, r(), of(Equal, number(1), number(0))), "r & (1 == 0)");
    check(of(And, of(Or, r(), s()), of(And, r(), s())), "(r || s) && (r && s)");
    check(Expr::unary(UnaryOp::Not, of(Equal, r(), number(-1))), "!(r == -1)");
    check(Expr::unary(UnaryOp::Not, Expr::unary(UnaryOp::Complement, r())), "!~r");
    check(Expr::unary(UnaryOp::Negate, Expr::unary(UnaryOp::Negate, r())), "-(-r)");
    check(Expr::unary(UnaryOp::Negate, number(i64::MIN)), "-(-9223372036854775808)");
    check(of(Subtract, r(), number(-1)), "r - -1");
}

#[test]
fn addresses_are_shown_by_name_where_a_declaration_covers_them() {
    let plus = |left, right| Expr::binary(BinaryOp::Add, left, right);
    assert_eq!(load(number(1)), "r = x");
    assert_eq!(load(number(3)), "r = flag[1]");
    assert_eq!(load(plus(number(2), number(1))), "r = flag[1]");
    assert_eq!(load(number(4)), "r = mem[4]");
    assert_eq!(load(number(-4)), "r = mem[-4]");
    assert_eq!(load(s()), "r = mem[s]");
    assert_eq!(load(plus(number(2), s())), "r = flag[s]");
}

#[test]
fn an_index_is_written_only_for_the_address_that_parsing_makes_of_it() {
    let plus = |left, right| Expr::binary(BinaryOp::Add, left, right);
    assert_eq!(load(plus(s(), number(2))), "r = mem[s + 2]", "the base comes first");
    assert_eq!(load(plus(number(3), s())), "r = mem[3 + s]", "the middle of an array is not its base");
    assert_eq!(load(plus(number(1), s())), "r = mem[1 + s]", "`x` is no array");
}

#[test]
fn every_instruction_reads_as_its_statement() {
    let cas = Rmw::CompareAndSwap { expected: number(0), new: number(1) };
    let rmw = |register, operation| Instruction::ReadModifyWrite { register, address: number(1), operation };
    let check = |instruction, expected| assert_eq!(text(&instruction), expected);
    check(rmw(Some(R), cas.clone()), "r = cas(x, 0, 1)");
    check(rmw(None, cas), "cas(x, 0, 1)");
    check(rmw(Some(S), Rmw::CompareExchange { expected: r(), new: s() }), "s = cmpxchg(x, r, s)");
    check(rmw(None, Rmw::Exchange(number(2))), "xchg(x, 2)");
    check(rmw(Some(R), Rmw::Fetch(BinaryRmw::Xor, number(1))), "r = fetch_xor(x, 1)");
    check(Instruction::Store { address: number(1), value: number(1) }, "x = 1");
    check(Instruction::Assign { register: R, value: s() }, "r = s");
    check(Instruction::Assume(Expr::binary(BinaryOp::Equal, r(), number(0))), "assume r == 0");
    check(Instruction::Assert(r()), "assert r");
    check(Instruction::Havoc { register: R, range: crate::program::Range { low: -1, high: 3 } }, "r = any -1..3");
    check(Instruction::Spawn(ThreadId(1)), "spawn W");
    check(Instruction::Return(r()), "return r");
    let program = program();
    assert_eq!(program.instruction_text(ThreadId(0), EdgeId(0)), "x = 1");
    assert_eq!(program.instruction_text(ThreadId(0), EdgeId(1)), "fence");
}

#[test]
fn a_place_is_its_label_else_its_line() {
    let program = program();
    assert_eq!(program.place_name(ThreadId(0), LocId(0)), "start");
    assert_eq!(program.place_name(ThreadId(0), LocId(1)), "line 2");
}

#[test]
fn properties_name_places_by_the_one_label_that_covers_them() {
    let program = program();
    let at = |thread, locations: &[u32]| {
        let locations = locations.iter().map(|&loc| LocId(loc)).collect();
        Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations })
    };
    let text = |condition| program.condition_text(&condition);
    assert_eq!(text(at(0, &[2, 3])), "P0 at f.cs", "both copies of an inlined label");
    assert_eq!(text(at(0, &[3])), "P0 at end", "the label covers more, `end` covers just this");
    assert_eq!(text(at(0, &[0, 1])), "P0 at start || P0 at line 2");
    assert_eq!(text(at(1, &[0])), "count(W at start)");
    assert_eq!(
        text(Expr::binary(BinaryOp::Greater, at(1, &[0, 1]), Expr::Const(1))),
        "count(W at start) + count(W at line 2) > 1"
    );
    assert_eq!(text(Expr::unary(UnaryOp::Not, at(0, &[0]))), "!(P0 at start)");
    let register = Expr::Leaf(StateAtom::Register { thread: ThreadId(0), register: R });
    let both = Expr::binary(BinaryOp::And, at(0, &[0]), Expr::binary(BinaryOp::Equal, register, Expr::Const(1)));
    assert_eq!(text(both.clone()), "P0 at start && P0.r == 1");
    let property = |kind| program.property_text(&Property { kind, span: Span::default() });
    assert_eq!(property(PropertyKind::Forbid(both)), "forbid P0 at start && P0.r == 1");
    assert_eq!(property(PropertyKind::ForbidDeadlock), "forbid deadlock");
    assert_eq!(property(PropertyKind::Always(Expr::Leaf(StateAtom::Cell(3)))), "always flag[1]");
}
