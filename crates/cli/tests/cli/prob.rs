//! `weir prob` in JSON.

use serde_json::Value;

use crate::json::answers;
use crate::support::{Ran, root, scratch, weir, write};

/// The one answer, valid by the schema.
#[track_caller]
fn answer(ran: &Ran) -> Value {
    let mut all = answers(ran);
    assert_eq!(all.len(), 1, "{ran:?}");
    all.remove(0)
}

fn example(name: &str) -> String {
    root().join("examples").join(name).to_str().expect("the path is UTF-8").to_owned()
}

#[test]
fn exact_values_come_with_the_numbers_around_them() {
    let sb = example("litmus/sb.weir");
    let found = answer(&weir(&["prob", "--format", "json", "--exact", &sb]));
    assert_eq!(found["exact"], "7/100");
    let (lower, upper) = (found["lower"].as_f64().expect("a number"), found["upper"].as_f64().expect("a number"));
    assert_eq!(lower.next_up(), upper);
    assert!((lower..=upper).contains(&0.07));

    let both = "P0 at end && P1 at end";
    let found = answer(&weir(&["prob", "--format", "json", "--exact", "--question", "cost", "--target", both, &sb]));
    assert_eq!((&found["exact"], &found["lower"], &found["upper"]), (&"4".into(), &4.0.into(), &4.0.into()));
}

#[test]
fn there_is_no_exact_cost_of_what_no_run_reaches() {
    let fenced = example("litmus/sb-fenced.weir");
    let ran = weir(&["prob", "--format", "json", "--exact", "--question", "cost", &fenced]);
    assert_eq!(ran.status, Some(1));
    let found = answer(&ran);
    assert_eq!((&found["verdict"], &found["reason"]), (&"no".into(), &"no run reaches the target".into()));
    assert_eq!(found["lower"], Value::Null);
}

#[test]
fn errors_in_options_name_the_option() {
    let (sb, peterson) = (example("litmus/sb.weir"), example("mutex/peterson.weir"));
    let found = answer(&weir(&["prob", "--format", "json", "--target", "P7 at end", &sb]));
    assert_eq!(found["diagnostics"][0]["file"], "--target");
    let ran = weir(&["prob", "--format", "json", "--target", "P0.r == 0", "--compare", &peterson, &sb]);
    let found = answer(&ran);
    assert_eq!(found["diagnostics"][0]["file"], format!("--target (variant {peterson})"));
    // Errors in the program itself need no name: the answer has it.
    let wrong = write(&scratch("prob-errors"), "wrong.weir", "thread P { x = 1; }");
    let found = answer(&weir(&["prob", "--format", "json", &wrong]));
    assert_eq!(found["diagnostics"][0]["file"], Value::Null);
    let found = answer(&weir(&["prob", "--format", "json", "--compare", &wrong, &sb]));
    assert_eq!(found["diagnostics"][0]["file"], wrong);
}

#[test]
fn a_comparison_that_leaves_something_open_is_unknown() {
    let directory = scratch("prob-compare");
    let counter = |start: u32| {
        format!(
            "thread P {{ skip; hit: skip; }} thread N {{ let n = {start}; loop {{ n = n + 1; }} }} forbid P at hit;"
        )
    };
    let (slow, fast) = (write(&directory, "slow.weir", counter(0)), write(&directory, "fast.weir", counter(99_999)));
    let until = "N.n == 100000";
    let compare = |first, second| {
        weir(&["prob", "--format", "json", "--states", "2500", "--until", until, "--compare", second, first])
    };
    let ran = compare(&slow, &fast);
    assert_eq!(ran.status, Some(3));
    let found = answer(&ran);
    assert_eq!((&found["verdict"], &found["limit"]), (&"unknown".into(), &"states".into()));
    let reason = "the expected cost up to `N.n == 100000`: the limit of 2,500 states was reached";
    assert_eq!(found["compared"][0]["reason"], reason);
    assert_eq!(found["compared"][1]["reason"], Value::Null);
    let whole = found["reason"].as_str().expect("a reason");
    assert!(whole.contains("slow.weir") && !whole.contains("fast.weir"), "{whole}");
    // The probability of the program itself is the answer's.
    assert_eq!(found["compared"][0]["probability"]["lower"], found["lower"]);
}

#[test]
fn deadlocks_and_failed_assertions_are_targets() {
    let directory = scratch("prob-deadlock");
    let dead = write(&directory, "dead.weir", "thread A { let r; r = any 0..1; assume r == 1; } forbid deadlock;");
    for arguments in [
        &["prob", "--format", "json", "--exact", &dead][..],
        &["prob", "--format", "json", "--exact", "--target", "deadlock", &dead],
    ] {
        let found = answer(&weir(arguments));
        assert_eq!((&found["exact"], &found["target"]), (&Value::from("1/2"), &Value::from("deadlock")));
    }
    let fails = write(&directory, "fails.weir", "thread A { let r; r = any 0..3; assert r != 1; }");
    let found = answer(&weir(&["prob", "--format", "json", "--exact", &fails]));
    assert_eq!((&found["exact"], &found["target"]), (&Value::from("1/4"), &Value::from("A at a failed assertion")));
}

/// Whether nobody can get there or values grow: what is impossible has probability 0.
#[test]
fn what_is_impossible_has_probability_0() {
    let directory = scratch("prob-impossible");
    let text = "shared c, f; thread P { loop { c = c + 1; } never: skip; } thread Q { f = 1; } forbid f == 2;";
    let endless = write(&directory, "endless.weir", text);
    for target in ["f == 2", "P at never", "P at end", "deadlock"] {
        let found = answer(&weir(&["prob", "--format", "json", "--target", target, &endless]));
        assert_eq!((&found["lower"], &found["upper"]), (&Value::from(0.0), &Value::from(0.0)), "{target} {found}");
        assert_eq!(found["verdict"], "ok", "{target}");
    }
}
