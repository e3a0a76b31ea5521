//! What is wrong in a program of Memorax, and where.

use crate::support::{Language, complains, warns};

fn wrong(text: &str, expected: &[&str]) {
    complains(Language::Rmm, text, expected);
}

/// A process with this text, over `x` and the register `$r`; the text begins in line 7.
fn process(text: &str) -> String {
    format!("forbidden\n  A\ndata x = 0 : [0:1] y = 0\nprocess\nregisters $r = 0 : [0:3]\ntext A: nop;\n{text}")
}

#[test]
fn the_parts_of_a_file() {
    wrong("", &["1:1 unexpected-token"]);
    wrong("process text nop", &["1:1 unexpected-token"]);
    wrong("forbidden\n  process text nop", &["2:3 unexpected-token"]);
    wrong("forbidden A ;\nprocess text A: nop", &["2:1 unexpected-token"]);
    wrong("forbidden A\ndata\nprocess text A: nop", &["3:1 unexpected-token"]);
    wrong("forbidden A\ndata x = 0, y = 0\nprocess text A: nop", &["2:11 unexpected-token"]);
    wrong("forbidden A\nprocess registers $r = 0 A: nop", &["2:26 unexpected-token"]);
    wrong("forbidden A\nprocess data x = 0 data y = 0 text A: nop", &["2:20 duplicate-part"]);
    wrong("forbidden A\nprocess text A: nop }", &["2:21 unexpected-token"]);
    wrong("forbidden A\nprocess text A: nop nop", &["2:21 unexpected-token"]);
    wrong("forbidden A\nprocess(0) text A: nop", &["2:1 number-of-processes"]);
    wrong("forbidden A\nprocess(99999999999999999999) text A: nop", &["2:9 number-too-large"]);
    wrong("forbidden A\nprocess(100000) text A: nop", &["2:1 number-of-processes"]);
    wrong("# x\nforbidden A", &["1:1 stray-character"]);
    wrong("forbidden A /* process text A: nop", &["1:13 unterminated-comment"]);
}

#[test]
fn declarations() {
    wrong("forbidden A data x = 0 x = 1 process text A: nop", &["1:24 duplicate-name"]);
    wrong("forbidden A data x = 2 : [0:1] process text A: nop", &["1:18 initial-value"]);
    wrong("forbidden A data x = 0 : [1:0] process text A: nop", &["1:26 empty-range"]);
    wrong("forbidden A data x = 0 : Q process text A: nop", &["1:26 unexpected-token"]);
    wrong("forbidden A data x = 1a process text A: nop", &["1:22 bad-number"]);
    wrong("forbidden A process registers r = 0 text A: nop", &["1:31 unexpected-token"]);
}

#[test]
fn forbidden_labels() {
    wrong("forbidden A B process text A: nop", &["1:11 wrong-arity"]);
    wrong("forbidden B * process(2) text A: nop", &["1:11 unknown-label"]);
    wrong("forbidden CRITICL process text CRITICAL: nop", &["1:11 unknown-label"]);
}

#[test]
fn statements() {
    wrong(&process("nop;"), &["7:5 unexpected-token"]);
    wrong(&process("{ nop; nop"), &["7:11 unexpected-token"]);
    wrong(&process("either{ nop or }"), &["7:16 unexpected-token"]);
    wrong(&process("either nop"), &["7:8 unexpected-token"]);
    wrong(&process("write: x = 1"), &["7:10 unexpected-token"]);
    wrong(&process("write x := 1"), &["7:7 unexpected-token"]);
    wrong(&process("read: $r = x"), &["7:10 unexpected-token"]);
    wrong(&process("read: x := $r"), &["7:9 unexpected-token"]);
    wrong(&process("cas(x, 0)"), &["7:9 unexpected-token"]);
    wrong(&process("cas(x, 0, 1, 2)"), &["7:12 unexpected-token"]);
    wrong(&process("if $r then nop"), &["7:7 unexpected-token"]);
    wrong(&process("if ($r = 0) then nop"), &["7:8 unexpected-token"]);
    wrong(&process("while $r = 0 nop"), &["7:14 unexpected-token"]);
    wrong(&process("goto 1"), &["7:6 unexpected-token"]);
    wrong(&process("goto B"), &["7:6 unknown-label"]);
    wrong(&process("A: nop"), &["7:1 duplicate-label"]);
    wrong(&process("mfence"), &["7:7 unexpected-token"]);
    wrong(&process("lock(x)"), &["7:5 unexpected-token"]);
    wrong(&process("$r := x"), &["7:7 unexpected-token"]);
    wrong(&process("$s := 1"), &["7:1 unknown-register"]);
    wrong(&process("assume: $r = $s"), &["7:14 unknown-register"]);
    wrong(&process("$r := me"), &["7:7 unexpected-token"]);
}

