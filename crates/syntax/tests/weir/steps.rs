//! What each construct becomes, step by step: the contract of `docs/language.md`.

use crate::dump::{edges, program, steps};

/// Checks the steps of a thread with this body.
fn check(declarations: &str, body: &str, expected: &[&str]) {
    assert_eq!(steps(declarations, body), expected, "{declarations} / {body}");
}

#[test]
fn a_register_assigned_from_one_shared_read_is_one_load() {
    check("shared x;", "let r = x;", &["0 -> 1: r = mem[1]"]);
    check("shared x;", "let r; r = (x);", &["0 -> 1: r = mem[1]"]);
    check("shared a[3];", "let r = a[2];", &["0 -> 1: r = mem[3]"]);
    check("", "let r = mem[7];", &["0 -> 1: r = mem[7]"]);
    check("", "let p, r; r = *p;", &["0 -> 1: r = mem[p]"]);
}

#[test]
fn each_shared_read_inside_an_expression_is_a_load_of_its_own_from_left_to_right() {
    check(
        "shared x, y;",
        "let r = y + x * y;",
        &["0 -> 1: _t1 = mem[2]", "1 -> 2: _t2 = mem[1]", "2 -> 3: _t3 = mem[2]", "3 -> 4: r = _t1 + (_t2 * _t3)"],
    );
    check("shared x, y;", "x = y;", &["0 -> 1: _t1 = mem[2]", "1 -> 2: mem[1] = _t1"]);
    check("shared p;", "let r = *p;", &["0 -> 1: _t1 = mem[1]", "1 -> 2: r = mem[_t1]"]);
    check(
        "shared a[2], i, x;",
        "a[i] = x;",
        &["0 -> 1: _t1 = mem[3]", "1 -> 2: _t2 = mem[4]", "2 -> 3: mem[1 + _t1] = _t2"],
    );
}

#[test]
fn several_cells_loaded_at_once_are_one_step_and_their_indices_come_before() {
    check("shared x, y;", "let a, b; a, b = x, y;", &["0 -> 1: a, b = mem[1], mem[2]"]);
    check("shared x;", "let a, b, c; b, a, c = *b, x, mem[9];", &["0 -> 1: b, a, c = mem[b], mem[1], mem[9]"]);
    check(
        "shared x, f[2];",
        "let a, b; a, b = f[x], f[a];",
        &["0 -> 1: _t1 = mem[1]", "1 -> 2: a, b = mem[2 + _t1], mem[2 + a]"],
    );
}

#[test]
fn temporaries_are_free_again_when_the_statement_ends() {
    check(
        "shared x;",
        "x = x; x = x;",
        &["0 -> 1: _t1 = mem[1]", "1 -> 2: mem[1] = _t1", "2 -> 3: _t1 = mem[1]", "3 -> 4: mem[1] = _t1"],
    );
}

#[test]
fn temporaries_stay_clear_of_names_in_the_source() {
    check(
        "shared x;",
        "let _t1, _t3; x = x + x;",
        &["0 -> 1: _t2 = mem[1]", "1 -> 2: _t4 = mem[1]", "2 -> 3: mem[1] = _t2 + _t4"],
    );
    let program = program("shared x; thread T { let r; x = x; }");
    let temporary: Vec<bool> = program.threads[0].body.registers.iter().map(|register| register.is_temporary).collect();
    assert_eq!(temporary, [false, true]);
}

#[test]
fn stores_assignments_and_plain_steps() {
    check("shared x;", "let r; x = r + 1;", &["0 -> 1: mem[1] = r + 1"]);
    check("", "let r = 1, s, t = r;", &["0 -> 1: r = 1", "1 -> 2: t = r"]);
    check(
        "",
        "fence; skip; lock; unlock; terminate;",
        &["0 -> 1: fence", "1 -> 2: skip", "2 -> 3: lock", "3 -> 4: unlock", "4 -> 5: terminate"],
    );
    check("", "let r; assume r; assert r == 1;", &["0 -> 1: assume r", "1 -> 2: assert r == 1"]);
    check("shared x;", "assume x == 1;", &["0 -> 1: _t1 = mem[1]", "1 -> 2: assume _t1 == 1"]);
}

