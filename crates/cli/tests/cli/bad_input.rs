//! Bad input of every kind: a clear error or a budgeted `unknown`, quickly, and never a panic.

use std::time::Duration;

use crate::support::{Ran, scratch, weir, weir_with_input, write};

/// Ends well before anyone would give up on it, even on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn refused(ran: &Ran, expected: &str) {
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stdout.is_empty(), "an error is no answer: {}", ran.stdout);
    assert!(ran.stderr.contains(expected), "expected {expected:?} in {}", ran.stderr);
    assert!(ran.stderr.len() < 20_000, "{} bytes of errors", ran.stderr.len());
    assert!(ran.took < PATIENCE, "took {:?}", ran.took);
}

#[track_caller]
fn source_is_refused(source: &str, expected: &str) {
    refused(&weir_with_input(&["reach", "-"], source.as_bytes()), expected);
}

#[test]
fn an_empty_file_has_no_threads() {
    source_is_refused("", "thread");
    source_is_refused("// nothing\n", "thread");
}

#[test]
fn a_binary_file_is_distinguished_from_text() {
    refused(&weir_with_input(&["reach", "-"], b"\x7fELF\x02\x01\xff\xfe"), "not UTF-8 text: byte 0xff at line 1");
    let zeros = weir_with_input(&["reach", "-"], &[0; 100_000]);
    refused(&zeros, "error");
    assert!(zeros.stderr.len() < 4_000, "a binary file is no reason to flood the terminal");
}

#[test]
fn ten_megabytes_of_parentheses_are_one_clear_error() {
    source_is_refused(&"(".repeat(10_000_000), "error");
    source_is_refused(&format!("thread P {{ let r = {}", "(".repeat(10_000_000)), "error");
    source_is_refused(&format!("thread P {}", "{".repeat(10_000_000)), "error");
}

#[test]
fn a_line_of_ten_megabytes_is_not_printed() {
    source_is_refused(&"a".repeat(10_000_000), "error");
    source_is_refused(&format!("thread P {{ x{} = 1; }}", "y".repeat(10_000_000)), "error");
    source_is_refused(&format!("/* {} */ thread", "é".repeat(5_000_000)), "error");
}

#[test]
fn a_program_of_ten_megabytes_on_one_line_ends_within_its_budget() {
    let source = format!("thread P {{ {} }}", "skip; ".repeat(1_700_000));
    let ran = weir_with_input(&["reach", "--timeout", "5s", "--memory", "2GiB", "-"], source.as_bytes());
    ran.assert_no_bug();
    assert!(matches!(ran.status, Some(0 | 2 | 3)), "{:?}", ran.status);
    assert!(ran.took < PATIENCE, "took {:?}", ran.took);
    assert!(ran.stderr.len() + ran.stdout.len() < 20_000);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    refused(&weir(&["reach", "no-such-file.weir"]), "no-such-file.weir: no such file");
    refused(&weir(&["reach", "."]), "is a directory");
    refused(&weir(&["reach", "no-such-file.c"]), "no-such-file.c: no such file");
    refused(&weir(&["check", "crates/cli/src/main.rs"]), "docs/from-code.md");
    refused(&weir(&["reach", "--from", "weir", "."]), "is a directory");
    refused(&weir(&["fmt", "."]), "is a directory");
    refused(&weir(&["translate", "--to", "dot", "no-such-file.weir"]), "no such file");
    refused(&weir(&["reach", "Cargo.toml"]), "--from weir");
    let misspelt = scratch("misspelt").join("a.wier");
    std::fs::write(&misspelt, "").expect("a file");
    refused(&weir(&["reach", &misspelt.display().to_string()]), "did you mean `.weir`?");
    for near in ["examples/litmus/sb.wier", "examples/litmus/sb"] {
        refused(&weir(&["check", near]), "did you mean `examples/litmus/sb.weir`?");
    }
}

