//! Ways out, limits, definitions from outside, warnings.

use crate::dump::{errors, parsed, program, warnings};
use weir_ir::{Diagnostic, Source};
use weir_syntax::weir::limits::{MAX_EDGES, MAX_ERRORS, MAX_LOWERING_DEPTH, MAX_NESTING, MAX_OBSERVATIONS, MAX_WORK};
use weir_syntax::weir::{Options, parse};

fn parse_with(text: &str, defines: &[(&str, i64)]) -> Result<weir_ir::Program, Vec<Diagnostic>> {
    let defines = defines.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    parse(&Source::new("test.weir", text), &Options { defines }).map(|parsed| parsed.program)
}

/// The only error.
fn error(text: &str) -> Diagnostic {
    let mut errors = parse_with(text, &[]).expect_err("an error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

fn help(text: &str) -> String {
    error(text).help.expect("a way out")
}

#[test]
fn slips_are_recognised() {
    assert_eq!(help("shared turn; thread T { turn = trun; }"), "did you mean `turn`?");
    assert_eq!(help("thread T { critical: skip; } forbid T at critcal;"), "did you mean `critical`?");
    assert_eq!(help("thread T { let value = 1; } forbid T.valeu == 1;"), "did you mean `value`?");
    assert_eq!(help("thread Worker { a: skip; } forbid Wroker at a;"), "did you mean `Worker`?");
    assert_eq!(help("proc push() { } thread T { skip; pussh(); }"), "did you mean `push`?");
    assert_eq!(help("const SIZE = 2; thread T[SZIE] { skip; }"), "did you mean `SIZE`?");
    assert_eq!(help("thread T { critical: skip; goto critcal; }"), "did you mean `critical`?");
    assert_eq!(help("shared X; thread T { x = 1; }"), "did you mean `X`?");
}

#[test]
fn strangers_get_a_way_out_all_the_same() {
    assert!(help("thread T { x = 1; }").contains("shared x;"));
    assert!(help("thread T { let r = 1; } forbid r == 1;").contains("`T.r`"));
    assert!(help("shared flag[2]; thread T { let r = flag; }").contains("&flag"));
    assert!(help("thread T { let a; if a = 1 { } }").contains("`==`"));
    assert!(help("thread T { let a, b, c; if a < b <= c { } }").contains("`a < b && b <= …`"));
    assert!(help("thread T { let a; a--; }").contains("`r -= 1`"));
}

#[test]
fn second_declarations_point_at_the_first() {
    let error = error("shared x;\nthread T { let x = 1; }");
    assert_eq!(error.secondary.len(), 1);
    assert_eq!(error.secondary[0].span.start, 7);
    assert!(error.secondary[0].text.contains("first declared here"));
}

#[test]
fn definitions_from_outside_replace_constants() {
    let text = "const N = 1; const M = N + 1; thread T(i)[N] { let r = M; }";
    assert_eq!(parse_with(text, &[]).unwrap().threads.len(), 1);
    let program = parse_with(text, &[("N", 3), ("N", 4)]).unwrap();
    assert_eq!(program.threads.len(), 4);
    assert_eq!(program.constants, [("N".to_string(), 4), ("M".to_string(), 5)]);
}

#[test]
fn definitions_of_unknown_constants_name_the_known_ones() {
    let errors = parse_with("const N = 1; const K = 2; thread T { let r = N + K; }", &[("M", 3)]).unwrap_err();
    assert_eq!(errors[0].code, "unknown-define");
    assert_eq!(errors[0].help.as_deref(), Some("the constants are: `N` and `K`"));
    let errors = parse_with("thread T { skip; }", &[("M", 3)]).unwrap_err();
    assert!(errors[0].help.as_ref().unwrap().contains("declares no constants"));
}

#[test]
fn many_errors_are_counted_not_shown() {
    let text = format!("thread T {{ {} }}", "x = 1; ".repeat(MAX_ERRORS + 5));
    let shown = errors(&text);
    assert_eq!(shown.lines().count(), MAX_ERRORS + 1);
    assert!(shown.lines().last().unwrap().contains("and 5 more errors"), "{shown}");
}

#[test]
fn an_error_in_a_replicated_thread_or_an_inlined_procedure_is_reported_once() {
    assert_eq!(errors("proc f() { x = 1; } thread T[9] { f(); f(); y = 2; }").lines().count(), 2);
}

#[test]
fn nesting_too_deep_is_one_error() {
    for (open, close) in
        [("(", ")"), ("-", ""), ("!", ""), ("*", ""), ("1 + (", ")"), ("mem[", "]"), ("f(", ")"), ("1 + ", "")]
    {
        let text = format!("thread T {{ let r = {}1{}; }}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(error(&text).code, "too-deep", "{open}");
    }
    for open in ["{ ", "loop { ", "if 1 { ", "choose { ", "atomic { ", "while 1 { "] {
        assert_eq!(error(&format!("thread T {{ {}", open.repeat(100_000))).code, "too-deep", "{open}");
    }
}

#[test]
fn nesting_up_to_the_limit_is_fine() {
    let depth = MAX_NESTING - 20;
    let open = |text: &str| text.repeat(depth);
    program(&format!("thread T {{ let r = {}1{}; }}", open("("), open(")")));
    program(&format!("shared x; thread T {{ let r = {}x; }}", open("x + ")));
    program(&format!("shared x; thread T {{ if {}x {{ skip; }} }}", open("x && ")));
    program(&format!("thread T {{ {} skip; {} }}", open("loop {"), open("}")));
    let arms = "if r == 1 { skip; } else ".repeat(5000);
    program(&format!("thread T {{ let r; {arms} {{ fence; }} }}"));
}

/// A statement, a call and a block are a level each.
#[test]
fn calls_are_nested_up_to_the_limit() {
    let nested = |count: usize, innermost: &str| {
        let calls: String = (1..count).map(|at| format!("proc f{at}() {{ f{}(); }} ", at - 1)).collect();
        format!("proc f0() {{ {innermost} }} {calls} thread T {{ f{}(); }}", count - 1)
    };
    let most = MAX_LOWERING_DEPTH / 2 - 1;
    assert_eq!(program(&nested(most, "{ skip; }")).threads[0].body.edges().len(), 1);
    assert_eq!(error(&nested(most, "{ { skip; } }")).code, "too-deep");
}

#[test]
fn calls_nested_too_deep_and_programs_too_large_are_refused() {
    let chain = |count: usize, body: fn(usize) -> String| -> String {
        (1..count).map(|at| format!("proc f{at}() {{ {} }} ", body(at - 1))).collect()
    };
    let deep =
        format!("proc f0() {{ skip; }} {} thread T {{ f999(); }}", chain(1000, |before| format!("f{before}();")));
    assert_eq!(error(&deep).code, "too-deep");
    let twice = |before: usize| format!("f{before}(); f{before}();");
    for leaf in ["skip;", ""] {
        let wide = format!("proc f0() {{ {leaf} }} {} thread T {{ f39(); }}", chain(40, twice));
        assert_eq!(error(&wide).code, "program-too-large");
    }
    let choices = format!("thread T {{ {} }}", "choose { skip; } or { } ".repeat(3000));
    assert_eq!(error(&choices).code, "program-too-large");
}

/// The step beyond the limit is the last one that is looked at: it is reported, and nothing after it.
#[test]
fn steps_beyond_the_limit_are_reported_once() {
    // Each sum takes five steps, which only building them tells.
    let copies =
        |count: usize| format!("shared x; thread T[{count}] {{ let r; {} }}", "r = x + x + x + x; ".repeat(1_000));
    assert_eq!(program(&copies(20)).threads.iter().map(|thread| thread.body.edges().len()).sum::<usize>(), 100_000);
    assert_eq!(error(&copies(201)).code, "program-too-large");
}

/// Each property names one place of each of 1000 threads, and both count. What comes after the limit is not looked at.
#[test]
fn as_many_places_as_the_limit_allows_are_accepted_and_one_more_is_refused() {
    let text = |properties: usize, last: &str| {
        format!(
            "thread T[1000] {{ l: skip; }} thread U {{ l: skip; }} {} {last}",
            "forbid T at l;\n".repeat(properties)
        )
    };
    let most = MAX_OBSERVATIONS / 2_000;
    assert_eq!(program(&text(most, "")).properties.len(), most);
    assert_eq!(error(&text(most, "forbid Unknown at l;")).code, "unknown-name");
    let over = text(most, "forbid U at l; forbid Unknown at l;");
    let line = most + 1;
    assert_eq!(errors(&over), format!("{line}:9 program-too-large: the properties refer to too many places"));
}

/// Operands in properties count as those in statements do.
#[test]
fn as_many_operands_as_the_limit_allows_are_accepted_and_one_more_is_refused() {
    let row = format!("forbid x{};\n", "+x".repeat(99));
    let text = |rows: usize, rest: usize| {
        format!("shared x; thread T {{ skip; }}\n{}forbid x{};", row.repeat(rows), "+x".repeat(rest))
    };
    // One statement, and the first operand of the last property.
    let rows = MAX_WORK / 100 - 1;
    assert!(parse_with(&text(rows, 98), &[]).is_ok_and(|program| program.properties.len() == rows + 1));
    assert_eq!(error(&text(rows, 99)).code, "program-too-large");
}

#[test]
fn long_programs_do_not_exhaust_the_stack() {
    let labels: String = (0..20_000).map(|at| format!("a{at}: jump a{}; ", at + 1)).collect();
    program(&format!("thread T {{ {labels} a20000: skip; }} forbid T at a3;"));
    let constants: String = (0..20_000).map(|at| format!("const c{at} = c{}; ", at + 1)).collect();
    program(&format!("{constants} const c20000 = 2; thread T[c0] {{ skip; }}"));
    let procedures: String = (0..20_000).map(|at| format!("proc f{at}() {{ f{}(); }} ", (at + 1) % 20_000)).collect();
    assert_eq!(program(&format!("{procedures} thread T {{ f0(); }}")).procedures.len(), 20_000);
}

#[test]
fn files_that_are_no_text_are_summed_up() {
    assert_eq!(error("\u{7f}ELF\0\0\0").code, "not-text");
    assert_eq!(error(&"§ x ".repeat(1000)).message, "1000 sequences of characters that cannot occur in a program");
    assert_eq!(error("").code, "no-threads");
    assert_eq!(error("  // nothing\n").code, "no-threads");
    assert_eq!(error(&format!("thread T {{ {} = 1; }}", "x".repeat(100_000))).code, "name-too-long");
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_blank() {
    program("\u{feff}thread T {\r\n    skip;\r\n}\r\n");
}

#[test]
fn what_is_never_used_is_warned_about() {
    let text = "const K = 3;
shared unused, _fine, x;
proc f() { }
thread T { l: x = 1; goto m; m: skip; n: skip; o: skip; _p: skip; }
forbid T at n;
cost o = 2;";
    assert_eq!(
        warnings(text).lines().collect::<Vec<_>>(),
        [
            "1:7 unused-constant: the constant `K` is never used",
            "2:8 unused-cell: the shared cell `unused` is never used",
            "3:6 unused-procedure: the procedure `f` is never called",
            "4:12 unused-label: the label `l` is never used",
        ]
    );
}

#[test]
fn a_cell_may_be_used_through_its_address() {
    assert_eq!(warnings("shared heap[4]; thread T { let p = 1; *p = 2; }"), "");
    assert_eq!(warnings("shared x; thread T { let p = &x; }"), "");
    assert_eq!(warnings("shared x; thread T { skip; } always x == 0;"), "");
}

#[test]
fn other_warnings() {
    assert_eq!(
        warnings("proc f(n) { if n { return 1; } } thread T { let r = f(2); }"),
        "1:32 missing-return: `f` can end without `return`, and then returns 0"
    );
    assert_eq!(
        warnings("thread T { loop { skip; } } forbid T at end;"),
        "1:36 never-ends: thread `T` never ends: it is never `at end`"
    );
    assert_eq!(
        warnings("const N = 1 / 0; thread T { let r = N + 2 % 0; }"),
        "1:11 division-by-zero: division by zero; the result is 0\n1:41 division-by-zero: division by zero; the result is 0"
    );
    assert_eq!(parsed("thread T { let r = 1 / 2; }").warnings, []);
}

#[test]
fn what_is_too_large_with_calls_inlined_is_refused_before_it_is_built() {
    // Nothing is lowered: the unknown name inside is not found.
    let mut text = String::from("proc f0() { unknown = 1; }\n");
    for at in 1..=41 {
        text += &format!("proc f{at}() {{ f{0}(); f{0}(); }}\n", at - 1);
    }
    let text = text + "thread T { f41(); }";
    assert_eq!(
        errors(&text),
        "21:1 program-too-large: the program is too large: more than 1000000 steps or 4000000 statements and operands"
    );
    let copies = "proc f() { skip; skip; skip; } thread T[1000] { ".to_string() + &"f(); ".repeat(400) + "}";
    assert_eq!(error(&copies).code, "program-too-large");
}

#[test]
fn what_fits_is_not_refused_and_what_does_not_is_refused_once() {
    // One call after the other is not one in the other.
    program(&format!("proc f() {{ skip; }} thread T {{ {} }}", "f(); ".repeat(1_000)));
    // Each copy counts once.
    assert_eq!(program(&format!("thread T[5] {{ {} }}", "skip; ".repeat(80_000))).threads.len(), 5);
    // Choices copy steps, and those of all threads count together.
    let choices = "choose { skip; } or { } ".repeat(800);
    assert_eq!(error(&format!("thread T[4] {{ {choices} }}")).code, "program-too-large");
    let twice = format!("thread T {{ {0} }} thread U {{ {0} }}", "choose { skip; } or { } ".repeat(3000));
    assert_eq!(error(&twice).code, "program-too-large");
}

#[test]
fn as_many_steps_as_the_limit_allows_are_accepted_and_one_more_is_refused() {
    // The last statement is two steps, but counts as one before it is lowered: lowering itself has to count.
    let copies = 500;
    let skips = |count: usize| "skip; ".repeat(count);
    let all_but_one = skips(MAX_EDGES / copies - 1);
    let text = |rest: usize| {
        format!("shared x, y; thread T[{copies}] {{ {all_but_one} }} thread U {{ {} x = y; }}", skips(rest))
    };
    let accepted = parse_with(&text(copies - 2), &[]).expect("as many steps as are allowed");
    let steps: usize = accepted.threads.iter().map(|thread| thread.body.edges().len()).sum();
    assert_eq!(steps, MAX_EDGES);
    assert_eq!(error(&text(copies - 1)).code, "program-too-large");
}