#[test]
fn compound_assignment_to_a_cell_is_a_load_and_a_store() {
    check("shared x;", "let r; r += 2;", &["0 -> 1: r = r + 2"]);
    check("shared x;", "let r; r <<= x;", &["0 -> 1: _t1 = mem[1]", "1 -> 2: r = r << _t1"]);
    check("shared x, y;", "x -= y;", &["0 -> 1: _t1 = mem[1]", "1 -> 2: _t2 = mem[2]", "2 -> 3: mem[1] = _t1 - _t2"]);
    check(
        "shared a[2], i;",
        "a[i] ^= 1;",
        &["0 -> 1: _t1 = mem[3]", "1 -> 2: _t2 = mem[1 + _t1]", "2 -> 3: mem[1 + _t1] = _t2 ^ 1"],
    );
}

#[test]
fn read_modify_writes_and_any_are_one_step() {
    check("shared x;", "cas(x, 0, 1);", &["0 -> 1: cas(mem[1], 0, 1)"]);
    check("shared x;", "let r = cas(x, 0, 1);", &["0 -> 1: r = cas(mem[1], 0, 1)"]);
    check(
        "shared x; proc r0() { return 5; }",
        "let r = cmpxchg(x, 0, r0());",
        &["0 -> 1: _t1 = 5", "1 -> 2: r = cmpxchg(mem[1], 0, _t1)"],
    );
    check("shared x;", "let r = 1 + xchg(x, 2);", &["0 -> 1: _t1 = xchg(mem[1], 2)", "1 -> 2: r = 1 + _t1"]);
    check(
        "shared x;",
        "fetch_add(mem[3], 2); fetch_xor(x, 1);",
        &["0 -> 1: fetch_add(mem[3], 2)", "1 -> 2: fetch Xor(mem[1], 1)"],
    );
    check(
        "",
        "let r = any 0..3; r = 1 + any -1..=1;",
        &["0 -> 1: r = any 0..3", "1 -> 2: _t1 = any -1..1", "2 -> 3: r = 1 + _t1"],
    );
}

#[test]
fn constants_are_computed_at_once() {
    check("const N = 2 * 3 + 1; shared a[N];", "a[N - 1] = -N << 1;", &["0 -> 1: mem[7] = -14"]);
    check(
        "shared x, a[3];",
        "let r = &x + (&a[2] - &a); r = a[r + 1];",
        &["0 -> 1: r = 3", "1 -> 2: r = mem[2 + (r + 1)]"],
    );
    check("", "let r = true + false + 0x10 + 0b11 + 1_000;", &["0 -> 1: r = 1020"]);
    check("", "let r = -9223372036854775808;", &["0 -> 1: r = -9223372036854775808"]);
}

#[test]
fn operators_bind_as_in_rust() {
    let body = "let a, b, r; r = a | b ^ a & b << a + b * a; r = a & 1 == b; r = a == 1 || b == 2 && !a; r = -a - -b; r = ~a % b;";
    check(
        "",
        body,
        &[
            "0 -> 1: r = a | (b ^ (a & (b << (a + (b * a)))))",
            "1 -> 2: r = (a & 1) == b",
            "2 -> 3: r = (a == 1) || ((b == 2) && !a)",
            "3 -> 4: r = -a - -b",
            "4 -> 5: r = ~a % b",
        ],
    );
    check("", "let a, b, r; r = a - b - 1; r = a - (b - 1);", &["0 -> 1: r = (a - b) - 1", "1 -> 2: r = a - (b - 1)"]);
}

#[test]
fn each_test_is_one_step_and_leaving_a_block_is_none() {
    check(
        "",
        "let r; if r == 0 { skip; } else { fence; }",
        &["0 -> 1: assume r == 0", "0 -> 3: assume r != 0", "1 -> 2: skip", "3 -> 2: fence"],
    );
    check(
        "",
        "let r; if r { skip; } fence;",
        &["0 -> 1: assume r", "0 -> 2: assume !r", "1 -> 2: skip", "2 -> 3: fence"],
    );
    check(
        "",
        "let r; if r < 1 { skip; } else if r < 2 { fence; } else { lock; }",
        &[
            "0 -> 1: assume r < 1",
            "0 -> 3: assume r >= 1",
            "1 -> 2: skip",
            "3 -> 4: assume r < 2",
            "3 -> 5: assume r >= 2",
            "4 -> 2: fence",
            "5 -> 2: lock",
        ],
    );
    check(
        "shared x;",
        "while x != 1 { }",
        &["0 -> 1: _t1 = mem[1]", "1 -> 0: assume _t1 != 1", "1 -> 2: assume _t1 == 1"],
    );
}

#[test]
fn break_and_continue_are_no_steps() {
    check(
        "",
        "let r; while r == 0 { if r == 1 { continue; } if r == 2 { break; } skip; } fence;",
        &[
            "0 -> 1: assume r == 0",
            "0 -> 3: assume r != 0",
            "1 -> 0: assume r == 1",
            "1 -> 2: assume r != 1",
            "2 -> 3: assume r == 2",
            "2 -> 5: assume r != 2",
            "3 -> 4: fence",
            "5 -> 0: skip",
        ],
    );
}

