//! A model of the synchronisation that this crate would contain, verified by `cargo test`.

use std::time::Duration;

use weir::{Language, Limits, Program, Session, Verdict, describe};

/// Two threads that each announce themselves and then look whether the other one has.
const UNFENCED: &str = "
shared x, y;
thread P { x = 1; let r = y; }
thread Q { y = 1; let s = x; }
forbid P at end && Q at end && P.r == 0 && Q.s == 0;
";

fn fenced() -> String {
    UNFENCED.replace("= 1; let", "= 1; fence; let")
}

#[test]
fn with_fences_it_is_robust_and_safe() {
    weir::assert_robust!(&fenced());
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    weir::assert_safe!(&fenced(), &Session::new(limits));
}

#[test]
fn without_fences_there_is_a_run_to_read() {
    let program = Program::parse(UNFENCED, Language::Weir).expect("it is a program");
    let report = program.robust(&Session::default()).expect("nothing in it is unsupported");
    let Verdict::Violated(run) = report.verdict else { panic!("stores can be delayed") };
    let text = describe(&program, &run);
    assert_eq!(text.lines().count(), run.run().steps.len(), "{text}");
    assert!(text.contains("P  r = y  reads 0"), "{text}");
    assert!(text.contains("flush x=1"), "{text}");
}

#[test]
#[should_panic(expected = "the program is not robust:\n  1  P  x = 1")]
fn an_assertion_that_fails_shows_the_run() {
    weir::assert_robust!(UNFENCED);
}

/// Which of several runs is shown depends on the engine that answers first.
#[test]
#[should_panic(expected = "the program is not safe:\n  1  ")]
fn an_assertion_about_properties_does_too() {
    weir::assert_safe!(UNFENCED);
}

#[test]
#[should_panic(expected = "the program has no properties")]
fn nothing_is_safe_without_properties() {
    weir::assert_safe!("shared x; thread P { x = 1; }");
}

#[test]
#[should_panic(expected = "<text>:1:10: expected `{`, found `x`")]
fn mistakes_in_the_text_are_reported_with_their_place() {
    weir::assert_robust!("thread P x = 1; }");
}

#[test]
#[should_panic(expected = "it is unknown whether the program is safe: the limit on states was reached")]
fn a_limit_is_no_proof() {
    weir::assert_safe!(&fenced(), &Session::new(Limits { states: Some(1), ..Limits::default() }));
}
