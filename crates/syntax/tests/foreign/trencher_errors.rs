//! What is wrong in a program of Trencher, and where.

use crate::support::{Language, complains, warns};

fn wrong(text: &str, expected: &[&str]) {
    complains(Language::Trencher, text, expected);
}

/// A thread with these lines between `initial q0` and `end`.
fn thread(lines: &str) -> String {
    format!("thread t\ninitial q0\n{lines}\nend\n")
}

#[test]
fn numbers_are_not_guessed() {
    wrong(&thread("transition q0 q1 write 1x 0"), &["3:24 bad-number"]);
    wrong(&thread("transition q0 q1 write 0x10 0"), &["3:24 bad-number"]);
    wrong(&thread("transition q0 q1 read r 99999999999"), &["3:25 number-too-large"]);
    wrong(&thread("transition q0 q1 write -2147483649 0"), &["3:24 number-too-large"]);
    wrong("memory_size many\nthread t\ninitial q0\nend\n", &["1:13 unexpected-token"]);
    warns(Language::Trencher, &thread("transition q0 q1 write -2147483648 +2147483647"), &[]);
}

#[test]
fn operands_are_counted() {
    wrong(&thread("transition q0 q1 read r"), &["3:24 unexpected-token"]);
    wrong(&thread("transition q0 q1 write + 1 0"), &["3:29 unexpected-token"]);
    wrong(&thread("transition q0 q1 write + 1 2\ntransition q1 q2 noop"), &["3:29 unexpected-token"]);
    wrong(&thread("transition q0 q1 mfence 1"), &["3:25 unexpected-token"]);
    wrong(&thread("transition q0 q1"), &["3:17 unexpected-token"]);
    wrong(&thread("transition q0 q1 read 5 0"), &["3:23 not-a-register"]);
    wrong(&thread("transition q0 q1 local == 0"), &["3:24 not-a-register"]);
    wrong(&thread("transition q0 q1 local r ^ r s"), &["3:26 bad-power"]);
    wrong(&thread("transition q0 q1 local r ^ + r 1 2"), &["3:26 bad-power"]);
}

#[test]
fn tokens_out_of_place() {
    wrong(&thread("transition q0 q1 raed r 0"), &["3:18 unknown-instruction"]);
    wrong(&thread("transiton q0 q1 noop"), &["3:1 unexpected-token"]);
    wrong("", &["1:1 no-thread"]);
    wrong("# nothing\n", &["2:1 no-thread"]);
    wrong("program x\nthread t\ninitial q0\nend\n", &["1:1 unexpected-token"]);
    wrong("forbidden\n  CS CS\n", &["1:1 unexpected-token"]);
}

#[test]
fn threads_are_whole() {
    wrong("thread t\ninitial q0\ntransition q0 q1 noop\n", &["4:1 missing-end"]);
    wrong("thread t\ninitial q0\nthread u\ninitial q0\nend\n", &["3:1 missing-end"]);
    wrong("thread t\nend\n", &["1:1 no-initial"]);
    wrong("thread t\ninitial q0\ninitial q1\ntransition q1 q0 noop\nend", &["3:9 duplicate-initial"]);
    wrong("thread t\ninitial q0\nend\nthread t\ninitial q0\nend", &["4:1 duplicate-name"]);
    wrong("thread", &["1:7 unexpected-token", "1:7 missing-end"]);
}

#[test]
fn a_misspelt_state() {
    wrong("thread t\ninitial start\ntransition strat q1 noop\nend", &["2:9 unknown-state"]);
    let slip = thread("transition q0 r3 noop\ntransition r4 r5 noop");
    warns(Language::Trencher, &slip, &["4:12 unreached-state"]);
    let slips = thread("transition q0 waiting noop\ntransition waiting waitng noop\ntransition watiing q0 noop");
    warns(Language::Trencher, &slips, &["4:20 misspelt-state", "5:12 unreached-state"]);
    // Numbers tell states apart, and so do short names.
    let numbered = thread("transition q0 wait1 noop\ntransition wait1 wait2 noop\ntransition q0 r noop");
    warns(Language::Trencher, &numbered, &[]);
}

