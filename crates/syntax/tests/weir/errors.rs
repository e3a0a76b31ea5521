//! What is wrong is said where it is wrong, all of it in one go.

use crate::dump::{errors, program};

/// Checks the errors of a text: `line:column code: message`, one a line.
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text).lines().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn unknown_names() {
    check("thread T { x = 1; }", &["1:12 unknown-name: there is no register, shared cell or constant `x`"]);
    check(
        "shared turn; thread T { trun = 1; let r = trun; }",
        &[
            "1:25 unknown-name: there is no register, shared cell or constant `trun`",
            "1:43 unknown-name: there is no register, shared cell or constant `trun`",
        ],
    );
    check("thread T { goto nowhere; }", &["1:17 unknown-label: there is no label `nowhere` in this thread"]);
    check(
        "thread T { critical: skip; goto critcal; }",
        &["1:33 unknown-label: there is no label `critcal` in this thread"],
    );
    check(
        "thread T { f(1); spawn U; }",
        &["1:12 unknown-name: there is no procedure `f`", "1:24 unknown-name: there is no thread `U`"],
    );
    check(
        "shared x; thread T { x = f; x = T; } proc f() { }",
        &["1:26 not-a-value: `f` is a procedure, not a value", "1:33 not-a-value: `T` is a thread, not a value"],
    );
    check(
        "thread T { let r = r + 1; }",
        &["1:20 unknown-name: `r` is used in its own initializer before it is declared"],
    );
    check(
        "proc f(n) { n = nn; } thread T { skip; }",
        &["1:17 unknown-name: there is no register, shared cell or constant `nn`"],
    );
}

#[test]
fn duplicates() {
    check("shared x, x; thread T { x = 1; }", &["1:11 duplicate-name: `x` is declared twice"]);
    check(
        "const x = 1; shared x; thread x { skip; }",
        &["1:21 duplicate-name: `x` is declared twice", "1:31 duplicate-name: `x` is declared twice"],
    );
    check("thread T { a: skip; a: skip; }", &["1:21 duplicate-name: `a` is declared twice"]);
    check(
        "shared x; thread T { let r; let r; let x; }",
        &["1:33 duplicate-name: `r` is declared twice", "1:40 duplicate-name: `x` is declared twice"],
    );
    check(
        "shared x; proc f(a, a, x) { } thread T { f(1, 2, 3); }",
        &["1:21 duplicate-name: `a` is declared twice", "1:24 duplicate-name: `x` is declared twice"],
    );
    check("const N = 2; thread T(N)[2] { skip; }", &["1:23 duplicate-name: `N` is declared twice"]);
    check("thread T(i)[2] { let i = 1; }", &["1:22 duplicate-name: `i` is declared twice"]);
}

#[test]
fn procedures() {
    check(
        "proc f(a) { return a; } thread T { f(); let r = f(1, 2); }",
        &["1:36 wrong-arity: `f` takes 1 argument, not 0", "1:49 wrong-arity: `f` takes 1 argument, not 2"],
    );
    check(
        "proc f() { return 1; return; } proc g() { } thread T { f(); let r = g(); }",
        &[
            "1:22 mixed-returns: this `return` has no value, but an earlier one has a value",
            "1:69 no-result: `g` returns no value",
        ],
    );
    check("thread T { return; }", &["1:12 return-outside-procedure: `return` outside a procedure"]);
    check(
        "proc f() { return r; } thread T { let r = f(); }",
        &["1:19 unknown-name: there is no register, shared cell or constant `r`"],
    );
}

