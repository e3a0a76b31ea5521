//! JSON: one object a file on one line, valid by the schema, and the schema up to date.

use serde_json::Value;

use crate::schema::Validator;
use crate::support::{Ran, root, sample, scratch, weir, weir_with_input};

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("docs/schema.json")).expect("docs/schema.json is there");
    serde_json::from_str(&text).expect("docs/schema.json is JSON")
}

#[track_caller]
fn assert_valid(schema: &Value, object: &Value) {
    let errors = Validator::new(schema).errors(object);
    assert!(errors.is_empty(), "{errors:?}\n{object:#}");
}

/// Every line of standard output is a valid answer with what is always there.
#[track_caller]
pub(crate) fn answers(ran: &Ran) -> Vec<Value> {
    ran.assert_no_bug();
    let schema = schema();
    let answers: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    for answer in &answers {
        assert_valid(&schema, answer);
        assert_eq!(answer["weir"], env!("CARGO_PKG_VERSION"));
        for field in ["command", "file", "verdict"] {
            assert!(answer[field].is_string(), "{field} in {answer:#}");
        }
        assert!(answer["seconds"].is_f64());
    }
    answers
}

#[test]
fn the_schema_in_the_documents_is_up_to_date() {
    let file = root().join("docs/schema.json");
    let now = weir_report::generated_schema();
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&file, &now).expect("docs/schema.json can be written");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == now, "bring it up to date: WEIR_BLESS=1 cargo test -p weir-cli");
    assert_eq!(weir(&["schema"]).stdout, weir_report::SCHEMA);
}

#[test]
fn the_schema_is_strict_enough_to_tell_answers_from_other_objects() {
    let schema = schema();
    let validator = Validator::new(&schema);
    let good = weir(&["reach", "--format", "json", &sample("fenced")]).json();
    assert!(validator.is_valid(&good));
    for field in ["weir", "command", "file", "verdict", "seconds", "states", "engine"] {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(field);
        assert!(!validator.is_valid(&bad), "without {field}");
    }
    let mut bad = good;
    bad["verdict"] = "perhaps".into();
    assert!(!validator.is_valid(&bad));
}

#[test]
fn a_reachable_goal_comes_with_its_witness() {
    let answer = &answers(&weir(&["reach", "--format", "json", &sample("peterson")]))[0];
    assert_eq!(answer["verdict"], "reachable");
    assert_eq!((&answer["engine"], &answer["model"]), (&"explicit".into(), &"tso".into()));
    assert_eq!(answer["goal"], "forbid P0 at critical && P1 at critical");
    assert!(answer["goal_line"].is_u64());
    let witness = &answer["witness"];
    assert_eq!(witness["model"], "tso");
    let steps = witness["steps"].as_array().expect("steps");
    assert!(steps.iter().any(|step| step["action"] == "flush" && step["edge"].is_null()));
    assert!(steps.iter().all(|step| step["thread"].is_string() && step["line"].is_u64() && step["text"].is_string()));
    let cycle = witness["cycle"].as_array().expect("cycle");
    assert!(cycle.len() >= 4 && cycle.iter().all(|event| event["relation"].is_string()), "{cycle:?}");
    assert!(answer.get("unexecuted").is_none(), "only a complete search knows what no run executes");
}

#[test]
fn an_unreachable_goal_comes_with_what_no_run_executed() {
    let answer = &answers(&weir(&["reach", "--format", "json", "--model", "sc", &sample("peterson")]))[0];
    assert_eq!(answer["verdict"], "unreachable");
    assert_eq!(answer["unexecuted"], Value::Array(Vec::new()));
    assert!(answer["states"].as_u64().is_some_and(|states| states > 10));
    let answer = &answers(&weir(&["reach", "--format", "json", &sample("stuck")]))[0];
    assert_eq!(answer["verdict"], "unreachable");
    assert_eq!(answer["immobile"], serde_json::json!(["Waiter"]));
    let unexecuted = answer["unexecuted"].as_array().expect("unexecuted");
    assert!(unexecuted.iter().any(|found| found["thread"] == "Waiter" && found["line"].is_u64()), "{unexecuted:?}");
}

#[test]
fn several_files_give_one_line_each_in_their_order() {
    let ran = weir(&["reach", "--format", "json", &sample("fenced"), "no-such-file.weir", &sample("peterson")]);
    assert_eq!(ran.status, Some(2));
    let verdicts: Vec<Value> = answers(&ran).iter().map(|answer| answer["verdict"].clone()).collect();
    assert_eq!(verdicts, ["unreachable", "error", "reachable"]);
    assert_eq!(ran.stderr, "", "in JSON mode everything is in the JSON");
}

#[test]
fn errors_in_the_source_are_in_the_answer() {
    let ran = weir_with_input(&["reach", "--format", "json", "-"], b"thread P {\n    x = 1;\n    goto y;\n}\n");
    assert_eq!(ran.status, Some(2));
    let answer = &answers(&ran)[0];
    assert_eq!((&answer["verdict"], &answer["file"]), (&"error".into(), &"-".into()));
    let diagnostics = answer["diagnostics"].as_array().expect("diagnostics");
    let lines: Vec<u64> = diagnostics.iter().filter_map(|found| found["line"].as_u64()).collect();
    assert_eq!(lines, [2, 3], "{answer:#}");
    assert!(diagnostics.iter().all(|found| found["severity"] == "error" && found["code"].is_string()));
}