#[test]
fn memory_locations() {
    wrong(&process("write: z := 1"), &["7:8 unknown-name"]);
    wrong(&process("write: x[my] := 1"), &["7:8 unknown-name"]);
    wrong(&process("write: x[0] := 1"), &["7:8 unknown-process"]);
    wrong(&process("write: x[$r] := 1"), &["7:10 unexpected-token"]);
    wrong(&process("write: [2] := 1"), &["7:8 bad-pointer"]);
    wrong(&process("write: [-1] := 1"), &["7:8 bad-pointer"]);
    wrong(&process("write: [$r + 2] := 1"), &["7:8 bad-pointer"]);
    wrong("forbidden * * process data f = 0 text write: f := 1 process text nop", &["1:46 unknown-name"]);
    wrong("forbidden * * process data f = 0 text nop process text read: f[my] = 1", &["1:62 unknown-name"]);
}

#[test]
fn locked_blocks() {
    wrong(&process("locked{ B: nop }"), &["7:9 label-in-locked"]);
    wrong(&process("locked{ either{ nop or nop } }"), &["7:9 not-in-locked"]);
    wrong(&process("locked{ goto A }"), &["7:9 not-in-locked"]);
    wrong(&process("locked{ if $r = 0 then nop }"), &["7:9 not-in-locked"]);
    wrong(&process("locked{ read: [$r] = 0; write: y := 1 }"), &["7:15 pointer-in-locked"]);
    wrong(&process("locked read: x = 0"), &["7:8 unexpected-token"]);
    let nested = "locked{ nop or nop or nop };".repeat(20);
    wrong(&process(&format!("locked{{ {nested} nop }}")), &["7:1 program-too-large"]);
    // Alternatives count with all their instructions: these are 9 * 512 and 10 * 1,024.
    let choices = |count: usize| vec!["locked{ assume: $r = 0 or assume: $r = 1 }"; count].join("; ");
    warns(Language::Rmm, &process(&format!("locked{{ {} }}", choices(9))), &[]);
    wrong(&process(&format!("locked{{ {} }}", choices(10))), &["7:1 program-too-large"]);
    let alternatives = |count: usize| format!("locked{{ locked{{ {} }} }}", vec!["assume: $r = 0"; count].join(" or "));
    warns(Language::Rmm, &process(&alternatives(10_000)), &[]);
    wrong(&process(&alternatives(10_001)), &["7:1 program-too-large"]);
}

#[test]
fn a_block_that_reads_several_locations_needs_no_fence() {
    let block = "locked{ read: x = 0; read: y = 0 }";
    warns(Language::Rmm, &process(&format!("write: x := 1; {block}")), &[]);
    warns(Language::Rmm, &process(&format!("{block}; write: x := 1; goto A")), &[]);
    warns(Language::Rmm, &process("write: x := 1; locked{ read: x = 0; assume: $r = 0; read: x = 0 }"), &[]);
}