#[test]
fn assignments() {
    check(
        "const N = 3; thread T(i)[2] { N = 1; i = 2; skip; }",
        &[
            "1:31 bad-assignment: `N` is a constant and cannot be assigned to",
            "1:38 bad-assignment: `i` is the thread's number and cannot be assigned to",
        ],
    );
    check(
        "shared a[3]; thread T { a = 1; let r = a; }",
        &[
            "1:25 array-as-value: `a` is an array, not a single cell",
            "1:40 array-as-value: `a` is an array, not a single cell",
        ],
    );
    check(
        "thread T { let a; 3 = a; a + 1 = 2; f(1) = 2; }",
        &[
            "1:19 bad-assignment: this cannot be assigned to",
            "1:26 bad-assignment: this cannot be assigned to",
            "1:37 bad-assignment: this cannot be assigned to",
        ],
    );
    check(
        "thread T { let a; a == 3; a; a + 1; }",
        &[
            "1:19 no-effect: this expression has no effect",
            "1:27 no-effect: this expression has no effect",
            "1:30 no-effect: this expression has no effect",
        ],
    );
}

#[test]
fn several_loads_at_once() {
    check(
        "shared x, y; thread T { let a, b; a, b = x; a, b; a, b += x, y; }",
        &[
            "1:40 snapshot: 2 on the left, but 1 on the right",
            "1:49 unexpected-token: expected `=`, found `;`",
            "1:56 unexpected-token: expected `=`, found `+=`",
        ],
    );
    check(
        "shared x, y; thread T { let a, b; a, a = x, y; a, x = x, y; a, b = x, 1; }",
        &[
            "1:38 snapshot: this register is loaded twice in one step",
            "1:51 snapshot: only registers can be the targets of a snapshot",
            "1:71 snapshot: only shared cells can be loaded in a snapshot",
        ],
    );
    check(
        "shared x, y; thread T { let a, b; a, c = x, y; a, b = x, z; a, b = x, a; }",
        &[
            "1:38 unknown-name: there is no register, shared cell or constant `c`",
            "1:58 unknown-name: there is no register, shared cell or constant `z`",
            "1:71 snapshot: only shared cells can be loaded in a snapshot",
        ],
    );
}

#[test]
fn arrays_and_addresses() {
    check(
        "shared a[3]; thread T { let r = a[3]; r = a[-1]; r = &a[7]; }",
        &[
            "1:35 index-out-of-range: index 3 is outside `a[3]`",
            "1:45 index-out-of-range: index -1 is outside `a[3]`",
            "1:57 index-out-of-range: index 7 is outside `a[3]`",
        ],
    );
    check(
        "shared x; thread T { x[1] = 2; let r; r[0] = 1; r = &r; cas(r, 0, 1); r = &nope; }",
        &[
            "1:22 not-an-array: `x` is not an array",
            "1:39 not-an-array: `r` is not an array",
            "1:54 not-a-cell: `r` has no address",
            "1:61 not-a-cell: `r` is not a shared cell",
            "1:76 unknown-name: there is no register, shared cell or constant `nope`",
        ],
    );
    check(
        "shared a[0], b[-1], c[2000000]; thread T { a[0] = b[0] + c[0]; }",
        &[
            "1:10 bad-size: an array cannot have 0 cells",
            "1:16 bad-size: an array cannot have -1 cells",
            "1:23 too-many-cells: the program has more than 1048576 shared cells",
        ],
    );
    // What is not evaluated may be out of range.
    let text =
        "shared a[2]; thread T { let r = 0 || &a[9]; r = 1 && &a[8]; r = 1 || &a[7]; r = 0 && &a[6]; a[0] = r; }";
    let at = |index: &str| text.find(index).map_or(0, |at| at + 1);
    let expected =
        [9, 8].map(|index| format!("1:{} index-out-of-range: index {index} is outside `a[2]`", at(&index.to_string())));
    check(text, &expected.each_ref().map(String::as_str));
    check(
        "shared a[1048575], b, c; thread T { a[0] = b + c; }",
        &["1:23 too-many-cells: the program has more than 1048576 shared cells"],
    );
    check(
        "shared a[3] = {1, 2}; shared b[2] = {1, 2, 3}; thread T { a[0] = b[0]; }",
        &[
            "1:15 wrong-number-of-values: the number of initial values (2) differs from the number of cells of `a` (3)",
            "1:37 wrong-number-of-values: the number of initial values (3) differs from the number of cells of `b` (2)",
        ],
    );
    check("shared a[4] @ 10, b @ 12; thread T { a[0] = b; }", &["1:19 overlap: `b` overlaps `a` in memory"]);
    check(
        "shared c @ 9223372036854775807, d; thread T { c = d; }",
        &["1:33 out-of-addresses: `d` extends beyond the highest address"],
    );
    check(
        "shared c[2] @ 9223372036854775807; thread T { c[0] = 1; }",
        &["1:8 out-of-addresses: `c` extends beyond the highest address"],
    );
}

