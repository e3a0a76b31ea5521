//! Figures worked out by hand, and the paper's example.

use weir::Control;
use weir::prob::{Question, RBig, Settings, exact_cost, exact_probability, probability};

use crate::targets::{read, register};

fn exact(text: &str) -> RBig {
    let (program, target) = read(text);
    let question = Question { target, repeated: false, settings: Settings::default() };
    let answer = exact_probability(&program, &question, &Control::default()).expect("it can be handled");
    answer.expect("it is small").probability
}

fn fraction(numerator: i64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

#[test]
fn a_store_is_flushed_in_one_half_of_all_cases() {
    // After the store of P there are two sequences of flushes: none, and one. Q reads first in one half of all cases; if it
    // comes second, it sees the store in one half, and the store that it does not see stays unseen.
    let text = "shared x; thread P { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    assert_eq!(exact(text), fraction(1, 4));
}

#[test]
fn weights_count() {
    let text = "shared x; thread P weight 2 { x = 1; } thread Q { let r = x; } forbid Q at end && Q.r == 1;";
    assert_eq!(exact(text), fraction(1, 3));
}

#[test]
fn sequences_are_counted_not_outcomes() {
    // Two stores wait, one in each buffer: five sequences (none, x, y, xy, yx), of which two empty both.
    let text = "shared x, y;
        thread P { x = 1; wait: skip; }
        thread Q { y = 1; let r = 0; }
        forbid P at end && Q at end;";
    assert_eq!(exact(text), RBig::ONE);
}

#[test]
fn waiting_costs_nothing_and_ends() {
    let text = "cost fence = 20; cost store = 3; shared x; thread P { x = 1; fence; } forbid P at end;";
    let (program, target) = read(text);
    let answer = exact_cost(&program, &target, &Settings::default(), &Control::default());
    assert_eq!(answer.expect("it can be handled").expect("it is small").cost, Some(fraction(23, 1)));
}

#[test]
fn the_paper_reads_a_one_almost_surely() {
    let (program, _) = read(
        "shared x; thread L { loop { x = 1; } } thread R { let a; loop { x = 2; a = x; } } forbid R.a == 1;",
    );
    let target = weir_testkit::sketch::equal(register(&program, 1, "a"), 1);
    for repeated in [false, true] {
        let question = Question { target: target.clone(), repeated, settings: Settings::default() };
        let answer = probability(&program, &question, 1e-9, &Control::default()).expect("it can be handled");
        assert!(answer.interval.lower > 1.0 - 1e-9 && answer.interval.upper == 1.0, "{answer:?}");
    }
}