#[test]
fn a_refusal_is_unknown_with_its_reason() {
    let source = b"thread Many[*] { skip; }";
    let ran = weir_with_input(&["reach", "--format", "json", "-"], source);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let answer = &answers(&ran)[0];
    assert_eq!((&answer["verdict"], &answer["limit"]), (&"unknown".into(), &"refused".into()));
    assert!(answer["reason"].is_string());
}

#[test]
fn a_program_without_properties_is_safe_with_a_warning() {
    let ran = weir_with_input(&["reach", "--format", "json", "-"], b"thread P { skip; }");
    let answer = &answers(&ran)[0];
    assert_eq!(answer["verdict"], "unreachable");
    assert_eq!(answer["warnings"][0]["code"], "no-property");
}

#[test]
fn all_commands_answer_by_the_schema() {
    let witness = scratch("json").join("run.json");
    let witness = witness.to_str().expect("the path is UTF-8");
    let peterson = sample("peterson");
    answers(&weir(&["reach", "--format", "json", "--witness", witness, &peterson]));
    answers(&weir(&["reach", "--format", "json", "--states", "5", &peterson]));
    answers(&weir(&["replay", "--format", "json", &peterson, witness]));
    answers(&weir(&[
        "robust",
        "--format",
        "json",
        "--states",
        "1000",
        &peterson,
        &sample("fenced"),
        &sample("endless"),
    ]));
    answers(&weir_with_input(&["robust", "--format", "json", "-"], b"thread Many[*] { skip; }"));
    answers(&weir(&["replay", "--format", "json", &sample("rmw"), witness]));
    answers(&weir(&["replay", "--format", "json", &peterson, "no-such-file.json"]));
    answers(&weir(&["translate", "--to", "weir", "--format", "json", &peterson]));
    answers(&weir(&["fmt", "--check", "--format", "json", &peterson, "no-such-file.weir"]));
    answers(&weir_with_input(&["fmt", "--format", "json", "-"], b"thread P{skip;}"));
}

#[test]
fn a_saved_witness_is_described_by_the_schema() {
    let path = scratch("json-witness").join("run.json");
    for name in ["peterson", "havoc", "assertion", "rmw"] {
        weir(&["reach", "-q", "--witness", path.to_str().expect("the path is UTF-8"), &sample(name)]);
        let text = std::fs::read_to_string(&path).expect("the witness was saved");
        let saved: Value = serde_json::from_str(&text).expect("the witness is JSON");
        let mut schema = schema();
        let object = schema.as_object_mut().expect("an object");
        object.retain(|key, _| key == "$schema" || key == "$defs");
        object.insert("$ref".into(), "#/$defs/SavedWitness".into());
        assert_valid(&schema, &saved);
    }
}

#[test]
fn litmus_tests_come_with_observation_counts_and_states() {
    let ran =
        weir(&["litmus", "--format", "json", "tests/litmus/sb.litmus", "tests/litmus/pointers.litmus", "nowhere"]);
    let answers = answers(&ran);
    assert_eq!((ran.status, answers.len()), (Some(2), 3));
    let first = &answers[0];
    assert_eq!((&first["command"], &first["verdict"]), (&"litmus".into(), &"ok".into()));
    assert_eq!((&first["name"], &first["observation"]), (&"SB".into(), &"Sometimes".into()));
    assert_eq!((&first["positive"], &first["negative"]), (&1.into(), &3.into()));
    assert_eq!(first["states"][0], serde_json::json!({"0:EAX": 0, "1:EAX": 0}));
    assert_eq!(answers[1]["states"][0]["p"], "a", "an address has the name of its cell");
    assert_eq!(answers[2]["verdict"], "error");
    let unknown = weir(&["litmus", "--format", "json", "--states", "9", "tests/cli/programs/growing.litmus"]);
    let unknown = &self::answers(&unknown)[0];
    assert_eq!((&unknown["verdict"], &unknown["limit"]), (&"unknown".into(), &"states".into()));
    assert!(unknown["reason"].is_string() && unknown.get("observation").is_none());
}

#[test]
fn answers_about_fences_and_races_fit_the_schema() {
    let both = ["examples/litmus/sb.weir", "examples/litmus/mp.weir"];
    let found = answers(&weir(&[&["fences", "--format", "json", "--all", "--write"], &both[..]].concat()));
    assert_eq!(found[1]["fences"], Value::Array(Vec::new()));
    answers(&weir(&[&["fences", "--format", "json", "--stats"], &both[..]].concat()));
    let unknown = answers(&weir(&["fences", "--format", "json", "--states", "5", &sample("peterson")]));
    assert_eq!((&unknown[0]["verdict"], &unknown[0]["limit"]), (&"unknown".into(), &"states".into()));
    let race = answers(&weir(&["robust", "--format", "json", "--method", "trf", "examples/litmus/sb.weir"]));
    assert_eq!(race[0]["verdict"], "unknown");
    assert!(race[0]["race"]["write"]["line"].is_u64() && race[0]["limit"].is_null(), "{:#}", race[0]);
}