#[test]
fn constants_and_ranges() {
    check("const N = 1 + x; shared x; thread T { x = N; }", &["1:15 not-constant: expected a constant"]);
    check(
        "const A = B; const B = A; thread T { let r = A; }",
        &["1:7 constant-cycle: the constant `A` is defined in terms of itself"],
    );
    check(
        "const A = A; thread T { let r = A; }",
        &["1:7 constant-cycle: the constant `A` is defined in terms of itself"],
    );
    check("shared x[y], y; thread T { x[0] = y; }", &["1:10 not-constant: expected a constant"]);
    check(
        "shared x: 3..1; shared y: 1..3; shared z: 0..3 = 9; thread T { x = y + z; }",
        &[
            "1:11 empty-range: the range 3..1 is empty",
            "1:24 initial-out-of-range: `y` starts at 0, which is outside its range 1..3",
            "1:50 initial-out-of-range: the initial value 9 of `z` is outside its range",
        ],
    );
    check(
        "thread T { let r = any 3..1; r = any 0..r; }",
        &["1:24 empty-range: the range 3..1 is empty", "1:41 not-constant: expected a constant"],
    );
    check("const P = &x; shared x; thread T { x = P; }", &["1:11 not-constant: expected a constant"]);
    check(
        "thread T { let a = 99999999999999999999; a = 9223372036854775808; a = 12ab; a = 0x; a = 1_; }",
        &[
            "1:20 number-too-large: `99999999999999999999` does not fit in 64 bits",
            "1:46 number-too-large: `9223372036854775808` does not fit in 64 bits",
            "1:71 bad-number: `12ab` is not a number",
            "1:81 bad-number: `0x` is not a number",
            "1:89 bad-number: `1_` is not a number",
        ],
    );
}

#[test]
fn control() {
    check(
        "thread T { break; continue; }",
        &["1:12 outside-loop: `break` outside a loop", "1:19 outside-loop: `continue` outside a loop"],
    );
    check("thread T { loop { skip; } break; }", &["1:27 outside-loop: `break` outside a loop"]);
    check("thread T { a: jump b; b: jump a; }", &["1:15 jump-cycle: these jumps loop forever without taking a step"]);
    check("thread T { a: jump a; }", &["1:15 jump-cycle: these jumps loop forever without taking a step"]);
    check(
        "thread T { a: choose { jump a; } or { skip; } }",
        &["1:24 jump-cycle: these jumps loop forever without taking a step"],
    );
    check(
        "thread T { } thread U { let r; a: }",
        &["1:1 empty-thread: thread `T` does nothing", "1:14 empty-thread: thread `U` does nothing"],
    );
    check("shared x;", &["1:1 no-threads: the program has no threads"]);
    check(
        "thread T { let r = T at a; }",
        &["1:20 observation-in-body: places and registers of threads can only be observed in properties"],
    );
}

#[test]
fn ends() {
    check(
        "thread T { atomic { end; } skip; }",
        &["1:21 leaves-atomic: `end` would leave the `atomic` block while holding the lock"],
    );
    check("proc f() { end; } thread T { f(); skip; }", &["1:12 end-in-procedure: `end` inside a procedure"]);
    check("thread T { skip; end: skip; }", &["1:18 keyword-as-name: `end` cannot be a label"]);
    check("thread T { fence: skip; }", &["1:12 keyword-as-name: `fence` cannot be a label"]);
}