#[test]
fn negations_of_short_circuit_operators_only_swap_the_branches() {
    let declarations = "shared x;";
    let branches =
        |condition: &str| steps(declarations, &format!("let r; if {condition} {{ fence; }} else {{ skip; }}"));
    let swapped =
        |condition: &str| steps(declarations, &format!("let r; if {condition} {{ skip; }} else {{ fence; }}"));
    for condition in ["(r && x)", "(r || x)", "(r && (r || x))"] {
        let sorted = |mut steps: Vec<String>| {
            steps.sort_unstable();
            steps
        };
        let plain = sorted(branches(condition));
        assert_eq!(sorted(branches(&format!("!!{condition}"))), plain, "{condition}");
        assert_eq!(sorted(branches(&format!("!!!!{condition}"))), plain, "{condition}");
        let once = sorted(branches(&format!("!{condition}")));
        assert_eq!(sorted(branches(&format!("!!!{condition}"))), once, "{condition}");
        assert_eq!(once.len(), swapped(condition).len(), "{condition}");
    }
}

#[test]
fn short_circuit_operators_branch_only_where_the_right_side_takes_steps() {
    check(
        "shared x, y;",
        "while x == 1 && y == 1 { }",
        &[
            "0 -> 1: _t1 = mem[1]",
            "1 -> 2: assume _t1 == 1",
            "1 -> 4: assume _t1 != 1",
            "2 -> 3: _t1 = mem[2]",
            "3 -> 0: assume _t1 == 1",
            "3 -> 4: assume _t1 != 1",
        ],
    );
    check(
        "shared x;",
        "let r; while x == 1 && r == 1 { }",
        &["0 -> 1: _t1 = mem[1]", "1 -> 0: assume (_t1 == 1) && (r == 1)", "1 -> 2: assume !((_t1 == 1) && (r == 1))"],
    );
    check(
        "shared x;",
        "let r; while r == 1 && x == 1 { }",
        &[
            "0 -> 1: assume r == 1",
            "0 -> 3: assume r != 1",
            "1 -> 2: _t1 = mem[1]",
            "2 -> 0: assume _t1 == 1",
            "2 -> 3: assume _t1 != 1",
        ],
    );
    check(
        "shared x;",
        "let r; if !(r || x) { skip; }",
        &[
            "0 -> 1: assume r",
            "0 -> 2: assume !r",
            "2 -> 3: _t1 = mem[1]",
            "3 -> 1: assume _t1",
            "3 -> 4: assume !_t1",
            "4 -> 1: skip",
        ],
    );
}

#[test]
fn a_short_circuit_operator_as_a_value_is_zero_or_one() {
    check(
        "shared x;",
        "let r, s; r = s && x;",
        &["0 -> 1: assume s", "0 -> 4: assume !s", "1 -> 2: _t1 = mem[1]", "2 -> 3: r = _t1 != 0", "4 -> 3: r = 0"],
    );
    check(
        "shared x;",
        "let r, s; r = s || x == 2;",
        &["0 -> 1: assume s", "0 -> 3: assume !s", "1 -> 2: r = 1", "3 -> 4: _t1 = mem[1]", "4 -> 2: r = _t1 == 2"],
    );
}

#[test]
fn of_a_constant_test_only_the_possible_side_is_there() {
    check("", "while true { skip; }", &["0 -> 1: assume 1", "1 -> 0: skip"]);
    check("const N = 2;", "if N > 2 { fence; } else { skip; }", &["0 -> 1: assume 1", "1 -> 2: skip"]);
    check("const N = 2;", "if N > 2 { fence; } skip;", &["0 -> 1: assume 1", "1 -> 2: skip"]);
}

#[test]
fn code_that_a_constant_rules_out_may_go_outside_of_arrays() {
    let text = "const N = 2; shared a[N]; thread T(i)[N] { if i > 0 && a[i - 1] == 1 { a[i - 1] = 2; } if i + 1 < N { a[i + 1] = 3; } }";
    let program = program(text);
    assert_eq!(edges(&program.threads[0].body), ["0 -> 1: assume 1", "1 -> 2: assume 1", "2 -> 3: mem[2] = 3"]);
    assert_eq!(
        edges(&program.threads[1].body),
        [
            "0 -> 1: assume 1",
            "1 -> 2: _t1 = mem[1]",
            "2 -> 3: assume _t1 == 1",
            "2 -> 4: assume _t1 != 1",
            "3 -> 4: mem[1] = 2",
            "4 -> 5: assume 1",
        ]
    );
}

