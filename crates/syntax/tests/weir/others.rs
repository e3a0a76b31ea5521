//! `for each other j { … }`: its steps, where it may stand, and what is said where it may not.

use crate::dump::{edges, errors, messages, parsed, program};
use weir_ir::{Program, Source};
use weir_syntax::weir::{Options, format, parse};

/// The steps of one of `copies` copies with this body.
fn steps(copies: usize, copy: usize, body: &str) -> Vec<String> {
    let program = program(&format!("shared x[{copies}]; thread T(i)[{copies}] {{ {body} }}"));
    edges(&program.threads[copy].body)
}

#[test]
fn the_others_are_chosen_one_by_one_until_none_is_left() {
    let middle = [
        "0 -> 1: j.left = 5",
        "1 -> 2: j = any 0..2",
        "2 -> 3: assume j.left & (1 << j)",
        "2 -> 1: assume !(j.left & (1 << j))",
        "3 -> 4: j.left = j.left ^ (1 << j)",
        "4 -> 5: mem[1 + j] = 1",
        "5 -> 1: assume j.left",
        "5 -> 6: assume !j.left",
    ];
    assert_eq!(steps(3, 1, "for each other j { x[j] = 1; }"), middle);
    assert_eq!(steps(3, 0, "for each other j { x[j] = 1; }")[0], "0 -> 1: j.left = 6");
    assert_eq!(steps(63, 62, "for each other j { x[j] = 1; }")[0], format!("0 -> 1: j.left = {}", i64::MAX >> 1));
    assert_eq!(edges(&program("thread T[2] { for each other j { } }").threads[1].body).len(), 7);
}

#[test]
fn a_single_copy_asks_nobody() {
    assert_eq!(steps(1, 0, "for each other j { x[j] = 1; } skip;"), ["0 -> 1: j.left = 0", "1 -> 2: skip"]);
}

#[test]
fn break_leaves_and_continue_asks_the_next() {
    let leaves = [
        "0 -> 1: j.left = 2",
        "1 -> 2: j = any 0..1",
        "2 -> 3: assume j.left & (1 << j)",
        "2 -> 1: assume !(j.left & (1 << j))",
        "3 -> 4: j.left = j.left ^ (1 << j)",
    ];
    assert_eq!(steps(2, 0, "for each other j { break; }"), leaves);
    let goes_on = ["4 -> 5: skip", "5 -> 6: assume j == 1", "5 -> 8: assume j != 1"];
    let tail = ["6 -> 1: assume j.left", "6 -> 7: assume !j.left", "8 -> 6: mem[1] = 1"];
    let body = "for each other j { skip; if j == 1 { continue; } x[0] = 1; }";
    assert_eq!(steps(2, 0, body)[5..], [&goes_on[..], &tail[..]].concat());
}

