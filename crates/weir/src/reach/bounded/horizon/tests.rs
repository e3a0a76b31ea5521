//! Which bounds small programs can exceed.

use weir_ir::{Program, Source};

use super::{greatest_age, most_rounds};

fn parse(text: &str) -> Program {
    weir_syntax::weir::parse(&Source::new("horizon", text), &weir_syntax::weir::Options::default())
        .unwrap_or_else(|errors| panic!("{errors:#?}"))
        .program
}

/// The most rounds, and the greatest age, of the only thread.
fn of(body: &str) -> (Option<u64>, Option<u64>) {
    let program = parse(&format!("shared x, y; thread P {{ let r; {body} }}"));
    (most_rounds(&program.threads[0].body), greatest_age(&program.threads[0].body))
}

#[test]
fn steps_and_flushes_are_counted_along_the_longest_path() {
    assert_eq!(of("skip; r = 1;"), (Some(0), Some(0)));
    assert_eq!(of("r = y;"), (Some(1), Some(0)));
    assert_eq!(of("x = 1;"), (Some(2), Some(1)));
    assert_eq!(of("x = 1; r = y;"), (Some(3), Some(2)));
    assert_eq!(of("r = y; x = 1; skip; r = y; y = 1;"), (Some(6), Some(3)));
    assert_eq!(of("choose { x = 1; } or { x = 1; y = 1; r = x; r = y; }"), (Some(6), Some(4)));
}

#[test]
fn a_fence_ends_the_wait_of_a_store() {
    assert_eq!(of("x = 1; fence; r = y; r = y;"), (Some(5), Some(1)));
    assert_eq!(of("x = 1; r = xchg(y, 1); r = y;"), (Some(4), Some(1)));
}

#[test]
fn loops_have_no_bound_unless_nobody_can_notice_them() {
    assert_eq!(of("loop { x = 1; fence; r = y; }"), (None, Some(1)));
    assert_eq!(of("x = 1; while r == y { }"), (None, None));
    assert_eq!(of("while r == y { } x = 1;"), (None, Some(1)));
    assert_eq!(of("x = 1; while r < 3 { r = r + 1; } r = y;"), (Some(3), Some(2)));
}