#[test]
fn names_of_fewer_than_four_letters_are_never_taken_for_misspelt_ones() {
    let states = |state: &str, similar: &str| {
        thread(&format!("transition q0 {state} noop\ntransition {state} q0 noop\ntransition q0 {similar} noop"))
    };
    warns(Language::Trencher, &states("cri", "cry"), &[]);
    warns(Language::Trencher, &states("crit", "cryt"), &["5:15 misspelt-state"]);
}

#[test]
fn messages_show_forty_characters_of_a_name() {
    let message = |name: &str| {
        let text = thread(&format!("transition q0 q1 {name}"));
        let errors = weir_syntax::trencher::parse(&weir_ir::Source::new("test", text)).expect_err("no instruction");
        errors[0].message.clone()
    };
    let forty = "a".repeat(40);
    assert_eq!(message(&forty), format!("there is no instruction `{forty}`"));
    assert_eq!(message(&format!("{forty}b")), format!("there is no instruction `{forty}`"));
    let shorter = &forty[1..];
    assert_eq!(message(&format!("{shorter}bc")), format!("there is no instruction `{shorter}b`"));
}

#[test]
fn several_errors_in_one_go() {
    let text = thread("transition q0 q1 raed r 0\ntransition q1 q2 write 1x 0\ntransition q2 q3 read r");
    wrong(&text, &["3:18 unknown-instruction", "4:24 bad-number", "5:24 unexpected-token"]);
}

#[test]
fn deep_expressions_end_in_an_error() {
    wrong(&thread(&format!("transition q0 q1 check {}1", "! ".repeat(100_000))), &["3:426 too-deep"]);
}

#[test]
fn memory_beyond_the_stated_size() {
    warns(
        Language::Trencher,
        "memory_size 2\nthread t\ninitial q0\ntransition q0 q1 write 1 2\nend",
        &["4:1 beyond-memory"],
    );
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_token() {
    warns(Language::Trencher, "\u{feff}thread t\ninitial q0\ntransition q0 q1 write 1 0\nend\n", &[]);
    warns(Language::Trencher, "\u{feff}# comment\nthread t\ninitial q0\ntransition q0 q1 write 1 0\nend\n", &[]);
}

#[test]
fn registers_are_those_of_the_text_and_the_property_is_where_the_first_final_state_is() {
    let text = "thread a\ninitial q0\nfinal q1\ntransition q0 q1 read r 5\nend\nthread b\ninitial q0\nfinal q1\ntransition q0 q1 local s 1\nend\n";
    let source = weir_ir::Source::new("test", text);
    let program = weir_syntax::trencher::parse(&source).expect("correct").program;
    let registers: Vec<&weir_ir::Register> = program.threads.iter().flat_map(|one| &one.body.registers).collect();
    assert!(registers.iter().all(|register| !register.is_temporary));
    assert_eq!(registers.iter().map(|register| register.name.as_str()).collect::<Vec<_>>(), ["r", "s"]);
    let at = source.line_column(program.properties[0].span.start);
    assert_eq!((at.line, at.column), (3, 7));
    let cells: Vec<(&str, i64)> = program.shared.iter().map(|cell| (cell.name.as_str(), cell.address)).collect();
    assert_eq!(cells, [("m5", 5)]);
}

#[test]
fn programs_up_to_the_limits_are_read() {
    let threads = |count: usize| -> String {
        (0..count).map(|at| format!("thread t{at}\ninitial q\ntransition q r noop\nend\n")).collect()
    };
    warns(Language::Trencher, &threads(1024), &[]);
    wrong(&threads(1025), &["4097:1 too-many-threads"]);
    let power = |exponent: &str| thread(&format!("transition q0 q1 local r ^ r {exponent}"));
    warns(Language::Trencher, &power("0"), &[]);
    warns(Language::Trencher, &power("64"), &[]);
    for exponent in ["65", "-1", "r"] {
        wrong(&power(exponent), &["3:26 bad-power"]);
    }
    wrong(&thread("transition q0 q1 local r ^ + r 1 2"), &["3:26 bad-power"]);
    let numbers = |number: &str| thread(&format!("transition q0 q1 local r {number}"));
    for number in ["2147483647", "-2147483648", "0", "-0"] {
        warns(Language::Trencher, &numbers(number), &[]);
    }
    for number in ["2147483648", "-2147483649"] {
        wrong(&numbers(number), &["3:26 number-too-large"]);
    }
}
