//! Procedures, threads, cells, properties and spans, as they come out of the parser.

use crate::dump::{edges, program, spans, steps, whole};

/// Checks the steps of a thread with this body.
fn check(declarations: &str, body: &str, expected: &[&str]) {
    assert_eq!(steps(declarations, body), expected, "{declarations} / {body}");
}

#[test]
fn calls_are_one_step_an_argument_and_one_for_the_result() {
    let f = "shared x; proc f(a, b) { return a + b; } proc g(a) { x = a; } proc h() { skip; } proc nothing() { }";
    check(f, "let r = f(1, x);", &["0 -> 1: f.a = 1", "1 -> 2: f.b = mem[1]", "2 -> 3: r = f.a + f.b"]);
    check(f, "f(1, 2);", &["0 -> 1: f.a = 1", "1 -> 2: f.b = 2"]);
    check(f, "h(); nothing(); h();", &["0 -> 1: skip", "1 -> 2: skip"]);
    check(
        f,
        "g(3); g(4);",
        &["0 -> 1: g.a = 3", "1 -> 2: mem[1] = g.a", "2 -> 3: g.a_2 = 4", "3 -> 4: mem[1] = g.a_2"],
    );
    check(
        f,
        "x = 1 + f(f(1, 2), 3);",
        &[
            "0 -> 1: f.a_2 = 1",
            "1 -> 2: f.b_2 = 2",
            "2 -> 3: f.a = f.a_2 + f.b_2",
            "3 -> 4: f.b = 3",
            "4 -> 5: _t1 = f.a + f.b",
            "5 -> 6: mem[1] = 1 + _t1",
        ],
    );
}

#[test]
fn an_unwanted_result_is_computed_but_not_assigned() {
    check("shared x; proc f() { return x; }", "f();", &["0 -> 1: _t1 = mem[1]"]);
    check("shared x; proc f() { return x; }", "let r = f();", &["0 -> 1: r = mem[1]"]);
}

#[test]
fn early_returns_lead_behind_the_call() {
    let f = "proc f(a) { while true { if a { return 1; } a += 1; } }";
    check(
        f,
        "let r = f(0); fence;",
        &[
            "0 -> 1: f.a = 0",
            "1 -> 2: assume 1",
            "2 -> 3: assume f.a",
            "2 -> 6: assume !f.a",
            "3 -> 4: r = 1",
            "4 -> 5: fence",
            "6 -> 1: f.a = f.a + 1",
        ],
    );
    check(
        "proc f(a) { if a { return 1; } }",
        "let r = f(0);",
        &["0 -> 1: f.a = 0", "1 -> 2: assume f.a", "1 -> 4: assume !f.a", "2 -> 3: r = 1", "4 -> 3: r = 0"],
    );
}

#[test]
fn labels_and_registers_of_each_copy_of_a_procedure_are_its_own() {
    let program =
        program("proc f() { let r, r_2; goto l; l: r = 1; r_2 = 2; } thread T { f(); f(); } forbid T at f.l;");
    assert_eq!(
        edges(&program.threads[0].body),
        [
            "0 -> 1(f.l): skip",
            "1(f.l) -> 2: f.r = 1",
            "2 -> 3: f.r_2 = 2",
            "3 -> 4(f.l): skip",
            "4(f.l) -> 5: f.r_3 = 1",
            "5 -> 6: f.r_2_2 = 2",
        ]
    );
    assert!(whole(&program).contains("forbid 0@[1, 4]"));
}

#[test]
fn recursive_procedures_stay_procedures() {
    let program = program(
        "shared x; proc even(n) { if n == 0 { return 1; } return odd(n - 1); } proc odd(n) { if n == 0 { return 0; } return even(n - 1); }
         proc never(n) { never(n); } proc both(n) { return even(n) + odd(n); }
         thread T { let r = both(x); even(2); }",
    );
    let names: Vec<&str> = program.procedures.iter().map(|procedure| procedure.name.as_str()).collect();
    assert_eq!(names, ["even", "odd"]);
    assert_eq!(
        edges(&program.threads[0].body),
        [
            "0 -> 1: both.n = mem[1]",
            "1 -> 2: _t1 = call 0(both.n)",
            "2 -> 3: _t2 = call 1(both.n)",
            "3 -> 4: r = _t1 + _t2",
            "4 -> 5: call 0(2)",
        ]
    );
    assert_eq!(
        edges(&program.procedures[0].body),
        [
            "0 -> 1: assume n == 0",
            "0 -> 3: assume n != 0",
            "1 -> 2: return 1",
            "3 -> 4: _t1 = call 1(n - 1)",
            "4 -> 2: return _t1",
        ]
    );
    assert_eq!(program.procedures[0].parameters.len(), 1);
}

#[test]
fn a_name_declared_in_sibling_blocks_is_one_register() {
    let program = program("thread T { { let r = 1; } { let r = 2; { let s; } } let q; }");
    let names: Vec<&str> = program.threads[0].body.registers.iter().map(|register| register.name.as_str()).collect();
    assert_eq!(names, ["r", "s", "q"]);
}

