use weir_ir::Source;

use super::*;

/// The ranges that are chosen from, in order of threads and edges, once there are fewer values.
fn chosen(text: &str) -> Vec<(Value, Value)> {
    let source = Source::new("classes", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let ranges = Ranges::of(&program);
    let classes = value_classes(&program, &ranges);
    let program = classes.as_ref().map_or(&program, Translation::program);
    let edges = program.threads.iter().flat_map(|thread| thread.body.edges());
    let range = |edge: &Edge| match edge.instruction {
        Instruction::Havoc { range, .. } => Some((range.low, range.high)),
        _ => None,
    };
    edges.filter_map(range).collect()
}

/// The range of `any 0..9` in a thread that goes on with this, beside others.
fn after(rest: &str, others: &str) -> (Value, Value) {
    chosen(&format!("shared x, y, a[4], s: 0..5, w: u8; thread P {{ let r = any 0..9; {rest} }} {others}"))[0]
}

#[test]
fn constants_that_values_are_compared_with_divide_them() {
    assert_eq!(after("", ""), (0, 0));
    assert_eq!(after("x = r;", ""), (0, 0));
    assert_eq!(after("assert r != 3;", ""), (2, 4));
    assert_eq!(after("assert r < 3;", ""), (2, 3));
    assert_eq!(after("assert 3 < r;", ""), (3, 4));
    assert_eq!(after("assert r <= 3;", ""), (3, 4));
    assert_eq!(after("assert 3 <= r;", ""), (2, 3));
    assert_eq!(after("assert r > 3;", ""), (3, 4));
    assert_eq!(after("assert r >= 3;", ""), (2, 3));
    assert_eq!(after("if r { y = 1; }", ""), (0, 1));
    assert_eq!(after("assert !r || r == 9;", ""), (0, 9));
    assert_eq!(after("assert r != 20;", ""), (0, 0));
    assert_eq!(after("assert r >= 0;", ""), (0, 0));
    assert_eq!(after("assert r != 3; assert r != 6;", ""), (2, 7));
}

#[test]
fn constants_are_compared_wherever_the_value_gets() {
    assert_eq!(after("x = r;", "thread Q { let q = x; if q == 4 { y = 1; } }"), (3, 5));
    assert_eq!(after("x = r;", "thread Q { let q = x; y = q; } forbid y == 4;"), (3, 5));
    assert_eq!(after("let q = r; x = q;", "thread Q { let o = xchg(y, 1); } forbid x == 4;"), (3, 5));
    assert_eq!(after("let o = xchg(x, r); assert o < 2;", ""), (1, 2));
    assert_eq!(after("x = r;", "thread Q { let o = cas(x, 4, 1); }"), (3, 5));
    assert_eq!(after("x = r;", "thread Q { await x == 4; }"), (3, 5));
    assert_eq!(after("s = r;", ""), (5, 6));
    assert_eq!(after("x = r; a[0] = 1;", "thread Q { let q = a[1]; assert q == 4; }"), (0, 0));
}

#[test]
fn values_that_are_used_otherwise_stay() {
    let all = (0, 9);
    assert_eq!(after("x = r + 1;", ""), all);
    assert_eq!(after("assert r & 1;", ""), all);
    assert_eq!(after("a[r & 3] = 1;", ""), all);
    assert_eq!(after("x = r;", "thread Q { let q = x; a[q] = 1; }"), all);
    assert_eq!(after("let q = x; assert r == q;", ""), all);
    assert_eq!(after("w = r;", ""), all);
    assert_eq!(after("x = r;", "thread Q { let o = fetch_add(x, 1); }"), all);
    assert_eq!(after("x = r;", "thread Q { let e = y; let o = cas(x, e, 1); }"), all);
    assert_eq!(after("let o = fetch_add(x, r);", ""), all);
    assert_eq!(after("x = r;", "thread Q { let q = x; } forbid Q.q == P.r;"), all);
}

#[test]
fn what_may_be_in_several_declarations_joins_them() {
    let others = "thread Q { let i = any 0..5; let q = mem[&x + i]; if q == 4 { y = 1; } }";
    assert_eq!(after("x = r;", others), (3, 5));
    assert_eq!(after("y = r;", others), (3, 5));
    let others = "thread Q { let i = any 0..6; let q = mem[&x + i]; if q == 4 { y = 1; } }";
    assert_eq!(after("x = r;", others), (3, 6));
    assert_eq!(after("s = r;", others), (3, 6));
}

#[test]
fn procedures_are_left_alone() {
    assert_eq!(chosen("shared x; proc f(n) { x = n; } thread P { let r = any 0..9; f(r); }").len(), 1);
}
