//! `weir check`: one verdict per property.

use serde_json::Value;

use crate::json::answers;
use crate::support::{Ran, weir, weir_with_input};

fn check(arguments: &[&str], program: &str) -> Ran {
    let arguments: Vec<&str> = ["check"].iter().chain(arguments).chain(&["-"]).copied().collect();
    let ran = weir_with_input(&arguments, program.as_bytes());
    ran.assert_no_bug();
    ran
}

/// The answer as JSON, valid by the schema.
fn answer(arguments: &[&str], program: &str) -> (Value, i32) {
    let arguments: Vec<&str> = ["--format", "json"].iter().chain(arguments).copied().collect();
    let ran = check(&arguments, program);
    (answers(&ran).remove(0), ran.status.expect("a status"))
}

fn field<'a>(answer: &'a Value, name: &str) -> Vec<&'a str> {
    let properties = answer["properties"].as_array().expect("a list");
    properties.iter().map(|one| one[name].as_str().unwrap_or("-")).collect()
}

/// Without times.
fn timeless(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("seconds"));
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    answer
}

const NOTHING: &str = "shared x; thread P { x = 1; }";

#[test]
fn without_a_property_there_is_no_verdict() {
    for command in [&["check"][..], &["fences", "--for", "safe"]] {
        let text = weir_with_input(&[command, &["-"]].concat(), NOTHING.as_bytes());
        assert_eq!(text.status, Some(2), "{command:?}");
        assert!(text.stdout.is_empty() && text.stderr.contains("`weir robust`"), "{text:?}");
        let json = weir_with_input(&[command, &["--format", "json", "-"]].concat(), NOTHING.as_bytes());
        assert_eq!(json.status, Some(2), "{command:?}");
        let answer = answers(&json).remove(0);
        assert_eq!(answer["verdict"], "error");
        assert!(answer["reason"].as_str().expect("a reason").contains("`weir robust`"), "{answer}");
    }
    // The other questions need no property.
    assert_eq!(weir_with_input(&["robust", "-"], NOTHING.as_bytes()).status, Some(0));
    assert_eq!(weir_with_input(&["fences", "-"], NOTHING.as_bytes()).status, Some(0));
    assert_eq!(weir_with_input(&["reach", "-"], NOTHING.as_bytes()).status, Some(0));
}

#[test]
fn fences_do_not_aim_at_exists() {
    let only = format!("{NOTHING} exists x == 1;");
    let ran = weir_with_input(&["fences", "--for", "safe", "-"], only.as_bytes());
    assert!(ran.status == Some(2) && ran.stderr.contains("the only properties of the program are `exists`"), "{ran:?}");
    let sb = "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; } exists P.r == 0 && Q.s == 0;";
    let both = format!("{sb} forbid P at end && Q at end && P.r == 0 && Q.s == 0;");
    let ran = weir_with_input(&["fences", "-q", "--for", "safe", "-"], both.as_bytes());
    assert!(ran.status == Some(0) && ran.stdout.starts_with("2 fences"), "{ran:?}");
}

#[test]
fn vacuous_answers_come_with_a_warning() {
    for (program, why) in [
        ("shared x; thread P { loop { x = 1; x = 0; } } always x == 7;", "no run ends"),
        ("shared x; thread P { x = 1; assume x == 2; there: skip; } forbid P at there;", "no run reaches P at there"),
        ("shared x; thread P { x = 1; assume x == 2; assert x == 9; }", "no run reaches an assertion"),
    ] {
        for model in ["sc", "tso"] {
            let (json, status) = answer(&["--model", model], program);
            assert_eq!((json["verdict"].as_str(), status), (Some("safe"), 0), "{program}");
            assert_eq!(json["properties"][0]["vacuous"], true, "{program}");
            let warnings = json["warnings"].as_array().expect("a list");
            let is_told = |warning: &Value| {
                warning["code"] == "vacuous" && warning["message"].as_str().is_some_and(|text| text.contains(why))
            };
            assert!(warnings.iter().any(is_told), "{json:#}");
        }
        let text = check(&[], program).stdout;
        assert!(text.contains("holds (vacuous)") && text.contains(why), "{text}");
    }
    let (json, _) = answer(&[], "shared x; thread P { x = 1; } always x == 1;");
    assert_eq!(json["properties"][0]["vacuous"], false);
    assert!(!json["warnings"].to_string().contains("vacuous"));
}

const MIXED: &str = "shared x, y;
thread P { x = 1; let r = y; }
thread Q { y = 1; let s = x; assert s <= 1; }
always x == 1 && y == 1;
forbid P at end && Q at end && P.r == 0 && Q.s == 0;
forbid deadlock;
exists P.r == 0 && Q.s == 0;
exists P.r == 7;
always P.r == 1;
";

#[test]
fn every_property_has_a_verdict_of_its_own() {
    let (tso, status) = answer(&[], MIXED);
    assert_eq!((tso["verdict"].as_str(), status), (Some("unsafe"), 1));
    assert_eq!(field(&tso, "verdict"), ["holds", "violated", "holds", "met", "not-met", "violated", "holds"]);
    let lines: Vec<u64> =
        tso["properties"].as_array().expect("a list").iter().filter_map(|one| one["line"].as_u64()).collect();
    assert_eq!(lines, [4, 5, 6, 7, 8, 9, 3]);
    assert!(!field(&tso, "engine").contains(&"-"));
    assert_eq!((tso["goal_line"].as_u64(), tso["model"].as_str()), (Some(5), Some("tso")));
    let (sc, status) = answer(&["--model", "sc"], MIXED);
    assert_eq!((sc["verdict"].as_str(), status), (Some("unsafe"), 1));
    assert_eq!(field(&sc, "verdict"), ["holds", "holds", "holds", "not-met", "not-met", "violated", "holds"]);
    assert_eq!((sc["witness"]["model"].as_str(), sc["goal_line"].as_u64()), (Some("sc"), Some(9)));
    let text = check(&[], MIXED).stdout;
    let first = text.lines().nth(2).expect("a table");
    assert_eq!(first.split_whitespace().collect::<Vec<_>>(), ["property", "line", "verdict", "engine", "time"]);
    assert!(text.contains("forbid deadlock") && text.contains("not met"), "{text}");
}