#[test]
fn atomic_blocks() {
    check(
        "thread T { atomic { atomic { skip; } lock; unlock; terminate; } }",
        &[
            "1:21 nested-lock: `atomic` inside `atomic`: the lock is already held",
            "1:38 nested-lock: `lock` inside `atomic`: the lock is already held",
            "1:44 nested-lock: `unlock` inside `atomic`: the block itself releases the lock",
            "1:52 leaves-atomic: `terminate` would leave the `atomic` block while holding the lock",
        ],
    );
    check(
        "thread T { loop { atomic { break; } } loop { atomic { continue; } } atomic { loop { break; } } }",
        &[
            "1:28 leaves-atomic: `break` would leave the `atomic` block while holding the lock",
            "1:55 leaves-atomic: `continue` would leave the `atomic` block while holding the lock",
        ],
    );
    check(
        "thread T { atomic { goto a; } a: atomic { b: skip; goto b; } jump b; }",
        &[
            "1:26 leaves-atomic: this jump would leave the `atomic` block while holding the lock",
            "1:67 enters-atomic: this jump would enter the `atomic` block of `b` without the lock",
        ],
    );
    check(
        "proc f() { g(); } proc g() { lock; } thread T { atomic { f(); } g(); }",
        &["1:58 nested-lock: `f` uses the lock, which the enclosing `atomic` block already holds"],
    );
    check(
        "proc f() { atomic { return; } } thread T { f(); }",
        &["1:21 leaves-atomic: `return` would leave the `atomic` block while holding the lock"],
    );
    check(
        "proc r(n) { r(n); atomic { skip; } } thread T { atomic { r(1); } }",
        &["1:58 nested-lock: `r` uses the lock, which the enclosing `atomic` block already holds"],
    );
}

#[test]
fn threads() {
    check(
        "thread T(i)[*] { skip; } thread U(i) { skip; } thread V(i)[0] { skip; }",
        &[
            "1:10 bad-parameter: the copies of a `[*]` thread have no numbers",
            "1:35 bad-parameter: a single thread has no number",
            "1:57 bad-parameter: spawned threads have no numbers",
        ],
    );
    check(
        "thread W[-1] { skip; } thread X[1025] { skip; }",
        &[
            "1:10 bad-replication: a thread cannot be replicated -1 times",
            "1:33 too-many-threads: the program has more than 1024 threads",
        ],
    );
    check(
        "thread A[1024] { skip; } thread B { skip; }",
        &["1:26 too-many-threads: the program has more than 1024 threads"],
    );
    check(
        "thread T weight 0 { skip; } thread U weight -3 { skip; } thread V weight 1 << 40 { skip; }",
        &[
            "1:17 bad-weight: a weight must be between 1 and 4294967295, but this is 0",
            "1:45 bad-weight: a weight must be between 1 and 4294967295, but this is -3",
            "1:74 bad-weight: a weight must be between 1 and 4294967295, but this is 1099511627776",
        ],
    );
    check(
        "thread V[2] { skip; } thread T { spawn V; }",
        &["1:40 spawn-replicated: `V` is several threads, so it is ambiguous which one to start"],
    );
    check("thread L[0] { skip; }", &["1:1 no-threads: no thread runs at the start"]);
}