#[test]
fn loops_one_after_the_other_share_registers_and_nested_ones_do_not() {
    let registers = |body: &str| {
        let program = program(&format!("thread T[3] {{ {body} }}"));
        program.threads[0].body.registers.iter().map(|register| register.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(registers("for each other j { skip; } for each other j { skip; }"), ["j", "j.left"]);
    assert_eq!(registers("for each other j { for each other k { } }"), ["j", "j.left", "k", "k.left"]);
}

#[test]
fn every_step_points_at_the_header() {
    let text = "thread T[2] { for each  other j { skip; } }";
    let program = program(text);
    let spans = crate::dump::spans(&program, &program.threads[0].body);
    assert_eq!(spans.iter().filter(|span| *span == "for each  other j").count(), 7);
}

/// The only error, and the way out of it.
fn error(text: &str) -> (String, String) {
    let errors = parse(&Source::new("test.weir", text), &Options::default()).expect_err(text);
    let help = errors[0].help.clone().unwrap_or_default();
    (messages(text, &errors), help)
}

#[test]
fn it_needs_copies_with_numbers() {
    for (text, why, way_out) in [
        ("thread T { for each other j { } }", "1:12 no-others: this thread has no other copies", "`thread T[3]`"),
        (
            "thread T[*] { for each other j { skip; } }",
            "1:15 no-others: the copies of a `[*]` thread have no numbers",
            "`thread T[3]`",
        ),
        (
            "thread M { spawn T; } thread T[0] { for each other j { } }",
            "1:37 no-others: spawned threads have no numbers",
            "`thread T[3]`",
        ),
        (
            "thread T[64] { for each other j { } }",
            "1:16 no-others: `for each other` is limited to 63 copies",
            "`thread T[3]`",
        ),
        (
            "proc f() { for each other j { } } thread T[2] { f(); f(); }",
            "1:12 no-others: `for each other` inside a procedure",
            "`for each other j { f(j); }`",
        ),
    ] {
        let (found, help) = error(text);
        assert_eq!(found, why, "{text}");
        assert!(help.contains(way_out), "{text}: {help}");
    }
    let options = Options { defines: vec![("T[*]".to_owned(), 3)] };
    let source = Source::new("test.weir", "thread T[*] { for each other j { skip; } }");
    assert_eq!(parse(&source, &options).expect_err("no numbers")[0].code, "no-others");
}

#[test]
fn the_other_cannot_be_assigned_to() {
    for statement in ["j = 1;", "j += 1;", "j, r = x, x;", "await j = x if j;", "j = cas(x, 0, 1);", "j = any 0..1;"] {
        let text = format!("shared x; thread T[2] {{ let r; for each other j {{ {statement} }} }}");
        let (found, help) = error(&text);
        assert!(found.ends_with("`j` is the number of the other copy and cannot be assigned to"), "{found}");
        assert!(help.contains("`let r = …;`"), "{help}");
    }
    // Another register of the same name can.
    program("thread T[2] { for each other j { } { let j = 1; j = 2; } }");
}

#[test]
fn names_are_those_of_a_block() {
    assert_eq!(
        errors("thread T[2] { for each other j { for each other j { } } }"),
        "1:49 duplicate-name: `j` is declared twice"
    );
    assert_eq!(
        errors("shared x; thread T(i)[2] { for each other i { } for each other x { } }"),
        "1:43 duplicate-name: `i` is declared twice\n1:64 duplicate-name: `x` is declared twice"
    );
    assert_eq!(
        errors("shared x; thread T[2] { for each other j { } x = j; }"),
        "1:50 unknown-name: there is no register, shared cell or constant `j`"
    );
}

#[test]
fn other_loops_that_begin_with_for_are_refused_with_advice() {
    for (text, expected) in [
        ("thread T[2] { for (i = 0; i < 2; i += 1) { skip; } }", "expected `each`, found `(`"),
        ("thread T[2] { for j in 0..2 { skip; } }", "expected `each`, found `j`"),
        ("thread T[2] { for each j { skip; } }", "expected `other`, found `j`"),
    ] {
        let (found, help) = error(text);
        assert!(found.contains(expected), "{found}");
        assert!(help.contains("`for each other j { … }`") && help.contains("`while`"), "{help}");
    }
    assert_eq!(
        error("thread T[2] { for each other { } }").0,
        "1:30 unexpected-token: expected a name for the number of the other copy, found `{`"
    );
    // Only the first word is a keyword.
    program("thread T[2] { let each = 1, other = each; for each other j { other = j; } }");
}

#[test]
fn errors_in_the_body_are_reported_even_if_it_never_runs() {
    for copies in [1, 2] {
        let text = format!("thread T[{copies}] {{ for each other j {{ y = j; }} }}");
        assert!(errors(&text).contains("unknown-name"), "{text}");
    }
    assert!(errors("thread T { for each other j { y = j; } }").contains("unknown-name"));
}

#[test]
fn it_is_formatted_and_printed() {
    let source = Source::new("test.weir", "thread T[2]{for  each\nother j{skip;}}");
    let expected = "thread T[2] {\n    for each other j {\n        skip;\n    }\n}\n";
    assert_eq!(format(&source).expect("it parses"), expected);
    let printed = weir_syntax::weir::print::print(&parsed(expected).program);
    let again: Program = program(&printed);
    assert_eq!(edges(&again.threads[0].body).len(), 8, "{printed}");
}