#[test]
fn the_worst_verdict_gives_the_exit_status() {
    let program = "shared x; thread P { x = 1; }";
    for (properties, verdict, status) in [
        ("exists x == 1;", "safe", 0),
        ("exists x == 1; forbid x == 2; always x == 1;", "safe", 0),
        ("exists x == 2;", "unsafe", 1),
        ("forbid x == 2; exists x == 2; forbid deadlock;", "unsafe", 1),
        ("forbid x == 2; forbid x == 1;", "unsafe", 1),
    ] {
        let (json, found) = answer(&[], &format!("{program} {properties}"));
        assert_eq!((json["verdict"].as_str(), found), (Some(verdict), status), "{properties}");
    }
    let endless = "shared x; thread P { loop { let r = x; x = r + 1; } } forbid x == 1; forbid x == 0 - 1;";
    let (json, status) = answer(&["--states", "500"], endless);
    assert_eq!((json["verdict"].as_str(), status), (Some("unsafe"), 1), "violated outweighs unknown");
    assert_eq!(field(&json, "verdict"), ["violated", "unknown"]);
    let (json, status) = answer(&["--states", "500", "--goal", "2"], endless);
    assert_eq!((json["verdict"].as_str(), status), (Some("unknown"), 3));
}

#[test]
fn runs_are_shown_of_the_first_violated_property_and_of_all_on_request() {
    let runs = |answer: &Value| -> Vec<bool> {
        answer["properties"].as_array().expect("a list").iter().map(|one| one["witness"].is_object()).collect()
    };
    let (few, _) = answer(&[], MIXED);
    assert_eq!(runs(&few), [false, true, false, false, false, false, false]);
    let (all, _) = answer(&["--all-witnesses"], MIXED);
    assert_eq!(runs(&all), [false, true, false, true, false, true, false]);
    assert_eq!(all["witness"], all["properties"][1]["witness"]);
    let titles = |text: &str| text.matches("(replayed, ").count();
    assert_eq!(titles(&check(&[], MIXED).stdout), 1);
    assert_eq!(titles(&check(&["--all-witnesses"], MIXED).stdout), 3);
    let met = "shared x; thread P { x = 1; } exists x == 1;";
    let text = check(&[], met).stdout;
    assert!(titles(&text) == 0 && text.contains("`--all-witnesses`") && !text.contains("unsafe"), "{text}");
    assert_eq!(titles(&check(&["--all-witnesses"], met).stdout), 1);
}

/// `forbid deadlock` used to take all engines but one from the other properties.
#[test]
fn a_property_that_an_engine_cannot_handle_leaves_it_for_the_others() {
    // Only the exact engine and the over-approximations end here: the buffer of P grows without bound.
    let endless = "shared x; thread P { loop { x = 1; } } thread Q { loop { let r = x; } }";
    let (json, status) = answer(&["--states", "20000"], &format!("{endless} forbid x == 2; forbid deadlock;"));
    assert_eq!(field(&json, "verdict")[0], "holds", "{json:#}");
    assert_ne!(field(&json, "engine")[0], "explicit");
    assert!(status == 0 || status == 3);
}

#[test]
fn identical_calls_print_identical_json() {
    let files = ["examples/mutex/peterson.weir", "examples/mutex/peterson-fenced.weir", "examples/litmus/sb.weir"];
    for jobs in ["1", "2"] {
        for file in files {
            let ask = || {
                let ran = weir(&["check", "--format", "json", "--all-witnesses", "--jobs", jobs, file]);
                timeless(answers(&ran).remove(0))
            };
            let first = ask();
            for _ in 0..4 {
                assert_eq!(ask(), first, "{file}");
            }
        }
    }
    let first = timeless(answer(&["--jobs", "1"], MIXED).0);
    for jobs in ["1", "2", "1", "2", "2"] {
        assert_eq!(timeless(answer(&["--jobs", jobs], MIXED).0), first);
    }
}

/// A store that a held lock blocks is a deadlock under SC, and need not be one under TSO.
#[test]
fn deadlocks_with_locks_are_right_under_both_models() {
    let holder = "shared x, y; thread P { let r; lock; r = y; assume r == 1; unlock; }";
    for (other, sc, tso) in [
        ("thread Q { y = 1; }", "violated", "violated"),
        ("thread Q { y = 1; x = 1; fence; }", "violated", "violated"),
        ("thread Q { lock; y = 1; unlock; }", "violated", "violated"),
        ("thread Q { y = 1; loop { skip; } }", "violated", "holds"),
        ("thread Q { loop { skip; } }", "holds", "holds"),
    ] {
        let program = format!("{holder} {other} forbid deadlock; forbid x == 9;");
        let (json, _) = answer(&["--model", "sc"], &program);
        assert_eq!(field(&json, "verdict"), [sc, "holds"], "{other} under SC");
        let (json, _) = answer(&[], &program);
        assert_eq!(field(&json, "verdict"), [tso, "holds"], "{other} under TSO");
    }
}