#[test]
fn keywords_of_other_languages_and_misspelt_ones_are_recognised() {
    let said = |text: &str| weir_with_input(&["check", "-"], text.as_bytes());
    for (text, help) in [
        ("thread P { whlie 1 { } }", "did you mean `while`?"),
        ("thread P { fenc; }", "did you mean `fence`?"),
        ("thread P { for i { } }", "to count, use a `while` loop"),
        ("thread P { mfence; }", "`fence;` drains the store buffer"),
        ("thread P { int x; }", "`let r;` declares a register"),
        ("shraed x;", "did you mean `shared`?"),
        ("void f() { }", "docs/from-code.md"),
        ("#include <stdatomic.h>", "docs/from-code.md"),
        ("shared x; thread P { x.store(1, Relaxed); }", "cells have no methods"),
        ("shared x; thread P { let r = x.load(Acquire); }", "docs/from-code.md"),
        ("zzz x;", "statements belong in a thread"),
        ("thread P { xyz; }", "a statement is an assignment"),
    ] {
        refused(&said(text), help);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    refused(&weir(&["reach", "--from", "weir", "/dev/zero"]), "exceeds the maximum size of 32 MiB");
}

#[test]
fn names_that_do_not_exist_are_pointed_at() {
    source_is_refused("thread P { x = 1; }", "`x`");
    source_is_refused("thread P { goto nowhere; }", "`nowhere`");
    source_is_refused("thread P { critical: skip; } forbid P at critcal;", "critical");
    source_is_refused("thread P { skip; } forbid Q at end;", "`Q`");
    source_is_refused("thread P { let r = 1; } forbid P.s == 0;", "`s`");
}

#[test]
fn what_is_declared_twice_is_an_error() {
    source_is_refused("thread P { a: skip; a: skip; }", "`a`");
    source_is_refused("shared x, x; thread P { x = 1; }", "`x`");
    source_is_refused("thread P { skip; } thread P { skip; }", "`P`");
}

#[test]
fn values_that_do_not_fit_are_an_error() {
    source_is_refused("shared x = 9223372036854775808; thread P { x = 1; }", "64");
    source_is_refused("shared x: 0..3 = 4; thread P { x = 1; }", "4");
    source_is_refused("shared a[2]; thread P { a[2] = 1; }", "2");
    source_is_refused("shared a[99999999999]; thread P { a[0] = 1; }", "error");
}

#[test]
fn a_thread_without_instructions_is_an_error() {
    source_is_refused("thread P { }", "`P`");
}

#[test]
fn a_define_must_name_a_constant_of_the_program() {
    let directory = scratch("defines");
    let file = write(&directory, "a.weir", "const N = 1; thread P { let r = N; }");
    refused(&weir(&["reach", "-D", "M=2", &file]), "`M`");
    refused(&weir(&["reach", "-D", "N", &file]), "NAME=VALUE");
    refused(&weir(&["reach", "-D", "N=1", "-D", "N=2", &file]), "defined twice");
}

#[test]
fn endless_recursion_is_unknown_to_an_engine_that_cannot_handle_it() {
    let of_two = b"proc f() { f(); return 1; } thread P { let r = f(); } thread Q { let r = f(); }";
    let ran = weir_with_input(&["reach", "-"], of_two);
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stdout.starts_with("unknown under TSO: "), "{}", ran.stdout);
}

#[test]
fn endless_recursion_of_one_thread_is_explored_with_summaries() {
    let ran = weir_with_input(&["reach", "-"], b"proc f() { f(); return 1; } thread P { let r = f(); }");
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("summaries: with stacks of any depth"), "{}", ran.stdout);
}

#[test]
fn bad_usage_exits_with_two() {
    for arguments in [
        &["reach"][..],
        &["reach", "--no-such-flag", "a.weir"],
        &["reach", "--model", "power", "a.weir"],
        &["reach", "--engine", "lazy", "a.weir"],
        &["reach", "--jobs", "0", "a.weir"],
        &["reach", "--jobs", "1000000", "a.weir"],
        &["reach", "--timeout", "soon", "a.weir"],
        &["reach", "--memory", "lots", "a.weir"],
        &["reach", "--states", "0", "a.weir"],
        &["reach", "--format", "sarif", "a.weir"],
        &["reach", "-q", "-v", "a.weir"],
        &["reach", "-", "-"],
        &["reach", "--witness", "w.json", "a.weir", "b.weir"],
        &["reach", "--witness", "-", "a.weir"],
        &["replay", "-", "-"],
        &["translate", "a.weir"],
        &["translate", "a.weir", "--to", "cobol"],
        &["check", "a.weir"],
        &["no-such-command"],
        &[],
    ] {
        refused(&weir(arguments), "");
    }
}

#[test]
fn a_goal_that_does_not_exist_lists_those_that_do() {
    let source =
        b"shared x; thread P { assert x == 0; end_of_p: skip; } forbid P at end_of_p && x == 1; forbid deadlock;";
    for goal in ["0", "3", "Q", "nonsense", "-1", "99999999999999999999"] {
        let argument = format!("--goal={goal}");
        let ran = weir_with_input(&["reach", &argument, "-"], source);
        refused(&ran, &format!("there is no property `{goal}`"));
        assert!(ran.stderr.contains("1 (forbid P at end_of_p && x == 1), 2 (forbid deadlock), P (assertions of P)"));
    }
    for goal in ["1", "2", "deadlock", "assert", "P"] {
        let ran = weir_with_input(&["reach", "--goal", goal, "-"], source);
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
}