#[test]
fn properties_and_costs() {
    check(
        "shared x; thread T[2] { l: let r = x; } forbid T[2] at l; forbid Upp at l; forbid T.r == 1; forbid T[0].s == 1; forbid T at m;",
        &[
            "1:48 unknown-instance: there is no thread `T[2]`",
            "1:66 unknown-name: there is no thread `Upp`",
            "1:83 which-instance: `T` is several threads, so `r` is ambiguous",
            "1:105 unknown-register: thread `T` has no register `s`",
            "1:125 unknown-label: thread `T` has no label `m`",
        ],
    );
    check(
        "shared x; thread T { l: let r = x; } forbid T[0] at l; forbid r == 1; forbid T.x == 1; forbid x[1] == 2; forbid T; forbid T at f.l; forbid T[x] at l;",
        &[
            "1:45 unknown-instance: there is no thread `T[0]`",
            "1:63 unknown-name: there is no shared cell or constant `r`",
            "1:80 unknown-register: thread `T` has no register `x`",
            "1:95 not-an-array: `x` is not an array",
            "1:113 not-a-value: `T` is a thread, not a value",
            "1:128 unknown-name: there is no procedure `f`",
            "1:142 not-constant: expected a constant",
        ],
    );
    check(
        "shared x; forbid f() == 1; forbid any 0..1; forbid cas(x, 0, 1); forbid mem[x]; thread T { x = 1; }",
        &[
            "1:18 step-in-property: a property only observes; it cannot take steps",
            "1:35 step-in-property: a property only observes; it cannot take steps",
            "1:52 step-in-property: a property only observes; it cannot take steps",
            "1:77 not-constant: expected a constant",
        ],
    );
    check(
        "thread T[*] { l: let r; skip; } forbid T.r == 1; forbid T[0] at l;",
        &[
            "1:40 which-instance: `T` is several threads, so `r` is ambiguous",
            "1:57 unknown-instance: there is no thread `T[0]`",
        ],
    );
    check(
        "proc f(n) { l: f(n); } proc g() { m: skip; } thread T { f(1); } thread U { g(); } forbid T at f.l; forbid T at g.m; forbid U at g.m;",
        &[
            "1:95 unobservable-place: `f` is recursive: its places cannot be observed",
            "1:112 unobservable-place: `T` never calls `g`",
        ],
    );
    check(
        "thread T { skip; } cost fence = -1; cost foo = 3; cost stoer = 3; cost load = x;",
        &[
            "1:33 negative-cost: a cost cannot be negative, but this is -1",
            "1:42 unknown-name: there is no kind of step or label `foo`",
            "1:56 unknown-name: there is no kind of step or label `stoer`",
            "1:79 unknown-name: there is no constant `x`",
        ],
    );
    check(
        "thread T { skip; } forbid deadlock && 1; forbid count(3) == 1;",
        &["1:36 unexpected-token: expected `;`, found `&&`", "1:55 bad-count: `count` takes a place"],
    );
}

#[test]
fn conditions() {
    check(
        "thread T { let a, b, c; if a < b < c { } if a == b == c { } }",
        &["1:34 chained-comparison: comparisons do not chain", "1:52 chained-comparison: comparisons do not chain"],
    );
    check(
        "thread T { let a, b; if a = b { } while a = 1 { } assume a = 3; } forbid 1 = 2;",
        &[
            "1:27 assignment-in-condition: `=` is assignment, not comparison",
            "1:43 assignment-in-condition: `=` is assignment, not comparison",
            "1:60 assignment-in-condition: `=` is assignment, not comparison",
            "1:76 assignment-in-condition: `=` is assignment, not comparison",
        ],
    );
}

