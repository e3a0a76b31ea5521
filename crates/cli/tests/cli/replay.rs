//! A saved run is a claim: it is checked, whatever it says.

use serde_json::{Value, json};

use crate::support::{Ran, sample, scratch, weir, weir_with_input, write};
use crate::tampering::{changed_leaf, leaves};
use crate::witness::{self, is_no, program_record};

/// A saved run of a sample, and where it is.
fn saved(sample_name: &str, test: &str) -> (String, Value) {
    witness::saved("reach", &sample(sample_name), test)
}

/// Replays a run after something in it was changed.
fn replay_changed(sample_name: &str, test: &str, change: impl FnOnce(&mut Value)) -> Ran {
    witness::replay_changed("reach", &sample(sample_name), test, change)
}

#[test]
fn a_saved_run_replays() {
    for name in ["peterson", "rmw", "havoc", "assertion"] {
        let (path, witness) = saved(name, &format!("replay-{name}"));
        let ran = weir(&["replay", &sample(name), &path]);
        assert_eq!(ran.status, Some(0), "{name}: {ran:?}");
        let steps = witness["steps"].as_array().map_or(0, Vec::len);
        assert!(
            ran.stdout.starts_with(&format!("ok: a run of {steps} steps under TSO reaches this: ")),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn replay_spells_the_goal_as_reach_does() {
    for name in ["peterson", "assertion"] {
        let (path, _) = saved(name, &format!("replay-goal-{name}"));
        let found = weir(&["reach", "--format", "json", &sample(name)]).json();
        let replayed = weir(&["replay", "--format", "json", &sample(name), &path]).json();
        assert!(replayed["goal"].is_string(), "{replayed}");
        assert!(found.to_string().contains(&replayed["goal"].to_string()), "{found} {replayed}");
    }
}

#[test]
fn the_constants_are_those_of_the_user() {
    let path = scratch("replay-defines").join("run.json");
    let path = path.to_str().expect("the path is UTF-8");
    let file = sample("constant");
    assert_eq!(weir(&["reach", "-q", &file]).status, Some(0));
    assert_eq!(weir(&["reach", "-q", "-D", "LIMIT=2", "--witness", path, &file]).status, Some(1));
    assert_eq!(weir(&["replay", "-q", "-D", "LIMIT=2", &file, path]).status, Some(0));
    is_no(&weir(&["replay", "-q", &file, path]), "the file is about LIMIT = 2, but here it is LIMIT = ");
}

#[test]
fn a_run_answers_only_what_is_asked() {
    let (path, _) = witness::saved("robust", &sample("sb"), "replay-question");
    is_no(&weir(&["replay", &sample("sb"), &path]), "select it with `--property robust`");
    assert_eq!(weir(&["replay", "--property", "robust", &sample("sb"), &path]).status, Some(0));
    let (path, mut witness) = witness::saved("reach", &sample("sb"), "replay-question-reach");
    is_no(&weir(&["replay", "--property", "robust", &sample("sb"), &path]), "select it with `--property 1`");
    let ran = weir(&["replay", "--property", "7", &sample("sb"), &path]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    witness["metadata"]["specification"] = json!([]);
    std::fs::write(&path, witness.to_string()).expect("it can be written");
    is_no(&weir(&["replay", &sample("sb"), &path]), "does not name one property");
}

#[test]
fn a_cycle_with_a_thread_that_does_not_exist_is_refused() {
    let change = |witness: &mut Value| witness["cycle"][0]["thread"] = json!("P9");
    let ran = witness::replay_changed("robust", &sample("sb"), "replay-cycle-thread", change);
    is_no(&ran, "a happens-before cycle that the run does not have");
}

#[test]
fn a_step_that_is_not_possible_is_named() {
    let ran = replay_changed("peterson", "replay-missing-step", |witness| {
        witness["steps"].as_array_mut().expect("steps").remove(0);
    });
    is_no(&ran, "step 1: ");
    let ran = replay_changed("peterson", "replay-no-edge", |witness| witness["steps"][0]["edge"] = json!(999));
    is_no(&ran, " has no edge 999: it has 10");
    let ran = replay_changed("peterson", "replay-no-thread", |witness| witness["steps"][1]["thread"] = json!("P9"));
    is_no(&ran, "step 2: the program has no thread `P9`");
}

#[test]
fn a_run_that_stops_short_of_its_goal_is_no_witness() {
    let ran = replay_changed("peterson", "replay-short", |witness| {
        witness["steps"].as_array_mut().expect("steps").truncate(2);
        witness["cycle"] = json!([]);
    });
    is_no(&ran, "");
    assert!(!ran.stdout.contains("step "), "it is no single step that is wrong: {}", ran.stdout);
    let ran = replay_changed("peterson", "replay-empty", |witness| witness["steps"] = json!([]));
    is_no(&ran, "");
}

#[test]
fn what_the_file_says_of_its_steps_must_be_so() {
    let is_load = |step: &Value| step["action"] == "load";
    let ran = replay_changed("peterson", "replay-wrong-value", |witness| {
        let steps = witness["steps"].as_array_mut().expect("steps");
        let load = steps.iter_mut().find(|step| is_load(step)).expect("a load");
        load["value"] = json!(77);
        load.as_object_mut().expect("an object").remove("text");
    });
    is_no(&ran, "the file says the value is 77, but it is ");
    let ran = replay_changed("peterson", "replay-wrong-text", |witness| witness["steps"][0]["text"] = json!("x = 1"));
    is_no(&ran, "step 1: the file says `x = 1`, but the program says ");
    let ran = replay_changed("peterson", "replay-wrong-line", |witness| {
        witness["steps"][2]["line"] = json!(1);
    });
    is_no(&ran, "step 3: the file says it is on line 1, but it is on line ");
    let ran = replay_changed("peterson", "replay-wrong-goal", |witness| {
        witness["metadata"]["specification"][0]["property"]["text"] = json!("forbid deadlock");
    });
    is_no(&ran, "the file is for `forbid deadlock`, but property 1 of the program is `forbid P0 at critical");
    let ran = replay_changed("peterson", "replay-wrong-model", |witness| {
        witness["metadata"]["model"] = json!("sc");
    });
    is_no(&ran, "the file is about SC, not TSO; select it with `--model sc`");
}

/// What a field is about: the kind of its step, and its name.
fn subject(witness: &Value, place: &str) -> String {
    let parts: Vec<&str> = place.split('/').collect();
    match parts[..] {
        ["", "steps", step, ref field @ ..] => {
            format!("{} {}", witness["steps"][step.parse::<usize>().expect("a number")]["action"], field.join(" "))
        }
        ["", "cycle", _, field] => format!("cycle {field}"),
        _ => place.to_owned(),
    }
}

#[test]
fn whatever_is_changed_in_a_saved_run_is_noticed() {
    let mut subjects = std::collections::BTreeSet::new();
    let snapshot = scratch("replay-tampered-snapshot");
    let text = "shared x, y; thread P { x = 1; let a, b; a, b = x, y; lock; y = 2; unlock; fence; } thread Q { y = 1; }
        forbid P at end && P.b == 1 && y == 2;";
    let snapshot = write(&snapshot, "snapshot.weir", text.as_bytes());
    let programs = [
        ("reach", sample("peterson")),
        ("reach", sample("rmw")),
        ("reach", sample("havoc")),
        ("reach", sample("assertion")),
        ("reach", snapshot),
        ("robust", sample("sb")),
    ];
    for (number, (command, program)) in programs.into_iter().enumerate() {
        let (path, witness) = witness::saved(command, &program, &format!("replay-tampered-{number}"));
        for place in leaves(&witness) {
            if !subjects.insert(subject(&witness, &place)) {
                continue;
            }
            std::fs::write(&path, changed_leaf(&witness, &place).to_string()).expect("it can be written");
            let ran = witness::replayed(command, &program, &path);
            let is_remark = ["/metadata/producer", "/metadata/version"].contains(&place.as_str());
            assert_eq!(ran.status == Some(0), is_remark, "{program}: {place} was changed: {ran:?}");
        }
    }
    for subject in ["\"load\" value", "\"snapshot\" loads 0 cell", "\"rmw\" read", "\"local\" choice", "cycle step"] {
        assert!(subjects.contains(subject), "{subject} is not in {subjects:?}");
    }
}

#[test]
fn only_what_a_run_needs_has_to_be_in_the_file() {
    let ran = replay_changed("peterson", "replay-bare", |witness| {
        for step in witness["steps"].as_array_mut().expect("steps") {
            let step = step.as_object_mut().expect("an object");
            step.retain(|field, _| ["thread", "action", "edge", "choice"].contains(&field.as_str()));
        }
        witness.as_object_mut().expect("an object").remove("cycle");
    });
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_malformed_witness_is_bad_input_with_its_place() {
    let directory = scratch("replay-malformed");
    let bad = |name: &str, content: &[u8], expected: &str| {
        let path = write(&directory, name, content);
        let ran = weir(&["replay", &sample("peterson"), &path]);
        ran.assert_no_bug();
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "expected {expected:?} in {}", ran.stderr);
    };
    bad("empty.json", b"", "line 1 column 0");
    bad("binary.json", b"\xff\xfe", "not UTF-8");
    bad("list.json", b"[]", "malformed");
    bad("deep.json", "[".repeat(1_000_000).as_bytes(), "malformed");
    bad("future.json", br#"{"format": 3, "run": []}"#, "has format 3");
    bad("negative.json", br#"{"format": -1}"#, "malformed");
    let missing = b"{\"format\": 2,\n \"metadata\": {\"producer\": 7}}";
    bad("wrong-type.json", missing, "line 2");
    let ran = weir(&["replay", &sample("peterson"), "no-such-file.json"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("the evidence no-such-file.json: no such file"), "{}", ran.stderr);
}

#[test]
fn a_run_of_another_program_is_no_witness_for_this_one() {
    let (path, _) = saved("peterson", "replay-other");
    let ran = weir(&["replay", &sample("rmw"), &path]);
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let ran = weir_with_input(&["replay", "-", &path], b"thread P { skip; }");
    is_no(&ran, "the file is about another text: its SHA-256 is ");
    let ran = replay_changed("peterson", "replay-other-forged", |witness| {
        witness["metadata"]["program"] = program_record(&sample("rmw"));
    });
    is_no(&ran, "the file is about another text");
    let (path, mut witness) = saved("peterson", "replay-other-forged-well");
    witness["metadata"]["program"] = program_record(&sample("rmw"));
    std::fs::write(&path, witness.to_string()).expect("it can be written");
    let ran = weir(&["replay", &sample("rmw"), &path]);
    is_no(&ran, "the file is for `forbid P0 at critical");
}

#[test]
fn answers_come_in_every_form() {
    let (path, witness) = saved("peterson", "replay-forms");
    let json = weir(&["replay", "--format", "json", &sample("peterson"), &path]).json();
    assert_eq!(json["verdict"], "ok");
    assert_eq!(json["steps"].as_u64(), witness["steps"].as_array().map(|steps| steps.len() as u64));
    let dot = weir(&["replay", "--format", "dot", &sample("peterson"), &path]);
    assert!(dot.stdout.starts_with("digraph happens_before"), "{}", dot.stdout);
}
