//! When a property holds for the wrong reason.

use weir_ir::Source;

use super::super::{Options, check};
use super::*;

/// The vacuity of each property.
fn vacuity(text: &str, model: Model) -> Vec<Vacuity> {
    let source = Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let options = Options { model, ..Options::default() };
    let answer = check(&program, &options, &Session::default()).expect("an answer");
    answer.properties.into_iter().map(|one| one.vacuity).collect()
}

fn is_vacuous(text: &str) -> Vec<Option<bool>> {
    let [sc, tso] = [Model::Sc, Model::Tso].map(|model| vacuity(text, model));
    assert_eq!(sc, tso, "{text}");
    tso.iter().map(Vacuity::is_vacuous).collect()
}

#[test]
fn always_needs_a_run_that_ends() {
    assert_eq!(
        vacuity("shared x; thread A { loop { x = 1; x = 0; } } always x == 7;", Model::Tso),
        [Vacuity::NoRunEnds]
    );
    assert_eq!(is_vacuous("shared x; thread A { x = 7; } always x == 7;"), [Some(false)]);
    // Each of them can end, but not both: only a search can tell.
    let either = "shared x; thread A { let r = cas(x, 0, 1); while r == 1 { } } thread B { let r = cas(x, 0, 1); while r == 1 { } }";
    assert_eq!(is_vacuous(&format!("{either} always x == 7;")), [Some(true)]);
    // The end is only reached with store buffers.
    let buffered =
        "shared x, y; thread A { x = 1; let r = y; assume r == 0; } thread B { y = 1; let s = x; assume s == 0; }
        always x == 1;";
    assert_eq!(vacuity(buffered, Model::Sc), [Vacuity::NoRunEnds]);
    assert_eq!(vacuity(buffered, Model::Tso), [Vacuity::No]);
}

#[test]
fn an_assertion_that_never_holds_says_that_no_run_gets_there() {
    let text = |asserted: &str| format!("shared x; thread A {{ let r = x; if r == 1 {{ assert {asserted}; }} }}");
    assert_eq!(is_vacuous(&text("r == 2")), [Some(true)]);
    assert_eq!(is_vacuous(&text("0")), [Some(false)]);
}

#[test]
fn forbid_needs_its_places() {
    let text = |property: &str| {
        format!(
            "shared x; thread A {{ x = 1; a: skip; assume x == 5; b: skip; }} thread B {{ c: skip; assume x == 1; d: skip; }}
            forbid {property};"
        )
    };
    for (property, expected) in [
        ("A at b", true),
        ("A at b && B at d", true),
        ("A at b && x == 1", true),
        ("A at a && x == 7", false),
        ("A at a && B at d && x == 3", false),
        ("x == 3", false),
        // The other alternative says something.
        ("A at b || x == 3", false),
        ("B at d && !(A at b) && x == 3", false),
        ("(A at b || A at end) && x == 3", true),
    ] {
        assert_eq!(is_vacuous(&text(property)), [Some(expected)], "{property}");
    }
    let reached_with_buffers =
        "shared x, y; thread A { x = 1; let r = y; assume r == 0; a: skip; assume y == 1; assume y == 0; b: skip; }
        thread B { y = 1; let s = x; assume s == 0; c: skip; } forbid A at a && B at c && x == 7;";
    assert_eq!(vacuity(reached_with_buffers, Model::Tso), [Vacuity::No]);
}

/// Each thread could get there on its own if the other let it: that an engine did not rule it out is no run.
#[test]
fn what_an_over_approximation_executes_need_not_be_reached() {
    let text = "shared x, y; thread A { assume x == 1; there: skip; y = 1; } thread B { assume y == 1; x = 1; }
        forbid A at there && x == 7;";
    assert_eq!(is_vacuous(text), [Some(true)]);
    assert_eq!(is_vacuous(&text.replace("assume y == 1;", "skip;")), [Some(false)]);
}

#[test]
fn assertions_need_to_be_reached() {
    assert_eq!(is_vacuous("shared x; thread A { x = 1; assume x == 2; assert x == 7; }"), [Some(true)]);
    assert_eq!(is_vacuous("shared x; thread A { x = 1; assert x == 1; }"), [Some(false)]);
    assert_eq!(is_vacuous("shared x; thread A { x = 1; assert x == 1; assume x == 2; assert x == 7; }"), [Some(false)]);
}

#[test]
fn what_fails_or_is_met_is_not_vacuous() {
    let text =
        "shared x; thread A { x = 1; } forbid x == 1; exists x == 1; exists x == 2; always x == 0; forbid deadlock;";
    assert_eq!(is_vacuous(text), [Some(false); 5]);
}

#[test]
fn nothing_is_said_where_a_bound_ends_the_search() {
    let text = "shared x; thread A { let r = cas(x, 0, 1); while r == 1 { } } thread B { let r = cas(x, 0, 1); while r == 1 { } }
        always x == 7;";
    let source = Source::new("t", text);
    let program = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
    let session = Session::default().with_bound(Bound::CheckVacuityStates, 1);
    let answer = check(&program, &Options::default(), &session).expect("an answer");
    assert_eq!(answer.verdict, Verdict::Holds);
    assert_eq!(answer.properties[0].vacuity, Vacuity::Unknown);
}

/// What is known of one operand may decide a conjunction or a disjunction, whatever the sign of a true value.
#[test]
fn one_operand_may_decide() {
    let cell = || Expr::Leaf(StateAtom::Cell(1));
    let decided = |op, known: Value, is_first: bool| {
        let (left, right) = if is_first { (Expr::Const(known), cell()) } else { (cell(), Expr::Const(known)) };
        value(&Expr::binary(op, left, right), &|_| None)
    };
    for is_first in [true, false] {
        assert_eq!([-2, 0, 3].map(|known| decided(BinaryOp::Or, known, is_first)), [Some(1), None, Some(1)]);
        assert_eq!([-2, 0, 3].map(|known| decided(BinaryOp::And, known, is_first)), [None, Some(0), None]);
        assert_eq!(decided(BinaryOp::Add, 3, is_first), None);
    }
    assert_eq!(value(&cell(), &|_| Some(7)), Some(7));
}