#[test]
fn replicated_threads_are_expanded_with_their_numbers() {
    let program = program(
        "const N = 2; shared flag[N]; thread W(i)[N] weight 3 { flag[i] = flag[1 - i]; } thread L[0] { spawn L; } thread A[*] { skip; }",
    );
    let threads: Vec<String> = program
        .threads
        .iter()
        .map(|t| format!("{} {:?} {:?} {}", t.name, t.family, t.multiplicity, t.weight))
        .collect();
    assert_eq!(
        threads,
        [
            "W[0] (\"W\", Some(0)) One 3",
            "W[1] (\"W\", Some(1)) One 3",
            "L (\"L\", None) Spawned 1",
            "A (\"A\", None) Arbitrary 1",
        ]
    );
    assert_eq!(edges(&program.threads[0].body), ["0 -> 1: _t1 = mem[2]", "1 -> 2: mem[1] = _t1"]);
    assert_eq!(edges(&program.threads[1].body), ["0 -> 1: _t1 = mem[1]", "1 -> 2: mem[2] = _t1"]);
    assert_eq!(edges(&program.threads[2].body), ["0 -> 1: spawn 2"]);
}

#[test]
fn cells_are_laid_out_one_after_the_other() {
    let program = program(
        "const N = 3; shared x, a[N] = {1, -2, N}, b[2] = 7; shared p @ 100, q: 0..7 = 1; shared r: 1..=2 @ -5 = 2, s = &p, t;
         thread T { x = a[0] + b[0] + p + q + r + s + t; }",
    );
    let cells: Vec<String> = program
        .shared
        .iter()
        .map(|cell| {
            format!(
                "{} {} {:?} {:?}",
                cell.name,
                cell.address,
                cell.initial,
                cell.range.map(|range| (range.low, range.high))
            )
        })
        .collect();
    assert_eq!(
        cells,
        [
            "x 1 [0] None",
            "a 2 [1, -2, 3] None",
            "b 5 [7, 7] None",
            "p 100 [0] None",
            "q 101 [1] Some((0, 7))",
            "r -5 [2] Some((1, 2))",
            "s -4 [100] None",
            "t -3 [0] None",
        ]
    );
}

#[test]
fn properties_and_costs() {
    let program = program(
        "const N = 2; shared x, f[2];
         thread P { let r = x; crit: skip; } thread W(i)[N] { let s = i; crit: skip; } thread A[*] { a: skip; }
         forbid P at crit && W at crit; forbid W[1] at crit; forbid deadlock; exists P.r == 0 && W[1].s == N - 1; always x == f[1] + mem[3] + &f;
         forbid count(W at crit) >= 2 || A at a || count(A at a) == 3; forbid P at end;
         cost fence = 20; cost rmw = N; cost crit = 3;",
    );
    let text = whole(&program);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with([' ', 's', 't'])).collect();
    assert_eq!(
        lines,
        [
            "const N = 2",
            "forbid 0@[1] && (1@[1] || 2@[1])",
            "forbid 2@[1]",
            "forbid deadlock",
            "exists (0.0 == 0) && (2.0 == 1)",
            "always mem[1] == ((mem[3] + mem[3]) + 2)",
            "forbid (((1@[1] + 2@[1]) >= 2) || (3@[0] != 0)) || (3@[0] == 3)",
            "forbid 0@[2]",
            "cost Fence = 20",
            "cost ReadModifyWrite = 2",
            "cost Label(\"crit\") = 3",
        ]
    );
}

#[test]
fn assertions_have_a_place_to_fail() {
    let program = program("thread T { assert 1 == 2; skip; } thread U { skip; }");
    let body = &program.threads[0].body;
    let failed = body.failed.expect("the body asserts");
    assert_eq!(body.edges_from(failed).len(), 0);
    assert!(!body.is_done(failed) && body.edges().iter().all(|edge| edge.to != failed));
    assert_eq!(program.threads[1].body.failed, None);
}

#[test]
fn spans_point_at_what_was_written() {
    let text = "shared x, flag[2];
thread T {
    let r = flag[1] + x;
    flag[r + 1] = x + 1;
    let s = cas(x, 0, 1), q;
    while r == 1 && (x == 2) { fence; }
    atomic { r = any 0..1; }
    x = 1 + xchg(x, 2);
    f(r, 2);
}
proc f(a, b) { return a; }";
    let program = program(text);
    assert_eq!(
        spans(&program, &program.threads[0].body),
        [
            "flag[1]",
            "x",
            "let r = flag[1] + x",
            "x",
            "flag[r + 1] = x + 1",
            "s = cas(x, 0, 1)",
            "r == 1",
            "r == 1",
            "x",
            "(x == 2)",
            "(x == 2)",
            "fence",
            "atomic",
            "r = any 0..1",
            "}",
            "xchg(x, 2)",
            "x = 1 + xchg(x, 2)",
            "r",
            "2",
        ]
    );
    let body = &program.threads[0].body;
    let places: Vec<&str> = body.locations.iter().map(|location| program.source.slice(location.span)).collect();
    assert_eq!(places[0], "let r = flag[1] + x");
    assert_eq!(places[1], "x");
    assert_eq!(places[6], "while r == 1 && (x == 2)");
    assert_eq!(*places.last().unwrap(), "}");
}

#[test]
fn a_place_that_one_of_several_threads_lacks_is_looked_for_in_the_others() {
    let text = "thread T(i)[2] { loop { if i == 1 { terminate; } } } forbid T at end; forbid count(T at end) > 0;";
    let text = whole(&program(text));
    let properties: Vec<&str> = text.lines().filter(|line| line.starts_with("forbid")).collect();
    let [one, count] = properties[..] else { panic!("{text}") };
    assert!(one.starts_with("forbid 1@[") && !one.contains("0@"), "{text}");
    assert!(count.starts_with("forbid 1@[") && count.ends_with("] > 0"), "{text}");
}