#[test]
fn loops_and_labels_cost_nothing() {
    check("", "loop { a: skip; b: }", &["0(a,b) -> 0(a,b): skip"]);
    check("", "a: b: skip; c: { d: } fence;", &["0(a,b) -> 1(c,d): skip", "1(c,d) -> 2: fence"]);
    check("", "goto b; a: skip; b: goto a;", &["0 -> 1(b): skip", "1(b) -> 2(a): skip", "2(a) -> 1(b): skip"]);
    check(
        "",
        "skip; jump b; a: skip; jump c; b: fence; jump a; c: lock;",
        &["0 -> 1(b): skip", "1(b) -> 2(a): fence", "2(a) -> 3(c): skip", "3(c) -> 4: lock"],
    );
}

#[test]
fn a_loop_without_a_step_skips_on_the_spot() {
    check("", "loop { }", &["0 -> 0: skip"]);
    check("", "fence; loop { continue; }", &["0 -> 1: fence", "1 -> 1: skip"]);
    check("", "loop { loop { } }", &["0 -> 0: skip"]);
    check("", "loop { choose { } or { } }", &["0 -> 0: skip"]);
    check("proc nothing() { }", "loop { nothing(); }", &["0 -> 0: skip"]);
    // A way round that takes no step changes nothing, and is left out when there is another way.
    check("", "loop { choose { } or { skip; } }", &["0 -> 0: skip"]);
    check("", "loop { choose { break; } or { } } fence;", &["0 -> 1: fence"]);
}

#[test]
fn the_first_step_of_a_branch_is_taken_from_the_place_of_the_choice() {
    check(
        "",
        "choose { skip; lock; } or { fence; } unlock;",
        &["0 -> 1: skip", "0 -> 2: fence", "1 -> 2: lock", "2 -> 3: unlock"],
    );
    check("", "choose { skip; } or { } fence;", &["0 -> 1: skip", "0 -> 2: fence", "1 -> 2: fence"]);
    check(
        "",
        "choose { choose { skip; } or { lock; } } or { fence; }",
        &["0 -> 1: skip", "0 -> 1: lock", "0 -> 1: fence"],
    );
}

#[test]
fn a_branch_that_begins_with_a_loop_does_not_offer_the_other_branches_again() {
    check(
        "",
        "let r; choose { while r { skip; } } or { fence; }",
        &[
            "0 -> 1: assume r",
            "0 -> 3: assume !r",
            "0 -> 3: fence",
            "1 -> 2: skip",
            "2 -> 1: assume r",
            "2 -> 3: assume !r",
        ],
    );
    check(
        "",
        "choose { a: skip; } or { fence; } jump a;",
        &["0 -> 1(a): skip", "0 -> 1(a): fence", "1(a) -> 1(a): skip"],
    );
}

#[test]
fn an_empty_branch_at_the_end_skips_to_the_end() {
    check("", "choose { } or { fence; }", &["0 -> 1: skip", "0 -> 1: fence"]);
    check("", "loop { choose { break; } or { fence; } }", &["0 -> 1: skip", "0 -> 0: fence"]);
}

#[test]
fn end_is_no_step_and_each_is_a_place_of_its_own() {
    check("", "fence; end;", &["0 -> 1: fence"]);
    check("", "end;", &[]);
    check("", "let r; if r { end; } else { end; } fence;", &["0 -> 1: assume r", "0 -> 2: assume !r", "3 -> 4: fence"]);
    check("", "choose { end; } or { fence; }", &["0 -> 1: skip", "0 -> 2: fence"]);
    check("", "loop { choose { fence; end; } or { skip; } }", &["0 -> 1: fence", "0 -> 0: skip"]);
    check("", "loop { end; }", &[]);
}

#[test]
fn atomic_locks_and_unlocks() {
    check("shared x;", "atomic { x = 1; }", &["0 -> 1: lock", "1 -> 2: mem[1] = 1", "2 -> 3: unlock"]);
    check("", "atomic { }", &["0 -> 1: lock", "1 -> 2: unlock"]);
}

#[test]
fn dead_code_stays_visible() {
    check("", "terminate; fence;", &["0 -> 1: terminate", "2 -> 1: fence"]);
    check("", "loop { skip; } fence;", &["0 -> 0: skip", "1 -> 2: fence"]);
    check("", "terminate; loop { fence; }", &["0 -> 1: terminate", "2 -> 2: fence"]);
}
