//! How answers read.

use super::*;

#[test]
fn each_limit_has_its_words() {
    let words = [
        (Limit::Time, "time limit"),
        (Limit::Memory, "memory limit"),
        (Limit::States, "limit on states"),
        (Limit::Interrupted, "interrupted"),
        (Limit::Extensions, "limit on extensions"),
        (Limit::Alarm, "over-approximation raised an alarm"),
    ];
    for (limit, word) in words {
        assert!(limit.to_string().contains(word), "{limit}");
    }
}

#[test]
fn a_failure_says_what_and_whose_fault_it_is() {
    let refusal = weir_ir::Diagnostic::error("code", "cannot do that", weir_ir::Span::default());
    assert_eq!(Failure::Refused(Box::new(refusal)).to_string(), "cannot do that");
    assert_eq!(Failure::Bug("it broke".to_owned()).to_string(), "bug in Weir: it broke");
}

#[test]
fn searches_add_up() {
    let statistics = |states, transitions, depth, state_bytes, stored_bytes, seconds| Statistics {
        up_to_symmetry: false,
        reduction: crate::verdict::Reduction::None,
        states,
        transitions,
        depth,
        state_bytes,
        stored_bytes,
        elapsed: Duration::from_secs(seconds),
    };
    let mut sum = statistics(1, 20, 300, 8, 5000, 6);
    sum.add(&statistics(2, 30, 100, 16, 4000, 1));
    assert_eq!(sum, statistics(3, 50, 300, 16, 5000, 7));
    sum.add(&statistics(1, 1, 400, 8, 6000, 1));
    assert_eq!(sum, statistics(4, 51, 400, 16, 6000, 8));
}