#[test]
fn tokens() {
    check(
        "thread T { let a = 1 let b = 2; skip skip; fence }",
        &[
            "1:21 missing-semicolon: missing `;`",
            "1:37 missing-semicolon: missing `;`",
            "1:49 missing-semicolon: missing `;`",
        ],
    );
    check(
        "thread T { let a; a++; a--; ; }",
        &[
            "1:21 unexpected-token: expected an expression, found `+`",
            "1:27 unexpected-token: expected an expression, found `;`",
            "1:29 empty-statement: empty statement",
        ],
    );
    check(
        "thread T { if (1) skip; while 1 skip; else { } or { } }",
        &[
            "1:19 unexpected-token: expected `{`, found `skip`",
            "1:33 unexpected-token: expected `{`, found `skip`",
            "1:39 stray-branch: `else` does not follow the block of an `if`",
        ],
    );
    check("thread T { skip;", &["1:10 unclosed-block: this block is never closed"]);
    check("thread T { skip; } }", &["1:20 unmatched-brace: unmatched `}`"]);
    check("x = 1; fence;", &["1:1 unexpected-token: expected an item, found `x`"]);
    check(
        "int x; shared y thread T { y = 1; }",
        &["1:1 unexpected-token: expected an item, found `int`", "1:16 missing-semicolon: missing `;`"],
    );
    check(
        "thread T { let end = 1; mem: skip; end: skip; }",
        &[
            "1:16 unexpected-token: expected a register name, found `end`",
            "1:25 keyword-as-name: `mem` cannot be a label",
            "1:36 keyword-as-name: `end` cannot be a label",
        ],
    );
    check(
        "thread T { cas(1, 2, 3); cas(x, 1); xchg x, 1; let r = mem(3); r = &3; }",
        &[
            "1:16 not-a-cell: `cas` needs a cell here",
            "1:26 wrong-arity: `cas` takes 3 operands, not 2",
            "1:42 unexpected-token: expected `(`, found `x`",
            "1:59 unexpected-token: expected `[`, found `(`",
            "1:69 unexpected-token: expected the name of a shared cell, found `3`",
        ],
    );
    check(
        "shared x: 0; shared y 3; thread T T { skip; }",
        &[
            "1:12 unexpected-token: expected `..`, found `;`",
            "1:23 unexpected-token: expected `;`, found `3`",
            "1:35 unexpected-token: expected `{`, found `T`",
        ],
    );
    check("thread T { let größe = 1; }", &["1:18 stray-character: unexpected characters `öß`"]);
    check("/* foo /* bar */ thread T { skip; }", &["1:1 unterminated-comment: this comment is never closed"]);
}

#[test]
fn what_is_not_a_token_does_not_hide_other_errors() {
    check(
        "shared x, $ y; thread T { let größe = 99999999999999999999; größe = z; x = #5; } thread U { let r = ; }",
        &[
            "1:11 stray-character: unexpected character `$`",
            "1:33 stray-character: unexpected characters `öß`",
            "1:39 number-too-large: `99999999999999999999` does not fit in 64 bits",
            "1:63 stray-character: unexpected characters `öß`",
            "1:76 stray-character: unexpected character `#`",
            "1:101 unexpected-token: expected an expression, found `;`",
        ],
    );
    // With all of the text understood, so is its meaning.
    check(
        "const N = 0b2; shared a[N], x; thread T { let größe = 1; größe = z; x = #5; a[N] = 1; x = N == 1; }",
        &[
            "1:11 bad-number: `0b2` is not a number",
            "1:49 stray-character: unexpected characters `öß`",
            "1:60 stray-character: unexpected characters `öß`",
            "1:66 unknown-name: there is no register, shared cell or constant `z`",
            "1:73 stray-character: unexpected character `#`",
        ],
    );
    // No complaint about what is only missing because of the first one.
    check("thread T { let r = 1 ? 2 : 3; skip; }", &["1:22 stray-character: unexpected character `?`"]);
    check(
        "thread T { skip; let r = ; /* a",
        &[
            "1:26 unexpected-token: expected an expression, found `;`",
            "1:28 unterminated-comment: this comment is never closed",
        ],
    );
    check(
        "thread T { skip }; thread U { x = 1; }",
        &["1:16 missing-semicolon: missing `;`", "1:18 unexpected-token: expected an item, found `;`"],
    );
    check(
        "thread T { skip } thread U { x = 1; }",
        &[
            "1:16 missing-semicolon: missing `;`",
            "1:30 unknown-name: there is no register, shared cell or constant `x`",
        ],
    );
}

#[test]
fn a_long_chain_of_operators_says_how_to_split_it() {
    let chain = |operands: usize| vec!["r"; operands].join(" + ");
    program(&format!("thread T {{ let r; r = {}; }}", chain(200)));
    check(
        &format!("thread T {{ let r; r = {}; }}", chain(5_000)),
        &["1:823 too-deep: this expression has more than 200 operands in a row"],
    );
    let grouped = vec![format!("({})", chain(150)); 40].join(" + ");
    program(&format!("thread T {{ let r; r = {grouped}; }}"));
}