#[test]
fn macros() {
    wrong("macro f(x) nop", &["1:15 missing-endmacro"]);
    wrong("macro f x endmacro", &["1:9 unexpected-token"]);
    wrong("macro f(x, x) nop endmacro", &["1:12 duplicate-name"]);
    wrong("macro f() nop endmacro macro f() nop endmacro", &["1:30 duplicate-name"]);
    wrong("macro f() macro g() nop endmacro endmacro", &["1:11 macro-in-macro"]);
    wrong("endmacro", &["1:1 unexpected-token"]);
    wrong("macro f() f() endmacro\nforbidden f()", &["1:11 macro-cycle"]);
    wrong("macro f() g() endmacro\nmacro g() f() endmacro\nforbidden f()", &["2:11 macro-cycle"]);
    wrong("macro f(x) x endmacro\nforbidden f()", &["2:11 wrong-arity"]);
    wrong("macro f(x) x endmacro\nforbidden f(A, B)", &["2:11 wrong-arity"]);
    wrong("macro f(x, y) x endmacro\nforbidden f(A,)", &["2:15 empty-argument"]);
    wrong("macro f(x) x endmacro\nforbidden f(A", &["2:14 unexpected-token"]);
    // An error inside a macro is where its text is.
    wrong(
        "forbidden A\nmacro f(v)\n  write: 5 := v\nendmacro\ndata x = 0\nprocess text A: f(x)",
        &["3:10 unexpected-token"],
    );
}

#[test]
fn macros_do_not_explode() {
    let mut text = String::from("macro m0() nop; nop endmacro\n");
    for level in 1..60 {
        text += &format!("macro m{level}() m{0}(); m{0}() endmacro\n", level - 1);
    }
    text += "forbidden A\nprocess text A: m59()";
    let source = weir_ir::Source::new("test", text);
    let errors = weir_syntax::rmm::parse(&source).expect_err("too large");
    assert_eq!(errors[0].code, "program-too-large");
}

/// The steps of all processes count together.
#[test]
fn steps_of_all_processes_are_limited() {
    let copies = |count: usize, steps: usize| {
        format!("forbidden {}\nprocess({count}) text {}nop", "* ".repeat(count), "nop; ".repeat(steps - 1))
    };
    wrong(&copies(200, 5_001), &["2:1 program-too-large"]);
    wrong(&copies(1_000, 1_001), &["2:1 program-too-large"]);
    let source = weir_ir::Source::new("test", copies(10, 5_001));
    assert!(weir_syntax::rmm::parse(&source).is_ok());
}

#[test]
fn several_errors_in_one_go() {
    wrong(
        &process("write: x = 1;\n$r = 3;\nnop;\ngoto"),
        &["7:10 unexpected-token", "8:4 unexpected-token", "10:5 unexpected-token"],
    );
    wrong(&process("write: z := $s;\ngoto B"), &["7:8 unknown-name", "7:13 unknown-register", "8:6 unknown-label"]);
}

#[test]
fn deep_nesting_ends_in_an_error() {
    for text in
        ["{".repeat(100_000), format!("$r := {}1", "(".repeat(100_000)), format!("$r := 1{}", " + 1".repeat(100_000))]
    {
        let source = weir_ir::Source::new("test", process(&text));
        let errors = weir_syntax::rmm::parse(&source).expect_err("too deep");
        assert_eq!(errors[0].code, "too-deep");
    }
}

#[test]
fn what_is_too_long_is_called_so_unless_it_nests_too_deep() {
    let code = |text: &str| {
        let source = weir_ir::Source::new("test", process(text));
        let errors = weir_syntax::rmm::parse(&source).expect_err("too large");
        (errors.len(), errors[0].code, errors[0].message.clone())
    };
    assert_eq!(code(&format!("$r := {}", "(".repeat(5_000_000))).1, "too-deep");
    let expected = (1, "program-too-large", "the program has more than 4000000 tokens".to_string());
    assert_eq!(code(&format!("nop{}", "; nop".repeat(2_500_000))), expected);
}

#[test]
fn what_means_nothing_is_noted_once() {
    warns(
        Language::Rmm,
        &process("ssfence; llfence; ssfence;\nsyncwr: x := 1; syncrd: x = 1; slocked write: y := 1"),
        &["7:1 no-meaning", "7:10 no-meaning", "8:1 no-meaning", "8:17 no-meaning", "8:32 no-meaning"],
    );
    warns(
        Language::Rmm,
        "forbidden *\npredicates $r = 0\nprocess registers $r = *\ntext $r := $r",
        &["2:1 no-meaning", "3:19 open-start"],
    );
}
